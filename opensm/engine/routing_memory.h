/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What outlasts a routing: the baseline of each engine, and the tables of an earlier run of OpenSM.
 * A baseline has an engine's last routing afresh, and what came later and was not in it: switches,
 * LIDs, entries. An engine keeps its baseline while another engine of the list routes. Only the
 * sweeper thread uses this.
 */
#ifndef OPENSM_ROUTING_MEMORY_H
#define OPENSM_ROUTING_MEMORY_H

#include <heddle/fabric/stored_tables.h>
#include <stdbool.h>

struct hd_options;
struct routing;

/* Zero-initialise before use. */
struct routing_memory {
	/* The tables that the switches got from an earlier run; NULL: none, or this run has routed.
	 */
	struct hd_stored_tables *in_place;
	bool other_list; /* that run had another list of engines */
	/* An engine that is not ours has routed since the baselines were noted. Its tables are in
	 * the switches, and what is known of them is nothing. */
	bool replaced;
	struct hd_stored_tables *baselines[HD_STORED_SETS_MAX - 1]; /* one for each engine */
	uint32_t baseline_count;
	bool changed; /* since a file of it was written or read */
};

/* The baseline of an engine, or NULL. */
struct hd_stored_tables *routing_memory_find(const struct routing_memory *memory,
					     const char *engine);

/* Whether tables were made with these options (NULL: no options) and this policy. */
bool routing_memory_same_options(const struct hd_routes *routes, const struct hd_options *options);

/*
 * Takes note of a routing whose tables OpenSM has now. A routing afresh replaces all baselines,
 * or is added to them if an engine that is not ours has routed and this one has no baseline. Another
 * routing adds to the baseline of its engine what that lacks. Errors: -ENOMEM; the engine then
 * has no baseline, or one that lacks something.
 */
int routing_memory_note(struct routing_memory *memory, const struct routing *routing,
			struct hd_error *err);

/* Takes note that an engine that is not ours has routed: the baselines stay. */
void routing_memory_note_other(struct routing_memory *memory);

/* Forgets everything. */
void routing_memory_clear(struct routing_memory *memory);

#endif
