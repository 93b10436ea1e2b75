/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the fabric has had and has no more: the same as hd_fabric_changes() finds against the undamaged
 * fabric, whatever came between. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "generated.h"
#include "status_lost.h"
#include "variants.h"

#include <heddle/fabric/changes.h>

#define CHANGES 20000

static struct hd_fabric *make(const char *kind, const char *settings)
{
	struct hd_fabric *fabric;
	struct hd_error err;

	if (generated_fabric(kind, settings, &fabric, &err))
		fail_msg("%s", err.text);
	return fabric;
}

static void note(struct status_lost *lost, const struct hd_fabric *fabric)
{
	assert_int_equal(status_lost_note(lost, fabric, NULL), 0);
}

/* Compares the numbers, and the names. */
static void assert_lost(const struct status_lost *lost, const struct hd_fabric *whole,
			const struct hd_fabric *now)
{
	static struct hd_fabric_change changes[CHANGES];
	uint32_t count, switches = 0, others = 0, cables = 0, at = 0, named = 0;
	char text[512];

	assert_int_equal(hd_fabric_changes(whole, now, changes, CHANGES, &count, NULL), 0);
	assert_true(count < CHANGES);
	for (uint32_t i = 0; i < count; i++) {
		assert_true(changes[i].lost);
		cables += changes[i].cable;
		switches += !changes[i].cable && hd_is_switch(whole, changes[i].index);
		others += !changes[i].cable && !hd_is_switch(whole, changes[i].index);
	}
	assert_int_equal(lost->switches, switches);
	assert_int_equal(lost->others, others);
	assert_int_equal(lost->lost_cables, cables);
	while (status_lost_next(lost, &at, text, sizeof(text))) {
		assert_true(!strncmp(text, named < switches ? "switch '" : "cable '", 7));
		named++;
	}
	assert_int_equal(named, switches + cables);
}

/* Random damages after each other, in fabrics that are described in random orders. */
static void test_random_damages(void **state)
{
	(void)state;
	static const char *const fabrics[][2] = {
	    {"xgft", "children=4,4,4 parents=1,4,4"},
	    {"torus", "dims=4,4 hosts=2"},
	    {"irregular", "switches=20 radix=8 cycles=12 hosts=3"}};

	for (unsigned i = 0; i < 3; i++) {
		struct hd_fabric *whole = make(fabrics[i][0], fabrics[i][1]), *now, *shuffled;
		struct status_lost lost = {0};

		note(&lost, whole);
		assert_lost(&lost, whole, whole);
		for (uint64_t seed = 1; seed <= 30; seed++) {
			if (variants_damaged(whole, (unsigned)seed % 12, seed, &now, NULL))
				continue;
			assert_int_equal(variants_shuffled(now, seed, &shuffled, NULL), 0);
			note(&lost, shuffled);
			assert_lost(&lost, whole, now);
			hd_fabric_free(shuffled);
			hd_fabric_free(now);
		}
		note(&lost, whole);
		assert_lost(&lost, whole, whole);
		status_lost_release(&lost);
		hd_fabric_free(whole);
	}
}

static struct hd_fabric *build(struct hd_builder *builder)
{
	struct hd_fabric *fabric;
	struct hd_error err;

	if (hd_builder_build(builder, &fabric, &err))
		fail_msg("%s", err.text);
	return fabric;
}

/* A cable between two switches, neither of which is `a` or `b`. Returns the port at one end. */
static uint32_t cable_without(const struct hd_fabric *fabric, uint32_t a, uint32_t b)
{
	for (uint32_t link = 0; link < fabric->isl_count; link++) {
		uint32_t from = hd_isl_from(fabric, link), to = fabric->isl_to[link];
		if (from != a && from != b && to != a && to != b)
			return hd_port_index(fabric, from, fabric->isl_port[link]);
	}
	fail();
	return HD_NONE;
}

static bool unlink_at(struct hd_builder *builder, const struct hd_fabric *fabric, uint32_t port)
{
	return hd_builder_unlink(builder, fabric->port_node[port], hd_port_number(fabric, port));
}

/* One end of a cable is plugged in where another cable was. */
static void test_a_cable_that_is_moved(void **state)
{
	(void)state;
	struct hd_fabric *whole = make("torus", "dims=6");
	struct hd_builder *builder = hd_builder_from(whole);
	uint32_t one = hd_port_index(whole, 0, whole->isl_port[0]), end = whole->peer[one];
	uint32_t other = cable_without(whole, whole->port_node[one], whole->port_node[end]);
	struct status_lost lost = {0};

	note(&lost, whole);
	assert_true(unlink_at(builder, whole, one));
	struct hd_fabric *without = build(builder);
	note(&lost, without);
	assert_int_equal(lost.lost_cables, 1);
	assert_true(unlink_at(builder, whole, other));
	assert_int_equal(hd_builder_link(builder, whole->port_node[end], hd_port_number(whole, end),
					 whole->port_node[other], hd_port_number(whole, other), 0,
					 HD_SPEED_UNKNOWN, NULL),
			 0);
	struct hd_fabric *moved = build(builder);
	note(&lost, moved);
	assert_int_equal(lost.lost_cables + lost.switches + lost.others, 0);
	/* what was forgotten comes back as something new, and can be lost again */
	note(&lost, whole);
	assert_int_equal(lost.lost_cables, 0);
	note(&lost, without);
	assert_int_equal(lost.lost_cables, 1);
	status_lost_release(&lost);
	hd_fabric_free(moved);
	hd_fabric_free(without);
	hd_fabric_free(whole);
	hd_builder_free(builder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_random_damages),
	    cmocka_unit_test(test_a_cable_that_is_moved),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
