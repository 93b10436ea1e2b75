/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* How many steps make a small fabric one of another's shape: all mappings, and for each all sortings of the cables. */
#ifndef ORACLE_MENDS_H
#define ORACLE_MENDS_H

#include <heddle/fabric.h>

#define ORACLE_MENDS_SWITCHES 7u

/*
 * The fewest mends, as hd_fabric_compare() counts them with HD_MATCH_SHAPE, where every planned switch has a live one.
 * Both fabrics have the same number of switches, at most ORACLE_MENDS_SWITCHES, all hosts have one cable or
 * none, and no cable leads from a switch to itself. UINT32_MAX: none up to `most`. Cost: O(switches! * 2^cables).
 */
uint32_t oracle_mends(const struct hd_fabric *plan, const struct hd_fabric *live, uint32_t most);

#endif
