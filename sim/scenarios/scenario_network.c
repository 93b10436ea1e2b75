/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The networks of a scenario: fabrics, tables, plans, maps and routers, from [fabric], [subnet NAME] and [routing].
 *
 * scenario_network_new() is called for each point whose network differs from that of the points before
 * (scenario_network_digest()). It reads or generates the fabrics, settles LIDs and LMC, runs the engine or reads
 * tables, puts single entries over them, makes or reads the plan of adaptive routing; with several subnets it joins
 * them, makes the maps, and starts the relay of the routers. A network does not change later: runs of a point share
 * it, and copy the tables if their traffic writes keys. Errors name section, key and value.
 */
#include "scenario_parts.h"

#include <errno.h>
#include <heddle/ar_manager/plan_files.h>
#include <heddle/ar_manager/proof.h>
#include <heddle/base/gzip.h>
#include <heddle/base/suggest.h>
#include <heddle/engines.h>
#include <heddle/fabric/builder.h>
#include <heddle/fabric/generate.h>
#include <heddle/fabric/read.h>
#include <heddle/fabric/resolve.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LMC_OF_FILE (-1)

#define FABRIC_KEYS                                                                                \
	{.name = "file",                                                                           \
	 .summary = "a fabric: an ibnetdiscover listing or the like; replaces the generator",      \
	 .type = HD_OPTION_STRING,                                                                 \
	 .fallback = ""},                                                                          \
	    {.name = "generator",                                                                  \
	     .summary = "a kind of fabric; its options are keys of this section",                  \
	     .type = HD_OPTION_STRING,                                                             \
	     .fallback = ""},                                                                      \
	    {.name = "lmc",                                                                        \
	     .summary = "give each host 2^N LIDs; -1: the LIDs of the file, if it has any",        \
	     .type = HD_OPTION_INT,                                                                \
	     .fallback = "-1",                                                                     \
	     .minimum = LMC_OF_FILE,                                                               \
	     .maximum = HD_LMC_MAX},                                                               \
	    {.name = "remove_links",                                                               \
	     .summary = "remove that share of the links between switches",                         \
	     .type = HD_OPTION_STRING,                                                             \
	     .fallback = "0",                                                                      \
	     .validate = scenario_settings_number_check},                                          \
	    {.name = "remove_seed",                                                                \
	     .summary = "chooses the links to remove",                                             \
	     .type = HD_OPTION_INT,                                                                \
	     .fallback = "1",                                                                      \
	     .minimum = 0,                                                                         \
	     .maximum = INT64_MAX},                                                                \
	{                                                                                          \
		.name = "aggregation_nodes",                                                       \
		.summary = "put an aggregation node into every switch", .type = HD_OPTION_BOOL,    \
		.fallback = "no"                                                                   \
	}

const struct hd_option scenario_fabric_keys[] = {FABRIC_KEYS};
const struct hd_option scenario_subnet_keys[] = {
    FABRIC_KEYS,
    {.name = "prefix",
     .summary = "of the subnet, such as 0xfec0000000000001",
     .type = HD_OPTION_STRING},
    {.name = "tables",
     .summary = "forwarding tables, in place of an engine",
     .type = HD_OPTION_STRING,
     .fallback = ""},
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
const unsigned scenario_fabric_key_count = COUNT(scenario_fabric_keys);
const unsigned scenario_subnet_key_count = COUNT(scenario_subnet_keys);

static int find_generator(const struct hd_scenario *scenario,
			  const struct scenario_section *section, const struct hd_generator **out,
			  struct hd_error *err)
{
	const struct scenario_entry *entry = scenario_text_entry(section, "generator");
	const struct scenario_entry *file = scenario_text_entry(section, "file");
	bool from_file = file && *file->value;
	unsigned count;

	/* A file typed over a scenario's generator leaves the generator's keys there. */
	*out = entry && *entry->value ? hd_generator_find(entry->value) : NULL;
	if (*out || from_file)
		return 0;
	if (!entry || !*entry->value)
		return scenario_text_error_in(
		    scenario, section,
		    hd_error_set(err, -EINVAL, "expected a key 'file' or 'generator'"), err);
	struct hd_suggestion suggestion = hd_suggestion_for(entry->value);
	const struct hd_generator *const *list = hd_generators(&count);
	char names[200] = "";
	for (unsigned i = 0; i < count; i++) {
		size_t used = strlen(names);
		hd_suggestion_offer(&suggestion, list[i]->name);
		snprintf(names + used, sizeof(names) - used, "%s%s", i ? ", " : "", list[i]->name);
	}
	hd_error_set(err, -ENOENT,
		     suggestion.nearest ? "unknown generator; did you mean %s?"
					: "unknown generator; they are %s",
		     suggestion.nearest ? suggestion.nearest : names);
	return scenario_text_error(scenario, section, entry, -ENOENT, err);
}

/* Puts the fabric that a step made into the place of the one before. */
static int network_replace(struct hd_fabric **fabric, struct hd_fabric *changed, int rc)
{
	if (!rc) {
		hd_fabric_free(*fabric);
		*fabric = changed;
	}
	return rc;
}

/* Reports name switches. */
static int tell_apart(struct hd_fabric **fabric, struct hd_error *err)
{
	struct hd_fabric *apart;
	int rc = hd_fabric_tell_apart(*fabric, &apart, err);

	return rc || !apart ? rc : network_replace(fabric, apart, 0);
}

static bool needs_lids(const struct hd_fabric *fabric, int64_t lmc)
{
	bool other = fabric->lid_count == 1;

	for (uint32_t host = 0; lmc != LMC_OF_FILE && host < fabric->host_count; host++)
		other |= fabric->lmc[fabric->host_port[host]] != lmc;
	return other;
}

static int settle_lids(int64_t lmc, struct hd_fabric **fabric, struct hd_error *err)
{
	struct hd_fabric *changed = NULL;

	if (!needs_lids(*fabric, lmc))
		return 0;
	int rc =
	    hd_fabric_assign_lids(*fabric, lmc == LMC_OF_FILE ? 0 : (unsigned)lmc, &changed, err);
	return network_replace(fabric, changed, rc);
}

static int generate(const struct hd_scenario *scenario, const struct scenario_section *section,
		    const struct hd_options *options, const struct hd_generator *generator,
		    const struct hd_log *log, struct hd_arena *arena, struct hd_fabric **out,
		    struct hd_error *err)
{
	const struct scenario_entry *entry = scenario_text_entry(section, "file");
	const char *file = hd_options_get(options, "file")->text;
	struct hd_fabric *fabric = NULL;
	int rc = 0;

	if (*file) {
		file = scenario_text_path(scenario, entry, file, arena);
		rc = file ? hd_fabric_read(file, log, &fabric, err) : hd_error_no_memory(err);
		if (rc)
			return scenario_text_error(scenario, section, entry, rc, err);
	} else {
		rc = generator->generate(options, &fabric, err);
	}
	if (!rc)
		rc = tell_apart(&fabric, err);
	if (!rc) {
		struct hd_fabric *changed = NULL;
		double removed = 0;

		scenario_settings_number(hd_options_get(options, "remove_links")->text, &removed,
					 NULL);
		if (hd_options_get(options, "aggregation_nodes")->number)
			rc = network_replace(&fabric, changed,
					     hd_fabric_add_aggregation(fabric, &changed, err));
		if (!rc && removed > 0) {
			rc = removed <= 1
				 ? 0
				 : hd_error_set(err, -ERANGE, "remove_links is above 100%%");
			if (!rc)
				rc = hd_fabric_remove_links(
				    fabric, 100 * removed,
				    (uint64_t)hd_options_get(options, "remove_seed")->number,
				    &changed, err);
			rc = network_replace(&fabric, changed, rc);
		}
	}
	if (!rc)
		rc = settle_lids(hd_options_get(options, "lmc")->number, &fabric, err);
	if (rc) {
		hd_fabric_free(fabric);
		return scenario_text_error_in(scenario, section, rc, err);
	}
	*out = fabric;
	return 0;
}

static int read_subnet(const struct hd_scenario *scenario, const struct scenario_section *section,
		       const struct hd_options *options, struct hd_arena *arena,
		       struct scenario_fabric *out, struct hd_error *err)
{
	const char *text = hd_options_get(options, "prefix")->text;
	const char *tables = hd_options_get(options, "tables")->text;
	struct hd_cursor cursor = {text, text + strlen(text)};

	if (!hd_take_hex(&cursor, &out->prefix) || !hd_cursor_done(&cursor))
		return scenario_text_error(
		    scenario, section, scenario_text_entry(section, "prefix"),
		    hd_error_set(err, -EINVAL, "expected a prefix such as 0xfec0000000000001"),
		    err);
	if (*tables) {
		out->tables = scenario_text_path(scenario, scenario_text_entry(section, "tables"),
						 tables, arena);
		return out->tables ? 0 : hd_error_no_memory(err);
	}
	return 0;
}

/* What belongs to `out` is freed by the caller, texts belong to `arena`. Errors: with the place;
 * those of the tables, readers and generators. */
static int scenario_fabric_read(const struct hd_scenario *scenario,
				const struct scenario_section *section, const struct hd_log *log,
				struct hd_arena *arena, struct scenario_fabric *out,
				struct hd_error *err)
{
	bool subnet = section && section->label;
	const struct hd_generator *generator = NULL;
	struct hd_options *options = NULL;
	int rc = find_generator(scenario, section, &generator, err);

	*out = (struct scenario_fabric){.fabric = NULL};
	if (!rc)
		rc = scenario_text_options_of(
		    scenario, section, subnet ? scenario_subnet_keys : scenario_fabric_keys,
		    subnet ? scenario_subnet_key_count : scenario_fabric_key_count,
		    generator ? generator->options : NULL, generator ? generator->option_count : 0,
		    arena, &options, err);
	if (!rc && subnet)
		rc = read_subnet(scenario, section, options, arena, out, err);
	if (!rc)
		rc = generate(scenario, section, options, generator, log, arena, &out->fabric, err);
	hd_options_free(options);
	return rc;
}

/* The section [routing]: the tables of a fabric, single entries, and adaptive routing. */

struct making {
	const struct hd_scenario *scenario;
	const struct scenario_section *section; /* NULL: none */
	struct hd_options *options;
	struct hd_arena *arena; /* of texts */
	const struct hd_scenario_request *request;
};

#define PATHS_MAX 64u

static const char *text_of(const struct making *making, const char *key)
{
	return hd_options_get(making->options, key)->text;
}

/* Puts the place before a reason. */
static int network_fail(const struct making *making, const char *key, int rc, struct hd_error *err)
{
	const struct scenario_entry *entry = scenario_text_entry(making->section, key);

	return entry ? scenario_text_error(making->scenario, making->section, entry, rc, err)
		     : scenario_text_error_in(making->scenario, making->section, rc, err);
}

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
static int run_engine(const struct making *making, const struct hd_fabric *fabric,
		      struct hd_routes **out, struct hd_error *err)
{
	char *text = hd_arena_strdup(making->arena, text_of(making, "engine"));
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
	const struct hd_route_request request = {.fabric = fabric,
						 .options = options,
						 .threads = making->request->threads,
						 .log = making->request->log,
						 .go_on = making->request->go_on};
	if (!rc)
		rc = hd_engine_route(engine, &request, out, err);
	hd_options_free(options);
	return rc ? network_fail(making, "engine", rc, err) : 0;
}

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

static int read_tables(const struct making *making, const char *list,
		       const struct hd_fabric *fabric, struct hd_routes **out, struct hd_error *err)
{
	const struct scenario_entry *entry = scenario_text_entry(making->section, "tables");
	struct hd_cursor cursor = {list, list + strlen(list)}, piece;
	const char *paths[PATHS_MAX];
	uint32_t count = 0;

	while (count < PATHS_MAX && next_piece(&cursor, &piece)) {
		char *path = hd_arena_alloc(making->arena, (size_t)(piece.end - piece.at) + 1, 1);
		if (!path)
			return hd_error_no_memory(err);
		memcpy(path, piece.at, (size_t)(piece.end - piece.at));
		paths[count] = scenario_text_path(making->scenario, entry, path, making->arena);
		if (!paths[count++])
			return hd_error_no_memory(err);
	}
	return hd_routes_read(paths, count, fabric, making->request->log, out, err);
}

/* Single entries: "SWITCH HOST PORT [OFFSET], ..." */
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

static int set_entries(const struct making *making, const struct hd_fabric *fabric,
		       struct hd_routes *routes, struct hd_error *err)
{
	const char *text = text_of(making, "entries");
	struct hd_cursor list = {text, text + strlen(text)}, piece;
	int rc = 0;

	while (!rc && next_piece(&list, &piece))
		rc = set_entry(fabric, piece, routes, err);
	return rc ? network_fail(making, "entries", rc, err) : 0;
}

/* A plan by which packets get lost or lanes deadlock is refused. */
static int read_plan(const struct making *making, const char *path, struct scenario_subnet *subnet,
		     struct hd_error *err)
{
	struct hd_text text;
	struct hd_ar_proof_request proof = {.fabric = subnet->source.fabric,
					    .routes = subnet->routes,
					    .threads = making->request->threads,
					    .go_on = making->request->go_on};

	path = scenario_text_path(making->scenario, scenario_text_entry(making->section, "ar"),
				  path, making->arena);
	int rc = path ? hd_gzip_open(path, &text, err) : hd_error_no_memory(err);
	if (rc)
		return rc;
	rc = hd_ar_read_far(&text, proof.fabric, &subnet->plan, err);
	hd_text_close(&text);
	if (rc)
		return rc;
	proof.plan = subnet->plan;
	return hd_ar_plan_verify(&proof, err);
}

static int make_plan(const struct making *making, struct scenario_subnet *subnet,
		     struct hd_error *err)
{
	const char *text = text_of(making, "ar");
	struct hd_ar_request request = {
	    .fabric = subnet->source.fabric,
	    .routes = subnet->routes,
	    .mode = hd_options_get(making->options, "ar_mode")->number ? HD_AR_BOUNDED : HD_AR_FREE,
	    .group_cap = (uint32_t)hd_options_get(making->options, "ar_group_cap")->number,
	    .threads = making->request->threads,
	    .log = making->request->log,
	    .go_on = making->request->go_on};

	if (!strncmp(text, "file:", 5))
		return read_plan(making, text + 5, subnet, err);
	if (!hd_ar_algorithm_find(text, &request.algorithm))
		return hd_error_set(err, -EINVAL,
				    "expected off, auto, lag, tree, dfp or file:PATH");
	return hd_ar_plan_new(&request, &subnet->plan, NULL, err);
}

/* Fills in routes and plan of a subnet whose fabric is known. */
static int make_tables(const struct making *making, struct scenario_subnet *subnet,
		       struct hd_error *err)
{
	const struct hd_fabric *fabric = subnet->source.fabric;
	const char *tables =
	    subnet->source.tables ? subnet->source.tables : text_of(making, "tables");
	int rc;

	if (*tables) {
		rc = read_tables(making, tables, fabric, &subnet->routes, err);
		if (rc)
			network_fail(making, "tables", rc, err);
	} else {
		rc = run_engine(making, fabric, &subnet->routes, err);
	}
	if (!rc)
		rc = set_entries(making, fabric, subnet->routes, err);
	if (!rc && strcmp(text_of(making, "ar"), "off") != 0) {
		rc = make_plan(making, subnet, err);
		if (rc)
			network_fail(making, "ar", rc, err);
	}
	return rc;
}

const struct hd_option scenario_routing_keys[] = {
    {.name = "engine",
     .summary = "NAME[:KEY=VALUE,...] of an engine",
     .type = HD_OPTION_STRING,
     .fallback = "auto"},
    {.name = "tables",
     .summary = "forwarding tables in place of an engine: files or folders, separated by commas",
     .type = HD_OPTION_STRING,
     .fallback = ""},
    {.name = "entries",
     .summary = "SWITCH HOST PORT [OFFSET], ...: entries that replace those of the tables",
     .type = HD_OPTION_STRING,
     .fallback = ""},
    {.name = "ar",
     .summary = "adaptive routing: off, auto, lag, tree, dfp, or file:PATH of a .far file",
     .type = HD_OPTION_STRING,
     .fallback = "off"},
    {.name = "ar_mode",
     .summary = "of adaptive entries",
     .type = HD_OPTION_CHOICE,
     .fallback = "free",
     .choices = "free|bounded"},
    {.name = "ar_group_cap",
     .summary = "groups of a switch, at most; 0: no limit",
     .type = HD_OPTION_INT,
     .fallback = "0",
     .minimum = 0,
     .maximum = HD_AR_GROUPS_MAX},
    {.name = "map",
     .summary =
	 "which router port each destination has: by ISSR, by ISFR, or with prefix one port for "
	 "each other subnet, as OpenSM does it; prefix-one-router: ports of the first router "
	 "alone",
     .type = HD_OPTION_CHOICE,
     .fallback = "issr",
     .choices = "issr|isfr|prefix|prefix-one-router"},
    {.name = "routers",
     .summary = "how routers choose the port of a packet: they run the code of heddle-router",
     .type = HD_OPTION_CHOICE,
     .fallback = "issr",
     .choices = "issr|isfr"},
    {.name = "router_hash",
     .summary = "by which ISSR chooses: of both LIDs, or of their sum, as in the paper on routing "
		"between subnets",
     .type = HD_OPTION_CHOICE,
     .fallback = "pair",
     .choices = "pair|sum"},
};

const unsigned scenario_routing_key_count =
    sizeof(scenario_routing_keys) / sizeof(scenario_routing_keys[0]);

enum map_kind { MAP_ISSR, MAP_ISFR, MAP_PREFIX, MAP_PREFIX_ONE_ROUTER };

static bool decides(const char *name)
{
	return !strcmp(name, "fabric") || !strcmp(name, "subnet") || !strcmp(name, "routing");
}

char *scenario_network_digest(const struct hd_scenario *scenario)
{
	char *text = NULL;
	size_t size;
	FILE *stream = open_memstream(&text, &size);

	if (!stream)
		return NULL;
	for (uint32_t i = 0; i < scenario->count; i++) {
		const struct scenario_section *section = &scenario->sections[i];
		if (!decides(section->kind->name))
			continue;
		fprintf(stream, "[%s %s]\n", section->kind->name,
			section->label ? section->label : "");
		for (uint32_t k = 0; k < section->count; k++)
			fprintf(stream, "%s=%s\n", section->entries[k].key,
				section->entries[k].value);
	}
	if (fclose(stream)) {
		free(text);
		return NULL;
	}
	return text;
}

static int read_fabrics(const struct hd_scenario *scenario, const struct hd_log *log,
			struct scenario_network *network, struct hd_error *err)
{
	const struct scenario_section *fabric = scenario_text_find(scenario, "fabric");
	const struct scenario_section *section = NULL;
	uint32_t count = 0;

	while ((section = scenario_text_next(scenario, "subnet", section)) != NULL)
		count++;
	network->subnets = hd_arena_alloc(&network->arena, count + 1u, sizeof(*network->subnets));
	if (!network->subnets)
		return hd_error_no_memory(err);
	if (fabric && count)
		return scenario_text_error_in(
		    scenario, fabric,
		    hd_error_set(err, -EINVAL, "with [subnet NAME] there is no [fabric]"), err);
	if (!count) {
		network->subnet_count = 1;
		return scenario_fabric_read(scenario, fabric, log, &network->arena,
					    &network->subnets[0].source, err);
	}
	while ((section = scenario_text_next(scenario, "subnet", section)) != NULL) {
		int rc =
		    scenario_fabric_read(scenario, section, log, &network->arena,
					 &network->subnets[network->subnet_count++].source, err);
		if (rc)
			return rc;
	}
	return 0;
}

static int by_prefix(const void *a, const void *b)
{
	const struct scenario_subnet *x = a, *y = b;

	return x->source.prefix < y->source.prefix ? -1 : x->source.prefix > y->source.prefix;
}

static int network_join(struct scenario_network *network, struct hd_error *err)
{
	struct hd_subnet *list = calloc(network->subnet_count, sizeof(*list));
	char name[24];

	if (!list)
		return hd_error_no_memory(err);
	for (uint32_t i = 0; i < network->subnet_count; i++) {
		const struct scenario_subnet *subnet = &network->subnets[i];
		snprintf(name, sizeof(name), "%016" PRIx64, subnet->source.prefix);
		list[i] = (struct hd_subnet){subnet->source.prefix,
					     hd_arena_strdup(&network->arena, name),
					     subnet->source.fabric, subnet->routes, subnet->map};
	}
	hd_interconnect_free(network->interconnect);
	network->interconnect = NULL;
	int rc = hd_interconnect_new(list, network->subnet_count, &network->interconnect, err);
	free(list);
	return rc;
}

static int make_map(const struct scenario_network *network, enum map_kind kind, uint32_t subnet,
		    struct hd_map **out, struct hd_error *err)
{
	const struct hd_map_options options = {HD_ASSIGN_BACKUPS, false, NULL};
	struct hd_isfr_report isfr;
	struct hd_assign_report issr;

	if (kind == MAP_PREFIX)
		return hd_prefix_map(network->interconnect, subnet, out, err);
	if (kind == MAP_PREFIX_ONE_ROUTER) {
		/* The ports of the first router take turns. Its ports are cabled to different switches, while those that hd_prefix_map() takes may all be cabled to one. */
		const struct hd_interconnect *interconnect = network->interconnect;
		struct hd_map_builder *builder = hd_map_builder_new();
		uint32_t first = 0, next = 0, ports = 0;
		int rc = builder ? 0 : hd_error_no_memory(err);
		if (interconnect->router_count)
			ports = hd_interconnect_ports(interconnect, 0, subnet, &first);
		for (uint32_t to = 0; !rc && ports && to < interconnect->subnet_count; to++) {
			struct hd_gid gid = {interconnect->subnets[to].prefix, 0};
			const struct hd_router_port *port =
			    &interconnect->ports[first + next % ports];
			if (to == subnet)
				continue;
			rc = hd_map_builder_add(builder, &gid, 64, &port->guid, 1, 0, err);
			next++;
		}
		if (!rc)
			rc = hd_map_builder_build(builder, NULL, out, err);
		hd_map_builder_free(builder);
		return rc;
	}
	return kind == MAP_ISFR
		   ? hd_isfr_map(network->isfr, subnet, &options, out, &isfr, err)
		   : hd_issr_map(network->interconnect, subnet, &options, out, &issr, err);
}

/* The maps stand on the interconnect, and it has the maps: so it is made twice. */
static int make_interconnect(const struct making *making, struct scenario_network *network,
			     struct hd_error *err)
{
	enum map_kind kind = (enum map_kind)hd_options_get(making->options, "map")->number;
	bool isfr = hd_options_get(making->options, "routers")->number;
	enum hd_relay_hash hash =
	    (enum hd_relay_hash)hd_options_get(making->options, "router_hash")->number;

	qsort(network->subnets, network->subnet_count, sizeof(*network->subnets), by_prefix);
	int rc = network_join(network, err);
	if (!rc && kind == MAP_ISFR)
		rc = hd_isfr_plan_new(network->interconnect, &network->isfr, err);
	for (uint32_t i = 0; !rc && i < network->subnet_count; i++)
		rc = make_map(network, kind, i, &network->subnets[i].map, err);
	hd_isfr_plan_free(network->isfr);
	network->isfr = NULL;
	if (!rc)
		rc = network_join(network, err);
	if (!rc && isfr)
		rc = hd_isfr_plan_new(network->interconnect, &network->isfr, err);
	if (!rc)
		rc = hd_relay_firmware_new(network->interconnect, network->isfr, hash,
					   &network->firmware, err);
	if (rc)
		return scenario_text_error_in(making->scenario, making->section, rc, err);
	network->relay = hd_relay_firmware(network->firmware);
	return 0;
}

static int network_make(const struct making *making, struct scenario_network *network,
			struct hd_error *err)
{
	int rc = read_fabrics(making->scenario, making->request->log, network, err);

	for (uint32_t i = 0; !rc && i < network->subnet_count; i++)
		rc = make_tables(making, &network->subnets[i], err);
	if (!rc && network->subnet_count > 1)
		rc = make_interconnect(making, network, err);
	if (rc)
		return rc;
	/* "dmodk, AR tree": into a buffer. */
	char *buffer = network->name;
	size_t size = sizeof(network->name);
	const char *tables = text_of(making, "tables"), *ar = text_of(making, "ar");
	bool adaptive = strcmp(ar, "off") != 0;
	snprintf(buffer, size, "%s%s%s", *tables ? tables : text_of(making, "engine"),
		 adaptive ? ", AR " : "", adaptive ? ar : "");
	network->sim_subnets =
	    hd_arena_alloc(&network->arena, network->subnet_count, sizeof(*network->sim_subnets));
	if (!network->sim_subnets)
		return hd_error_no_memory(err);
	for (uint32_t i = 0; i < network->subnet_count; i++)
		network->sim_subnets[i] = (struct hd_sim_subnet){network->subnets[i].source.fabric,
								 network->subnets[i].routes,
								 network->subnets[i].plan, NULL};
	network->sim = (struct hd_sim_network){network->sim_subnets, network->subnet_count,
					       network->interconnect,
					       network->interconnect ? &network->relay : NULL};
	return 0;
}

int scenario_network_new(const struct hd_scenario *scenario,
			 const struct hd_scenario_request *request, struct scenario_network **out,
			 struct hd_error *err)
{
	struct scenario_network *network = calloc(1, sizeof(*network));

	if (!network)
		return hd_error_no_memory(err);
	network->users = 1;
	network->digest = scenario_network_digest(scenario);
	struct making making = {.scenario = scenario,
				.section = scenario_text_find(scenario, "routing"),
				.arena = &network->arena,
				.request = request};
	int rc = network->digest ? 0 : hd_error_no_memory(err);
	if (!rc)
		rc = scenario_text_options(scenario, making.section, scenario_routing_keys,
					   scenario_routing_key_count, &making.options, err);
	if (!rc)
		rc = network_make(&making, network, err);
	hd_options_free(making.options);
	if (rc)
		scenario_network_free(network);
	else
		*out = network;
	return rc;
}

void scenario_network_free(struct scenario_network *network)
{
	if (!network || --network->users)
		return;
	hd_relay_firmware_free(network->firmware);
	hd_isfr_plan_free(network->isfr);
	hd_interconnect_free(network->interconnect);
	for (uint32_t i = 0; i < network->subnet_count; i++) {
		struct scenario_subnet *subnet = &network->subnets[i];
		hd_map_free(subnet->map);
		hd_ar_plan_free(subnet->plan);
		hd_routes_free(subnet->routes);
		hd_fabric_free(subnet->source.fabric);
	}
	hd_arena_release(&network->arena);
	free(network->digest);
	free(network);
}
