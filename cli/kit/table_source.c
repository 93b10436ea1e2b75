/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "table_source.h"
#include "command.h"
#include "progress.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ENGINE_PREFIX "engine:"

static int set_options(struct cli_tables *tables, char *rest)
{
	struct hd_error err = {""};
	int rc;

	tables->options = hd_engine_options(tables->engine);
	if (!tables->options)
		return cli_no_memory();
	rc = hd_options_set_pairs(tables->options, rest, &err);
	if (!rc)
		rc = hd_options_complete(tables->options, &err);
	if (rc)
		return cli_error("engine '%s': %s", tables->engine->name, err.text);
	int used = snprintf(tables->name, sizeof(tables->name), "%s ", tables->engine->name);
	hd_options_print(tables->options, tables->name + used, (int)sizeof(tables->name) - used);
	if (!tables->name[used])
		tables->name[used - 1] = '\0';
	return 0;
}

int cli_tables_engine(struct cli_tables *tables, const char *text)
{
	char *copy = strdup(text), *rest = copy;

	if (!copy)
		return cli_no_memory();
	tables->engine = cli_engine(strsep(&rest, ":"));
	int status = tables->engine ? set_options(tables, rest) : CLI_BAD;
	free(copy);
	return status;
}

int cli_tables_source(struct cli_tables *tables, const char *const *text)
{
	size_t prefix = strlen(ENGINE_PREFIX);

	*tables = (struct cli_tables){.paths = text, .path_count = 1};
	if (!strncmp(*text, ENGINE_PREFIX, prefix))
		return cli_tables_engine(tables, *text + prefix);
	snprintf(tables->name, sizeof(tables->name), "%s", *text);
	return 0;
}

int cli_tables_sources(struct cli_tables *tables, const char *const *texts, size_t count)
{
	for (size_t i = 0; i < count && count > 1; i++)
		if (!strncmp(texts[i], ENGINE_PREFIX, strlen(ENGINE_PREFIX)))
			return cli_error("'%s' cannot stand beside other TABLES", texts[i]);
	int status = cli_tables_source(tables, texts);
	if (!tables->engine)
		tables->path_count = count;
	return status;
}

void cli_tables_release(struct cli_tables *tables)
{
	hd_options_free(tables->options);
}

static int compute(const struct cli_tables *tables, const struct hd_fabric *fabric,
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

int cli_tables_make(const struct cli_tables *tables, const struct hd_fabric *fabric,
		    const struct hd_routes *previous, unsigned threads, const struct hd_log *log,
		    struct hd_routes **out, struct hd_error *err)
{
	int rc;

	if (tables->engine) {
		cli_progress_begin("routing by %s", tables->engine->name);
		rc = compute(tables, fabric, previous, threads, log, out, err);
	} else {
		cli_progress_begin("reading tables");
		rc = hd_routes_read(tables->paths, tables->path_count, fabric, log, out, err);
	}
	cli_progress_end();
	return rc;
}
