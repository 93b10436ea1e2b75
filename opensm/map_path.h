/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Answers PathRecord requests for GIDs of other subnets. */
#ifndef OPENSM_MAP_PATH_H
#define OPENSM_MAP_PATH_H

#include "map_table.h"

#include <stdbool.h>

struct osm_madw;
struct osm_sa;

/*
 * Answers the request as OpenSM answers one for the router port, with the GID that was asked for and
 * HopLimit 255. Returns false, and does nothing, if OpenSM must handle the request: it is malformed,
 * or it is not for a GID of another subnet that the map leads to a router port. For a thread of
 * OpenSM's dispatcher, without OpenSM's lock.
 */
bool map_path_answer(struct osm_sa *sa, const struct map_table *table, struct osm_madw *request);

#endif
