/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a job on certain hosts is worth: its flows are followed through the tables. */
#ifndef KEYD_CHOOSE_WORTH_H
#define KEYD_CHOOSE_WORTH_H

#include "choose_groups.h"

#include <heddle/keyd/key_choose.h>

struct choose_meter {
	const struct hd_key_choose_request *request;
	const struct choose_groups *groups;
	uint32_t
	    *link_of; /* [port_count] link between switches that leaves by a port, or HD_NONE */
	const uint32_t *others; /* [links] flows of other jobs; NULL: none */
	uint32_t *load; /* [links] flows of the phase; all 0 between the calls */
	uint32_t *touched; /* [links] links with flows */
	uint32_t touched_count;
	uint32_t virtual_base[CHOOSE_LEVELS]; /* without tables: the first link of a level */
	bool *seen; /* [switch_count] all false between the calls */
	uint64_t walked; /* flows that were followed so far */
};

/* All memory is from the arena. Errors: -ENOMEM. */
int choose_meter_new(const struct hd_key_choose_request *request,
		     const struct choose_groups *groups, struct hd_arena *arena,
		     struct choose_meter *out);

/*
 * The worth of ranks on these hosts. With `bound`, it ends as soon as it is worse than that, and what
 * it has found by then is worse, too. hot: [ranks] true for the ranks of flows that share a link,
 * with others too, or that are lost; NULL: not asked.
 */
struct hd_key_worth choose_worth(struct choose_meter *meter, const uint32_t *host_of,
				 const struct hd_key_worth *bound, bool *hot);

#endif
