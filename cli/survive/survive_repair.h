/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the repair of single losses takes: heddle survive --repair. */
#ifndef CLI_SURVIVE_REPAIR_H
#define CLI_SURVIVE_REPAIR_H

#include "survive_multicast.h"
#include "table_source.h"

struct survive_repair {
	char lost[200]; /* "lost cable 'leaf1'[3] - 'spine2'[1]" */
	bool is_switch;
	char refusal[HD_ERROR_TEXT]; /* of the engine, or of the proof; "": none */
	uint32_t entries, switches, writes, steps, left;
	uint32_t loop; /* a LID that can loop while blocks are written, 0: none */
	double plan_ms; /* fabric, engine and plan */
	struct survive_multicast multicast;
};

struct survive_repairs {
	uint32_t each; /* losses of each kind that were asked for */
	uint32_t count;
	struct survive_repair *list; /* [count] cables, then switches */
	double base_ms; /* of what is made before the loss */
	struct survive_groups groups; /* those to repair, too; they have been found */
};

/*
 * Loses `each` cables between switches and `each` switches, one at a time, at random, or all if
 * there are fewer, and plans the repair of each. `request` has the tables in place as `previous`.
 * Released with survive_repair_release(), also after an error. Errors: -ELOOP the tables have a credit loop, -ENOMEM.
 */
int survive_repair_run(const struct table_source *source, const struct table_request *request,
		       uint64_t seed, struct survive_repairs *repairs, struct hd_error *err);

void survive_repair_release(struct survive_repairs *repairs);

/* Whether an engine refused, a proof failed, an interim state can loop, or multicast does not reach a
 * member. */
bool survive_repair_has_fault(const struct survive_repairs *repairs);

#endif
