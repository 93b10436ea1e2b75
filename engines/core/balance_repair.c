/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "balance_repair.h"
#include "equal_entries.h"
#include "link_number.h"

#include <heddle/base/parallel.h>
#include <stdatomic.h>
#include <stdlib.h>

#define SHARE_MAX 8u /* of all entries, at most one in so many is repaired one by one */
#define GRAIN 16u /* switches at a time */
#define NOWHERE 0xFE /* state of no switch that is a next hop */
#define PORTS 256u
#define CHOSEN_TOGETHER 256u /* entries between two questions whether to go on */

/* An entry to be chosen. */
struct wrong {
	uint32_t sw, lid;
	uint64_t place; /* in the order of choosing */
};

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
	uint32_t *wrong_count; /* [switch_count] */
	uint64_t *load; /* [isl_count] LIDs forwarded, of switches that are counted */
	bool *counted; /* [switch_count] */
	struct wrong *wrong;
	uint32_t total;
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

/* For entries that are not plainly those of the baseline. Returns HD_NO_PORT where one is to be
 * chosen, and counts it. */
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
	port = hd_routes_row(request->previous, sw)[lid];
	if (port_is_valid(repair, sw, lid, port))
		return port;
	repair->wrong_count[sw]++;
	return HD_NO_PORT;
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

/* ---- the others ---- */

static uint32_t link_of(const struct repair *repair, uint32_t sw, uint32_t lid)
{
	uint8_t port = hd_routes_row(repair->routes, sw)[lid];

	return repair->fabric->isl_base[sw] + repair->number[(size_t)sw * PORTS + port];
}

/* Counts the loads of a switch's links. */
static void count_loads(struct repair *repair, uint32_t sw)
{
	const struct hd_fabric *fabric = repair->fabric;
	const uint8_t *row = hd_routes_row(repair->routes, sw);
	uint32_t by_port[4][PORTS], lids = repair->routes->lid_count;

	memset(by_port, 0, sizeof(by_port));
	for (uint32_t lid = 0, step; lid < lids; lid += step) {
		bool equal = lid + EQUAL_ENTRIES <= lids && equal_entries(row + lid);
		step = equal ? EQUAL_ENTRIES : 1;
		by_port[lid & 3][row[lid]] += step;
	}
	for (uint32_t own = fabric->isl_base[sw]; own < fabric->isl_base[sw + 1]; own++) {
		uint8_t port = fabric->isl_port[own];
		repair->load[own] = (uint64_t)by_port[0][port] + by_port[1][port] +
				    by_port[2][port] + by_port[3][port];
	}
	repair->counted[sw] = true;
}

static void count_rows(void *context, uint32_t begin, uint32_t end, unsigned worker)
{
	(void)worker;
	for (uint32_t sw = begin; sw < end; sw++)
		count_loads(context, sw);
}

/* The load of a link; counts those of its switch when they are asked for the first time. */
static uint64_t load_of(struct repair *repair, uint32_t sw, uint32_t link)
{
	if (!repair->counted[sw])
		count_loads(repair, sw);
	return repair->load[link];
}

/* A path as it is compared: other LIDs of the host first, then loads from the far end. */
struct candidate {
	uint32_t link, shared, hops;
	uint64_t load[DAG_PATHS_HOPS_MAX + 1]; /* that of the link itself last in the sequence */
};

/* How many other LIDs of the same host leave the switch by the link. */
static uint32_t count_shared(const struct repair *repair, uint32_t sw, uint32_t lid, uint32_t link)
{
	const struct hd_fabric *fabric = repair->fabric;
	uint32_t port = fabric->lid_owner[lid], shared = 0;
	const uint8_t *row = hd_routes_row(repair->routes, sw);

	if (!repair->plan->spread_lids)
		return 0;
	for (uint32_t i = 0; i < hd_port_lid_count(fabric, port); i++)
		shared += row[fabric->lid[port] + i] == fabric->isl_port[link];
	return shared;
}

static void follow(struct repair *repair, uint32_t sw, uint32_t lid, uint32_t link,
		   struct candidate *out)
{
	out->link = link;
	out->shared = count_shared(repair, sw, lid, link);
	out->load[0] = load_of(repair, sw, link);
	out->hops = 1;
	for (sw = repair->fabric->isl_to[link]; sw != repair->exit[lid];
	     sw = repair->fabric->isl_to[link]) {
		link = link_of(repair, sw, lid);
		out->load[out->hops++] = load_of(repair, sw, link);
	}
}

/* All candidates of a switch have equally many hops. */
static bool is_better(const struct candidate *a, const struct candidate *b)
{
	if (a->shared != b->shared)
		return a->shared < b->shared;
	for (uint32_t hop = a->hops; hop--;)
		if (a->load[hop] != b->load[hop])
			return a->load[hop] < b->load[hop];
	return false;
}

static void choose(struct repair *repair, uint32_t sw, uint32_t lid)
{
	const struct hd_fabric *fabric = repair->fabric;
	uint8_t state = states_of(repair, sw)[repair->exit[lid]];
	struct candidate two[2], *best = NULL, *next = &two[0];
	uint32_t taken = HD_NONE;

	if (dag_paths_round(state)) {
		taken = step_against(repair, sw, repair->exit[lid]);
	} else {
		for (uint32_t link = fabric->isl_base[sw]; link < fabric->isl_base[sw + 1];
		     link++) {
			if (!link_is_valid(repair, sw, lid, link))
				continue;
			follow(repair, sw, lid, link, next);
			if (best && !is_better(next, best))
				continue;
			best = next;
			next = next == &two[0] ? &two[1] : &two[0];
		}
		taken = best->link;
	}
	(void)load_of(repair, sw, taken);
	repair->load[taken]++;
	hd_routes_row(repair->routes, sw)[lid] = fabric->isl_port[taken];
}

static int compare_wrong(const void *left, const void *right)
{
	const struct wrong *a = left, *b = right;

	if (a->place != b->place)
		return a->place < b->place ? -1 : 1;
	return a->sw < b->sw ? -1 : a->sw > b->sw;
}

/* Destination by destination, the nearest switches first. */
static void list_wrong(struct repair *repair)
{
	uint32_t count = 0;

	for (uint32_t sw = 0; sw < repair->fabric->switch_count; sw++) {
		const uint8_t *row = hd_routes_row(repair->routes, sw);
		const uint8_t *own = states_of(repair, sw);
		if (!repair->wrong_count[sw])
			continue;
		uint32_t lids = repair->routes->lid_count, lid = 0;
		for (const uint8_t *at; (at = memchr(row + lid, HD_NO_PORT, lids - lid)) != NULL;
		     lid++) {
			lid = (uint32_t)(at - row);
			uint32_t exit = repair->exit[lid];
			if (exit != HD_NONE && own[exit] != DAG_PATHS_UNREACHED)
				repair->wrong[count++] = (struct wrong){
				    sw, lid, (uint64_t)repair->item[lid] << 8 | own[exit]};
		}
	}
	qsort(repair->wrong, count, sizeof(*repair->wrong), compare_wrong);
}

static int choose_wrong(struct repair *repair, struct hd_error *err)
{
	const struct hd_route_request *request = repair->plan->request;

	repair->wrong = hd_arena_alloc(&repair->arena, repair->total, sizeof(*repair->wrong));
	if (!repair->wrong)
		return hd_error_no_memory(err);
	list_wrong(repair);
	/* for few entries load_of() counts as few rows as it can */
	if (repair->total > repair->fabric->switch_count / 4 &&
	    hd_parallel_for_while(request->threads, repair->fabric->switch_count, GRAIN, count_rows,
				  repair, &request->go_on))
		return hd_go_on_stopped(err);
	for (uint32_t i = 0; i < repair->total; i++) {
		if (i % CHOSEN_TOGETHER == 0 && !hd_go_on_ask(&request->go_on))
			return hd_go_on_stopped(err);
		choose(repair, repair->wrong[i].sw, repair->wrong[i].lid);
	}
	return 0;
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
	repair->wrong_count = hd_arena_alloc(arena, switches, sizeof(*repair->wrong_count));
	repair->load = hd_arena_alloc(arena, fabric->isl_count, sizeof(*repair->load));
	repair->counted = hd_arena_alloc(arena, switches, sizeof(*repair->counted));
	repair->routes = hd_routes_new_unset(fabric);
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
	}
	list_runs(repair);
}

/* Few entries are to be chosen, and none that needs a proof. */
static bool is_small(struct repair *repair)
{
	uint64_t entries = (uint64_t)repair->fabric->switch_count * repair->list->count, total = 0;

	for (uint32_t sw = 0; sw < repair->fabric->switch_count; sw++)
		total += repair->wrong_count[sw];
	repair->total = (uint32_t)total;
	return !atomic_load(&repair->unfit) && total <= entries / SHARE_MAX;
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
	if (!rc && is_small(&repair)) {
		rc = choose_wrong(&repair, err);
		*out = rc ? NULL : repair.routes;
	}
	if (!*out)
		hd_routes_free(repair.routes);
	hd_arena_release(&repair.arena);
	return rc;
}
