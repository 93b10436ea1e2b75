/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The map in force: which router port packets to other subnets go to, and which of these ports can
 * be used. The file is read in each heavy sweep. A new map is in force only after all its router
 * ports were looked up, so an error in it leaves the last good map in force.
 *
 * The sweeper thread changes the map in force only in map_table_replace(), under OpenSM's exclusive
 * lock. All other functions for the sweeper thread run without that lock: they read what no other
 * thread changes. Any thread that holds the lock at least shared may call map_table_resolve().
 */
#ifndef OPENSM_MAP_TABLE_H
#define OPENSM_MAP_TABLE_H

#include "log.h"

#include <heddle/ir_router/map.h>
#include <stdbool.h>

/* What the subnet has at the GUID of a router port. */
enum map_port {
	MAP_PORT_ABSENT, /* no port has the GUID now */
	MAP_PORT_OTHER, /* a port of a node that is no router */
	MAP_PORT_USABLE
};

/* Zero-initialise before use. */
struct map_table {
	/* ---- in force; changed under OpenSM's exclusive lock ---- */
	struct hd_map *map; /* NULL: none */
	bool *usable; /* [map->port_count]; NULL only if map is */

	/* ---- only for the sweeper thread ---- */
	struct hd_map *next; /* what this sweep has read; NULL: nothing, or it was refused */
	bool forget; /* no file is named any more */
	uint32_t reported[3]; /* usable ports, lines on backups, lines without a port */
};

/*
 * Reads the map again. path "": none is wanted. If the file is bad, the last good map stays, and the
 * log says where the error is. Never waits for a pipe or a device. Cost: that of hd_map_read().
 */
void map_table_read(struct map_table *table, const char *path, const struct opensm_log *log);

/* Takes a map that was made here, in place of one from a file. NULL: the map in force stays. */
void map_table_take(struct map_table *table, struct hd_map *map);

/*
 * Refuses the map that was read if it names a port of another kind of node, or a port that is
 * neither in the subnet nor in the map in force; the log says on which line. If no map is in force,
 * absent ports are only logged. ports[table->next->port_count]; without `next` nothing happens.
 */
void map_table_judge(struct map_table *table, const char *path, const enum map_port *ports,
		     const struct opensm_log *log);

/* The map that map_table_replace() will put in force: the new one, or the one in force. NULL: none.
 */
const struct hd_map *map_table_candidate(const struct map_table *table);

/*
 * Puts the candidate in force, with `usable` ([candidate->port_count]; owned from now on, NULL if
 * there is no candidate). Returns a table with the map and the array that are not in force any more,
 * to be released without the lock.
 */
struct map_table map_table_replace(struct map_table *table, bool *usable);

/* Logs how many router ports and lines are affected, if that has changed. Cost: O(lines). */
void map_table_report(struct map_table *table, const char *path, const struct opensm_log *log);

/* hd_map_resolve() in the map in force. False also without a map. */
bool map_table_resolve(const struct map_table *table, const struct hd_gid *gid,
		       struct hd_map_answer *answer);

void map_table_release(struct map_table *table);

#endif
