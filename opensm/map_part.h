/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Routing to other subnets: reads the map in each heavy sweep, and lets the SA answer with it. */
#ifndef OPENSM_MAP_PART_H
#define OPENSM_MAP_PART_H

struct part;

extern const struct part map_part;

#endif
