/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Lines about repairs come some time apart, and none is lost without a number that says so. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "opensm_headers.h"
#include "opensm_log_testing.h"
#include "repair_log.h"

#include <heddle/base/random.h>

#define APART 1000.0

static const struct opensm_log opensm_log;

static struct repair_log start(double apart_ms)
{
	*logged = '\0';
	return (struct repair_log){.log = &opensm_log, .apart_ms = apart_ms};
}

static unsigned lines(void)
{
	unsigned count = 0;

	for (const char *at = logged; *at; at++)
		count += *at == '\n';
	return count;
}

/* The first line is written at once, even shortly after the machine has started. */
static void test_the_first_line_is_written_at_once(void **state)
{
	struct repair_log log = start(APART);

	(void)state;
	repair_log_add(&log, 5, true, "repaired one");
	assert_string_equal(logged, "heddle: repaired one\n");
	assert_true(repair_log_due(&log) < 0);
}

/* What comes too early is written later, with the number of lines in whose place it is. */
static void test_early_lines_are_summed_up(void **state)
{
	struct repair_log log = start(APART);

	(void)state;
	repair_log_add(&log, 10000, true, "repaired one");
	repair_log_add(&log, 10100, true, "repaired two");
	repair_log_add(&log, 10200, false, "no repair");
	repair_log_add(&log, 10600, true, "repaired three");
	repair_log_add(&log, 10700, true, "repaired four");
	repair_log_tell(&log, 10999);
	assert_int_equal(lines(), 1);
	assert_true(repair_log_due(&log) == 11000);
	repair_log_tell(&log, 11000);
	assert_string_equal(logged,
			    "heddle: repaired one\n"
			    "heddle: repaired four; in the last 0.9 s also 2 other repairs, and 1 "
			    "without repair\n");
	assert_true(repair_log_due(&log) < 0);
	repair_log_tell(&log, 20000);
	repair_log_end(&log, 20000);
	assert_int_equal(lines(), 2);
}

/* A single line that comes too early is the same as if it had come in time. */
static void test_one_early_line_stays_as_it_is(void **state)
{
	struct repair_log log = start(APART);

	(void)state;
	repair_log_add(&log, 0, false, "no repair");
	repair_log_add(&log, 1, true, "repaired");
	repair_log_end(&log, 2);
	assert_string_equal(logged, "heddle: no repair\nheddle: repaired\n");
}

/* Without a time between lines each is written at once. */
static void test_each_line_is_written(void **state)
{
	struct repair_log log = start(0);

	(void)state;
	for (unsigned i = 0; i < 50; i++)
		repair_log_add(&log, 7, i % 2, "a line");
	assert_int_equal(lines(), 50);
}

/* The next line that is written names the keys; those for which there is no room are counted. */
static void test_keys_are_named(void **state)
{
	struct repair_log log = start(APART);

	(void)state;
	repair_log_add(&log, 0, true, "repaired one");
	repair_log_add_key(&log, 7, "a cable is lost");
	repair_log_add(&log, 1, true, "repaired two");
	repair_log_add(&log, 2, true, "repaired three");
	for (uint64_t key = 0; key < 100; key++)
		repair_log_add_key(&log, 1000 + key, "there is no path");
	repair_log_add(&log, 3000, true, "repaired four");
	assert_int_equal(lines(), 2);
	assert_logged(
	    "repaired four; key 7 is not in force any more: a cable is lost; key 1000 is not");
	unsigned named = 0, more = 0;
	for (const char *at = logged; (at = strstr(at, "; key ")); at++)
		named++;
	const char *rest = strstr(logged, " more keys are not in force");
	assert_non_null(rest);
	while (rest[-1] != ' ')
		rest--;
	more = (unsigned)atoi(rest);
	assert_true(named > 3);
	assert_int_equal(named + more, 101);
}

/* A long line leaves room for keys and for the number of other lines. */
static void test_long_lines_are_cut(void **state)
{
	struct repair_log log = start(APART);
	char text[REPAIR_LOG_LINE];

	(void)state;
	memset(text, 'x', sizeof(text));
	text[sizeof(text) - 1] = '\0';
	repair_log_add(&log, 0, true, "repaired");
	*logged = '\0';
	repair_log_add(&log, 1, true, text);
	for (uint64_t key = 0; key < 100; key++)
		repair_log_add_key(&log, UINT64_MAX, "there is no path");
	repair_log_add(&log, 3000, true, text);
	assert_true(strlen(logged) < REPAIR_LOG_LINE + 10);
	assert_logged(
	    "more keys are not in force any more; in the last 3.0 s also 1 other repairs");
}

/* Whatever comes when: no two lines within the time, and their numbers are those of what came. */
static void test_random_storms(void **state)
{
	uint64_t random = 4;

	(void)state;
	for (unsigned round = 0; round < 200; round++) {
		struct repair_log log = start(APART);
		unsigned added[2] = {0}, told[2] = {0};
		double now = 0, said = -APART;
		for (unsigned i = 0; i < 100; i++) {
			*logged = '\0';
			now += (double)hd_random_below(&random, round % 5 ? 40 : 1500);
			bool is_repair = hd_random_below(&random, 2);
			if (hd_random_below(&random, 3)) {
				repair_log_add(&log, now, is_repair, is_repair ? "repaired" : "no");
				added[is_repair]++;
			} else {
				repair_log_tell(&log, now);
			}
			if (i == 99)
				repair_log_end(&log, now);
			assert_true(lines() <= 1 || i == 99);
			if (!*logged)
				continue;
			assert_true(now - said >= APART || i == 99);
			said = now;
			told[!strncmp(logged, "heddle: repaired", 16)]++;
			unsigned repairs, stopped;
			const char *also = strstr(logged, "also");
			if (!also)
				continue;
			assert_int_equal(
			    sscanf(also, "also %u other repairs, and %u", &repairs, &stopped), 2);
			told[1] += repairs;
			told[0] += stopped;
		}
		assert_int_equal(told[0], added[0]);
		assert_int_equal(told[1], added[1]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_the_first_line_is_written_at_once),
	    cmocka_unit_test(test_early_lines_are_summed_up),
	    cmocka_unit_test(test_one_early_line_stays_as_it_is),
	    cmocka_unit_test(test_each_line_is_written),
	    cmocka_unit_test(test_keys_are_named),
	    cmocka_unit_test(test_long_lines_are_cut),
	    cmocka_unit_test(test_random_storms),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
