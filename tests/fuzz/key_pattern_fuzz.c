/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Any bytes as the file of a pattern for 16 ranks, and its first line as the name of one. What is
 * accepted holds the limits, and is taken from its own flows again. */
#include "fuzzing.h"

#include <heddle/keyd/key_pattern.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define RANKS 16u

static void check_pattern(const struct hd_key_pattern *pattern)
{
	struct hd_key_pattern *again;

	demand(pattern->ranks == RANKS && pattern->phase_count <= HD_KEY_PHASES_MAX);
	demand(!pattern->base[0] && pattern->base[pattern->phase_count] <= HD_KEY_FLOWS_MAX);
	demand(!hd_key_pattern_from(RANKS, pattern->phase_count, pattern->base, pattern->flows,
				    &again, NULL));
	demand(again->phase_count == pattern->phase_count);
	demand(again->base[again->phase_count] == pattern->base[pattern->phase_count]);
	hd_key_pattern_free(again);
}

/* As a word; what is accepted is packed and unpacked again. */
static void read_as_word(const uint8_t *data, size_t size)
{
	struct hd_key_pattern *pattern = NULL, *again = NULL;
	struct hd_error err = {""};
	char *text = strndup((const char *)data, size), *packed = NULL;
	int rc = hd_key_pattern_unpack(text, RANKS, &pattern, &err);

	demand(!rc == !err.text[0] && !rc == (pattern != NULL));
	if (!rc) {
		check_pattern(pattern);
		demand(!hd_key_pattern_pack(pattern, size + 1, &packed));
		demand(!hd_key_pattern_unpack(packed, RANKS, &again, &err));
		demand(again->phase_count == pattern->phase_count);
	}
	hd_key_pattern_free(pattern);
	hd_key_pattern_free(again);
	free(packed);
	free(text);
}

static void read_as_file(const uint8_t *data, size_t size)
{
	struct hd_key_pattern *pattern = NULL;
	struct hd_error err = {""};
	int rc = hd_key_pattern_read((const char *)data, size, "pattern", RANKS, &pattern, &err);

	demand(!rc == !err.text[0] && !rc == (pattern != NULL));
	if (!rc)
		check_pattern(pattern);
	hd_key_pattern_free(pattern);
}

static void take_as_name(const uint8_t *data, size_t size)
{
	const uint8_t *end = memchr(data, '\n', size);
	char text[256];
	size_t length = end ? (size_t)(end - data) : size;
	struct hd_key_pattern *pattern = NULL;
	struct hd_error err = {""};

	if (length >= sizeof(text))
		return;
	memcpy(text, data, length);
	text[length] = '\0';
	bool good = !hd_key_pattern_check(text, &err);
	demand(good == !err.text[0]);
	if (!strncmp(text, "file:", 5))
		return;
	int rc = hd_key_pattern_new(text, RANKS, &pattern, &err);
	demand(good || rc);
	if (!rc)
		check_pattern(pattern);
	hd_key_pattern_free(pattern);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	read_as_file(data, size);
	read_as_word(data, size);
	if (size)
		take_as_name(data, size);
	return 0;
}
