/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "engines_testing.h"
#include "lane_assignment.h"
#include "lane_climb.h"
#include "oracle_lanes.h"

#include <errno.h>
#include <heddle/base/random.h>
#include <heddle/engines/lanes.h>

/* Tables of spf without a lane assignment. */
static struct hd_routes *plain(const struct hd_fabric *fabric)
{
	return route("spf", "balance=loads deadlock=off", fabric);
}

static struct hd_lanes assign(const struct hd_lanes_request *request, struct hd_routes *routes)
{
	struct hd_lanes lanes = {0};
	struct hd_error err = {""};

	if (hd_lanes_assign(request, routes, &lanes, &err))
		fail_msg("lanes: %s", err.text);
	return lanes;
}

static unsigned lanes_checked(const struct hd_fabric *fabric, const struct hd_routes *routes)
{
	struct hd_check_report *report = check(fabric, routes);
	unsigned lanes = report->lanes;

	assert_int_equal(report->credit_loops, 0);
	hd_check_report_free(report);
	return lanes;
}

/* A connected random fabric with cycles, LMC 0 to 2. */
static struct hd_fabric *draw_irregular(uint64_t number, unsigned switches_most)
{
	char settings[128];
	uint64_t seed = number * 977 + 5;
	unsigned switches = 2 + (unsigned)hd_random_below(&seed, switches_most - 1);

	snprintf(settings, sizeof(settings), "switches=%u radix=%u hosts=%u seed=%u", switches,
		 5 + (unsigned)hd_random_below(&seed, 4), 1 + (unsigned)hd_random_below(&seed, 2),
		 (unsigned)number + 1);
	struct hd_fabric *fabric = generate("irregular", settings);
	if (number % 3 == 1)
		fabric = with_links_removed(fabric, 15, number);
	return with_lmc(fabric, (unsigned)(number % 3));
}

/* Property: the first round gives every path the same lane as the slow oracle, which searches the
 * complete graph for every step, on connected and on damaged fabrics. */
static void first_fit_is_the_oracles(void **state)
{
	(void)state;
	for (uint64_t number = 0; number < 150; number++) {
		struct hd_fabric *fabric = draw_irregular(number, 14);
		struct hd_routes *routes = plain(fabric);
		size_t size = (size_t)routes->switch_count * routes->stride;
		uint8_t *fast = calloc(size, 1), *slow = calloc(size, 1);
		struct lane_assignment assignment;
		assert_int_equal(lane_assignment_init(&assignment, fabric, routes), 0);
		assert_int_equal(lane_assignment_fill(&assignment, fast), 0);
		assert_int_equal(assignment.used, oracle_lanes_assign(fabric, routes, slow));
		assert_memory_equal(fast, slow, size);
		lane_assignment_release(&assignment);
		free(fast);
		free(slow);
		hd_routes_free(routes);
		hd_fabric_free(fabric);
	}
}

/* Property: another round never needs more lanes. */
static void rounds_never_need_more(void **state)
{
	(void)state;
	for (uint64_t number = 0; number < 40; number++) {
		struct hd_fabric *fabric = draw_irregular(number, 40);
		struct hd_routes *routes = plain(fabric);
		size_t size = (size_t)routes->switch_count * routes->stride;
		uint8_t *tables[2] = {calloc(size, 1), calloc(size, 1)};
		struct lane_assignment assignment;
		assert_int_equal(lane_assignment_init(&assignment, fabric, routes), 0);
		assert_int_equal(lane_assignment_fill(&assignment, tables[0]), 0);
		for (unsigned round = 0; round < 6; round++) {
			unsigned before = assignment.used;
			assert_int_equal(lane_assignment_refill(&assignment, tables[round % 2],
								before, tables[1 - round % 2]),
					 0);
			assert_in_range(assignment.used, 0, before);
		}
		lane_assignment_release(&assignment);
		free(tables[0]);
		free(tables[1]);
		hd_routes_free(routes);
		hd_fabric_free(fabric);
	}
}

/* Property: no lane has a credit loop, spread or not. The checker counts as many lanes as the
 * result says; with spread these are all data lanes. The forwarding tables do not change. */
static void lanes_are_free_of_loops(void **state)
{
	(void)state;
	static const char *const fabrics[][2] = {
	    {"torus", "dims=4,4,4 hosts=1"},
	    {"torus", "dims=5,5 hosts=2"},
	    {"torus", "dims=7 hosts=3"},
	    {"irregular", "switches=40 radix=10 seed=3"},
	    {"hypercube", "dimensions=5"},
	    {"irregular", "switches=15 radix=5 hosts=1 cycles=9 seed=1"}};
	for (unsigned i = 0; i < sizeof(fabrics) / sizeof(*fabrics); i++) {
		struct hd_fabric *fabric = generate(fabrics[i][0], fabrics[i][1]);
		struct hd_routes *routes = plain(fabric), *before = plain(fabric);
		struct hd_lanes_request request = {
		    .fabric = fabric, .available = 8, .spread = HD_SPREAD_NEEDED};
		struct hd_lanes lanes = assign(&request, routes);
		assert_int_equal(lanes.used, lanes.needed);
		assert_int_equal(lanes_checked(fabric, routes), lanes.used);
		request.spread = HD_SPREAD_ALL;
		struct hd_lanes spread = assign(&request, routes);
		assert_int_equal(spread.needed, lanes.needed);
		assert_int_equal(spread.used, 8);
		assert_int_equal(lanes_checked(fabric, routes), 8);
		assert_int_equal(hd_routes_count_changes(routes, before), 0);
		hd_routes_free(before);
		hd_routes_free(routes);
		hd_fabric_free(fabric);
	}
}

/* Property: if all paths are legal, one lane is enough, and there is no table of levels. A ring of
 * five, whose shortest paths have a credit loop, needs two lanes. */
static void known_numbers(void **state)
{
	(void)state;
	static const struct {
		const char *kind, *settings;
		unsigned needed;
	} known[] = {{"xgft", "children=4,4 parents=1,4", 1},
		     {"kary-ntree", "k=3 n=3", 1},
		     {"irregular", "switches=20 radix=6 cycles=0", 1},
		     {"torus", "dims=5", 2},
		     {"mesh", "dims=9", 1}};
	for (unsigned i = 0; i < sizeof(known) / sizeof(*known); i++) {
		struct hd_fabric *fabric = generate(known[i].kind, known[i].settings);
		struct hd_routes *routes = plain(fabric);
		struct hd_lanes_request request = {.fabric = fabric, .available = 15};
		assert_int_equal(assign(&request, routes).needed, known[i].needed);
		assert_true((routes->sl != NULL) == (known[i].needed > 1));
		hd_routes_free(routes);
		hd_fabric_free(fabric);
	}
}

/* Property: routes that need one lane use one, unless all lanes are requested. */
static void one_lane_is_left_alone(void **state)
{
	(void)state;
	struct hd_fabric *tree = generate("xgft", "children=4,4 parents=1,4");
	static const char *const engines[] = {"dmodk", "updown", "spf", "multipath"};
	for (unsigned i = 0; i < sizeof(engines) / sizeof(*engines); i++) {
		struct hd_routes *routes = route(engines[i], "", tree);
		assert_null(routes->sl);
		hd_routes_free(routes);
		routes = route(engines[i], "spread=all", tree);
		assert_int_equal(lanes_checked(tree, routes), 8);
		hd_routes_free(routes);
	}
	hd_fabric_free(tree);
}

/* Property: routes that need one lane were spread over more lanes than are usable now. They are
 * spread again and keep their own trees. */
static void fewer_lanes_than_before(void **state)
{
	(void)state;
	struct hd_fabric *tree = generate("xgft", "children=4,4 parents=1,4");
	struct hd_routes *before = route("dmodk", "spread=all", tree), *routes = plain(tree);
	struct hd_lanes_request request = {.fabric = tree,
					   .available = 3,
					   .spread = HD_SPREAD_ALL,
					   .one_is_enough = true,
					   .share = true,
					   .previous = before};
	struct hd_lanes lanes = assign(&request, routes);
	assert_int_equal(lanes.needed, 1);
	assert_int_equal(lanes.used, 3);
	assert_int_equal(lanes.shared, 0);
	assert_false(lanes.kept);
	assert_int_equal(lanes_checked(tree, routes), 3);
	hd_routes_free(before);
	hd_routes_free(routes);
	hd_fabric_free(tree);
}

/* Property: spreading divides the routes of one lane evenly, by destination. */
static void spread_is_even(void **state)
{
	(void)state;
	struct hd_fabric *fabric = generate("xgft", "children=8,4 parents=1,8");
	struct hd_routes *routes = plain(fabric);
	struct hd_lanes_request request = {
	    .fabric = fabric, .available = 4, .spread = HD_SPREAD_ALL, .one_is_enough = true};
	assert_int_equal(assign(&request, routes).used, 4);
	unsigned count[4] = {0};
	for (uint32_t host = 0; host < fabric->host_count; host++)
		for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
			if (fabric->host_base[sw] != fabric->host_base[sw + 1] &&
			    sw != fabric->host_switch[host])
				count[hd_routes_vl(routes, sw, host_lid(fabric, host))]++;
	for (unsigned lane = 0; lane < 4; lane++)
		assert_int_equal(count[lane], 32 * 3 / 4);
	hd_routes_free(routes);
	hd_fabric_free(fabric);
}

/* Property: too few lanes are refused with the number that is needed, and the routes do not change.
 * Impossible numbers are refused too. */
static void refusals(void **state)
{
	(void)state;
	struct hd_fabric *fabric = generate("torus", "dims=4,4,4 hosts=1");
	struct hd_fabric *other = generate("torus", "dims=4,4 hosts=1");
	struct hd_routes *routes = plain(fabric), *before = plain(fabric);
	struct hd_lanes_request request = {.fabric = fabric, .available = 2};
	struct hd_error err = {""};
	assert_int_equal(hd_lanes_assign(&request, routes, NULL, &err), -ENOSPC);
	assert_non_null(strstr(
	    err.text,
	    "its paths need 3 virtual lanes against credit loops, of which 2 are available"));
	request.available = 16;
	assert_int_equal(hd_lanes_assign(&request, routes, NULL, &err), -EINVAL);
	request.available = 0;
	assert_int_equal(hd_lanes_assign(&request, routes, NULL, &err), -EINVAL);
	request = (struct hd_lanes_request){.fabric = other, .available = 8};
	assert_int_equal(hd_lanes_assign(&request, routes, NULL, &err), -EINVAL);
	assert_true(hd_routes_equal(routes, before));
	hd_routes_free(before);
	hd_routes_free(routes);
	hd_fabric_free(other);
	hd_fabric_free(fabric);
}

/* Counts the entries in which two LIDs differ, without the switch `destination`. */
static uint32_t entries_apart(const struct hd_routes *a, uint32_t lid, const struct hd_routes *b,
			      uint32_t other, uint32_t destination)
{
	uint32_t apart = 0;

	for (uint32_t sw = 0; sw < a->switch_count; sw++)
		apart +=
		    sw != destination && hd_routes_port(a, sw, lid) != hd_routes_port(b, sw, other);
	return apart;
}

/* Expects that every LID of the host keeps its entries or has those of another of its LIDs. Returns
 * how many do not keep theirs. */
static uint32_t count_shared(const struct hd_fabric *fabric, uint32_t host,
			     const struct hd_routes *before, const struct hd_routes *after)
{
	uint32_t first = host_lid(fabric, host), destination = fabric->host_switch[host],
		 shared = 0;

	for (uint32_t lid = first; lid < first + 32; lid++) {
		bool like_another = false;
		if (!entries_apart(before, lid, after, lid, destination))
			continue;
		for (uint32_t other = first; other < first + 32; other++)
			like_another |=
			    other != lid && !entries_apart(after, lid, after, other, destination);
		assert_true(like_another);
		shared++;
	}
	return shared;
}

/* Property: if lanes are short and sharing is allowed, LIDs get the entries of another LID of their
 * switch, and the tables are clean. Base LIDs of the first hosts keep theirs. Given as previous
 * tables, the result comes out again. */
static void trees_are_shared(void **state)
{
	(void)state;
	struct hd_fabric *fabric = with_lmc(generate("torus", "dims=4,4,4 hosts=1"), 5);
	struct hd_routes *routes = plain(fabric), *before = plain(fabric);
	struct hd_lanes_request request = {.fabric = fabric, .available = 4};
	struct hd_error err = {""};
	assert_int_equal(hd_lanes_assign(&request, routes, NULL, &err), -ENOSPC);
	assert_true(hd_routes_equal(routes, before));
	request.share = true;
	struct hd_lanes lanes = assign(&request, routes);
	assert_in_range(lanes.needed, 5, 15);
	assert_in_range(lanes.shared, 1, 64 * 31);
	assert_int_equal(lanes_checked(fabric, routes), 4);
	assert_clean(fabric, routes);
	uint32_t shared = 0;
	for (uint32_t host = 0; host < fabric->host_count; host++) {
		uint32_t lid = host_lid(fabric, host);
		assert_int_equal(entries_apart(before, lid, routes, lid, HD_NONE), 0);
		shared += count_shared(fabric, host, before, routes);
	}
	assert_in_range(shared, 1, lanes.shared);
	struct hd_routes *again = plain(fabric);
	memcpy(again->lft, routes->lft, (size_t)routes->switch_count * routes->stride);
	request.previous = routes;
	assert_int_equal(assign(&request, again).moved, 0);
	assert_true(hd_routes_equal(routes, again));
	hd_routes_free(again);
	hd_routes_free(before);
	hd_routes_free(routes);
	hd_fabric_free(fabric);
}

/* Property: an engine refuses with -ENOSPC, unless its option is deadlock=drop or deadlock=off,
 * which it remarks. */
static void engines_obey_their_options(void **state)
{
	(void)state;
	struct hd_fabric *fabric = generate("torus", "dims=4,4,4 hosts=1");
	struct remarks remarks = {""};
	struct hd_log log = {.write = remark, .context = &remarks};
	struct hd_route_request request = {.fabric = fabric, .lanes = 1, .log = &log};
	struct hd_routes *routes = NULL;
	struct hd_error err = {""};
	assert_int_equal(route_try("spf", "balance=loads", &request, &routes, &err), -ENOSPC);
	assert_non_null(strstr(err.text, "even with one tree a switch, of which 1 is available"));
	assert_null(routes);
	routes = route_request("spf", "balance=loads deadlock=drop", &request);
	assert_null(routes->sl);
	assert_non_null(strstr(remarks.text, "head-of-queue lifetimes"));
	hd_routes_free(routes);
	routes = route_request("spf", "balance=loads deadlock=off", &request);
	assert_non_null(strstr(remarks.text, "NOTHING IS DONE AGAINST DEADLOCK"));
	hd_routes_free(routes);
	request.lanes = 8;
	assert_int_equal(route_try("spf", "balance=loads vls=2", &request, &routes, &err), -ENOSPC);
	routes = route_request("spf", "balance=loads vls=5", &request);
	assert_int_equal(lanes_checked(fabric, routes), 5);
	hd_routes_free(routes);
	request.lanes = 0; /* unknown, as offline: a larger request is possible */
	routes = route_request("spf", "balance=loads vls=12", &request);
	assert_int_equal(lanes_checked(fabric, routes), 12);
	hd_routes_free(routes);
	routes = route_request("spf", "balance=loads spread=needed", &request);
	assert_int_equal(lanes_checked(fabric, routes), 3);
	hd_routes_free(routes);
	hd_fabric_free(fabric);
}

/* Property: with previous tables a path keeps its lane unless that closes a cycle. The same fabric
 * gets the same lanes, and after a lost cable few paths change theirs. */
static void routes_keep_their_lanes(void **state)
{
	(void)state;
	struct hd_fabric *fabric = generate("torus", "dims=4,4,4 hosts=1");
	struct hd_routes *first = route("spf", "balance=loads", fabric), *previous = NULL;
	struct hd_routes *again = route_after("spf", "balance=loads", fabric, first);
	struct hd_error err = {""};
	assert_true(hd_routes_equal(first, again));
	assert_int_equal(hd_routes_rebase(fabric, first, fabric, &previous, &err), 0);
	assert_true(hd_routes_equal(first, previous));
	hd_routes_free(previous);
	struct hd_fabric *cut = without_link(copy_of(fabric), 17);
	assert_int_equal(hd_routes_rebase(fabric, first, cut, &previous, &err), 0);
	struct hd_routes *kept = route_after("spf", "balance=loads deadlock=off", cut, previous);
	struct hd_lanes_request request = {.fabric = cut, .available = 8, .previous = previous};
	struct hd_lanes lanes = assign(&request, kept);
	assert_int_equal(lanes_checked(cut, kept), lanes.used);
	assert_in_range(lanes.moved, 0, 64 * 63 / 50);
	hd_routes_free(kept);
	hd_routes_free(previous);
	hd_routes_free(again);
	/* Tables without service levels say nothing of lanes, and lanes that are left over are
	 * used. */
	free(first->sl);
	first->sl = NULL;
	again = route_after("spf", "balance=loads spread=needed", fabric, first);
	assert_int_equal(lanes_checked(fabric, again), 3);
	kept = route_after("spf", "balance=loads spread=all", fabric, again);
	assert_int_equal(lanes_checked(fabric, kept), 8);
	hd_routes_free(kept);
	hd_routes_free(again);
	hd_routes_free(first);
	hd_fabric_free(cut);
	hd_fabric_free(fabric);
}

/* Property: tables with holes and loops do no harm: the paths that arrive have no credit loop. */
static void any_tables_will_do(void **state)
{
	(void)state;
	for (uint64_t number = 0; number < 60; number++) {
		struct hd_fabric *fabric = draw_irregular(number, 20);
		struct hd_routes *routes = plain(fabric);
		uint64_t seed = number;
		for (size_t i = 0; i < (size_t)routes->switch_count * routes->stride; i++)
			if (hd_random_below(&seed, 8) == 0)
				routes->lft[i] = (uint8_t)hd_random_below(&seed, 256);
		struct hd_lanes_request request = {.fabric = fabric, .available = 15};
		assign(&request, routes);
		lanes_checked(fabric, routes);
		hd_routes_free(routes);
		hd_fabric_free(fabric);
	}
}

/* Whether a path to a LID climbs after it has descended, or goes sideways. */
static bool path_is_broken(const struct hd_fabric *fabric, const struct hd_routes *routes,
			   const uint32_t *level, uint32_t sw, uint32_t lid)
{
	bool descended = false;

	for (uint32_t hops = 0; hops <= fabric->switch_count; hops++) {
		uint32_t link = link_taken(fabric, routes, sw, lid);
		if (link == HD_NONE ||
		    sw == fabric->port_node[fabric->peer[fabric->lid_owner[lid]]])
			return false;
		uint32_t far = fabric->isl_to[link];
		if (level[far] == level[sw] || (descended && level[far] > level[sw]))
			return true;
		descended |= level[far] < level[sw];
		sw = far;
	}
	return true;
}

/* Whether lane_climb_prove() proves the tables, and whether walks from all hosts do. */
static bool climb_proved(const struct hd_fabric *fabric, const struct hd_routes *routes,
			 bool *walked)
{
	uint32_t *level = calloc(fabric->switch_count, sizeof(*level));
	bool proved = false;

	assert_int_equal(hd_fabric_levels(fabric, level, NULL), 0);
	assert_int_equal(lane_climb_prove(fabric, routes, 1, NULL, &proved, NULL), 0);
	*walked = true;
	for (uint32_t from = 0; from < fabric->host_count; from++)
		for (uint32_t to = 0; to < fabric->host_count; to++)
			*walked &= !path_is_broken(fabric, routes, level, fabric->host_switch[from],
						   host_lid(fabric, to));
	free(level);
	return proved;
}

/* Property: the quick proof holds for the tables of damaged trees exactly if a walk of all paths
 * from hosts finds none that climbs after it has descended. One wrong entry does not change that. */
static void the_quick_proof_is_right(void **state)
{
	(void)state;
	unsigned proofs = 0, refusals_of_it = 0, wrong = 0;
	for (uint64_t number = 0; number < 400; number++) {
		uint64_t seed = number;
		struct hd_fabric *fabric =
		    with_links_removed(generate("xgft", "children=4,4,3 parents=1,3,3"),
				       1 + (unsigned)hd_random_below(&seed, 12), number);
		struct hd_routes *routes = plain(fabric);
		bool walked, proved = climb_proved(fabric, routes, &walked);
		assert_int_equal(proved, walked);
		proofs += proved;
		refusals_of_it += !proved;
		uint32_t sw = (uint32_t)hd_random_below(&seed, fabric->switch_count);
		uint32_t lid =
		    host_lid(fabric, (uint32_t)hd_random_below(&seed, fabric->host_count));
		uint32_t links = fabric->isl_base[sw + 1] - fabric->isl_base[sw];
		uint32_t link =
		    fabric->isl_base[sw] + (uint32_t)hd_random_below(&seed, links ? links : 1);
		if (links)
			hd_routes_row(routes, sw)[lid] = fabric->isl_port[link];
		bool again = climb_proved(fabric, routes, &walked);
		assert_int_equal(again, walked);
		wrong += proved && !again;
		hd_routes_free(routes);
		hd_fabric_free(fabric);
	}
	print_message("%u proofs, %u refusals, %u more by one wrong entry\n", proofs,
		      refusals_of_it, wrong);
	assert_true(proofs > 20 && refusals_of_it > 20 && wrong > 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(first_fit_is_the_oracles),
					   cmocka_unit_test(rounds_never_need_more),
					   cmocka_unit_test(lanes_are_free_of_loops),
					   cmocka_unit_test(known_numbers),
					   cmocka_unit_test(spread_is_even),
					   cmocka_unit_test(one_lane_is_left_alone),
					   cmocka_unit_test(fewer_lanes_than_before),
					   cmocka_unit_test(refusals),
					   cmocka_unit_test(engines_obey_their_options),
					   cmocka_unit_test(routes_keep_their_lanes),
					   cmocka_unit_test(any_tables_will_do),
					   cmocka_unit_test(trees_are_shared),
					   cmocka_unit_test(the_quick_proof_is_right)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
