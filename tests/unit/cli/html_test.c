/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Text of pages: escaped, UTF-8 whatever comes in, and of bounded length; colours and steps. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "chart.h"
#include "html.h"

typedef void write_fn(FILE *page, const char *text);

static void check(write_fn *write, const char *text, const char *expected)
{
	char *written = NULL;
	size_t size;
	FILE *page = open_memstream(&written, &size);

	assert_non_null(page);
	write(page, text);
	fclose(page);
	assert_string_equal(written, expected);
	free(written);
}

/* Property: no text ends an element or an attribute. */
static void markup_is_escaped(void **state)
{
	(void)state;
	check(html_text, "a<b>&\"c\"", "a&lt;b&gt;&amp;&quot;c&quot;");
}

/* Property: whatever the bytes, the page is UTF-8 without forbidden characters. */
static void text_is_utf8(void **state)
{
	(void)state;
	check(html_text, "\xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80",
	      "\xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80");
	check(html_text,
	      "a\xff"
	      "b",
	      "a\\xffb");
	check(html_text, "\xc0\xaf", "\\xc0\\xaf"); /* a longer form of '/' */
	check(html_text, "\xe2\x82", "\\xe2\\x82"); /* cut off */
	check(html_text, "\xed\xa0\x80", "\\xed\\xa0\\x80"); /* half of a pair */
	check(html_text, "\x01\x1b\x7f", "\\u0001\\u001b\\u007f");
	check(html_text, "\xc2\x85\xef\xbf\xbe", "\\u0085\\ufffe");
	check(html_text, "\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80");
}

/* Property: a long name keeps its beginning and more of its end, counted in characters. */
static void long_names_lose_their_middle(void **state)
{
	char name[2 * 200 + 1] = "", expected[1000] = "<bdi>";

	(void)state;
	for (unsigned i = 0; i < 200; i++)
		strcat(name, "\xc3\xa4");
	for (unsigned i = 0; i < HTML_NAME_MOST / 3; i++)
		strcat(expected, "\xc3\xa4");
	strcat(expected, "&#8230;");
	for (unsigned i = HTML_NAME_MOST / 3 + 1; i < HTML_NAME_MOST; i++)
		strcat(expected, "\xc3\xa4");
	strcat(expected, "</bdi>");
	check(html_name, name, expected);
	name[2 * HTML_NAME_MOST] = '\0';
	expected[0] = '\0';
	strcat(expected, name);
	check(html_short, name, expected);
}

/* Property: only no load has the colour of no load, and only the largest loads the last colour. */
static void loads_have_colours(void **state)
{
	(void)state;
	assert_int_equal(html_heat(0, 5), 0);
	assert_int_equal(html_heat(0, 0), 0);
	assert_int_equal(html_heat(1e-9, 5), 1);
	assert_int_equal(html_heat(5, 5), HTML_HEATS);
	assert_int_equal(html_heat(4, 5), HTML_HEATS - 1);
}

/* Property: steps are 1, 2 or 5 times a power of ten, as small as the number of steps allows. */
static void axes_have_round_steps(void **state)
{
	(void)state;
	assert_float_equal(chart_step(1, 5), 0.2, 1e-12);
	assert_float_equal(chart_step(1, 10), 0.1, 1e-12);
	assert_float_equal(chart_step(0.037, 5), 0.01, 1e-12);
	assert_float_equal(chart_step(1200, 5), 500, 1e-9);
	assert_float_equal(chart_step(6, 6), 1, 1e-12);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(markup_is_escaped),
	    cmocka_unit_test(text_is_utf8),
	    cmocka_unit_test(long_names_lose_their_middle),
	    cmocka_unit_test(loads_have_colours),
	    cmocka_unit_test(axes_have_round_steps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
