/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The check of a group's entries: right trees are clean, and whatever is taken from or added to
 * one is found. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "generate_testing.h"
#include "levels_testing.h"

#define ENTRIES_MAX 64
#define MEMBERS_MAX 256

struct hd_tree {
	struct hd_mft_entry entries[ENTRIES_MAX];
	uint32_t members[MEMBERS_MAX];
	struct hd_mft_group group;
};

static struct hd_mft_report *checked(const struct hd_fabric *fabric,
				     const struct hd_mft_group *group)
{
	struct hd_mft_report *report = NULL;
	struct hd_error err = {""};

	if (hd_mft_check(fabric, group, &report, &err))
		fail_msg("%s", err.text);
	return report;
}

static bool has_fault(const struct hd_mft_report *report, enum hd_mft_fault_kind kind)
{
	for (uint32_t i = 0; i < report->fault_count; i++)
		if (report->faults[i].kind == kind)
			return true;
	return false;
}

/* A group of the small fabric: h1 and h3 at leaf1, h2 at leaf2; ports as bits. */
static struct hd_mft_report *check_pair(const struct hd_fabric *fabric, uint64_t first,
					uint64_t second, bool name_members)
{
	struct hd_mft_entry entries[2] = {{.mlid = 0xC000, .sw = 0, .ports = {{first}}},
					  {.mlid = 0xC000, .sw = 1, .ports = {{second}}}};
	const uint32_t members[] = {fabric->lid_owner[4], fabric->lid_owner[6],
				    fabric->lid_owner[8]};
	const struct hd_mft_group group = {.entries = first ? entries : entries + 1,
					   .entry_count = (first ? 1u : 0u) + (second ? 1u : 0u),
					   .members = name_members ? members : NULL,
					   .member_count = name_members ? 3 : 0,
					   .source = HD_NONE};

	return checked(fabric, &group);
}

static void a_right_tree_is_clean(void **state)
{
	(void)state;
	struct hd_fabric *fabric = parse(levels_topology);
	for (int named = 0; named < 2; named++) {
		struct hd_mft_report *report =
		    check_pair(fabric, 1 << 1 | 1 << 2 | 1 << 3, 1 << 1 | 1 << 3, named);
		assert_int_equal(report->fault_count, 0);
		assert_int_equal(report->member_count, 3);
		assert_int_equal(report->links, 1);
		assert_int_equal(report->depth, 1);
		hd_mft_report_free(report);
	}
	hd_fabric_free(fabric);
}

static void each_fault_is_told_with_its_place(void **state)
{
	enum { H1 = 1 << 1, H3 = 1 << 2, CABLE_1 = 1 << 3, CABLE_2 = 1 << 4, H2 = 1 << 1 };
	static const struct {
		uint64_t first, second;
		enum hd_mft_fault_kind kind;
		uint32_t faults, sw, port;
	} cases[] = {
	    /* both cables, so that copies go round */
	    {H1 | H3 | CABLE_1 | CABLE_2, H2 | CABLE_1 | CABLE_2, HD_MFT_LOOP, 1, 1, 0},
	    /* leaf2 sends to port 2, without a cable */
	    {H1 | H3 | CABLE_1, H2 | CABLE_1 | 1 << 2, HD_MFT_DEAD_END, 1, 1, 2},
	    /* leaf1's own port is no member */
	    {H1 | H3 | CABLE_1 | 1, H2 | CABLE_1, HD_MFT_STRANGER, 1, 0, 0},
	    /* leaf2 has no entry: h2 gets nothing and reaches nobody */
	    {H1 | H3 | CABLE_1, 0, HD_MFT_NO_ENTRY, 4, 1, 0},
	    /* h3 left out of its switch's entry */
	    {H1 | CABLE_1, H2 | CABLE_1, HD_MFT_NOT_REACHED, 1, 0, 0},
	    /* leaf2 does not send back: one way only */
	    {H1 | H3 | CABLE_1, H2, HD_MFT_NOT_REACHED, 2, 0, 0},
	};
	(void)state;
	struct hd_fabric *fabric = parse(levels_topology);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct hd_mft_report *report =
		    check_pair(fabric, cases[i].first, cases[i].second, true);
		assert_int_equal(report->fault_count, cases[i].faults);
		assert_int_equal(report->faults[0].kind, cases[i].kind);
		assert_int_equal(report->faults[0].sw, cases[i].sw);
		assert_int_equal(report->faults[0].port, cases[i].port);
		hd_mft_report_free(report);
	}
	hd_fabric_free(fabric);
}

static void a_member_that_gets_nothing_is_told_with_those_who_send(void **state)
{
	(void)state;
	struct hd_fabric *fabric = parse(levels_topology);
	struct hd_mft_report *report = check_pair(fabric, 1 << 1 | 1 << 3, 1 << 1 | 1 << 3, true);
	assert_int_equal(report->faults[0].member, fabric->lid_owner[8]);
	assert_int_equal(report->faults[0].senders, 2);
	assert_int_equal(report->faults[0].sender, fabric->lid_owner[4]);
	hd_mft_report_free(report);
	hd_fabric_free(fabric);
}

/* One sender that is no member: what the others' packets would do does not count. */
static void a_source_alone_needs_one_direction(void **state)
{
	(void)state;
	struct hd_fabric *fabric = parse(levels_topology);
	struct hd_mft_entry entries[2] = {{.mlid = 0xC000, .sw = 0, .ports = {{1 << 3}}},
					  {.mlid = 0xC000, .sw = 1, .ports = {{1 << 1}}}};
	const uint32_t member = fabric->lid_owner[6];
	struct hd_mft_group group = {.entries = entries,
				     .entry_count = 2,
				     .members = &member,
				     .member_count = 1,
				     .source = fabric->lid_owner[4]};
	struct hd_mft_report *report = checked(fabric, &group);
	assert_int_equal(report->fault_count, 0);
	hd_mft_report_free(report);
	group.source = 1; /* a port of a switch that is not its own */
	struct hd_error err = {""};
	assert_int_equal(hd_mft_check(fabric, &group, &report, &err), -EINVAL);
	assert_says(err.text, "source port 1 is not cabled to a switch");
	hd_fabric_free(fabric);
}

static void a_port_that_the_switch_does_not_have_is_refused(void **state)
{
	(void)state;
	struct hd_fabric *fabric = parse(levels_topology);
	struct hd_mft_entry entry = {.mlid = 0xC000, .sw = 1};
	const struct hd_mft_group group = {.entries = &entry, .entry_count = 1, .source = HD_NONE};
	struct hd_mft_report *report = NULL;
	struct hd_error err = {""};
	hd_port_set_add(&entry.ports, hd_node_ports(fabric, 1) + 1);
	assert_int_equal(hd_mft_check(fabric, &group, &report, &err), -EINVAL);
	assert_says(err.text, "an entry names port 5 of 'leaf2', but the switch has only 4 ports");
	assert_null(report);
	hd_fabric_free(fabric);
}

/* ---- random trees ---- */

/* A spanning tree of all switches, each joined to the first one that a search meets. */
static void grow(const struct hd_fabric *fabric, struct hd_tree *tree)
{
	uint32_t queue[ENTRIES_MAX] = {0}, queued = 1;
	bool found[ENTRIES_MAX] = {true};

	for (uint32_t done = 0; done < queued; done++)
		for (uint32_t link = fabric->isl_base[queue[done]];
		     link < fabric->isl_base[queue[done] + 1]; link++) {
			uint32_t to = fabric->isl_to[link];
			if (found[to])
				continue;
			found[to] = true;
			queue[queued++] = to;
			hd_port_set_add(&tree->entries[queue[done]].ports, fabric->isl_port[link]);
			hd_port_set_add(&tree->entries[to].ports,
					fabric->isl_port[fabric->isl_reverse[link]]);
		}
	assert_int_equal(queued, fabric->switch_count);
}

/* Every host is a member, so that there is somebody behind every link. */
static void make_tree(const struct hd_fabric *fabric, struct hd_tree *tree)
{
	memset(tree, 0, sizeof(*tree));
	assert_true(fabric->switch_count <= ENTRIES_MAX);
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		tree->entries[sw].sw = sw;
	grow(fabric, tree);
	assert_true(fabric->host_count <= MEMBERS_MAX);
	for (uint32_t host = 0; host < fabric->host_count; host++) {
		tree->members[host] = fabric->host_port[host];
		hd_port_set_add(&tree->entries[fabric->host_switch[host]].ports,
				fabric->host_switch_port[host]);
	}
	tree->group = (struct hd_mft_group){.entries = tree->entries,
					    .entry_count = fabric->switch_count,
					    .members = tree->members,
					    .member_count = fabric->host_count,
					    .source = HD_NONE};
}

/* A link of the tree is taken out in one direction, another one added in both. */
static void change_and_check(const struct hd_fabric *fabric, struct hd_tree *tree, uint32_t link)
{
	uint32_t back = fabric->isl_reverse[link], port = fabric->isl_port[link];
	struct hd_mft_entry *near = &tree->entries[fabric->isl_to[back]];
	struct hd_mft_entry *far = &tree->entries[fabric->isl_to[link]];
	struct hd_mft_entry kept_near = *near, kept_far = *far;
	bool used = hd_port_set_has(&near->ports, port);

	if (used) {
		hd_port_set_remove(&near->ports, port);
	} else {
		hd_port_set_add(&near->ports, port);
		hd_port_set_add(&far->ports, fabric->isl_port[back]);
	}
	struct hd_mft_report *report = checked(fabric, &tree->group);
	assert_true(has_fault(report, used ? HD_MFT_NOT_REACHED : HD_MFT_LOOP));
	hd_mft_report_free(report);
	*near = kept_near;
	*far = kept_far;
}

static void random_trees_are_clean_and_what_is_changed_is_found(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 30; seed++) {
		char options[64];
		struct hd_tree tree;
		snprintf(options, sizeof(options), "switches=20 radix=8 seed=%u", (unsigned)seed);
		struct hd_fabric *fabric = generate("irregular", options);
		make_tree(fabric, &tree);
		struct hd_mft_report *report = checked(fabric, &tree.group);
		assert_int_equal(report->fault_count, 0);
		assert_int_equal(report->links, fabric->switch_count - 1);
		hd_mft_report_free(report);
		for (uint32_t link = 0; link < fabric->isl_count; link++)
			change_and_check(fabric, &tree, link);
		hd_fabric_free(fabric);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_right_tree_is_clean),
	    cmocka_unit_test(each_fault_is_told_with_its_place),
	    cmocka_unit_test(a_member_that_gets_nothing_is_told_with_those_who_send),
	    cmocka_unit_test(a_source_alone_needs_one_direction),
	    cmocka_unit_test(a_port_that_the_switch_does_not_have_is_refused),
	    cmocka_unit_test(random_trees_are_clean_and_what_is_changed_is_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
