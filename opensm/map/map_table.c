/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "map_table.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char *what_stays(const struct map_table *table)
{
	return table->map ? "the last good map stays in force" : "no map is in force";
}

void map_table_read(struct map_table *table, const char *path, const struct opensm_log *log)
{
	struct hd_error err;

	hd_map_free(table->next);
	table->next = NULL;
	table->forget = !*path;
	if (*path && hd_map_read(path, &table->next, &err)) {
		table->next = NULL;
		log_error(log, LOG_ERROR_MAP, "map: %s; %s", err.text, what_stays(table));
	}
}

void map_table_take(struct map_table *table, struct hd_map *map)
{
	hd_map_free(table->next);
	table->next = map;
	table->forget = false;
}

/* ---- judging ---- */

/* Whether a new map may name the port: it is not of another node, and it is in the subnet or was in
 * the map before. Without a map in force nothing is known of ports that are absent. */
static bool may_name(const struct map_table *table, enum map_port port, uint64_t guid)
{
	if (port != MAP_PORT_ABSENT)
		return port == MAP_PORT_USABLE;
	return !table->map || hd_map_find_port(table->map, guid) != HD_NONE;
}

static void refuse(struct map_table *table, const char *reason, const struct opensm_log *log)
{
	log_error(log, LOG_ERROR_MAP, "map: %s; %s", reason, what_stays(table));
	hd_map_free(table->next);
	table->next = NULL;
}

/* Ports that are missing from `listed`, which has `count` of the map's ports. */
static int find_unlisted(const struct map_table *table, const char *path, const uint64_t *listed,
			 uint32_t count, uint32_t *unlisted, struct hd_error *err)
{
	*unlisted = 0;
	return hd_map_check_ports(table->next, path, listed, count, unlisted, err);
}

void map_table_judge(struct map_table *table, const char *path, const enum map_port *ports,
		     const struct opensm_log *log)
{
	const struct hd_map *next = table->next;
	uint64_t *allowed = next ? malloc((next->port_count + 1) * 2 * sizeof(*allowed)) : NULL;
	uint64_t *present = allowed ? allowed + next->port_count + 1 : NULL;
	uint32_t allowed_count = 0, present_count = 0, unlisted;
	struct hd_error err;

	if (!next)
		return;
	if (!allowed) {
		refuse(table, "out of memory", log);
		return;
	}
	for (uint32_t i = 0; i < next->port_count; i++) {
		if (may_name(table, ports[i], next->port_guid[i]))
			allowed[allowed_count++] = next->port_guid[i];
		if (ports[i] == MAP_PORT_USABLE)
			present[present_count++] = next->port_guid[i];
	}
	if (find_unlisted(table, path, allowed, allowed_count, &unlisted, &err))
		refuse(table, err.text, log);
	else if (!table->map && find_unlisted(table, path, present, present_count, &unlisted, &err))
		log_error(log, LOG_ERROR_MAP,
			  "map: %s; %" PRIu32 " router ports are missing, the map is in force "
			  "without them",
			  err.text, unlisted);
	free(allowed);
}

/* ---- in force ---- */

const struct hd_map *map_table_candidate(const struct map_table *table)
{
	if (table->forget)
		return NULL;
	return table->next ? table->next : table->map;
}

struct map_table map_table_replace(struct map_table *table, bool *usable)
{
	struct map_table old = {.usable = table->usable};

	table->usable = usable;
	if (!table->next && !table->forget)
		return old;
	old.map = table->map;
	table->map = table->next;
	table->next = NULL;
	return old;
}

bool map_table_resolve(const struct map_table *table, const struct hd_gid *gid,
		       struct hd_map_answer *answer)
{
	return table->map && hd_map_resolve(table->map, gid, table->usable, answer);
}

void map_table_release(struct map_table *table)
{
	hd_map_free(table->map);
	hd_map_free(table->next);
	free(table->usable);
	*table = (struct map_table){0};
}

/* ---- reporting ---- */

/* Which port of its line is usable first; port_count: none. */
static uint32_t first_usable(const struct map_table *table, const struct hd_map_line *line)
{
	uint32_t choice = 0;

	while (choice < line->port_count &&
	       !table->usable[table->map->choices[line->first + choice]])
		choice++;
	return choice;
}

static void count(const struct map_table *table, uint32_t counts[3])
{
	const struct hd_map *map = table->map;

	memset(counts, 0, 3 * sizeof(*counts));
	for (uint32_t i = 0; i < map->port_count; i++)
		counts[0] += table->usable[i];
	for (uint32_t i = 0; i < map->gid_count + map->block_count + map->default_count; i++) {
		uint32_t choice = first_usable(table, &map->lines[i]);
		counts[1] += choice > 0 && choice < map->lines[i].port_count;
		counts[2] += choice == map->lines[i].port_count;
	}
}

void map_table_report(struct map_table *table, const char *path, const struct opensm_log *log)
{
	const struct hd_map *map = table->map;
	uint32_t counts[3];

	if (!map)
		return;
	count(table, counts);
	if (!memcmp(counts, table->reported, sizeof(counts)))
		return;
	memcpy(table->reported, counts, sizeof(counts));
	log_info(log,
		 "map: %s: %" PRIu32 " GIDs, %" PRIu32 " blocks, %" PRIu32
		 " default lines; %" PRIu32 " of %" PRIu32 " router ports are usable; %" PRIu32
		 " lines use a backup, %" PRIu32 " lines have no usable port",
		 path, map->gid_count, map->block_count, map->default_count, counts[0],
		 map->port_count, counts[1], counts[2]);
}
