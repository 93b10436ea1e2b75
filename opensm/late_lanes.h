/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * OpenSM sets up the lanes of a link at the end of a sweep. Tables that it writes earlier have only
 * the lanes that are operational then. In that case one more sweep completes them.
 */
#ifndef OPENSM_LATE_LANES_H
#define OPENSM_LATE_LANES_H

#include "late_ports.h"

struct opensm_log;
struct lane_tables;
struct osm_opensm;

/* Zero-initialise before use. */
struct late_lanes {
	struct late_ports known;
	size_t due; /* ports for which we requested one more sweep */
	size_t said; /* ports that the log called late even after that sweep */
};

/*
 * Finds the ports that had fewer lanes than the tables when OpenSM wrote the tables. Requests one
 * more sweep if one of these ports is new. The sweeper thread calls this after OpenSM has written
 * the tables, also those of its unicast cache, and does not hold OpenSM's lock.
 */
void late_lanes_look(struct late_lanes *late, struct osm_opensm *osm,
		     const struct lane_tables *tables, struct opensm_log *log);

/* Logs that OpenSM ends before a requested sweep, if that is so. */
void late_lanes_say_end(const struct late_lanes *late, const struct opensm_log *log);

void late_lanes_release(struct late_lanes *late);

#endif
