/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Writers of other tools' formats with each of their allocations failing in turn: -ENOMEM. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "generate_testing.h"
#include "short_memory.h"
#include <heddle/fabric.h>

struct writing {
	int (*write)(const struct hd_fabric *fabric, FILE *stream, struct hd_error *err);
	const struct hd_fabric *fabric;
	FILE *stream;
};

static int call(void *context, struct hd_error *err)
{
	struct writing *writing = context;

	return writing->write(writing->fabric, writing->stream, err);
}

static void settle(void *context, int rc)
{
	(void)context;
	(void)rc;
}

static void slurm_and_graphml(void **state)
{
	(void)state;
	struct hd_fabric *fabric = generate("xgft", "children=2,2,2 parents=1,2,2");
	struct writing writing = {hd_fabric_write_slurm, fabric, fopen("/dev/null", "w")};
	assert_non_null(writing.stream);
	struct short_memory_case tried = {"slurm", &writing, call, settle, 0};
	assert_true(short_memory_try(&tried) > 0);
	writing.write = hd_fabric_write_graphml;
	tried.what = "graphml";
	assert_true(short_memory_try(&tried) > 0);
	fclose(writing.stream);
	hd_fabric_free(fabric);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(slurm_and_graphml)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
