/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "engine_options.h"

#include <errno.h>
#include <stdlib.h>

/* ---- root ---- */

bool engine_options_guid(const char *text, uint64_t *guid)
{
	char *end;

	errno = 0;
	*guid = strtoull(text, &end, 16);
	return end != text && !*end && !errno && text[0] != '-';
}

/* ---- deadlock ---- */

#define LANES_BY_DEFAULT 8 /* what most switches have */

unsigned engine_options_lanes(const struct hd_route_request *request)
{
	unsigned wanted = (unsigned)hd_options_get(request->options, "vls")->number;
	unsigned present = request->lanes < HD_LANES_MAX ? request->lanes : HD_LANES_MAX;

	if (!present)
		return wanted ? wanted : LANES_BY_DEFAULT;
	return wanted && wanted < present ? wanted : present;
}
