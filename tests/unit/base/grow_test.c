/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <heddle/base/grow.h>

/* Elements keep their values while the array grows, and the array moves rarely. */
static void test_elements_stay(void **state)
{
	uint32_t *numbers = NULL, room = 0, moves = 0;

	(void)state;
	for (uint32_t count = 0; count < 10000; count++) {
		uint32_t before = room;
		numbers = hd_grow(numbers, count, 1, &room, sizeof(*numbers));
		assert_non_null(numbers);
		assert_true(room > count);
		moves += room != before;
		numbers[count] = count;
	}
	for (uint32_t i = 0; i < 10000; i++)
		assert_int_equal(numbers[i], i);
	assert_true(moves <= 11);
	free(numbers);
}

/* Many elements at once get their room, and an array with enough room stays where it is. */
static void test_many_at_once(void **state)
{
	uint32_t room = 0;
	char *bytes = hd_grow(NULL, 0, 1000, &room, 1);

	(void)state;
	assert_non_null(bytes);
	assert_true(room >= 1000);
	assert_ptr_equal(hd_grow(bytes, 0, room, &room, 1), bytes);
	free(bytes);
}

/* Without memory, and beyond the largest count, the array stays as it was. */
static void test_refuses(void **state)
{
	uint32_t room = 4;
	char *bytes = malloc(room);

	(void)state;
	assert_non_null(bytes);
	assert_null(hd_grow(bytes, UINT32_MAX, 1, &room, 1));
	assert_null(hd_grow(bytes, 4, 1, &room, SIZE_MAX / 4));
	assert_int_equal(room, 4);
	bytes[3] = 0;
	free(bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_elements_stay),
	    cmocka_unit_test(test_many_at_once),
	    cmocka_unit_test(test_refuses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
