/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Answers MultiPathRecord requests for GIDs of other subnets, which OpenSM refuses. */
#ifndef OPENSM_MAP_MULTIPATH_H
#define OPENSM_MAP_MULTIPATH_H

#include "map_table.h"

#include <stdbool.h>

struct osm_madw;
struct osm_sa;

/*
 * Answers the request pair by pair as a PathRecord request for that pair. A request for two paths
 * between two sources and two destinations gets paths without a common end where there are such.
 * Returns false, and does nothing, if OpenSM must handle the request: it is malformed, all its
 * destinations are in this subnet, a source is not, or the map names no router port for one of
 * them. For a thread of OpenSM's dispatcher, without OpenSM's lock.
 */
bool map_multipath_answer(struct osm_sa *sa, const struct map_table *table,
			  struct osm_madw *request);

#endif
