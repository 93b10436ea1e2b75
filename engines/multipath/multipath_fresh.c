/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "link_number.h"
#include "multipath_cycles.h"
#include "multipath_job.h"
#include "resolved_policy.h"

#include <errno.h>
#include <heddle/base/port_set.h>
#include <heddle/engines/multipath.h>
#include <inttypes.h>

/* ---- further LIDs without path bits ---- */

struct offsets {
	const struct hd_fabric *fabric;
	struct hd_arena arena;
	struct dag_paths paths;
	struct dag shortest; /* all shortest paths to the destination at hand */
	bool thinned; /* the balance's DAG has fewer of them */
	const uint8_t **tree; /* [lid_count] from balance_plan.routed; NULL = not yet */
	uint32_t *crossings; /* [isl_count] lower trees that bring packets over the link */
	uint32_t *shared; /* [switch_count] least sum of crossings up to the destination */
	uint8_t *carries; /* [switch_count] the tree at hand brings packets here */
};

/* Adds the links by which packets from hosts reach the destination. */
static void count_crossings(struct offsets *offsets, const uint8_t *tree)
{
	const struct hd_fabric *fabric = offsets->fabric;
	const struct dag *shortest = &offsets->shortest;

	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		offsets->carries[sw] = fabric->host_base[sw] != fabric->host_base[sw + 1];
	for (uint32_t i = shortest->reached; i-- > 1;) {
		uint32_t sw = shortest->order[i];
		if (!offsets->carries[sw] || tree[sw] == LINK_NUMBER_NONE)
			continue;
		uint32_t link = fabric->isl_base[sw] + tree[sw];
		offsets->crossings[link]++;
		offsets->carries[fabric->isl_to[link]] = 1;
	}
}

static void count_lower(struct offsets *offsets, const struct balance_destination *destination,
			uint32_t offset)
{
	memset(offsets->crossings, 0, offsets->fabric->isl_count * sizeof(*offsets->crossings));
	for (uint32_t lower = destination->lid - offset; lower < destination->lid; lower++)
		if (offsets->tree[lower])
			count_crossings(offsets, offsets->tree[lower]);
}

/* Leaves each switch the next hops by which it shares least. */
static void thin(struct offsets *offsets, struct dag *dag)
{
	const struct hd_fabric *fabric = offsets->fabric;
	const struct dag *shortest = &offsets->shortest;
	uint32_t *shared = offsets->shared;

	shared[shortest->destination] = 0;
	for (uint32_t i = 1; i < shortest->reached; i++) {
		uint32_t sw = shortest->order[i], base = fabric->isl_base[sw];
		uint32_t least = UINT32_MAX;
		uint8_t count = 0;
		for (uint32_t at = base; at < base + shortest->count[sw]; at++) {
			uint32_t link = base + shortest->number[at];
			uint32_t sum = shared[fabric->isl_to[link]] + offsets->crossings[link];
			if (sum < least)
				count = 0;
			least = sum < least ? sum : least;
			if (sum == least)
				dag->number[base + count++] = shortest->number[at];
		}
		dag->count[sw] = count;
		/* the list may have one of two parallel links, so the hash is that of links
		 */
		dag->targets[sw] = DAG_LINKS_NONE;
		for (uint32_t at = base; at < base + count; at++)
			dag->targets[sw] =
			    dag_targets_add(dag->targets[sw], base + dag->number[at]);
		shared[sw] = least;
	}
}

/* is_candidate[] stays that of all shortest paths, so that entries on any of them may stay. */
static int build(void *context, const struct balance_destination *destination, struct dag *dag,
		 struct hd_error *err)
{
	struct offsets *offsets = context;
	const struct hd_fabric *fabric = offsets->fabric;
	uint32_t host = destination->host;
	uint32_t offset =
	    host == HD_NONE ? 0 : destination->lid - fabric->lid[fabric->host_port[host]];

	(void)err;
	if (offsets->shortest.destination != destination->sw)
		dag_build(&offsets->shortest, &offsets->paths, destination->sw);
	if (dag->destination != destination->sw || (offsets->thinned && !offset))
		dag_copy(dag, &offsets->shortest, fabric);
	if (offset) {
		count_lower(offsets, destination, offset);
		thin(offsets, dag);
	}
	offsets->thinned = offset != 0;
	return 0;
}

static void routed(void *context, const struct balance_destination *destination,
		   const uint8_t *tree)
{
	struct offsets *offsets = context;

	offsets->tree[destination->lid] = tree;
}

static int allocate_offsets(struct offsets *offsets, unsigned threads)
{
	const struct hd_fabric *fabric = offsets->fabric;
	struct hd_arena *arena = &offsets->arena;
	uint32_t switches = fabric->switch_count;

	offsets->tree = hd_arena_alloc(arena, fabric->lid_count, sizeof(*offsets->tree));
	offsets->crossings = hd_arena_alloc(arena, fabric->isl_count, sizeof(*offsets->crossings));
	offsets->shared = hd_arena_alloc(arena, switches, sizeof(*offsets->shared));
	offsets->carries = hd_arena_alloc(arena, switches, sizeof(*offsets->carries));
	if (dag_paths_find(&offsets->paths, fabric, NULL, threads, NULL, arena))
		return -ENOMEM;
	return dag_allocate(&offsets->shortest, fabric, arena);
}

int multipath_offsets_route(struct balance_plan *plan, struct hd_routes **out, struct hd_error *err)
{
	struct offsets offsets = {.fabric = plan->request->fabric};

	plan->build = build;
	plan->routed = routed;
	plan->context = &offsets;
	plan->per_destination = true;
	plan->paths = &offsets.paths;
	plan->spread_lids = true;
	int rc = allocate_offsets(&offsets, plan->request->threads) ? hd_error_no_memory(err)
								    : balance_route(plan, out, err);
	hd_arena_release(&offsets.arena);
	return rc;
}

/* ---- the exact answer ---- */

/*
 * Forwarding by path bits: for each destination and each pattern of bits the next hop of the best
 * path that matches, if there is one. The entries are then proved free of loops, and repaired if
 * necessary.
 */

struct multipath_exact_plan {
	const struct hd_fabric *fabric;
	const struct resolved_policy *policy;
	const struct hd_cycles *cycles;
	bool match_all; /* switches look at all path bits, not only at those of their own cycles */
	bool indicator; /* the top bit of a LID offset says whether the others are path bits */
	uint64_t repaired; /* out: entries that closed a loop and now take a shortest path */
};

/* ---- choices ---- */

/* Which next hops the path bits allow, for one destination switch. */

struct multipath_choices {
	const struct hd_fabric *fabric;
	const struct multipath_cycle_lists *lists;
	struct multipath_path_search search;
	unsigned bits; /* room for that many */
	uint32_t *looks_at; /* [switch_count] path bits that the switch tells apart */
	uint32_t *distance; /* [switch_count] hops to the destination; HD_NONE: no path */
	/* [switch_count << bits], at (switch << bits) + pattern, for patterns of the bits that the
	 * switch looks at: least hops of a path that matches (HD_NONE: no path matches), and the
	 * ports by which such paths leave the switch */
	uint32_t *hops;
	struct hd_port_set *ports;
};

static inline size_t multipath_choices_at(const struct multipath_choices *choices, uint32_t sw,
					  uint32_t bits)
{
	return ((size_t)sw << choices->bits) + (bits & choices->looks_at[sw]);
}

/* Memory from the arena, with room for `bits` path bits. Errors: -ENOMEM. */
static int multipath_choices_allocate(struct multipath_choices *choices,
				      const struct hd_fabric *fabric,
				      const struct multipath_cycle_lists *lists, unsigned bits,
				      struct hd_arena *arena)
{
	size_t switches = fabric->switch_count;

	choices->fabric = fabric;
	choices->lists = lists;
	choices->bits = bits;
	choices->looks_at = hd_arena_alloc(arena, switches, sizeof(*choices->looks_at));
	choices->distance = hd_arena_alloc(arena, switches, sizeof(*choices->distance));
	choices->hops = hd_arena_alloc(arena, switches << bits, sizeof(*choices->hops));
	choices->ports = hd_arena_alloc(arena, switches << bits, sizeof(*choices->ports));
	return multipath_paths_allocate(&choices->search, fabric, arena);
}

static void add_choice(struct multipath_choices *choices, size_t at, uint32_t hops, uint32_t port)
{
	if (hops > choices->hops[at])
		return;
	if (hops < choices->hops[at])
		choices->ports[at] = (struct hd_port_set){{0}};
	choices->hops[at] = hops;
	hd_port_set_add(&choices->ports[at], port);
}

/* Enters the path for every pattern of bits that it matches. */
static bool add_path(void *context, uint32_t from, const uint32_t *links, uint32_t hops)
{
	struct multipath_choices *choices = context;
	struct multipath_path_pattern pattern;

	if (hops < choices->distance[from])
		choices->distance[from] = hops;
	if (!multipath_paths_pattern(choices->fabric, choices->lists, links, hops, &pattern))
		return true;
	uint32_t looks_at = choices->looks_at[from];
	uint32_t ones = (uint32_t)pattern.clockwise & looks_at;
	uint32_t free = looks_at & ~(uint32_t)(pattern.clockwise | pattern.counter);
	uint32_t port = choices->fabric->isl_port[links[0]], some = 0;
	do {
		add_choice(choices, multipath_choices_at(choices, from, ones | some), hops, port);
		some = (some - free) & free; /* the next subset */
	} while (some);
	return true;
}

/*
 * Fills them for a port on the switch `destination` that has `bits` path bits, at most those there
 * is room for. A switch looks at the bits whose cycles pass through it, or with `all` at each of
 * them. Cost: O(paths to the destination * (hops + patterns that match)).
 */
static void multipath_choices_build(struct multipath_choices *choices, uint32_t destination,
				    unsigned bits, bool all)
{
	uint32_t switches = choices->fabric->switch_count, owned = (UINT32_C(1) << bits) - 1;

	for (uint32_t sw = 0; sw < switches; sw++)
		choices->looks_at[sw] = all ? owned : (uint32_t)choices->lists->through[sw] & owned;
	memset(choices->distance, 0xFF, switches * sizeof(*choices->distance));
	memset(choices->hops, 0xFF, ((size_t)switches << choices->bits) * sizeof(*choices->hops));
	choices->distance[destination] = 0;
	multipath_paths_visit(&choices->search, destination, add_path, choices);
}

/* ---- the exact answer ---- */

struct exact {
	struct multipath_exact_plan *plan;
	const struct hd_fabric *fabric;
	struct hd_routes *routes;
	struct hd_arena arena;
	struct multipath_cycle_lists lists;
	struct multipath_choices choices;
	uint32_t destination; /* for which the choices were made */
	unsigned bits;
	/* of the host at hand, at multipath_choices_at(): */
	uint32_t *entry; /* link, HD_NONE: no path */
	uint32_t *stray; /* hops of the entry's path beyond those of a shortest one */
	uint64_t *use; /* [isl_count] LIDs forwarded by the link so far */
	uint32_t *walk; /* [switch_count] last walk that passed */
	uint32_t walks;
};

/* Path bits of a host's LIDs: its LMC without the indicator, or the number of cycles kept if that
 * is less. */
static unsigned multipath_exact_bits(const struct multipath_exact_plan *plan, uint32_t host)
{
	const struct hd_fabric *fabric = plan->fabric;
	uint32_t port = fabric->host_port[host];

	if (!fabric->lid[port])
		return 0;
	unsigned bits = fabric->lmc[port];
	if (plan->indicator && bits)
		bits--;
	return bits < plan->cycles->kept ? bits : plan->cycles->kept;
}

/* ---- choosing ---- */

/* The first of the host's LIDs that have path bits. */
static uint32_t first_lid(const struct exact *exact, uint32_t host)
{
	uint32_t port = exact->fabric->host_port[host];
	uint32_t without = exact->plan->indicator ? hd_port_lid_count(exact->fabric, port) / 2 : 0;

	return exact->fabric->lid[port] + without;
}

/* spf's next hop for the host's LID with these bits. */
static uint32_t shortest(const struct exact *exact, uint32_t host, uint32_t sw, uint32_t bits)
{
	uint32_t lid = first_lid(exact, host) + bits;

	return hd_fabric_find_isl(exact->fabric, sw, hd_routes_port(exact->routes, sw, lid));
}

static uint32_t least_used(const struct exact *exact, uint32_t sw, const struct hd_port_set *ports)
{
	const uint32_t *isl_base = exact->fabric->isl_base;
	uint32_t best = HD_NONE;

	for (uint32_t link = isl_base[sw]; link < isl_base[sw + 1]; link++)
		if (hd_port_set_has(ports, exact->fabric->isl_port[link]) &&
		    (best == HD_NONE || exact->use[link] < exact->use[best]))
			best = link;
	return best;
}

static void choose_entry(struct exact *exact, uint32_t host, uint32_t sw, uint32_t bits)
{
	const struct multipath_choices *choices = &exact->choices;
	size_t at = multipath_choices_at(choices, sw, bits);
	uint32_t link = shortest(exact, host, sw, bits);

	exact->entry[at] = link;
	exact->stray[at] = 0;
	if (link == HD_NONE || choices->hops[at] == HD_NONE)
		return;
	exact->stray[at] = choices->hops[at] - choices->distance[sw];
	if (!hd_port_set_has(&choices->ports[at], exact->fabric->isl_port[link]))
		exact->entry[at] = least_used(exact, sw, &choices->ports[at]);
}

static void choose_entries(struct exact *exact, uint32_t host)
{
	for (uint32_t sw = 0; sw < exact->fabric->switch_count; sw++)
		for (uint32_t bits = 0; sw != exact->destination && bits < 1u << exact->bits;
		     bits++)
			if (!(bits & ~exact->choices.looks_at[sw]))
				choose_entry(exact, host, sw, bits);
}

/* ---- proof and repair ---- */

static uint32_t next_switch(const struct exact *exact, uint32_t sw, uint32_t bits)
{
	uint32_t link = exact->entry[multipath_choices_at(&exact->choices, sw, bits)];

	return link == HD_NONE ? HD_NONE : exact->fabric->isl_to[link];
}

/* Follows the entries for these bits from every switch. A switch on a loop, or HD_NONE. */
static uint32_t find_loop(struct exact *exact, uint32_t bits)
{
	uint32_t first = exact->walks + 1;

	for (uint32_t start = 0; start < exact->fabric->switch_count; start++) {
		uint32_t sw = start, walk = ++exact->walks;
		while (sw != HD_NONE && sw != exact->destination && exact->walk[sw] < first) {
			exact->walk[sw] = walk;
			sw = next_switch(exact, sw, bits);
		}
		if (sw != HD_NONE && sw != exact->destination && exact->walk[sw] == walk)
			return sw;
	}
	return HD_NONE;
}

/* Puts the switch of the loop that is farthest from a shortest path on one. */
static void open_loop(struct exact *exact, uint32_t host, uint32_t bits, uint32_t on_loop)
{
	const struct multipath_choices *choices = &exact->choices;
	uint32_t sw = on_loop, worst = on_loop;

	do {
		uint32_t stray = exact->stray[multipath_choices_at(choices, sw, bits)];
		uint32_t most = exact->stray[multipath_choices_at(choices, worst, bits)];
		if (stray > most || (stray == most && sw < worst))
			worst = sw;
		sw = next_switch(exact, sw, bits);
	} while (sw != on_loop);
	size_t at = multipath_choices_at(choices, worst, bits);
	exact->entry[at] = shortest(exact, host, worst, bits & choices->looks_at[worst]);
	exact->stray[at] = 0;
	exact->plan->repaired++;
}

static void open_all_loops(struct exact *exact, uint32_t host)
{
	bool clean;

	do {
		clean = true;
		memset(exact->walk, 0, exact->fabric->switch_count * sizeof(*exact->walk));
		exact->walks = 0;
		for (uint32_t bits = 0; bits < 1u << exact->bits; bits++) {
			uint32_t on_loop;
			while ((on_loop = find_loop(exact, bits)) != HD_NONE) {
				open_loop(exact, host, bits, on_loop);
				clean = false;
			}
		}
	} while (!clean);
}

/* ---- all hosts ---- */

static void write_host(struct exact *exact, uint32_t host)
{
	const struct hd_fabric *fabric = exact->fabric;
	uint32_t port = fabric->host_port[host], first = first_lid(exact, host);
	uint32_t count = fabric->lid[port] + hd_port_lid_count(fabric, port) - first;

	for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
		if (sw == exact->destination)
			continue;
		uint8_t *row = hd_routes_row(exact->routes, sw);
		for (uint32_t offset = 0; offset < count; offset++) {
			uint32_t link =
			    exact->entry[multipath_choices_at(&exact->choices, sw, offset)];
			row[first + offset] = link == HD_NONE ? HD_NO_PORT : fabric->isl_port[link];
			if (link != HD_NONE)
				exact->use[link]++;
		}
	}
}

static void route_host(struct exact *exact, uint32_t host)
{
	unsigned bits = multipath_exact_bits(exact->plan, host);

	if (!bits)
		return;
	if (exact->destination != exact->fabric->host_switch[host] || exact->bits != bits) {
		exact->destination = exact->fabric->host_switch[host];
		exact->bits = bits;
		multipath_choices_build(&exact->choices, exact->destination, bits,
					exact->plan->match_all);
	}
	choose_entries(exact, host);
	open_all_loops(exact, host);
	write_host(exact, host);
}

static int allocate(struct exact *exact)
{
	const struct hd_fabric *fabric = exact->fabric;
	const struct hd_cycles *cycles = exact->plan->cycles;
	struct hd_arena *arena = &exact->arena;
	size_t entries = (size_t)fabric->switch_count << cycles->kept;

	if (multipath_cycles_list(fabric, cycles->cycles, cycles->count, arena, &exact->lists) ||
	    multipath_choices_allocate(&exact->choices, fabric, &exact->lists, cycles->kept, arena))
		return -ENOMEM;
	exact->entry = hd_arena_alloc(arena, entries, sizeof(*exact->entry));
	exact->stray = hd_arena_alloc(arena, entries, sizeof(*exact->stray));
	exact->use = hd_arena_alloc(arena, fabric->isl_count, sizeof(*exact->use));
	exact->walk = hd_arena_alloc(arena, fabric->switch_count, sizeof(*exact->walk));
	return hd_arena_check(arena);
}

/*
 * Rewrites the entries for all hosts that have path bits. On entry `routes` are those of the engine
 * `spf`. LID base + b has the path bits of b, without those beyond the cycles kept. With an
 * indicator that is so for the upper half of a host's LIDs, where b is the rest of the offset; the
 * lower half keeps spf's entries. The entry of a
 * switch for bits b is the first link of a path that matches b in the bits that the switch looks
 * at: a path of fewest hops. Of several such links it is the one that spf takes for the LID of
 * these bits alone, else the one by which fewest LIDs leave the switch so far, else the first. If
 * no path matches, the entry is spf's.
 *
 * Then the entries for each LID are followed from every switch. On a loop, the entry that is
 * farthest from a shortest path (the lowest-numbered of several) takes spf's next hop, for all LIDs
 * that share the entry, until no LID has a loop. Each time one more entry is on a shortest path,
 * and shortest paths alone close no loop, so this ends.
 *
 * Hosts are routed in the policy's order, for the use of links so far decides between equals.
 * Errors: -ENOMEM. Cost: O(runs * paths to a switch * patterns + LIDs * switches * (1 + repairs)).
 * A run is a row of hosts on one switch with as many path bits: usually one a switch, more where a
 * routing order mixes switches or where ports differ in their LMC.
 */
static int multipath_exact_route(struct multipath_exact_plan *plan, struct hd_routes *routes,
				 struct hd_error *err)
{
	struct exact exact = {
	    .plan = plan, .fabric = plan->fabric, .routes = routes, .destination = HD_NONE};
	int rc = allocate(&exact) ? hd_error_no_memory(err) : 0;

	plan->repaired = 0;
	for (uint32_t i = 0; !rc && i < plan->fabric->host_count; i++)
		route_host(&exact, plan->policy->host_order[i]);
	hd_arena_release(&exact.arena);
	return rc;
}

/* ---- afresh ---- */

int64_t multipath_option(const struct multipath_job *job, const char *name)
{
	return hd_options_get(job->request->options, name)->number;
}

uint32_t multipath_lids_without_bits(const struct multipath_job *job, uint32_t host)
{
	uint32_t lids = hd_port_lid_count(job->fabric, job->fabric->host_port[host]);

	return multipath_option(job, "indicator") ? lids / 2 : 0;
}

struct balance_plan multipath_balance(const struct multipath_job *job,
				      const struct hd_route_request *request)
{
	return (struct balance_plan){.request = request,
				     .policy = &job->policy,
				     .passes = (unsigned)multipath_option(job, "passes"),
				     .until_flat = true,
				     .by = (enum balance_by)multipath_option(job, "balance")};
}

static int shortest_paths(void *context, const struct balance_destination *destination,
			  struct dag *dag, struct hd_error *err)
{
	(void)err;
	dag_build(dag, context, destination->sw);
	return 0;
}

int multipath_route_spf(const struct multipath_job *job, const struct hd_route_request *request,
			struct hd_routes **out, struct hd_error *err)
{
	struct balance_plan plan = multipath_balance(job, request);
	struct hd_arena arena = {0};
	struct dag_paths paths;
	int rc =
	    dag_paths_find(&paths, job->fabric, NULL, request->threads, &request->go_on, &arena);

	plan.build = shortest_paths;
	plan.context = &paths;
	plan.paths = &paths;
	rc = rc ? hd_error_no_memory(err) : balance_route(&plan, out, err);
	hd_arena_release(&arena);
	return rc;
}

static int route_exact(const struct multipath_job *job, const struct hd_route_request *request,
		       struct hd_routes **out, struct hd_error *err)
{
	struct multipath_exact_plan plan = {.fabric = job->fabric,
					    .policy = &job->policy,
					    .cycles = job->cycles,
					    .match_all =
						multipath_option(job, "match") == MULTIPATH_ALL,
					    .indicator = multipath_option(job, "indicator") != 0};
	struct hd_routes *routes = NULL;
	int rc = multipath_route_spf(job, request, &routes, err);

	if (!rc)
		rc = multipath_exact_route(&plan, routes, err);
	if (!rc && plan.repaired)
		hd_log(job->request->log, HD_LOG_INFO,
		       "multipath: %" PRIu64 " entries closed a loop and now take a shortest path",
		       plan.repaired);
	if (rc)
		hd_routes_free(routes);
	else
		*out = routes;
	return rc;
}

int multipath_route_fresh(const struct multipath_job *job, struct hd_routes **out,
			  struct hd_error *err)
{
	struct hd_route_request request = *job->request;
	struct balance_plan plan = multipath_balance(job, &request);

	request.previous = request.baseline = NULL;
	return job->cycles ? route_exact(job, &request, out, err)
			   : multipath_offsets_route(&plan, out, err);
}
