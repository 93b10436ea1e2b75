/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Maps, assignments and walks with each of their allocations failing in turn: always -ENOMEM. */
#include "ir_testing.h"

#include "short_memory.h"

struct trial {
	struct scene *scene;
	struct hd_map *map, *other;
	struct hd_map_difference *list;
	uint32_t count;
	struct hd_interconnect *interconnect;
	struct hd_isfr_plan *plan;
	struct hd_walker *walker;
	struct hd_relay_firmware *firmware;
	struct hd_journey_report report;
};

static int parse_call(void *context, struct hd_error *err)
{
	static const char content[] =
	    "fec0:0:0:2::1 1 2 3\nfec0:0:0:2::2 2\nfec0::/16 4\n* 5\n* 6\n";
	struct hd_text text = {.bytes = content, .length = strlen(content), .name = "x.map"};

	return hd_map_parse(&text, &((struct trial *)context)->map, err);
}

static void settle_map(void *context, int rc)
{
	struct trial *trial = context;

	assert_int_equal(!rc, trial->map != NULL);
	hd_map_free(trial->map);
	trial->map = NULL;
}

static int compare_call(void *context, struct hd_error *err)
{
	struct trial *trial = context;

	return hd_map_compare(trial->scene->maps[0], trial->scene->maps[1], &trial->list,
			      &trial->count, err);
}

static void settle_list(void *context, int rc)
{
	struct trial *trial = context;

	assert_int_equal(!rc, trial->list != NULL);
	free(trial->list);
	trial->list = NULL;
}

static int ports_call(void *context, struct hd_error *err)
{
	static const uint64_t none[] = {1};
	struct trial *trial = context;

	return hd_map_check_ports(trial->scene->maps[0], "x.map", none, 1, NULL, err);
}

static void settle_nothing(void *context, int rc)
{
	(void)context;
	(void)rc;
}

static int join_call(void *context, struct hd_error *err)
{
	struct trial *trial = context;
	const struct hd_interconnect *joined = trial->scene->interconnect;

	return hd_interconnect_new(joined->subnets, joined->subnet_count, &trial->interconnect,
				   err);
}

static void settle_join(void *context, int rc)
{
	struct trial *trial = context;

	assert_int_equal(!rc, trial->interconnect != NULL);
	hd_interconnect_free(trial->interconnect);
	trial->interconnect = NULL;
}

static int issr_call(void *context, struct hd_error *err)
{
	struct trial *trial = context;

	return hd_issr_map(trial->scene->interconnect, 0, NULL, &trial->map, NULL, err);
}

static int isfr_call(void *context, struct hd_error *err)
{
	struct trial *trial = context;

	return hd_isfr_map(trial->scene->plan, 0, NULL, &trial->map, NULL, err);
}

static int prefix_call(void *context, struct hd_error *err)
{
	struct trial *trial = context;

	return hd_prefix_map(trial->scene->interconnect, 0, &trial->map, err);
}

static int plan_call(void *context, struct hd_error *err)
{
	struct trial *trial = context;

	return hd_isfr_plan_new(trial->scene->interconnect, &trial->plan, err);
}

static void settle_plan(void *context, int rc)
{
	struct trial *trial = context;

	assert_int_equal(!rc, trial->plan != NULL);
	for (uint32_t i = 0; !rc && i < trial->scene->count; i++)
		assert_int_equal(trial->plan->subnets[i].reason, HD_ISFR_USED);
	hd_isfr_plan_free(trial->plan);
	trial->plan = NULL;
}

static int walker_call(void *context, struct hd_error *err)
{
	struct trial *trial = context;
	struct hd_relay relay = hd_relay_issr(&trial->scene->tables);

	return hd_walker_new(trial->scene->interconnect, &relay, &trial->walker, err);
}

static void settle_walker(void *context, int rc)
{
	struct trial *trial = context;

	assert_int_equal(!rc, trial->walker != NULL);
	hd_walker_free(trial->walker);
	trial->walker = NULL;
}

static int firmware_call(void *context, struct hd_error *err)
{
	struct trial *trial = context;

	return hd_relay_firmware_new(trial->scene->interconnect, trial->scene->plan,
				     HD_RELAY_HASH_PAIR, &trial->firmware, err);
}

static void settle_firmware(void *context, int rc)
{
	struct trial *trial = context;

	assert_int_equal(!rc, trial->firmware != NULL);
	hd_relay_firmware_free(trial->firmware);
	trial->firmware = NULL;
}

static int walk_call(void *context, struct hd_error *err)
{
	struct trial *trial = context;

	return hd_walk_all(trial->scene->walker, &trial->report, err);
}

static void settle_report(void *context, int rc)
{
	struct trial *trial = context;

	assert_int_equal(!rc, trial->report.flows != NULL);
	hd_journey_report_release(&trial->report);
}

/* Property: each function answers a shortage of memory with -ENOMEM and nothing to release. */
static void every_allocation(void **state)
{
	struct scene scene;
	struct trial trial = {.scene = &scene};
	const struct short_memory_case cases[] = {
	    {"parse", &trial, parse_call, settle_map, 0},
	    {"compare", &trial, compare_call, settle_list, 0},
	    {"ports", &trial, ports_call, settle_nothing, -ENOENT},
	    {"join", &trial, join_call, settle_join, 0},
	    {"issr", &trial, issr_call, settle_map, 0},
	    {"isfr", &trial, isfr_call, settle_map, 0},
	    {"prefix", &trial, prefix_call, settle_map, 0},
	    {"plan", &trial, plan_call, settle_plan, 0},
	    {"walker", &trial, walker_call, settle_walker, 0},
	    {"walk", &trial, walk_call, settle_report, 0},
	    {"firmware", &trial, firmware_call, settle_firmware, 0},
	};

	(void)state;
	scene_generate(&scene, 2, "leaves=2 hosts=2 middles=2 uplinks=1 routers=2 sideways=1");
	scene_route(&scene, "updown", true);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_true(short_memory_try(&cases[i]) > 0);
	scene_release(&scene);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(every_allocation)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
