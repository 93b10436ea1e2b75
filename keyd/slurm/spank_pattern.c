/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "spank_pattern.h"

#include <errno.h>
#include <heddle/keyd/key_pattern.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char file_prefix[] = "file:";

/* "file:PATH" with the absolute path; the file must be readable and right. */
static int check_file(const char *text, char *out, struct hd_error *err)
{
	struct hd_key_pattern *pattern = NULL;
	char *path;
	int rc = hd_key_pattern_new(text, HD_KEY_RANKS_MAX, &pattern, err);

	hd_key_pattern_free(pattern);
	if (rc)
		return rc;
	path = realpath(text + strlen(file_prefix), NULL);
	if (!path || strlen(path) + strlen(file_prefix) > SPANK_PATTERN_LONGEST)
		rc = hd_error_set(err, -EINVAL, "%s: %s", text,
				  path ? "the path is too long" : strerror(errno));
	else
		sprintf(out, "%s%s", file_prefix, path);
	free(path);
	return rc;
}

int spank_pattern_check(const char *text, char *out, char *reason, size_t size)
{
	struct hd_error err = {""};
	int rc = hd_key_pattern_check(text, &err);

	if (!rc && strlen(text) > SPANK_PATTERN_LONGEST)
		rc = hd_error_set(&err, -EINVAL, "it has more than %u characters",
				  SPANK_PATTERN_LONGEST);
	if (!rc && !strncmp(text, file_prefix, strlen(file_prefix)))
		rc = check_file(text, out, &err);
	else if (!rc)
		strcpy(out, text);
	if (rc)
		snprintf(reason, size, "%s", err.text);
	return rc;
}
