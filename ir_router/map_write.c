/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <heddle/ir_router/map.h>

#include <errno.h>
#include <inttypes.h>
#include <string.h>

char *hd_map_destination(const struct hd_map_line *line, char *buffer)
{
	if (line->length == HD_MAP_DEFAULT)
		return strcpy(buffer, "*");
	hd_gid_print(&line->gid, buffer);
	if (line->length != HD_MAP_GID)
		snprintf(buffer + strlen(buffer), HD_MAP_DESTINATION_TEXT - strlen(buffer), "/%u",
			 line->length);
	return buffer;
}

int hd_map_write(const struct hd_map *map, FILE *stream, struct hd_error *err)
{
	uint32_t count = map->gid_count + map->block_count + map->default_count;
	char destination[HD_MAP_DESTINATION_TEXT];

	errno = 0;
	for (uint32_t index = 0; index < count; index++) {
		const struct hd_map_line *line = &map->lines[index];
		fputs(hd_map_destination(line, destination), stream);
		for (uint32_t i = 0; i < line->port_count; i++)
			fprintf(stream, " 0x%016" PRIx64,
				map->port_guid[map->choices[line->first + i]]);
		fputc('\n', stream);
	}
	if (fflush(stream) || ferror(stream)) {
		int rc = errno ? -errno : -EIO;
		return hd_error_set(err, rc, "%s", strerror(-rc));
	}
	return 0;
}
