/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * DFP: adaptive routing on Dragonfly+, with private forwarding tables. Sub-group 0 has the ports of
 * minimal paths: climb, cross to the island of the destination, descend. Sub-group 1 has the ports
 * of paths through another island: climb, cross to that island, descend to a leaf, turn, and go on
 * by a minimal path on the raised lane.
 *
 * Table 0 is for packets that come from above: at a leaf they turn, at a spine they descend. Table
 * 1 is for packets from below, which may take either sub-group. Table 2 is for packets from below
 * on the raised lane: minimal ports alone.
 *
 * A packet never crosses twice without a descent between, since links between islands have no
 * order.
 */
#include "planning.h"

#include <errno.h>
#include <heddle/fabric/dragonfly_plus.h>

struct dfp {
	struct hd_dragonfly_plus shape;
	/* By destination, with bits of destinations in words: which switches have a minimal path
	 * that begins by climbing or crossing (leaves and spines), and which spines are cabled to
	 * it. */
	uint32_t words;
	uint64_t *minimal; /* [switch_count * words] */
	uint64_t *adjacent; /* [switch_count * words] spines: the destination is one hop below */
	uint64_t *onward; /* [switch_count * words] spines: a leaf below has a minimal path */
};

static bool bit(const struct dfp *dfp, const uint64_t *sets, uint32_t sw, uint32_t destination)
{
	return sets[(size_t)sw * dfp->words + destination / 64] >> destination % 64 & 1;
}

static void unite(const struct dfp *dfp, uint64_t *sets, uint32_t to, const uint64_t *from,
		  uint32_t sw)
{
	for (uint32_t word = 0; word < dfp->words; word++)
		sets[(size_t)to * dfp->words + word] |= from[(size_t)sw * dfp->words + word];
}

static bool is_global(const struct dfp *dfp, uint32_t from, uint32_t to)
{
	return dfp->shape.is_spine[from] && dfp->shape.is_spine[to];
}

static int plan_dfp_refuse(const struct planner *planner, struct hd_error *err)
{
	uint16_t lanes = hd_routes_lanes(planner->fabric, planner->request->routes);

	if (lanes & (lanes - 1))
		return hd_error_set(err, -ENOTSUP,
				    "DFP needs the second lane for itself; these tables use %d",
				    __builtin_popcount(lanes));
	const struct hd_ar_request *request = planner->request;
	for (uint32_t sw = 0; request->capabilities && sw < request->fabric->switch_count; sw++) {
		const struct hd_ar_capability *can = &request->capabilities[sw];
		if (can->form == HD_AR_FORM_NONE || !can->private_tables ||
		    can->sub_groups < HD_AR_SUB_GROUPS)
			return hd_error_set(err, -ENOTSUP,
					    "DFP needs two sub-groups and private forwarding "
					    "tables in every switch");
	}
	return 0;
}

static int plan_dfp_prepare(struct planner *planner, struct hd_error *err)
{
	struct dfp *dfp = hd_arena_alloc(&planner->arena, 1, sizeof(*dfp));
	size_t switches = planner->fabric->switch_count;

	if (!dfp)
		return hd_error_no_memory(err);
	int rc = hd_dragonfly_plus_find(planner->fabric, &planner->arena, &dfp->shape, err);
	if (!rc)
		rc = plan_dfp_refuse(planner, err);
	if (rc)
		return rc;
	dfp->words = (planner->lids.count + 63) / 64;
	dfp->minimal = hd_arena_alloc(&planner->arena, switches * dfp->words, sizeof(uint64_t));
	dfp->adjacent = hd_arena_alloc(&planner->arena, switches * dfp->words, sizeof(uint64_t));
	dfp->onward = hd_arena_alloc(&planner->arena, switches * dfp->words, sizeof(uint64_t));
	if (hd_arena_check(&planner->arena))
		return hd_error_no_memory(err);
	const struct hd_fabric *fabric = planner->fabric;
	for (uint32_t i = 0; i < planner->lids.count; i++) {
		uint32_t sw = planner->lids.sw[i];
		for (uint32_t link = fabric->isl_base[sw]; link < fabric->isl_base[sw + 1];
		     link++) {
			size_t row = (size_t)fabric->isl_to[link] * dfp->words;
			if (!dfp->shape.is_spine[sw])
				dfp->adjacent[row + i / 64] |= UINT64_C(1) << i % 64;
		}
		/* a host at a spine is below that spine */
		if (dfp->shape.is_spine[sw])
			dfp->adjacent[(size_t)sw * dfp->words + i / 64] |= UINT64_C(1) << i % 64;
	}
	/* First spines, then leaves, then what a packet that comes from above can reach. */
	for (uint32_t link = 0; link < fabric->isl_count; link++) {
		uint32_t from = hd_isl_from(fabric, link), to = fabric->isl_to[link];
		if (is_global(dfp, from, to))
			unite(dfp, dfp->minimal, from, dfp->adjacent, to);
	}
	for (uint32_t link = 0; link < fabric->isl_count; link++) {
		uint32_t from = hd_isl_from(fabric, link), to = fabric->isl_to[link];
		if (dfp->shape.is_spine[from] || !dfp->shape.is_spine[to])
			continue;
		unite(dfp, dfp->minimal, from, dfp->adjacent, to);
		unite(dfp, dfp->minimal, from, dfp->minimal, to);
	}
	for (uint32_t link = 0; link < fabric->isl_count; link++) {
		uint32_t from = hd_isl_from(fabric, link), to = fabric->isl_to[link];
		if (dfp->shape.is_spine[from] && !dfp->shape.is_spine[to])
			unite(dfp, dfp->onward, from, dfp->minimal, to);
	}
	planner->context = dfp;
	planner->wish_room = 3 * planner->lids.count;
	return 0;
}

/* ---- the ports of one switch towards one destination ---- */

struct ports {
	struct hd_port_set minimal, other, descending;
};

static void add_leaf_port(const struct dfp *dfp, const struct planner *planner, uint32_t to,
			  uint32_t destination, bool same_island, uint8_t port, struct ports *ports)
{
	const struct hd_fabric *fabric = planner->fabric;
	uint32_t far_island = dfp->shape.island[planner->lids.sw[destination]];

	if (bit(dfp, dfp->adjacent, to, destination) || bit(dfp, dfp->minimal, to, destination)) {
		hd_port_set_add(&ports->minimal, port);
		return;
	}
	for (uint32_t link = fabric->isl_base[to]; !same_island && link < fabric->isl_base[to + 1];
	     link++) {
		uint32_t beyond = fabric->isl_to[link];
		if (is_global(dfp, to, beyond) && dfp->shape.island[beyond] != far_island &&
		    bit(dfp, dfp->onward, beyond, destination))
			hd_port_set_add(&ports->other, port);
	}
}

static void add_spine_port(const struct dfp *dfp, const struct planner *planner, uint32_t to,
			   uint32_t destination, bool same_island, uint8_t port,
			   struct ports *ports)
{
	uint32_t last = planner->lids.sw[destination];

	if (!dfp->shape.is_spine[to]) {
		if (to == last)
			hd_port_set_add(&ports->minimal, port);
		if (to == last || (!same_island && bit(dfp, dfp->minimal, to, destination)))
			hd_port_set_add(&ports->descending, port);
		return;
	}
	if (same_island)
		return;
	if (bit(dfp, dfp->adjacent, to, destination))
		hd_port_set_add(&ports->minimal, port);
	else if (dfp->shape.island[to] != dfp->shape.island[last] &&
		 bit(dfp, dfp->onward, to, destination))
		hd_port_set_add(&ports->other, port);
}

static void find_ports(const struct planner *planner, uint32_t sw, uint32_t destination,
		       struct ports *ports)
{
	const struct dfp *dfp = planner->context;
	const struct hd_fabric *fabric = planner->fabric;
	uint32_t last = planner->lids.sw[destination];
	bool same_island = dfp->shape.island[sw] == dfp->shape.island[last];

	*ports = (struct ports){0};
	for (uint32_t link = fabric->isl_base[sw]; link < fabric->isl_base[sw + 1] && sw != last;
	     link++) {
		if (dfp->shape.is_spine[sw])
			add_spine_port(dfp, planner, fabric->isl_to[link], destination, same_island,
				       fabric->isl_port[link], ports);
		else
			add_leaf_port(dfp, planner, fabric->isl_to[link], destination, same_island,
				      fabric->isl_port[link], ports);
	}
}

/* ---- wishes ---- */

static uint32_t wish_number(struct planner_worker *worker, const struct hd_ar_group *group)
{
	uint32_t number = 0;

	if (hd_port_set_count(&group->ports[0]) + hd_port_set_count(&group->ports[1]) < 2)
		return HD_AR_NO_GROUP;
	while (number < worker->wish_count &&
	       !hd_ar_group_equal(&worker->wishes[number].group, group))
		number++;
	if (number == worker->wish_count)
		worker->wishes[worker->wish_count++] = (struct groups_wish){.group = *group};
	return number;
}

static bool has_port(const struct hd_ar_group *group, uint8_t port)
{
	return hd_port_set_has(&group->ports[0], port) || hd_port_set_has(&group->ports[1], port);
}

/* The LID-th port of the first sub-group, so that static ports are spread. */
static uint8_t any_port(const struct hd_ar_group *group, uint32_t lid)
{
	uint32_t count = hd_port_set_count(&group->ports[0]), left = count ? lid % count : 0;

	HD_PORT_SET_FOREACH(port, &group->ports[0])
		if (!left--)
			return (uint8_t)port;
	return HD_NO_PORT;
}

/* The port of the routes where the table allows it; else one that it allows. */
static uint8_t static_port(const struct hd_ar_group *group, uint32_t table, uint8_t routed,
			   uint32_t lid)
{
	uint8_t other = any_port(group, lid);

	if (table == 1 || has_port(group, routed) || other == HD_NO_PORT)
		return routed;
	return other;
}

static void plan_dfp_mark(const struct planner *planner, struct planner_worker *worker, uint32_t sw,
			  uint32_t lid, const struct hd_ar_group groups[HD_AR_TABLES],
			  const uint32_t numbers[HD_AR_TABLES])
{
	uint8_t routed = hd_routes_port(planner->request->routes, sw, lid);

	for (uint32_t table = 0; table < HD_AR_TABLES; table++) {
		bool counts = groups && planner->lids.may_adapt[lid] && routed != HD_NO_PORT;
		uint8_t port = groups && routed != HD_NO_PORT
				   ? static_port(&groups[table], table, routed, lid)
				   : routed;
		planning_ports(planner, worker, table)[lid] = port;
		bool adapts =
		    counts && numbers[table] != HD_AR_NO_GROUP && has_port(&groups[table], port);
		planning_groups(planner, worker, table)[lid] =
		    adapts ? (uint16_t)numbers[table] : HD_AR_NO_GROUP;
		if (adapts)
			worker->wishes[numbers[table]].lids++;
	}
}

static void find_above(const struct planner *planner, uint32_t sw)
{
	const struct hd_fabric *fabric = planner->fabric;
	const struct dfp *dfp = planner->context;

	planner->switches[sw].port_count = hd_node_ports(fabric, sw);
	for (uint32_t link = fabric->isl_base[sw]; link < fabric->isl_base[sw + 1]; link++)
		if (dfp->shape.is_spine[fabric->isl_to[link]])
			hd_port_set_add(&planner->switches[sw].above, fabric->isl_port[link]);
}

static void wish(const struct planner *planner, struct planner_worker *worker, uint32_t sw)
{
	struct hd_ar_group groups[HD_AR_TABLES] = {{{{{0}}}}};
	uint32_t numbers[HD_AR_TABLES] = {0}, before = HD_NONE;

	find_above(planner, sw);
	for (uint32_t lid = 0; lid < planner->lids.lid_count; lid++) {
		uint32_t destination = planner->lids.destination[lid];
		bool elsewhere = destination != HD_NONE && planner->lids.sw[destination] != sw;
		if (elsewhere && destination != before) {
			struct ports ports;
			find_ports(planner, sw, destination, &ports);
			/* The group of each table: see the top of the file. */
			const struct dfp *dfp = planner->context;
			groups[0] = (struct hd_ar_group){
			    {dfp->shape.is_spine[sw] ? ports.descending : ports.minimal}};
			groups[1] = (struct hd_ar_group){{ports.minimal, ports.other}};
			groups[2] = (struct hd_ar_group){{ports.minimal}};
			for (uint32_t table = 0; table < HD_AR_TABLES; table++)
				numbers[table] = wish_number(worker, &groups[table]);
			before = destination;
		}
		plan_dfp_mark(planner, worker, sw, lid, elsewhere ? groups : NULL, numbers);
	}
}

const struct planner_algorithm planner_dfp = {.algorithm = HD_AR_DFP,
					      .name = "dfp",
					      .table_count = HD_AR_TABLES,
					      .sub_groups = HD_AR_SUB_GROUPS,
					      .prepare = plan_dfp_prepare,
					      .wish = wish};
