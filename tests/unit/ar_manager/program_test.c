/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Programming: every switch ends with the plan or without AR, others never wait for it, and no MAD
 * is sent that is not needed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "program_scene.h"

static void apply(struct scene *scene, bool reread)
{
	plan_again(scene);
	hd_ar_program_apply(scene->net->program, scene->plan, reread);
	fake_work(scene->net);
}

static struct hd_ar_image *want_of(const struct scene *scene, uint32_t sw)
{
	struct hd_ar_image *want = NULL;

	CHECK(hd_ar_image_of_plan(scene->plan, sw, &hd_ar_settings_default, &hd_ar_quirks_default,
				  &scene->net->switches[sw].info, &want));
	return want;
}

static void assert_holds_plan(const struct scene *scene, uint32_t sw)
{
	const struct fake_switch *held = &scene->net->switches[sw];
	struct hd_ar_image *want = want_of(scene, sw);

	assert_int_equal(held->info.enabled, scene->plan->switches[sw].used > 0);
	for (uint32_t i = 0; i < want->group_blocks; i++)
		assert_memory_equal(held->groups[i], want->groups[i], HD_AR_DATA);
	for (uint32_t i = 0; i < want->lft_blocks; i++)
		assert_memory_equal(held->lft[i], want->lft[i], HD_AR_DATA);
	hd_ar_image_free(want);
}

/* Property: each switch holds the plan, after two Gets to detect it, one Set for each block, and one of the
 * info: with AR off, blocks are not read before. A second time nothing is sent. A third time, with
 * reread, everything is read and nothing is set. */
static void programs_what_is_missing(void **state)
{
	struct scene scene = scene_new(1);

	(void)state;
	detect(&scene);
	apply(&scene, false);
	for (uint32_t sw = 0; sw < scene.net->count; sw++) {
		struct hd_ar_image *want = want_of(&scene, sw);
		uint32_t blocks = want->group_blocks + want->lft_blocks;
		assert_holds_plan(&scene, sw);
		assert_int_equal(scene.net->switches[sw].gets, 2);
		assert_int_equal(scene.net->switches[sw].sets, blocks + (blocks > 0));
		assert_int_equal(hd_ar_program_report(scene.net->program, sw).rc, 0);
		hd_ar_image_free(want);
	}
	zero(scene.net);
	detect(&scene);
	apply(&scene, false);
	for (uint32_t sw = 0; sw < scene.net->count; sw++)
		assert_int_equal(scene.net->switches[sw].seen, 0);
	apply(&scene, true);
	for (uint32_t sw = 0; sw < scene.net->count; sw++)
		assert_true(scene.net->switches[sw].gets && !scene.net->switches[sw].sets);
	scene_end(&scene);
}

/* Property: an entry that was changed behind the program's back is mended with one Set, when the
 * tables are read again. */
static void mends_a_changed_entry(void **state)
{
	struct scene scene = scene_new(2);

	(void)state;
	detect(&scene);
	apply(&scene, false);
	zero(scene.net);
	scene.net->switches[3].lft[1][5] ^= 1;
	apply(&scene, false);
	assert_int_equal(scene.net->switches[3].sets, 0);
	apply(&scene, true);
	for (uint32_t sw = 0; sw < scene.net->count; sw++)
		assert_int_equal(scene.net->switches[sw].sets, sw == 3);
	assert_holds_plan(&scene, 3);
	scene_end(&scene);
}

static uint32_t missing_blocks(const struct scene *scene, uint32_t sw)
{
	const struct fake_switch *held = &scene->net->switches[sw];
	struct hd_ar_image *want = want_of(scene, sw);
	uint32_t missing = 0;

	for (uint32_t i = 0; i < want->group_blocks; i++)
		missing += memcmp(held->groups[i], want->groups[i], HD_AR_DATA) != 0;
	for (uint32_t i = 0; i < want->lft_blocks; i++)
		missing += memcmp(held->lft[i], want->lft[i], HD_AR_DATA) != 0;
	hd_ar_image_free(want);
	return missing;
}

static uint32_t all_blocks(const struct scene *scene, uint32_t sw)
{
	struct hd_ar_image *want = want_of(scene, sw);
	const uint32_t blocks = want->group_blocks + want->lft_blocks;

	hd_ar_image_free(want);
	return blocks;
}

/* Property: stopped at any point, nothing more is sent. A program that knows nothing of that sends the blocks that are
 * missing, and the info; to a switch that has AR off still, all blocks. */
static void continues_after_a_stop(void **state)
{
	for (uint32_t stop = 1; stop < 3000; stop += 321) {
		struct scene scene = scene_new(stop);
		(void)state;
		detect(&scene);
		plan_again(&scene);
		hd_ar_program_apply(scene.net->program, scene.plan, false);
		for (uint32_t i = 0; i < stop && scene.net->mad_count; i++)
			fake_answer(scene.net);
		hd_ar_program_stop(scene.net->program);
		uint32_t under_way = scene.net->mad_count;
		zero(scene.net);
		fake_work(scene.net);
		uint32_t seen = 0;
		for (uint32_t sw = 0; sw < scene.net->count; sw++)
			seen += scene.net->switches[sw].seen;
		assert_int_equal(seen, under_way);
		hd_ar_program_forget(scene.net->program);
		detect(&scene);
		plan_again(&scene);
		zero(scene.net);
		uint32_t missing[256];
		for (uint32_t sw = 0; sw < scene.net->count; sw++)
			missing[sw] =
			    scene.net->switches[sw].info.enabled
				? missing_blocks(&scene, sw)
				: all_blocks(&scene, sw) + (scene.plan->switches[sw].used > 0);
		apply(&scene, false);
		for (uint32_t sw = 0; sw < scene.net->count; sw++) {
			assert_holds_plan(&scene, sw);
			assert_int_equal(scene.net->switches[sw].sets, missing[sw]);
		}
		scene_end(&scene);
	}
}

/* Property: whenever a fault begins, the faulty switch ends within its budget, and all others end
 * with the plan. A switch that refuses or ignores is left without AR; one that loses 5% is
 * programmed. */
static void faults_stay_where_they_are(void **state)
{
	static const enum fake_fault faults[] = {FAKE_SILENT, FAKE_REFUSES, FAKE_IGNORES,
						 FAKE_LOSES};

	(void)state;
	for (uint64_t trial = 0; trial < 60; trial++) {
		struct scene scene = scene_new(trial);
		struct fake_switch *faulty = &scene.net->switches[trial % scene.net->count];
		enum fake_fault fault = faults[trial % 4];
		faulty->fault = fault;
		faulty->fault_after = below(&scene.net->random, 30);
		detect(&scene);
		apply(&scene, false);
		for (uint32_t sw = 0; sw < scene.net->count; sw++) {
			bool sound = &scene.net->switches[sw] != faulty;
			struct hd_ar_switch_report report =
			    hd_ar_program_report(scene.net->program, sw);
			if (sound || !report.rc) {
				assert_holds_plan(&scene, sw);
				continue;
			}
			assert_int_not_equal(fault, FAKE_LOSES);
			assert_false(faulty->info.enabled && !report.uncertain);
			assert_true(faulty->gets + faulty->sets < 120);
			assert_int_not_equal(report.standing, HD_AR_UNASKED);
		}
		scene_end(&scene);
	}
}

/* Property: a switch that was left gets nothing until its window has passed; then, sound again, it
 * gets the plan. */
static void forgives_when_the_window_has_passed(void **state)
{
	struct scene scene = scene_new(7);
	struct fake_switch *faulty = &scene.net->switches[5];

	(void)state;
	detect(&scene);
	faulty->fault = FAKE_REFUSES;
	apply(&scene, false);
	assert_int_equal(hd_ar_program_report(scene.net->program, 5).standing, HD_AR_LEFT);
	assert_int_equal(hd_ar_program_report(scene.net->program, 5).status, 0x1C);
	zero(scene.net);
	faulty->fault = FAKE_NONE;
	scene.net->now += 1000;
	detect(&scene);
	apply(&scene, false);
	assert_int_equal(faulty->seen, 0);
	scene.net->now += 5000;
	detect(&scene);
	apply(&scene, false);
	assert_holds_plan(&scene, 5);
	assert_true(faulty->info.enabled);
	scene_end(&scene);
}

/* Property: with the default window, and with none, a switch that becomes silent or refuses ends
 * each operation after a few MADs, and is left. */
static void no_fault_outlasts_the_window(void **state)
{
	static const enum fake_fault faults[] = {FAKE_SILENT, FAKE_REFUSES, FAKE_IGNORES};

	(void)state;
	for (unsigned trial = 0; trial < 12; trial++) {
		struct scene scene = scene_new(trial);
		struct fake_switch *faulty = &scene.net->switches[5];
		const struct hd_ar_config config = {.enable = true,
						    .settings = hd_ar_settings_default,
						    .max_errors = 10,
						    .error_window_s = trial % 2 ? 0 : 5};
		assert_int_equal(
		    hd_ar_program_configure(scene.net->program, &config, &hd_ar_quirks_default), 0);
		detect(&scene);
		if (trial >= 6)
			apply(&scene, false);
		zero(scene.net);
		faulty->fault = faults[trial / 2 % 3];
		if (trial >= 6) {
			hd_ar_program_disable(scene.net->program, false);
			fake_work(scene.net);
		} else {
			apply(&scene, false);
		}
		assert_int_equal(hd_ar_program_report(scene.net->program, 5).standing, HD_AR_LEFT);
		assert_true(faulty->seen <= (faulty->fault == FAKE_SILENT ? 50 : 100));
		scene_end(&scene);
	}
}

/* Property: a plan may use private tables only at a switch that has room for all LIDs in them. */
static void private_tables_need_room(void **state)
{
	struct scene scene = scene_new(4);
	const struct hd_ar_config config = {.enable = true,
					    .algorithm = HD_AR_DFP,
					    .settings = hd_ar_settings_default,
					    .max_errors = 10,
					    .error_window_s = 5};
	struct hd_ar_program *program = scene.net->program;

	(void)state;
	scene.net->switches[3].private = true;
	assert_int_equal(hd_ar_program_configure(program, &config, &hd_ar_quirks_default), 0);
	detect(&scene);
	assert_true(hd_ar_program_capability(program, 3, 1024).private_tables);
	assert_false(hd_ar_program_capability(program, 3, 1025).private_tables);
	assert_false(hd_ar_program_capability(program, 4, 10).private_tables);
	scene_end(&scene);
}

/* Property: disabling takes one Set for each switch with AR, and leaves the tables. */
static void disables(void **state)
{
	struct scene scene = scene_new(8);
	uint32_t sets = 0, on = 0;

	(void)state;
	scene.net->switches[2].able = false;
	detect(&scene);
	assert_int_equal(hd_ar_program_report(scene.net->program, 2).standing, HD_AR_UNABLE);
	apply(&scene, false);
	zero(scene.net);
	for (uint32_t sw = 0; sw < scene.net->count; sw++)
		on += scene.net->switches[sw].info.enabled;
	hd_ar_program_disable(scene.net->program, true);
	assert_int_equal(scene.net->mad_count, 0);
	hd_ar_program_disable(scene.net->program, false);
	fake_work(scene.net);
	for (uint32_t sw = 0; sw < scene.net->count; sw++) {
		sets += scene.net->switches[sw].seen;
		assert_false(scene.net->switches[sw].info.enabled);
	}
	assert_true(on > 0 && sets == on);
	zero(scene.net);
	apply(&scene, false);
	for (uint32_t sw = 0; sw < scene.net->count; sw++)
		assert_true(scene.net->switches[sw].seen <= 1);
	scene_end(&scene);
}

/* Property: switches that go are forgotten, those that stay are not asked again. */
static void follows_the_fabric(void **state)
{
	struct scene scene = scene_new(9);
	uint64_t *guids = calloc(scene.net->count, sizeof(*guids));

	(void)state;
	detect(&scene);
	apply(&scene, false);
	zero(scene.net);
	for (uint32_t i = 0; i + 1 < scene.net->count; i++)
		guids[i] = scene.fabric->node_guid[i + (i >= 4)];
	assert_int_equal(
	    hd_ar_program_set_switches(scene.net->program, guids, scene.net->count - 1), 0);
	assert_int_equal(hd_ar_program_report(scene.net->program, 4).guid, guids[4]);
	detect(&scene);
	for (uint32_t sw = 0; sw < scene.net->count; sw++)
		assert_int_equal(scene.net->switches[sw].seen, sw == 4 ? 2 : 0);
	free(guids);
	scene_end(&scene);
}

/* Each group gets ports, loses some, or is another one's. */
static void change_groups(struct hd_ar_plan_copy *copy, uint32_t sw, uint64_t *random)
{
	const struct hd_ar_switch was = copy->switches[sw];
	struct hd_ar_group before[HD_AR_OLD_GROUPS_MAX];

	if (!was.used)
		return;
	memcpy(before, was.groups, was.group_count * sizeof(*before));
	struct hd_ar_group *groups = hd_ar_plan_copy_new_groups(copy, sw, was.group_count);
	for (uint32_t number = 0; number < was.group_count; number++) {
		groups[number] = before[(number + below(random, 2)) % was.group_count];
		hd_port_set_add(&groups[number].ports[0], 1 + below(random, 8));
	}
}

/* Another plan: entries of some switches are static, or all of one; or it has other groups. */
static void take_other_plan(struct scene *scene, const struct hd_ar_plan *base, uint64_t *random)
{
	struct hd_ar_plan_copy copy;

	assert_int_equal(hd_ar_plan_copy_new(base, scene->fabric, NULL, &copy), 0);
	for (unsigned i = below(random, 4); i > 0; i--) {
		const uint32_t sw = below(random, copy.plan->switch_count);
		assert_int_equal(hd_ar_plan_copy_own(&copy, sw), 0);
		if (!below(random, 4))
			hd_ar_plan_copy_switch_off(&copy, sw);
		else if (!below(random, 3))
			change_groups(&copy, sw, random);
		else if (!below(random, 3))
			hd_ar_plan_copy_ports(&copy, sw, 0)[below(random, copy.plan->lid_count)] =
			    (uint8_t)(1 + sw % 8);
		else
			hd_ar_plan_copy_make_static(&copy, sw, below(random, copy.plan->lid_count));
	}
	if (!below(random, 6))
		copy.plan->mode = HD_AR_BOUNDED;
	hd_ar_plan_free(scene->plan);
	scene->plan = copy.plan;
}

/* No MAD that is under way is answered, but some are done. */
static void lose_answers(struct fake_net *net)
{
	const struct hd_ar_answer none = {.rc = -ETIMEDOUT, .tries = 4};
	uint8_t data[HD_AR_DATA];

	while (net->mad_count) {
		const struct fake_mad asked = net->mads[--net->mad_count];
		if (below(&net->random, 2))
			fake_do(&net->switches[asked.sw], &asked, data);
		hd_ar_program_answer(net->program, asked.sw, asked.slot, &none);
	}
}

/* Begins with another plan; after some answers it stops, or a switch begins to fail. */
static void break_off(struct scene *scene, const struct hd_ar_plan *base, uint64_t *random)
{
	struct fake_switch *faulty = &scene->net->switches[below(random, scene->net->count)];
	static const enum fake_fault faults[] = {FAKE_NONE, FAKE_LOSES, FAKE_REFUSES, FAKE_SILENT};

	take_other_plan(scene, base, random);
	zero(scene->net);
	faulty->fault = faults[below(random, 4)];
	faulty->fault_after = below(random, 4);
	hd_ar_program_apply(scene->net->program, scene->plan, false);
	for (unsigned i = below(random, 6); i > 0 && scene->net->mad_count; i--)
		fake_answer(scene->net);
	if (faulty->fault == FAKE_NONE || !below(random, 2)) {
		hd_ar_program_stop(scene->net->program);
		if (below(random, 2))
			lose_answers(scene->net);
	}
	fake_work(scene->net);
	faulty->fault = FAKE_NONE;
	scene->net->now += 3600 * 1000; /* a switch that was left is forgiven */
	detect(scene);
}

/* Something else happens. Returns whether switches may get more than the next plan asks for. */
static bool interrupt(struct scene *scene, const struct hd_ar_plan *base,
		      struct hd_ar_config *config, uint64_t *random)
{
	switch (below(random, 6)) {
	case 0:
		config->settings.ageing_time_us = 10 + below(random, 3);
		assert_int_equal(
		    hd_ar_program_configure(scene->net->program, config, &hd_ar_quirks_default), 0);
		return true;
	case 1:
		hd_ar_program_disable(scene->net->program, false);
		fake_work(scene->net);
		return true;
	case 2:
	case 3:
		break_off(scene, base, random);
		return true;
	default:
		return false;
	}
}

static void assert_settings(const struct scene *scene, const struct hd_ar_config *config)
{
	for (uint32_t sw = 0; sw < scene->net->count; sw++) {
		assert_holds_plan(scene, sw);
		if (scene->plan->switches[sw].used)
			assert_int_equal(scene->net->switches[sw].info.ageing_time_value,
					 config->settings.ageing_time_us);
	}
}

/* Applies another plan. Counts the switches that get nothing, since their rows are the same. */
static void apply_other_plan(struct scene *scene, const struct hd_ar_plan *base,
			     struct hd_ar_config *config, uint64_t *random, unsigned *quiet)
{
	const bool more = interrupt(scene, base, config, random);
	struct hd_ar_plan_copy before;

	assert_int_equal(hd_ar_plan_copy_new(scene->plan, scene->fabric, NULL, &before), 0);
	take_other_plan(scene, base, random);
	zero(scene->net);
	hd_ar_program_apply(scene->net->program, scene->plan, false);
	fake_work(scene->net);
	assert_settings(scene, config);
	for (uint32_t sw = 0; !more && sw < scene->net->count; sw++) {
		if (!hd_ar_switch_same(&before.switches[sw], &scene->plan->switches[sw]) ||
		    before.plan->mode != scene->plan->mode)
			continue;
		assert_int_equal(scene->net->switches[sw].seen, 0);
		*quiet += 1;
	}
	hd_ar_plan_free(before.plan);
}

/* Property: plan after plan, each switch holds the last one, whatever comes between; a switch whose row is the same gets
 * nothing, if nothing came between. */
static void plan_after_plan(void **state)
{
	unsigned quiet = 0;

	(void)state;
	for (uint64_t number = 0; number < 60; number++) {
		struct scene scene = scene_new(number);
		struct hd_ar_config config = {.enable = true,
					      .settings = hd_ar_settings_default,
					      .max_errors = 1000,
					      .error_window_s = 5};
		uint64_t random = number;
		struct hd_ar_plan_copy base;
		assert_int_equal(
		    hd_ar_program_configure(scene.net->program, &config, &hd_ar_quirks_default), 0);
		detect(&scene);
		apply(&scene, false);
		assert_int_equal(hd_ar_plan_copy_new(scene.plan, scene.fabric, NULL, &base), 0);
		for (unsigned i = 0; i < 10; i++)
			apply_other_plan(&scene, base.plan, &config, &random, &quiet);
		hd_ar_plan_free(base.plan);
		scene_end(&scene);
	}
	assert_true(quiet > 1000);
}

/* Property: the order has each switch once: all leaves, those of a part one after the other, then the others. */
static void assert_order(const struct hd_fabric *fabric, const uint32_t *order, uint32_t leaves,
			 uint32_t part)
{
	bool *seen = calloc(fabric->switch_count, sizeof(*seen));

	for (uint32_t i = 0; i < fabric->switch_count; i++) {
		assert_false(seen[order[i]]);
		seen[order[i]] = true;
		assert_int_equal(hd_has_hosts(fabric, order[i]), i < leaves);
		if (i < leaves)
			assert_int_equal(fabric->isl_to[fabric->isl_base[order[i]]],
					 fabric->isl_to[fabric->isl_base[order[i / part * part]]]);
	}
	free(seen);
}

/* Property: of many switches those begin that the order has first, whatever their number. */
static void begins_in_order(void **state)
{
	struct scene scene = {.fabric = generate("xgft", "children=2,18,18 parents=1,2,2")};
	const uint32_t switches = scene.fabric->switch_count;
	uint32_t *order = calloc(switches, sizeof(*order));

	(void)state;
	scene.routes = route("dmodk", scene.fabric);
	scene.net = fake_net_new(scene.fabric, 1);
	assert_int_equal(hd_ar_program_order(scene.fabric, order), 0);
	assert_order(scene.fabric, order, 324, 18);
	for (uint32_t i = 0; i < switches / 2; i++) { /* the last ones first */
		const uint32_t other = order[i];
		order[i] = order[switches - 1 - i];
		order[switches - 1 - i] = other;
	}
	detect(&scene);
	assert_int_equal(hd_ar_program_set_order(scene.net->program, order), 0);
	plan_again(&scene);
	zero(scene.net);
	hd_ar_program_apply(scene.net->program, scene.plan, false);
	for (uint32_t i = 0; i < scene.net->mad_count; i++) {
		uint32_t at = 0;
		while (order[at] != scene.net->mads[i].sw)
			at++;
		assert_true(at < 300); /* 256, and those above that have nothing to do */
	}
	fake_work(scene.net);
	for (uint32_t sw = 0; sw < switches; sw++)
		assert_holds_plan(&scene, sw);
	scene_end(&scene);
	free(order);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(programs_what_is_missing),
	    cmocka_unit_test(begins_in_order),
	    cmocka_unit_test(mends_a_changed_entry),
	    cmocka_unit_test(continues_after_a_stop),
	    cmocka_unit_test(faults_stay_where_they_are),
	    cmocka_unit_test(forgives_when_the_window_has_passed),
	    cmocka_unit_test(no_fault_outlasts_the_window),
	    cmocka_unit_test(private_tables_need_room),
	    cmocka_unit_test(disables),
	    cmocka_unit_test(follows_the_fabric),
	    cmocka_unit_test(plan_after_plan),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
