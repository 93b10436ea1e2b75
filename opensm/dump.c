/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "dump.h"
#include "opensm_headers.h"

#include <errno.h>
#include <heddle/fabric/write.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

typedef int write_fn(const struct routing *routing, FILE *stream, struct hd_error *err);

static int write_fabric(const struct routing *routing, FILE *stream, struct hd_error *err)
{
	return hd_fabric_write_netlist(routing->fabric, stream, err);
}

static int write_tables(const struct routing *routing, FILE *stream, struct hd_error *err)
{
	return hd_routes_write_dump(routing->fabric, routing->routes, stream, err);
}

static int write_levels(const struct routing *routing, FILE *stream, struct hd_error *err)
{
	return hd_routes_write_levels(routing->fabric, routing->routes, stream, err);
}

static void write_file(const struct routing *routing, const char *directory, const char *name,
		       write_fn *write, const struct opensm_log *log)
{
	char path[PATH_MAX];
	struct hd_error err;
	FILE *stream;
	int rc;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	stream = fopen(path, "we");
	if (!stream) {
		log_error(log, LOG_ERROR_DUMP, "%s: %s", path, strerror(errno));
		return;
	}
	rc = write(routing, stream, &err);
	if (fclose(stream) && !rc)
		rc = hd_error_set(&err, -errno, "%s", strerror(errno));
	if (rc)
		log_error(log, LOG_ERROR_DUMP, "%s: %s", path, err.text);
}

bool dump_is_wanted(struct osm_opensm *osm)
{
	return osm_log_is_active_v2(&osm->log, OSM_LOG_ROUTING, FILE_ID);
}

void dump_write(const struct routing *routing, const char *directory, const struct opensm_log *log)
{
	write_file(routing, directory, "heddle-fabric.topo", write_fabric, log);
	write_file(routing, directory, "heddle-lfts.dump", write_tables, log);
	write_file(routing, directory, "heddle-sls.dump", write_levels, log);
}
