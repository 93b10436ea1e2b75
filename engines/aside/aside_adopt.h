/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Columns one by one, whose entries are taken over from tables. */
#ifndef ENGINES_ASIDE_ADOPT_H
#define ENGINES_ASIDE_ADOPT_H

#include "aside_job.h"

/* A LID that packets of the adapters that are set aside go to, or come from. */
struct aside_target {
	uint32_t lid, sw; /* sw: destination switch */
	uint8_t port; /* by which packets leave it */
	bool host; /* only switches without hosts are sources, and entries that hosts use stay */
};

struct aside_adopter {
	struct aside_job *job;
	bool *broken; /* [switch_count] the path by the tables in hand does not arrive */
};

/* Memory from the arena of the job's paths. Errors: -ENOMEM. */
int aside_adopt_init(struct aside_adopter *adopter, struct aside_job *job);

/* All columns: first those of hosts, unless credit loops are left to other means, then those of
 * adapters that are set aside. Memory from the arena of the job's paths. Errors: -ENOMEM. */
int aside_adopt_list(struct aside_job *job, const struct aside_target **out, uint32_t *count);

/* Whether the switch sends to the target. */
bool aside_adopt_is_source(const struct aside_job *job, const struct aside_target *target,
			   uint32_t sw);

/* Starts on a column: the entries that paths between hosts take, and the sources, which wait for a
 * path. Cost: O(switches). */
void aside_adopt_begin(struct aside_adopter *adopter, const struct aside_target *target);

/* Takes over the entries of the path from a switch to `lid` by the tables, if it is whole; up to where
 * there is a next hop already. */
void aside_adopt_path(struct aside_adopter *adopter, const struct hd_routes *tables, uint32_t lid,
		      uint32_t sw);

/* The same from all switches without a next hop. NULL, or LID 0: from none. Cost: O(switches). */
void aside_adopt(struct aside_adopter *adopter, const struct hd_routes *tables, uint32_t lid);

/* The column goes to the job's routes. Switches that send nothing get some next hop, too. */
void aside_adopt_write(struct aside_adopter *adopter, const struct aside_target *target);

/* The lanes get to know the paths in the job's routes. */
void aside_adopt_note(struct aside_adopter *adopter, const struct aside_target *targets,
		      uint32_t count);

#endif
