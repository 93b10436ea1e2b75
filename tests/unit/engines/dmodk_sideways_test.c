/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* dmodk on trees with sideways cables: it ranks without them, and uses those between leaves for the
 * hosts of these leaves alone. */
#include <heddle/base/random.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "engines_testing.h"
#include "swapped_testing.h"

#include <errno.h>

struct shape {
	const char *kind, *settings;
	unsigned leaf_cables; /* between each leaf and its neighbour */
	unsigned spine_cables; /* between the first two spines */
};

static const struct shape shapes[] = {
    {"xgft", "children=4,4,4 parents=1,4,4", 1, 0},
    {"xgft", "children=4,4,4 parents=1,4,4", 3, 2},
    {"xgft", "children=3,6 parents=1,3", 0, 1},
    {"xgft", "children=12,6 parents=1,6 parallel=1,2", 12, 0}, /* as of paper 001 */
    {"xgft", "children=2,2,3,2 parents=1,2,2,2", 1, 1},
    {"xgft", "children=4,6 parents=1,2 parallel=1,2", 2, 0},
};

#define SHAPES (sizeof(shapes) / sizeof(shapes[0]))

static uint32_t free_port(const struct hd_fabric *fabric, uint32_t sw, uint32_t after)
{
	uint32_t port = after + 1;

	while (fabric->peer[hd_port_index(fabric, sw, port)] != HD_NONE)
		port++;
	return port;
}

static void join(struct hd_builder *builder, const struct hd_fabric *fabric, uint32_t a, uint32_t b,
		 unsigned cables)
{
	uint32_t from = 0, to = 0;

	for (unsigned i = 0; i < cables; i++) {
		from = free_port(fabric, a, from);
		to = free_port(fabric, b, to);
		assert_int_equal(hd_builder_link(builder, a, from, b, to, 4, HD_SPEED_EDR, NULL),
				 0);
	}
}

/* Joins the switches of a level pairwise, at most so many pairs. */
static void join_level(struct hd_builder *builder, const struct hd_fabric *fabric, unsigned level,
		       unsigned pairs, unsigned cables)
{
	uint32_t waiting = HD_NONE;

	for (uint32_t sw = 0; pairs && sw < fabric->switch_count; sw++) {
		if (level_named(fabric, sw) != level)
			continue;
		if (waiting == HD_NONE) {
			waiting = sw;
			continue;
		}
		join(builder, fabric, waiting, sw, cables);
		waiting = HD_NONE;
		pairs--;
	}
}

static struct hd_fabric *plain_tree(const struct shape *shape, unsigned lmc)
{
	struct hd_fabric *fabric = with_lmc(generate(shape->kind, shape->settings), lmc);

	return retold(fabric, &(struct retelling){.extra_ports = shape->leaf_cables +
								 shape->spine_cables + 2});
}

static struct hd_fabric *joined(const struct hd_fabric *plain, const struct shape *shape)
{
	struct hd_builder *builder = hd_builder_from(plain);

	join_level(builder, plain, 1, UINT32_MAX, shape->leaf_cables);
	join_level(builder, plain, 2, 1, shape->spine_cables);
	return rebuilt(builder, copy_of(plain));
}

static bool same_level(const struct hd_fabric *fabric, uint32_t link)
{
	return level_named(fabric, hd_isl_from(fabric, link)) ==
	       level_named(fabric, fabric->isl_to[link]);
}

/* The switch of the host that has a LID, HD_NONE for LIDs of switches. */
static uint32_t leaf_of(const struct hd_fabric *fabric, uint32_t lid)
{
	uint32_t owner = lid < fabric->lid_count ? fabric->lid_owner[lid] : HD_NONE;
	uint32_t host = owner == HD_NONE ? HD_NONE : hd_fabric_find_host(fabric, owner);

	return host == HD_NONE ? HD_NONE : fabric->host_switch[host];
}

/* Entries that take a sideways cable. Fails where one is not for a host at the cable's other end.
 * The checker must find the tables sound, with one lane and no credit loop. */
static uint64_t count_sideways(const struct hd_fabric *fabric, const struct hd_routes *routes)
{
	uint64_t count = 0;

	assert_clean(fabric, routes);
	assert_null(routes->sl);
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		for (uint32_t lid = 0; lid < routes->lid_count; lid++) {
			uint32_t link = link_taken(fabric, routes, sw, lid);
			if (link == HD_NONE || !same_level(fabric, link))
				continue;
			assert_int_equal(leaf_of(fabric, lid), fabric->isl_to[link]);
			count++;
		}
	return count;
}

/* Fails where an entry that takes no sideways cable is not that of the plain tables. */
static void assert_others_equal(const struct hd_fabric *fabric, const struct hd_routes *routes,
				const struct hd_routes *plain)
{
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		for (uint32_t lid = 0; lid < routes->lid_count; lid++) {
			uint32_t link = link_taken(fabric, routes, sw, lid);
			if (link == HD_NONE || !same_level(fabric, link))
				assert_int_equal(hd_routes_port(routes, sw, lid),
						 hd_routes_port(plain, sw, lid));
		}
}

/* Property: with sideways cables the tables are those without, but for the hosts of joined leaves.
 * What these send to each other takes the cables between them, evenly; cables between spines are
 * not used. There is one lane, and no credit loop. So on whole and on damaged trees, with any LMC,
 * and with the tables of the tree without sideways cables in place. */
static void used_between_neighbours_alone(void **state)
{
	(void)state;
	for (unsigned i = 0; i < SHAPES * 3 * 2; i++) {
		const struct shape *shape = &shapes[i % SHAPES];
		struct hd_fabric *plain = plain_tree(shape, i / SHAPES % 3);
		if (i / SHAPES / 3)
			plain = with_links_removed(plain, 2, i);
		struct hd_fabric *fabric = joined(plain, shape);
		struct hd_routes *before = route("dmodk", "", plain);
		struct hd_routes *fresh = route("dmodk", "", fabric);
		struct hd_routes *after = route_after("dmodk", "", fabric, before);
		uint64_t hosts = (uint64_t)plain->host_count << (i / SHAPES % 3);
		assert_int_equal(count_sideways(fabric, fresh), shape->leaf_cables ? hosts : 0);
		assert_others_equal(fabric, fresh, before);
		assert_true(hd_routes_equal(fresh, after));
		assert_ptr_equal(after->labels, before->labels);
		hd_routes_free(before);
		hd_routes_free(fresh);
		hd_routes_free(after);
		hd_fabric_free(fabric);
		hd_fabric_free(plain);
	}
}

/* Property: if as many cables as hosts join two leaves, each cable carries one host's traffic. */
static void spread_over_parallel_cables(void **state)
{
	struct hd_fabric *plain = plain_tree(&shapes[3], 0);
	struct hd_fabric *fabric = joined(plain, &shapes[3]);
	struct hd_routes *routes = route("dmodk", "", fabric);

	(void)state;
	for (uint32_t link = 0; link < fabric->isl_count; link++) {
		uint32_t hosts = 0, sw = hd_isl_from(fabric, link);
		for (uint32_t host = 0; host < fabric->host_count; host++)
			hosts += link_taken(fabric, routes, sw, host_lid(fabric, host)) == link;
		if (same_level(fabric, link))
			assert_int_equal(hosts, 1);
	}
	hd_routes_free(routes);
	hd_fabric_free(fabric);
	hd_fabric_free(plain);
}

/* Property: a sideways cable that is lost moves the entries that took it and no others, and when it
 * is back so are they. */
static void a_lost_cable_moves_its_own_entries(void **state)
{
	(void)state;
	for (unsigned i = 0; i < SHAPES; i++) {
		struct hd_fabric *plain = plain_tree(&shapes[i], 1);
		struct hd_fabric *fabric = joined(plain, &shapes[i]);
		struct hd_routes *whole = route("dmodk", "", fabric);
		for (uint32_t link = 0; link < fabric->isl_count; link++) {
			uint32_t sw = hd_isl_from(fabric, link), far = fabric->isl_to[link];
			if (!same_level(fabric, link) || far < sw)
				continue;
			struct hd_builder *builder = hd_builder_from(fabric);
			hd_builder_unlink(builder, sw, fabric->isl_port[link]);
			struct hd_fabric *left = rebuilt(builder, copy_of(fabric));
			struct hd_routes *routes = route_after("dmodk", "", left, whole);
			struct hd_routes *fresh = route("dmodk", "", left);
			struct hd_routes *back = route_after("dmodk", "", fabric, routes);
			uint32_t reverse = fabric->isl_reverse[link];
			count_sideways(left, routes);
			for (uint32_t at = 0; at < fabric->switch_count; at++)
				for (uint32_t lid = 0; lid < whole->lid_count; lid++) {
					uint32_t taken = link_taken(fabric, whole, at, lid);
					assert_true((taken == link || taken == reverse) ==
						    (hd_routes_port(whole, at, lid) !=
						     hd_routes_port(routes, at, lid)));
				}
			assert_true(hd_routes_equal(routes, fresh));
			assert_true(hd_routes_equal(back, whole));
			hd_routes_free(routes);
			hd_routes_free(fresh);
			hd_routes_free(back);
			hd_fabric_free(left);
		}
		hd_routes_free(whole);
		hd_fabric_free(fabric);
		hd_fabric_free(plain);
	}
}

/* ---- swapped cables ---- */

static const struct shape swapped_shapes[] = {
    {"xgft", "children=4,4,4 parents=1,4,4", 0, 0},
    {"xgft", "children=1,4,4 parents=1,4,4", 0, 0},
    {"xgft", "children=2,6,4 parents=1,3,4", 0, 0},
    {"xgft", "children=3,6 parents=1,3", 0, 0},
};

#define SWAPPED_SHAPES (sizeof(swapped_shapes) / sizeof(swapped_shapes[0]))
#define SWAPS 20

static struct swap swap_of_shape(unsigned shape, uint64_t seed)
{
	struct hd_fabric *plain = plain_tree(&swapped_shapes[shape], 0);
	struct swap swap = swap_cables(plain, seed);

	hd_fabric_free(plain);
	return swap;
}

/* Property: two swapped cables cost these two cables alone. The tables are those of the tree without
 * them, but for the hosts of two leaves that one of them joins. */
static void swapped_cables_cost_these_alone(void **state)
{
	(void)state;
	for (unsigned i = 0; i < SWAPPED_SHAPES * SWAPS; i++) {
		struct swap swap = swap_of_shape(i % SWAPPED_SHAPES, i);
		struct hd_routes *without = route("dmodk", "", swap.without);
		struct hd_routes *fresh = route("dmodk", "", swap.swapped);
		struct hd_routes *after = route_after("dmodk", "", swap.swapped, without);
		struct hd_routes *again = route_after("dmodk", "", swap.swapped, fresh);
		count_sideways(swap.swapped, fresh);
		assert_others_equal(swap.swapped, fresh, without);
		assert_true(hd_routes_equal(fresh, after));
		assert_true(hd_routes_equal(fresh, again));
		hd_routes_free(without);
		hd_routes_free(fresh);
		hd_routes_free(after);
		hd_routes_free(again);
		release_swap(&swap);
	}
}

/* Without the cables of all hosts of a switch. */
static struct hd_fabric *without_hosts(const struct hd_fabric *fabric, uint32_t sw)
{
	struct hd_builder *builder = hd_builder_from(fabric);

	for (uint32_t host = fabric->host_base[sw]; host < fabric->host_base[sw + 1]; host++)
		hd_builder_unlink(builder, sw, fabric->host_switch_port[host]);
	return rebuilt(builder, copy_of(fabric));
}

/* Property: a leaf of a swapped cable that loses all its hosts stays a leaf. No entry for other LIDs
 * moves, and none when the hosts are back. */
static void a_leaf_without_hosts_stays_one(void **state)
{
	(void)state;
	for (unsigned i = 0; i < SWAPPED_SHAPES * SWAPS * 4; i++) {
		struct swap swap = swap_of_shape(i / 4 % SWAPPED_SHAPES, i / 4);
		uint32_t leaf = swap.end[i % 4];
		struct hd_routes *whole = route("dmodk", "", swap.swapped);
		struct hd_fabric *left = without_hosts(swap.swapped, leaf);
		struct hd_routes *lost = route_after("dmodk", "", left, whole);
		struct hd_routes *back = route_after("dmodk", "", swap.swapped, lost);
		for (uint32_t sw = 0; sw < left->switch_count; sw++)
			for (uint32_t lid = 0; lid < whole->lid_count; lid++)
				if (leaf_of(swap.swapped, lid) != leaf)
					assert_int_equal(hd_routes_port(whole, sw, lid),
							 hd_routes_port(lost, sw, lid));
		assert_true(hd_routes_equal(whole, back));
		hd_routes_free(whole);
		hd_routes_free(lost);
		hd_routes_free(back);
		hd_fabric_free(left);
		release_swap(&swap);
	}
}

/* Property: roots from the policy change nothing of this. */
static void roots_of_the_policy(void **state)
{
	struct hd_fabric *plain = plain_tree(&shapes[1], 0);
	uint32_t tops = 0;
	uint64_t roots[64];

	(void)state;
	for (uint32_t sw = 0; sw < plain->switch_count; sw++)
		if (level_named(plain, sw) == 3)
			roots[tops++] = plain->node_guid[sw];
	struct hd_fabric *fabric = joined(plain, &shapes[1]);
	const struct hd_policy policy = {.root_guids = roots, .root_count = tops};
	struct hd_routes *by_hosts = route("dmodk", "", fabric);
	struct hd_routes *by_roots = route_policy("dmodk", "", fabric, &policy);
	assert_true(hd_routes_equal(by_hosts, by_roots));
	uint64_t expected = count_sideways(fabric, by_hosts);
	assert_int_equal(expected, plain->host_count);
	hd_routes_free(by_hosts);
	hd_routes_free(by_roots);
	hd_fabric_free(fabric);
	hd_fabric_free(plain);
}

/* Property: a leaf that only a sideways cable connects is refused with -ENOTSUP, also with the
 * tables in place of the time when it was cabled. */
static void no_bridge_to_the_tree(void **state)
{
	struct hd_fabric *plain = plain_tree(&shapes[0], 0);
	struct hd_fabric *fabric = joined(plain, &shapes[0]);
	struct hd_builder *builder = hd_builder_from(fabric);
	struct hd_routes *before = route("dmodk", "", fabric), *routes = NULL;
	struct hd_error err = {""};
	uint32_t leaf = 0;

	(void)state;
	while (level_named(fabric, leaf) != 1)
		leaf++;
	for (uint32_t link = fabric->isl_base[leaf]; link < fabric->isl_base[leaf + 1]; link++)
		if (!same_level(fabric, link))
			hd_builder_unlink(builder, leaf, fabric->isl_port[link]);
	fabric = rebuilt(builder, fabric);
	for (int again = 0; again < 2; again++) {
		const struct hd_route_request request = {.fabric = fabric,
							 .previous = again ? before : NULL};
		assert_int_equal(route_try("dmodk", "", &request, &routes, &err), -ENOTSUP);
		assert_non_null(strstr(err.text, "joins two switches"));
	}
	hd_routes_free(before);
	hd_fabric_free(fabric);
	hd_fabric_free(plain);
}

/* Property: a fabric with more sideways cables than others is no tree. As many are accepted. */
static void most_cables_must_climb(void **state)
{
	static const struct shape shape = {"xgft", "children=4,4 parents=1,1", 3, 0};
	static const struct shape fewer = {"xgft", "children=4,4 parents=1,1", 2, 0};
	struct hd_fabric *plain = plain_tree(&shape, 0);
	struct hd_fabric *half = joined(plain, &fewer), *most = joined(plain, &shape);
	struct hd_routes *routes = route("dmodk", "", half), *none = NULL;
	struct hd_error err = {""};

	(void)state;
	assert_int_equal(count_sideways(half, routes), plain->host_count);
	assert_int_equal(
	    route_try("dmodk", "", &(struct hd_route_request){.fabric = most}, &none, &err),
	    -ENOTSUP);
	hd_routes_free(routes);
	hd_fabric_free(half);
	hd_fabric_free(most);
	hd_fabric_free(plain);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(used_between_neighbours_alone),
	    cmocka_unit_test(spread_over_parallel_cables),
	    cmocka_unit_test(a_lost_cable_moves_its_own_entries),
	    cmocka_unit_test(swapped_cables_cost_these_alone),
	    cmocka_unit_test(a_leaf_without_hosts_stays_one),
	    cmocka_unit_test(roots_of_the_policy),
	    cmocka_unit_test(no_bridge_to_the_tree),
	    cmocka_unit_test(most_cables_must_climb),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
