/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The channel dependencies of the tables in place, to which a repair adds its own. */
#ifndef FABRIC_REPAIR_BASE_H
#define FABRIC_REPAIR_BASE_H

#include "check_tree.h"
#include <heddle/fabric/dependencies.h>
#include <heddle/fabric/repair.h>

struct hd_repair_base {
	const struct hd_fabric *fabric;
	struct hd_arena arena;
	struct hd_dependency_workspace workspace;
	struct hd_dependencies lanes[CHECK_LANES]; /* ordered; those in `named` have memory */
	uint16_t named;
	unsigned threads; /* of those that compare */
};

/* Adds a dependency on each of the lanes, one bit each. False: it would close a cycle on one. */
bool repair_base_add(struct hd_repair_base *base, uint16_t lanes, uint32_t link, uint32_t next);

/* What is added between the two counts only if it is kept. */
void repair_base_begin(struct hd_repair_base *base);
void repair_base_end(struct hd_repair_base *base, bool keep);

#endif
