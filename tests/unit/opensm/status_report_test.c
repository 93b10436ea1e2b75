/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The report of the plugin's state: JSON and metrics are complete whatever texts are in it. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "status_report.h"

static struct status_report report;

static void begin(void)
{
	assert_int_equal(status_report_begin(&report, NULL), 0);
}

static struct status_answer end(void)
{
	struct status_answer answer;

	assert_int_equal(status_report_end(&report, &answer, NULL), 0);
	assert_int_equal(answer.json_length, strlen(answer.json));
	assert_int_equal(answer.metrics_length, strlen(answer.metrics));
	return answer;
}

static void release(struct status_answer *answer)
{
	free(answer->json);
	free(answer->metrics);
}

/* An empty report is valid, too. */
static void test_empty(void **state)
{
	(void)state;
	begin();
	struct status_answer answer = end();

	assert_string_equal(answer.json, "{\"format\":1,\"parts\":{},\"fault_count\":0}\n");
	assert_string_equal(answer.metrics, "# HELP heddle_faults Faults that heddle status lists; "
					    "0: all is well\n# TYPE heddle_faults gauge\n"
					    "heddle_faults 0\n# EOF\n");
	release(&answer);
}

/* All kinds of values, in sections, with and without faults. */
static void test_values(void **state)
{
	(void)state;
	begin();
	status_report_section(&report, "one");
	status_report_text(&report, "text", "%d of %d", 1, 2);
	status_report_number(&report, "number", UINT64_MAX);
	status_report_real(&report, "real", 0.25);
	status_report_list(&report, "list");
	for (int i = 0; i < 2; i++) {
		status_report_item(&report);
		status_report_flag(&report, "flag", i == 1);
		status_report_number(&report, "i", (uint64_t)i);
		status_report_item_end(&report);
	}
	status_report_list_end(&report);
	status_report_fault(&report, "a long first fault");
	status_report_fault(&report, "b");
	status_report_section(&report, "two");
	status_report_list(&report, "list");
	status_report_list_end(&report);
	status_report_section(&report, "three");
	status_report_fault(&report, "c");
	struct status_answer answer = end();

	assert_string_equal(
	    answer.json,
	    "{\"format\":1,\"parts\":{\"one\":{\"text\":\"1 of 2\",\"number\":"
	    "18446744073709551615,\"real\":0.250000,\"list\":[{\"flag\":false,\"i\":0},"
	    "{\"flag\":true,\"i\":1}],\"faults\":[\"a long first fault\",\"b\"]},"
	    "\"two\":{\"list\":[],\"faults\":[]},\"three\":{\"faults\":[\"c\"]}},"
	    "\"fault_count\":3}\n");
	release(&answer);
}

/* Names of nodes are the fabric's: quotes, control characters and broken UTF-8 do no harm. */
static void test_texts(void **state)
{
	(void)state;
	static const struct {
		const char *text, *expected;
	} texts[] = {
	    {"a\"b\\c", "a\\\"b\\\\c"},
	    {"a\nb\x1b[2J\x7f", "a\\\\u000ab\\\\u001b[2J\\\\u007f"},
	    {"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80"},
	    {"\xff\xc3", "\\\\xff\\\\xc3"},
	    {"\xf3\xa0\x80\x81", "\\\\udb40\\\\udc01"}, /* cannot be seen */
	    {"\xe2\x82", "\\\\xe2\\\\x82"}, /* cut */
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		char expected[128];

		begin();
		status_report_section(&report, "s");
		status_report_text(&report, "t", "%s", texts[i].text);
		struct status_answer answer = end();
		snprintf(expected, sizeof(expected),
			 "{\"format\":1,\"parts\":{\"s\":{\"t\":\"%s\",\"faults\":[]}},"
			 "\"fault_count\":0}\n",
			 texts[i].expected);
		assert_string_equal(answer.json, expected);
		release(&answer);
	}
}

/* A text that is too long is cut, and stays valid. */
static void test_long_text(void **state)
{
	(void)state;
	char text[8192];

	begin();
	memset(text, 'x', sizeof(text));
	text[sizeof(text) - 1] = '\0';
	status_report_section(&report, "s");
	status_report_text(&report, "t", "%s", text);
	status_report_fault(&report, "%s", text);
	struct status_answer answer = end();
	assert_in_range(answer.json_length, 4096, 4096 + 128);
	assert_non_null(strstr(answer.json, "x\",\"faults\":[\"xx"));
	release(&answer);
}

/* HELP and TYPE come once for a metric; labels are quoted. */
static void test_metrics(void **state)
{
	(void)state;
	static const struct status_metric plain = {"heddle_a", "gauge", "An a"};
	static const struct status_metric labelled = {"heddle_b_total", "counter", "A b"};
	begin();
	status_report_metric(&report, &plain, 0.5);
	status_report_metric_with(&report, &labelled, "name", "x\"y", 1458);
	status_report_metric_with(&report, &labelled, "name", "z", 18014398509481984.0);
	struct status_answer answer = end();
	assert_non_null(strstr(answer.metrics,
			       "# HELP heddle_a An a\n# TYPE heddle_a gauge\nheddle_a 0.5\n"
			       "# HELP heddle_b_total A b\n# TYPE heddle_b_total counter\n"
			       "heddle_b_total{name=\"x\\\"y\"} 1458\n"
			       "heddle_b_total{name=\"z\"} 1.8014398509482e+16\n"));
	release(&answer);
}

/* A report that is quiet has no faults. */
static void test_quiet(void **state)
{
	(void)state;
	begin();
	report.is_quiet = true;
	status_report_section(&report, "s");
	status_report_fault(&report, "fault");
	struct status_answer answer = end();
	assert_null(strstr(answer.json, "\"fault\""));
	assert_non_null(strstr(answer.metrics, "heddle_faults 0\n"));
	release(&answer);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_empty),   cmocka_unit_test(test_values),
	    cmocka_unit_test(test_texts),   cmocka_unit_test(test_long_text),
	    cmocka_unit_test(test_metrics), cmocka_unit_test(test_quiet),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
