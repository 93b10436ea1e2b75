/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A choice of hosts with each of its allocations failing in turn. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "random_fabrics_testing.h"
#include "short_memory.h"

#include <heddle/keyd/key_choose.h>

struct trial {
	struct hd_key_choose_request request;
	struct hd_key_choice *choice;
	struct hd_key_worth worth;
	uint32_t host_of[8];
};

static int choose_call(void *context, struct hd_error *err)
{
	struct trial *trial = context;

	return hd_key_choose(&trial->request, &trial->choice, err);
}

static int worth_call(void *context, struct hd_error *err)
{
	struct trial *trial = context;

	return hd_key_worth_of(&trial->request, trial->host_of, &trial->worth, err);
}

static void settle(void *context, int rc)
{
	struct trial *trial = context;

	assert_true(!trial->choice || !rc);
	hd_key_choice_free(trial->choice);
	trial->choice = NULL;
}

/* Property: a shortage of memory is answered with -ENOMEM and nothing to release, on a tree, on a tree
 * with stray cables and on a fabric that is none. */
static void every_allocation(void **state)
{
	static const char *const kinds[][2] = {{"xgft", "children=3,3,2 parents=1,2,2"},
					       {"torus", "dims=3,3 hosts=2"}};
	uint32_t hosts[12];

	(void)state;
	for (uint32_t i = 0; i < 12; i++)
		hosts[i] = 11 - i;
	for (unsigned kind = 0; kind < 2; kind++) {
		struct hd_fabric *fabric = generate(kinds[kind][0], kinds[kind][1]);
		struct hd_routes *routes = route("spf", fabric);
		struct hd_key_pattern *pattern = NULL;
		CHECK(hd_key_pattern_new("alltoall", 8, &pattern, &err));
		struct trial trial = {.request = {.fabric = fabric,
						  .routes = routes,
						  .pattern = pattern,
						  .free = hosts,
						  .free_count = 12,
						  .host_count = 8,
						  .tries = 3},
				      .host_of = {0, 1, 2, 3, 4, 5, 6, 7}};
		const struct short_memory_case cases[] = {
		    {"choose", &trial, choose_call, settle, 0},
		    {"worth", &trial, worth_call, settle, 0},
		};
		for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
			assert_true(short_memory_try(&cases[i]) > 0);
		hd_key_pattern_free(pattern);
		hd_routes_free(routes);
		hd_fabric_free(fabric);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(every_allocation)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
