/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Forwarding tables: read from files, or computed by an engine that -e names. */
#ifndef CLI_TABLE_SOURCE_H
#define CLI_TABLE_SOURCE_H

#include "arguments.h"

#include <heddle/engines.h>

struct table_source {
	const char *const *paths; /* files and folders */
	size_t path_count;
	const char
	    *text; /* in place of paths: what is in the file of that name; NULL: there are paths */
	const struct hd_engine *engine; /* in place of paths */
	struct hd_options *options; /* of the engine */
	unsigned operands; /* typed before the engine */
	char name[160]; /* for reports: "spf passes=1", "old.lfts" */
};

struct table_request {
	const struct hd_fabric *fabric;
	const struct hd_routes *previous; /* as in hd_route_request, may be NULL */
	const struct hd_policy *policy; /* NULL = none */
	unsigned threads;
	const struct hd_log *log;
	/* where defects of files go, see hd_routes_examine(); NULL: they are errors */
	struct hd_table_defects *defects;
};

/* Takes -e NAME[:KEY=VALUE,...]; the place is a struct table_source. Refuses a second engine. */
arguments_take_fn table_source_take_engine;

/* Files and folders, one or more; the texts must outlive the source. */
void table_source_set_paths(struct table_source *source, const char *const *paths, size_t count);

/*
 * For commands with one source: the operands are FABRIC, then files unless there is an engine,
 * then `after` others. `expected` names them for the message. 0, or STATUS_BAD after a message.
 */
int table_source_take_operands(struct table_source *source, const struct usage *usage,
			       const struct operands *operands, unsigned after,
			       const char *expected);

void table_source_release(struct table_source *source);

/* hd_engine_route() with the engine of the source; the reason in err names it. */
int table_source_route(const struct table_source *source, const struct table_request *request,
		       struct hd_routes **out, struct hd_error *err);

/* Reads or computes the tables and shows progress. The name of the source then says which engine `auto` has taken:
 * "auto (spf)". */
int table_source_make(struct table_source *source, const struct table_request *request,
		      struct hd_routes **out, struct hd_error *err);

/* What to try if tables have a credit loop, in lines; NULL: nothing, as they have service levels. */
const char *table_source_advice(const struct hd_routes *routes);

#endif
