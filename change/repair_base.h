/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The channel dependencies of the tables in place, to which a repair adds its own. */
#ifndef CHANGE_REPAIR_BASE_H
#define CHANGE_REPAIR_BASE_H

#include "lane_graphs.h"
#include <heddle/change/repair.h>

struct hd_repair_base {
	struct lane_graphs graphs;
	unsigned threads; /* of those that compare */
};

#endif
