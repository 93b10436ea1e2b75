/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Helpers that the tests of the engines share. Include after <cmocka.h>. */
#ifndef ENGINES_TESTING_H
#define ENGINES_TESTING_H

#include "generate_testing.h"
#include "variants.h"

#include <heddle/engines.h>
#include <inttypes.h>
#include <stdio.h>

/* ---- routing ---- */

/* Routes with options from "name=value name=value" ("" = defaults). */
static inline int route_try(const char *name, const char *settings,
			    const struct hd_route_request *request, struct hd_routes **out,
			    struct hd_error *err)
{
	const struct hd_engine *engine = hd_engine_find(name);

	assert_non_null(engine);
	struct hd_options *options = hd_engine_options(engine);
	assert_non_null(options);
	assert_int_equal(generated_set(options, settings, err), 0);
	struct hd_route_request complete = *request;
	complete.options = options;
	int rc = hd_engine_route(engine, &complete, out, err);
	hd_options_free(options);
	return rc;
}

static inline struct hd_routes *route_request(const char *name, const char *settings,
					      const struct hd_route_request *request)
{
	struct hd_routes *routes = NULL;
	struct hd_error err = {""};

	if (route_try(name, settings, request, &routes, &err))
		fail_msg("%s %s: %s", name, settings, err.text);
	return routes;
}

static inline struct hd_routes *route(const char *name, const char *settings,
				      const struct hd_fabric *fabric)
{
	return route_request(name, settings, &(struct hd_route_request){.fabric = fabric});
}

static inline struct hd_routes *route_policy(const char *name, const char *settings,
					     const struct hd_fabric *fabric,
					     const struct hd_policy *policy)
{
	return route_request(name, settings,
			     &(struct hd_route_request){.fabric = fabric, .policy = policy});
}

static inline struct hd_routes *route_after(const char *name, const char *settings,
					    const struct hd_fabric *fabric,
					    const struct hd_routes *previous)
{
	return route_request(name, settings,
			     &(struct hd_route_request){.fabric = fabric, .previous = previous});
}

static inline struct hd_check_report *check(const struct hd_fabric *fabric,
					    const struct hd_routes *routes)
{
	struct hd_check_report *report = NULL;
	struct hd_error err = {""};

	if (hd_check(fabric, routes, NULL, &report, &err))
		fail_msg("hd_check: %s", err.text);
	return report;
}

/* Expects a path to every LID from every switch, no loop, and no credit loop. */
static inline void assert_clean(const struct hd_fabric *fabric, const struct hd_routes *routes)
{
	struct hd_check_report *report = check(fabric, routes);

	if (!hd_check_clean(report))
		fail_msg("%s: %" PRIu64 " without route, %" PRIu64 " dead ends, %" PRIu64
			 " loops, %u credit loops",
			 routes->engine, report->no_route, report->dead_end, report->loop,
			 report->credit_loops);
	hd_check_report_free(report);
}

/* All-to-all flows over the busiest inter-switch link. */
static inline uint64_t max_flows(const struct hd_fabric *fabric, const struct hd_routes *routes)
{
	struct hd_check_report *report = check(fabric, routes);
	uint64_t flows = report->flows_max;

	hd_check_report_free(report);
	return flows;
}

static inline uint32_t host_lid(const struct hd_fabric *fabric, uint32_t host)
{
	return fabric->lid[fabric->host_port[host]];
}

/* The link by which `sw` forwards `lid`. HD_NONE if it delivers to a host or has no entry. */
static inline uint32_t link_taken(const struct hd_fabric *fabric, const struct hd_routes *routes,
				  uint32_t sw, uint32_t lid)
{
	return hd_fabric_find_isl(fabric, sw, hd_routes_port(routes, sw, lid));
}

/* Level of a switch of a generated tree, by its name: 1 = leaf. */
static inline unsigned level_named(const struct hd_fabric *fabric, uint32_t sw)
{
	assert_int_equal(fabric->node_name[sw][0], 'S');
	return (unsigned)strtoul(fabric->node_name[sw] + 1, NULL, 10);
}

static inline uint64_t host_guid(const struct hd_fabric *fabric, uint32_t host)
{
	return fabric->node_guid[fabric->port_node[fabric->host_port[host]]];
}

/* ---- remarks ---- */

struct remarks {
	char text[4096];
};

static inline void remark(void *context, enum hd_log_level level, const char *line)
{
	struct remarks *remarks = context;
	size_t used = strlen(remarks->text);

	(void)level;
	snprintf(remarks->text + used, sizeof(remarks->text) - used, "%s\n", line);
}

/* ---- changed fabrics; each frees the fabric that it is given ---- */

static inline struct hd_fabric *rebuilt(struct hd_builder *builder, struct hd_fabric *old)
{
	struct hd_fabric *fabric = NULL;
	struct hd_error err = {""};

	if (hd_builder_build(builder, &fabric, &err))
		fail_msg("rebuilding: %s", err.text);
	hd_builder_free(builder);
	hd_fabric_free(old);
	return fabric;
}

static inline struct hd_fabric *with_lmc(struct hd_fabric *old, unsigned lmc)
{
	struct hd_builder *builder = hd_builder_from(old);

	hd_builder_assign_lids(builder, lmc);
	return rebuilt(builder, old);
}

/* The fabric with an aggregation node in each switch. */
static inline struct hd_fabric *with_aggregation(struct hd_fabric *fabric)
{
	struct hd_fabric *changed = NULL;
	struct hd_error err = {""};

	if (hd_fabric_add_aggregation(fabric, &changed, &err))
		fail_msg("%s", err.text);
	hd_fabric_free(fabric);
	return changed;
}

/* A copy of the fabric, which a test can change and free. */
static inline struct hd_fabric *copy_of(const struct hd_fabric *fabric)
{
	struct hd_fabric *copy = NULL;
	struct hd_error err = {""};

	if (variants_copy(fabric, &copy, &err))
		fail_msg("copying: %s", err.text);
	return copy;
}

static inline struct hd_fabric *with_links_removed(struct hd_fabric *old, double percent,
						   uint64_t seed)
{
	struct hd_fabric *fabric = NULL;
	struct hd_error err = {""};

	if (hd_fabric_remove_links(old, percent, seed, &fabric, &err))
		fail_msg("removing links: %s", err.text);
	hd_fabric_free(old);
	return fabric;
}

/* Removes the cable of one link between switches. */
static inline struct hd_fabric *without_link(struct hd_fabric *old, uint32_t link)
{
	struct hd_fabric *fabric = NULL;
	struct hd_error err = {""};

	if (variants_without_link(old, link, &fabric, &err))
		fail_msg("removing a link: %s", err.text);
	hd_fabric_free(old);
	return fabric;
}

/* Pulls every cable of a switch. */
static inline void unplug_node(struct hd_builder *builder, const struct hd_fabric *fabric,
			       uint32_t node)
{
	for (uint32_t port = 1; port <= hd_node_ports(fabric, node); port++)
		hd_builder_unlink(builder, node, port);
}

/* Pulls the cables of a share of the hosts; at least one host stays. */
static inline struct hd_fabric *with_hosts_removed(struct hd_fabric *old, unsigned percent,
						   uint64_t seed)
{
	struct hd_builder *builder = hd_builder_from(old);

	for (uint32_t host = 1; host < old->host_count; host++)
		if (hd_random_below(&seed, 100) < percent)
			hd_builder_unlink(builder, old->host_switch[host],
					  old->host_switch_port[host]);
	return rebuilt(builder, old);
}

static inline enum hd_node_type type_of(const struct hd_fabric *fabric, uint32_t node)
{
	return (enum hd_node_type)fabric->node_type[node];
}

static inline void add_copy(struct hd_builder *builder, const struct hd_fabric *old, uint32_t node,
			    uint64_t guid, uint32_t extra_ports, uint32_t *handle)
{
	struct hd_node_spec spec = {.type = type_of(old, node),
				    .guid = guid,
				    .vendor_id = old->vendor_id[node],
				    .device_id = old->device_id[node],
				    .port_count = hd_node_ports(old, node) + extra_ports,
				    .name = old->node_name[node]};

	assert_int_equal(hd_builder_add_node(builder, &spec, handle, NULL), 0);
}

/* How to describe a fabric again. */
struct retelling {
	bool new_guids; /* random ones, switch ports numbered at random, fresh LIDs; else as before
			 */
	const bool *gone; /* [node_count] nodes left out; NULL: none */
	const bool *unrouted; /* [node_count] nodes without LIDs, unless new_guids; NULL: none */
	uint32_t extra_ports; /* additional free ports at every switch */
	uint64_t seed; /* of the order of nodes and cables */
};

struct retold {
	struct hd_builder *builder;
	const struct hd_fabric *old;
	uint32_t *handle; /* [node_count] HD_NONE: left out */
	uint32_t *number; /* [port_count] new number of each port */
};

static inline void retell_nodes(struct retold *to, const struct retelling *how, uint64_t *seed)
{
	const struct hd_fabric *old = to->old;
	uint32_t *order = calloc(old->node_count, sizeof(*order));

	for (uint32_t node = 0; node < old->node_count; node++)
		order[node] = node;
	variants_shuffle(order, old->node_count, seed);
	for (uint32_t i = 0; i < old->node_count; i++) {
		uint32_t node = order[i], ports = hd_node_ports(old, node);
		to->handle[node] = HD_NONE;
		for (uint32_t port = 0; port <= ports; port++)
			to->number[hd_port_index(old, node, port)] = port;
		if (how->gone && how->gone[node])
			continue;
		if (how->new_guids)
			variants_shuffle(to->number + hd_port_index(old, node, 1), ports, seed);
		add_copy(to->builder, old, node,
			 how->new_guids ? hd_random_next(seed) : old->node_guid[node],
			 hd_is_switch(old, node) ? how->extra_ports : 0, &to->handle[node]);
	}
	free(order);
}

static inline void retell_cables(struct retold *to, uint64_t *seed)
{
	const struct hd_fabric *old = to->old;
	uint32_t *ports = calloc(old->port_count, sizeof(*ports));

	for (uint32_t port = 0; port < old->port_count; port++)
		ports[port] = port;
	variants_shuffle(ports, old->port_count, seed);
	for (uint32_t i = 0; i < old->port_count; i++) {
		uint32_t port = ports[i], peer = old->peer[port];
		uint32_t near = to->handle[old->port_node[port]];
		uint32_t far = peer == HD_NONE ? HD_NONE : to->handle[old->port_node[peer]];
		if (near != HD_NONE && far != HD_NONE)
			assert_int_equal(hd_builder_link(to->builder, near, to->number[port], far,
							 to->number[peer], old->width[port],
							 (enum hd_speed)old->speed[port], NULL),
					 0);
	}
	free(ports);
}

static inline void retell_identities(struct retold *to, const struct retelling *how)
{
	const struct hd_fabric *old = to->old;

	for (uint32_t port = 0; port < old->port_count; port++) {
		uint32_t node = to->handle[old->port_node[port]], number = to->number[port];
		if (node != HD_NONE && old->port_guid[port])
			hd_builder_set_port_guid(to->builder, node, number, old->port_guid[port],
						 NULL);
		if (how->unrouted && how->unrouted[old->port_node[port]])
			continue;
		if (node != HD_NONE && old->lid[port])
			hd_builder_set_lid(to->builder, node, number, old->lid[port],
					   old->lmc[port], NULL);
	}
}

/* Builds the fabric from nodes and cables in random order. */
static inline struct hd_fabric *retold(struct hd_fabric *old, const struct retelling *how)
{
	uint64_t seed = how->seed;
	struct retold to = {.builder = hd_builder_new(),
			    .old = old,
			    .handle = calloc(old->node_count, sizeof(uint32_t)),
			    .number = calloc(old->port_count, sizeof(uint32_t))};

	retell_nodes(&to, how, &seed);
	retell_cables(&to, &seed);
	if (how->new_guids)
		hd_builder_assign_lids(to.builder, 0);
	else
		retell_identities(&to, how);
	free(to.handle);
	free(to.number);
	return rebuilt(to.builder, old);
}

/* Adds a host to a switch, at its first free port and with the next free LID. */
static inline struct hd_fabric *with_host_at(struct hd_fabric *old, uint32_t sw, uint64_t guid)
{
	uint32_t port = 1, handle;

	while (port <= hd_node_ports(old, sw) && old->peer[hd_port_index(old, sw, port)] != HD_NONE)
		port++;
	struct hd_builder *builder = hd_builder_from(old);
	struct hd_node_spec spec = {.type = HD_CA, .guid = guid, .port_count = 1, .name = "added"};
	assert_int_equal(hd_builder_add_node(builder, &spec, &handle, NULL), 0);
	assert_int_equal(hd_builder_link(builder, handle, 1, sw, port, 4, HD_SPEED_EDR, NULL), 0);
	assert_int_equal(hd_builder_set_lid(builder, handle, 1, old->lid_count, 0, NULL), 0);
	assert_int_equal(hd_builder_set_port_guid(builder, handle, 1, guid + 1, NULL), 0);
	return rebuilt(builder, old);
}

/* Adds free ports to every switch. */
static inline struct hd_fabric *with_free_ports(struct hd_fabric *old, uint32_t count)
{
	return retold(old, &(struct retelling){.extra_ports = count});
}

/* Gives every inter-switch cable one of three speeds. */
static inline struct hd_fabric *with_random_speeds(struct hd_fabric *old, uint64_t seed)
{
	static const enum hd_speed speeds[] = {HD_SPEED_QDR, HD_SPEED_EDR, HD_SPEED_HDR};
	struct hd_builder *builder = hd_builder_from(old);

	for (uint32_t link = 0; link < old->isl_count; link++) {
		uint32_t reverse = old->isl_reverse[link];
		if (reverse < link)
			continue;
		uint32_t near = hd_isl_from(old, link), far = old->isl_to[link];
		hd_builder_unlink(builder, near, old->isl_port[link]);
		hd_builder_link(builder, near, old->isl_port[link], far, old->isl_port[reverse], 4,
				speeds[hd_random_below(&seed, 3)], NULL);
	}
	return rebuilt(builder, old);
}

/* ---- random fabrics ---- */

static inline unsigned pick(uint64_t *seed, unsigned least, unsigned most)
{
	return least + (unsigned)hd_random_below(seed, most - least + 1);
}

#define TREE_KINDS 3u
#define KINDS 9u

/* A small intact fabric. Kinds below TREE_KINDS are fat trees with hosts on the leaves. */
static inline struct hd_fabric *draw_kind(unsigned kind, uint64_t *seed, char recipe[200])
{
	char settings[160];
	static const char *const names[KINDS] = {"xgft",      "kary-ntree", "directors",
						 "torus",     "mesh",	    "hypercube",
						 "irregular", "irregular",  "dragonfly-plus"};
	unsigned a = pick(seed, 1, 3), b = pick(seed, 2, 4), c = pick(seed, 1, 3);

	switch (kind) {
	case 0:
		if (pick(seed, 0, 1))
			snprintf(settings, sizeof(settings), "children=%u,%u,%u parents=1,%u,%u", a,
				 b, c + 1, c, pick(seed, 1, 3));
		else
			snprintf(settings, sizeof(settings),
				 "children=%u,%u parents=1,%u parallel=1,%u", a + 1, b + 2, c + 1,
				 pick(seed, 1, 3));
		break;
	case 1:
		snprintf(settings, sizeof(settings), "k=%u n=%u", pick(seed, 2, 3),
			 pick(seed, 1, 3));
		break;
	case 2:
		snprintf(settings, sizeof(settings),
			 "leaves=%u hosts=%u uplinks=%u directors=%u outside=%u line-chips=%u "
			 "spine-chips=%u",
			 2 * b, a, c, pick(seed, 1, 2), b * c, 4, pick(seed, 1, 3));
		break;
	case 3:
	case 4:
		snprintf(settings, sizeof(settings), "dims=%u,%u,%u hosts=%u", b, a + 1, c,
			 pick(seed, 1, 2));
		break;
	case 5:
		snprintf(settings, sizeof(settings), "dimensions=%u hosts=%u", b, c);
		break;
	case 6:
	case 7:
		snprintf(settings, sizeof(settings), "switches=%u radix=%u seed=%u hosts=%u",
			 pick(seed, 2, 24), pick(seed, 6, 10), pick(seed, 1, 1000), a);
		break;
	default:
		snprintf(settings, sizeof(settings),
			 "islands=%u leaves=%u spines=%u hosts=%u global-links=%u", b, a, c, a, 3u);
	}
	snprintf(recipe, 200, "%s %s", names[kind], settings);
	return generate(names[kind], settings);
}

/* The fabric with that number: damaged in about two of three cases, with LMC 0 to 2. */
static inline struct hd_fabric *draw_fabric(uint64_t number, char recipe[200])
{
	uint64_t seed = number * 0x9E3779B97F4A7C15u + 1;
	struct hd_fabric *fabric = draw_kind((unsigned)(number % KINDS), &seed, recipe);
	unsigned links = pick(&seed, 0, 2) ? pick(&seed, 1, 25) : 0;
	unsigned hosts = pick(&seed, 0, 2) ? 0 : pick(&seed, 5, 60), lmc = pick(&seed, 0, 8) / 4;

	if (links)
		fabric = with_links_removed(fabric, links, number);
	if (hosts)
		fabric = with_hosts_removed(fabric, hosts, number);
	size_t used = strlen(recipe);
	snprintf(recipe + used, 200 - used, " #%" PRIu64 " -%u%% links -%u%% hosts lmc %u", number,
		 links, hosts, lmc);
	return with_lmc(fabric, lmc);
}

#endif
