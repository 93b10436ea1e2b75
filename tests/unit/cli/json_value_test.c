/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* JSON: complete or refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "json_value.h"
#include "message.h"

/* Property: what cannot be made is an error, and the status of the rest is the caller's. */
static void what_cannot_be_made_is_an_error(void **state)
{
	(void)state;
	json_t *list = json_value_append(json_array(), json_integer(1));
	assert_int_equal(json_value_print(json_incref(list), STATUS_FAULTS), STATUS_FAULTS);
	assert_int_equal(json_value_print(list, STATUS_CLEAN), STATUS_CLEAN);
	assert_int_equal(json_value_print(NULL, STATUS_CLEAN), STATUS_BAD);
}

/* Property: a value with a part missing is none. */
static void a_missing_part_takes_the_whole_along(void **state)
{
	(void)state;
	assert_null(json_value_append(json_array(), NULL));
	assert_null(json_value_append(NULL, json_integer(1)));
	assert_null(json_value_set(json_object(), "key", NULL));
	assert_null(json_value_set(NULL, "key", json_integer(1)));
	json_t *object = json_value_set(json_object(), "key", json_integer(7));
	assert_int_equal(json_integer_value(json_object_get(object, "key")), 7);
	json_decref(object);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_missing_part_takes_the_whole_along),
	    cmocka_unit_test(what_cannot_be_made_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
