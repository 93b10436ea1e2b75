/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tables from wherever a command is told to take them. */
#ifndef CLI_TABLE_SOURCE_H
#define CLI_TABLE_SOURCE_H

#include <heddle/engines.h>

/* Where tables come from: files and folders, or an engine. */
struct table_source {
	const char *const *paths;
	size_t path_count;
	const struct hd_engine *engine; /* in place of paths */
	struct hd_options *options; /* of the engine */
	char name[160]; /* for reports: "spf passes=1", "old.lfts" */
};

/* "engine:NAME", "engine:NAME:KEY=VALUE...": not 0 after a message. */
int table_source_take_engine(struct table_source *tables, const char *text);

/* `text` as above, or else the path of a file or folder; it must outlive the tables. */
int table_source_take_source(struct table_source *tables, const char *const *text);

/* Either one engine as above, or `count` (1 or more) files and folders. */
int table_source_take_sources(struct table_source *tables, const char *const *texts, size_t count);

/* Engine by name; NULL after a message that lists the engines. */
const struct hd_engine *table_source_find_engine(const char *name);

void table_source_release(struct table_source *tables);

/* Reads or computes them, with progress. `previous`: as in hd_route_request, may be NULL. */
int table_source_make(const struct table_source *tables, const struct hd_fabric *fabric,
		      const struct hd_routes *previous, unsigned threads, const struct hd_log *log,
		      struct hd_routes **out, struct hd_error *err);

#endif
