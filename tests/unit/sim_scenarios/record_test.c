/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Records come back from text bit by bit, and a text that ends in the middle of one ends before it. */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <heddle/sim/record.h>
#include <stdlib.h>
#include <string.h>

static struct hd_record *example(void)
{
	static const double list[] = {0, -0.0, 1.0 / 3, 1e-300, 1e300};
	struct hd_record *record = hd_record_new();

	hd_record_add(record, "class.a b.mean", "s", 1e-9 / 7);
	hd_record_add(record, "none", "1", NAN);
	hd_record_add_list(record, "links.0", "1", list, 5);
	hd_record_add_list(record, "empty", "-", NULL, 0);
	record->partial = true;
	assert_int_equal(hd_record_check(record), 0);
	return record;
}

static char *print(const struct hd_record *record, size_t *size)
{
	char *text = NULL;
	FILE *stream = open_memstream(&text, size);

	assert_non_null(stream);
	hd_record_write(record, 7, stream);
	fclose(stream);
	return text;
}

static void a_record_comes_back_bit_by_bit(void **state)
{
	struct hd_record *record = example(), *read = NULL;
	size_t size;
	char *text = print(record, &size);
	const struct hd_text whole = {.bytes = text, .length = size, .name = "text"};
	struct hd_lines lines = hd_lines_of(&whole);
	uint32_t run;

	(void)state;
	assert_int_equal(hd_record_read(&lines, &run, &read, NULL), 1);
	assert_int_equal(run, 7);
	assert_true(read->partial);
	assert_int_equal(read->count, 3);
	for (uint32_t i = 0; i < read->count; i++) {
		assert_string_equal(read->items[i].name, record->items[i].name);
		assert_int_equal(read->items[i].count, record->items[i].count);
		assert_memory_equal(read->items[i].values, record->items[i].values,
				    record->items[i].count * sizeof(double));
	}
	assert_int_equal(hd_record_read(&lines, &run, &read, NULL), 0);
	assert_non_null(hd_record_find(record, "class.a_b.mean"));
	assert_null(hd_record_find(record, "none"));
	hd_record_free(read);
	hd_record_free(record);
	free(text);
}

/* The links of large networks: more numbers than a line may have. */
static void a_long_list_comes_back(void **state)
{
	enum { COUNT = 41472 };
	struct hd_record *record = hd_record_new(), *read = NULL;
	double *list = calloc(COUNT, sizeof(*list));
	size_t size;
	uint32_t run;

	(void)state;
	for (uint32_t i = 0; i < COUNT; i++)
		list[i] = -1e-300 / (i + 1);
	hd_record_add_list(record, "links.0", "1", list, COUNT);
	hd_record_add(record, "run.time", "s", 1);
	char *text = print(record, &size);
	const struct hd_text whole = {.bytes = text, .length = size, .name = "text"};
	struct hd_lines lines = hd_lines_of(&whole);
	assert_int_equal(hd_record_read(&lines, &run, &read, NULL), 1);
	assert_int_equal(read->count, 2);
	assert_int_equal(read->items[0].count, COUNT);
	assert_memory_equal(read->items[0].values, list, COUNT * sizeof(*list));
	hd_record_free(read);
	hd_record_free(record);
	free(list);
	for (size_t length = size - 100; length < size; length++) {
		const struct hd_text cut = {.bytes = text, .length = length, .name = "text"};
		lines = hd_lines_of(&cut);
		assert_int_equal(hd_record_read(&lines, &run, &read, NULL), 0);
	}
	free(text);
}

static void a_text_that_was_cut_ends_before_the_record(void **state)
{
	struct hd_record *record = example(), *read = NULL;
	size_t size;
	char *text = print(record, &size);
	uint32_t run;

	(void)state;
	for (size_t length = 1; length < size; length++) {
		const struct hd_text cut = {.bytes = text, .length = length, .name = "text"};
		struct hd_lines lines = hd_lines_of(&cut);
		assert_int_equal(hd_record_read(&lines, &run, &read, NULL), 0);
	}
	hd_record_free(record);
	free(text);
}

static void what_is_no_record_is_refused_with_its_line(void **state)
{
	static const char *const texts[] = {"ran 1\n",
					    "run x\n",
					    "run 1\nname unit 2 1\nend complete\n",
					    "run 1\nname unit 1 x\nend complete\n",
					    "run 1\nname unit 1 x\n+ 1\nend complete\n",
					    "run 1\nname unit 2 1\n+ 2 3\nend complete\n",
					    "run 1\n+ 1\nend complete\n",
					    "run 1\nname unit 99999999 1\nend complete\n"};
	struct hd_record *read = NULL;
	uint32_t run;

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		const struct hd_text text = {
		    .bytes = texts[i], .length = strlen(texts[i]), .name = "text"};
		struct hd_lines lines = hd_lines_of(&text);
		struct hd_error err = {""};
		assert_int_equal(hd_record_read(&lines, &run, &read, &err), -EINVAL);
		assert_memory_equal(err.text, "text:", 5);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_record_comes_back_bit_by_bit),
	    cmocka_unit_test(a_long_list_comes_back),
	    cmocka_unit_test(a_text_that_was_cut_ends_before_the_record),
	    cmocka_unit_test(what_is_no_record_is_refused_with_its_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
