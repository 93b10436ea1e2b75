/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* heddle map diff: where two maps differ. */
#include "commands.h"
#include "json_value.h"
#include "message.h"
#include "shared_arguments.h"

#include <heddle/ir_router.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

struct diff_job {
	bool json;
	struct hd_map *before, *after;
	struct hd_map_difference *list;
	uint32_t count;
};

static const struct argument arguments[] = {
    SHARED_JSON(struct diff_job, json),
};

static const struct usage usage = {
    .synopsis = "heddle map diff [OPTION]... OLD NEW",
    .summary = "Lists the destinations whose router ports differ in two maps.",
    .arguments = arguments,
    .count = sizeof(arguments) / sizeof(arguments[0]),
    .statuses = {"the maps are equal", "the maps differ", "bad input or usage"},
};

static void print_side(char sign, const struct hd_map *map, uint32_t index)
{
	char destination[HD_MAP_DESTINATION_TEXT];

	if (index == HD_NONE)
		return;
	printf("%c %s", sign, hd_map_destination(&map->lines[index], destination));
	const struct hd_map_line *line = &map->lines[index];
	for (uint32_t i = 0; i < line->port_count; i++)
		printf(" 0x%016" PRIx64, map->port_guid[map->choices[line->first + i]]);
	putchar('\n');
}

static json_t *side_json(const struct hd_map *map, uint32_t index)
{
	json_t *list = json_array();

	if (index == HD_NONE) {
		json_decref(list);
		return json_null();
	}
	for (uint32_t i = 0; i < map->lines[index].port_count; i++)
		list = json_value_append(
		    list,
		    json_value_guid(map->port_guid[map->choices[map->lines[index].first + i]]));
	return list;
}

static int show(const struct diff_job *job)
{
	int status = job->count ? STATUS_FAULTS : STATUS_CLEAN;
	json_t *list = json_array();

	for (uint32_t i = 0; i < job->count; i++) {
		const struct hd_map_difference *one = &job->list[i];
		if (job->json) {
			char destination[HD_MAP_DESTINATION_TEXT];
			const struct hd_map_line *line = one->before != HD_NONE
							     ? &job->before->lines[one->before]
							     : &job->after->lines[one->after];
			list = json_value_append(
			    list, json_pack("{s:s, s:o, s:o}", "destination",
					    hd_map_destination(line, destination), "before",
					    side_json(job->before, one->before), "after",
					    side_json(job->after, one->after)));
		} else {
			print_side('-', job->before, one->before);
			print_side('+', job->after, one->after);
		}
	}
	if (job->json)
		return json_value_print(list, status);
	json_decref(list);
	printf("%" PRIu32 " destinations differ\n", job->count);
	return status;
}

static int run(void *context, const struct operands *operands)
{
	struct diff_job *job = context;
	struct hd_error err = {""};
	int status = arguments_expect(&usage, operands, "OLD and NEW", 2, 2);

	if (status)
		return status;
	int rc = hd_map_read(operands->items[0], &job->before, &err);
	if (!rc)
		rc = hd_map_read(operands->items[1], &job->after, &err);
	if (!rc)
		rc = hd_map_compare(job->before, job->after, &job->list, &job->count, &err);
	return rc ? message_fail(&err) : show(job);
}

int map_diff(int argc, char **argv)
{
	struct diff_job job = {.json = false};
	int status = arguments_run(&usage, argc, argv, &job, run);

	free(job.list);
	hd_map_free(job.before);
	hd_map_free(job.after);
	return status;
}
