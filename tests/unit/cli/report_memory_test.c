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
#include "load_picture.h"
#include "output.h"
#include "short_memory.h"

/* ---- pictures of loads ---- */

struct picture_case {
	const struct hd_fabric *fabric;
	struct hd_congestion_report report;
	FILE *page;
};

static int picture_call(void *context, struct hd_error *err)
{
	struct picture_case *tried = context;
	struct load_picture picture;
	struct hd_arena arena = {0};
	int rc = load_picture_prepare(tried->fabric, 1, 1, &arena, &picture, err);

	rewind(tried->page);
	if (!rc && load_picture_draw(tried->page, &picture, &tried->report, "links-A", 'A'))
		rc = hd_error_no_memory(err);
	hd_arena_release(&arena);
	return rc;
}

static void picture_settle(void *context, int rc)
{
	const struct picture_case *tried = context;

	assert_int_equal(ftell(tried->page) > 0, !rc);
}

/* Without memory for a picture there is an error, and no half of a picture. */
static void picture_of(const char *kind, const char *options)
{
	struct hd_fabric *fabric;
	struct hd_error err;

	assert_int_equal(generated_fabric(kind, options, &fabric, &err), 0);
	uint64_t *flows = calloc(fabric->isl_count, sizeof(*flows));
	struct picture_case picture = {fabric, {.rounds = 1, .link_flows = flows}, tmpfile()};
	assert_non_null(picture.page);
	struct short_memory_case tried = {"picture", &picture, picture_call, picture_settle, 0};
	assert_true(short_memory_try(&tried) > 0);
	fclose(picture.page);
	free(flows);
	hd_fabric_free(fabric);
}

/* Property: shortage of memory never leaves half of a small tree's picture. */
static void picture_of_lines(void **state)
{
	(void)state;
	picture_of("xgft", "children=2,2 parents=1,2");
}

/* Property: nor half of a matrix. */
static void picture_of_a_matrix(void **state)
{
	(void)state;
	picture_of("torus", "dims=3,3");
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
	    cmocka_unit_test(picture_of_lines),
	    cmocka_unit_test(picture_of_a_matrix),
	    cmocka_unit_test(names_of_one_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
