/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Takes the place of OpenSM's handlers for PathRecord and MultiPathRecord. Requests for a GID of
 * another subnet that the map names are answered here; OpenSM's own handlers get all others, so
 * nothing else changes.
 */
#ifndef OPENSM_MAP_HOOK_H
#define OPENSM_MAP_HOOK_H

#include "map_table.h"

struct osm_opensm;
struct osm_sa;

struct map_hook {
	struct osm_sa *sa;
	const struct map_table *table;
};

/*
 * Replaces the handlers. Only before OpenSM receives MADs: then no request is lost between the two
 * handlers. `hook` and `table` must live as long as OpenSM's dispatcher threads. There is nothing to
 * undo: OpenSM drops all handlers itself. On an error OpenSM's own handlers stay. Errors: -ENOMEM.
 */
int map_hook_set(struct map_hook *hook, struct osm_opensm *osm, const struct map_table *table,
		 struct hd_error *err);

#endif
