/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "table_source.h"
#include "catalogue.h"
#include "interrupt.h"
#include "message.h"
#include "need.h"
#include "progress.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int table_source_take_engine(const struct typed *typed, void *place)
{
	struct table_source *source = place;
	struct catalogue_entry entry;

	if (source->engine)
		return message_error("option '--%s' is given twice: this command takes one engine",
				     typed->argument->name);
	int status = catalogue_choose(&catalogue_engines, typed->text, &entry, &source->options);
	if (status)
		return status;
	source->engine = catalogue_find_engine(entry.name);
	source->operands = typed->operands;
	int used = snprintf(source->name, sizeof(source->name), "%s ", entry.name);
	hd_options_print(source->options, source->name + used, (int)sizeof(source->name) - used);
	if (!source->name[used])
		source->name[used - 1] = '\0';
	return 0;
}

void table_source_set_paths(struct table_source *source, const char *const *paths, size_t count)
{
	source->paths = paths;
	source->path_count = count;
	snprintf(source->name, sizeof(source->name), "%s%s", paths[0], count > 1 ? " ..." : "");
}

int table_source_take_operands(struct table_source *source, const struct usage *usage,
			       const struct operands *operands, unsigned after,
			       const char *expected)
{
	unsigned least = 1 + after;

	if (source->engine ? operands->count != least : operands->count <= least)
		return arguments_refuse(usage, "expected %s, got %u%s", expected, operands->count,
					source->engine ? " with -e" : "");
	if (!source->engine)
		table_source_set_paths(source, (const char *const *)operands->items + 1,
				       operands->count - least);
	return 0;
}

void table_source_release(struct table_source *source)
{
	hd_options_free(source->options);
}

int table_source_route(const struct table_source *source, const struct table_request *request,
		       struct hd_routes **out, struct hd_error *err)
{
	const struct hd_route_request route = {.fabric = request->fabric,
					       .options = source->options,
					       .policy = request->policy,
					       .previous = request->previous,
					       .threads = request->threads,
					       .log = request->log,
					       .go_on = interrupt_go_on};
	int rc = hd_engine_route(source->engine, &route, out, err);

	return rc ? hd_error_prefix(err, rc, "engine '%s'", source->engine->name) : 0;
}

static int read_tables(const struct table_source *source, const struct table_request *request,
		       struct hd_routes **out, struct hd_error *err)
{
	if (source->text)
		return hd_routes_examine_text(source->text, strlen(source->text), source->name,
					      request->fabric, request->log, request->defects, out,
					      err);
	const char **paths = need(malloc(source->path_count * sizeof(*paths)));

	for (size_t i = 0; i < source->path_count; i++)
		paths[i] = arguments_path(source->paths[i]);
	int rc = hd_routes_examine(paths, source->path_count, request->fabric, request->log,
				   request->defects, out, err);
	free(paths);
	return rc;
}

int table_source_make(struct table_source *source, const struct table_request *request,
		      struct hd_routes **out, struct hd_error *err)
{
	int rc;

	if (source->engine) {
		progress_begin("routing with %s", source->engine->name);
		rc = table_source_route(source, request, out, err);
		if (!rc) {
			/* Once: a source can be asked for tables of several fabrics. */
			const struct hd_routes *routes = *out;
			const size_t length = strlen(source->name);
			if (*routes->chosen && !strchr(source->name, '('))
				snprintf(source->name + length, sizeof(source->name) - length,
					 " (%s)", routes->chosen);
		}
	} else {
		progress_begin("reading tables");
		rc = read_tables(source, request, out, err);
	}
	progress_end();
	return rc;
}

const char *table_source_advice(const struct hd_routes *routes)
{
	return routes->sl
		   ? NULL
		   : "All traffic is on SL 0 here. If the routing uses virtual lanes, give its "
		     "service levels\nbeside the tables: heddle-sls.dump, what heddle route --sl "
		     "wrote, or the PSL file of ibdmchk.";
}
