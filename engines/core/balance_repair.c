/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "balance_growth.h"
#include "link_number.h"

#include <heddle/base/parallel.h>
#include <heddle/base/rendezvous.h>
#include <heddle/fabric/siblings.h>
#include <stdatomic.h>
#include <stdlib.h>

#define SHARE_MAX                                                                                  \
	8u /* of all entries, at most one in so many is chosen one by one without a baseline */
#define GRAIN 16u /* switches at a time */
#define NOWHERE 0xFE /* state of no switch that is a next hop */
#define PORTS 256u

/* LIDs begin .. end-1 that end at the same switch. */
struct run {
	uint32_t begin, end, exit;
};

struct repair {
	const struct balance_plan *plan;
	const struct hd_fabric *fabric;
	const struct dag_paths *paths;
	const struct destinations *list;
	struct hd_routes *routes;
	struct hd_arena arena;
	uint32_t *item; /* [lid_count] place in list->items, HD_NONE */
	uint32_t *exit; /* [lid_count] destination switch, HD_NONE */
	struct run *runs, *gaps; /* [lid_count + 1] LIDs of destinations, and all others */
	uint32_t run_count, gap_count;
	uint8_t *number; /* [switch_count * PORTS] by port: link among the switch's own */
	uint8_t *nowhere; /* [switch_count] NOWHERE */
	uint32_t
	    *chosen; /* [switch_count] entries without a baseline that were not valid in place */
	uint64_t *key; /* [lid_count] of the destination, whatever its LID is */
	/* [lid_count] LID of the other port of a dual-homed node, 0 = none; NULL: no such nodes */
	uint16_t *sibling;
	atomic_bool unfit; /* another method has to do it */
};

static const uint8_t *states_of(const struct repair *repair, uint32_t sw)
{
	return repair->paths->by_switch + (size_t)sw * repair->fabric->switch_count;
}

/* ---- valid entries ---- */

/* The next hop to be chosen against the tree: as dag_extend() does. HD_NONE: none. */
static uint32_t step_against(const struct repair *repair, uint32_t sw, uint32_t exit)
{
	const struct hd_fabric *fabric = repair->fabric;
	uint8_t state = states_of(repair, sw)[exit];
	uint32_t best = HD_NONE;

	for (uint32_t link = fabric->isl_base[sw]; link < fabric->isl_base[sw + 1]; link++) {
		uint32_t far = fabric->isl_to[link];
		if (dag_paths_round(states_of(repair, far)[exit]) < dag_paths_round(state) &&
		    (best == HD_NONE || far < fabric->isl_to[best]))
			best = link;
	}
	return best;
}

/* Against the tree any step may stay: is_unfit() sees to it that no host's packets take it. */
static bool link_is_valid(const struct repair *repair, uint32_t sw, uint32_t lid, uint32_t link)
{
	const struct dag_paths *paths = repair->paths;
	uint32_t exit = repair->exit[lid];
	uint8_t state = states_of(repair, sw)[exit];
	uint8_t beyond = states_of(repair, repair->fabric->isl_to[link])[exit];

	if (!dag_paths_round(state))
		return dag_paths_is_step(paths, link, state, beyond);
	return dag_paths_round(beyond) < dag_paths_round(state);
}

static bool port_is_valid(const struct repair *repair, uint32_t sw, uint32_t lid, uint8_t port)
{
	uint8_t number = repair->number[(size_t)sw * PORTS + port];

	return number != LINK_NUMBER_NONE &&
	       link_is_valid(repair, sw, lid, repair->fabric->isl_base[sw] + number);
}

/* Packets from hosts that have to take steps against the tree need a proof or a refusal. */
static bool is_unfit(const struct repair *repair, uint32_t sw, uint32_t lid)
{
	const struct hd_fabric *fabric = repair->fabric;
	const struct balance_destination *to = &repair->list->items[repair->item[lid]];
	const uint8_t *level = repair->plan->level;

	return fabric->host_base[sw] != fabric->host_base[sw + 1] &&
	       (to->host != HD_NONE || (level && !level[to->sw]));
}

/* How many other LIDs of the same host leave the switch by the port so far. */
static uint32_t count_shared(const struct repair *repair, uint32_t sw, uint32_t lid, uint8_t port)
{
	const struct hd_fabric *fabric = repair->fabric;
	const uint32_t owner = fabric->lid_owner[lid];
	const uint8_t *row = hd_routes_row(repair->routes, sw);
	uint32_t shared = 0;

	if (!repair->plan->spread_lids)
		return 0;
	for (uint32_t i = 0; i < hd_port_lid_count(fabric, owner); i++)
		shared += fabric->lid[owner] + i != lid && row[fabric->lid[owner] + i] == port;
	return shared;
}

/* The switch to which the path to the sibling of a LID goes next; HD_NONE: none. At the sibling's own switch it is that
 * of the path back, from the LID's switch. */
static uint32_t next_of_sibling(const struct repair *repair, uint32_t sw, uint32_t lid)
{
	const struct hd_route_request *request = repair->plan->request;
	const struct hd_routes *from = request->baseline ? request->baseline : request->previous;
	const uint32_t other = repair->sibling ? repair->sibling[lid] : 0;
	uint8_t port;

	if (!other)
		return HD_NONE;
	if (repair->exit[other] == sw) { /* other rows are being repaired */
		sw = repair->exit[lid];
		port = hd_routes_row(from, sw)[other];
	} else {
		port = hd_routes_row(repair->routes, sw)[other];
	}
	const uint8_t number = repair->number[(size_t)sw * PORTS + port];

	return number == LINK_NUMBER_NONE
		   ? HD_NONE
		   : repair->fabric->isl_to[repair->fabric->isl_base[sw] + number];
}

/* The valid link with the highest score; first come those that share least with other LIDs of the host, a link to the
 * switch that its sibling passes counting as shared, too. */
static uint32_t choose(const struct repair *repair, uint32_t sw, uint32_t lid)
{
	const struct hd_fabric *fabric = repair->fabric;
	const uint64_t who = repair->key[lid] ^ hd_rendezvous_mix(fabric->node_guid[sw]);
	const uint32_t next = next_of_sibling(repair, sw, lid);
	uint32_t best = HD_NONE, least = 0;
	uint64_t most = 0;

	for (uint32_t link = fabric->isl_base[sw]; link < fabric->isl_base[sw + 1]; link++) {
		const uint8_t port = fabric->isl_port[link];

		if (!link_is_valid(repair, sw, lid, link))
			continue;
		const uint32_t shared =
		    count_shared(repair, sw, lid, port) + (fabric->isl_to[link] == next);
		const uint64_t score = hd_rendezvous(who, port);
		if (best != HD_NONE && (shared > least || (shared == least && score <= most)))
			continue;
		best = link;
		least = shared;
		most = score;
	}
	return best;
}

/* For entries that are not plainly those of the baseline. */
static uint8_t look_closer(struct repair *repair, uint32_t sw, uint32_t lid)
{
	const struct hd_route_request *request = repair->plan->request;
	uint8_t state = states_of(repair, sw)[repair->exit[lid]], port;

	if (repair->exit[lid] == sw)
		return repair->list->items[repair->item[lid]].port;
	if (state == DAG_PATHS_UNREACHED)
		return HD_NO_PORT;
	if (dag_paths_round(state) && is_unfit(repair, sw, lid))
		atomic_store_explicit(&repair->unfit, true, memory_order_relaxed);
	port = request->baseline ? hd_routes_row(request->baseline, sw)[lid] : HD_NO_PORT;
	if (port_is_valid(repair, sw, lid, port))
		return port;
	if (port == HD_NO_PORT &&
	    port_is_valid(repair, sw, lid, hd_routes_row(request->previous, sw)[lid]))
		return hd_routes_row(request->previous, sw)[lid];
	/* what never had a path is not to be chosen by hashing alone */
	repair->chosen[sw] += port == HD_NO_PORT;
	return repair->fabric
	    ->isl_port[dag_paths_round(state) ? step_against(repair, sw, repair->exit[lid])
					      : choose(repair, sw, lid)];
}

/* By port: the states of the switch behind the link, nowhere[] of all other ports. */
struct ports {
	const uint8_t *climbing[PORTS], *descending[PORTS];
};

static void list_ports(const struct repair *repair, uint32_t sw, struct ports *ports)
{
	const struct hd_fabric *fabric = repair->fabric;

	for (unsigned port = 0; port < PORTS; port++)
		ports->climbing[port] = ports->descending[port] = repair->nowhere;
	for (uint32_t link = fabric->isl_base[sw]; link < fabric->isl_base[sw + 1]; link++) {
		bool climbs = repair->paths->up && repair->paths->up[link];
		const uint8_t **by_port = climbs ? ports->climbing : ports->descending;
		by_port[fabric->isl_port[link]] = states_of(repair, fabric->isl_to[link]);
	}
}

/* Whether all entries for the LIDs of a run are valid: dag_paths_is_legal() without a branch for
 * each. */
static bool run_is_valid(const struct ports *ports, const uint8_t *row, const struct run *run,
			 uint8_t state)
{
	unsigned climbs = !(state & 1), beyond = state - (climbs ? 1u : 2u), wrong = 0;
	const uint8_t *const *by_port = climbs ? ports->climbing : ports->descending;

	for (uint32_t lid = run->begin; lid < run->end; lid++)
		wrong |= (by_port[row[lid]][run->exit] | climbs) ^ beyond;
	return !wrong && !(state & DAG_PATHS_AGAINST);
}

static void repair_run(struct repair *repair, uint32_t sw, const struct run *run)
{
	uint8_t *out = hd_routes_row(repair->routes, sw);

	for (uint32_t lid = run->begin; lid < run->end; lid++)
		out[lid] = look_closer(repair, sw, lid);
}

/* Most entries are valid as they are. */
static void repair_row(struct repair *repair, uint32_t sw)
{
	const struct hd_route_request *request = repair->plan->request;
	const struct hd_routes *from = request->baseline ? request->baseline : request->previous;
	const uint8_t *row = hd_routes_row(from, sw), *own = states_of(repair, sw);
	uint8_t *out = hd_routes_row(repair->routes, sw);
	struct ports ports;

	list_ports(repair, sw, &ports);
	memcpy(out, row, repair->routes->stride);
	for (uint32_t i = 0; i < repair->run_count; i++) {
		const struct run *run = &repair->runs[i];
		if (run->exit == sw || !run_is_valid(&ports, row, run, own[run->exit]))
			repair_run(repair, sw, run);
	}
	for (uint32_t i = 0; i < repair->gap_count; i++)
		memset(out + repair->gaps[i].begin, HD_NO_PORT,
		       repair->gaps[i].end - repair->gaps[i].begin);
}

static void repair_rows(void *context, uint32_t begin, uint32_t end, unsigned worker)
{
	(void)worker;
	for (uint32_t sw = begin; sw < end; sw++)
		repair_row(context, sw);
}

/* ---- all of it ---- */

static int allocate(struct repair *repair)
{
	const struct hd_fabric *fabric = repair->fabric;
	struct hd_arena *arena = &repair->arena;
	uint32_t switches = fabric->switch_count;

	repair->item = hd_arena_alloc(arena, fabric->lid_count, sizeof(*repair->item));
	repair->exit = hd_arena_alloc(arena, fabric->lid_count, sizeof(*repair->exit));
	repair->runs = hd_arena_alloc(arena, fabric->lid_count + 1, sizeof(*repair->runs));
	repair->gaps = hd_arena_alloc(arena, fabric->lid_count + 1, sizeof(*repair->gaps));
	repair->number = hd_arena_alloc(arena, switches, PORTS);
	repair->nowhere = hd_arena_alloc(arena, switches, 1);
	repair->chosen = hd_arena_alloc(arena, switches, sizeof(*repair->chosen));
	repair->key = hd_arena_alloc(arena, fabric->lid_count, sizeof(*repair->key));
	repair->routes = hd_routes_new_unset(fabric);
	if (hd_siblings_lids(fabric, arena, &repair->sibling))
		return -ENOMEM;
	return !repair->routes || repair->arena.failed ? -ENOMEM : 0;
}

static void list_runs(struct repair *repair)
{
	uint32_t lids = repair->fabric->lid_count;

	for (uint32_t begin = 0, end; begin < lids; begin = end) {
		uint32_t exit = repair->exit[begin];
		for (end = begin + 1; end < lids && repair->exit[end] == exit; end++)
			continue;
		struct run run = {begin, end, exit};
		if (exit == HD_NONE)
			repair->gaps[repair->gap_count++] = run;
		else
			repair->runs[repair->run_count++] = run;
	}
	if (lids < repair->routes->stride)
		repair->gaps[repair->gap_count++] =
		    (struct run){lids, repair->routes->stride, HD_NONE};
}

/* Hosts have GUIDs, and several LIDs perhaps. */
static uint64_t key_of(const struct hd_fabric *fabric, uint32_t lid)
{
	const uint32_t port = fabric->lid_owner[lid];
	const uint64_t guid = fabric->port_guid[port] ? fabric->port_guid[port]
						      : fabric->node_guid[fabric->port_node[port]];

	return hd_rendezvous_mix(guid + lid - fabric->lid[port]);
}

static void prepare(struct repair *repair)
{
	const struct hd_fabric *fabric = repair->fabric;

	memset(repair->nowhere, NOWHERE, fabric->switch_count);
	memset(repair->item, 0xFF, fabric->lid_count * sizeof(*repair->item));
	memset(repair->exit, 0xFF, fabric->lid_count * sizeof(*repair->exit));
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		link_number_fill(fabric, sw, repair->number + (size_t)sw * PORTS);
	for (uint32_t i = 0; i < repair->list->count; i++) {
		repair->item[repair->list->items[i].lid] = i;
		repair->exit[repair->list->items[i].lid] = repair->list->items[i].sw;
		repair->key[repair->list->items[i].lid] =
		    key_of(fabric, repair->list->items[i].lid);
	}
	list_runs(repair);
}

/* LIDs of hosts that the baseline does not have. */
static uint32_t count_new_lids(const struct repair *repair)
{
	const struct hd_routes *baseline = repair->plan->request->baseline;
	uint32_t count = 0;

	for (uint32_t i = 0; baseline && i < repair->list->count; i++) {
		const struct balance_destination *item = &repair->list->items[i];

		count += item->host != HD_NONE &&
			 hd_routes_row(baseline, item->sw)[item->lid] == HD_NO_PORT;
	}
	return count;
}

/* No entry needs a proof, and few are without a baseline. */
static bool is_fit(struct repair *repair)
{
	uint64_t entries = (uint64_t)repair->fabric->switch_count * repair->list->count, chosen = 0;

	for (uint32_t sw = 0; sw < repair->fabric->switch_count; sw++)
		chosen += repair->chosen[sw];
	return !atomic_load(&repair->unfit) && chosen <= entries / SHARE_MAX &&
	       count_new_lids(repair) <= BALANCE_GROWTH_LIDS;
}

int balance_repair(const struct balance_plan *plan, const struct destinations *list,
		   struct hd_routes **out, struct hd_error *err)
{
	struct repair repair = {
	    .plan = plan, .fabric = plan->request->fabric, .paths = plan->paths, .list = list};
	int rc = allocate(&repair) ? hd_error_no_memory(err) : 0;

	*out = NULL;
	if (!rc) {
		prepare(&repair);
		if (hd_parallel_for_while(plan->request->threads, repair.fabric->switch_count,
					  GRAIN, repair_rows, &repair, &plan->request->go_on))
			rc = hd_go_on_stopped(err);
	}
	if (!rc && is_fit(&repair))
		*out = repair.routes;
	else
		hd_routes_free(repair.routes);
	hd_arena_release(&repair.arena);
	return rc;
}
