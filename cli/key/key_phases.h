/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The keys of an application's phases, made offline. */
#ifndef CLI_KEY_PHASES_H
#define CLI_KEY_PHASES_H

#include "fabric_source.h"
#include "key_proof.h"
#include "table_source.h"

#include <heddle/analysis/pattern.h>
#include <heddle/fabric.h>
#include <heddle/keyd.h>

enum key_shift_kind { KEY_SHIFT_NONE, KEY_SHIFT_LINKS, KEY_SHIFT_PAPER };
enum key_mode { KEY_REWRITE, KEY_OFFSET };

/* What the user asks for. */
struct key_phases_request {
	struct fabric_source fabric;
	const char *host_file, *pattern, *load_file;
	struct table_source *tables; /* no engine and no paths: no comparison */
	enum hd_colour_algorithm algorithm;
	enum key_shift_kind shift;
	enum key_mode mode;
	uint32_t first_offset;
	uint32_t offsets; /* that a phase may use */
	bool best_effort;
	unsigned threads;
};

struct key_phase {
	struct hd_key *key;
	struct hd_key_shift *shift; /* NULL: none */
	struct hd_key_overlay overlay;
	unsigned first_offset;
	uint32_t most; /* flows on a link that the key uses, together with those of --loads */
	uint32_t base; /* most flows on a link by the tables without keys */
	uint32_t lost; /* flows that do not arrive by these tables */
	unsigned attempts; /* keys that were tried until the proof passed one */
	uint32_t *flow_most; /* [flow_count] most flows on a link of each: hd_key_sharing() */
	uint32_t sharing; /* flows that share links with others of the key */
	uint32_t
	    base_sharing; /* the same by the tables without keys, with those that do not arrive */
};

#define KEY_CHART 16u /* last column: so many flows on a link, and more */

struct key_phases {
	const struct key_phases_request *request;
	struct hd_fabric *fabric;
	struct hd_key_tree *tree;
	struct hd_key_pattern *pattern;
	uint32_t *host; /* [pattern->ranks] */
	struct hd_routes *base; /* NULL: no comparison */
	struct hd_key_loads *loads; /* of --loads */
	struct key_proof proof;
	struct key_phase *phases; /* [pattern->phase_count] */
	/* links of all phases by their number of flows: by the keys, and by the tables without */
	uint64_t links[KEY_CHART + 1], base_links[KEY_CHART + 1];
};

/*
 * Makes the keys of all phases. Released with key_phases_release() in any case. Errors: those of
 * the readers, of hd_key_make() and hd_key_overlay() with the phase's number, -ERANGE a phase needs
 * an offset that the hosts do not have, -ELOOP no key of a phase is free of deadlock with the tables.
 */
int key_phases_make(const struct key_phases_request *request, const struct hd_log *log,
		    struct key_phases *out, struct hd_error *err);

void key_phases_release(struct key_phases *phases);

#endif
