/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Sets of turns without a cycle, and the tables of the engine turns. */
#include <heddle/base/random.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "bisections.h"
#include "engines_testing.h"
#include "turn_order.h"

#define FABRICS 240u

/* ---- sets ---- */

/* Whether `to` follows `from` by turns of the set, slowly. */
static bool follows(const struct turn_order *order, uint32_t from, uint32_t to)
{
	const struct turns *turns = order->turns;
	bool *seen = calloc(turns->fabric->isl_count + 1, sizeof(*seen)), grows = true;

	seen[from] = true;
	while (grows) {
		grows = false;
		for (uint32_t in = 0; in < turns->fabric->isl_count; in++)
			for (uint32_t turn = turns->first[in];
			     seen[in] && turn < turns->first[in + 1]; turn++) {
				uint32_t out = turns_out(turns, in, turn);
				if (!order->taken[turn] || seen[out])
					continue;
				seen[out] = grows = true;
			}
	}
	bool found = seen[to];
	free(seen);
	return found;
}

/* Every turn of the set goes forward in the order, and the order has each place once. */
static void assert_ordered(const struct turn_order *order)
{
	const struct turns *turns = order->turns;
	const uint32_t links = turns->fabric->isl_count;
	bool *used = calloc(links + 1, sizeof(*used));

	for (uint32_t in = 0; in < links; in++) {
		assert_in_range(order->place[in], 0, links - 1);
		assert_false(used[order->place[in]]);
		used[order->place[in]] = true;
		for (uint32_t turn = turns->first[in]; turn < turns->first[in + 1]; turn++)
			if (order->taken[turn])
				assert_true(order->place[in] <
					    order->place[turns_out(turns, in, turn)]);
	}
	free(used);
}

static uint64_t sum_taken(const struct turn_order *order, const uint64_t *weight)
{
	uint64_t sum = 0;

	for (uint32_t turn = 0; turn < order->turns->count; turn++)
		sum += order->taken[turn] ? weight[turn] : 0;
	return sum;
}

/* Property: a turn is taken unless it leads back or closes a cycle. Sifting keeps those that are there for good, and the
 * set does not get lighter. */
static void sets_have_no_cycle(void **state)
{
	(void)state;
	for (uint64_t number = 0; number < FABRICS; number += 4) {
		char recipe[200];
		uint64_t seed = number + 5;
		struct hd_fabric *fabric = draw_fabric(number, recipe);
		struct hd_arena arena = {0};
		struct turns turns;
		struct turn_order order;
		assert_int_equal(turn_order_number(&turns, fabric, &arena), 0);
		assert_int_equal(turn_order_begin(&order, &turns, &arena), 0);
		uint64_t *weight = hd_arena_alloc(&arena, turns.count, sizeof(*weight));
		for (uint32_t i = 0; turns.count && i < turns.count * 2; i++) {
			uint32_t in = (uint32_t)hd_random_below(&seed, fabric->isl_count);
			uint32_t out = turns_out(
			    &turns, in,
			    turns.first[in] + (uint32_t)hd_random_below(
						  &seed, turns.first[in + 1] - turns.first[in]));
			bool legal = !turns_back(&turns, in, out) && !follows(&order, out, in);
			weight[turns_find(&turns, in, out)] = hd_random_below(&seed, 1000);
			assert_int_equal(turn_order_add(&order, in, out, i < 3), legal);
		}
		assert_ordered(&order);
		uint64_t before = sum_taken(&order, weight);
		uint8_t *taken = hd_arena_alloc(&arena, turns.count, 1);
		memcpy(taken, order.taken, turns.count);
		assert_int_equal(turn_order_sift(&order, weight, 20, &arena), 0);
		assert_ordered(&order);
		assert_true(sum_taken(&order, weight) >= before);
		for (uint32_t turn = 0; turn < turns.count; turn++)
			assert_true(taken[turn] != 2 || order.taken[turn] == 2);
		hd_arena_release(&arena);
		hd_fabric_free(fabric);
	}
}

/* ---- tables ---- */

/* No loop and no credit loop, and no entry is missing that shortest paths have. */
static void assert_sound(const struct hd_fabric *fabric, const struct hd_routes *routes)
{
	struct hd_routes *shortest = route("spf", "deadlock=off", fabric);
	struct hd_check_report *report = check(fabric, routes), *complete = check(fabric, shortest);

	assert_int_equal(report->loop + report->dead_end + report->credit_loops, 0);
	assert_int_equal(report->no_route, complete->no_route);
	hd_check_report_free(complete);
	hd_check_report_free(report);
	hd_routes_free(shortest);
}

/* Property: on any fabric, with one lane and with three, all hosts of a component reach each other without a loop or a
 * credit loop; routed again nothing moves; after a loss LIDs whose paths are whole keep theirs. */
static void any_fabric_with_any_lanes(void **state)
{
	(void)state;
	for (uint64_t number = 0; number < FABRICS; number++) {
		char recipe[200], settings[32];
		struct hd_fabric *before = draw_fabric(number, recipe);
		struct hd_fabric *after = with_links_removed(copy_of(before), 5, number);
		snprintf(settings, sizeof(settings), "vls=%u", number % 2 ? 3 : 1);
		struct hd_routes *routes = route("turns", settings, before);
		assert_sound(before, routes);
		assert_in_range(hd_routes_lanes(before, routes), 0, number % 2 ? 7 : 1);
		struct hd_routes *again = route_after("turns", settings, before, routes);
		assert_true(hd_routes_equal(routes, again));
		struct hd_routes *repaired = route_after("turns", settings, after, routes);
		assert_sound(after, repaired);
		hd_routes_free(repaired);
		hd_routes_free(again);
		hd_routes_free(routes);
		hd_fabric_free(after);
		hd_fabric_free(before);
	}
}

/* What one lane is worth, by bisections: more than climbing and descending, on fabrics of all kinds with cycles. */
static void one_lane_is_worth_more(void **state)
{
	(void)state;
	static const struct {
		const char *kind, *settings;
	} fabrics[] = {{"torus", "dims=4,4,4 hosts=2"},
		       {"torus", "dims=8,8 hosts=1"},
		       {"torus", "dims=5,5,5 hosts=1"},
		       {"hypercube", "dimensions=6 hosts=1"},
		       {"irregular", "switches=60 radix=14 cycles=100 hosts=2"}};

	for (size_t i = 0; i < sizeof(fabrics) / sizeof(fabrics[0]); i++) {
		struct hd_fabric *fabric = generate(fabrics[i].kind, fabrics[i].settings);
		struct hd_routes *routes = route("turns", "vls=1", fabric);
		struct hd_routes *updown = route("updown", "", fabric);
		const struct hd_routes *tables[] = {routes, updown};
		const struct hd_go_on always = {0};
		double worth[2];
		assert_clean(fabric, routes);
		assert_int_equal(bisections_worth(fabric, tables, 2, 1, &always, worth), 0);
		assert_true(worth[0] > worth[1] * 1.05);
		hd_routes_free(updown);
		hd_routes_free(routes);
		hd_fabric_free(fabric);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(sets_have_no_cycle),
	    cmocka_unit_test(any_fabric_with_any_lanes),
	    cmocka_unit_test(one_lane_is_worth_more),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
