/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* multipath by path bits: the paper's example, and the slow oracle on random fabrics. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "multipath_testing.h"

#include <errno.h>

/* ---- the paper's example ---- */

/* Port by which `sw` forwards to the host of `to` for these path bits, "1X" for 10 and 11. */
static void assert_forwards(const struct hd_fabric *fabric, const struct hd_routes *routes,
			    uint32_t sw, uint32_t to, const char *bits, uint32_t next)
{
	for (uint32_t offset = 0; offset < 4; offset++) {
		bool matches = true;
		for (unsigned i = 0; i < 2; i++)
			matches &= bits[i] == 'X' || (uint32_t)(bits[i] - '0') == (offset >> i & 1);
		if (matches)
			assert_int_equal(hd_routes_port(routes, sw, host_lid(fabric, to) + offset),
					 next + 1);
	}
}

/*
 * From b to a: `ba` is 1X, `bca` 01, `bdca` 00. From a to b: `ab` is 0X, `acb` 10 and `acdb` 11,
 * so that a sends 0X to b and 1X to c. From everywhere else what follows from that.
 */
static void paper_example_is_forwarded(void **state)
{
	(void)state;
	struct hd_fabric *fabric = paper_example(2);
	struct hd_routes *routes = route("multipath", "deadlock=off", fabric);
	assert_forwards(fabric, routes, B, A, "1X", A);
	assert_forwards(fabric, routes, B, A, "01", C);
	assert_forwards(fabric, routes, B, A, "00", D);
	assert_forwards(fabric, routes, A, B, "0X", B);
	assert_forwards(fabric, routes, A, B, "1X", C);
	assert_forwards(fabric, routes, C, B, "10", B);
	assert_forwards(fabric, routes, C, B, "11", D);
	assert_forwards(fabric, routes, D, A, "00", C);
	for (uint32_t sw = 0; sw < 4; sw++)
		assert_int_equal(hd_routes_port(routes, sw, host_lid(fabric, sw)), 5);
	assert_int_equal(distinct_ways(fabric, routes, B, A), 3);
	assert_int_equal(distinct_ways(fabric, routes, A, B), 3);
	assert_int_equal(distinct_ways(fabric, routes, A, D), 4);
	assert_arrives(fabric, routes);
	hd_routes_free(routes);
	hd_fabric_free(fabric);
}

/* ---- random fabrics ---- */

struct tally {
	unsigned fabrics, by_cycles[8], theorem[8];
	uint64_t pairs, simple, usable;
	uint64_t single; /* pairs with several simple paths of which LIDs use one */
};

/* Ways that the LIDs of a host are sent, and simple paths there are, for every pair. */
static void count_ways(const struct hd_fabric *fabric, const struct hd_cycles *cycles,
		       const struct hd_routes *fast, const struct hd_routes *slow,
		       struct tally *tally)
{
	uint32_t most = 1;

	for (uint32_t from = 0; from < fabric->switch_count; from++)
		for (uint32_t host = 0; host < fabric->host_count; host++) {
			struct hd_arena arena = {0};
			struct oracle_multipath_paths paths;
			if (fabric->host_switch[host] == from)
				continue;
			uint32_t ways = distinct_ways(fabric, fast, from, host);
			assert_true(oracle_multipath_list(
			    fabric, cycles, from, fabric->host_switch[host], &arena, &paths));
			assert_int_equal(ways, distinct_ways(fabric, slow, from, host));
			assert_in_range(paths.count, 1, 1u << cycles->count);
			assert_in_range(ways, 1, paths.count);
			tally->single += paths.count > 1 && ways == 1;
			most = paths.count > most ? paths.count : most;
			tally->pairs++;
			tally->simple += paths.count;
			tally->usable += ways;
			hd_arena_release(&arena);
		}
	tally->by_cycles[cycles->count]++;
	tally->theorem[cycles->count] += most == 1u << cycles->count;
}

static void compare_with_oracle(uint64_t number, const char *match, struct tally *tally)
{
	char recipe[200];
	unsigned bits = (unsigned)(number % 8);
	struct hd_fabric *fabric = with_lmc(draw_cyclic(number, 12, bits, recipe), bits);
	uint32_t root = (uint32_t)(number / 8 % fabric->switch_count);
	struct hd_cycles *cycles = cycles_of(fabric, root, bits);
	struct hd_routes *spf = route("spf", "deadlock=off", fabric);
	struct hd_routes *fast = route_rooted(fabric, root, match);
	struct hd_routes *slow =
	    oracle_multipath_route(fabric, cycles, spf, strstr(match, "all") != NULL, false);

	assert_int_equal(cycles->count, bits);
	assert_int_equal(cycles->kept, bits);
	if (hd_routes_count_changes(fast, slow))
		fail_msg("%s %s: %" PRIu64 " entries differ from the oracle's", recipe, match,
			 hd_routes_count_changes(fast, slow));
	assert_arrives(fabric, fast);
	count_ways(fabric, cycles, fast, slow, tally);
	tally->fabrics++;
	hd_routes_free(slow);
	hd_routes_free(fast);
	hd_routes_free(spf);
	hd_cycles_free(cycles);
	hd_fabric_free(fabric);
}

static void report(const char *match, const struct tally *tally)
{
	print_message(
	    "%s, %u fabrics: %.2f simple paths a pair, %.2f of them in use, one alone for "
	    "%" PRIu64 " of %" PRIu64 " pairs; some pair has 2^C paths on",
	    match, tally->fabrics, (double)tally->simple / (double)tally->pairs,
	    (double)tally->usable / (double)tally->pairs, tally->single, tally->pairs);
	for (unsigned cycles = 0; cycles < 8; cycles++)
		print_message(" %u/%u (C=%u)", tally->theorem[cycles], tally->by_cycles[cycles],
			      cycles);
	print_message("\n");
}

/*
 * Property, on 500 fabrics of up to 7 cycles: every (destination, bits) arrives from everywhere,
 * tables and the number of ways in use for each pair are the oracle's, and no pair has more than
 * 2^C simple paths. Hardly a pair that has several is left with one. With up to one cycle
 * some pair has all 2^C, as the paper's theorem says; beyond that it does not always hold.
 */
static void as_the_oracle(void **state)
{
	struct tally tally = {0};

	(void)state;
	for (uint64_t number = 0; number < 500; number++)
		compare_with_oracle(number, "match=through", &tally);
	report("match=through", &tally);
	assert_true(tally.single < tally.pairs / 100);
	assert_int_equal(tally.theorem[0], tally.by_cycles[0]);
	assert_int_equal(tally.theorem[1], tally.by_cycles[1]);
}

/* Property: the same where switches look at all path bits. */
static void as_the_oracle_with_all_bits(void **state)
{
	struct tally tally = {0};

	(void)state;
	for (uint64_t number = 0; number < 160; number++)
		compare_with_oracle(number, "match=all", &tally);
	report("match=all", &tally);
}

/* Property: fewer bits than cycles: LIDs still arrive, and tables are still the oracle's. */
static void fewer_bits_than_cycles(void **state)
{
	(void)state;
	for (uint64_t number = 0; number < 60; number++) {
		char recipe[200];
		unsigned bits = 1 + (unsigned)(number % 3);
		struct hd_fabric *fabric = with_lmc(draw_cyclic(number, 10, 6, recipe), bits);
		struct hd_cycles *cycles = cycles_of(fabric, 0, bits);
		struct hd_routes *spf = route("spf", "deadlock=off", fabric);
		struct hd_routes *fast = route_rooted(fabric, 0, "");
		struct hd_routes *slow = oracle_multipath_route(fabric, cycles, spf, false, false);
		assert_int_equal(cycles->kept, bits);
		assert_int_equal(hd_routes_count_changes(fast, slow), 0);
		assert_arrives(fabric, fast);
		hd_routes_free(slow);
		hd_routes_free(fast);
		hd_routes_free(spf);
		hd_cycles_free(cycles);
		hd_fabric_free(fabric);
	}
}

/* ---- LIDs and bits ---- */

/* Property: without cycles no bit is needed: all LIDs of a host go the one way there is. */
static void trees_need_no_bits(void **state)
{
	(void)state;
	for (uint64_t number = 0; number < 20; number++) {
		char recipe[200];
		struct hd_fabric *fabric = with_lmc(draw_cyclic(number, 12, 0, recipe), 3);
		struct hd_cycles *cycles = cycles_of(fabric, 0, 3);
		struct hd_routes *routes = route("multipath", "", fabric);
		assert_int_equal(cycles->count + cycles->kept, 0);
		for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
			for (uint32_t host = 0; host < fabric->host_count; host++)
				assert_int_equal(distinct_ways(fabric, routes, sw, host), 1);
		assert_clean(fabric, routes);
		hd_routes_free(routes);
		hd_cycles_free(cycles);
		hd_fabric_free(fabric);
	}
}

/* Property: each port has the path bits of its own LMC; without any it goes spf's way. */
static void every_port_has_its_own_lmc(void **state)
{
	(void)state;
	for (uint64_t number = 0; number < 60; number++) {
		char recipe[200];
		struct hd_fabric *fabric = with_mixed_lmc(draw_cyclic(number, 10, 5, recipe));
		struct hd_cycles *cycles = cycles_of(fabric, 0, 3);
		struct hd_routes *spf = route("spf", "deadlock=off", fabric);
		struct hd_routes *fast = route_rooted(fabric, 0, "");
		struct hd_routes *slow = oracle_multipath_route(fabric, cycles, spf, false, false);
		assert_arrives(fabric, fast);
		assert_int_equal(hd_routes_count_changes(fast, slow), 0);
		for (uint32_t lid = 1; lid < fabric->lid_count; lid++)
			for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
				if (fabric->lid_owner[lid] != HD_NONE &&
				    !fabric->lmc[fabric->lid_owner[lid]])
					assert_int_equal(hd_routes_port(fast, sw, lid),
							 hd_routes_port(spf, sw, lid));
		hd_routes_free(slow);
		hd_routes_free(fast);
		hd_routes_free(spf);
		hd_cycles_free(cycles);
		hd_fabric_free(fabric);
	}
}

/* Property: in memory nine cycles have nine bits, and every one of 7,680 LIDs arrives. With LMC
 * 0 there is nothing to choose: the tables are spf's. */
static void nine_cycles_nine_bits(void **state)
{
	(void)state;
	struct hd_fabric *fabric =
	    with_lmc(generate("irregular", "switches=15 radix=5 cycles=9 hosts=1"), 9);
	struct hd_cycles *cycles = cycles_of(fabric, 0, 16);
	struct hd_routes *routes = route("multipath", "balance=loads deadlock=off", fabric);
	assert_int_equal(cycles->kept, 9);
	assert_arrives(fabric, routes);
	uint32_t most = 0;
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		for (uint32_t host = 0; host < fabric->host_count; host++) {
			uint32_t ways = distinct_ways(fabric, routes, sw, host);
			most = ways > most ? ways : most;
		}
	assert_true(most > 32);
	hd_routes_free(routes);
	hd_cycles_free(cycles);
	fabric = with_lmc(fabric, 0);
	routes = route("multipath", "deadlock=off", fabric);
	struct hd_routes *spf = route("spf", "deadlock=off", fabric);
	assert_int_equal(hd_routes_count_changes(routes, spf), 0);
	hd_routes_free(spf);
	hd_routes_free(routes);
	hd_fabric_free(fabric);
}

/* ---- options ---- */

static void expect_refusal(const struct hd_fabric *fabric, const char *settings, int rc,
			   const char *part)
{
	struct hd_routes *routes = NULL;
	struct hd_error err = {""};

	assert_int_equal(route_try("multipath", settings,
				   &(struct hd_route_request){.fabric = fabric}, &routes, &err),
			 rc);
	assert_null(routes);
	if (!strstr(err.text, part))
		fail_msg("'%s' does not say '%s'", err.text, part);
}

/* Property: the root is the centre unless option or policy names another one; what does not fit
 * is refused with a reason. */
static void root_and_mode(void **state)
{
	(void)state;
	struct hd_fabric *fabric = paper_example(2), *torus = generate("torus", "dims=5,5,5");
	uint64_t guid = fabric->node_guid[D];
	struct hd_policy policy = {.root_guids = &guid, .root_count = 1};
	struct hd_routes *given = route_rooted(fabric, D, "");
	struct hd_routes *by_policy = route_policy("multipath", "deadlock=off", fabric, &policy);
	struct hd_routes *centre = route("multipath", "deadlock=off", fabric);
	struct hd_routes *rooted = route_rooted(fabric, B, "");
	assert_true(hd_routes_equal(given, by_policy));
	assert_true(hd_routes_equal(centre, rooted));
	assert_false(hd_routes_equal(given, centre));
	expect_refusal(fabric, "root=0x99", -EINVAL, "no switch has GUID 0x0000000000000099");
	torus = with_lmc(torus, 1);
	expect_refusal(torus, "mode=cycles", -ENOTSUP, "251 independent cycles");
	hd_routes_free(given);
	hd_routes_free(by_policy);
	hd_routes_free(centre);
	hd_routes_free(rooted);
	hd_fabric_free(torus);
	hd_fabric_free(fabric);
}

/* Property: with few lanes the tables are free of credit loops, and most hosts still have several
 * paths. The log says what was left out and what the tables need. */
static void few_lanes_still_do(void **state)
{
	(void)state;
	struct hd_fabric *fabric =
	    with_lmc(generate("irregular", "switches=15 radix=5 cycles=9 hosts=1"), 7);
	struct remarks remarks = {""};
	struct hd_log log = {.write = remark, .context = &remarks};
	struct hd_routes *routes = route_request(
	    "multipath", "", &(struct hd_route_request){.fabric = fabric, .log = &log, .lanes = 4});
	assert_clean(fabric, routes);
	assert_non_null(strstr(remarks.text, "9 independent cycles"));
	assert_non_null(strstr(remarks.text, "7 of them have a path bit"));
	assert_non_null(strstr(remarks.text, "no path bit for the cycle of"));
	assert_non_null(strstr(remarks.text, "entries that a switch needs"));
	uint32_t several = 0;
	for (uint32_t host = 1; host < fabric->host_count; host++)
		several += distinct_ways(fabric, routes, 0, host) > 1;
	assert_true(several > fabric->host_count / 2);
	hd_routes_free(routes);
	hd_fabric_free(fabric);
}

/* Property: if there are too few lanes even for one path to each switch, path bits are given up.
 * Only what is impossible with shortest paths, too, is refused. */
static void path_bits_are_given_up_for_lanes(void **state)
{
	(void)state;
	struct hd_fabric *fabric =
	    with_lmc(generate("irregular", "switches=15 radix=5 cycles=9 hosts=1 seed=2"), 3);
	struct remarks remarks = {""};
	struct hd_log log = {.write = remark, .context = &remarks};
	struct hd_route_request request = {.fabric = fabric, .log = &log, .lanes = 2};
	struct hd_routes *routes = route_request("multipath", "", &request);
	struct hd_error err = {""};
	assert_clean(fabric, routes);
	assert_non_null(strstr(remarks.text, "2 of 3 path bits are used"));
	struct hd_routes *again = NULL;
	request.previous = routes;
	again = route_request("multipath", "", &request);
	assert_true(hd_routes_equal(routes, again));
	hd_routes_free(again);
	hd_routes_free(routes);
	request.previous = NULL;
	request.lanes = 1;
	assert_int_equal(route_try("multipath", "", &request, &routes, &err), -ENOSPC);
	hd_fabric_free(fabric);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(paper_example_is_forwarded),
	    cmocka_unit_test(as_the_oracle),
	    cmocka_unit_test(as_the_oracle_with_all_bits),
	    cmocka_unit_test(fewer_bits_than_cycles),
	    cmocka_unit_test(trees_need_no_bits),
	    cmocka_unit_test(every_port_has_its_own_lmc),
	    cmocka_unit_test(nine_cycles_nine_bits),
	    cmocka_unit_test(root_and_mode),
	    cmocka_unit_test(few_lanes_still_do),
	    cmocka_unit_test(path_bits_are_given_up_for_lanes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
