/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "scenario_network.h"
#include "scenario_routing.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
     .summary = "how routers choose the port of a packet",
     .type = HD_OPTION_CHOICE,
     .fallback = "issr",
     .choices = "issr|isfr"},
};
const unsigned scenario_routing_key_count =
    sizeof(scenario_routing_keys) / sizeof(scenario_routing_keys[0]);

enum map_kind { MAP_ISSR, MAP_ISFR, MAP_PREFIX, MAP_PREFIX_ONE_ROUTER };

/* ---- digest ---- */

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

/* ---- subnets ---- */

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

static int join(struct scenario_network *network, struct hd_error *err)
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

/* The ports of the first router take turns. Its ports are cabled to different switches, while those
 * that hd_prefix_map() takes may all be cabled to one. */
static int one_router_map(const struct hd_interconnect *interconnect, uint32_t subnet,
			  struct hd_map **out, struct hd_error *err)
{
	struct hd_map_builder *builder = hd_map_builder_new();
	uint32_t first = 0, next = 0, ports = 0;
	int rc = builder ? 0 : hd_error_no_memory(err);

	if (interconnect->router_count)
		ports = hd_interconnect_ports(interconnect, 0, subnet, &first);
	for (uint32_t to = 0; !rc && ports && to < interconnect->subnet_count; to++) {
		struct hd_gid gid = {interconnect->subnets[to].prefix, 0};
		const struct hd_router_port *port = &interconnect->ports[first + next % ports];
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

static int make_map(const struct scenario_network *network, enum map_kind kind, uint32_t subnet,
		    struct hd_map **out, struct hd_error *err)
{
	const struct hd_map_options options = {HD_ASSIGN_BACKUPS, false, NULL};
	struct hd_isfr_report isfr;
	struct hd_assign_report issr;

	if (kind == MAP_PREFIX)
		return hd_prefix_map(network->interconnect, subnet, out, err);
	if (kind == MAP_PREFIX_ONE_ROUTER)
		return one_router_map(network->interconnect, subnet, out, err);
	return kind == MAP_ISFR
		   ? hd_isfr_map(network->isfr, subnet, &options, out, &isfr, err)
		   : hd_issr_map(network->interconnect, subnet, &options, out, &issr, err);
}

/* The maps stand on the interconnect, and it has the maps: so it is made twice. */
static int make_interconnect(const struct scenario_routing *routing,
			     struct scenario_network *network, struct hd_error *err)
{
	enum map_kind kind = (enum map_kind)hd_options_get(routing->options, "map")->number;
	bool isfr = hd_options_get(routing->options, "routers")->number;

	qsort(network->subnets, network->subnet_count, sizeof(*network->subnets), by_prefix);
	int rc = join(network, err);
	if (!rc && kind == MAP_ISFR)
		rc = hd_isfr_plan_new(network->interconnect, &network->isfr, err);
	for (uint32_t i = 0; !rc && i < network->subnet_count; i++)
		rc = make_map(network, kind, i, &network->subnets[i].map, err);
	hd_isfr_plan_free(network->isfr);
	network->isfr = NULL;
	if (!rc)
		rc = join(network, err);
	if (!rc && isfr)
		rc = hd_isfr_plan_new(network->interconnect, &network->isfr, err);
	if (rc)
		return scenario_text_error_in(routing->scenario, routing->section, rc, err);
	network->relay_tables = (struct hd_relay_tables){network->interconnect, network->isfr};
	network->relay =
	    isfr ? hd_relay_isfr(&network->relay_tables) : hd_relay_issr(&network->relay_tables);
	return 0;
}

static int make(const struct scenario_routing *routing, struct scenario_network *network,
		struct hd_error *err)
{
	int rc = read_fabrics(routing->scenario, routing->log, network, err);

	for (uint32_t i = 0; !rc && i < network->subnet_count; i++)
		rc = scenario_routing_make(routing, &network->subnets[i], err);
	if (!rc && network->subnet_count > 1)
		rc = make_interconnect(routing, network, err);
	if (rc)
		return rc;
	scenario_routing_name(routing, network->name, sizeof(network->name));
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

int scenario_network_new(const struct hd_scenario *scenario, unsigned threads,
			 const struct hd_log *log, struct scenario_network **out,
			 struct hd_error *err)
{
	struct scenario_network *network = calloc(1, sizeof(*network));

	if (!network)
		return hd_error_no_memory(err);
	network->users = 1;
	network->digest = scenario_network_digest(scenario);
	struct scenario_routing routing = {.scenario = scenario,
					   .section = scenario_text_find(scenario, "routing"),
					   .arena = &network->arena,
					   .threads = threads,
					   .log = log};
	int rc = network->digest ? 0 : hd_error_no_memory(err);
	if (!rc)
		rc = scenario_text_options(scenario, routing.section, scenario_routing_keys,
					   scenario_routing_key_count, &routing.options, err);
	if (!rc)
		rc = make(&routing, network, err);
	hd_options_free(routing.options);
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
