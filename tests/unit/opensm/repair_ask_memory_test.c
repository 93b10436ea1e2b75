/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Questions to switches with each allocation failing in turn: -ENOMEM with a reason, and nothing that is
 * alive is taken for lost. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "generated.h"
#include "no_switches.h"
#include "repair_ask_testing.h"
#include "short_memory.h"

#include <errno.h>

struct trial {
	struct world world;
	struct hd_smp_queue *queue;
	bool *found; /* [port_count] */
	uint32_t issuers[2], dead; /* dead: port of a switch */
};

static int call(void *context, struct hd_error *err)
{
	struct trial *trial = context;
	struct world *world = &trial->world;
	const struct hd_fabric *fabric = world->fabric;
	const struct hd_smp_limits limits = {
	    .window = 64, .each = 8, .timeout_ms = 50, .retries = 2, .errors = 1};

	trial->queue = hd_smp_queue_new(&world->port, &limits,
					fabric->switch_count + REPAIR_ASK_ROUTES * REPAIR_ASK_MOST);
	if (!trial->queue)
		return hd_error_no_memory(err);
	struct repair_ask question = {.fabric = fabric,
				      .own_port = fabric->port_guid[world->own],
				      .queue = trial->queue,
				      .port = &world->port,
				      .first = fabric->switch_count,
				      .work = work,
				      .context = world,
				      .cut = trial->found};
	return repair_ask_run(&question, trial->issuers, 2, err);
}

static void settle(void *context, int rc)
{
	struct trial *trial = context;
	struct world *world = &trial->world;

	assert_true(!trial->queue || !hd_smp_queue_pending(trial->queue));
	for (uint32_t port = 0; port < world->fabric->port_count; port++)
		assert_true(!trial->found[port] || world->dead[port]);
	assert_true(rc || trial->found[trial->dead]);
	hd_smp_queue_free(trial->queue);
	memset(trial->found, 0, world->fabric->port_count * sizeof(bool));
	world->count = 0;
	world->now = 0;
}

/* Property: questions fail with a reason at any allocation, leave none under way, and the next ones find
 * what is lost. */
static void questions_without_memory(void **state)
{
	struct trial trial;
	struct hd_fabric *fabric;
	struct hd_error err = {""};

	(void)state;
	assert_int_equal(generated_fabric("xgft", "children=3,3 parents=1,3", &fabric, &err), 0);
	start(&trial.world, fabric);
	trial.found = calloc(fabric->port_count, sizeof(bool));
	const uint32_t link = fabric->isl_count / 2;
	trial.dead = hd_port_index(fabric, hd_isl_from(fabric, link), fabric->isl_port[link]);
	cut(&trial.world, trial.dead);
	trial.issuers[0] = hd_isl_from(fabric, link);
	trial.issuers[1] = fabric->isl_to[link];
	const struct short_memory_case tried = {
	    .what = "questions", .context = &trial, .call = call, .settle = settle};
	assert_true(short_memory_try(&tried) > 5);
	free(trial.found);
	free(trial.world.dead);
	free(trial.world.tables);
	hd_fabric_free(fabric);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(questions_without_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
