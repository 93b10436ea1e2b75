/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Finding machines with each allocation failing in turn: always -ENOMEM, and nothing half done. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "generate_testing.h"
#include "short_memory.h"

struct finding {
	const struct hd_fabric *fabric;
	enum hd_machines_by by;
	struct hd_machines *machines;
};

static int find_call(void *context, struct hd_error *err)
{
	static const char text[] = "\"gpu01 mlx5_0\" a\n\"gpu01 mlx5_1\" a\n\"gpu02 mlx5_0\" b\n";
	struct finding *finding = context;

	finding->machines = NULL;
	if (finding->by == HD_MACHINES_FILE)
		return hd_machines_parse(finding->fabric, text, sizeof(text) - 1, "file",
					 &finding->machines, err);
	return hd_machines_find(finding->fabric, finding->by, &finding->machines, err);
}

static void settle(void *context, int rc)
{
	struct finding *finding = context;

	assert_int_equal(!rc, finding->machines != NULL);
	hd_machines_free(finding->machines);
}

static void machines_of_each_source(void **state)
{
	struct hd_fabric *fabric = generate("rail-tree", "machines=2 adapters=2 spines=1");

	(void)state;
	for (int by = HD_MACHINES_ALONE; by <= HD_MACHINES_FILE; by++) {
		struct finding finding = {.fabric = fabric, .by = (enum hd_machines_by)by};
		assert_true(short_memory_try(&(struct short_memory_case){
				hd_machines_source(finding.by), &finding, find_call, settle, 0}) >
			    1);
	}
	hd_fabric_free(fabric);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(machines_of_each_source)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
