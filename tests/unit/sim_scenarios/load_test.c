/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The load at which a fabric is full, by calculation. */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <heddle/sim/scenario.h>

#include <string.h>

struct load_case {
	const char *fabric, *traffic;
	double offered, full; /* 0: not known */
};

/* Two leaves of 2 hosts with one uplink: 2 hosts send 2/3 of what they send by it. */
#define TWO_LEAVES "generator = xgft\nchildren = 2,2\nparents = 1,1\n"
/* Three switches in a ring, two hosts each, on shortest paths: 2 hosts send 2/5 of it to each neighbour. */
#define RING "generator = torus\ndims = 3\nhosts = 2\n"

static const struct load_case cases[] = {
    {TWO_LEAVES, "kind = constant\nrate = 30%\n", .3, .75},
    {TWO_LEAVES, "kind = poisson\nrate = 30%\n", .3, .75},
    {TWO_LEAVES, "kind = video\nload = 60%\n", .6, .75},
    {TWO_LEAVES "lmc = 1\n", "kind = poisson\nrate = 30%\nrouting = path-bits\n", .3, .75},
    {RING, "kind = poisson\nrate = 10%\n", .1,
     1}, /* the hosts' cables: 0.8 on a link between switches */
    {TWO_LEAVES, "kind = constant\nrate = 30%\nto = shift:1\n", 0, 0},
    {TWO_LEAVES, "kind = constant\nrate = 30%\nhot = 10%\n", 0, 0},
    {TWO_LEAVES, "kind = constant\nrate = 30%\nremote = 50%\n", 0, 0},
    {TWO_LEAVES, "kind = constant\nrate = 1 Gb/s\n", 0, 0},
    {TWO_LEAVES, "kind = video\nload = 60%\nmulticast = 20%\ngroup_members = 2\n", 0, 0},
};

static double value_of(const struct hd_record *record, const char *name)
{
	const struct hd_record_item *item = hd_record_find(record, name);

	return item ? item->values[0] : 0;
}

static void loads_are_those_of_the_tables(void **state)
{
	(void)state;
	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct hd_scenario_request request = {.seed = 1, .threads = 1};
		struct hd_scenario *scenario = NULL;
		struct hd_scenario_runs *runs = NULL;
		struct hd_record *record = NULL;
		char text[600];
		snprintf(text, sizeof(text),
			 "[fabric]\n%s[routing]\nengine = spf\n[traffic a]\n%s"
			 "[traffic c]\nkind = control\n[run]\nduration = 1 us\n",
			 cases[i].fabric, cases[i].traffic);
		const struct hd_text file = {.bytes = text, .length = strlen(text), .name = "file"};
		assert_int_equal(hd_scenario_parse(&file, &scenario, NULL), 0);
		assert_int_equal(hd_scenario_prepare(scenario, &request, &runs, NULL), 0);
		assert_int_equal(hd_scenario_run(runs, 0, NULL, &record, NULL), 0);
		if (fabs(value_of(record, "load.full") - cases[i].full) > 1e-9 ||
		    fabs(value_of(record, "load.offered") - cases[i].offered) > 1e-9)
			fail_msg("case %u: full at %g", i, value_of(record, "load.full"));
		hd_record_free(record);
		hd_scenario_runs_free(runs);
		hd_scenario_free(scenario);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(loads_are_those_of_the_tables),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
