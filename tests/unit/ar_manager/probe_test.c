/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Switches whose format is as assumed contradict no fact; each deviation contradicts exactly the fact that it is about. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "generate_testing.h"

#include <heddle/ar_manager/probe.h>

#define GROUPS 6u
#define SUBS 2u
#define BLOCKS 64u
#define FACTS_MAX 64u

/* What a switch does otherwise than assumed. */
struct deviation {
	const char *fact; /* that is contradicted; NULL: none */
	bool old, off;
	uint32_t old_size; /* LIDs of an old block; 0: 32 */
	bool sub_major, less_one, odd_bit, wrong_mask, no_second_table, reversed_ports, other_port,
	    from_1;
	bool odd_pfrn;
	uint8_t unreachable;
};

struct scene {
	const struct deviation *deviation;
	struct hd_fabric *fabric;
	struct hd_ar_probe_switch one;
	struct hd_ar_probe_answer groups[GROUPS], entries[BLOCKS];
	uint8_t lft[BLOCKS * HD_AR_REV1_BLOCK];
	struct hd_ar_fact facts[FACTS_MAX];
};

static void make_records(struct scene *scene)
{
	const struct deviation *deviation = scene->deviation;
	struct hd_ar_capability_mask mask = {{0}};
	const struct hd_ar_info info = {.enabled = !deviation->off,
					.group_cap = 100,
					.group_top = GROUPS - 1,
					.group_table_cap = 2,
					.sub_grps_supported = SUBS,
					.sub_grps_active = deviation->less_one ? 0 : SUBS,
					.ageing_time_value = 30,
					.pfrn_sup = 1};
	const struct hd_ar_pfrn_config pfrn = {.mask_clear_s = 180, .mask_force_clear_s = 720};

	mask.words[0] = 1u << (deviation->wrong_mask ? 7
			       : deviation->old	     ? HD_AR_CAN_OLD
						     : HD_AR_CAN_REV1);
	hd_ar_capability_mask_encode(&mask, scene->one.general.data);
	hd_ar_info_encode(&info, scene->one.info.data);
	scene->one.info.data[40] = deviation->odd_bit;
	hd_ar_pfrn_config_encode(&pfrn, scene->one.pfrn.data);
	scene->one.pfrn.data[40] = deviation->odd_pfrn;
	scene->one.second_table.rc = deviation->no_second_table ? -EREMOTEIO : 0;
}

/* Sub-group 0 of group g has two ports, and sub-group 1 one; group 1 lacks the latter. */
static void make_groups(struct scene *scene)
{
	struct hd_port_set elements[GROUPS * SUBS] = {{{0}}};

	for (uint32_t group = 0; group < GROUPS; group++)
		for (uint32_t sub = 0; sub < SUBS; sub++) {
			const uint32_t at =
			    scene->deviation->sub_major ? sub * GROUPS + group : group * SUBS + sub;
			for (uint32_t i = 0; i < 2 - sub && !(sub && group == 1); i++) {
				const uint32_t port = 1 + (group + 2 * sub + i) % 8;
				hd_port_set_add(&elements[at], scene->deviation->reversed_ports
								   ? 255 - port
								   : port);
			}
		}
	for (uint32_t block = 0; block < GROUPS; block++)
		hd_ar_group_block_encode(&elements[block * HD_AR_GROUP_BLOCK],
					 scene->groups[block].data);
	scene->one.groups = scene->groups;
	scene->one.group_blocks = GROUPS * SUBS / HD_AR_GROUP_BLOCK;
}

static struct hd_ar_entry entry_of(const struct scene *scene, uint32_t lid)
{
	struct hd_ar_entry entry = {.state = HD_AR_STATIC, .port = scene->lft[lid]};

	if (scene->lft[lid] == HD_NO_PORT)
		entry.port =
		    scene->deviation->unreachable ? scene->deviation->unreachable : HD_NO_PORT;
	else if (scene->deviation->other_port)
		entry.port = (uint8_t)(1 + entry.port % 8);
	else if (lid % 5 == 0)
		entry = (struct hd_ar_entry){.state = HD_AR_FREE,
					     .port = scene->deviation->old ? 0 : scene->lft[lid],
					     .group = (uint16_t)(lid % GROUPS)};
	return entry;
}

static void make_entries(struct scene *scene)
{
	const bool old = scene->deviation->old;
	const uint32_t room = old ? HD_AR_OLD_BLOCK : HD_AR_REV1_BLOCK;
	const uint32_t size = old && scene->deviation->old_size ? scene->deviation->old_size : room;

	scene->one.lid_count = BLOCKS * HD_AR_REV1_BLOCK / 2;
	for (uint32_t lid = 0; lid < BLOCKS * HD_AR_REV1_BLOCK; lid++)
		scene->lft[lid] = lid % 7 ? (uint8_t)(1 + lid * 5 % 8) : HD_NO_PORT;
	for (uint32_t block = 0; block < BLOCKS; block++) {
		struct hd_ar_entry entries[HD_AR_OLD_BLOCK] = {{0}};
		for (uint32_t i = 0; i < size; i++)
			if (block * size + i < BLOCKS * HD_AR_REV1_BLOCK)
				entries[i] = entry_of(scene, block * size + i);
		if (old)
			hd_ar_old_encode(entries, scene->entries[block].data);
		else
			hd_ar_rev1_encode(entries, scene->entries[block].data);
	}
	scene->one.entries = scene->entries;
	scene->one.entry_blocks = BLOCKS;
	scene->one.old = old;
	scene->one.lft = scene->lft;
}

static void make_neighbours(struct scene *scene)
{
	struct hd_n2n_neighbour records[HD_N2N_NEIGHBOURS] = {{0}};
	const struct hd_fabric *fabric = scene->fabric;

	for (uint32_t port = 1; port <= hd_node_ports(fabric, 0); port++) {
		const uint32_t peer = fabric->peer[hd_port_index(fabric, 0, port)];
		const uint32_t node = fabric->port_node[peer];
		records[port - scene->deviation->from_1] = (struct hd_n2n_neighbour){
		    .node_type = 2,
		    .lid =
			fabric->lid[hd_is_switch(fabric, node) ? fabric->port_base[node] : peer]};
	}
	hd_n2n_neighbours_encode(records, scene->one.neighbours);
}

static struct scene *judge(const struct deviation *deviation)
{
	struct scene *scene = calloc(1, sizeof(*scene));
	struct hd_fabric *bare = generate("xgft", "children=4,4 parents=1,4");
	struct hd_error err;

	assert_non_null(scene);
	assert_true(hd_ar_probe_fact_count() <= FACTS_MAX);
	assert_int_equal(hd_fabric_assign_lids(bare, 0, &scene->fabric, &err), 0);
	hd_fabric_free(bare);
	scene->deviation = deviation;
	make_records(scene);
	make_groups(scene);
	make_entries(scene);
	make_neighbours(scene);
	const struct hd_ar_probe probe = {
	    .fabric = scene->fabric, .switches = &scene->one, .count = 1};
	hd_ar_probe_judge(&probe, scene->facts);
	return scene;
}

static void free_scene(struct scene *scene)
{
	hd_fabric_free(scene->fabric);
	free(scene);
}

static enum hd_ar_verdict verdict(const struct scene *scene, const char *name)
{
	for (unsigned i = 0; i < hd_ar_probe_fact_count(); i++)
		if (!strcmp(scene->facts[i].name, name))
			return scene->facts[i].verdict;
	fail_msg("there is no fact %s", name);
	return HD_AR_UNDECIDED;
}

static void contradicts_only(const struct deviation *deviation)
{
	struct scene *scene = judge(deviation);

	for (unsigned i = 0; i < hd_ar_probe_fact_count(); i++) {
		const struct hd_ar_fact *fact = &scene->facts[i];
		const bool meant = deviation->fact && !strcmp(fact->name, deviation->fact);
		if ((fact->verdict == HD_AR_CONTRADICTED) != meant)
			fail_msg("%s: %s is %s (%s)", deviation->fact ? deviation->fact : "none",
				 fact->name, hd_ar_verdict_name(fact->verdict), fact->evidence);
		assert_true(fact->evidence[0] &&
			    (!meant || fact->first == scene->fabric->node_guid[0]));
	}
	free_scene(scene);
}

static void each_deviation_is_seen(void **state)
{
	static const struct deviation deviations[] = {
	    {.fact = NULL},
	    {.fact = NULL, .old = true},
	    {.fact = NULL, .off = true},
	    {.fact = "capability-mask", .wrong_mask = true},
	    {.fact = "ar-info", .odd_bit = true},
	    {.fact = "active-sub-groups", .less_one = true},
	    {.fact = "group-ports", .reversed_ports = true},
	    {.fact = "element-order", .sub_major = true},
	    {.fact = "table-shift", .no_second_table = true},
	    {.fact = "static-port", .other_port = true},
	    {.fact = "unreachable-port", .unreachable = 1},
	    {.fact = "pfrn-config", .odd_pfrn = true},
	    {.fact = "first-neighbour", .from_1 = true},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(deviations) / sizeof(deviations[0]); i++)
		contradicts_only(&deviations[i]);
}

/* Blocks of 16 LIDs make the ports of the entries wrong, too, as long as they are read by 32. */
static void blocks_of_16_are_seen(void **state)
{
	struct scene *scene = judge(&(struct deviation){.old = true, .old_size = 16});

	(void)state;
	assert_int_equal(verdict(scene, "old-block"), HD_AR_CONTRADICTED);
	free_scene(scene);
	scene = judge(&(struct deviation){.old = true});
	assert_int_equal(verdict(scene, "old-block"), HD_AR_CONFIRMED);
	free_scene(scene);
}

static void what_switches_show_is_confirmed(void **state)
{
	static const char *const shown[] = {
	    "capability-mask", "ar-info",	 "active-sub-groups", "group-ports",
	    "element-order",   "table-shift",	 "static-port",	      "unreachable-port",
	    "pfrn-config",     "first-neighbour"};
	struct scene *scene = judge(&(struct deviation){.fact = NULL});

	(void)state;
	for (size_t i = 0; i < sizeof(shown) / sizeof(shown[0]); i++)
		assert_int_equal(verdict(scene, shown[i]), HD_AR_CONFIRMED);
	assert_int_equal(verdict(scene, "old-block"), HD_AR_UNDECIDED);
	assert_int_equal(verdict(scene, "dump"), HD_AR_UNDECIDED);
	assert_int_equal(verdict(scene, "dead-ports"), HD_AR_NOT_BY_GETS);
	free_scene(scene);
}

/* Switches that did not answer, or whose AR is off, decide no fact. */
static void silence_decides_nothing(void **state)
{
	struct hd_fabric *fabric = generate("xgft", "children=4,4 parents=1,4");
	struct hd_ar_probe_switch silent = {.general.rc = -ETIMEDOUT,
					    .info.rc = HD_AR_PROBE_UNASKED,
					    .pfrn.rc = HD_AR_PROBE_UNASKED,
					    .second_table.rc = HD_AR_PROBE_UNASKED,
					    .neighbours_rc = HD_AR_PROBE_UNASKED};
	const struct hd_ar_probe probe = {.fabric = fabric, .switches = &silent, .count = 1};
	struct hd_ar_fact facts[FACTS_MAX];
	struct scene *off = judge(&(struct deviation){.off = true});

	(void)state;
	hd_ar_probe_judge(&probe, facts);
	for (unsigned i = 0; i < hd_ar_probe_fact_count(); i++)
		assert_true(facts[i].verdict == HD_AR_UNDECIDED ||
			    facts[i].verdict == HD_AR_NOT_BY_GETS);
	assert_int_equal(verdict(off, "static-port"), HD_AR_UNDECIDED);
	assert_int_equal(verdict(off, "active-sub-groups"), HD_AR_UNDECIDED);
	free_scene(off);
	hd_fabric_free(fabric);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(each_deviation_is_seen),
	    cmocka_unit_test(blocks_of_16_are_seen),
	    cmocka_unit_test(what_switches_show_is_confirmed),
	    cmocka_unit_test(silence_decides_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
