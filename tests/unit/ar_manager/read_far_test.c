/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* .far files: what is written is read again; broken ones are refused with their line. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "ar_testing.h"

static char *written(const struct hd_ar_plan *plan, const struct hd_fabric *fabric, size_t *length)
{
	char *bytes = NULL;
	FILE *stream = open_memstream(&bytes, length);

	CHECK(hd_ar_write_far(plan, fabric, stream, &err));
	fclose(stream);
	return bytes;
}

static int parse(const char *bytes, size_t length, const struct hd_fabric *fabric,
		 struct hd_ar_plan **out, struct hd_error *err)
{
	const struct hd_text text = {.bytes = bytes, .length = length, .name = "plan.far"};

	return hd_ar_read_far(&text, fabric, out, err);
}

static void round_trip(const char *kind, const char *settings, const char *engine,
		       enum hd_ar_algorithm algorithm)
{
	struct hd_fabric *fabric = damaged(generate(kind, settings), 3, 1);
	struct hd_routes *routes = route(engine, fabric);
	struct hd_ar_request request = {
	    .fabric = fabric, .routes = routes, .algorithm = algorithm, .mode = HD_AR_FREE};
	struct hd_ar_plan *plan = NULL, *again = NULL;
	size_t length;

	CHECK(hd_ar_plan_new(&request, &plan, NULL, &err));
	char *bytes = written(plan, fabric, &length);
	CHECK(parse(bytes, length, fabric, &again, &err));
	assert_int_equal(again->adaptive, plan->adaptive);
	assert_int_equal(again->entries, plan->entries);
	assert_int_equal(again->mode, plan->mode);
	assert_int_equal(again->table_count, plan->table_count);
	for (uint32_t sw = 0; sw < plan->switch_count; sw++) {
		assert_int_equal(again->switches[sw].used, plan->switches[sw].used);
		assert_true(
		    hd_port_set_equal(&again->switches[sw].above, &plan->switches[sw].above));
		for (uint32_t table = 0; table < plan->table_count; table++)
			for (uint32_t lid = 0; lid < plan->lid_count; lid++) {
				assert_true(same_group(plan, again, sw, table, lid));
				assert_int_equal(hd_ar_plan_group(plan, sw, table, lid),
						 hd_ar_plan_group(again, sw, table, lid));
			}
	}
	hd_ar_plan_free(again);
	hd_ar_plan_free(plan);
	free(bytes);
	hd_routes_free(routes);
	hd_fabric_free(fabric);
}

/* Property: a plan is the same after it was written and read, with one table and with three. */
static void round_trips(void **state)
{
	(void)state;
	round_trip("xgft", "children=2,4,3 parents=1,3,2", "dmodk", HD_AR_TREE);
	round_trip("torus", "dims=3,3 hosts=1 parallel=2", "updown", HD_AR_LAG);
	round_trip("dragonfly-plus", "islands=3 leaves=3 spines=3 hosts=1 global-links=2", "dfp",
		   HD_AR_DFP);
}

#define HEAD "Switch 0x0000000000200000 ('S1_0') table 0\n(Group - Sub-group) : Ports\n"
#define LATER "Switch 0x0000000000200000 ('S1_0') table 2\n"

struct broken {
	const char *text, *message;
};

static const struct broken broken_files[] = {
    {"LID : Static\n", "plan.far:1: expected 'Switch 0xGUID (...) table N'"},
    {"Switch 0x999 ('a') table 0\n", "plan.far:1: the fabric has no such switch"},
    {"Switch 0x200000 ('a') table 3\n", "plan.far:1: expected 'Switch"},
    {HEAD HEAD, "plan.far:3: this table of the switch is given twice"},
    {HEAD "0 - 1 : 1, 2,\n", "plan.far:3: expected 'GROUP - SUB-GROUP : PORT, PORT,'"},
    {HEAD "4095 - 0 : 1, 2,\n", "plan.far:3: expected 'GROUP - SUB-GROUP : PORT, PORT,'"},
    {HEAD "0 - 0 : 1, 2\n", "plan.far:3: expected ports of the switch"},
    {HEAD "0 - 0 : 1, 200,\n", "plan.far:3: expected ports of the switch"},
    {HEAD "0 - 0 : 1, 2,\n0 - 0 : 3,\n", "plan.far:4: the group is given twice"},
    {HEAD "0x1 : 1 : static : -\n0x1 : 2 : static : -\n", "plan.far:4: the LID is given twice"},
    {HEAD "0x1 : 1 : free : 0\n", "plan.far:3: no such group"},
    {HEAD "0x1 : 1 : static : 0\n", "plan.far:3: expected '0xLID"},
    {HEAD "0x1 : 1 : free : -\n", "plan.far:3: expected '0xLID"},
    {HEAD "0x1 : 1 : often : 0\n", "plan.far:3: expected '0xLID"},
    {HEAD "0xbfff : 1 : static : -\n", "plan.far:3: the fabric has no such LID"},
    {HEAD "0x1 : 99 : static : -\n", "plan.far:3: the fabric has no such LID"},
    {HEAD "0 - 0 : 1, 2,\n0x1 : 1 : free : 0\n0x2 : 1 : bounded : 0\n",
     "plan.far:5: bounded and free entries in one plan"},
    {HEAD "0 - 0 : 1, 2,\n" LATER "0 - 0 : 1,\n",
     "plan.far:5: the group is not the same in another table of the switch"},
    {HEAD LATER "0 - 0 : 1,\n",
     "plan.far:4: the group is not the same in another table of the switch"},
    {"\n", "plan.far: no switch"},
};

/* Property: each fault is found, at its line. */
static void broken(void **state)
{
	struct hd_fabric *fabric = generate("xgft", "children=2,2 parents=1,2");

	(void)state;
	for (unsigned i = 0; i < sizeof(broken_files) / sizeof(broken_files[0]); i++) {
		const struct broken *file = &broken_files[i];
		struct hd_ar_plan *plan = NULL;
		struct hd_error err = {""};
		assert_int_not_equal(parse(file->text, strlen(file->text), fabric, &plan, &err), 0);
		assert_null(plan);
		if (strncmp(err.text, file->message, strlen(file->message)))
			fail_msg("'%s' does not begin with '%s'", err.text, file->message);
	}
	hd_fabric_free(fabric);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(round_trips),
	    cmocka_unit_test(broken),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
