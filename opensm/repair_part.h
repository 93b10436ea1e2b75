/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The part that repairs tables before the sweep. When a switch reports a change, OpenSM discovers the
 * whole subnet before it routes. Meanwhile a thread of this part asks that switch what it has lost,
 * repairs the tables in place with the same engine, and writes the blocks that change, in the order
 * that include/heddle/fabric/repair.h describes. OpenSM's copy of the tables and the published routing
 * change with them, so the sweep finds nothing to change. What comes up is left to the sweep.
 */
#ifndef OPENSM_REPAIR_PART_H
#define OPENSM_REPAIR_PART_H

extern const struct part repair_part;

#endif
