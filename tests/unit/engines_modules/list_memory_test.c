/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Loading a module, while each allocation fails in turn. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "short_memory.h"

#include <heddle/engines/engine_list.h>

static int load(void *context, struct hd_error *err)
{
	const struct hd_engine_source source = {.path = MODULES "/good"};
	struct hd_engine_list **list = context;

	*list = NULL;
	return hd_engine_list_new(&source, list, err);
}

static void settle(void *context, int rc)
{
	struct hd_engine_list **list = context;

	assert_int_equal(*list != NULL, !rc);
	if (!rc)
		assert_non_null(hd_engine_list_find(*list, "good"));
	hd_engine_list_free(*list);
}

static void a_module(void **state)
{
	struct hd_engine_list *list;
	struct short_memory_case tried = {"a module", &list, load, settle, 0};

	(void)state;
	assert_true(short_memory_try(&tried) > 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(a_module)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
