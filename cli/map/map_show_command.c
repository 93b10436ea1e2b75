/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* heddle map show: what a map has, and where it sends a GID. */
#include "commands.h"
#include "json_value.h"
#include "message.h"
#include "need.h"
#include "shared_arguments.h"

#include <heddle/ir_router.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct show_job {
	bool json, lines;
	struct hd_map *map;
	uint32_t *first; /* [port] lines that prefer it */
};

static const struct argument arguments[] = {
    {'l', "lines", NULL, "print the map in canonical order", ARGUMENT_FLAG(struct show_job, lines)},
    SHARED_JSON(struct show_job, json),
};

static const struct usage usage = {
    .synopsis = "heddle map show [OPTION]... MAP [GID]...",
    .summary = "Shows what a map has, and which router ports it names for GIDs.",
    .arguments = arguments,
    .count = sizeof(arguments) / sizeof(arguments[0]),
    .statuses = {"the map was shown", "a GID has no line", "bad input or usage"},
};

static json_t *line_json(const struct hd_map *map, const struct hd_map_line *line)
{
	char destination[HD_MAP_DESTINATION_TEXT];

	json_t *ports = json_array();
	for (uint32_t i = 0; i < line->port_count; i++)
		ports = json_value_append(
		    ports, json_value_guid(map->port_guid[map->choices[line->first + i]]));
	return json_pack("{s:s, s:o}", "destination", hd_map_destination(line, destination),
			 "ports", ports);
}

static void print_ports(const struct hd_map *map, const struct hd_map_line *line)
{
	for (uint32_t i = 0; i < line->port_count; i++)
		printf(" 0x%016" PRIx64, map->port_guid[map->choices[line->first + i]]);
	putchar('\n');
}

static int show_map(struct show_job *job)
{
	const struct hd_map *map = job->map;
	struct hd_error err;

	for (uint32_t i = 0; i < map->gid_count; i++)
		job->first[map->choices[map->lines[i].first]]++;
	if (job->json) {
		uint32_t count = map->gid_count + map->block_count + map->default_count;
		json_t *ports = json_array(), *lines = json_array();
		for (uint32_t port = 0; port < map->port_count; port++)
			ports = json_value_append(
			    ports,
			    json_pack("{s:o, s:I}", "port", json_value_guid(map->port_guid[port]),
				      "destinations", (json_int_t)job->first[port]));
		for (uint32_t i = 0; job->lines && i < count; i++)
			lines = json_value_append(lines, line_json(map, &map->lines[i]));
		json_t *all = json_pack("{s:I, s:I, s:I, s:o}", "gids", (json_int_t)map->gid_count,
					"blocks", (json_int_t)map->block_count, "defaults",
					(json_int_t)map->default_count, "ports", ports);
		if (job->lines)
			all = json_value_set(all, "lines", lines);
		else
			json_decref(lines);
		return json_value_print(all, STATUS_CLEAN);
	}
	if (job->lines)
		return hd_map_write(map, stdout, &err) ? message_fail(&err) : STATUS_CLEAN;
	printf("GIDs          %" PRIu32 "\nblocks        %" PRIu32 "\n* lines       %" PRIu32
	       "\nrouter ports  %" PRIu32 "\n",
	       map->gid_count, map->block_count, map->default_count, map->port_count);
	for (uint32_t port = 0; port < map->port_count; port++)
		printf("  0x%016" PRIx64 "  preferred by %" PRIu32 " GIDs\n", map->port_guid[port],
		       job->first[port]);
	return STATUS_CLEAN;
}

static int show_gids(const struct show_job *job, const struct operands *operands)
{
	const struct hd_map *map = job->map;
	json_t *list = json_array();
	int status = STATUS_CLEAN;

	for (unsigned i = 1; i < operands->count; i++) {
		const char *text = operands->items[i];
		struct hd_map_answer answer;
		struct hd_gid gid;
		struct hd_error err;
		if (hd_gid_parse(text, (unsigned)strlen(text), &gid, &err)) {
			json_decref(list);
			return message_error("'%s': %s", text, err.text);
		}
		bool found = hd_map_resolve(map, &gid, NULL, &answer);
		status = found ? status : STATUS_FAULTS;
		if (job->json) {
			json_t *line =
			    found ? line_json(map, &map->lines[answer.line]) : json_null();
			list = json_value_append(
			    list, json_pack("{s:s, s:o}", "gid", text, "line", line));
			continue;
		}
		char destination[HD_MAP_DESTINATION_TEXT];
		if (!found)
			printf("%s  no line\n", text);
		else
			printf("%s  by line %s:", text,
			       hd_map_destination(&map->lines[answer.line], destination));
		if (found)
			print_ports(map, &map->lines[answer.line]);
	}
	if (job->json)
		return json_value_print(list, status);
	json_decref(list);
	return status;
}

static int run(void *context, const struct operands *operands)
{
	struct show_job *job = context;
	struct hd_error err = {""};
	int status = arguments_expect(&usage, operands, "MAP", 1, UINT32_MAX);

	if (status)
		return status;
	if (hd_map_read(operands->items[0], &job->map, &err))
		return message_fail(&err);
	job->first = need(calloc((size_t)job->map->port_count + 1, sizeof(*job->first)));
	return operands->count > 1 ? show_gids(job, operands) : show_map(job);
}

int map_show(int argc, char **argv)
{
	struct show_job job = {.json = false};
	int status = arguments_run(&usage, argc, argv, &job, run);

	free(job.first);
	hd_map_free(job.map);
	return status;
}
