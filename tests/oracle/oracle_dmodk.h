/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* D-mod-K by its formula, for one switch and one host at a time. */
#ifndef ORACLE_DMODK_H
#define ORACLE_DMODK_H

#include <heddle/fabric/graph.h>

#define ORACLE_DMODK_LEVELS 8

/* XGFT(height; children; parents) with parallel cables, as its generator takes them. */
struct oracle_dmodk_shape {
	unsigned height;
	uint32_t children[ORACLE_DMODK_LEVELS], parents[ORACLE_DMODK_LEVELS],
	    parallel[ORACLE_DMODK_LEVELS];
};

/*
 * Port by which D-mod-K leaves `sw` for LID offset `offset` of `host`, from the generator's names
 * and port convention. At level l host d climbs by number (d / (w1 ... wl)) mod (w(l+1) p(l+1)),
 * which is cable number / w(l+1) to parent number % w(l+1). It comes down by the same cables. The
 * fabric must be an intact output of the generator.
 */
uint8_t oracle_dmodk_port(const struct hd_fabric *fabric, const struct oracle_dmodk_shape *shape,
			  uint32_t sw, uint32_t host, uint32_t offset);

#endif
