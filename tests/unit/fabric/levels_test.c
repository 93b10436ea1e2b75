/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Levels above the hosts, and counts of LIDs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "generate_testing.h"

static uint32_t *levels_of(const struct hd_fabric *fabric)
{
	struct hd_error err = {""};
	uint32_t *level = calloc(fabric->switch_count, sizeof(*level));

	assert_non_null(level);
	if (hd_fabric_levels(fabric, level, &err))
		fail_msg("%s", err.text);
	return level;
}

/* Property: in a 2-ary 3-tree four switches are at each of the levels 0, 1 and 2, and every link
 * joins neighbouring levels. */
static void levels_are_those_of_a_tree(void **state)
{
	(void)state;
	struct hd_fabric *fabric = generate("kary-ntree", "k=2 n=3");
	uint32_t *level = levels_of(fabric), count[3] = {0};
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
		assert_in_range(level[sw], 0, 2);
		count[level[sw]]++;
		for (uint32_t link = fabric->isl_base[sw]; link < fabric->isl_base[sw + 1]; link++)
			assert_int_equal(abs((int)level[sw] - (int)level[fabric->isl_to[link]]), 1);
	}
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(count[i], 4);
	free(level);
	hd_fabric_free(fabric);
}

/* Property: a switch that no way leads to from any host has no level. */
static void what_no_host_reaches_has_no_level(void **state)
{
	(void)state;
	struct hd_error err = {""};
	struct hd_fabric *whole = generate("xgft", "children=2,2 parents=1,2"), *cut = NULL;
	struct hd_builder *builder = hd_builder_from(whole);
	uint32_t last = whole->switch_count - 1;
	assert_int_equal(whole->host_base[last], whole->host_base[last + 1]);
	for (uint32_t port = 1; port <= hd_node_ports(whole, last); port++)
		hd_builder_unlink(builder, last, port);
	if (hd_builder_build(builder, &cut, &err))
		fail_msg("%s", err.text);
	uint32_t *level = levels_of(cut);
	for (uint32_t sw = 0; sw < last; sw++)
		assert_int_not_equal(level[sw], HD_NONE);
	assert_int_equal(level[last], HD_NONE);
	free(level);
	hd_fabric_free(cut);
	hd_builder_free(builder);
	hd_fabric_free(whole);
}

/* Property: with LMC 2 a host has 4 LIDs and a switch 1, and all of them are in use; without
 * LIDs nobody has any. */
static void lids_are_counted_by_port_and_in_all(void **state)
{
	(void)state;
	struct hd_error err = {""};
	struct hd_fabric *one = generate("xgft", "children=3,2 parents=1,2"), *many = NULL,
			 *none = NULL;
	if (hd_fabric_assign_lids(one, 2, &many, &err))
		fail_msg("%s", err.text);
	for (uint32_t host = 0; host < 6; host++)
		assert_int_equal(hd_port_lid_count(many, many->host_port[host]), 4);
	for (uint32_t sw = 0; sw < 4; sw++)
		assert_int_equal(hd_port_lid_count(many, many->port_base[sw]), 1);
	assert_int_equal(hd_fabric_lids_in_use(one), 6 + 4);
	assert_int_equal(hd_fabric_lids_in_use(many), 6 * 4 + 4);
	struct hd_builder *builder = hd_builder_from(one);
	hd_builder_clear_lids(builder);
	if (hd_builder_build(builder, &none, &err))
		fail_msg("%s", err.text);
	assert_int_equal(hd_fabric_lids_in_use(none), 0);
	assert_int_equal(hd_port_lid_count(none, none->host_port[0]), 0);
	hd_builder_free(builder);
	hd_fabric_free(none);
	hd_fabric_free(many);
	hd_fabric_free(one);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(levels_are_those_of_a_tree),
	    cmocka_unit_test(what_no_host_reaches_has_no_level),
	    cmocka_unit_test(lids_are_counted_by_port_and_in_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
