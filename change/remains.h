/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What is left of a fabric after a loss, by the indices of the fabric before it. */
#ifndef CHANGE_REMAINS_H
#define CHANGE_REMAINS_H

#include <heddle/fabric/walk.h>

struct remains {
	uint32_t *row; /* [switch_count] the switch in the damaged fabric; HD_NONE: it is lost */
	/* [port_count] the link by which a switch's port leads on; HD_STEP_DEAD_END: none is left */
	uint32_t *port_step;
};

/* Memory from the arena. Errors: -ENOMEM. Cost: O(ports). */
int remains_init(struct remains *remains, const struct hd_fabric *fabric,
		 const struct hd_fabric *damaged, struct hd_arena *arena);

#endif
