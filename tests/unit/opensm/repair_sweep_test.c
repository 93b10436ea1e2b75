/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a sweep finds after repairs. Engines may move entries for aggregation nodes although nothing
 * has changed; no sweep after a repair may show that. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "generate_testing.h"
#include "opensm_headers.h"
#include "opensm_log_testing.h"
#include "routing.h"
#include "variants.h"

#include <heddle/base/random.h>
#include <heddle/change/repair.h>
#include <heddle/fabric/aside.h>

#define TRIES 40u /* of each fabric */
#define REPAIRS 3u /* in a row */
#define LOSSES_MOST 8u

struct net {
	const char *kind, *settings;
	bool aggregation;
	unsigned lmc;
};

/* The sweeps of one OpenSM, and the repairs since the last one. */
struct run {
	const struct hd_engine *engine;
	struct hd_policy policy;
	struct routing_memory memory;
	struct routing *swept; /* of the last sweep */
	struct routing *published; /* by the last repair */
	struct hd_routes *in_place; /* in the shape of the last sweep's fabric */
	struct hd_repair_base *base;
	struct hd_fabric_change losses[LOSSES_MOST];
	uint32_t loss_count;
	bool left; /* a LID was left to the sweep */
};

static struct hd_fabric *make(const struct net *net)
{
	struct hd_fabric *plain = generate(net->kind, net->settings), *fabric = plain, *with_lids;

	if (net->aggregation)
		assert_int_equal(hd_fabric_add_aggregation(plain, &fabric, NULL), 0);
	assert_int_equal(hd_fabric_assign_lids(fabric, net->lmc, &with_lids, NULL), 0);
	if (fabric != plain)
		hd_fabric_free(plain);
	hd_fabric_free(fabric);
	return with_lids;
}

/* NULL: the engine refuses. */
static struct routing *sweep(const struct run *run, const struct routing *before,
			     const struct hd_fabric *fabric)
{
	struct hd_fabric *copy = NULL;
	struct routing *routing = NULL;
	const struct routing_request request = {.engine = run->engine,
						.policy = &run->policy,
						.before = before,
						.memory = &run->memory,
						.keep = true,
						.lanes = 8};

	assert_int_equal(hd_fabric_without(fabric, NULL, 0, HD_NONE, &copy, NULL), 0);
	if (routing_compute(&request, copy, &routing, NULL))
		hd_fabric_free(copy);
	return routing;
}

static void draw_loss(struct run *run, uint64_t *random)
{
	const struct hd_fabric *fabric = run->swept->fabric;
	struct hd_fabric_change *loss = &run->losses[run->loss_count++];

	*loss = (struct hd_fabric_change){.lost = true, .cable = hd_random_below(random, 3) != 0};
	if (loss->cable) {
		uint32_t link = (uint32_t)hd_random_below(random, fabric->isl_count);
		loss->index =
		    hd_port_index(fabric, hd_isl_from(fabric, link), fabric->isl_port[link]);
	} else {
		loss->index = (uint32_t)hd_random_below(random, fabric->node_count);
	}
}

static void apply(struct hd_routes *in_place, const struct hd_repair_plan *plan)
{
	for (uint32_t i = 0; i < plan->write_count; i++)
		memcpy(hd_routes_row(in_place, plan->writes[i].sw) +
			   (size_t)plan->writes[i].block * HD_LFT_BLOCK,
		       plan->writes[i].ports, HD_LFT_BLOCK);
}

/* What is lost now is repaired, as the thread of the part does. False: the engine refuses. */
static bool repair(struct run *run)
{
	const struct routing *swept = run->swept;
	struct hd_fabric *damaged = NULL;
	struct hd_routes *previous = NULL, *repaired = NULL;
	struct hd_repair_plan *plan = NULL;
	struct routing *made = NULL;

	if (hd_fabric_without(swept->fabric, run->losses, run->loss_count, 0, &damaged, NULL))
		return false;
	assert_int_equal(hd_routes_rebase(swept->fabric, swept->routes, damaged, &previous, NULL),
			 0);
	struct hd_routes *baseline = NULL;
	assert_int_equal(hd_stored_tables_get(routing_memory_find(&run->memory, run->engine->name),
					      damaged, &baseline, NULL),
			 0);
	const struct hd_route_request request = {.fabric = damaged,
						 .policy = &run->policy,
						 .previous = previous,
						 .baseline = baseline,
						 .lanes = 8};
	int rc = hd_engine_route(run->engine, &request, &repaired, NULL);
	hd_routes_free(previous);
	hd_routes_free(baseline);
	if (rc) {
		hd_fabric_free(damaged);
		return false;
	}
	assert_int_equal(
	    hd_repair_plan_new(run->base, run->in_place, damaged, repaired, NULL, &plan, NULL), 0);
	apply(run->in_place, plan);
	run->left |= plan->left > 0;
	assert_int_equal(
	    routing_repaired(run->published, damaged, repaired, plan->entries, &made, NULL), 0);
	hd_repair_plan_free(plan);
	routing_release(run->published);
	run->published = made;
	return true;
}

static void compare(const struct run *run, const struct net *net)
{
	const struct hd_fabric *fabric = run->published->fabric;
	struct routing *after = sweep(run, run->published, fabric);
	struct routing *alone = sweep(run, run->swept, fabric);

	if (!after || !alone)
		fail_msg("%s %s: the sweep refuses what a repair had", net->kind, net->settings);
	if (hd_routes_count_changes(alone->routes, after->routes))
		fail_msg("%s %s: a repair changes what the sweep makes", net->kind, net->settings);
	if (after->changes != hd_routes_count_changes(run->published->routes, after->routes))
		fail_msg("%s %s: %u changes are counted", net->kind, net->settings,
			 (unsigned)after->changes);
	if (!run->left && after->changes)
		fail_msg("%s %s: the sweep changes %u entries", net->kind, net->settings,
			 (unsigned)after->changes);
	routing_release(after);
	routing_release(alone);
}

static unsigned try(struct run *run, const struct net *net, const struct hd_fabric *fabric,
		    uint64_t *random)
{
	unsigned repairs = 0;

	run->swept = sweep(run, NULL, fabric);
	assert_non_null(run->swept);
	assert_int_equal(routing_memory_note(&run->memory, run->swept, NULL), 0);
	run->published = routing_hold(run->swept);
	run->in_place = hd_routes_copy(run->swept->routes);
	assert_int_equal(
	    hd_repair_base_new(run->swept->fabric, run->in_place, 1, NULL, &run->base, NULL), 0);
	for (; repairs < REPAIRS; repairs++) {
		draw_loss(run, random);
		if (hd_random_below(random, 2))
			draw_loss(run, random);
		if (!repair(run))
			break;
		compare(run, net);
	}
	hd_repair_base_free(run->base);
	hd_routes_free(run->in_place);
	routing_release(run->published);
	routing_release(run->swept);
	routing_memory_clear(&run->memory);
	return repairs;
}

/* Property: after any number of repairs the sweep's tables are those that it makes without them; and
 * if no LID was left to it, it changes no entry. */
static void a_sweep_after_repairs_is_as_one_without(void **state)
{
	static const struct net nets[] = {
	    {"xgft", "children=6,6 parents=1,6", true, 2},
	    {"kary-ntree", "k=4 n=3", true, 0},
	    {"irregular", "switches=20 radix=10 seed=7", true, 0},
	    {"irregular", "switches=20 radix=10 seed=7", false, 1},
	    {"torus", "dims=3,3 hosts=2", false, 0},
	};
	static const char *const engines[] = {"dmodk", "updown", "spf"};
	unsigned repairs = 0;
	uint64_t random = 15;

	(void)state;
	for (unsigned i = 0; i < sizeof(nets) / sizeof(nets[0]); i++) {
		struct hd_fabric *fabric = make(&nets[i]);
		for (unsigned engine = 0; engine < 3; engine++) {
			if (!engine && (i == 2 || i == 3 || i == 4))
				continue; /* dmodk is for trees */
			for (unsigned number = 0; number < TRIES; number++) {
				struct run run = {.engine = hd_engine_find(engines[engine])};
				repairs += try(&run, &nets[i], fabric, &random);
			}
		}
		hd_fabric_free(fabric);
	}
	assert_in_range(repairs, TRIES * 12, TRIES * 12 * REPAIRS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_sweep_after_repairs_is_as_one_without),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
