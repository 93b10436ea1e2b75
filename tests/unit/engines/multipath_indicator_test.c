/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* multipath with indicator=yes: the highest bit of a LID offset switches path bits on. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "multipath_testing.h"

#include <errno.h>

#define INDICATOR "mode=cycles deadlock=off indicator=yes"

/* ---- the paper's example ---- */

/* Property: with three bits in the example of figure 5 of the paper, LIDs without the highest one
 * have the next hops of a shortest path, and those with it the vectors of the two path bits. */
static void paper_example_is_forwarded(void **state)
{
	/* from, to, path bits (first bit is that of the first cycle), next hop */
	static const uint32_t vectors[][4] = {
	    {B, A, 1, A}, {B, A, 3, A}, {B, A, 2, C}, {B, A, 0, D}, {A, B, 0, B}, {A, B, 2, B},
	    {A, B, 1, C}, {A, B, 3, C}, {C, B, 1, B}, {C, B, 3, D}, {D, A, 0, C}};

	(void)state;
	struct hd_fabric *fabric = paper_example(3);
	struct hd_routes *routes = route("multipath", INDICATOR, fabric);
	for (size_t i = 0; i < sizeof(vectors) / sizeof(vectors[0]); i++) {
		const uint32_t *vector = vectors[i];
		uint32_t lid = host_lid(fabric, vector[1]);
		assert_int_equal(hd_routes_port(routes, vector[0], lid + 4 + vector[2]),
				 vector[3] + 1);
	}
	for (uint32_t offset = 0; offset < 4; offset++) {
		assert_int_equal(hd_routes_port(routes, B, host_lid(fabric, A) + offset), A + 1);
		assert_int_equal(hd_routes_port(routes, A, host_lid(fabric, C) + offset), C + 1);
	}
	assert_arrives(fabric, routes);
	hd_routes_free(routes);
	hd_fabric_free(fabric);
}

/* ---- random fabrics ---- */

/* Entries for LIDs in the lower half of a host's, and for switches, are those of spf. */
static void assert_spf_without(const struct hd_fabric *fabric, const struct hd_routes *routes,
			       const struct hd_routes *spf)
{
	for (uint32_t lid = 1; lid < fabric->lid_count; lid++) {
		uint32_t owner = fabric->lid_owner[lid];
		if (owner == HD_NONE)
			continue;
		uint32_t lids = hd_port_lid_count(fabric, owner);
		if (lids > 1 && lid - fabric->lid[owner] >= lids / 2)
			continue;
		for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
			assert_int_equal(hd_routes_port(routes, sw, lid),
					 hd_routes_port(spf, sw, lid));
	}
}

static uint32_t count_longer(const struct hd_fabric *fabric, const struct hd_routes *routes)
{
	struct hd_check_report *report = check(fabric, routes);
	uint32_t longer = (uint32_t)report->longer_routes;

	hd_check_report_free(report);
	return longer;
}

static void compare(struct hd_fabric *fabric, uint32_t root, unsigned bits, bool all,
		    const char *recipe, unsigned *longer)
{
	struct hd_cycles *cycles = cycles_of(fabric, root, bits);
	struct hd_routes *spf = route("spf", "deadlock=off", fabric);
	struct hd_routes *fast =
	    route_rooted(fabric, root, all ? "indicator=yes match=all" : "indicator=yes");
	struct hd_routes *slow = oracle_multipath_route(fabric, cycles, spf, all, true);

	if (hd_routes_count_changes(fast, slow))
		fail_msg("%s: %" PRIu64 " entries differ from the oracle's", recipe,
			 hd_routes_count_changes(fast, slow));
	assert_arrives(fabric, fast);
	assert_spf_without(fabric, fast, spf);
	*longer += count_longer(fabric, fast) > 0;
	hd_routes_free(slow);
	hd_routes_free(fast);
	hd_routes_free(spf);
	hd_cycles_free(cycles);
	hd_fabric_free(fabric);
}

/* Property, on random fabrics with as many path bits as cycles, with fewer, and with ports of
 * different LMC: tables are the oracle's, each LID arrives, and LIDs without the indicator have
 * the entries of spf. With the indicator many fabrics have paths that are not shortest. */
static void as_the_oracle(void **state)
{
	unsigned longer = 0;

	(void)state;
	for (uint64_t number = 0; number < 200; number++) {
		char recipe[200];
		unsigned cycles = 1 + (unsigned)(number % 5);
		unsigned bits = cycles - (cycles > 1 && number % 7 == 0);
		struct hd_fabric *fabric =
		    with_lmc(draw_cyclic(number, 12, cycles, recipe), bits + 1);
		uint32_t root = (uint32_t)(number / 8 % fabric->switch_count);
		compare(fabric, root, bits, number % 3 == 0, recipe, &longer);
		fabric = with_mixed_lmc(draw_cyclic(number, 10, cycles, recipe));
		compare(fabric, 0, 2, false, recipe, &longer);
	}
	print_message("longer paths on %u of 400 fabrics\n", longer);
	assert_true(longer > 100);
}

/* Property: with LMC 0 or 1 no path bit is left, and with mode=offsets there are none: the tables
 * are those without an indicator, and the log says that it changes nothing. */
static void without_path_bits(void **state)
{
	static const char *const modes[] = {"mode=cycles", "mode=cycles", "mode=offsets"};
	static const unsigned lmc[] = {0, 1, 3};

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		struct hd_fabric *fabric = paper_example(lmc[i]);
		struct remarks remarks = {""};
		struct hd_log log = {.write = remark, .context = &remarks};
		struct hd_route_request request = {.fabric = fabric, .log = &log};
		char settings[60];
		snprintf(settings, sizeof(settings), "indicator=yes %s", modes[i]);
		struct hd_routes *with = route_request("multipath", settings, &request);
		struct hd_routes *without = route("multipath", "mode=offsets", fabric);
		assert_int_equal(hd_routes_count_changes(with, without), 0);
		assert_non_null(strstr(remarks.text, "indicator=yes changes nothing"));
		hd_routes_free(with);
		hd_routes_free(without);
		hd_fabric_free(fabric);
	}
}

/* ---- after a change ---- */

static struct hd_routes *route_from(const struct hd_fabric *fabric,
				    const struct hd_routes *previous,
				    const struct hd_routes *baseline)
{
	return route_request("multipath", "deadlock=off indicator=yes",
			     &(struct hd_route_request){
				 .fabric = fabric, .previous = previous, .baseline = baseline});
}

/* Whether each LID without the indicator has a path as short as spf's, from each switch. */
static void assert_shortest_without(const struct hd_fabric *fabric, const struct hd_routes *routes)
{
	uint32_t *links = calloc(fabric->switch_count + 1, sizeof(*links));
	struct hd_routes *spf = route("spf", "deadlock=off", fabric);

	for (uint32_t host = 0; host < fabric->host_count; host++) {
		uint32_t lids = hd_port_lid_count(fabric, fabric->host_port[host]);
		for (uint32_t offset = 0; offset < lids / 2; offset++)
			for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
				assert_int_equal(follow(fabric, routes, sw,
							host_lid(fabric, host) + offset, links),
						 follow(fabric, spf, sw,
							host_lid(fabric, host) + offset, links));
	}
	hd_routes_free(spf);
	free(links);
}

/* Property: when a cable is lost, LIDs that did not use it keep every entry, those without the
 * indicator still have shortest paths, the next sweep changes nothing, and with the cable all
 * tables are back. */
static void stays_put(void **state)
{
	(void)state;
	for (uint64_t number = 0; number < 40; number++) {
		char recipe[200];
		unsigned cycles = 2 + (unsigned)(number % 5);
		struct hd_fabric *whole =
		    with_lmc(draw_cyclic(number, 12, cycles, recipe), 2 + (unsigned)(number % 3));
		for (uint32_t link = 0; link < whole->isl_count; link += 5) {
			struct hd_fabric *damaged = without_link(copy_of(whole), link);
			struct hd_routes *before = route_from(whole, NULL, NULL);
			struct hd_routes *after = route_from(damaged, before, before);
			struct hd_routes *later = route_from(damaged, after, before);
			struct hd_routes *mended = route_from(whole, after, before);
			assert_int_equal(hd_routes_count_changes(after, later), 0);
			assert_int_equal(hd_routes_count_changes(before, mended), 0);
			if (reachable_switches(damaged) == damaged->switch_count) {
				assert_arrives(damaged, after);
				assert_shortest_without(damaged, after);
			}
			hd_routes_free(mended);
			hd_routes_free(later);
			hd_routes_free(after);
			hd_routes_free(before);
			hd_fabric_free(damaged);
		}
		hd_fabric_free(whole);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(paper_example_is_forwarded),
	    cmocka_unit_test(as_the_oracle),
	    cmocka_unit_test(without_path_bits),
	    cmocka_unit_test(stays_put),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
