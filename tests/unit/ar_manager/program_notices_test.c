/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Fast recovery of switches: they get all that notices need before these are enabled, and one that refuses a part
 * has what is left, and its adaptive routing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "program_scene.h"

#define KEY UINT64_C(0x0123456789ABCDEF)
#define OTHER_KEY UINT64_C(0x77)
#define NODE_KEY UINT64_C(0x4711)
#define FAULTY 2u /* the number of a switch */

static struct hd_ar_config config_with(uint64_t manager_key)
{
	struct hd_ar_config config = {.enable = true,
				      .settings = hd_ar_settings_default,
				      .max_errors = 10,
				      .error_window_s = 5,
				      .notices = {.sl = 3,
						  .clear_s = 20,
						  .force_clear_s = 40,
						  .manager_key = manager_key,
						  .node_key = NODE_KEY}};

	config.settings.recovery = HD_AR_RECOVERY_NOTICES;
	return config;
}

static void configure(struct scene *scene, uint64_t manager_key)
{
	const struct hd_ar_config config = config_with(manager_key);

	assert_int_equal(
	    hd_ar_program_configure(scene->net->program, &config, &hd_ar_quirks_default), 0);
}

/* Switches that have fast recovery, with their plan, but not yet enabled. */
static struct scene programmed(uint64_t seed, uint64_t manager_key)
{
	struct scene scene = scene_new(seed);

	for (uint32_t sw = 0; sw < scene.net->count; sw++)
		scene.net->switches[sw].info.is_fr_sup = scene.net->switches[sw].info.pfrn_sup = 1;
	configure(&scene, manager_key);
	detect(&scene);
	plan_again(&scene);
	hd_ar_program_apply(scene.net->program, scene.plan, false);
	fake_work(scene.net);
	for (uint32_t sw = 0; sw < scene.net->count; sw++)
		assert_int_equal(hd_ar_program_report(scene.net->program, sw).recovery,
				 HD_AR_RECOVERY_OFF);
	zero(scene.net);
	return scene;
}

/* As the plugin does it, when the plan is proved for it and all links are active. */
static void recover_again(struct scene *scene, bool reread)
{
	struct hd_ar_program *program = scene->net->program;

	zero(scene->net);
	assert_int_equal(hd_ar_program_set_neighbours(program, scene->fabric), 0);
	hd_ar_program_set_recovery(program, HD_AR_RECOVERY_NOTICES);
	hd_ar_program_apply(program, scene->plan, reread);
	fake_work(scene->net);
	assert_int_equal(hd_ar_program_set_neighbours(program, NULL), 0);
}

static void recover(struct scene *scene)
{
	recover_again(scene, false);
}

static struct hd_ar_switch_report report_of(const struct scene *scene, uint32_t sw)
{
	return hd_ar_program_report(scene->net->program, sw);
}

static void assert_level(const struct scene *scene, uint32_t sw, enum hd_ar_recovery level)
{
	const struct fake_switch *held = &scene->net->switches[sw];

	assert_int_equal(report_of(scene, sw).recovery, level);
	assert_int_equal(held->info.pfrn_enabled, level == HD_AR_RECOVERY_NOTICES);
	assert_int_equal(held->info.enabled, scene->plan->switches[sw].used > 0);
	if (held->info.enabled)
		assert_int_equal(held->info.fr_enabled, level != HD_AR_RECOVERY_OFF);
	assert_int_equal(report_of(scene, sw).rc, 0);
	assert_int_equal(report_of(scene, sw).standing, HD_AR_ABLE);
}

/* Fails unless all switches have notices, but for one; HD_NONE: all have them. */
static void assert_others(const struct scene *scene, uint32_t but)
{
	for (uint32_t sw = 0; sw < scene->net->count; sw++)
		if (sw != but) {
			assert_level(scene, sw, HD_AR_RECOVERY_NOTICES);
			assert_false(report_of(scene, sw).recovery_refused);
		}
}

static uint32_t blocks_of(const struct scene *scene, uint32_t sw)
{
	return hd_n2n_blocks(hd_node_ports(scene->fabric, sw), &hd_ar_quirks_default);
}

/* The record of a switch for its port is the node that is cabled there. */
static void assert_record(const struct scene *scene, uint32_t sw, uint32_t port)
{
	const struct hd_fabric *fabric = scene->fabric;
	const uint8_t *block = scene->net->switches[sw].neighbours[port / HD_N2N_NEIGHBOURS];
	const uint32_t peer = fabric->peer[hd_port_index(fabric, sw, port)];
	const uint32_t node = peer == HD_NONE ? HD_NONE : fabric->port_node[peer];
	const bool is_switch = node != HD_NONE && node < fabric->switch_count;
	struct hd_n2n_neighbour records[HD_N2N_NEIGHBOURS];

	hd_n2n_neighbours_decode(block, records);
	const struct hd_n2n_neighbour *record = &records[port % HD_N2N_NEIGHBOURS];
	assert_int_equal(record->node_type, node == HD_NONE ? 0 : is_switch ? 2 : 1);
	assert_true(record->key == (is_switch ? NODE_KEY : 0));
	if (node != HD_NONE)
		assert_int_equal(record->lid,
				 fabric->lid[is_switch ? hd_port_index(fabric, node, 0) : peer]);
}

static void assert_told(const struct scene *scene, uint32_t sw, uint64_t manager_key)
{
	const struct fake_switch *held = &scene->net->switches[sw];
	struct hd_n2n_key_info info;

	hd_n2n_key_info_decode(held->key_info, &info);
	assert_true(info.manager_key == manager_key && info.protect == (manager_key != 0));
	assert_int_equal(held->pfrn.sl, 3);
	assert_int_equal(held->pfrn.mask_clear_s, 20);
	assert_int_equal(held->pfrn.mask_force_clear_s, 40);
	for (uint32_t port = 1; port <= hd_node_ports(scene->fabric, sw); port++)
		assert_record(scene, sw, port);
}

/* Property: all switches get to know who is cabled to them, and with which keys, before notices are enabled, by one Set for
 * each block. A second time nothing is sent. */
static void told_before_enabled(void **state)
{
	(void)state;
	for (unsigned keyed = 0; keyed < 2; keyed++) {
		const uint64_t key = keyed ? KEY : 0;
		struct scene scene = programmed(1 + keyed, key);
		recover(&scene);
		assert_others(&scene, HD_NONE);
		for (uint32_t sw = 0; sw < scene.net->count; sw++) {
			const struct fake_switch *held = &scene.net->switches[sw];
			assert_told(&scene, sw, key);
			assert_int_equal(held->blocks_set, blocks_of(&scene, sw));
			assert_int_equal(held->blocks_before, held->blocks_set);
		}
		recover(&scene);
		for (uint32_t sw = 0; sw < scene.net->count; sw++)
			assert_int_equal(scene.net->switches[sw].seen, 0);
		scene_end(&scene);
	}
}

/* Property: a switch that refuses a MAD that notices need has fast recovery of its own ports only; it is not asked
 * again until the keys or times change. */
static void refuses_notices(void **state)
{
	static const uint32_t attributes[] = {HD_AR_PFRN_CONFIG, HD_N2N_KEY_INFO,
					      HD_N2N_NEIGHBORS_INFO};

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		struct scene scene = programmed(3 + i, KEY);
		struct fake_switch *faulty = &scene.net->switches[FAULTY];
		faulty->refuses = attributes[i];
		recover(&scene);
		assert_level(&scene, FAULTY, HD_AR_RECOVERY_LOCAL);
		assert_others(&scene, FAULTY);
		const struct hd_ar_switch_report report = report_of(&scene, FAULTY);
		assert_true(report.recovery_refused);
		assert_int_equal(report.recovery_attribute, attributes[i]);
		assert_int_equal(report.recovery_status, 0x1C);
		recover(&scene);
		assert_int_equal(faulty->seen, 0);
		faulty->refuses = 0;
		configure(&scene, KEY);
		recover(&scene);
		assert_int_equal(faulty->seen, 0);
		scene_end(&scene);
	}
}

/* Property: a switch that refuses an info with fast recovery, or ignores that part, keeps its adaptive routing. */
static void refuses_all(void **state)
{
	struct scene scene = programmed(6, 0);
	struct fake_switch *faulty = &scene.net->switches[FAULTY];

	(void)state;
	faulty->without_recovery = true;
	recover(&scene);
	assert_level(&scene, FAULTY, HD_AR_RECOVERY_OFF);
	assert_others(&scene, FAULTY);
	const struct hd_ar_switch_report report = report_of(&scene, FAULTY);
	assert_true(report.recovery_refused);
	assert_int_equal(report.recovery_attribute, HD_AR_INFO);
	assert_int_equal(faulty->off, 0);
	recover(&scene);
	assert_int_equal(faulty->seen, 0);
	scene_end(&scene);
}

/* Property: the end of fast recovery takes one Set for each switch that has it, and none for others. Adaptive routing
 * stays on meanwhile. It comes back by one Set: switches keep what they were told. */
static void ends(void **state)
{
	struct scene scene = programmed(7, KEY);
	struct hd_ar_program *program = scene.net->program;

	(void)state;
	hd_ar_program_end_recovery(program);
	assert_int_equal(scene.net->mad_count, 0);
	recover(&scene);
	zero(scene.net);
	hd_ar_program_set_recovery(program, HD_AR_RECOVERY_OFF);
	hd_ar_program_end_recovery(program);
	fake_work(scene.net);
	for (uint32_t sw = 0; sw < scene.net->count; sw++) {
		assert_level(&scene, sw, HD_AR_RECOVERY_OFF);
		assert_int_equal(scene.net->switches[sw].seen, 1);
		assert_int_equal(scene.net->switches[sw].off, 0);
	}
	zero(scene.net);
	hd_ar_program_apply(program, scene.plan, false);
	hd_ar_program_end_recovery(program);
	assert_int_equal(scene.net->mad_count, 0);
	recover(&scene);
	assert_others(&scene, HD_NONE);
	for (uint32_t sw = 0; sw < scene.net->count; sw++) {
		assert_int_equal(scene.net->switches[sw].sets, 1);
		assert_int_equal(scene.net->switches[sw].blocks_set, blocks_of(&scene, sw));
	}
	scene_end(&scene);
}

static void lock(struct fake_switch *sw, uint64_t key, bool protect)
{
	const struct hd_n2n_key_info info = {.manager_key = key, .protect = protect};

	hd_n2n_key_info_encode(&info, sw->key_info);
}

/* Property: a switch that protects a key of another manager does not answer, and has no notices. It is asked again, and
 * has them once the keys match. */
static void keys_do_not_match(void **state)
{
	(void)state;
	for (unsigned keyed = 0; keyed < 2; keyed++) {
		struct scene scene = programmed(8 + keyed, keyed ? KEY : 0);
		struct fake_switch *locked = &scene.net->switches[FAULTY];
		lock(locked, OTHER_KEY, true);
		recover(&scene);
		assert_level(&scene, FAULTY, HD_AR_RECOVERY_LOCAL);
		assert_others(&scene, FAULTY);
		assert_true(report_of(&scene, FAULTY).recovery_refused);
		assert_int_equal(report_of(&scene, FAULTY).recovery_attribute,
				 keyed ? HD_N2N_KEY_INFO : HD_N2N_NEIGHBORS_INFO);
		assert_int_equal(report_of(&scene, FAULTY).recovery_status, 0);
		assert_int_equal(locked->blocks_set, 0);
		recover(&scene);
		assert_true(locked->seen > 0);
		assert_level(&scene, FAULTY, HD_AR_RECOVERY_LOCAL);
		lock(locked, keyed ? KEY : 0, keyed);
		recover(&scene);
		assert_others(&scene, HD_NONE);
		assert_told(&scene, FAULTY, keyed ? KEY : 0);
		scene_end(&scene);
	}
}

/* Property: a key that nobody protects is replaced, or protected. Afterwards a site with another key reaches no switch: those
 * with groups keep fast recovery of their own ports. */
static void keys_are_set(void **state)
{
	struct scene scene = programmed(10, KEY);

	(void)state;
	lock(&scene.net->switches[FAULTY], OTHER_KEY, false);
	lock(&scene.net->switches[FAULTY + 1], KEY, false);
	recover(&scene);
	assert_others(&scene, HD_NONE);
	assert_told(&scene, FAULTY, KEY);
	assert_told(&scene, FAULTY + 1, KEY);
	configure(&scene, OTHER_KEY);
	recover(&scene);
	for (uint32_t sw = 0; sw < scene.net->count; sw++)
		assert_level(&scene, sw,
			     scene.plan->switches[sw].used ? HD_AR_RECOVERY_LOCAL
							   : HD_AR_RECOVERY_OFF);
	configure(&scene, KEY);
	recover(&scene);
	assert_others(&scene, HD_NONE);
	scene_end(&scene);
}

/* Property: a switch that has restarted gets all of it again, after it is read; the others are not. */
static void restarts(void **state)
{
	struct scene scene = programmed(11, KEY);
	struct fake_switch *fresh = &scene.net->switches[FAULTY];

	(void)state;
	recover(&scene);
	fresh->info.enabled = fresh->info.fr_enabled = fresh->info.pfrn_enabled = 0;
	memset(fresh->neighbours, 0, sizeof(fresh->neighbours));
	memset(fresh->key_info, 0, sizeof(fresh->key_info));
	fresh->pfrn = (struct hd_ar_pfrn_config){.sl = 0};
	recover_again(&scene, true);
	recover(&scene);
	assert_others(&scene, HD_NONE);
	for (uint32_t sw = 0; sw < scene.net->count; sw++) {
		assert_told(&scene, sw, KEY);
		assert_int_equal(scene.net->switches[sw].blocks_set,
				 blocks_of(&scene, sw) * (sw == FAULTY ? 2 : 1));
	}
	scene_end(&scene);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(told_before_enabled),
	    cmocka_unit_test(refuses_notices),
	    cmocka_unit_test(refuses_all),
	    cmocka_unit_test(ends),
	    cmocka_unit_test(keys_do_not_match),
	    cmocka_unit_test(keys_are_set),
	    cmocka_unit_test(restarts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
