/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The plan of a tree, and its loads, equal those of a slow reference that counts everything again for each choice. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "layer_plan.h"
#include "multipath_testing.h"

/* ---- the reference ---- */

/* One tree that is being planned: for a host and one of its LIDs, among the trees of all other LIDs. */
struct reference {
	const struct hd_fabric *fabric;
	const struct hd_routes *routes; /* the trees of all LIDs */
	uint32_t host, offset;
	uint32_t *far; /* [switch_count] hops to the host, HD_NONE = none */
	uint32_t *next; /* [switch_count] link chosen, HD_NONE = none */
	bool *open; /* [switch_count] */
};

static uint32_t destination(const struct reference *reference)
{
	return reference->fabric->host_switch[reference->host];
}

/* Whether the path from a switch to a LID crosses a link. */
static bool crosses(const struct reference *reference, uint32_t from, uint32_t lid, uint32_t link)
{
	uint32_t way[64];
	const uint32_t hops = follow(reference->fabric, reference->routes, from, lid, way);

	for (uint32_t i = 0; i < hops; i++)
		if (way[i] == link)
			return true;
	return false;
}

/* What one more stripe from the hosts of `source` costs on a link: see layer_choice.h. */
static uint64_t cost_on(const struct reference *reference, uint32_t source, uint32_t link)
{
	const struct hd_fabric *fabric = reference->fabric;
	const bool first = hd_isl_from(fabric, link) == source;
	uint64_t stripes = 0, others = 0;

	for (uint32_t to = 0; to < fabric->host_count; to++)
		for (uint32_t i = 0; i < hd_port_lid_count(fabric, fabric->host_port[to]); i++) {
			const uint32_t lid = host_lid(fabric, to) + i;
			if (to == reference->host) {
				stripes +=
				    i != reference->offset && crosses(reference, source, lid, link);
				continue;
			}
			for (uint32_t from = 0; from < fabric->host_count; from++)
				others += crosses(reference, fabric->host_switch[from], lid, link);
			others -= first && crosses(reference, source, lid, link);
		}
	return 2 * (uint64_t)fabric->host_count * (1 + 2 * stripes) + others;
}

static uint64_t cost_by(const struct reference *reference, uint32_t source, uint32_t link)
{
	uint64_t cost = cost_on(reference, source, link);

	while (reference->fabric->isl_to[link] != destination(reference)) {
		link = reference->next[reference->fabric->isl_to[link]];
		cost += cost_on(reference, source, link);
	}
	return cost;
}

static uint32_t hops_of(const struct reference *reference, uint32_t sw)
{
	uint32_t hops = 0;

	for (; sw != destination(reference); hops++)
		sw = reference->fabric->isl_to[reference->next[sw]];
	return hops;
}

static void go_nearer(struct reference *reference, uint32_t sw)
{
	const struct hd_fabric *fabric = reference->fabric;
	uint64_t least = UINT64_MAX;

	for (uint32_t link = fabric->isl_base[sw]; link < fabric->isl_base[sw + 1]; link++) {
		if (reference->far[fabric->isl_to[link]] + 1 != reference->far[sw])
			continue;
		const uint64_t cost = cost_by(reference, sw, link);
		if (cost < least)
			reference->next[sw] = link;
		least = cost < least ? cost : least;
	}
}

/* What a switch saves by way of `by`, in comparison with its way now. */
static int64_t saved(const struct reference *reference, const uint32_t *nearer, uint32_t sw,
		     uint32_t link)
{
	const struct hd_fabric *fabric = reference->fabric;
	const int64_t hosts = fabric->host_base[sw + 1] - fabric->host_base[sw];

	return hosts * ((int64_t)cost_by(reference, sw, nearer[sw]) -
			(int64_t)cost_by(reference, sw, link));
}

/* Links from switches that would go by way of `to` if it were open, each saving more than now. Returns the sum of that,
 * without what `to` itself could not save any more. */
static int64_t worth(const struct reference *reference, const uint32_t *nearer, const uint32_t *now,
		     uint32_t to, bool take, uint32_t *then)
{
	const struct hd_fabric *fabric = reference->fabric;
	int64_t sum = now[to] == nearer[to] ? 0 : -saved(reference, nearer, to, now[to]);

	for (uint32_t back = fabric->isl_base[to]; back < fabric->isl_base[to + 1]; back++) {
		const uint32_t sw = fabric->isl_to[back], link = fabric->isl_reverse[back];
		if (reference->far[sw] != reference->far[to] || reference->open[sw])
			continue;
		/* parallel cables: what the one before has taken counts */
		const int64_t before =
		    now[sw] == nearer[sw] ? 0 : saved(reference, nearer, sw, now[sw]);
		const int64_t gain = saved(reference, nearer, sw, link) - before;
		if (gain <= 0)
			continue;
		sum += gain;
		if (take)
			then[sw] = link;
	}
	return sum;
}

/* Opens the best switch of a level. False: none saves anything. */
static bool open_best(struct reference *reference, const uint32_t *nearer, uint32_t *now,
		      uint32_t level)
{
	const struct hd_fabric *fabric = reference->fabric;
	uint32_t best = HD_NONE;
	int64_t most = 0;

	for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
		if (reference->far[sw] != level || reference->open[sw] ||
		    hops_of(reference, sw) != level)
			continue;
		const int64_t sum = worth(reference, nearer, now, sw, false, NULL);
		if (sum > most)
			best = sw;
		most = sum > most ? sum : most;
	}
	if (best == HD_NONE)
		return false;
	worth(reference, nearer, now, best, true, now);
	now[best] = nearer[best];
	reference->open[best] = true;
	return true;
}

static void plan_level(struct reference *reference, uint32_t level)
{
	const uint32_t switches = reference->fabric->switch_count;
	uint32_t *nearer = calloc(switches, sizeof(*nearer)), *now = calloc(switches, sizeof(*now));

	for (uint32_t sw = 0; sw < switches; sw++)
		if (reference->far[sw] == level)
			go_nearer(reference, sw);
	memcpy(nearer, reference->next, switches * sizeof(*nearer));
	memcpy(now, nearer, switches * sizeof(*now));
	while (open_best(reference, nearer, now, level))
		;
	memcpy(reference->next, now, switches * sizeof(*now));
	free(nearer);
	free(now);
}

/* ---- the comparison ---- */

static void read_trees(const struct hd_fabric *fabric, const struct hd_routes *routes,
		       uint32_t host, uint8_t **tree)
{
	for (uint32_t i = 0; i < hd_port_lid_count(fabric, fabric->host_port[host]); i++)
		for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
			const uint32_t link =
			    link_taken(fabric, routes, sw, host_lid(fabric, host) + i);
			tree[i][sw] = link == HD_NONE ? LINK_NUMBER_NONE
						      : (uint8_t)(link - fabric->isl_base[sw]);
		}
}

/* What layer_plan_tree() needs, with the loads of all trees. */
struct subject {
	struct hd_arena arena;
	struct layer_loads loads;
	struct layer_choice choice;
	struct layer_planner planner;
	struct dag_paths paths;
	struct dag dag;
	uint8_t *tree[8];
};

static void begin(struct subject *subject, const struct hd_fabric *fabric,
		  const struct hd_routes *routes, unsigned lmc)
{
	struct hd_arena *arena = &subject->arena;

	assert_int_equal(layer_loads_begin(&subject->loads, fabric, arena), 0);
	assert_int_equal(layer_choice_begin(&subject->choice, &subject->loads, NULL, arena), 0);
	assert_int_equal(layer_planner_begin(&subject->planner, &subject->choice, arena), 0);
	assert_int_equal(dag_paths_find(&subject->paths, fabric, NULL, 1, NULL, arena), 0);
	assert_int_equal(dag_allocate(&subject->dag, fabric, arena), 0);
	for (unsigned i = 0; i < 1u << lmc; i++)
		subject->tree[i] = hd_arena_alloc(arena, fabric->switch_count, 1);
	for (uint32_t to = 0; to < fabric->host_count; to++) {
		const struct layer_trees trees = {subject->tree, 1u << lmc,
						  fabric->host_switch[to]};
		read_trees(fabric, routes, to, subject->tree);
		layer_loads_count(&subject->loads, &trees, 1);
	}
}

static void plan(struct subject *subject, const struct reference *reference, unsigned lmc)
{
	const struct layer_trees trees = {subject->tree, 1u << lmc, destination(reference)};

	read_trees(reference->fabric, reference->routes, reference->host, subject->tree);
	dag_build(&subject->dag, &subject->paths, trees.sw);
	layer_choice_aim(&subject->choice, &trees);
	layer_plan_tree(&subject->planner, &subject->dag, &trees, reference->offset);
}

static void plan_slowly(struct reference *reference, struct subject *subject)
{
	const uint32_t switches = reference->fabric->switch_count;

	reference->far = hd_arena_alloc(&subject->arena, switches, sizeof(uint32_t));
	reference->next = hd_arena_alloc(&subject->arena, switches, sizeof(uint32_t));
	reference->open = hd_arena_alloc(&subject->arena, switches, sizeof(bool));
	memcpy(reference->far, subject->dag.distance, switches * sizeof(uint32_t));
	for (uint32_t level = 1; level < switches; level++)
		plan_level(reference, level);
}

static void compare(const struct hd_fabric *fabric, const struct hd_routes *routes, uint32_t host,
		    unsigned lmc, unsigned *sideways)
{
	struct reference reference = {
	    .fabric = fabric, .routes = routes, .host = host, .offset = (1u << lmc) - 1};
	struct subject subject = {.arena = {0}};

	begin(&subject, fabric, routes, lmc);
	plan(&subject, &reference, lmc);
	plan_slowly(&reference, &subject);
	for (uint32_t i = 1; i < subject.dag.reached; i++) {
		const uint32_t sw = subject.dag.order[i];
		assert_int_equal(fabric->isl_base[sw] + subject.tree[reference.offset][sw],
				 reference.next[sw]);
		*sideways += hops_of(&reference, sw) > subject.dag.distance[sw];
	}
	hd_arena_release(&subject.arena);
}

static struct hd_fabric *draw_direct(uint64_t number)
{
	static const char *const kinds[][2] = {{"jellyfish", "switches=10 degree=4 hosts=1"},
					       {"hyperx", "dims=3,4 hosts=1"},
					       {"dragonfly", "switches=3 global-links=1 hosts=1"},
					       {"irregular", "switches=9 radix=6 hosts=1 seed=4"},
					       {"torus", "dims=3,3 hosts=1 parallel=2"}};
	const uint64_t kind = number % 5;

	return with_links_removed(generate(kinds[kind][0], kinds[kind][1]),
				  (double)(number % 4 * 6), number);
}

/* Property: on small fabrics, some damaged, for a few LIDs of hosts among any trees. */
static void plans_equal_the_reference(void **state)
{
	unsigned sideways = 0;

	(void)state;
	for (uint64_t number = 0; number < 25; number++) {
		const unsigned lmc = 1 + (unsigned)(number % 2);
		struct hd_fabric *fabric = with_lmc(draw_direct(number), lmc);
		struct hd_routes *routes = route(
		    "multipath",
		    number % 3 ? "mode=offsets deadlock=off" : "mode=layers deadlock=off", fabric);
		for (uint32_t host = (uint32_t)(number % 4); host < fabric->host_count; host += 5)
			compare(fabric, routes, host, lmc, &sideways);
		hd_routes_free(routes);
		hd_fabric_free(fabric);
	}
	assert_true(sideways > 30);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(plans_equal_the_reference),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
