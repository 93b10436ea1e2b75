/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* dmodk while cables, switches, pods and hosts of a tree fail and return: nothing moves without
 * need, and a tree that is intact again has the tables of an intact tree. */
#include <heddle/base/random.h>
#include <heddle/fabric/tree.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "cases.h"
#include "engines_testing.h"

#include <errno.h>

#define SEEDS UNDER_SANITIZERS(3, CASES(100, 12))

/* A tree, and what of it is missing. */
struct world {
	struct hd_fabric *whole;
	bool *node_gone; /* [node_count] */
	bool *link_gone; /* [isl_count], both directions */
	struct hd_fabric *fabric; /* what is there */
	struct hd_routes *routes;
	struct hd_routes *healed; /* of the whole tree, routed afresh */
	bool is_baseline; /* `healed` is the baseline; else the tables in place are */
	uint64_t random;
};

struct tally {
	uint64_t steps, refused, changed, needless, entries;
	uint64_t aside; /* of `needless`: to adapters that are set aside */
	/* of `needless`: paths that climbed after a descent; others, beside a sweep of counters */
	uint64_t turning, handed_over;
};

/* ---- the fabric ---- */

static struct hd_fabric *what_is_left(const struct world *world)
{
	const struct hd_fabric *whole = world->whole;
	struct hd_fabric *left =
	    retold(copy_of(whole), &(struct retelling){.gone = world->node_gone});
	struct hd_builder *builder = hd_builder_from(left);

	for (uint32_t link = 0; link < whole->isl_count; link++) {
		uint32_t sw = hd_isl_from(whole, link);
		uint32_t node = hd_fabric_find_node(left, whole->node_guid[sw]);
		if (world->link_gone[link] && node != HD_NONE)
			hd_builder_unlink(builder, node, whole->isl_port[link]);
	}
	return rebuilt(builder, left);
}

static void set_link(struct world *world, uint32_t link, bool gone)
{
	world->link_gone[link] = gone;
	world->link_gone[world->whole->isl_reverse[link]] = gone;
}

static uint32_t any_of_level(struct world *world, unsigned level)
{
	const struct hd_fabric *whole = world->whole;
	uint32_t sw;

	do
		sw = (uint32_t)hd_random_below(&world->random, whole->switch_count);
	while (level_named(whole, sw) != level);
	return sw;
}

/* A switch, and with `pod` its pod: all leaves below it and all switches above those that are not
 * tops; each with the hosts. */
static void set_pod(struct world *world, uint32_t spine, bool gone)
{
	const struct hd_fabric *whole = world->whole;

	for (uint32_t down = whole->isl_base[spine]; down < whole->isl_base[spine + 1]; down++) {
		uint32_t leaf = whole->isl_to[down];
		if (level_named(whole, leaf) != 1)
			continue;
		world->node_gone[leaf] = gone;
		for (uint32_t up = whole->isl_base[leaf]; up < whole->isl_base[leaf + 1]; up++)
			world->node_gone[whole->isl_to[up]] = gone;
	}
}

static unsigned tops_level(const struct hd_fabric *whole)
{
	unsigned most = 0;

	for (uint32_t sw = 0; sw < whole->switch_count; sw++)
		most = level_named(whole, sw) > most ? level_named(whole, sw) : most;
	return most;
}

/* Something fails or returns. */
static void happen(struct world *world)
{
	const struct hd_fabric *whole = world->whole;
	bool gone = pick(&world->random, 0, 9) < 6;
	unsigned tops = tops_level(whole), kind = pick(&world->random, 0, 9);
	uint32_t sw;

	if (kind < 5) {
		set_link(world, (uint32_t)hd_random_below(&world->random, whole->isl_count), gone);
		if (!gone)
			for (uint32_t link = 0; link < whole->isl_count; link++)
				if (pick(&world->random, 0, 1))
					set_link(world, link, false);
	} else if (kind < 8) {
		sw = any_of_level(world, pick(&world->random, 1, tops));
		world->node_gone[sw] = gone;
	} else if (kind == 8) {
		sw = any_of_level(world, 2);
		if (tops > 2)
			set_pod(world, sw, gone);
	} else {
		world->node_gone[hd_random_below(&world->random,
						 whole->node_count - whole->switch_count) +
				 whole->switch_count] = gone;
	}
}

/* ---- needless changes ---- */

/* The link of `fabric` that is the one of `from` by GUIDs and ports, or HD_NONE. */
static uint32_t same_link(const struct hd_fabric *from, uint32_t link,
			  const struct hd_fabric *fabric)
{
	uint32_t sw = hd_fabric_find_node(fabric, from->node_guid[hd_isl_from(from, link)]);

	return sw == HD_NONE ? HD_NONE : hd_fabric_find_isl(fabric, sw, from->isl_port[link]);
}

/* Whether a path of `fabric` has a link that the other fabric does not have, or does not end. */
static bool path_is_new(const struct hd_fabric *fabric, const struct hd_routes *routes, uint32_t sw,
			uint32_t lid, const struct hd_fabric *other)
{
	uint32_t link, hops = 0;

	while ((link = link_taken(fabric, routes, sw, lid)) != HD_NONE) {
		if (same_link(fabric, link, other) == HD_NONE || hops++ > 32)
			return true;
		sw = fabric->isl_to[link];
	}
	return hd_routes_port(routes, sw, lid) == HD_NO_PORT;
}

/* Links of a path that arrives, and UINT32_MAX of one that does not. */
static uint32_t path_length(const struct hd_fabric *fabric, const struct hd_routes *routes,
			    uint32_t sw, uint32_t lid)
{
	uint32_t link, hops = 0;

	while ((link = link_taken(fabric, routes, sw, lid)) != HD_NONE && hops++ < 32)
		sw = fabric->isl_to[link];
	return hops > 32 || hd_routes_port(routes, sw, lid) == HD_NO_PORT ? UINT32_MAX : hops;
}

/* Whether an entry is that of the tables to which paths go back. */
static bool is_back(const struct world *world, const struct hd_fabric *after,
		    const struct hd_routes *new, uint32_t sw, uint32_t lid)
{
	uint32_t at = hd_fabric_find_node(world->whole, after->node_guid[sw]);

	return hd_routes_port(world->healed, at, lid) == hd_routes_port(new, sw, lid);
}

/* Whether something that returned is a reason for an entry to change: it goes to where it is in the
 * intact tree, or its path becomes shorter; without a baseline, its path has a link that is new. */
static bool has_returned(const struct world *world, const struct hd_fabric *before,
			 const struct hd_routes *old, uint32_t then, const struct hd_fabric *after,
			 const struct hd_routes *new, uint32_t sw, uint32_t lid)
{
	if (is_back(world, after, new, sw, lid))
		return true;
	if (!world->is_baseline)
		return path_is_new(after, new, sw, lid, before);
	return path_length(after, new, sw, lid) < path_length(before, old, then, lid);
}

/* Whether a path descends and then climbs. The switches that have such paths have no hosts. */
static bool turns_up(const struct hd_fabric *fabric, const struct hd_routes *routes, uint32_t sw,
		     uint32_t lid)
{
	bool descends = false;
	uint32_t link;

	while ((link = link_taken(fabric, routes, sw, lid)) != HD_NONE) {
		bool down = level_named(fabric, fabric->isl_to[link]) < level_named(fabric, sw);
		if (descends && !down)
			return true;
		descends |= down;
		sw = fabric->isl_to[link];
	}
	return false;
}

/* Marks what a leaf reaches by climbing (2) and then descending (1). reached: zeroed. */
static void mark_legal(const struct hd_fabric *fabric, uint32_t leaf, uint8_t *reached)
{
	unsigned tops = tops_level(fabric);

	reached[leaf] = 2;
	for (unsigned level = 1; level < tops; level++)
		for (uint32_t link = 0; link < fabric->isl_count; link++) {
			uint32_t sw = hd_isl_from(fabric, link), far = fabric->isl_to[link];
			if (reached[sw] == 2 && level_named(fabric, sw) == level &&
			    level_named(fabric, far) == level + 1)
				reached[far] = 2;
		}
	for (unsigned level = tops; level > 1; level--)
		for (uint32_t link = 0; link < fabric->isl_count; link++) {
			uint32_t sw = hd_isl_from(fabric, link), far = fabric->isl_to[link];
			if (reached[sw] && level_named(fabric, sw) == level &&
			    level_named(fabric, far) == level - 1 && !reached[far])
				reached[far] = 1;
		}
}

/* Whether a leaf with hosts has no path to another that climbs and then descends. Labels cannot
 * route such a tree, but sometimes counters can, by other levels. */
static bool is_cut(const struct hd_fabric *fabric)
{
	uint8_t *reached = calloc(fabric->switch_count, 1);
	uint32_t *component = calloc(fabric->switch_count, sizeof(*component));
	bool cut = false;

	assert_int_equal(hd_tree_components(fabric, component), 0);
	for (uint32_t leaf = 0; leaf < fabric->switch_count; leaf++) {
		if (fabric->host_base[leaf] == fabric->host_base[leaf + 1])
			continue;
		memset(reached, 0, fabric->switch_count);
		mark_legal(fabric, leaf, reached);
		for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
			cut |= !reached[sw] && component[sw] == component[leaf] &&
			       fabric->host_base[sw] < fabric->host_base[sw + 1];
	}
	free(reached);
	free(component);
	return cut;
}

/* LIDs and GUIDs stay the same. An entry may change when a link of its path has failed, or when
 * something has returned. */
static void count_changes(const struct world *world, const struct hd_fabric *before,
			  const struct hd_routes *old, const struct hd_fabric *after,
			  const struct hd_routes *new, struct tally *tally)
{
	uint64_t straight = 0;

	for (uint32_t sw = 0; sw < after->switch_count; sw++) {
		uint32_t then = hd_fabric_find_node(before, after->node_guid[sw]);
		for (uint32_t lid = 1; then != HD_NONE && lid < after->lid_count; lid++) {
			if (lid >= before->lid_count || before->lid_owner[lid] == HD_NONE ||
			    after->lid_owner[lid] == HD_NONE)
				continue;
			tally->entries++;
			if (hd_routes_port(old, then, lid) == hd_routes_port(new, sw, lid))
				continue;
			tally->changed++;
			if (path_is_new(before, old, then, lid, after) ||
			    has_returned(world, before, old, then, after, new, sw, lid))
				continue;
			bool turning = turns_up(before, old, then, lid);
			tally->needless++;
			tally->turning += turning;
			straight += !turning;
			tally->aside += after->aside[after->lid_owner[lid]];
		}
	}
	if (straight && (is_cut(before) || is_cut(after)))
		tally->handed_over += straight;
}

/* ---- worlds ---- */

static void assert_no_faults(const struct hd_fabric *fabric, const struct hd_routes *routes,
			     const char *what)
{
	struct hd_check_report *report = check(fabric, routes);

	if (report->loop || report->credit_loops || report->dead_end ||
	    (reachable_switches(fabric) == fabric->switch_count && report->no_route))
		fail_msg("%s: %" PRIu64 " holes, %" PRIu64 " dead ends, %" PRIu64
			 " loops, %u credit loops",
			 what, report->no_route, report->dead_end, report->loop,
			 report->credit_loops);
	hd_check_report_free(report);
}

/* Routes what is left from the tables in place. False: refused, and the world is as before. */
static bool route_left(struct world *world, struct tally *tally, const char *what)
{
	struct hd_fabric *left = what_is_left(world);
	struct hd_routes *carried = NULL, *baseline = NULL, *routes = NULL;
	struct hd_error err = {""};

	if (world->routes)
		assert_int_equal(
		    hd_routes_rebase(world->fabric, world->routes, left, &carried, &err), 0);
	if (world->is_baseline)
		assert_int_equal(
		    hd_routes_rebase(world->whole, world->healed, left, &baseline, &err), 0);
	const struct hd_route_request request = {.fabric = left,
						 .previous = carried,
						 .baseline = baseline ? baseline : carried,
						 .threads = 2};
	int rc = route_try("dmodk", "", &request, &routes, &err);
	hd_routes_free(carried);
	hd_routes_free(baseline);
	tally->steps++;
	if (rc) {
		assert_int_equal(rc, -ENOTSUP);
		tally->refused++;
		hd_fabric_free(left);
		return false;
	}
	assert_no_faults(left, routes, what);
	if (world->routes)
		count_changes(world, world->fabric, world->routes, left, routes, tally);
	hd_fabric_free(world->fabric);
	hd_routes_free(world->routes);
	world->fabric = left;
	world->routes = routes;
	return true;
}

static void step(struct world *world, struct tally *tally, const char *what)
{
	const struct hd_fabric *whole = world->whole;
	bool *nodes = calloc(whole->node_count, sizeof(*nodes));
	bool *links = calloc(whole->isl_count, sizeof(*links));

	memcpy(nodes, world->node_gone, whole->node_count * sizeof(*nodes));
	memcpy(links, world->link_gone, whole->isl_count * sizeof(*links));
	happen(world);
	if (!route_left(world, tally, what)) {
		memcpy(world->node_gone, nodes, whole->node_count * sizeof(*nodes));
		memcpy(world->link_gone, links, whole->isl_count * sizeof(*links));
	}
	free(nodes);
	free(links);
}

static void heal(struct world *world, struct tally *tally, const char *what)
{
	memset(world->node_gone, 0, world->whole->node_count * sizeof(*world->node_gone));
	memset(world->link_gone, 0, world->whole->isl_count * sizeof(*world->link_gone));
	assert_true(route_left(world, tally, what));
}

static void open_world(struct world *world, const char *settings, unsigned lmc, uint64_t seed)
{
	struct hd_fabric *whole = with_lmc(generate("xgft", settings), lmc);

	*world = (struct world){.whole = whole,
				.node_gone = calloc(whole->node_count, sizeof(bool)),
				.link_gone = calloc(whole->isl_count, sizeof(bool)),
				.healed = route("dmodk", "", whole),
				.random = seed * 7919 + 1};
}

static void close_world(struct world *world)
{
	hd_fabric_free(world->whole);
	hd_fabric_free(world->fabric);
	hd_routes_free(world->routes);
	hd_routes_free(world->healed);
	free(world->node_gone);
	free(world->link_gone);
}

static const char *const trees[] = {
    "children=6,6,6 parents=1,6,6",
    "children=4,4,4 parents=1,2,2",
    "children=4,6 parents=1,2 parallel=1,2",
    "children=3,3,3 parents=1,3,3 parallel=1,1,2",
    "children=6,8 parents=1,6",
};

#define TREES (sizeof(trees) / sizeof(trees[0]))

static void report(const char *what, const struct tally *tally)
{
	print_message("%s: %" PRIu64 " steps, %" PRIu64 " refused; %" PRIu64 " of %" PRIu64
		      " entries changed, %" PRIu64 " without need (%" PRIu64
		      " from paths that turned twice, %" PRIu64 " beside counters)\n",
		      what, tally->steps, tally->refused, tally->changed, tally->entries,
		      tally->needless, tally->turning, tally->handed_over);
}

/* What decision 011 promises. */
static void assert_bound(const struct tally *tally)
{
	assert_int_equal(tally->needless, tally->turning + tally->handed_over);
	assert_true(100000 * tally->needless <= tally->changed);
}

/* Property: whatever fails and returns, an entry changes only when its path has failed, when it goes
 * back to where it is in the intact tree, or when its path becomes shorter. There are two very rare
 * exceptions: a switch without hosts gives up a path that turned twice or more; and counters, which
 * route a tree with a leaf that has no legal path, have other rules for paths. At the end the tables
 * are those of the intact tree. */
static void nothing_moves_without_need(void **state)
{
	struct tally tally = {0};

	(void)state;
	for (unsigned i = 0; i < TREES; i++)
		for (uint64_t seed = 0; seed < SEEDS; seed++) {
			struct world world;
			open_world(&world, trees[i], (unsigned)seed % 3, seed);
			world.is_baseline = true;
			heal(&world, &tally, trees[i]);
			for (unsigned n = 0; n < 12; n++)
				step(&world, &tally, trees[i]);
			heal(&world, &tally, trees[i]);
			assert_int_equal(hd_routes_count_changes(world.healed, world.routes), 0);
			close_world(&world);
		}
	report("started intact", &tally);
	assert_bound(&tally);
	assert_true(tally.refused * 3 < tally.steps);
}

/* Property: the same when something is missing from the beginning, even if the tree seemed to be
 * intact, because a whole spine, leaf or pod was missing. */
static void nor_when_started_damaged(void **state)
{
	struct tally tally = {0};

	(void)state;
	for (unsigned i = 0; i < TREES; i++)
		for (uint64_t seed = 0; seed < SEEDS; seed++) {
			struct world world;
			open_world(&world, trees[i], (unsigned)seed % 3, seed);
			do
				happen(&world);
			while (!route_left(&world, &(struct tally){0}, trees[i]));
			for (unsigned n = 0; n < 12; n++)
				step(&world, &tally, trees[i]);
			heal(&world, &tally, trees[i]);
			assert_int_equal(hd_routes_count_changes(world.healed, world.routes), 0);
			close_world(&world);
		}
	report("started damaged", &tally);
	assert_bound(&tally);
}

/* The world with an aggregation node in each switch, and tables of the intact tree in place. */
static void add_nodes(struct world *world)
{
	uint64_t random = world->random;
	struct hd_fabric *whole = with_lmc(with_aggregation(copy_of(world->whole)), 0);

	close_world(world);
	*world = (struct world){.whole = whole,
				.node_gone = calloc(whole->node_count, sizeof(bool)),
				.link_gone = calloc(whole->isl_count, sizeof(bool)),
				.healed = route("dmodk", "", whole),
				.is_baseline = true,
				.random = random};
}

/* Property: with aggregation nodes everything goes back to the tables of the intact tree, if these
 * are the baseline. Paths to nodes that turn at one leaf have to move together when that leaf is cut
 * off: so fewer than one change in 15 is needless, and nearly all of these are to nodes. */
static void nor_do_paths_to_aggregation_nodes(void **state)
{
	struct tally tally = {0};

	(void)state;
	for (unsigned i = 0; i < TREES; i++)
		for (uint64_t seed = 0; seed < UNDER_SANITIZERS(3, 12); seed++) {
			struct world world;
			open_world(&world, trees[i], 0, seed);
			add_nodes(&world);
			heal(&world, &tally, trees[i]);
			for (unsigned n = 0; n < 12; n++)
				step(&world, &tally, trees[i]);
			heal(&world, &tally, trees[i]);
			assert_int_equal(hd_routes_count_changes(world.healed, world.routes), 0);
			close_world(&world);
		}
	report("with aggregation nodes", &tally);
	print_message("  without need: %" PRIu64 " to aggregation nodes\n", tally.aside);
	assert_true(15 * tally.needless <= tally.changed);
	assert_true(1000 * (tally.needless - tally.aside) <= tally.changed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(nothing_moves_without_need),
	    cmocka_unit_test(nor_when_started_damaged),
	    cmocka_unit_test(nor_do_paths_to_aggregation_nodes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
