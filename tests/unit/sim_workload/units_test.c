/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Amounts with units are exact, and what is none is refused. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "traffic_draw.h"

#include <heddle/sim/settings.h>
#include <heddle/sim/units.h>
#include <string.h>

typedef int parser(const char *text, uint64_t *value, struct hd_error *err);

static void test_exact(void **state)
{
	static const struct {
		parser *parse;
		const char *text;
		uint64_t value;
	} cases[] = {
	    {hd_sim_parse_time, "0", 0},
	    {hd_sim_parse_time, "33.3 ms", UINT64_C(33300000000)},
	    {hd_sim_parse_time, "33.3ms", UINT64_C(33300000000)},
	    {hd_sim_parse_time, "4.096us", 4096000},
	    {hd_sim_parse_time, "1 ps", 1},
	    {hd_sim_parse_time, "0.4 ps", 0},
	    {hd_sim_parse_time, "0.5 ps", 1},
	    {hd_sim_parse_time, "9 s", 9 * HD_SIM_SECOND},
	    {hd_sim_parse_time, "never", HD_SIM_NEVER},
	    {hd_sim_parse_time, "00000000000000000000001 ns", 1000},
	    {hd_sim_parse_size, "2048", 2048},
	    {hd_sim_parse_size, "2 kB", 2000},
	    {hd_sim_parse_size, "2KB", 2000},
	    {hd_sim_parse_size, "2 KiB", 2048},
	    {hd_sim_parse_size, "1.5 MiB", 1572864},
	    {hd_sim_parse_size, "4294967295", 4294967295},
	    {hd_sim_parse_rate, "40 Gb/s", UINT64_C(40000000000)},
	    {hd_sim_parse_rate, "5 GB/s", UINT64_C(40000000000)},
	    {hd_sim_parse_rate, "1572.49 MB/s", UINT64_C(12579920000)},
	    {hd_sim_parse_share, "60%", 600000},
	    {hd_sim_parse_share, "0.6", 600000},
	    {hd_sim_parse_share, "1", 1000000},
	    {hd_sim_parse_share, "0.0001%", 1},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint64_t value = 77;
		int rc = cases[i].parse(cases[i].text, &value, NULL);
		if (rc || value != cases[i].value)
			fail_msg("%s: %d, %llu", cases[i].text, rc, (unsigned long long)value);
	}
}

static void test_refused(void **state)
{
	static const struct {
		parser *parse;
		const char *text;
		int rc;
	} cases[] = {
	    {hd_sim_parse_time, "", -EINVAL},
	    {hd_sim_parse_time, "5", -EINVAL},
	    {hd_sim_parse_time, "ms", -EINVAL},
	    {hd_sim_parse_time, ".", -EINVAL},
	    {hd_sim_parse_time, "1.2.3 s", -EINVAL},
	    {hd_sim_parse_time, "-1 s", -EINVAL},
	    {hd_sim_parse_time, "1 S", -EINVAL},
	    {hd_sim_parse_time, "1 s ", -EINVAL},
	    {hd_sim_parse_time, "18446745 s", -ERANGE},
	    {hd_sim_parse_size, "4294967296", -ERANGE},
	    {hd_sim_parse_size, "1 kb", -EINVAL},
	    {hd_sim_parse_rate, "40", -EINVAL},
	    {hd_sim_parse_rate, "40 GB", -EINVAL},
	    {hd_sim_parse_rate, "9999999 GB/s", -ERANGE},
	    {hd_sim_parse_share, "101%", -ERANGE},
	    {hd_sim_parse_share, "1.1", -ERANGE},
	    {hd_sim_parse_share, "99999999999999999999%", -EINVAL},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct hd_error err = {""};
		uint64_t value = 77;
		int rc = cases[i].parse(cases[i].text, &value, &err);
		if (rc != cases[i].rc || value != 77 || !err.text[0])
			fail_msg("%s: %d '%s'", cases[i].text, rc, err.text);
	}
}

/* Totals of a range are what adding up its sizes gives. */
static void test_totals(void **state)
{
	static const char *const texts[] = {"1 .. 5000", "84 .. 2048", "2048 .. 2049", "7",
					    "4096, 1, 2048"};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct traffic_sizes sizes;
		uint64_t payload, wire, count, sum = 0, on_wire = 0, n = 0;
		assert_int_equal(draw_sizes_parse(texts[i], &sizes, NULL), 0);
		draw_sizes_total(&sizes, 2048, 26, &payload, &wire, &count);
		for (uint32_t s = sizes.least; !sizes.count && s <= sizes.most; s++, n++) {
			sum += s;
			on_wire += sizes_wire(s, 2048, 26);
		}
		for (; n < sizes.count; n++) {
			sum += sizes.list[n];
			on_wire += sizes_wire(sizes.list[n], 2048, 26);
		}
		assert_int_equal(payload * n, sum * count);
		assert_int_equal(wire * n, on_wire * count);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_exact),
	    cmocka_unit_test(test_refused),
	    cmocka_unit_test(test_totals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
