/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* dmodk and updown on damaged and irregular trees: missing links and switches, uneven leaves, hosts
 * on upper switches. */
#include <heddle/base/random.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "engines_testing.h"
#include "oracle_tree.h"

#include <errno.h>

/* True when some leaf with hosts has no way up and down to another, by the generator's levels,
 * though the fabric is in one piece there. */
static bool leaves_are_cut(const struct hd_fabric *fabric)
{
	uint32_t *rank = calloc(fabric->switch_count, sizeof(*rank));
	uint8_t *up = calloc(fabric->isl_count + 1, 1);
	bool *has = calloc(fabric->switch_count, sizeof(*has)), cut = false;

	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		rank[sw] = 100 - level_named(fabric, sw);
	oracle_tree_direct(fabric, rank, up);
	for (uint32_t destination = 0; destination < fabric->switch_count; destination++) {
		oracle_tree_legal(fabric, up, destination, has);
		for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
			cut |= !has[sw] && rank[sw] == 99 && rank[destination] == 99 &&
			       fabric->host_base[sw] < fabric->host_base[sw + 1];
	}
	free(has);
	free(up);
	free(rank);
	return cut;
}

/* Routes that have to be there are, loops of either kind are not; holes only between parts that
 * no path joins. */
static void assert_sound(const struct hd_fabric *fabric, const struct hd_routes *routes,
			 const char *what)
{
	struct hd_check_report *report = check(fabric, routes);
	bool whole = reachable_switches(fabric) == fabric->switch_count;

	if (report->loop || report->credit_loops || report->dead_end || (whole && report->no_route))
		fail_msg("%s: %" PRIu64 " holes %" PRIu64 " dead ends %" PRIu64 " loops %u lanes",
			 what, report->no_route, report->dead_end, report->loop,
			 report->credit_loops);
	hd_check_report_free(report);
}

/* Routes a damaged tree with dmodk. Returns true if it routes, false if it refuses with good
 * reason. */
static bool assert_routed_or_cut(const struct hd_fabric *fabric, const char *what)
{
	struct hd_routes *routes = NULL;
	struct hd_error err = {""};
	int rc =
	    route_try("dmodk", "", &(struct hd_route_request){.fabric = fabric}, &routes, &err);

	if (!rc)
		assert_sound(fabric, routes, what);
	else if (rc != -ENOTSUP || !leaves_are_cut(fabric))
		fail_msg("%s is refused: %s", what, err.text);
	hd_routes_free(routes);
	return !rc;
}

static const char *const trees[] = {
    "children=6,6,6 parents=1,6,6",
    "children=4,4,4 parents=1,2,2",
    "children=4,6 parents=1,2 parallel=1,2",
    "children=3,3,3 parents=1,3,3 parallel=1,1,2",
};

/* Property: whichever links are missing, the tables have no fault, or no legal path is left between
 * two leaves. */
static void links_missing(void **state)
{
	unsigned routed = 0, tried = 0;

	(void)state;
	for (unsigned tree = 0; tree < 4; tree++) {
		for (uint64_t seed = 0; seed < 12; seed++) {
			double percent = 1 + (double)(seed % 4) * 5;
			struct hd_fabric *fabric =
			    with_links_removed(generate("xgft", trees[tree]), percent, seed);
			routed += assert_routed_or_cut(fabric, trees[tree]);
			tried++;
			hd_fabric_free(fabric);
		}
	}
	print_message("links missing: %u of %u still trees\n", routed, tried);
	assert_true(routed > tried / 2);
}

/* Property: the same without some spines. Without one spine, the fabric is always still a tree. */
static void switches_missing(void **state)
{
	(void)state;
	for (unsigned tree = 0; tree < 4; tree++) {
		for (uint64_t seed = 0; seed < 8; seed++) {
			struct hd_fabric *fabric = generate("xgft", trees[tree]);
			bool *gone = calloc(fabric->node_count, sizeof(*gone));
			uint64_t random = seed;
			for (unsigned i = 0; i < 1 + seed % 3; i++) {
				uint32_t sw;
				do
					sw = (uint32_t)hd_random_below(&random,
								       fabric->switch_count);
				while (level_named(fabric, sw) == 1);
				gone[sw] = true;
			}
			fabric = retold(fabric, &(struct retelling){.gone = gone});
			bool routed = assert_routed_or_cut(fabric, trees[tree]);
			assert_true(routed || seed % 3);
			free(gone);
			hd_fabric_free(fabric);
		}
	}
}

/* Property: leaves with few hosts, or without hosts, are still leaves. */
static void leaves_uneven(void **state)
{
	(void)state;
	for (unsigned tree = 0; tree < 4; tree++) {
		for (uint64_t seed = 0; seed < 8; seed++) {
			struct hd_fabric *fabric = with_hosts_removed(
			    generate("xgft", trees[tree]), 15 + 10 * (unsigned)seed, seed);
			struct hd_routes *routes = route("dmodk", "", fabric);
			assert_clean(fabric, routes);
			hd_routes_free(routes);
			hd_fabric_free(fabric);
		}
	}
}

/* Adds a host to each of the first `count` switches of a level. */
static struct hd_fabric *tree_with_upper_hosts(const char *settings, unsigned level, unsigned count)
{
	struct hd_fabric *fabric = with_free_ports(generate("xgft", settings), 1);

	for (uint32_t sw = 0; count && sw < fabric->switch_count; sw++)
		if (level_named(fabric, sw) == level) {
			fabric = with_host_at(fabric, sw, 0x900000 + 16 * sw);
			count--;
		}
	return fabric;
}

/* Property: a host on an upper switch has paths to and from all hosts, on one lane. */
static void host_on_an_upper_switch(void **state)
{
	(void)state;
	for (unsigned tree = 0; tree < 4; tree++) {
		for (unsigned level = 2; level <= 2 + (tree != 2); level++) {
			struct hd_fabric *fabric = tree_with_upper_hosts(trees[tree], level, 1);
			struct hd_routes *dmodk = route("dmodk", "", fabric);
			struct hd_routes *updown = route("updown", "", fabric);
			assert_clean(fabric, dmodk);
			assert_clean(fabric, updown);
			hd_routes_free(dmodk);
			hd_routes_free(updown);
			hd_fabric_free(fabric);
		}
	}
}

/* Property: the same holds for hosts on several top switches, though a top switch two steps above
 * the leaves could be mistaken for a leaf. */
static void hosts_on_many_tops(void **state)
{
	(void)state;
	for (unsigned tree = 0; tree < 4; tree++) {
		for (unsigned count = 2; count <= 4; count++) {
			struct hd_fabric *fabric =
			    tree_with_upper_hosts(trees[tree], tree == 2 ? 2 : 3, count);
			struct hd_routes *dmodk = route("dmodk", "", fabric);
			struct hd_routes *updown = route("updown", "", fabric);
			assert_clean(fabric, dmodk);
			assert_clean(fabric, updown);
			hd_routes_free(dmodk);
			hd_routes_free(updown);
			hd_fabric_free(fabric);
		}
	}
}

/* Property: with hosts on many upper switches the tables of dmodk are clean, or dmodk refuses
 * because of a credit loop. updown, which chooses its root, always has clean tables. */
static void hosts_on_many_levels(void **state)
{
	unsigned routed = 0, tried = 0;

	(void)state;
	for (unsigned tree = 0; tree < 4; tree++) {
		for (unsigned count = 2; count <= 8; count += 2) {
			struct hd_error err = {""};
			struct hd_fabric *fabric = tree_with_upper_hosts(trees[tree], 2, count);
			struct hd_routes *dmodk = NULL, *updown = route("updown", "", fabric);
			struct hd_route_request request = {.fabric = fabric};
			int rc = route_try("dmodk", "", &request, &dmodk, &err);
			if (rc && !(rc == -ENOTSUP && strstr(err.text, "credit loop")))
				fail_msg("%s: %s", trees[tree], err.text);
			if (!rc)
				assert_clean(fabric, dmodk);
			routed += !rc;
			tried++;
			assert_clean(fabric, updown);
			hd_routes_free(dmodk);
			hd_routes_free(updown);
			hd_fabric_free(fabric);
		}
	}
	print_message("hosts on many levels: dmodk routed %u of %u\n", routed, tried);
	assert_true(routed > tried / 4);
}

/* Property: a lost link costs little balance: the busiest link has at most twice the flows of the
 * busiest link in the intact tree. */
static void balance_survives_a_lost_link(void **state)
{
	(void)state;
	for (unsigned tree = 0; tree < 4; tree++) {
		struct hd_fabric *whole = generate("xgft", trees[tree]);
		struct hd_routes *before = route("dmodk", "", whole);
		for (uint32_t link = 0; link < whole->isl_count; link += 17) {
			struct hd_fabric *fabric = without_link(copy_of(whole), link);
			struct hd_routes *after = route("dmodk", "", fabric);
			assert_clean(fabric, after);
			assert_true(max_flows(fabric, after) <= 2 * max_flows(whole, before));
			hd_routes_free(after);
			hd_fabric_free(fabric);
		}
		hd_routes_free(before);
		hd_fabric_free(whole);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(links_missing),
	    cmocka_unit_test(switches_missing),
	    cmocka_unit_test(leaves_uneven),
	    cmocka_unit_test(host_on_an_upper_switch),
	    cmocka_unit_test(hosts_on_many_tops),
	    cmocka_unit_test(hosts_on_many_levels),
	    cmocka_unit_test(balance_survives_a_lost_link),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
