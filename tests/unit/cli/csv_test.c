/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* CSV: fields that could be taken for several are quoted as in RFC 4180; none is a formula. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "csv.h"

static void rows_are_quoted_where_needed(void **state)
{
	(void)state;
	char *text = NULL;
	size_t length = 0;
	FILE *stream = open_memstream(&text, &length);
	struct csv csv = csv_begin(stream, "a,b");
	csv_text(&csv, "plain text");
	csv_text(&csv, "one, \"two\"");
	csv_text(&csv, "line\nline\r");
	csv_text(&csv, "");
	csv_end_row(&csv);
	csv_empty(&csv);
	csv_number(&csv, UINT64_MAX);
	csv_real(&csv, 0.25);
	csv_guid(&csv, 0x2c9);
	csv_end_row(&csv);
	fclose(stream);
	assert_string_equal(text, "a,b\nplain text,\"one, \"\"two\"\"\",line\\u000aline\\u000d,\n"
				  ",18446744073709551615,0.25,0x00000000000002c9\n");
	free(text);
}

static void formulas_are_text(void **state)
{
	(void)state;
	char *text = NULL;
	size_t length = 0;
	FILE *stream = open_memstream(&text, &length);
	struct csv csv = csv_begin(stream, "a");
	csv_text(&csv, "=1+1");
	csv_text(&csv, "=HYPERLINK(\"x\")");
	csv_text(&csv, "+1");
	csv_text(&csv, "-1");
	csv_text(&csv, "@x");
	csv_text(&csv, "\t=1");
	csv_text(&csv, "\r=1");
	csv_text(&csv, "a=1");
	csv_text(&csv, "");
	csv_real(&csv, -0.5);
	csv_end_row(&csv);
	fclose(stream);
	assert_string_equal(text, "a\n'=1+1,\"'=HYPERLINK(\"\"x\"\")\",'+1,'-1,'@x,' =1,"
				  "\\u000d=1,a=1,,-0.5\n");
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(rows_are_quoted_where_needed),
					   cmocka_unit_test(formulas_are_text)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
