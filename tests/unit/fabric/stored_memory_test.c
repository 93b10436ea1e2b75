/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Stored tables with each allocation failing in turn: always -ENOMEM, and nothing lost. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "short_memory.h"
#include "stored_testing.h"

struct trying {
	const struct hd_fabric *small, *large;
	const struct hd_routes *first, *second; /* of both fabrics */
	struct hd_stored_tables *stored;
	struct hd_routes *got;
	const char *bytes;
	size_t size;
	struct hd_stored_state state;
};

static int add_call(void *context, struct hd_error *err)
{
	struct trying *trying = context;
	bool grown;

	return hd_stored_tables_add(trying->stored, trying->large, trying->second, &grown, err);
}

/* What was stored before is still there. */
static void add_settle(void *context, int rc)
{
	struct trying *trying = context;
	struct hd_routes *got;
	bool grown;

	(void)rc;
	assert_int_equal(hd_stored_tables_get(trying->stored, trying->small, &got, NULL), 0);
	for (uint32_t sw = 0; sw < trying->small->switch_count; sw++)
		for (uint32_t lid = 1; lid < trying->small->lid_count; lid++)
			if (hd_routes_port(trying->first, sw, lid) != HD_NO_PORT)
				assert_int_equal(hd_routes_port(got, sw, lid),
						 hd_routes_port(trying->first, sw, lid));
	hd_routes_free(got);
	hd_stored_tables_free(trying->stored);
	trying->stored = hd_stored_tables_new();
	assert_int_equal(
	    hd_stored_tables_add(trying->stored, trying->small, trying->first, &grown, NULL), 0);
}

static int get_call(void *context, struct hd_error *err)
{
	struct trying *trying = context;

	trying->got = NULL;
	return hd_stored_tables_get(trying->stored, trying->large, &trying->got, err);
}

static void get_settle(void *context, int rc)
{
	struct trying *trying = context;

	assert_int_equal(!rc, trying->got != NULL);
	hd_routes_free(trying->got);
}

/* Property: adding and getting. */
static void tables(void **state)
{
	struct hd_fabric *small = generate("xgft", "children=2,2 parents=1,2");
	struct hd_fabric *large = generate("xgft", "children=2,3 parents=1,3");
	struct hd_routes *first = random_tables(small, 1), *second = random_tables(large, 2);
	struct trying trying = {.small = small, .large = large, .first = first, .second = second};
	bool grown;

	(void)state;
	trying.stored = hd_stored_tables_new();
	assert_int_equal(hd_stored_tables_add(trying.stored, small, first, &grown, NULL), 0);
	add_levels_and_ranks(large, second);
	assert_true(short_memory_try(&(struct short_memory_case){"adding", &trying, add_call,
								 add_settle, 0}) > 5);
	assert_true(short_memory_try(&(struct short_memory_case){"getting", &trying, get_call,
								 get_settle, 0}) > 2);
	hd_stored_tables_free(trying.stored);
	hd_routes_free(first);
	hd_routes_free(second);
	hd_fabric_free(small);
	hd_fabric_free(large);
}

static int read_call(void *context, struct hd_error *err)
{
	struct trying *trying = context;

	trying->state.count = 0;
	return hd_stored_state_read(trying->bytes, trying->size, &trying->state, err);
}

static void read_settle(void *context, int rc)
{
	struct trying *trying = context;

	assert_int_equal(!rc, trying->state.count != 0);
	hd_stored_state_release(&trying->state);
}

/* Property: reading a file. */
static void files(void **state)
{
	(void)state;
	for (unsigned sample = 0; sample < STORED_SAMPLES; sample++) {
		struct trying trying = {0};
		stored_sample(sample, &trying.state);
		char *bytes = stored_bytes(&trying.state, &trying.size);
		trying.bytes = bytes;
		hd_stored_state_release(&trying.state);
		assert_true(short_memory_try(&(struct short_memory_case){
				"reading", &trying, read_call, read_settle, 0}) > 5);
		free(bytes);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(tables), cmocka_unit_test(files)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
