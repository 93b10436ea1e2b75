/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which cycles get a path bit when there are more of them than bits, and in which order. */
#ifndef ENGINES_MULTIPATH_SELECT_H
#define ENGINES_MULTIPATH_SELECT_H

#include <heddle/engines/multipath.h>

/* hd_cycles_find() with a limit of its own for the number of paths. */
int cycles_select(const struct hd_fabric *fabric, uint32_t root, unsigned bits, uint64_t path_limit,
		  struct hd_cycles **out, struct hd_error *err);

#endif
