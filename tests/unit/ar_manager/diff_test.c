/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The blocks that make a switch hold what a plan wants: enough, not more, and never unsafe on the
 * way. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "ar_testing.h"

static const struct hd_ar_info fresh = {
    .group_cap = 100, .sub_grps_supported = 2, .by_sl_cap = 1, .by_transp_cap = 1, .is_arn_sup = 1};

struct scene {
	struct hd_fabric *fabric;
	struct hd_routes *routes;
	struct hd_ar_plan *plan;
};

static struct scene scene_of(double percent, uint64_t seed, enum hd_ar_form form, uint32_t cap,
			     const struct hd_ar_plan *previous)
{
	struct scene scene = {
	    .fabric = damaged(generate("xgft", "children=3,4,4 parents=1,4,4"), percent, seed)};
	struct hd_ar_capability can[256];

	scene.routes = route("dmodk", scene.fabric);
	for (uint32_t sw = 0; sw < scene.fabric->switch_count; sw++) {
		can[sw] = hd_ar_capability_full;
		can[sw].form = form;
		can[sw].group_cap = cap;
	}
	struct hd_ar_request request = {.fabric = scene.fabric,
					.routes = scene.routes,
					.capabilities = can,
					.previous = previous,
					.algorithm = HD_AR_TREE,
					.mode = HD_AR_FREE};
	CHECK(hd_ar_plan_new(&request, &scene.plan, NULL, &err));
	return scene;
}

static void scene_end(struct scene *scene)
{
	hd_ar_plan_free(scene->plan);
	hd_routes_free(scene->routes);
	hd_fabric_free(scene->fabric);
}

static struct hd_ar_image *want_of(const struct hd_ar_plan *plan, uint32_t sw)
{
	struct hd_ar_image *image = NULL;

	assert_int_equal(hd_ar_image_of_plan(plan, sw, &hd_ar_settings_default,
					     &hd_ar_quirks_default, &fresh, &image),
			 0);
	return image;
}

/* What a switch that was never programmed answers: all bytes 0. */
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
		assert_true(hd_ar_image_store(held, answer));
	}
	hd_ar_changes_free(unknown);
	return held;
}

static void assert_holds(const struct hd_ar_image *held, const struct hd_ar_image *want)
{
	struct hd_ar_changes *changes = NULL;

	assert_memory_equal(&held->info, &want->info, sizeof(held->info));
	assert_memory_equal(held->groups, want->groups, want->group_blocks * HD_AR_DATA);
	assert_memory_equal(held->lft, want->lft, want->lft_blocks * HD_AR_DATA);
	assert_int_equal(hd_ar_diff(want, held, HD_AR_GROUPS_FIRST, &changes), 0);
	assert_true(HD_AR_NEEDS_NOTHING(changes));
	hd_ar_changes_free(changes);
}

static void decode_lft(const struct hd_ar_image *image, uint32_t lid, struct hd_ar_entry *entry)
{
	struct hd_ar_entry entries[HD_AR_OLD_BLOCK];
	uint32_t lids = image->form == HD_AR_FORM_OLD ? 32 : 16;

	if (image->form == HD_AR_FORM_OLD)
		hd_ar_old_decode(image->lft[lid / lids], entries);
	else
		hd_ar_rev1_decode(image->lft[lid / lids], entries);
	*entry = entries[lid % lids];
}

/* The ports that an adaptive entry has now; nothing if the switch has AR off or the entry is
 * static.
 */
static struct hd_port_set ports_now(const struct hd_ar_image *held, uint32_t lid)
{
	struct hd_port_set none = {{0}}, sets[HD_AR_GROUP_BLOCK];
	struct hd_ar_entry entry;

	decode_lft(held, lid, &entry);
	if (!held->info.enabled || entry.state == HD_AR_STATIC)
		return none;
	hd_ar_group_block_decode(held->groups[entry.group / 2], sets);
	return sets[entry.group % 2];
}

static bool is_part(const struct hd_port_set *part, const struct hd_port_set *all)
{
	struct hd_port_set sum = *all;

	hd_port_set_unite(&sum, part);
	return hd_port_set_equal(&sum, all);
}

/* After each Set: an adaptive entry has the ports of the old plan or those of the new one. */
static void assert_safe(const struct hd_ar_image *held, const struct hd_ar_image *before,
			const struct hd_ar_image *want, uint32_t lids)
{
	for (uint32_t lid = 0; lid < lids; lid++) {
		struct hd_port_set now = ports_now(held, lid), old = {{0}};
		struct hd_port_set new = ports_now(want, lid);
		if (before)
			old = ports_now(before, lid);
		assert_true(is_part(&now, &old) || is_part(&now, &new));
	}
}

/* Sends everything; returns how many were sent. */
static uint32_t apply(struct hd_ar_image *held, const struct hd_ar_image *before,
		      const struct hd_ar_image *want, enum hd_ar_order order, uint32_t lids)
{
	struct hd_ar_changes *changes = NULL;
	uint32_t count;

	assert_int_equal(hd_ar_diff(want, held, order, &changes), 0);
	for (uint32_t i = 0; i < changes->count; i++) {
		assert_true(!i || changes->step[i] >= changes->step[i - 1]);
		assert_true(hd_ar_image_store(held, &changes->mads[i]));
		assert_safe(held, before, want, lids);
	}
	count = changes->count;
	hd_ar_changes_free(changes);
	return count;
}

static uint32_t blocks_that_differ(const struct hd_ar_image *a, const struct hd_ar_image *b)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < b->group_blocks; i++)
		count += i >= a->group_blocks || memcmp(a->groups[i], b->groups[i], HD_AR_DATA);
	/* groups that are no longer used are taken away */
	for (uint32_t i = b->group_blocks; i < a->group_blocks; i++)
		count++;
	for (uint32_t i = 0; i < b->lft_blocks; i++)
		count += i >= a->lft_blocks || memcmp(a->lft[i], b->lft[i], HD_AR_DATA);
	return count;
}

/* Property: an empty switch gets all its blocks once, in the order of the steps, and then needs
 * nothing; a switch without groups needs nothing at all. */
static void first_programming(void **state)
{
	(void)state;
	for (int form = HD_AR_FORM_OLD; form <= HD_AR_FORM_REV1; form++)
		for (int order = HD_AR_GROUPS_FIRST; order <= HD_AR_LFT_FIRST; order++) {
			struct scene scene = scene_of(4, 1, (enum hd_ar_form)form, 100, NULL);
			for (uint32_t sw = 0; sw < scene.fabric->switch_count; sw++) {
				struct hd_ar_image *want = want_of(scene.plan, sw);
				struct hd_ar_image *held = empty_switch(want);
				uint32_t most = want->group_blocks + want->lft_blocks + 1;
				uint32_t sent = apply(
				    held, NULL, want, (enum hd_ar_order)order,
				    scene.plan->switches[sw].used ? scene.plan->lid_count : 0);
				assert_int_equal(want->info.enabled, want->group_blocks > 0);
				assert_true(want->info.enabled ? sent >= 2 && sent <= most : !sent);
				assert_int_equal(want->info.is_arn_sup, 1);
				assert_holds(held, want);
				hd_ar_image_free(held);
				hd_ar_image_free(want);
			}
			scene_end(&scene);
		}
}

/* Property: after a change of the fabric only blocks that differ are sent, and at no time is an
 * entry adaptive over ports that neither plan gives it. With room for few groups numbers change
 * their meaning; then blocks can be sent twice. */
static void changes_are_few_and_safe(void **state)
{
	unsigned changed = 0, twice = 0, blocks = 0, surplus = 0;

	(void)state;
	for (uint64_t trial = 0; trial < 24; trial++) {
		enum hd_ar_form form = trial % 2 ? HD_AR_FORM_OLD : HD_AR_FORM_REV1;
		uint32_t cap = trial % 3 ? 200 : 2;
		struct scene first = scene_of((double)(trial % 5), trial, form, cap, NULL);
		struct scene next = scene_of(3, trial + 1, form, cap, first.plan);
		for (uint32_t sw = 0; sw < first.fabric->switch_count; sw++) {
			struct hd_ar_image *before = want_of(first.plan, sw);
			struct hd_ar_image *want = want_of(next.plan, sw), *held = NULL;
			bool both = before->info.enabled && want->info.enabled;
			assert_int_equal(hd_ar_image_like(want, before, &held), 0);
			if (both) {
				uint32_t differ =
				    blocks_that_differ(before, want) +
				    (memcmp(&before->info, &want->info, sizeof(want->info)) != 0);
				uint32_t sent = apply(held, before, want, HD_AR_GROUPS_FIRST,
						      first.plan->lid_count);
				assert_true(sent >= differ);
				changed += sent > 0;
				blocks += cap > 2 ? differ : 0;
				surplus += cap > 2 ? sent - differ : 0;
				twice += sent > differ;
				assert_memory_equal(held->lft, want->lft,
						    want->lft_blocks * HD_AR_DATA);
			}
			hd_ar_image_free(held);
			hd_ar_image_free(before);
			hd_ar_image_free(want);
		}
		scene_end(&next);
		scene_end(&first);
	}
	assert_true(changed > 50);
	assert_true(twice > 0);
	assert_true(surplus * 10 < blocks);
}

static struct hd_ar_plan *plan_after(const struct hd_fabric *fabric,
				     const struct hd_ar_plan *previous)
{
	struct hd_routes *routes = route("dmodk", fabric);
	struct hd_ar_request request = {.fabric = fabric,
					.routes = routes,
					.previous = previous,
					.algorithm = HD_AR_TREE,
					.mode = HD_AR_FREE};
	struct hd_ar_plan *plan = NULL;

	CHECK(hd_ar_plan_new(&request, &plan, NULL, &err));
	hd_routes_free(routes);
	return plan;
}

/* Sends what turns the one plan into the other; returns how many blocks differed. */
static uint32_t assert_only_changed(const struct hd_ar_plan *from, const struct hd_ar_plan *to)
{
	uint32_t all = 0;

	for (uint32_t sw = 0; sw < from->switch_count; sw++) {
		struct hd_ar_image *before = want_of(from, sw), *want = want_of(to, sw);
		struct hd_ar_image *held = NULL;
		assert_int_equal(hd_ar_image_like(want, before, &held), 0);
		if (before->info.enabled && want->info.enabled) {
			uint32_t differ = blocks_that_differ(before, want) +
					  (before->info.group_top != want->info.group_top);
			assert_int_equal(
			    apply(held, before, want, HD_AR_GROUPS_FIRST, from->lid_count), differ);
			all += differ;
		}
		hd_ar_image_free(held);
		hd_ar_image_free(want);
		hd_ar_image_free(before);
	}
	return all;
}

/* Property: after one link has failed, and after it has returned, the Sets are exactly those of the
 * blocks that changed. */
static void one_link(void **state)
{
	struct hd_fabric *fabric = generate("xgft", "children=3,4,4 parents=1,4,4");
	struct hd_ar_plan *intact = plan_after(fabric, NULL);

	(void)state;
	for (uint32_t link = 0; link < fabric->isl_count; link += 7) {
		struct hd_fabric *less = NULL;
		CHECK(variants_without_link(fabric, link, &less, &err));
		struct hd_ar_plan *failed = plan_after(less, intact);
		struct hd_ar_plan *mended = plan_after(fabric, failed);
		assert_true(assert_only_changed(intact, failed) > 0);
		assert_true(assert_only_changed(failed, mended) > 0);
		hd_ar_plan_free(mended);
		hd_ar_plan_free(failed);
		hd_fabric_free(less);
	}
	hd_ar_plan_free(intact);
	hd_fabric_free(fabric);
}

/* Property: where it is not known what a switch with AR holds, AR goes off first; and a plan
 * without groups switches AR off and sends nothing else. */
static void unknown_and_off(void **state)
{
	struct scene scene = scene_of(0, 1, HD_AR_FORM_REV1, 100, NULL);
	struct hd_ar_image *want = want_of(scene.plan, 0), *held = NULL;
	struct hd_ar_changes *changes = NULL;
	struct hd_ar_info info;

	(void)state;
	assert_true(want->info.enabled);
	assert_int_equal(hd_ar_image_like(want, want, &held), 0);
	assert_holds(held, want);
	hd_ar_image_forget(held, HD_AR_GROUP_TABLE, 0);
	assert_int_equal(hd_ar_diff(want, held, HD_AR_GROUPS_FIRST, &changes), 0);
	assert_int_equal(changes->count, 3);
	hd_ar_info_decode(changes->mads[0].data, &info);
	assert_int_equal(info.enabled, 0);
	assert_int_equal(changes->mads[1].attribute, HD_AR_GROUP_TABLE);
	hd_ar_info_decode(changes->mads[2].data, &info);
	assert_int_equal(info.enabled, 1);
	hd_ar_changes_free(changes);
	struct hd_ar_image off = {.info_known = true, .info = held->info};
	off.info.enabled = 0;
	assert_int_equal(hd_ar_diff(&off, held, HD_AR_GROUPS_FIRST, &changes), 0);
	assert_int_equal(changes->count, 1);
	assert_int_equal(changes->mads[0].attribute, HD_AR_INFO);
	hd_ar_changes_free(changes);
	hd_ar_image_free(held);
	hd_ar_image_free(want);
	scene_end(&scene);
}

/* Property: blocks that the image has no room for are refused. */
static void foreign_blocks(void **state)
{
	struct scene scene = scene_of(0, 1, HD_AR_FORM_REV1, 100, NULL);
	struct hd_ar_image *want = want_of(scene.plan, 0);
	const struct hd_ar_mad foreign[] = {{HD_AR_GROUP_TABLE, want->group_blocks, {0}},
					    {HD_AR_LFT_OLD, 0, {0}},
					    {HD_AR_LFT_REV1, want->lft_blocks, {0}},
					    {HD_AR_LFT_REV1, 0x01000000, {0}},
					    {HD_AR_EXT_PORT_INFO, 0, {0}}};

	(void)state;
	for (unsigned i = 0; i < sizeof(foreign) / sizeof(foreign[0]); i++)
		assert_false(hd_ar_image_store(want, &foreign[i]));
	hd_ar_image_free(want);
	scene_end(&scene);
}

/* Property: SLs and transports can be limited only where the switch can do it. */
/* Sends everything to a switch, and counts the blocks of entries from `beyond` on. These come before all others. */
static uint32_t send_all(struct hd_ar_image *held, const struct hd_ar_image *want, uint32_t beyond)
{
	const uint32_t attribute = want->form == HD_AR_FORM_OLD ? HD_AR_LFT_OLD : HD_AR_LFT_REV1;
	struct hd_ar_changes *changes = NULL;
	uint32_t count = 0;

	assert_int_equal(hd_ar_diff(want, held, HD_AR_GROUPS_FIRST, &changes), 0);
	for (uint32_t i = 0; i < changes->count; i++) {
		const struct hd_ar_mad *mad = &changes->mads[i];
		const bool counts =
		    mad->attribute == attribute && (mad->modifier & 0xFFF) >= beyond;
		assert_true(!counts || changes->step[i] == 0);
		assert_true(hd_ar_image_store(held, mad));
		count += counts;
	}
	hd_ar_changes_free(changes);
	return count;
}

/* LIDs above the highest one have gone: a switch that is known to have entries for them gets each such block once. */
static void lids_that_have_gone(void **state)
{
	static const enum hd_ar_form forms[] = {HD_AR_FORM_REV1, HD_AR_FORM_OLD};

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		struct scene scene = scene_of(0, 1, forms[i], 100, NULL);
		struct hd_ar_plan fewer = *scene.plan;
		fewer.lid_count = 33;
		struct hd_ar_image *large = want_of(scene.plan, 0), *held = empty_switch(large),
				   *small = want_of(&fewer, 0);
		assert_true(large->lft_blocks > small->lft_blocks);
		send_all(held, large, large->lft_blocks);
		assert_int_equal(send_all(held, small, small->lft_blocks),
				 large->lft_blocks - small->lft_blocks);
		for (uint32_t lid = 33; lid < scene.plan->lid_count; lid++) {
			struct hd_ar_entry entry;
			decode_lft(held, lid, &entry);
			assert_int_equal(entry.state, HD_AR_STATIC);
			assert_int_equal(entry.port, hd_ar_quirks_default.unreachable_port);
		}
		assert_holds(held, small);
		hd_ar_image_free(large);
		hd_ar_image_free(small);
		hd_ar_image_free(held);
		scene_end(&scene);
	}
}

static void settings(void **state)
{
	struct hd_ar_settings few = {.sl_mask = 0x0002, .transport_disable = HD_AR_TRANSPORT_UD};
	struct hd_ar_info info = {.by_sl_cap = 1};

	(void)state;
	assert_false(hd_ar_settings_fit(&few, &info));
	info.by_transp_cap = 1;
	assert_true(hd_ar_settings_fit(&few, &info));
	info.by_sl_cap = 0;
	assert_false(hd_ar_settings_fit(&few, &info));
	assert_true(hd_ar_settings_fit(&hd_ar_settings_default, &(struct hd_ar_info){0}));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(first_programming),
	    cmocka_unit_test(changes_are_few_and_safe),
	    cmocka_unit_test(unknown_and_off),
	    cmocka_unit_test(foreign_blocks),
	    cmocka_unit_test(settings),
	    cmocka_unit_test(one_link),
	    cmocka_unit_test(lids_that_have_gone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
