/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "port_path.h"
#include "opensm_headers.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

uint64_t port_path_guid(const struct osm_opensm *osm)
{
	return cl_ntoh64(osm->subn.opt.guid);
}

void port_path_expand(uint64_t guid, const char *text, char *path, size_t size)
{
	const char *mark = strstr(text, "%g");
	int before = mark ? (int)(mark - text) : 0;

	if (!mark)
		snprintf(path, size, "%s", text);
	else if (guid)
		snprintf(path, size, "%.*s0x%016" PRIx64 "%s", before, text, guid, mark + 2);
	else
		snprintf(path, size, "%.*sdefault%s", before, text, mark + 2);
}
