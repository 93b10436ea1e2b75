/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reads any bytes as a map of a subnet. What can be read can be written, read again, and resolved. */
#include "fuzzing.h"

#include <heddle/ir_router.h>
#include <stdio.h>

static void parse(const char *bytes, size_t length, struct hd_map **map, int *rc)
{
	struct hd_text text = {.bytes = bytes, .length = length, .name = "map"};
	struct hd_error err = {""};

	*map = NULL;
	*rc = hd_map_parse(&text, map, &err);
	demand(!*rc == !err.text[0] && !*rc == (*map != NULL));
}

static void resolve_lines(const struct hd_map *map)
{
	uint32_t count = map->gid_count + map->block_count + map->default_count;

	for (uint32_t i = 0; i < count; i++) {
		const struct hd_map_line *line = &map->lines[i];
		struct hd_map_answer answer;
		demand(hd_map_resolve(map, &line->gid, NULL, &answer) ||
		       line->length == HD_MAP_DEFAULT || !line->port_count);
		demand(line->length != HD_MAP_GID || answer.line == i);
		for (uint32_t choice = 0; choice < line->port_count; choice++)
			demand(map->choices[line->first + choice] < map->port_count);
	}
}

static void write_and_read(const struct hd_map *map)
{
	char *text = NULL;
	size_t size = 0;
	FILE *stream = open_memstream(&text, &size);
	struct hd_map *again;
	struct hd_map_difference *list = NULL;
	uint32_t count = 1;
	int rc;

	demand(stream && !hd_map_write(map, stream, NULL) && !fclose(stream));
	parse(text, size, &again, &rc);
	demand(!rc && !hd_map_compare(map, again, &list, &count, NULL) && !count);
	hd_map_free(again);
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct hd_map *map;
	int rc;

	parse((const char *)data, size, &map, &rc);
	if (!rc) {
		resolve_lines(map);
		write_and_read(map);
	}
	hd_map_free(map);
	return 0;
}
