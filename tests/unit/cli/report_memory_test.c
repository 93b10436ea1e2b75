/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reports and outputs with each of their allocations failing in turn: an error, never a part. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "generated.h"
#include "html.h"
#include "output.h"
#include "short_memory.h"

/* ---- the map of links ---- */

struct map_case {
	const struct hd_fabric *fabric;
	struct hd_congestion_report report;
	FILE *page;
};

static int map_call(void *context, struct hd_error *err)
{
	struct map_case *map = context;

	rewind(map->page);
	return html_link_map(map->page, map->fabric, &map->report, 1) ? hd_error_no_memory(err) : 0;
}

static void map_settle(void *context, int rc)
{
	const struct map_case *map = context;

	assert_int_equal(ftell(map->page) > 0, !rc);
}

/* Property: without memory for the map there is an error, and no half of a map. */
static void map_of_links(void **state)
{
	struct hd_fabric *fabric;
	struct hd_error err;

	(void)state;
	assert_int_equal(generated_fabric("xgft", "children=2,2 parents=1,2", &fabric, &err), 0);
	uint64_t *flows = calloc(fabric->isl_count, sizeof(*flows));
	struct map_case map = {fabric, {.rounds = 1, .link_flows = flows}, tmpfile()};
	assert_non_null(map.page);
	struct short_memory_case tried = {"map of links", &map, map_call, map_settle, 0};
	assert_true(short_memory_try(&tried) > 0);
	fclose(map.page);
	free(flows);
	hd_fabric_free(fabric);
}

/* ---- names of one file ---- */

struct same_case {
	const char *left, *right;
	bool same;
};

static int same_call(void *context, struct hd_error *err)
{
	struct same_case *names = context;

	return output_same(names->left, names->right, &names->same) ? hd_error_no_memory(err) : 0;
}

static void same_settle(void *context, int rc)
{
	struct same_case *names = context;

	assert_int_equal(names->same, !rc);
	names->same = false;
}

/* Property: two names of one new file are never said to be different because memory is short. */
static void names_of_one_file(void **state)
{
	struct same_case names = {"./no-such-file", "no-such-file", false};
	struct short_memory_case tried = {"names", &names, same_call, same_settle, 0};

	(void)state;
	assert_true(short_memory_try(&tried) > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(map_of_links),
	    cmocka_unit_test(names_of_one_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
