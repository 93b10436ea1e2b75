/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tables of fabrics that grow: which entries move to new links, and how columns are dealt out to hosts. Here paths are
 * walked and assignments are tried out; nothing is shared with the engines.
 */
#include <heddle/base/random.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "column_match.h"
#include "engines_testing.h"
#include "oracle_walk.h"

static struct hd_routes *grown(const char *engine, const struct hd_fabric *fabric,
			       const struct hd_routes *baseline)
{
	return route_request(engine, "deadlock=off",
			     &(struct hd_route_request){
				 .fabric = fabric, .previous = baseline, .baseline = baseline});
}

static uint64_t count_entries(const struct hd_fabric *fabric, const struct hd_routes *routes,
			      uint32_t link)
{
	const uint32_t sw = hd_isl_from(fabric, link);
	uint64_t count = 0;

	for (uint32_t lid = 1; lid < fabric->lid_count; lid++)
		count += hd_routes_port(routes, sw, lid) == fabric->isl_port[link];
	return count;
}

/* Source hosts over a link, walked from each host. */
static uint64_t count_flows(const struct hd_fabric *fabric, const struct hd_routes *routes,
			    uint32_t link)
{
	uint64_t flows = 0;

	for (uint32_t host = 0; host < fabric->host_count; host++)
		for (uint32_t to = 0; to < fabric->host_count; to++) {
			uint32_t sw = fabric->host_switch[host], hops = 0;

			while (sw != fabric->host_switch[to] && hops++ < fabric->switch_count) {
				const uint8_t port =
				    hd_routes_port(routes, sw, fabric->lid[fabric->host_port[to]]);
				const uint32_t taken = hd_fabric_find_isl(fabric, sw, port);

				flows += taken == link;
				sw = fabric->isl_to[taken];
			}
		}
	return flows;
}

/* Property: a cable that the baseline lacks gets a share of the flows that is like that of the others at its lower end; the
 * entries that move are few, and all paths are as long as before at most. */
static void a_new_cable_gets_its_share(void **state)
{
	static const char *const engines[] = {"spf", "updown"};

	(void)state;
	for (unsigned i = 0; i < 24; i++) {
		struct hd_fabric *whole =
		    generate("xgft", i % 4 < 2 ? "children=6,8 parents=1,6"
					       : "children=4,4,4 parents=1,4,4");
		const uint32_t link = (i * 13u) % whole->isl_count, back = whole->isl_reverse[link];
		struct hd_fabric *fewer = without_link(copy_of(whole), link);
		struct hd_routes *baseline = route(engines[i % 2], "deadlock=off", fewer);
		struct hd_routes *after = grown(engines[i % 2], whole, baseline);
		struct hd_routes *again = grown(engines[i % 2], whole, after);
		const uint64_t flows =
		    count_flows(whole, after, link) + count_flows(whole, after, back);
		const uint64_t moved = hd_routes_count_changes(baseline, after);
		const uint64_t carried =
		    count_entries(whole, after, link) + count_entries(whole, after, back);
		uint64_t most = 0;

		assert_int_equal(hd_routes_count_changes(after, again), 0);
		for (uint32_t other = 0; other < whole->isl_count; other++) {
			const uint64_t both = count_flows(whole, after, other) +
					      count_flows(whole, after, whole->isl_reverse[other]);
			most = both > most ? both : most;
		}
		assert_true(flows * 2 >= most);
		assert_true(carried && moved <= 12 * carried);
		for (uint32_t sw = 0; sw < whole->switch_count; sw++)
			for (uint32_t lid = 1; lid < whole->lid_count; lid++)
				assert_true(oracle_walk_hops(whole, after, sw, lid) <=
					    oracle_walk_hops(whole, baseline, sw, lid));
		hd_routes_free(baseline);
		hd_routes_free(after);
		hd_routes_free(again);
		hd_fabric_free(fewer);
		hd_fabric_free(whole);
	}
}

/* Property: what grows does not depend on the number of threads. */
static void threads_change_nothing(void **state)
{
	struct hd_fabric *whole = generate("xgft", "children=6,8 parents=1,6");
	struct hd_fabric *fewer = without_link(copy_of(whole), 5);
	struct hd_routes *baseline = route("spf", "deadlock=off", fewer);
	struct hd_routes *one = grown("spf", whole, baseline), *four;

	(void)state;
	four = route_request(
	    "spf", "deadlock=off",
	    &(struct hd_route_request){
		.fabric = whole, .previous = baseline, .baseline = baseline, .threads = 4});
	assert_true(hd_routes_equal(one, four));
	hd_routes_free(baseline);
	hd_routes_free(one);
	hd_routes_free(four);
	hd_fabric_free(fewer);
	hd_fabric_free(whole);
}

/* ---- columns ---- */

#define HOSTS 5u

/* Entries that differ if host i takes the new column of host order[i]. */
static uint64_t count_differing(const struct hd_fabric *fabric, uint32_t exit,
				const struct hd_routes *old, const struct hd_routes *new,
				const uint32_t *order)
{
	uint64_t count = 0;

	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		for (uint32_t i = 0; sw != exit && i < HOSTS; i++) {
			const uint32_t base = fabric->host_base[exit];
			const uint32_t lid = fabric->lid[fabric->host_port[base + i]];
			const uint32_t from = fabric->lid[fabric->host_port[base + order[i]]];

			count += hd_routes_port(old, sw, lid) != hd_routes_port(new, sw, from);
		}
	return count;
}

/* The least of all orders, by trying each. */
static uint64_t least_differing(const struct hd_fabric *fabric, uint32_t exit,
				const struct hd_routes *old, const struct hd_routes *new,
				uint32_t *order, uint32_t fixed)
{
	uint64_t least = UINT64_MAX;

	if (fixed == HOSTS)
		return count_differing(fabric, exit, old, new, order);
	for (uint32_t i = fixed; i < HOSTS; i++) {
		uint32_t swap = order[fixed];
		uint64_t count;

		order[fixed] = order[i];
		order[i] = swap;
		count = least_differing(fabric, exit, old, new, order, fixed + 1);
		least = count < least ? count : least;
		order[i] = order[fixed];
		order[fixed] = swap;
	}
	return least;
}

/* Property: no other exchange of columns among the hosts of a switch leaves fewer entries that differ, and each host has
 * the column of one of them. */
static void columns_fit_best(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 12; seed++) {
		struct hd_fabric *fabric = generate("torus", "dims=3,3 hosts=5");
		struct hd_routes *old = route("spf", "deadlock=off", fabric), *new;
		uint64_t random = seed;

		for (uint32_t i = 0; i < 60; i++) { /* noise, so that no exchange fits everywhere */
			const uint32_t sw =
			    (uint32_t)hd_random_below(&random, fabric->switch_count);
			const uint32_t lid =
			    1 + (uint32_t)hd_random_below(&random, fabric->lid_count - 1);

			hd_routes_row(old, sw)[lid] = (uint8_t)hd_random_below(&random, 9);
		}
		new = route("updown", "", fabric);
		struct hd_routes *matched = hd_routes_copy(new);

		assert_int_equal(column_match(fabric, old, 2, NULL, matched), 0);
		for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
			uint32_t order[HOSTS] = {0, 1, 2, 3, 4},
				 as_they_are[HOSTS] = {0, 1, 2, 3, 4};

			assert_int_equal(count_differing(fabric, sw, old, matched, as_they_are),
					 least_differing(fabric, sw, old, new, order, 0));
			assert_int_equal(least_differing(fabric, sw, new, matched, order, 0), 0);
		}
		hd_routes_free(old);
		hd_routes_free(new);
		hd_routes_free(matched);
		hd_fabric_free(fabric);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_new_cable_gets_its_share),
	    cmocka_unit_test(threads_change_nothing),
	    cmocka_unit_test(columns_fit_best),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
