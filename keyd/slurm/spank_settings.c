/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "spank_settings.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define TIMEOUT_MS 2000u

static bool take_text(const char *argument, const char *name, char *out, size_t size)
{
	size_t length = strlen(name);

	if (strncmp(argument, name, length) || strlen(argument + length) >= size)
		return false;
	strcpy(out, argument + length);
	return true;
}

static bool take_timeout(const char *argument, unsigned *out)
{
	char text[8], *end;
	unsigned long value;

	if (!take_text(argument, "timeout=", text, sizeof(text)))
		return false;
	value = strtoul(text, &end, 10);
	if (*text < '0' || *text > '9' || *end || value < 1 || value > 60000)
		return false;
	*out = (unsigned)value;
	return true;
}

const char *spank_settings_read(int count, char **arguments, struct spank_settings *out)
{
	*out = (struct spank_settings){.keyd = HD_KEY_CLIENT_SOCKET, .timeout_ms = TIMEOUT_MS};
	for (int i = 0; i < count; i++)
		if (!take_text(arguments[i], "keyd=", out->keyd, sizeof(out->keyd)) &&
		    !take_text(arguments[i], "munge=", out->munge, sizeof(out->munge)) &&
		    !take_timeout(arguments[i], &out->timeout_ms))
			return arguments[i];
	return NULL;
}

int spank_settings_client(const struct spank_settings *settings, struct hd_key_client **out,
			  struct hd_key_client_problem *problem)
{
	int rc = hd_key_client_new(settings->keyd, settings->timeout_ms, out, problem);

	if (!rc && *settings->munge)
		rc = hd_key_client_use_munge(*out, settings->munge, problem);
	return rc;
}
