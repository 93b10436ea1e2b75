/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* After a change, stay put: with previous tables only the entries change that must. */
#include <heddle/base/random.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "engines_testing.h"
#include "oracle_hops.h"
#include "oracle_tree.h"

#include <errno.h>

struct tally {
	uint64_t changed, affected, pointed;
	unsigned fabrics;
};

/* Entries that the previous tables send over the link or its reverse, which is gone. */
static uint64_t count_pointing(const struct hd_fabric *fabric, const struct hd_routes *routes,
			       uint32_t link)
{
	uint64_t count = 0;

	for (uint32_t lid = 1; lid < fabric->lid_count; lid++) {
		uint32_t reverse = fabric->isl_reverse[link];
		count += link_taken(fabric, routes, hd_isl_from(fabric, link), lid) == link;
		count += link_taken(fabric, routes, hd_isl_from(fabric, reverse), lid) == reverse;
	}
	return count;
}

/*
 * The rule itself: with `up` NULL ways are shortest, else they climb and descend. An entry that
 * is one of today's ways is as it was; each other one has changed.
 */
static void assert_only_what_must(const struct hd_fabric *fabric, const uint8_t *up,
				  const struct hd_routes *before, const struct hd_routes *after,
				  struct tally *tally, const char *recipe)
{
	struct hd_arena arena = {0};
	struct oracle_hops hops;

	assert_true(oracle_hops_init(&hops, fabric, &arena));
	for (uint32_t lid = 1; lid < fabric->lid_count; lid++) {
		uint32_t destination;
		uint8_t port;
		if (!hd_fabric_lid_destination(fabric, lid, &destination, &port))
			continue;
		bool to_switch = hd_is_switch(fabric, fabric->port_node[fabric->lid_owner[lid]]);
		if (up)
			oracle_hops_legal(&hops, fabric, up, UINT32_MAX, to_switch, destination);
		else
			oracle_hops_shortest(&hops, fabric, NULL, destination);
		for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
			uint32_t link = link_taken(fabric, before, sw, lid);
			bool valid = sw == destination || (link != HD_NONE && hops.valid[link]);
			bool same =
			    hd_routes_port(before, sw, lid) == hd_routes_port(after, sw, lid);
			if (hops.distance[sw] == HD_NONE)
				valid = hd_routes_port(before, sw, lid) == HD_NO_PORT;
			tally->changed += !same;
			tally->affected += !valid;
			if (valid != same)
				fail_msg("%s: entry of switch %u for LID %u %s", recipe, sw, lid,
					 same ? "stays although it does not lead to the LID"
					      : "changed without need");
		}
	}
	hd_arena_release(&arena);
}

static void report(const char *what, const struct tally *tally)
{
	print_message("%-28s %3u fabrics: %" PRIu64 " changed / %" PRIu64 " had to / %" PRIu64
		      " pointed at what was lost\n",
		      what, tally->fabrics, tally->changed, tally->affected, tally->pointed);
}

/* Every engine that routes it, on the same fabric with its own tables: nothing changes. */
static void same_fabric_same_tables(void **state)
{
	static const char *const asks[][2] = {
	    {"spf", ""},       {"spf", "cost=rate"},	      {"updown", ""},
	    {"dmodk", ""},     {"updown", "root=best:4"},     {"dmodk", "method=balanced"},
	    {"multipath", ""}, {"multipath", "mode=offsets"}, {"multipath", "mode=layers"},
	};

	(void)state;
	for (uint64_t number = 0; number < 180; number++) {
		char recipe[200];
		struct hd_fabric *fabric = draw_fabric(number, recipe);
		for (unsigned i = 0; i < sizeof(asks) / sizeof(asks[0]); i++) {
			struct hd_routes *first = NULL;
			struct hd_error err = {""};
			if (route_try(asks[i][0], asks[i][1],
				      &(struct hd_route_request){.fabric = fabric}, &first, &err))
				continue;
			struct hd_routes *second =
			    route_after(asks[i][0], asks[i][1], fabric, first);
			if (hd_routes_count_changes(first, second))
				fail_msg("%s %s on %s: %" PRIu64 " changes", asks[i][0], asks[i][1],
					 recipe, hd_routes_count_changes(first, second));
			hd_routes_free(first);
			hd_routes_free(second);
		}
		hd_fabric_free(fabric);
	}
}

/* A link lost, and back: `up_of` gives the directions of the changed fabric (NULL: shortest).
 * Only dmodk may refuse what is left. */
static void lose_a_link(const char *engine, const char *settings, const struct hd_fabric *whole,
			uint8_t *(*up_of)(const struct hd_fabric *fabric), uint32_t link,
			struct tally *lost, struct tally *back, const char *recipe)
{
	struct hd_fabric *damaged = without_link(copy_of(whole), link);
	struct hd_routes *before = route(engine, settings, whole), *after = NULL;
	struct hd_route_request request = {.fabric = damaged, .previous = before};
	struct hd_error err = {""};
	int rc = route_try(engine, settings, &request, &after, &err);

	if (rc && strcmp(engine, "dmodk"))
		fail_msg("%s: %s", recipe, err.text);
	if (!rc) {
		struct hd_routes *again = route_after(engine, settings, whole, after);
		uint8_t *up = up_of ? up_of(damaged) : NULL;
		uint8_t *up_whole = up_of ? up_of(whole) : NULL;
		lost->pointed += count_pointing(whole, before, link);
		lost->fabrics++;
		back->fabrics++;
		assert_only_what_must(damaged, up, before, after, lost, recipe);
		assert_only_what_must(whole, up_whole, after, again, back, recipe);
		free(up);
		free(up_whole);
		hd_routes_free(again);
	}
	hd_routes_free(before);
	hd_routes_free(after);
	hd_fabric_free(damaged);
}

/* Property: spf keeps to that rule, whichever link is lost and comes back. */
static void spf_stays_put(void **state)
{
	struct tally lost = {0}, back = {0};

	(void)state;
	for (uint64_t number = 0; number < 180; number++) {
		char recipe[200];
		struct hd_fabric *fabric = draw_fabric(number, recipe);
		for (uint32_t link = 0; link < fabric->isl_count; link += 31)
			lose_a_link("spf", "", fabric, NULL, link, &lost, &back, recipe);
		hd_fabric_free(fabric);
	}
	report("spf, link lost", &lost);
	report("spf, link back", &back);
	assert_true(lost.affected > 0);
}

static uint8_t *up_from_first(const struct hd_fabric *fabric)
{
	uint8_t *up = calloc(fabric->isl_count + 1, 1);
	bool *is_root = calloc(fabric->switch_count, sizeof(*is_root));
	uint32_t *rank = calloc(fabric->switch_count, sizeof(*rank));

	is_root[0] = true;
	oracle_tree_ranks(fabric, is_root, rank);
	oracle_tree_direct(fabric, rank, up);
	free(rank);
	free(is_root);
	return up;
}

/* Property: so does updown below a root that is given. */
static void updown_stays_put(void **state)
{
	struct tally lost = {0}, back = {0};

	(void)state;
	for (uint64_t number = 0; number < 180; number++) {
		char recipe[200], settings[40];
		struct hd_fabric *fabric = draw_fabric(number, recipe);
		snprintf(settings, sizeof(settings), "root=0x%" PRIx64, fabric->node_guid[0]);
		for (uint32_t link = 0; link < fabric->isl_count; link += 31)
			lose_a_link("updown", settings, fabric, up_from_first, link, &lost, &back,
				    recipe);
		hd_fabric_free(fabric);
	}
	report("updown, link lost", &lost);
	report("updown, link back", &back);
	assert_true(lost.affected > 0);
}

/* Property: updown that finds its root by itself stays sound, and a lost link does not turn
 * the fabric round: besides the entries that pointed at it at most a tenth of all change. */
static void updown_finds_its_root_again(void **state)
{
	uint64_t changed = 0, pointed = 0, entries = 0;
	unsigned fabrics = 0;

	(void)state;
	for (uint64_t number = 6; number < 360; number += 9) {
		char recipe[200];
		struct hd_fabric *fabric = draw_fabric(number, recipe);
		struct hd_routes *before = route("updown", "", fabric);
		for (uint32_t link = 0; link < fabric->isl_count; link += 17) {
			struct hd_fabric *damaged = without_link(copy_of(fabric), link);
			struct hd_routes *after = route_after("updown", "", damaged, before);
			struct hd_check_report *sound = check(damaged, after);
			assert_int_equal(sound->credit_loops + sound->loop + sound->dead_end, 0);
			hd_check_report_free(sound);
			changed += hd_routes_count_changes(before, after);
			pointed += count_pointing(fabric, before, link);
			entries += (uint64_t)fabric->switch_count * (fabric->lid_count - 1);
			fabrics++;
			hd_routes_free(after);
			hd_fabric_free(damaged);
		}
		hd_routes_free(before);
		hd_fabric_free(fabric);
	}
	print_message("updown, its own root         %3u fabrics: %" PRIu64 " changed / %" PRIu64
		      " pointed at what was lost / %" PRIu64 " entries\n",
		      fabrics, changed, pointed, entries);
	assert_true(changed >= pointed);
	assert_true(changed - pointed < entries / 10);
}

static uint8_t *up_by_name(const struct hd_fabric *fabric)
{
	uint8_t *up = calloc(fabric->isl_count + 1, 1);
	uint32_t *rank = calloc(fabric->switch_count, sizeof(*rank));

	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		rank[sw] = 100 - level_named(fabric, sw);
	oracle_tree_direct(fabric, rank, up);
	free(rank);
	return up;
}

static const char *const trees[] = {
    "children=6,6,6 parents=1,6,6",
    "children=4,4,4 parents=1,2,2",
    "children=4,6 parents=1,2 parallel=1,2",
    "children=3,3,3 parents=1,3,3 parallel=1,1,2",
};

/* Property: so do dmodk's counters, on trees from which links are missing already. */
static void dmodk_counters_stay_put(void **state)
{
	struct tally lost = {0}, back = {0};

	(void)state;
	for (unsigned tree = 0; tree < 4; tree++) {
		for (uint64_t seed = 0; seed < 4; seed++) {
			struct hd_fabric *fabric =
			    with_links_removed(generate("xgft", trees[tree]), 3, seed);
			lose_a_link("dmodk", "method=balanced", fabric, up_by_name,
				    (uint32_t)(seed * 7 % fabric->isl_count), &lost, &back,
				    trees[tree]);
			hd_fabric_free(fabric);
		}
	}
	report("dmodk, one more link lost", &lost);
	report("dmodk, that link back", &back);
	assert_true(lost.fabrics > 8);
}

/* Entries of `after` that differ from those of the same switch and port in `before`. */
static uint64_t changes_by_guid(const struct hd_fabric *old, const struct hd_routes *before,
				const struct hd_fabric *fabric, const struct hd_routes *after,
				uint64_t *compared)
{
	uint64_t changed = 0;

	for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
		uint32_t old_sw = hd_fabric_find_node(old, fabric->node_guid[sw]);
		for (uint32_t lid = 1; old_sw != HD_NONE && lid < fabric->lid_count; lid++) {
			uint32_t owner = fabric->lid_owner[lid];
			uint32_t port = owner == HD_NONE
					    ? HD_NONE
					    : hd_fabric_find_port(old, fabric->port_guid[owner]);
			if (port == HD_NONE || !old->lid[port])
				continue;
			uint32_t old_lid = old->lid[port] + lid - fabric->lid[owner];
			(*compared)++;
			changed += hd_routes_port(before, old_sw, old_lid) !=
				   hd_routes_port(after, sw, lid);
		}
	}
	return changed;
}

/*
 * Property: with a spine and some hosts gone, and other hosts new, every LID in another place,
 * the carried-over tables keep nine entries of ten on a 216-host tree, and all is clean.
 */
static void tables_follow_guids(void **state)
{
	static const char *const engines[] = {"spf", "updown", "dmodk"};

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		struct hd_fabric *old = with_lmc(
		    with_free_ports(generate("xgft", "children=6,6,6 parents=1,6,6"), 1), 1);
		struct hd_routes *before = route(engines[i], "", old), *carried = NULL;
		bool *gone = calloc(old->node_count, sizeof(*gone));
		for (uint32_t sw = 0; sw < old->switch_count; sw++)
			gone[sw] = !strcmp(old->node_name[sw], "S3_3_2");
		gone[old->switch_count + 5] = gone[old->switch_count + 99] = true;
		struct hd_fabric *fabric = retold(copy_of(old), &(struct retelling){.gone = gone});
		fabric = with_host_at(fabric, 0, 0x50);
		fabric = with_host_at(fabric, 7, 0x900000);
		fabric = with_lmc(fabric, 1);
		uint64_t compared = 0;
		assert_int_equal(hd_routes_rebase(old, before, fabric, &carried, NULL), 0);
		assert_int_equal(changes_by_guid(old, before, fabric, carried, &compared), 0);
		struct hd_routes *after = route_after(engines[i], "", fabric, carried);
		assert_clean(fabric, after);
		compared = 0;
		uint64_t changed = changes_by_guid(old, before, fabric, after, &compared);
		print_message("%s, a top less, hosts gone and new: %" PRIu64 " changed of %" PRIu64
			      "\n",
			      engines[i], changed, compared);
		assert_true(compared > 100 * 428 && changed * 10 < compared);
		/* what came back is where it was */
		struct hd_routes *returned = NULL;
		assert_int_equal(hd_routes_rebase(fabric, after, old, &returned, NULL), 0);
		struct hd_routes *again = route_after(engines[i], "", old, returned);
		assert_clean(old, again);
		hd_routes_free(again);
		hd_routes_free(returned);
		hd_routes_free(carried);
		hd_routes_free(after);
		hd_routes_free(before);
		hd_fabric_free(fabric);
		hd_fabric_free(old);
		free(gone);
	}
}

/* Property: tables that lead nowhere (of another fabric, or of noise) do no harm. */
static void nonsense_does_no_harm(void **state)
{
	static const char *const engines[] = {"spf", "updown", "multipath", "dmodk"};

	(void)state;
	for (uint64_t number = 0; number < 60; number++) {
		char recipe[200];
		uint64_t seed = number;
		struct hd_fabric *fabric = draw_fabric(number, recipe);
		struct hd_routes *noise = hd_routes_new(fabric);
		for (uint32_t sw = 0; sw < noise->switch_count; sw++)
			for (uint32_t lid = 0; lid < noise->lid_count; lid++)
				hd_routes_row(noise, sw)[lid] = (uint8_t)hd_random_next(&seed);
		for (unsigned i = 0; i < 4; i++) {
			struct hd_routes *routes = NULL;
			struct hd_error err = {""};
			if (route_try(
				engines[i], "",
				&(struct hd_route_request){.fabric = fabric, .previous = noise},
				&routes, &err)) {
				assert_int_equal(i, 3);
				continue;
			}
			struct hd_check_report *sound = check(fabric, routes);
			assert_int_equal(sound->loop + sound->dead_end, 0);
			assert_true(!i || !sound->credit_loops);
			if (reachable_switches(fabric) == fabric->switch_count)
				assert_int_equal(sound->no_route, 0);
			hd_check_report_free(sound);
			hd_routes_free(routes);
		}
		hd_routes_free(noise);
		hd_fabric_free(fabric);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(same_fabric_same_tables),
	    cmocka_unit_test(spf_stays_put),
	    cmocka_unit_test(updown_stays_put),
	    cmocka_unit_test(updown_finds_its_root_again),
	    cmocka_unit_test(dmodk_counters_stay_put),
	    cmocka_unit_test(tables_follow_guids),
	    cmocka_unit_test(nonsense_does_no_harm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
