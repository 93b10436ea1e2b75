/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What is drained: sets, what people ask for, what sweeps decide, and the file. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "drain_file.h"
#include "drain_request.h"
#include "drained.h"
#include "generate_testing.h"
#include "no_switches.h"
#include "opensm_log_testing.h"

#include <heddle/base/random.h>
#include <heddle/fabric/builder.h>
#include <heddle/fabric/changes.h>

static struct drain_request request;
static struct hd_error err;

static int parse(const char *text, struct hd_error *reason)
{
	return (int)drain_request_parse((const uint8_t *)text, strlen(text), &request, reason);
}

/* ---- requests ---- */

/* Property: a request is complete with its empty line, and anything else is refused or waits. */
static void requests_are_parsed(void **state)
{
	static const struct {
		const char *text;
		int rc; /* -1: it is refused */
		unsigned names;
	} cases[] = {
	    {"", 0, 0},
	    {"list", 0, 0},
	    {"list\n", 0, 0},
	    {"list\n\n", 6, 0},
	    {"list\n\nmore", 6, 0},
	    {"apply\na\nb\n\n", 11, 2},
	    {"apply-any\na\n\n", 13, 1},
	    {"undo\na b\n\n", 10, 1},
	    {"undo-all\n\n", 10, 0},
	    {"\n", -1, 0},
	    {"\n\n", -1, 0},
	    {"apply\n\n", -1, 0},
	    {"undo\n\n", -1, 0},
	    {"list\na\n\n", -1, 0},
	    {"undo-all\na\n\n", -1, 0},
	    {"Apply\na\n\n", -1, 0},
	    {"applya\n\n", -1, 0},
	    {"progress\napply\na\n\n", 18, 1},
	    {"progress\nundo-all\n\n", 19, 0},
	    {"progress\n\n", -1, 0},
	    {"progress\nprogress\nlist\n\n", -1, 0},
	};
	struct hd_error reason;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const int rc = parse(cases[i].text, &reason);
		if (cases[i].rc < 0 ? rc != -EINVAL : rc != cases[i].rc)
			fail_msg("'%s': %d", cases[i].text, rc);
		if (rc > 0)
			assert_int_equal(request.count, cases[i].names);
	}
}

static int add(const struct hd_fabric *fabric, const char *names, struct drained_set *wanted,
	       struct hd_error *reason)
{
	struct drained_set asked = {0};
	char text[256];

	snprintf(text, sizeof(text), "apply\n%s\n\n", names);
	assert_true(parse(text, reason) > 0);
	int rc = drain_request_add(&request, fabric, wanted, &asked, reason);
	drained_set_release(&asked);
	return rc;
}

static int take(const struct hd_fabric *fabric, const char *name, struct drained_set *wanted)
{
	struct drained_set asked = {0};
	char text[256];

	snprintf(text, sizeof(text), "undo\n%s\n\n", name);
	assert_true(parse(text, NULL) > 0);
	int rc = drain_request_take(&request, fabric, wanted, &asked, NULL);
	drained_set_release(&asked);
	return rc;
}

/* Property: each name by which a thing is listed takes it back, with the fabric or without. */
static void each_name_takes_back(void **state)
{
	static const char *const cables[] = {"S1_0[3]",		  "'S1_0'[3]",
					     "S1_0[3] - S2_0[1]", "'S1_0'[3] - 'S2_0'[1]",
					     "S2_0[1]",		  "0x0000000000200000[3]"};
	struct hd_fabric *fabric = generate("xgft", "children=2,3 parents=1,2");
	struct drained_set wanted = {0};

	(void)state;
	for (size_t i = 0; i < sizeof(cables) / sizeof(cables[0]); i++)
		for (unsigned known = 0; known < 2; known++) {
			assert_int_equal(add(fabric, "S1_0[3]\nS2_1", &wanted, &err), -ENETUNREACH);
			drained_set_release(&wanted);
			assert_int_equal(add(fabric, "S1_0[3]\nS1_1[4]", &wanted, &err), 0);
			assert_int_equal(take(fabric, "S1_0[4]", &wanted), -ENOENT);
			assert_int_equal(take(known ? fabric : NULL, cables[i], &wanted), 0);
			assert_int_equal(wanted.count, 1);
			assert_int_equal(take(NULL, "S1_1[4]", &wanted), 0);
			assert_int_equal(wanted.count, 0);
			drained_set_release(&wanted);
		}
	hd_fabric_free(fabric);
}

/* Property: what takes a thing back before it is pulled does so after that, in each form of a GUID. */
static void guids_take_back_after_the_pull(void **state)
{
	static const char *const cables[] = {
	    "0x200000[3]",
	    "0X200000[3]",
	    "0x00000000200000[3]",
	    "'0x200000'[3]",
	    " 0x0000000000200000 [3]",
	    "0x200000[3] - 0x200030[1]",
	    "0x200030[1]-0x200000[3]",
	    "S1_0[3] - 0x200030[1]",
	    "S1_0[3] - S2_0[1] (0x0000000000200000[3] - 0x0000000000200030[1])"};
	static const char *const switches[] = {
	    "0x200030", "0X0200030", "'0x0000000000200030'",
	    "S2_0",	"'S2_0'",    "S2_0 (0x0000000000200030)"};
	struct hd_fabric *fabric = generate("xgft", "children=2,3 parents=1,2");
	struct drained_set wanted = {0};

	(void)state;
	for (unsigned known = 0; known < 2; known++) {
		const struct hd_fabric *now = known ? fabric : NULL;
		for (size_t i = 0; i < sizeof(cables) / sizeof(cables[0]); i++) {
			assert_int_equal(add(fabric, "S1_0[3]", &wanted, &err), 0);
			assert_int_equal(take(now, "0x200000[4]", &wanted), -ENOENT);
			if (take(now, cables[i], &wanted))
				fail_msg("'%s' is not taken", cables[i]);
			drained_set_release(&wanted);
		}
		for (size_t i = 0; i < sizeof(switches) / sizeof(switches[0]); i++) {
			assert_int_equal(add(fabric, "0x200030", &wanted, &err), 0);
			if (take(now, switches[i], &wanted))
				fail_msg("'%s' is not taken", switches[i]);
			drained_set_release(&wanted);
		}
	}
	hd_fabric_free(fabric);
}

/* The fabric with one name for these switches. */
static struct hd_fabric *rename_switches(const struct hd_fabric *fabric, uint32_t first,
					 uint32_t last, const char *name)
{
	struct hd_builder *builder = hd_builder_from(fabric);
	struct hd_fabric *named = NULL;

	for (uint32_t sw = first; sw <= last; sw++)
		assert_int_equal(hd_builder_set_name(builder, sw, name), 0);
	assert_int_equal(hd_builder_build(builder, &named, NULL), 0);
	hd_builder_free(builder);
	return named;
}

/* Property: a name that several switches have is not listed, and takes nothing back: also when only one of them is left, or
 * only one is drained. */
static void shared_names_are_refused(void **state)
{
	struct hd_fabric *fabric = generate("xgft", "children=2,3 parents=1,2"), *rest;
	const uint32_t one = hd_fabric_find_node(fabric, 0x200030);
	struct hd_fabric *shared =
	    rename_switches(fabric, one, one + 1, "Quantum Mellanox Technologies");
	const struct hd_fabric_change pulled = {.lost = true, .index = one};
	struct drained_set wanted = {0};
	char label[DRAINED_LABEL];

	(void)state;
	assert_int_equal(add(shared, "Quantum Mellanox Technologies", &wanted, &err), -EEXIST);
	drained_set_release(&wanted);
	assert_int_equal(add(shared, "0x200030", &wanted, &err), 0);
	drained_label(&wanted.things[0], label);
	assert_string_equal(label, "0x0000000000200030");
	assert_int_equal(take(shared, "Quantum Mellanox Technologies", &wanted), -EEXIST);
	assert_int_equal(take(shared, label, &wanted), 0);
	drained_set_release(&wanted);

	/* one of two that are drained is pulled */
	assert_int_equal(add(shared, "S1_0[3]\nS1_1[4]", &wanted, &err), 0);
	drained_label(&wanted.things[0], label);
	assert_string_equal(label, "S1_0[3] - 0x0000000000200030[1] (0x0000000000200000[3] - "
				   "0x0000000000200030[1])");
	assert_int_equal(hd_fabric_without(shared, &pulled, 1, HD_NONE, &rest, &err), 0);
	assert_int_equal(take(rest, "Quantum Mellanox Technologies[1]", &wanted), -EEXIST);
	assert_int_equal(take(rest, "Quantum Mellanox Technologies[2]", &wanted), -EEXIST);
	assert_int_equal(take(rest, "0x200030[1]", &wanted), 0);
	assert_int_equal(take(rest, "0x200031[2]", &wanted), -ENOENT);
	assert_int_equal(take(rest, "S1_1[4]", &wanted), 0);
	drained_set_release(&wanted);
	hd_fabric_free(rest);
	hd_fabric_free(shared);
	hd_fabric_free(fabric);
}

/* Property: what cuts hosts off is refused, together with what is drained already. */
static void hosts_are_counted_together(void **state)
{
	struct hd_fabric *fabric = generate("xgft", "children=2,3 parents=1,2");
	struct drained_set wanted = {0};

	(void)state;
	assert_int_equal(add(fabric, "S1_0[3]", &wanted, &err), 0);
	assert_int_equal(add(fabric, "S1_0[4]", &wanted, &err), -ENETUNREACH);
	assert_non_null(strstr(err.text, "2 hosts"));
	drained_set_release(&wanted);
	assert_int_equal(add(fabric, "S1_0[1]", &wanted, &err), -ENETUNREACH);
	drained_set_release(&wanted);
	assert_int_equal(add(fabric, "S1_0", &wanted, &err), -ENETUNREACH);
	drained_set_release(&wanted);
	assert_int_equal(add(fabric, "S2_0", &wanted, &err), 0);
	assert_int_equal(add(fabric, "S2_0\nS2_0", &wanted, &err), 0);
	assert_int_equal(wanted.count, 1);
	drained_set_release(&wanted);
	hd_fabric_free(fabric);
}

/* ---- what sweeps decide ---- */

/* A small tree, of which nothing is drained yet. To be ended with end(). */
static struct hd_fabric *begin(struct drained *drained)
{
	drained_init(drained);
	return generate("xgft", "children=2,3 parents=1,2");
}

static void end(struct drained *drained, struct hd_fabric *fabric)
{
	drained_release(drained);
	hd_fabric_free(fabric);
}

/* People want these to be drained. */
static void want(struct drained *drained, const struct hd_fabric *fabric, const char *names)
{
	const uint64_t number = drained->number + 1;
	struct drained_set set = {0};

	assert_int_equal(add(fabric, names, &set, &err), 0);
	assert_int_equal(drained_want(drained, &set, false), number);
}

static struct drained_decision decision_of(const struct drained *drained, bool left_out)
{
	struct drained_decision decision = {.number = drained->number, .left_out = left_out};

	assert_int_equal(drained_set_copy(&drained->wanted, &decision.set), 0);
	return decision;
}

/* Property: what is refused is not wanted any more, and what was accepted before stays. What is suspended is not left
 * out, but stays accepted. */
static void decisions_are_noted(void **state)
{
	struct drained drained;
	struct hd_fabric *fabric = begin(&drained);

	(void)state;
	want(&drained, fabric, "S1_0[3]");
	struct drained_decision decision = decision_of(&drained, true);
	drained_note(&drained, &decision);
	assert_int_equal(drained.accepted.count, 1);
	assert_int_equal(drained.out.count, 1);
	assert_int_equal(drained.routed, 1);

	want(&drained, fabric, "S1_0[3]\nS1_1[3]");
	decision = (struct drained_decision){.number = 2, .left_out = true};
	snprintf(decision.refusal, sizeof(decision.refusal), "no");
	drained_note(&drained, &decision);
	assert_int_equal(drained.refused, 2);
	assert_int_equal(drained.wanted.count, 1);
	assert_int_equal(drained.accepted.count, 1);

	decision = decision_of(&drained, false);
	snprintf(decision.suspended, sizeof(decision.suspended), "hosts");
	drained_note(&drained, &decision);
	assert_int_equal(drained.accepted.count, 1);
	assert_int_equal(drained.out.count, 0);
	assert_string_equal(drained.suspended, "hosts");
	end(&drained, fabric);
}

/* Property: less than what is accepted is not refused, whatever routes; it stays left out until tables are made without. */
static void less_is_not_refused(void **state)
{
	struct drained drained;
	struct hd_fabric *fabric = begin(&drained);

	(void)state;
	want(&drained, fabric, "S1_0[3]\nS1_1[3]");
	struct drained_decision decision = decision_of(&drained, true);
	drained_note(&drained, &decision);
	want(&drained, fabric, "S1_1[3]");
	drained_refuse(&drained, 2, "not our engine");
	assert_int_equal(drained.refused, 0);
	assert_int_equal(drained.routed, 2);
	assert_int_equal(drained.accepted.count, 1);
	assert_int_equal(drained.out.count, 2);

	want(&drained, fabric, "S1_2[3]");
	drained_refuse(&drained, 3, "not our engine");
	assert_int_equal(drained.refused, 3);
	assert_true(drained_set_equal(&drained.wanted, &drained.accepted));
	end(&drained, fabric);
}

/* Property: what is newly left out is not complete before the switches have their tables, and loses that if they
 * have not. What was left out before already stays complete. */
static void it_is_complete_with_its_tables(void **state)
{
	struct drained drained;
	struct hd_fabric *fabric = begin(&drained);

	(void)state;
	want(&drained, fabric, "S1_0[3]\nS1_1[3]");
	struct drained_decision decision = decision_of(&drained, true);
	drained_note(&drained, &decision);
	assert_int_equal(drained.complete, 0);
	drained_note_tables(&drained, "");
	assert_int_equal(drained.complete, 1);
	decision = decision_of(&drained, true);
	drained_note(&drained, &decision);
	assert_int_equal(drained.complete, 1);

	want(&drained, fabric, "S1_0[3]");
	decision = decision_of(&drained, true);
	drained_note(&drained, &decision);
	assert_int_equal(drained.complete, 1);
	drained_note_tables(&drained, "a switch has no table");
	assert_int_equal(drained.complete, 0);
	assert_string_equal(drained.incomplete, "a switch has no table");
	drained_note_tables(&drained, "");

	/* it was suspended */
	decision = decision_of(&drained, false);
	drained_note(&drained, &decision);
	drained_note_tables(&drained, "");
	assert_int_equal(drained.complete, 2);
	decision = decision_of(&drained, true);
	drained_note(&drained, &decision);
	assert_int_equal(drained.complete, 0);
	assert_true(*drained.incomplete);
	end(&drained, fabric);
}

/* Property: what an earlier run had drained is not refused, and not complete before a sweep says so. */
static void an_earlier_run_is_kept(void **state)
{
	struct drained drained;
	struct hd_fabric *fabric = begin(&drained);
	struct drained_set set = {0};

	(void)state;
	assert_int_equal(add(fabric, "S1_0[3]", &set, &err), 0);
	drained_restore(&drained, &set);
	assert_int_equal(set.count, 0);
	assert_int_equal(drained.number, 1);
	assert_int_equal(drained.complete, 0);
	assert_true(*drained.incomplete);
	drained_refuse(&drained, 1, "not our engine");
	assert_int_equal(drained.wanted.count, 1);
	assert_int_equal(drained.accepted.count, 1);
	struct drained_decision decision = decision_of(&drained, true);
	drained_note(&drained, &decision);
	drained_note_tables(&drained, "");
	assert_int_equal(drained.out.count, 1);
	assert_int_equal(drained.complete, 1);
	end(&drained, fabric);
}

/* ---- the file ---- */

/* Property: a list that another user can have written is not obeyed. */
static void a_file_of_others(void **state)
{
	char path[] = "/tmp/heddle-drained-XXXXXX";
	struct drained_set set = {0};
	int file = mkstemp(path);

	(void)state;
	assert_true(file >= 0);
	assert_int_equal(fchmod(file, 0666), 0);
	assert_int_equal(drain_file_read(path, &set, &err), -EPERM);
	assert_ptr_equal(strstr(err.text, path), err.text);
	close(file);
	unlink(path);
}

/* Property: what is written is read again, for random sets; without a set no file is left. */
static void the_file_has_all_of_it(void **state)
{
	struct hd_fabric *fabric = generate("xgft", "children=2,3,2 parents=1,2,2");
	char path[] = "/tmp/heddle-drained-XXXXXX";
	uint64_t random = 3;
	int file = mkstemp(path);

	(void)state;
	assert_true(file >= 0);
	close(file);
	for (unsigned round = 0; round < 50; round++) {
		struct drained_set set = {0}, again = {0};
		for (uint32_t i = 0; i < round; i++) {
			struct hd_fabric_change change = {.cable = hd_random_below(&random, 2)};
			change.index = (uint32_t)hd_random_below(
			    &random, change.cable ? fabric->port_count : fabric->switch_count);
			if (change.cable &&
			    (hd_is_switch(fabric, fabric->port_node[change.index]) == false ||
			     !hd_port_number(fabric, change.index)))
				continue;
			const struct drained_thing thing = drained_thing_of(fabric, &change);
			if (drained_set_find(&set, &thing) == HD_NONE)
				assert_int_equal(drained_set_add(&set, &thing), 0);
		}
		assert_int_equal(drain_file_write(path, &set, &err), 0);
		assert_int_equal(access(path, F_OK) == 0, set.count > 0);
		assert_int_equal(drain_file_read(path, &again, &err), set.count ? 0 : -ENOENT);
		assert_true(drained_set_equal(&set, &again));
		drained_set_release(&set);
		drained_set_release(&again);
	}
	unlink(path);
	hd_fabric_free(fabric);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
	    cmocka_unit_test(requests_are_parsed),
	    cmocka_unit_test(each_name_takes_back),
	    cmocka_unit_test(guids_take_back_after_the_pull),
	    cmocka_unit_test(shared_names_are_refused),
	    cmocka_unit_test(hosts_are_counted_together),
	    cmocka_unit_test(decisions_are_noted),
	    cmocka_unit_test(less_is_not_refused),
	    cmocka_unit_test(it_is_complete_with_its_tables),
	    cmocka_unit_test(an_earlier_run_is_kept),
	    cmocka_unit_test(a_file_of_others),
	    cmocka_unit_test(the_file_has_all_of_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
