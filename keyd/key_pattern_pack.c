/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A pattern as one word, for environment variables: "0>1,1>0/2>0" are two phases. */
#include "key_pattern_build.h"

#include <errno.h>
#include <heddle/base/text.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FLOW_LONGEST 24u /* bytes of "65535>65535," and a 0 */

/* Adds a text if there is room for it and a 0. */
static bool add(char *out, size_t size, size_t *length, const char *text)
{
	size_t more = strlen(text);

	if (more >= size - *length)
		return false;
	memcpy(out + *length, text, more + 1);
	*length += more;
	return true;
}

static bool pack(const struct hd_key_pattern *pattern, char *out, size_t size)
{
	size_t length = 0;

	*out = '\0';
	for (uint32_t phase = 0; phase < pattern->phase_count; phase++) {
		if (phase && !add(out, size, &length, "/"))
			return false;
		for (uint32_t i = pattern->base[phase]; i < pattern->base[phase + 1]; i++) {
			char flow[FLOW_LONGEST];
			snprintf(flow, sizeof(flow), "%s%" PRIu32 ">%" PRIu32,
				 i > pattern->base[phase] ? "," : "", pattern->flows[i].source,
				 pattern->flows[i].destination);
			if (!add(out, size, &length, flow))
				return false;
		}
	}
	return true;
}

int hd_key_pattern_pack(const struct hd_key_pattern *pattern, size_t size, char **out)
{
	char *text = malloc(size);

	if (!text)
		return -ENOMEM;
	if (!size || !pack(pattern, text, size)) {
		free(text);
		return -EMSGSIZE;
	}
	*out = text;
	return 0;
}

static bool take_char(struct hd_cursor *cursor, char expected)
{
	if (hd_cursor_done(cursor) || *cursor->at != expected)
		return false;
	cursor->at++;
	return true;
}

static bool take_flow(struct hd_cursor *cursor, uint32_t ranks, struct key_pattern_build *build)
{
	uint32_t source, destination;

	if (!hd_take_decimal(cursor, &source) || !take_char(cursor, '>') ||
	    !hd_take_decimal(cursor, &destination) || source >= ranks || destination >= ranks ||
	    source == destination)
		return false;
	key_pattern_build_flow(build, source, destination);
	return true;
}

static bool take_phase(struct hd_cursor *cursor, uint32_t ranks, struct key_pattern_build *build)
{
	key_pattern_build_phase(build);
	if (hd_cursor_done(cursor) || *cursor->at == '/')
		return true;
	do
		if (!take_flow(cursor, ranks, build))
			return false;
	while (!build->rc && take_char(cursor, ','));
	return true;
}

int hd_key_pattern_unpack(const char *text, uint32_t ranks, struct hd_key_pattern **out,
			  struct hd_error *err)
{
	struct hd_cursor cursor = {text, text + strlen(text)};
	struct key_pattern_build build;
	bool right = true;

	key_pattern_build_begin(&build, ranks, err);
	while (!build.rc && right) {
		right = take_phase(&cursor, ranks, &build);
		if (!build.rc && right && !take_char(&cursor, '/')) {
			right = hd_cursor_done(&cursor);
			break;
		}
	}
	if (!build.rc && !right)
		build.rc =
		    hd_error_set(err, -EINVAL,
				 "byte %zu of the flows is wrong: expected RANK>RANK, with "
				 "',' between flows and '/' between phases, and ranks from 0 "
				 "to %u",
				 (size_t)(cursor.at - text), ranks - 1);
	return key_pattern_build_end(&build, out);
}
