/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Private forwarding tables in images: enough blocks, not more, and none while AR is on. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "ar_testing.h"

#define TRIALS 12

static const struct hd_ar_info fresh = {
    .group_cap = 100, .sub_grps_supported = 2, .by_sl_cap = 1, .by_transp_cap = 1};
/* The second mode is the first with enough banks. */
static const struct hd_ar_private_info can = {
    .table_count = 4, .mode_cap = 2, .modes = {{48, 2}, {1, 4}}};

static struct hd_ar_plan *plan_of(double percent, uint64_t seed, enum hd_ar_algorithm algorithm)
{
	const char *shape = "islands=3 leaves=3 spines=3 hosts=2 global-links=4";
	struct hd_fabric *fabric = damaged(generate("dragonfly-plus", shape), percent, seed);
	struct hd_routes *routes = route("dfp", fabric);
	const struct hd_ar_request request = {
	    .fabric = fabric, .routes = routes, .algorithm = algorithm, .mode = HD_AR_FREE};
	struct hd_ar_plan *plan = NULL;

	if (hd_ar_plan_new(&request, &plan, NULL, NULL))
		plan = NULL; /* the damage is too much for DFP */
	hd_routes_free(routes);
	hd_fabric_free(fabric);
	return plan;
}

static struct hd_ar_image *want_of(const struct hd_ar_plan *plan, uint32_t sw)
{
	struct hd_ar_image *image = NULL;

	assert_int_equal(hd_ar_image_of_plan(plan, sw, &hd_ar_settings_default,
					     &hd_ar_quirks_default, &fresh, &image),
			 0);
	return image;
}

static struct hd_ar_private_block *find(const struct hd_ar_image *image, uint32_t attribute,
					uint32_t modifier)
{
	for (uint32_t i = 0; i < image->private_count; i++)
		if (image->private_blocks[i].attribute == attribute &&
		    image->private_blocks[i].modifier == modifier)
			return &image->private_blocks[i];
	return NULL;
}

static uint32_t mode_of(const struct hd_ar_image *image)
{
	struct hd_ar_private_info info = {0};

	if (find(image, HD_AR_PRIVATE_LFT_INFO, 0))
		hd_ar_private_info_decode(find(image, HD_AR_PRIVATE_LFT_INFO, 0)->data, &info);
	return info.active_mode;
}

/* What a switch that was never programmed answers. */
static struct hd_ar_image *empty_switch(const struct hd_ar_image *want)
{
	struct hd_ar_image *held = NULL;
	struct hd_ar_changes *unknown = NULL;

	assert_int_equal(hd_ar_image_like(want, NULL, &held), 0);
	assert_int_equal(hd_ar_unknown(want, held, &unknown), 0);
	assert_int_equal(unknown->count, unknown->wanted_blocks);
	for (uint32_t i = 0; i < unknown->count; i++) {
		struct hd_ar_mad *answer = &unknown->mads[i];
		if (answer->attribute == HD_AR_INFO)
			hd_ar_info_encode(&fresh, answer->data);
		if (answer->attribute == HD_AR_PRIVATE_LFT_INFO)
			hd_ar_private_info_encode(&can, answer->data);
		assert_true(hd_ar_image_store(held, answer));
	}
	hd_ar_changes_free(unknown);
	return held;
}

/* The mode that a switch is to have follows from what it can do. */
static void learn(struct hd_ar_image *want)
{
	struct hd_ar_private_info info = can;

	info.active_mode = 2;
	if (want->private_count)
		hd_ar_private_info_encode(&info, find(want, HD_AR_PRIVATE_LFT_INFO, 0)->data);
}

static bool is_map(uint32_t attribute)
{
	return attribute == HD_AR_PRIVATE_LFT_MAP || attribute == HD_AR_PORT_SL_TO_PRIVATE_LFT;
}

/* Sends everything. While a private table or its use changes, AR is off; packets are led to the
 * tables after these are complete. Returns how many blocks were sent beside the info. */
static uint32_t apply(struct hd_ar_image *held, const struct hd_ar_image *want)
{
	struct hd_ar_changes *changes = NULL;
	uint32_t count = 0;
	bool maps = false, private = want->private_count || mode_of(held);

	assert_int_equal(hd_ar_diff(want, held, HD_AR_GROUPS_FIRST, &changes), 0);
	for (uint32_t i = 0; i < changes->count; i++) {
		uint32_t attribute = changes->mads[i].attribute;
		assert_true(!i || changes->step[i] >= changes->step[i - 1]);
		assert_true(hd_ar_image_store(held, &changes->mads[i]));
		count += attribute != HD_AR_INFO;
		maps |= is_map(attribute);
		if (private && attribute != HD_AR_INFO)
			assert_int_equal(held->info.enabled, 0);
		if (maps)
			assert_true(is_map(attribute) || attribute == HD_AR_INFO);
	}
	hd_ar_changes_free(changes);
	return count;
}

static void assert_holds(const struct hd_ar_image *held, const struct hd_ar_image *want)
{
	struct hd_ar_changes *changes = NULL;

	assert_int_equal(hd_ar_diff(want, held, HD_AR_GROUPS_FIRST, &changes), 0);
	assert_true(HD_AR_NEEDS_NOTHING(changes));
	hd_ar_changes_free(changes);
	assert_int_equal(held->info.enabled, want->info.enabled);
	assert_int_equal(mode_of(held), want->private_count ? 2 : 0);
}

/* Blocks of `want` that `held` has otherwise or not at all. */
static uint32_t blocks_that_differ(const struct hd_ar_image *held, const struct hd_ar_image *want)
{
	uint32_t count = 0, blocks = want->table_count * want->lft_blocks;

	for (uint32_t i = 0; i < want->group_blocks; i++)
		count += memcmp(held->groups[i], want->groups[i], HD_AR_DATA) != 0;
	for (uint32_t i = 0; i < blocks; i++)
		count += memcmp(held->lft[i], want->lft[i], HD_AR_DATA) != 0;
	for (uint32_t i = 0; i < want->private_count; i++)
		count += memcmp(find(held, want->private_blocks[i].attribute,
				     want->private_blocks[i].modifier)
				    ->data,
				want->private_blocks[i].data, HD_AR_DATA) != 0;
	return count;
}

/* Property: a switch gets the private tables, then those of a damaged fabric, then those of another
 * algorithm; of private tables only blocks that differ are sent, and at last none is in use. */
static void from_plan_to_plan(void **state)
{
	unsigned changed = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= TRIALS; seed++) {
		struct hd_ar_plan *plans[] = {plan_of(0, 0, HD_AR_DFP), plan_of(4, seed, HD_AR_DFP),
					      plan_of(0, 0, HD_AR_LAG)};
		if (!plans[1])
			plans[1] = plan_of(0, 0, HD_AR_DFP);
		for (uint32_t sw = 0; sw < plans[0]->switch_count; sw++) {
			struct hd_ar_image *held = NULL;
			for (unsigned i = 0; i < 3; i++) {
				struct hd_ar_image *want = want_of(plans[i], sw), *grown = NULL;
				learn(want);
				if (!held)
					held = empty_switch(want);
				assert_int_equal(hd_ar_image_like(want, held, &grown), 0);
				hd_ar_image_free(held);
				held = grown;
				uint32_t differ = blocks_that_differ(held, want);
				uint32_t sent = apply(held, want);
				changed += i == 1 && sent > 0;
				if (want->private_count)
					assert_int_equal(sent, differ);
				assert_holds(held, want);
				hd_ar_image_free(want);
			}
			hd_ar_image_free(held);
		}
		for (unsigned i = 0; i < 3; i++)
			hd_ar_plan_free(plans[i]);
	}
	assert_true(changed > TRIALS);
}

/* Property: packets that come by ports from above use table 0; others use table 2 on lane 1, and table
 * 1 on all other lanes. The masks of ports say the same. */
static void which_packets_use_which_table(void **state)
{
	struct hd_ar_plan *plan = plan_of(0, 0, HD_AR_DFP);

	(void)state;
	for (uint32_t sw = 0; sw < plan->switch_count; sw++) {
		const struct hd_ar_switch *planned = &plan->switches[sw];
		struct hd_ar_image *want = want_of(plan, sw);
		assert_true(hd_port_set_count(&planned->above) > 0);
		for (uint32_t port = 1; port <= planned->port_count; port++) {
			struct hd_ar_port_sl_map map;
			bool above = hd_port_set_has(&planned->above, port);
			hd_ar_port_sl_map_decode(
			    find(want, HD_AR_PORT_SL_TO_PRIVATE_LFT, port / 4)->data, &map);
			for (uint32_t lane = 0; lane < HD_AR_SLS; lane++)
				assert_int_equal(map.table[port % 4][lane], above	? 0
									    : lane == 1 ? 2
											: 1);
			for (uint32_t table = 0; table < 3; table++) {
				struct hd_ar_private_map ports;
				hd_ar_private_map_decode(
				    find(want, HD_AR_PRIVATE_LFT_MAP, table)->data, &ports);
				assert_int_equal(hd_port_set_has(&ports.ports, port),
						 above == (table == 0));
			}
		}
		hd_ar_image_free(want);
	}
	hd_ar_plan_free(plan);
}

/* Property: switching AR off ends the use of private tables, where it is known. */
static void switching_off(void **state)
{
	struct hd_ar_plan *plan = plan_of(0, 0, HD_AR_DFP);
	struct hd_ar_image *want = want_of(plan, 0);
	struct hd_ar_changes *changes = NULL;

	(void)state;
	learn(want);
	struct hd_ar_image *held = empty_switch(want);
	apply(held, want);
	assert_int_equal(hd_ar_switch_off(&held->info, held, &changes), 0);
	assert_int_equal(changes->count, 2);
	for (uint32_t i = 0; i < 2; i++)
		hd_ar_image_store(held, &changes->mads[i]);
	assert_true(!held->info.enabled && mode_of(held) == 0 &&
		    changes->step[0] < changes->step[1]);
	hd_ar_changes_free(changes);
	assert_int_equal(hd_ar_switch_off(&held->info, held, &changes), 0);
	assert_int_equal(changes->count, 1);
	hd_ar_changes_free(changes);
	assert_int_equal(hd_ar_switch_off(&fresh, NULL, &changes), 0);
	assert_int_equal(changes->count, 1);
	hd_ar_changes_free(changes);
	hd_ar_image_free(held);
	hd_ar_image_free(want);
	hd_ar_plan_free(plan);
}

/* Property: the lowest mode with room for all tables and LIDs is taken, and none that has not. */
static void room_for_tables(void **state)
{
	struct hd_ar_private_info info = can;
	uint32_t mode = 0;

	(void)state;
	assert_true(hd_ar_private_fits(&info, 3, 1024, &mode));
	assert_int_equal(mode, 2);
	assert_true(hd_ar_private_fits(&info, 2, 49152, &mode));
	assert_int_equal(mode, 1);
	assert_false(hd_ar_private_fits(&info, 3, 1025, &mode));
	assert_false(hd_ar_private_fits(&info, 5, 10, &mode));
	info.mode_cap = 1;
	assert_false(hd_ar_private_fits(&info, 3, 10, &mode));
	info.table_count = 0; /* 36 */
	info.modes[0].banks = 36;
	assert_true(hd_ar_private_fits(&info, 36, 49152, &mode));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(from_plan_to_plan),
	    cmocka_unit_test(which_packets_use_which_table),
	    cmocka_unit_test(switching_off),
	    cmocka_unit_test(room_for_tables),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
