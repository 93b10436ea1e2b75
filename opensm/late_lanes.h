/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * OpenSM sets up the lanes of a link at the end of a sweep, and cuts the tables that it writes
 * before that to the lanes of that moment. Where that happens one more sweep completes them.
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
	size_t due; /* ports for which one more sweep is on its way */
	size_t said; /* ports said to be late in spite of it */
};

/*
 * To be called after OpenSM has written the tables, also where it routed from its unicast cache
 * without asking the engine: looks which ports had fewer lanes than the tables have, and asks for
 * one more sweep where some of them are new. By the sweeper thread, without OpenSM's lock.
 */
void late_lanes_look(struct late_lanes *late, struct osm_opensm *osm,
		     const struct lane_tables *tables, struct opensm_log *log);

/* Says in the log that OpenSM ends before a sweep that was asked for. */
void late_lanes_say_end(const struct late_lanes *late, const struct opensm_log *log);

void late_lanes_release(struct late_lanes *late);

#endif
