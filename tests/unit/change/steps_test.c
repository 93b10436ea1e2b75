/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* From a plan to the next one after a loss, step by step. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "cases.h"
#include "change_testing.h"
#include "oracle_ar.h"

#include <heddle/change/steps.h>

#define TRIALS CASES(240, 80)

/* What switches hold after a step. */
struct state {
	struct hd_ar_plan *plan;
	struct hd_routes *routes;
};

static struct state state_after(struct hd_ar_steps *steps, uint32_t step)
{
	struct state state = {NULL, NULL};

	assert_int_equal(hd_ar_steps_plan(steps, step, &state.plan), 0);
	assert_int_equal(hd_ar_steps_routes(steps, step, &state.routes), 0);
	return state;
}

static void free_state(struct state *state)
{
	hd_ar_plan_free(state->plan);
	hd_routes_free(state->routes);
}

/* ---- walks, without trusting the steps ---- */

/* The ports that a packet to the LID may take at a switch. */
static struct hd_port_set ports_of(const struct state *state, uint32_t sw, uint32_t lid)
{
	const struct hd_ar_switch *planned = &state->plan->switches[sw];
	struct hd_port_set ports = {{0}};

	hd_port_set_add(&ports, hd_routes_port(state->routes, sw, lid));
	if (!planned->used)
		return ports;
	hd_port_set_add(&ports, planned->lid_port[0][lid]);
	if (planned->lid_group[0][lid] != HD_AR_NO_GROUP)
		hd_port_set_unite(&ports, &planned->groups[planned->lid_group[0][lid]].ports[0]);
	return ports;
}

struct walk {
	const struct hd_fabric *fabric;
	const struct state *first, *second;
	uint32_t lid;
	uint8_t *met; /* [switch_count] 1: on the present path, 2: done */
};

/* False: some packet can come to the switch again. */
static bool ends(const struct walk *walk, uint32_t sw)
{
	const struct hd_fabric *fabric = walk->fabric;
	struct hd_port_set ports = ports_of(walk->first, sw, walk->lid);
	const struct hd_port_set others = ports_of(walk->second, sw, walk->lid);
	bool good = true;

	if (walk->met[sw])
		return walk->met[sw] == 2;
	walk->met[sw] = 1;
	hd_port_set_unite(&ports, &others);
	for (uint32_t link = fabric->isl_base[sw]; good && link < fabric->isl_base[sw + 1]; link++)
		if (hd_port_set_has(&ports, fabric->isl_port[link]))
			good = ends(walk, fabric->isl_to[link]);
	walk->met[sw] = 2;
	return good;
}

/* Whether a mixture of two states leads in a circle, for any LID and from any switch. */
static bool has_circle(const struct hd_fabric *fabric, const struct state *first,
		       const struct state *second)
{
	struct walk walk = {.fabric = fabric,
			    .first = first,
			    .second = second,
			    .met = malloc(fabric->switch_count)};

	bool found = false;

	assert_non_null(walk.met);
	for (walk.lid = 1; !found && walk.lid < fabric->lid_count; walk.lid++) {
		memset(walk.met, 0, fabric->switch_count);
		for (uint32_t sw = 0; !found && sw < fabric->switch_count; sw++)
			found = !ends(&walk, sw);
	}
	free(walk.met);
	return found;
}

/* Every packet that meets the entry arrives, whatever ports the switches choose. */
static bool arrives(const struct hd_fabric *fabric, const struct state *state, uint32_t sw,
		    uint32_t lid)
{
	struct hd_port_set ports = ports_of(state, sw, lid);
	uint32_t owner;
	uint8_t last;

	if (!hd_fabric_lid_destination(fabric, lid, &owner, &last) || owner == sw)
		return true;
	HD_PORT_SET_FOREACH(port, &ports) {
		uint32_t link = hd_fabric_find_isl(fabric, sw, port);
		if (link == HD_NONE || !arrives(fabric, state, fabric->isl_to[link], lid))
			return false;
	}
	return true;
}

static bool loops(const struct hd_fabric *fabric, const struct state *first,
		  const struct state *second)
{
	bool found = false;

	for (unsigned lane = 0; lane < 16; lane++) {
		struct oracle_dependencies graph;
		found |= oracle_ar_cycle(fabric, second->routes, first->routes, first->plan,
					 second->plan, lane, &graph);
		oracle_dependencies_free(&graph);
	}
	return found;
}

/* ---- the properties ---- */

/* Step 0 takes ports away, and nothing else: all that lead nowhere. */
static void assert_only_less(const struct tree_change *change, const struct state *state)
{
	for (uint32_t sw = 0; sw < change->is->switch_count; sw++)
		for (uint32_t lid = 1; lid < change->is->lid_count; lid++) {
			struct state held = {change->plan, change->before};
			struct hd_port_set was = ports_of(&held, sw, lid);
			struct hd_port_set is = ports_of(state, sw, lid);
			uint16_t group = state->plan->switches[sw].lid_group[0][lid];
			hd_port_set_unite(&is, &was);
			assert_true(hd_port_set_equal(&is, &was));
			if (group == HD_AR_NO_GROUP)
				continue;
			HD_PORT_SET_FOREACH(port, &state->plan->switches[sw].groups[group].ports[0])
				assert_true(change->is->peer[hd_port_index(change->is, sw, port)] !=
					    HD_NONE);
		}
}

static void assert_new_entries_arrive(const struct tree_change *change, struct hd_ar_steps *steps,
				      const struct state *state, uint32_t step)
{
	for (uint32_t sw = 0; sw < change->is->switch_count; sw++)
		for (uint32_t lid = 1; lid < change->is->lid_count; lid++)
			if (hd_ar_steps_of(steps, sw, lid) <= step &&
			    hd_routes_port(state->routes, sw, lid) != HD_NO_PORT)
				assert_true(arrives(change->is, state, sw, lid));
}

static void try_change(const struct tree_change *change, unsigned counts[3])
{
	const struct hd_ar_steps_request request = {.fabric = change->is,
						    .before = change->before,
						    .after = change->after,
						    .held = change->plan,
						    .next = change->next};
	struct hd_ar_steps *steps = NULL;
	struct hd_error reason = {""};

	CHECK(hd_ar_steps_new(&request, &steps, &err));
	const uint32_t count = hd_ar_steps_count(steps);
	const struct state end = {change->next, change->after};
	int rc = hd_ar_steps_prove(steps, &reason);
	struct state before = state_after(steps, 0);
	bool found = false;
	assert_only_less(change, &before);
	for (uint32_t step = 1; step <= count; step++) {
		struct state after = state_after(steps, step);
		found |= loops(change->is, &before, &after);
		/* the plan itself may have a circle to which no packets come */
		if (step < count || !has_circle(change->is, &end, &end)) {
			assert_false(has_circle(change->is, &before, &after));
			assert_new_entries_arrive(change, steps, &after, step);
		}
		free_state(&before);
		before = after;
	}
	assert_int_equal(rc, found ? -ELOOP : 0);
	assert_true(hd_ar_plan_equal(before.plan, change->next));
	assert_true(hd_routes_equal(before.routes, change->after));
	counts[0]++;
	counts[1] += found;
	counts[2] += count > 1;
	free_state(&before);
	hd_ar_steps_free(steps);
}

static bool make_plan(const struct hd_fabric *fabric, const struct hd_routes *routes,
		      const struct hd_ar_plan *previous, struct hd_ar_plan **plan)
{
	const struct hd_ar_request request = {.fabric = fabric,
					      .routes = routes,
					      .previous = previous,
					      .algorithm = HD_AR_AUTO,
					      .mode = HD_AR_FREE};

	return !hd_ar_plan_new(&request, plan, NULL, NULL);
}

/* Cables of a tree fail. False: there are no tables or groups for what is left. */
static bool lose_cables(const char *shape, const char *engine, unsigned trial,
			struct tree_change *change)
{
	struct hd_route_request request = {0};

	*change = (struct tree_change){.was = generate("xgft", shape)};
	change->is = damaged(generate("xgft", shape), 2 + 4 * (trial % 6), trial);
	change->old = route(engine, change->was);
	CHECK(hd_routes_rebase(change->was, change->old, change->is, &change->before, &err));
	request.fabric = change->is;
	request.previous = change->before;
	if (hd_engine_route(hd_engine_find(engine), &request, &change->after, NULL))
		return false;
	return make_plan(change->was, change->old, NULL, &change->plan) &&
	       make_plan(change->is, change->after, change->plan, &change->next);
}

/* Cables of trees fail: each step is free of circles and credit loops by the oracle, whatever ports
 * the switches choose, and each entry that has changed leads to its LID. */
static void test_lost_cables(void **unused)
{
	static const char *const shapes[] = {
	    "children=2,2,2 parents=1,2,2", "children=2,3 parents=1,3",
	    "children=3,3 parents=1,2 parallel=1,2", "children=1,2,2 parents=1,2,2 parallel=1,1,2",
	    "children=2,3,3 parents=1,3,2"};
	unsigned counts[3] = {0};

	(void)unused;
	for (unsigned trial = 0; trial < TRIALS; trial++) {
		struct tree_change change;
		if (lose_cables(shapes[trial % 5], trial % 3 ? "dmodk" : "updown", trial, &change))
			try_change(&change, counts);
		free_change(&change);
	}
	print_message("%u changes, %u with a credit loop, %u of more than one step\n", counts[0],
		      counts[1], counts[2]);
	assert_true(counts[2] > TRIALS / 10);
}

/* Plans of other tables have no steps. */
static void test_other_tables(void **unused)
{
	struct tree_change change;
	const bool routed = lose_cables("children=2,3 parents=1,3", "dmodk", 3, &change);
	struct hd_ar_steps *steps = NULL;
	struct hd_error err = {""};
	const struct hd_ar_steps_request request = {.fabric = change.is,
						    .before = change.after,
						    .after = change.before,
						    .held = change.plan,
						    .next = change.next};

	(void)unused;
	assert_true(routed);
	assert_int_equal(hd_ar_steps_new(&request, &steps, &err), -EINVAL);
	assert_non_null(strstr(err.text, "another static port"));
	free_change(&change);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_lost_cables),
					   cmocka_unit_test(test_other_tables)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
