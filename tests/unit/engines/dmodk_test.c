/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* dmodk on intact trees: balance, one descent for each host, shift patterns, LMC, refusals. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "engines_testing.h"

#include <errno.h>

struct shape {
	unsigned height;
	uint32_t children[4], parents[4], parallel[4];
};

static const struct shape shapes[] = {
    {2, {4, 4}, {1, 4}, {1, 1}},
    {2, {4, 8}, {1, 2}, {1, 2}},
    {2, {6, 6}, {1, 2}, {1, 3}},
    {2, {6, 4}, {1, 3}, {1, 1}},
    {3, {6, 6, 6}, {1, 6, 6}, {1, 1, 1}},
    {3, {4, 4, 8}, {1, 4, 4}, {1, 1, 1}},
    {3, {4, 2, 4}, {1, 2, 2}, {1, 2, 2}},
    {3, {4, 4, 3}, {1, 2, 2}, {1, 1, 1}},
    {4, {2, 2, 2, 3}, {1, 2, 2, 2}, {1, 1, 1, 1}},
};

#define SHAPES (sizeof(shapes) / sizeof(shapes[0]))

static void print_list(char *text, size_t size, const uint32_t *list, unsigned count)
{
	size_t used = 0;

	for (unsigned i = 0; i < count; i++)
		used += (size_t)snprintf(text + used, size - used, "%s%u", i ? "," : "", list[i]);
}

static struct hd_fabric *tree_of(const struct shape *shape)
{
	char settings[200], children[40], parents[40], parallel[40];

	print_list(children, sizeof(children), shape->children, shape->height);
	print_list(parents, sizeof(parents), shape->parents, shape->height);
	print_list(parallel, sizeof(parallel), shape->parallel, shape->height);
	snprintf(settings, sizeof(settings), "children=%s parents=%s parallel=%s", children,
		 parents, parallel);
	return generate("xgft", settings);
}

/*
 * The smallest possible largest load of all-to-all traffic: the flows that leave a subtree upwards
 * are spread evenly over all its links up, and likewise downwards.
 */
static uint64_t ideal_flows(const struct shape *shape)
{
	uint64_t hosts = 1, below = 1, copies = 1, most = 0;

	for (unsigned level = 0; level < shape->height; level++)
		hosts *= shape->children[level];
	for (unsigned level = 0; level + 1 < shape->height; level++) {
		below *= shape->children[level];
		copies *= shape->parents[level];
		uint64_t links = copies * shape->parents[level + 1] * shape->parallel[level + 1];
		uint64_t flows = (below * (hosts - below) + links - 1) / links;
		most = flows > most ? flows : most;
	}
	return most;
}

/* Property: with the closed form and with counters the busiest link has the fewest flows that any
 * routing can reach. The same holds with other GUIDs and ports, where counters need more passes. */
static void busiest_link_is_ideal(void **state)
{
	(void)state;
	for (unsigned i = 0; i < SHAPES; i++) {
		struct hd_fabric *fabric = tree_of(&shapes[i]);
		uint64_t ideal = ideal_flows(&shapes[i]);
		for (uint64_t seed = 0; seed < 4; seed++) {
			struct hd_routes *closed = route("dmodk", "", fabric);
			struct hd_routes *counted = route(
			    "dmodk", seed ? "method=balanced passes=8" : "method=balanced", fabric);
			assert_clean(fabric, closed);
			assert_clean(fabric, counted);
			assert_int_equal(max_flows(fabric, closed), ideal);
			assert_int_equal(max_flows(fabric, counted), ideal);
			hd_routes_free(closed);
			hd_routes_free(counted);
			fabric =
			    retold(fabric, &(struct retelling){.new_guids = true, .seed = seed});
		}
		hd_fabric_free(fabric);
	}
}

/* Property: the same for generators that derive the shape of the tree themselves. */
static void kary_trees_and_rlfts_are_ideal(void **state)
{
	static const struct {
		const char *kind, *settings;
		uint64_t ideal; /* full bisection: hosts under a subtree = its up-links */
	} trees[] = {
	    {"kary-ntree", "k=4 n=2", 16 - 4},
	    {"kary-ntree", "k=3 n=3", 27 - 3},
	    {"kary-ntree", "k=2 n=4", 16 - 2},
	    {"rlft", "radix=8 levels=2", 32 - 4},
	    {"rlft", "radix=8 levels=2 hosts=16", 16 - 4},
	    {"rlft", "radix=8 levels=2 hosts=8", 8 - 4},
	    {"rlft", "radix=8 levels=3", 128 - 4},
	    {"rlft", "radix=8 levels=3 hosts=64", 64 - 4},
	};
	(void)state;
	for (unsigned i = 0; i < sizeof(trees) / sizeof(trees[0]); i++) {
		struct hd_fabric *fabric = generate(trees[i].kind, trees[i].settings);
		struct hd_routes *closed = route("dmodk", "", fabric);
		struct hd_routes *counted = route("dmodk", "method=balanced", fabric);
		assert_clean(fabric, closed);
		assert_int_equal(max_flows(fabric, closed), trees[i].ideal);
		assert_int_equal(max_flows(fabric, counted), trees[i].ideal);
		hd_routes_free(closed);
		hd_routes_free(counted);
		hd_fabric_free(fabric);
	}
}

/* Property: all paths to a host descend through the same switch of each level, also at the top. */
static void one_way_down(void **state)
{
	(void)state;
	for (unsigned i = 0; i < SHAPES; i++) {
		struct hd_fabric *fabric = tree_of(&shapes[i]);
		struct hd_routes *routes = route("dmodk", "", fabric);
		for (uint32_t host = 0; host < fabric->host_count; host++) {
			uint32_t down[8];
			memset(down, 0xFF, sizeof(down));
			for (uint32_t from = 0; from < fabric->host_count; from++) {
				uint32_t sw = fabric->host_switch[from], link;
				for (; (link = link_taken(fabric, routes, sw,
							  host_lid(fabric, host))) != HD_NONE;
				     sw = fabric->isl_to[link]) {
					unsigned level = level_named(fabric, sw);
					if (level_named(fabric, fabric->isl_to[link]) > level)
						continue;
					if (down[level] != HD_NONE)
						assert_int_equal(down[level], link);
					down[level] = link;
				}
				assert_int_equal(sw, fabric->host_switch[host]);
			}
		}
		hd_routes_free(routes);
		hd_fabric_free(fabric);
	}
}

/* Property (Zahavi, 2010): in a tree with full bisection no two flows of a shift share a link. */
static void shifts_do_not_meet(void **state)
{
	static const unsigned full[] = {0, 4, 5, 6};

	(void)state;
	for (unsigned i = 0; i < sizeof(full) / sizeof(full[0]); i++) {
		struct hd_fabric *fabric = tree_of(&shapes[full[i]]);
		struct hd_routes *routes = route("dmodk", "", fabric);
		uint32_t hosts = fabric->host_count;
		uint32_t *used = calloc(fabric->isl_count, sizeof(*used));
		for (uint32_t shift = 1; shift < hosts; shift++) {
			for (uint32_t from = 0; from < hosts; from++) {
				uint32_t lid = host_lid(fabric, (from + shift) % hosts), link;
				for (uint32_t sw = fabric->host_switch[from];
				     (link = link_taken(fabric, routes, sw, lid)) != HD_NONE;
				     sw = fabric->isl_to[link]) {
					assert_int_not_equal(used[link], shift);
					used[link] = shift;
				}
			}
		}
		free(used);
		hd_routes_free(routes);
		hd_fabric_free(fabric);
	}
}

/* The switches of the highest level on the paths from a switch to all LIDs of a host. */
static uint32_t count_tops(const struct hd_fabric *fabric, const struct hd_routes *routes,
			   uint32_t source, uint32_t host, unsigned lmc, unsigned *level)
{
	bool *seen = calloc(fabric->switch_count, sizeof(*seen));
	uint32_t count = 0;

	for (uint32_t offset = 0; offset < 1u << lmc; offset++) {
		uint32_t lid = host_lid(fabric, host) + offset, top = source, link;
		for (uint32_t sw = source;
		     (link = link_taken(fabric, routes, sw, lid)) != HD_NONE;) {
			sw = fabric->isl_to[link];
			if (level_named(fabric, sw) > level_named(fabric, top))
				top = sw;
		}
		count += !seen[top];
		seen[top] = true;
		*level = level_named(fabric, top);
	}
	free(seen);
	return count;
}

/* Property: with any LMC each LID has clean paths, and the LIDs of a host use as many different top
 * switches as possible. */
static void lids_of_a_host_take_different_tops(void **state)
{
	static const unsigned lmcs[] = {0, 1, 3, 7};

	(void)state;
	for (unsigned i = 0; i < 4; i++) {
		unsigned lmc = lmcs[i], level;
		struct hd_fabric *fabric = with_lmc(tree_of(&shapes[4]), lmc);
		struct hd_routes *routes = route("dmodk", "", fabric);
		assert_int_equal(fabric->host_count, 216);
		assert_clean(fabric, routes);
		for (uint32_t source = 0; source < fabric->switch_count; source++) {
			if (level_named(fabric, source) > 1)
				continue;
			for (uint32_t host = 0; host < fabric->host_count; host += 5) {
				uint32_t tops =
				    count_tops(fabric, routes, source, host, lmc, &level);
				uint32_t copies = level == 1 ? 1 : level == 2 ? 6 : 36;
				uint32_t lids = 1u << lmc;
				assert_int_equal(tops, lids < copies ? lids : copies);
			}
		}
		hd_routes_free(routes);
		hd_fabric_free(fabric);
	}
}

/* The reason must name two switches that a cable joins. */
static void assert_names_a_link(const struct hd_fabric *fabric, const char *text)
{
	for (uint32_t link = 0; link < fabric->isl_count; link++) {
		char near[HD_LABEL_SIZE], far[HD_LABEL_SIZE];
		uint32_t port =
		    hd_port_index(fabric, hd_isl_from(fabric, link), fabric->isl_port[link]);
		hd_port_label(fabric, port, near, sizeof(near));
		hd_port_label(fabric, fabric->peer[port], far, sizeof(far));
		if (strstr(text, near) && strstr(text, far))
			return;
	}
	fail_msg("no link is named in: %s", text);
}

/* Property: dmodk refuses a fabric that is no tree with -ENOTSUP and names a link that shows it. */
static void refuses_what_is_no_tree(void **state)
{
	static const char *const kinds[][2] = {
	    {"torus", "dims=4,4,4"},
	    {"mesh", "dims=3,3"},
	    {"hypercube", "dimensions=4"},
	    {"irregular", "switches=30 radix=8 seed=7"},
	    {"dragonfly-plus", "islands=4 leaves=2 spines=2 hosts=2 global-links=2"},
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		struct hd_fabric *fabric = generate(kinds[i][0], kinds[i][1]);
		struct hd_routes *routes = NULL;
		struct hd_error err = {""};
		assert_int_equal(route_try("dmodk", "",
					   &(struct hd_route_request){.fabric = fabric}, &routes,
					   &err),
				 -ENOTSUP);
		assert_null(routes);
		assert_names_a_link(fabric, err.text);
		hd_fabric_free(fabric);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(busiest_link_is_ideal),
	    cmocka_unit_test(kary_trees_and_rlfts_are_ideal),
	    cmocka_unit_test(one_way_down),
	    cmocka_unit_test(shifts_do_not_meet),
	    cmocka_unit_test(lids_of_a_host_take_different_tops),
	    cmocka_unit_test(refuses_what_is_no_tree),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
