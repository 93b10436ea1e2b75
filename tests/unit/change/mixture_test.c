/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Mixtures of two tables, beside a slow search of all that packets can reach. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cases.h"
#include "generate_testing.h"
#include "mixture.h"

#include <heddle/base/random.h>
#include <heddle/engines.h>
#include <heddle/fabric/walk.h>

#define TRIALS CASES(3000, 800)
#define SWITCHES_MOST 32

/* Each switch leads to a random neighbour, or nowhere. */
static void draw(const struct hd_fabric *fabric, uint32_t lid, uint64_t *random,
		 struct hd_routes *tables)
{
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
		uint32_t links = fabric->isl_base[sw + 1] - fabric->isl_base[sw];
		uint32_t drawn = (uint32_t)hd_random_below(random, links + 2);
		hd_routes_row(tables, sw)[lid] =
		    drawn < links ? fabric->isl_port[fabric->isl_base[sw] + drawn] : HD_NO_PORT;
	}
}

/* reach[a][b]: packets can go from switch a to switch b, by one link or more. */
static void close_reach(const struct mixture *mixture, uint32_t lid,
			bool reach[SWITCHES_MOST][SWITCHES_MOST])
{
	const uint32_t count = mixture->fabric->switch_count;

	memset(reach, 0, sizeof(bool[SWITCHES_MOST][SWITCHES_MOST]));
	for (uint32_t sw = 0; sw < count; sw++)
		for (unsigned which = 0; which < 2; which++) {
			uint32_t next = mixture_next(mixture, sw, lid, which);
			if (next != HD_NONE)
				reach[sw][next] = true;
		}
	for (uint32_t over = 0; over < count; over++)
		for (uint32_t from = 0; from < count; from++)
			for (uint32_t to = 0; reach[from][over] && to < count; to++)
				reach[from][to] |= reach[over][to];
}

static bool compare(struct mixture *mixture, uint32_t lid)
{
	bool reach[SWITCHES_MOST][SWITCHES_MOST], any = false;

	close_reach(mixture, lid, reach);
	for (uint32_t sw = 0; sw < mixture->fabric->switch_count; sw++)
		any |= reach[sw][sw];
	assert_true(mixture_loops(mixture, lid) == any);
	return any;
}

/* Property: circles are those of a closure over all switches. */
static void mixtures_are_those_of_a_closure(void **state)
{
	struct hd_fabric *fabric = generate("xgft", "children=2,2,2 parents=1,2,2");
	struct hd_routes *before = NULL, *after;
	struct hd_arena arena = {0};
	struct hd_columns columns;
	struct mixture mixture;
	struct hd_error err = {""};
	unsigned counts[2] = {0};
	uint64_t random = 7;

	(void)state;
	assert_in_range(fabric->switch_count, 8, SWITCHES_MOST);
	assert_int_equal(hd_engine_route(hd_engine_find("dmodk"),
					 &(struct hd_route_request){.fabric = fabric}, &before,
					 &err),
			 0);
	after = hd_routes_copy(before);
	assert_int_equal(hd_columns_init(&columns, fabric, before, &arena), 0);
	assert_int_equal(mixture_init(&mixture, fabric, columns.port_step, &arena), 0);
	mixture.tables[0] = after->lft;
	mixture.tables[1] = before->lft;
	mixture.stride[0] = mixture.stride[1] = before->stride;
	for (unsigned trial = 0; trial < TRIALS; trial++) {
		uint32_t lid = 1 + trial % (fabric->lid_count - 1);
		draw(fabric, lid, &random, before);
		draw(fabric, lid, &random, after);
		counts[compare(&mixture, lid)]++;
	}
	print_message("%u without a circle, %u with one\n", counts[0], counts[1]);
	assert_true(counts[0] > 20 && counts[1] > 20);
	hd_arena_release(&arena);
	hd_routes_free(after);
	hd_routes_free(before);
	hd_fabric_free(fabric);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(mixtures_are_those_of_a_closure)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
