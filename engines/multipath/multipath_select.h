/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which cycles get a path bit, and in which order, when there are more cycles than bits. */
#ifndef ENGINES_MULTIPATH_SELECT_H
#define ENGINES_MULTIPATH_SELECT_H

#include <heddle/engines/multipath.h>

/* The most that is listed. */
struct multipath_cycle_limits {
	uint32_t cycles; /* HD_CYCLES_MAX at most */
	uint64_t paths; /* HD_PATHS_MAX at most */
};

/* hd_cycles_find() with limits of its own. */
int multipath_select_cycles(const struct hd_fabric *fabric, uint32_t root, unsigned bits,
			    const struct multipath_cycle_limits *limits, struct hd_cycles **out,
			    struct hd_error *err);

#endif
