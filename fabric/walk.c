/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Paths in forwarding tables: by destination, hop by hop, and all from one port to another. */
#include <errno.h>
#include <heddle/base/arena.h>
#include <heddle/fabric/walk.h>
#include <stdlib.h>

/* ---- tables by destination ---- */

int hd_columns_init(struct hd_columns *columns, const struct hd_fabric *fabric,
		    const struct hd_routes *routes, struct hd_arena *arena)
{
	*columns = (struct hd_columns){.fabric = fabric, .routes = routes};
	columns->port_step = hd_arena_alloc(arena, fabric->port_count, sizeof(*columns->port_step));
	if (hd_arena_check(arena))
		return -ENOMEM;
	for (uint32_t port = 0; port < fabric->port_count; port++) {
		uint32_t peer = fabric->peer[port];
		bool self = peer != HD_NONE && fabric->port_node[peer] == fabric->port_node[port];
		columns->port_step[port] = self ? HD_STEP_SELF : HD_STEP_DEAD_END;
	}
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		for (uint32_t link = fabric->isl_base[sw]; link < fabric->isl_base[sw + 1]; link++)
			columns->port_step[hd_port_index(fabric, sw, fabric->isl_port[link])] =
			    link;
	return 0;
}

int hd_column_block_init(struct hd_column_block *block, const struct hd_columns *columns,
			 struct hd_arena *arena)
{
	size_t entries = (size_t)HD_COLUMN_BLOCK * columns->fabric->switch_count;

	block->step = hd_arena_alloc(arena, entries, sizeof(*block->step));
	return hd_arena_check(arena);
}

uint32_t hd_column_block_count(const struct hd_columns *columns)
{
	return (columns->routes->lid_count + HD_COLUMN_BLOCK - 1) / HD_COLUMN_BLOCK;
}

uint32_t hd_column_block_lids(const struct hd_columns *columns, uint32_t first)
{
	uint32_t left = columns->routes->lid_count - first;

	return left < HD_COLUMN_BLOCK ? left : HD_COLUMN_BLOCK;
}

static uint32_t port_leads(const uint32_t *port_step, uint32_t ports, uint8_t port)
{
	if (port <= ports)
		return port_step[port];
	return port == HD_NO_PORT ? HD_STEP_NO_ROUTE : HD_STEP_DEAD_END;
}

void hd_column_block_load(struct hd_column_block *block, const struct hd_columns *columns,
			  uint32_t first)
{
	const struct hd_fabric *fabric = columns->fabric;
	uint32_t count = hd_column_block_lids(columns, first), switches = fabric->switch_count;

	block->first_lid = first;
	for (uint32_t sw = 0; sw < switches; sw++) {
		const uint8_t *row = hd_routes_row(columns->routes, sw) + first;
		const uint32_t *port_step = columns->port_step + fabric->port_base[sw];
		uint32_t ports = hd_node_ports(fabric, sw);
		for (uint32_t i = 0; i < count; i++)
			block->step[(size_t)i * switches + sw] =
			    port_leads(port_step, ports, row[i]);
	}
}

bool hd_column_take(struct hd_column_block *block, const struct hd_columns *columns, uint32_t lid,
		    struct hd_column *column)
{
	const struct hd_fabric *fabric = columns->fabric;
	size_t place = (size_t)(lid - block->first_lid) * fabric->switch_count;
	uint32_t destination;
	uint8_t port;

	if (!hd_fabric_lid_destination(fabric, lid, &destination, &port))
		return false;
	*column = (struct hd_column){block->step + place, destination, port};
	if (hd_routes_port(columns->routes, destination, lid) == port)
		column->step[destination] = HD_STEP_ARRIVED;
	return true;
}

/* ---- one path ---- */

static bool passed(const uint32_t *switches, uint32_t count, uint32_t sw)
{
	for (uint32_t i = 0; i < count; i++)
		if (switches[i] == sw)
			return true;
	return false;
}

/* The far end of the cable at a port. A cable from a switch to itself is a loop. */
static bool next_switch(const struct hd_fabric *fabric, uint32_t sw, uint8_t port, uint32_t *next)
{
	if (!port || port > hd_node_ports(fabric, sw))
		return false;
	uint32_t peer = fabric->peer[hd_port_index(fabric, sw, port)];
	if (peer == HD_NONE || !hd_is_switch(fabric, fabric->port_node[peer]))
		return false;
	*next = fabric->port_node[peer];
	return true;
}

enum hd_walk_end hd_routes_walk(const struct hd_fabric *fabric, const struct hd_routes *routes,
				uint32_t source, uint32_t lid, uint32_t *switches, uint32_t *count)
{
	uint32_t exit_switch = HD_NONE, sw = source;
	uint8_t exit_port = HD_NO_PORT;

	hd_fabric_lid_destination(fabric, lid, &exit_switch, &exit_port);
	for (*count = 0;;) {
		uint8_t port = hd_routes_port(routes, sw, lid);
		switches[(*count)++] = sw;
		if (sw == exit_switch && port == exit_port)
			return HD_WALK_ARRIVED;
		if (port == HD_NO_PORT)
			return HD_WALK_NO_ROUTE;
		if (!next_switch(fabric, sw, port, &sw))
			return HD_WALK_DEAD_END;
		if (passed(switches, *count, sw)) {
			switches[(*count)++] = sw;
			return HD_WALK_LOOP;
		}
	}
}

/* ---- all paths from one port to another ---- */

struct holder {
	struct hd_path_set set; /* first: a set's address is its holder's */
	struct hd_arena arena;
	struct hd_path *paths;
	uint32_t *link_uses;
};

static bool is_host(const struct hd_fabric *fabric, uint32_t port)
{
	return !hd_is_switch(fabric, fabric->port_node[port]);
}

static int find_links(struct holder *holder, const struct hd_fabric *fabric,
		      const struct hd_routes *routes, struct hd_path *path)
{
	uint32_t *links =
	    hd_arena_alloc(&holder->arena, path->switch_count - 1, sizeof(*path->links));

	if (!links)
		return -ENOMEM;
	for (uint32_t i = 0; i + 1 < path->switch_count; i++)
		links[i] = hd_fabric_find_isl(fabric, path->switches[i],
					      hd_routes_port(routes, path->switches[i], path->lid));
	path->links = links;
	return 0;
}

/* `scratch` is as long as the longest route. */
static int walk(struct holder *holder, const struct hd_fabric *fabric,
		const struct hd_routes *routes, uint32_t *scratch, struct hd_path *path)
{
	const struct hd_path_set *set = &holder->set;
	uint32_t entry = fabric->port_node[hd_fabric_entry(fabric, set->source)];

	path->end = hd_routes_walk(fabric, routes, entry, path->lid, scratch, &path->switch_count);
	uint32_t *switches = hd_arena_alloc(&holder->arena, path->switch_count, sizeof(*switches));
	if (!switches)
		return -ENOMEM;
	memcpy(switches, scratch, path->switch_count * sizeof(*switches));
	path->switches = switches;
	bool between_hosts = is_host(fabric, set->source) && is_host(fabric, set->destination);
	if (between_hosts && routes->sl)
		path->sl = routes->sl[(size_t)entry * routes->stride + path->lid] & 15;
	path->vl = routes->sl2vl[path->sl];
	int rc = find_links(holder, fabric, routes, path);
	if (!rc && routes->maps && path->switch_count > 1)
		path->vl =
		    hd_lane_maps_get(routes->maps, entry,
				     hd_port_number(fabric, hd_fabric_entry(fabric, set->source)),
				     hd_routes_port(routes, entry, path->lid))[path->sl];
	return rc;
}

static bool same_links(const struct hd_path *a, const struct hd_path *b)
{
	return a->end == HD_WALK_ARRIVED && b->end == HD_WALK_ARRIVED &&
	       a->switch_count == b->switch_count &&
	       !memcmp(a->links, b->links, (a->switch_count - 1) * sizeof(*a->links));
}

static void count_uses(struct holder *holder, uint32_t links)
{
	struct hd_path_set *set = &holder->set;

	for (uint32_t i = 0; i < set->count; i++) {
		struct hd_path *path = &holder->paths[i];
		while (path->same_as < i && !same_links(path, &holder->paths[path->same_as]))
			path->same_as++;
		set->arrived += path->end == HD_WALK_ARRIVED;
		if (path->end != HD_WALK_ARRIVED || path->same_as != i)
			continue;
		set->distinct++;
		for (uint32_t hop = 0; hop + 1 < path->switch_count; hop++)
			holder->link_uses[path->links[hop]]++;
	}
	for (uint32_t link = 0; link < links; link++) {
		set->links += holder->link_uses[link] > 0;
		set->shared += holder->link_uses[link] > 1;
	}
}

static int fill(struct holder *holder, const struct hd_fabric *fabric,
		const struct hd_routes *routes)
{
	struct hd_path_set *set = &holder->set;
	uint32_t *scratch =
	    hd_arena_alloc(&holder->arena, (size_t)fabric->switch_count + 1, sizeof(*scratch));

	set->count = hd_port_lid_count(fabric, set->destination);
	holder->paths = hd_arena_alloc(&holder->arena, set->count, sizeof(*holder->paths));
	holder->link_uses =
	    hd_arena_alloc(&holder->arena, fabric->isl_count, sizeof(*holder->link_uses));
	if (hd_arena_check(&holder->arena))
		return -ENOMEM;
	set->paths = holder->paths;
	set->link_uses = holder->link_uses;
	for (uint32_t i = 0; i < set->count; i++) {
		holder->paths[i].lid = fabric->lid[set->destination] + i;
		if (walk(holder, fabric, routes, scratch, &holder->paths[i]))
			return -ENOMEM;
	}
	count_uses(holder, fabric->isl_count);
	return 0;
}

static int check_ends(const struct hd_fabric *fabric, uint32_t source, uint32_t destination,
		      struct hd_error *err)
{
	const uint32_t ends[] = {source, destination};
	char label[HD_LABEL_SIZE] = "a port that is not there";

	for (unsigned i = 0; i < 2; i++) {
		if (hd_fabric_entry(fabric, ends[i]) != HD_NONE)
			continue;
		if (ends[i] < fabric->port_count)
			hd_port_label(fabric, ends[i], label, sizeof(label));
		return hd_error_set(err, -EINVAL,
				    "%s: expected port 0 of a switch, or a host's port with a "
				    "cable to a switch",
				    label);
	}
	if (fabric->lid[destination])
		return 0;
	return hd_error_set(err, -EINVAL, "%s has no LID",
			    hd_port_label(fabric, destination, label, sizeof(label)));
}

int hd_path_set_new(const struct hd_fabric *fabric, const struct hd_routes *routes, uint32_t source,
		    uint32_t destination, struct hd_path_set **out, struct hd_error *err)
{
	int rc = check_ends(fabric, source, destination, err);

	if (rc)
		return rc;
	struct holder *holder = calloc(1, sizeof(*holder));
	if (!holder)
		return hd_error_no_memory(err);
	holder->set = (struct hd_path_set){.source = source, .destination = destination};
	if (fill(holder, fabric, routes)) {
		hd_path_set_free(&holder->set);
		return hd_error_no_memory(err);
	}
	*out = &holder->set;
	return 0;
}

void hd_path_set_free(struct hd_path_set *set)
{
	struct holder *holder = (struct holder *)set;

	if (!holder)
		return;
	hd_arena_release(&holder->arena);
	free(holder);
}
