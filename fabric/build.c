/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Turns what a builder has collected into a validated snapshot in canonical order. */
#include "fabric_inner.h"

#include <errno.h>
#include <heddle/base/error.h>
#include <heddle/fabric/aside.h>
#include <heddle/fabric/graph.h>
#include <inttypes.h>
#include <stdlib.h>

/* ---- the layout of LIDs ---- */

/* Fresh LIDs for a fabric whose adapters are listed. */

/* LIDs with an LMC: hosts from 2^lmc on, switches in the gap below and after them, adapters that
 * are set aside at the end. */
struct layout {
	uint64_t step;
	uint64_t gap; /* switches that fit below the first host */
	uint64_t hosts_end; /* first LID after the hosts */
	uint64_t aside_begin;
	uint64_t last;
};

static struct layout lay_out(const struct hd_fabric *fabric, unsigned lmc)
{
	uint64_t step = UINT64_C(1) << lmc, switches = fabric->switch_count;
	struct layout layout = {.step = step, .gap = fabric->host_count ? step - 1 : switches};

	layout.hosts_end = fabric->host_count ? step * (fabric->host_count + UINT64_C(1)) : 1;
	uint64_t end = layout.hosts_end;
	if (switches > layout.gap)
		end += switches - layout.gap;
	else if (!fabric->host_count)
		end += switches;
	layout.last = end - 1;
	layout.aside_begin = (end + step - 1) / step * step;
	if (fabric->aside_count)
		layout.last = layout.aside_begin + step * fabric->aside_count - 1;
	return layout;
}

static int exhausted(const struct hd_fabric *fabric, unsigned lmc, struct hd_error *err)
{
	uint32_t adapters = fabric->host_count + fabric->aside_count;
	int fits = (int)lmc;

	while (fits >= 0 && lay_out(fabric, (unsigned)fits).last > HD_LID_LAST)
		fits--;
	if (fits < 0)
		return hd_error_set(err, -ENOSPC,
				    "%u hosts and %u switches need more than the %d unicast LIDs, "
				    "even with LMC 0",
				    adapters, fabric->switch_count, HD_LID_LAST);
	return hd_error_set(err, -ENOSPC,
			    "%u hosts with LMC %u and %u switches need LIDs up to %" PRIu64
			    ", the last unicast LID is %d; the largest LMC that fits is %d",
			    adapters, lmc, fabric->switch_count, lay_out(fabric, lmc).last,
			    HD_LID_LAST, fits);
}

/*
 * Writes lid[port_count] and lmc[port_count] as hd_builder_assign_lids() says. Errors: -ENOSPC LIDs
 * run out (says the largest LMC that fits). Cost: O(adapters + switches).
 */
static int lid_layout(const struct hd_fabric *fabric, unsigned lmc, uint16_t *lid,
		      uint8_t *port_lmc, struct hd_error *err)
{
	const struct layout layout = lay_out(fabric, lmc);

	if (layout.last > HD_LID_LAST)
		return exhausted(fabric, lmc, err);
	for (uint32_t host = 0; host < fabric->host_count; host++) {
		lid[fabric->host_port[host]] = (uint16_t)(layout.step * (host + 1));
		port_lmc[fabric->host_port[host]] = (uint8_t)lmc;
	}
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		lid[fabric->port_base[sw]] =
		    (uint16_t)(sw < layout.gap ? sw + UINT64_C(1)
					       : layout.hosts_end + sw - layout.gap);
	for (uint32_t i = 0; i < fabric->aside_count; i++) {
		lid[fabric->aside_port[i]] = (uint16_t)(layout.aside_begin + layout.step * i);
		port_lmc[fabric->aside_port[i]] = (uint8_t)lmc;
	}
	return 0;
}

/* ---- the builder ---- */

struct build {
	const struct hd_builder *builder;
	struct fabric_holder *holder;
	struct hd_arena arena; /* the fabric's; moves into the holder at the end */
	uint32_t *order; /* node index -> builder handle */
	uint32_t *index; /* builder handle -> node index */
	uint32_t *port_at; /* builder port -> port index */
	/* the snapshot's arrays, which are constant afterwards */
	uint64_t *node_guid, *system_guid, *port_guid;
	const char **node_name;
	uint8_t *node_type, *lmc, *width, *speed, *isl_port;
	uint32_t *port_base, *port_node, *peer, *vendor_id;
	uint32_t *isl_base, *isl_to, *isl_reverse, *lid_owner;
	uint16_t *lid, *device_id;
	bool *aside;
};

static int check_cables(const struct hd_builder *builder, struct hd_error *err)
{
	char place[PLACE_SIZE];

	for (uint32_t node = 0; node < builder->node_count; node++) {
		for (uint32_t port = 1; port <= builder->nodes[node].spec.port_count; port++) {
			const struct built_port *near = builder_port(builder, node, port);
			if (near->peer_node == HD_NONE)
				continue;
			const struct built_node *peer = &builder->nodes[near->peer_node];
			const struct built_port *far =
			    builder_port(builder, near->peer_node, near->peer_port);
			if (far->peer_node == node && far->peer_port == port)
				continue;
			return hd_error_set(
			    err, -EINVAL,
			    "%sone-sided link: '%s' 0x%016" PRIx64
			    "[%u] is cabled to '%s' 0x%016" PRIx64 "[%u], %s",
			    builder_place_text(near->place, place, sizeof(place)),
			    builder->nodes[node].spec.name, builder->nodes[node].spec.guid, port,
			    peer->spec.name, peer->spec.guid, near->peer_port,
			    far->peer_node == HD_NONE ? "which does not list this cable"
						      : "which is cabled to another port");
		}
	}
	return 0;
}

static int compare_nodes(const void *left, const void *right, void *context)
{
	const struct built_node *nodes = context;
	const struct hd_node_spec *a = &nodes[*(const uint32_t *)left].spec;
	const struct hd_node_spec *b = &nodes[*(const uint32_t *)right].spec;

	if ((a->type == HD_SWITCH) != (b->type == HD_SWITCH))
		return a->type == HD_SWITCH ? -1 : 1;
	return a->guid < b->guid ? -1 : a->guid > b->guid;
}

#define NEW(build, field, count)                                                                   \
	((build)->field = hd_arena_alloc(&(build)->arena, (count), sizeof(*(build)->field)))

static int allocate_nodes_and_ports(struct build *build, uint32_t nodes, uint32_t ports)
{
	NEW(build, holder, 1);
	NEW(build, order, nodes);
	NEW(build, index, nodes);
	NEW(build, port_at, ports);
	NEW(build, node_guid, nodes);
	NEW(build, system_guid, nodes);
	NEW(build, vendor_id, nodes);
	NEW(build, device_id, nodes);
	NEW(build, node_type, nodes);
	NEW(build, node_name, nodes);
	NEW(build, port_base, nodes + 1);
	NEW(build, port_node, ports);
	NEW(build, peer, ports);
	NEW(build, port_guid, ports);
	NEW(build, lid, ports);
	NEW(build, lmc, ports);
	NEW(build, width, ports);
	NEW(build, speed, ports);
	NEW(build, aside, ports);
	return hd_arena_check(&build->arena);
}

static void order_nodes(struct build *build)
{
	const struct hd_builder *builder = build->builder;

	for (uint32_t node = 0; node < builder->node_count; node++)
		build->order[node] = node;
	if (builder->node_count)
		qsort_r(build->order, builder->node_count, sizeof(*build->order), compare_nodes,
			builder->nodes);
	for (uint32_t node = 0; node < builder->node_count; node++)
		build->index[build->order[node]] = node;
}

static int place_nodes(struct build *build)
{
	const struct hd_builder *builder = build->builder;
	uint32_t base = 0;

	for (uint32_t node = 0; node < builder->node_count; node++) {
		const struct built_node *source = &builder->nodes[build->order[node]];
		build->node_guid[node] = source->spec.guid;
		build->system_guid[node] = source->spec.system_guid;
		build->vendor_id[node] = source->spec.vendor_id;
		build->device_id[node] = source->spec.device_id;
		build->node_type[node] = (uint8_t)source->spec.type;
		build->node_name[node] = hd_arena_strdup(&build->arena, source->spec.name);
		build->port_base[node] = base;
		for (uint32_t port = 0; port <= source->spec.port_count; port++) {
			build->port_at[source->first_port + port] = base;
			build->port_node[base++] = node;
		}
		build->holder->fabric.switch_count += source->spec.type == HD_SWITCH;
	}
	build->port_base[builder->node_count] = base;
	return hd_arena_check(&build->arena);
}

static void place_ports(struct build *build)
{
	const struct hd_builder *builder = build->builder;

	for (uint32_t from = 0; from < builder->port_count; from++) {
		const struct built_port *source = &builder->ports[from];
		uint32_t to = build->port_at[from];
		build->peer[to] = HD_NONE;
		if (source->peer_node != HD_NONE) {
			const struct built_node *peer = &builder->nodes[source->peer_node];
			build->peer[to] = build->port_at[peer->first_port + source->peer_port];
		}
		build->port_guid[to] = source->guid;
		build->lid[to] = source->lid;
		build->lmc[to] = source->lmc;
		build->width[to] = source->width;
		build->speed[to] = source->speed;
	}
	for (uint32_t sw = 0; sw < build->holder->fabric.switch_count; sw++)
		if (!build->port_guid[build->port_base[sw]])
			build->port_guid[build->port_base[sw]] = build->node_guid[sw];
}

/* What the facts of nodes say needs the fabric's nodes, ports and cables. */
static void publish_ports(struct build *build)
{
	struct hd_fabric *fabric = &build->holder->fabric;

	fabric->node_count = build->builder->node_count;
	fabric->port_count = build->builder->port_count;
	fabric->node_guid = build->node_guid;
	fabric->system_guid = build->system_guid;
	fabric->vendor_id = build->vendor_id;
	fabric->device_id = build->device_id;
	fabric->node_type = build->node_type;
	fabric->node_name = build->node_name;
	fabric->port_base = build->port_base;
	fabric->port_node = build->port_node;
	fabric->peer = build->peer;
	fabric->port_guid = build->port_guid;
	fabric->lid = build->lid;
	fabric->lmc = build->lmc;
	fabric->width = build->width;
	fabric->speed = build->speed;
	fabric->aside = build->aside;
}

static void set_aside(struct build *build)
{
	const struct hd_fabric *fabric = &build->holder->fabric;

	for (uint32_t node = fabric->switch_count; node < fabric->node_count; node++) {
		bool aside = build->builder->nodes[build->order[node]].spec.aside ||
			     hd_fabric_is_aggregation(fabric, node);
		for (uint32_t port = fabric->port_base[node]; port < fabric->port_base[node + 1];
		     port++)
			build->aside[port] = aside;
	}
}

static void count_links(struct build *build)
{
	struct hd_fabric *fabric = &build->holder->fabric;

	for (uint32_t port = 0; port < build->port_base[fabric->switch_count]; port++) {
		uint32_t peer = build->peer[port];
		if (peer != HD_NONE && hd_is_switch(fabric, build->port_node[peer]) &&
		    build->port_node[peer] != build->port_node[port])
			fabric->isl_count++;
	}
}

static int allocate_links(struct build *build)
{
	const struct hd_fabric *fabric = &build->holder->fabric;

	NEW(build, isl_base, fabric->switch_count + 1);
	NEW(build, isl_to, fabric->isl_count);
	NEW(build, isl_port, fabric->isl_count);
	NEW(build, isl_reverse, fabric->isl_count);
	return hd_arena_check(&build->arena);
}

static void place_links(struct build *build, uint32_t *isl_at)
{
	const struct hd_fabric *fabric = &build->holder->fabric;
	uint32_t isl = 0;

	for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
		build->isl_base[sw] = isl;
		for (uint32_t port = build->port_base[sw] + 1; port < build->port_base[sw + 1];
		     port++) {
			uint32_t peer = build->peer[port];
			if (peer == HD_NONE || build->port_node[peer] == sw ||
			    !hd_is_switch(fabric, build->port_node[peer]))
				continue;
			isl_at[port] = isl;
			build->isl_to[isl] = build->port_node[peer];
			build->isl_port[isl++] = (uint8_t)(port - build->port_base[sw]);
		}
	}
	build->isl_base[fabric->switch_count] = isl;
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		for (uint32_t link = build->isl_base[sw]; link < build->isl_base[sw + 1]; link++)
			build->isl_reverse[link] =
			    isl_at[build->peer[build->port_base[sw] + build->isl_port[link]]];
}

static int two_owners(const struct build *build, uint32_t lid, uint32_t first, uint32_t second,
		      struct hd_error *err)
{
	const uint32_t ports[2] = {first, second};
	const struct built_node *nodes[2];
	char places[2][PLACE_SIZE];
	uint32_t numbers[2];

	for (int i = 0; i < 2; i++) {
		uint32_t node = build->port_node[ports[i]];
		nodes[i] = &build->builder->nodes[build->order[node]];
		numbers[i] = ports[i] - build->port_base[node];
		const struct built_port *port =
		    &build->builder->ports[nodes[i]->first_port + numbers[i]];
		builder_place_text(port->place.file ? port->place : nodes[i]->place, places[i],
				   sizeof(places[i]));
	}
	return hd_error_set(err, -EINVAL,
			    "%sLID %u belongs to '%s' 0x%016" PRIx64
			    "[%u] and, %salso to '%s' 0x%016" PRIx64
			    "[%u]; every LID must have one owner",
			    places[1], lid, nodes[1]->spec.name, nodes[1]->spec.guid, numbers[1],
			    places[0], nodes[0]->spec.name, nodes[0]->spec.guid, numbers[0]);
}

static int own_lids(struct build *build, struct hd_error *err)
{
	struct hd_fabric *fabric = &build->holder->fabric;
	uint32_t ports = build->builder->port_count, last = 0;

	for (uint32_t port = 0; port < ports; port++) {
		uint32_t end =
		    build->lid[port] ? build->lid[port] + (1u << build->lmc[port]) - 1 : 0;
		last = end > last ? end : last;
	}
	fabric->lid_count = last + 1;
	if (!NEW(build, lid_owner, fabric->lid_count))
		return hd_error_no_memory(err);
	for (uint32_t lid = 0; lid < fabric->lid_count; lid++)
		build->lid_owner[lid] = HD_NONE;
	for (uint32_t port = 0; port < ports; port++) {
		uint32_t base = build->lid[port];
		for (uint32_t lid = base; base && lid < base + (1u << build->lmc[port]); lid++) {
			if (build->lid_owner[lid] != HD_NONE)
				return two_owners(build, lid, build->lid_owner[lid], port, err);
			build->lid_owner[lid] = port;
		}
	}
	return 0;
}

struct guid_entry {
	uint64_t guid;
	uint32_t port;
};

static int compare_guids(const void *left, const void *right)
{
	const struct guid_entry *a = left, *b = right;

	if (a->guid != b->guid)
		return a->guid < b->guid ? -1 : 1;
	return a->port < b->port ? -1 : a->port > b->port;
}

static int index_guids(struct build *build, struct hd_error *err)
{
	uint32_t ports = build->builder->port_count, count = 0;
	struct guid_entry *entries = malloc((ports + 1) * sizeof(*entries));
	uint64_t *sorted = hd_arena_alloc(&build->arena, ports, sizeof(*sorted));
	uint32_t *owner = hd_arena_alloc(&build->arena, ports, sizeof(*owner));
	int rc = entries && !hd_arena_check(&build->arena) ? 0 : hd_error_no_memory(err);

	for (uint32_t port = 0; !rc && port < ports; port++)
		if (build->port_guid[port])
			entries[count++] = (struct guid_entry){build->port_guid[port], port};
	if (!rc)
		qsort(entries, count, sizeof(*entries), compare_guids);
	for (uint32_t i = 0; !rc && i < count; i++) {
		if (i && entries[i].guid == entries[i - 1].guid)
			rc = hd_error_set(err, -EINVAL,
					  "duplicate port GUID 0x%016" PRIx64 ": '%s' and '%s'",
					  entries[i].guid,
					  build->node_name[build->port_node[entries[i - 1].port]],
					  build->node_name[build->port_node[entries[i].port]]);
		sorted[i] = entries[i].guid;
		owner[i] = entries[i].port;
	}
	free(entries);
	build->holder->guid_sorted = sorted;
	build->holder->guid_port = owner;
	build->holder->guid_count = count;
	return rc;
}

static struct hd_fabric *publish(struct build *build)
{
	struct fabric_holder *holder = build->holder;
	struct hd_fabric *fabric = &holder->fabric;

	fabric->isl_base = build->isl_base;
	fabric->isl_to = build->isl_to;
	fabric->isl_port = build->isl_port;
	fabric->isl_reverse = build->isl_reverse;
	fabric->lid_owner = build->lid_owner;
	holder->arena = build->arena;
	return fabric;
}

static int list_links(struct build *build)
{
	uint32_t *isl_at = calloc(build->builder->port_count, sizeof(*isl_at));

	count_links(build);
	if (!isl_at || allocate_links(build)) {
		free(isl_at);
		return -ENOMEM;
	}
	place_links(build, isl_at);
	free(isl_at);
	return 0;
}

static int fill(struct build *build, struct hd_error *err)
{
	uint32_t nodes = build->builder->node_count, ports = build->builder->port_count;

	if (allocate_nodes_and_ports(build, nodes, ports))
		return hd_error_no_memory(err);
	order_nodes(build);
	if (place_nodes(build))
		return hd_error_no_memory(err);
	place_ports(build);
	if (!build->holder->fabric.switch_count)
		return hd_error_set(err, -EINVAL, "the fabric has no switch");
	publish_ports(build);
	set_aside(build);
	if (adapters_list(&build->holder->fabric, &build->arena) || list_links(build))
		return hd_error_no_memory(err);
	int rc = 0;
	if (build->builder->assign_lmc >= 0)
		rc = lid_layout(&build->holder->fabric, (unsigned)build->builder->assign_lmc,
				build->lid, build->lmc, err);
	if (!rc)
		rc = own_lids(build, err);
	return rc ? rc : index_guids(build, err);
}

int hd_builder_build(struct hd_builder *builder, struct hd_fabric **out, struct hd_error *err)
{
	struct build build = {.builder = builder};

	/* if the name of a file could not be copied, messages could not name it */
	int rc = hd_arena_check(&builder->arena) ? hd_error_no_memory(err) : 0;

	if (!rc)
		rc = check_cables(builder, err);
	if (!rc)
		rc = fill(&build, err);
	if (rc) {
		hd_arena_release(&build.arena);
		return rc;
	}
	*out = publish(&build);
	return 0;
}

int hd_fabric_assign_lids(const struct hd_fabric *fabric, unsigned lmc, struct hd_fabric **out,
			  struct hd_error *err)
{
	struct hd_builder *builder = hd_builder_from(fabric);

	if (!builder)
		return hd_error_no_memory(err);
	hd_builder_assign_lids(builder, lmc);
	int rc = hd_builder_build(builder, out, err);
	hd_builder_free(builder);
	return rc;
}
