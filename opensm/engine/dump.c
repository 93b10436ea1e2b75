/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "dump.h"
#include "opensm_headers.h"

#include <heddle/base/replacement.h>
#include <heddle/fabric/write.h>
#include <limits.h>
#include <stdio.h>

static int write_fabric(const void *context, FILE *stream, struct hd_error *err)
{
	const struct routing *routing = context;

	return hd_fabric_write_netlist(routing->fabric, stream, err);
}

static int write_tables(const void *context, FILE *stream, struct hd_error *err)
{
	const struct routing *routing = context;

	return hd_routes_write_dump(routing->fabric, routing->routes, stream, err);
}

static int write_levels(const void *context, FILE *stream, struct hd_error *err)
{
	const struct routing *routing = context;

	return hd_routes_write_levels(routing->fabric, routing->routes, stream, err);
}

static const struct {
	const char *name;
	hd_replacement_write_fn *write;
} files[] = {{"heddle-fabric.topo", write_fabric},
	     {"heddle-lfts.dump", write_tables},
	     {"heddle-sls.dump", write_levels}};

#define FILE_COUNT (sizeof(files) / sizeof(*files))

bool dump_is_wanted(struct osm_opensm *osm)
{
	return osm_log_is_active_v2(&osm->log, OSM_LOG_ROUTING, FILE_ID);
}

/* Files of one routing replace those of another only together. */
static int replace_files(const struct routing *routing, const char *directory, struct hd_error *err)
{
	struct hd_replacement made[FILE_COUNT] = {0};
	char path[PATH_MAX];
	int rc = 0;

	for (unsigned i = 0; !rc && i < FILE_COUNT; i++) {
		snprintf(path, sizeof(path), "%s/%s", directory, files[i].name);
		rc = hd_replacement_write(&made[i], path, 0644, files[i].write, routing, err);
	}
	for (unsigned i = 0; !rc && i < FILE_COUNT; i++)
		if ((rc = hd_replacement_commit(&made[i], err)))
			hd_error_prefix(err, rc, "%s/%s", directory, files[i].name);
	for (unsigned i = 0; i < FILE_COUNT; i++)
		hd_replacement_drop(&made[i]);
	return rc;
}

void dump_write(const struct routing *routing, const char *directory, const struct opensm_log *log,
		int *fault)
{
	struct hd_error err;
	int rc = replace_files(routing, directory, &err);

	if (rc && rc != *fault)
		log_error(log, LOG_ERROR_DUMP, "%s; the dumps of an earlier sweep stay", err.text);
	*fault = rc;
}
