/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "table_source.h"
#include "message.h"
#include "progress.h"
#include "status.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ENGINE_PREFIX "engine:"

const struct hd_engine *table_source_find_engine(const char *name)
{
	char known[256] = "";
	size_t used = 0;
	unsigned count;

	const struct hd_engine *const *all = hd_engines(&count);
	const struct hd_engine *engine = hd_engine_find(name);
	for (unsigned i = 0; i < count && used < sizeof(known); i++)
		used += (size_t)snprintf(known + used, sizeof(known) - used, "%s%s", i ? ", " : "",
					 all[i]->name);
	if (!engine)
		message_error("unknown engine '%s'; there are: %s", name, known);
	return engine;
}

static int set_options(struct table_source *tables, char *rest)
{
	struct hd_error err = {""};
	int rc;

	tables->options = hd_engine_options(tables->engine);
	if (!tables->options)
		return message_no_memory();
	rc = hd_options_set_pairs(tables->options, rest, &err);
	if (!rc)
		rc = hd_options_complete(tables->options, &err);
	if (rc)
		return message_error("engine '%s': %s", tables->engine->name, err.text);
	int used = snprintf(tables->name, sizeof(tables->name), "%s ", tables->engine->name);
	hd_options_print(tables->options, tables->name + used, (int)sizeof(tables->name) - used);
	if (!tables->name[used])
		tables->name[used - 1] = '\0';
	return 0;
}

int table_source_take_engine(struct table_source *tables, const char *text)
{
	char *copy = strdup(text), *rest = copy;

	if (!copy)
		return message_no_memory();
	tables->engine = table_source_find_engine(strsep(&rest, ":"));
	int status = tables->engine ? set_options(tables, rest) : STATUS_BAD;
	free(copy);
	return status;
}

int table_source_take_source(struct table_source *tables, const char *const *text)
{
	size_t prefix = strlen(ENGINE_PREFIX);

	*tables = (struct table_source){.paths = text, .path_count = 1};
	if (!strncmp(*text, ENGINE_PREFIX, prefix))
		return table_source_take_engine(tables, *text + prefix);
	snprintf(tables->name, sizeof(tables->name), "%s", *text);
	return 0;
}

int table_source_take_sources(struct table_source *tables, const char *const *texts, size_t count)
{
	for (size_t i = 0; i < count && count > 1; i++)
		if (!strncmp(texts[i], ENGINE_PREFIX, strlen(ENGINE_PREFIX)))
			return message_error("'%s' cannot stand beside other TABLES", texts[i]);
	int status = table_source_take_source(tables, texts);
	if (!tables->engine)
		tables->path_count = count;
	return status;
}

void table_source_release(struct table_source *tables)
{
	hd_options_free(tables->options);
}

static int compute(const struct table_source *tables, const struct hd_fabric *fabric,
		   const struct hd_routes *previous, unsigned threads, const struct hd_log *log,
		   struct hd_routes **out, struct hd_error *err)
{
	const struct hd_route_request request = {.fabric = fabric,
						 .options = tables->options,
						 .previous = previous,
						 .threads = threads,
						 .log = log};
	int rc = hd_engine_route(tables->engine, &request, out, err);

	return rc ? hd_error_prefix(err, rc, "engine '%s'", tables->engine->name) : 0;
}

int table_source_make(const struct table_source *tables, const struct hd_fabric *fabric,
		      const struct hd_routes *previous, unsigned threads, const struct hd_log *log,
		      struct hd_routes **out, struct hd_error *err)
{
	int rc;

	if (tables->engine) {
		progress_begin("routing by %s", tables->engine->name);
		rc = compute(tables, fabric, previous, threads, log, out, err);
	} else {
		progress_begin("reading tables");
		rc = hd_routes_read(tables->paths, tables->path_count, fabric, log, out, err);
	}
	progress_end();
	return rc;
}
