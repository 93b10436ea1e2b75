/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "scenario_routing.h"

#include <heddle/ar_manager/read.h>
#include <heddle/base/gzip.h>
#include <heddle/base/suggest.h>
#include <heddle/engines.h>
#include <heddle/fabric/read.h>
#include <heddle/fabric/resolve.h>

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define PATHS_MAX 64u

static const char *text_of(const struct scenario_routing *routing, const char *key)
{
	return hd_options_get(routing->options, key)->text;
}

/* Puts the place before a reason. */
static int fail(const struct scenario_routing *routing, const char *key, int rc,
		struct hd_error *err)
{
	const struct scenario_entry *entry = scenario_text_entry(routing->section, key);

	return entry ? scenario_text_error(routing->scenario, routing->section, entry, rc, err)
		     : scenario_text_error_in(routing->scenario, routing->section, rc, err);
}

/* ---- engines ---- */

static int find_engine(const char *name, const struct hd_engine **out, struct hd_error *err)
{
	struct hd_suggestion suggestion = hd_suggestion_for(name);
	unsigned count;
	const struct hd_engine *const *engines = hd_engines(&count);

	*out = hd_engine_find(name);
	if (*out)
		return 0;
	for (unsigned i = 0; i < count; i++)
		hd_suggestion_offer(&suggestion, engines[i]->name);
	if (suggestion.nearest)
		return hd_error_set(err, -ENOENT, "unknown engine '%s'; did you mean '%s'?", name,
				    suggestion.nearest);
	return hd_error_set(err, -ENOENT, "unknown engine '%s'; see heddle engines", name);
}

/* "NAME[:KEY=VALUE,...]" */
static int run_engine(const struct scenario_routing *routing, const struct hd_fabric *fabric,
		      struct hd_routes **out, struct hd_error *err)
{
	char *text = hd_arena_strdup(routing->arena, text_of(routing, "engine"));
	struct hd_options *options = NULL;
	const struct hd_engine *engine;

	if (!text)
		return hd_error_no_memory(err);
	char *pairs = strchr(text, ':');
	if (pairs)
		*pairs++ = '\0';
	int rc = find_engine(text, &engine, err);
	if (!rc) {
		options = hd_engine_options(engine);
		rc = options ? hd_options_set_pairs(options, pairs, err) : hd_error_no_memory(err);
	}
	const struct hd_route_request request = {
	    .fabric = fabric, .options = options, .threads = routing->threads, .log = routing->log};
	if (!rc)
		rc = hd_engine_route(engine, &request, out, err);
	hd_options_free(options);
	return rc ? fail(routing, "engine", rc, err) : 0;
}

/* ---- tables from files ---- */

/* Takes the next piece of a list "a, b, c"; false at its end. */
static bool next_piece(struct hd_cursor *list, struct hd_cursor *piece)
{
	hd_take_blanks(list);
	if (hd_cursor_done(list))
		return false;
	if (!hd_take_until(list, ",", piece)) {
		*piece = *list;
		list->at = list->end;
	}
	hd_cursor_trim(piece);
	return true;
}

static int read_tables(const struct scenario_routing *routing, const char *list,
		       const struct hd_fabric *fabric, struct hd_routes **out, struct hd_error *err)
{
	const struct scenario_entry *entry = scenario_text_entry(routing->section, "tables");
	struct hd_cursor cursor = {list, list + strlen(list)}, piece;
	const char *paths[PATHS_MAX];
	uint32_t count = 0;

	while (count < PATHS_MAX && next_piece(&cursor, &piece)) {
		char *path = hd_arena_alloc(routing->arena, (size_t)(piece.end - piece.at) + 1, 1);
		if (!path)
			return hd_error_no_memory(err);
		memcpy(path, piece.at, (size_t)(piece.end - piece.at));
		paths[count] = scenario_text_path(routing->scenario, entry, path, routing->arena);
		if (!paths[count++])
			return hd_error_no_memory(err);
	}
	return hd_routes_read(paths, count, fabric, routing->log, out, err);
}

/* ---- single entries: "SWITCH HOST PORT [OFFSET], ..." ---- */

static bool take_word(struct hd_cursor *piece, char *buffer)
{
	struct hd_cursor word;

	if (!hd_take_word(piece, &word) || word.end - word.at >= HD_NAME_SIZE)
		return false;
	memcpy(buffer, word.at, (size_t)(word.end - word.at));
	buffer[word.end - word.at] = '\0';
	return true;
}

static int set_entry(const struct hd_fabric *fabric, struct hd_cursor piece,
		     struct hd_routes *routes, struct hd_error *err)
{
	char sw_name[HD_NAME_SIZE], host_name[HD_NAME_SIZE];
	uint32_t sw_port, host_port, port, offset = HD_NONE;

	if (!take_word(&piece, sw_name) || !take_word(&piece, host_name))
		return hd_error_set(err, -EINVAL,
				    "expected entries SWITCH HOST PORT [OFFSET], ...");
	hd_take_blanks(&piece);
	bool has_port = hd_take_decimal(&piece, &port);
	hd_take_blanks(&piece);
	hd_take_decimal(&piece, &offset);
	if (!has_port || !hd_cursor_done(&piece))
		return hd_error_set(err, -EINVAL, "'%s %s' is not followed by a port", sw_name,
				    host_name);
	int rc = hd_fabric_resolve(fabric, sw_name, HD_RESOLVE_SWITCHES, &sw_port, err);
	if (!rc)
		rc = hd_fabric_resolve(fabric, host_name, HD_RESOLVE_ANY, &host_port, err);
	if (rc)
		return rc;
	uint32_t sw = fabric->port_node[sw_port], lid = fabric->lid[host_port];
	if (!port || port > hd_node_ports(fabric, sw) ||
	    fabric->peer[hd_port_index(fabric, sw, port)] == HD_NONE)
		return hd_error_set(err, -EINVAL, "switch '%s' has no cable at port %" PRIu32,
				    sw_name, port);
	uint32_t lids = hd_port_lid_count(fabric, host_port);
	if (offset != HD_NONE && offset >= lids)
		return hd_error_set(err, -EINVAL,
				    "'%s' has %" PRIu32 " LIDs, so no offset %" PRIu32, host_name,
				    lids, offset);
	for (uint32_t i = 0; i < lids; i++)
		if (offset == HD_NONE || offset == i)
			hd_routes_row(routes, sw)[lid + i] = (uint8_t)port;
	return 0;
}

static int set_entries(const struct scenario_routing *routing, const struct hd_fabric *fabric,
		       struct hd_routes *routes, struct hd_error *err)
{
	const char *text = text_of(routing, "entries");
	struct hd_cursor list = {text, text + strlen(text)}, piece;
	int rc = 0;

	while (!rc && next_piece(&list, &piece))
		rc = set_entry(fabric, piece, routes, err);
	return rc ? fail(routing, "entries", rc, err) : 0;
}

/* ---- adaptive routing ---- */

static int read_plan(const struct scenario_routing *routing, const char *path,
		     const struct hd_fabric *fabric, struct hd_ar_plan **out, struct hd_error *err)
{
	struct hd_text text;

	path = scenario_text_path(routing->scenario, scenario_text_entry(routing->section, "ar"),
				  path, routing->arena);
	int rc = path ? hd_gzip_open(path, &text, err) : hd_error_no_memory(err);
	if (rc)
		return rc;
	rc = hd_ar_read_far(&text, fabric, out, err);
	hd_text_close(&text);
	return rc;
}

static int make_plan(const struct scenario_routing *routing, struct scenario_subnet *subnet,
		     struct hd_error *err)
{
	const char *text = text_of(routing, "ar");
	struct hd_ar_request request = {
	    .fabric = subnet->source.fabric,
	    .routes = subnet->routes,
	    .mode =
		hd_options_get(routing->options, "ar_mode")->number ? HD_AR_BOUNDED : HD_AR_FREE,
	    .group_cap = (uint32_t)hd_options_get(routing->options, "ar_group_cap")->number,
	    .threads = routing->threads,
	    .log = routing->log};

	if (!strncmp(text, "file:", 5))
		return read_plan(routing, text + 5, subnet->source.fabric, &subnet->plan, err);
	if (!hd_ar_algorithm_find(text, &request.algorithm))
		return hd_error_set(err, -EINVAL,
				    "expected off, auto, lag, tree, dfp or file:PATH");
	return hd_ar_plan_new(&request, &subnet->plan, NULL, err);
}

int scenario_routing_make(const struct scenario_routing *routing, struct scenario_subnet *subnet,
			  struct hd_error *err)
{
	const struct hd_fabric *fabric = subnet->source.fabric;
	const char *tables =
	    subnet->source.tables ? subnet->source.tables : text_of(routing, "tables");
	int rc;

	if (*tables) {
		rc = read_tables(routing, tables, fabric, &subnet->routes, err);
		if (rc)
			fail(routing, "tables", rc, err);
	} else {
		rc = run_engine(routing, fabric, &subnet->routes, err);
	}
	if (!rc)
		rc = set_entries(routing, fabric, subnet->routes, err);
	if (!rc && strcmp(text_of(routing, "ar"), "off") != 0) {
		rc = make_plan(routing, subnet, err);
		if (rc)
			fail(routing, "ar", rc, err);
	}
	return rc;
}

void scenario_routing_name(const struct scenario_routing *routing, char *buffer, size_t size)
{
	const char *tables = text_of(routing, "tables"), *ar = text_of(routing, "ar");
	bool adaptive = strcmp(ar, "off") != 0;

	snprintf(buffer, size, "%s%s%s", *tables ? tables : text_of(routing, "engine"),
		 adaptive ? ", AR " : "", adaptive ? ar : "");
}
