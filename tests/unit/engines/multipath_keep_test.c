/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* multipath after a change: a cycle more or less renumbers all path bits, and still the tables
 * stay put. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "multipath_testing.h"

static struct hd_routes *route_from(const struct hd_fabric *fabric,
				    const struct hd_routes *previous,
				    const struct hd_routes *baseline, const char *more)
{
	char settings[80];

	snprintf(settings, sizeof(settings), "deadlock=off %s", more);
	return route_request("multipath", settings,
			     &(struct hd_route_request){
				 .fabric = fabric, .previous = previous, .baseline = baseline});
}

static bool uses(const struct hd_fabric *fabric, const struct hd_routes *routes, uint32_t link,
		 uint32_t lid)
{
	return link_taken(fabric, routes, hd_isl_from(fabric, link), lid) == link;
}

static bool is_host(const struct hd_fabric *fabric, uint32_t lid)
{
	uint32_t owner = fabric->lid_owner[lid];

	return owner != HD_NONE && !hd_is_switch(fabric, fabric->port_node[owner]);
}

/* Switches whose entries for the LID differ. */
static uint32_t count_changes(const struct hd_routes *before, const struct hd_routes *after,
			      uint32_t lid)
{
	uint32_t changes = 0;

	for (uint32_t sw = 0; sw < before->switch_count; sw++)
		changes += hd_routes_port(before, sw, lid) != hd_routes_port(after, sw, lid);
	return changes;
}

struct tally {
	uint64_t pointed, changed;
};

static void lose_and_mend(const struct hd_fabric *whole, uint32_t link, struct tally *tally,
			  const char *recipe)
{
	struct hd_fabric *damaged = without_link(copy_of(whole), link);
	struct hd_routes *before = route_from(whole, NULL, NULL, "");
	struct hd_routes *after = route_from(damaged, before, before, "");
	struct hd_routes *later = route_from(damaged, after, before, "");
	struct hd_routes *mended = route_from(whole, after, before, "");
	uint32_t reverse = whole->isl_reverse[link];

	assert_int_equal(hd_routes_count_changes(after, later), 0);
	assert_int_equal(hd_routes_count_changes(before, mended), 0);
	for (uint32_t lid = 1; lid < whole->lid_count; lid++) {
		uint32_t pointed = uses(whole, before, link, lid);
		pointed += uses(whole, before, reverse, lid);
		uint32_t changed = count_changes(before, after, lid);
		if (changed < pointed || (!pointed && changed))
			fail_msg("%s: LID %u: %u entries changed, %u had to", recipe, lid, changed,
				 pointed);
		tally->pointed += is_host(whole, lid) ? pointed : 0;
		tally->changed += is_host(whole, lid) ? changed : 0;
	}
	if (reachable_switches(damaged) == damaged->switch_count)
		assert_arrives(damaged, after);
	hd_routes_free(before);
	hd_routes_free(after);
	hd_routes_free(later);
	hd_routes_free(mended);
	hd_fabric_free(damaged);
}

/*
 * Property: when a link is lost, LIDs that did not use it keep every entry; the others change
 * those that pointed at it and hardly any more; the next sweep changes nothing; when the link is
 * back, so are all tables.
 */
static void stays_put(void **state)
{
	struct tally tally = {0};

	(void)state;
	for (uint64_t number = 0; number < 60; number++) {
		char recipe[200];
		unsigned cycles = 1 + (unsigned)(number % 6);
		struct hd_fabric *fabric =
		    with_lmc(draw_cyclic(number, 12, cycles, recipe), (unsigned)(number % 5));
		for (uint32_t link = 0; link < fabric->isl_count; link += 7)
			lose_and_mend(fabric, link, &tally, recipe);
		hd_fabric_free(fabric);
	}
	print_message("%" PRIu64 " entries for hosts changed, %" PRIu64 " pointed at lost links\n",
		      tally.changed, tally.pointed);
	assert_true(tally.pointed > 1000);
	assert_true(tally.changed < 2 * tally.pointed);
}

/* `fewer` is made for path bits; `whole` has a cable more and with it one cycle too many. */
static void add_and_lose(const struct hd_fabric *fewer, const struct hd_fabric *whole)
{
	struct hd_routes *before = route_from(fewer, NULL, NULL, "");
	struct hd_routes *by_cycles = route_from(whole, before, NULL, "mode=cycles");
	struct hd_routes *after = route_from(whole, before, NULL, "");
	struct hd_routes *later = route_from(whole, after, NULL, "");
	struct hd_routes *back = route_from(fewer, after, before, "");

	assert_int_equal(hd_routes_count_changes(by_cycles, after), 0);
	assert_int_equal(hd_routes_count_changes(after, later), 0);
	assert_int_equal(hd_routes_count_changes(before, back), 0);
	for (uint32_t lid = 1; lid < whole->lid_count; lid++)
		if (is_host(whole, lid))
			assert_int_equal(count_changes(before, after, lid), 0);
	hd_routes_free(before);
	hd_routes_free(by_cycles);
	hd_routes_free(after);
	hd_routes_free(later);
	hd_routes_free(back);
}

/* Property: with tables in place mode=auto keeps to the choice by which they were made. A cable
 * with which the fabric has too many cycles moves no path bits; without one, with which it has
 * few enough, only LIDs whose way is lost are led another way. */
static void auto_stays_with_its_choice(void **state)
{
	struct tally tally = {0};
	unsigned added = 0;

	(void)state;
	for (unsigned seed = 1; seed <= 3; seed++) {
		char recipe[80];
		snprintf(recipe, sizeof(recipe), "switches=9 radix=8 cycles=17 hosts=1 seed=%u",
			 seed);
		struct hd_fabric *whole = with_lmc(generate("irregular", recipe), 3);
		for (uint32_t link = 0; link < whole->isl_count; link += 17) {
			struct hd_fabric *fewer = without_link(copy_of(whole), link);
			bool joined = reachable_switches(fewer) == fewer->switch_count;
			if (joined)
				add_and_lose(fewer, whole);
			added += joined;
			lose_and_mend(whole, link, &tally, recipe);
			hd_fabric_free(fewer);
		}
		hd_fabric_free(whole);
	}
	assert_true(added > 3 && tally.pointed > 50);
}

/* Property: a new host is routed as in a fresh routing, and all others keep their entries. */
static void new_hosts_are_routed(void **state)
{
	(void)state;
	struct hd_fabric *old =
	    with_free_ports(generate("irregular", "switches=8 radix=6 cycles=4 hosts=1 seed=5"), 1);
	old = with_lmc(old, 2);
	struct hd_fabric *fabric = with_host_at(copy_of(old), 3, 0x777777);
	struct hd_routes *before = route_from(old, NULL, NULL, ""), *carried = NULL;
	assert_int_equal(hd_routes_rebase(old, before, fabric, &carried, NULL), 0);
	struct hd_routes *after = route_from(fabric, carried, NULL, "");
	assert_arrives(fabric, after);
	for (uint32_t lid = 1; lid < old->lid_count; lid++)
		assert_int_equal(count_changes(before, after, lid), 0);
	hd_routes_free(before);
	hd_routes_free(carried);
	hd_routes_free(after);
	hd_fabric_free(old);
	hd_fabric_free(fabric);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(stays_put),
	    cmocka_unit_test(auto_stays_with_its_choice),
	    cmocka_unit_test(new_hosts_are_routed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
