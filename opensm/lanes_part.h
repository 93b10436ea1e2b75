/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The part that watches virtual lanes. It logs which lane multicast has, or why it has none. It
 * requests another sweep if OpenSM wrote tables before it set up the lanes. The tables themselves
 * are in the published routing (lane_tables.h).
 */
#ifndef OPENSM_LANES_PART_H
#define OPENSM_LANES_PART_H

#include "part.h"

extern const struct part lanes_part;

#endif
