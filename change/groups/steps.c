/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "steps_order.h"

#include <errno.h>
#include <heddle/ar_manager/plan_copy.h>
#include <heddle/change/ar_graph.h>
#include <stdlib.h>

#define ORDERS 8u /* that are tried */

struct hd_ar_steps {
	struct hd_ar_steps_request request;
	struct hd_ar_plan_copy held; /* in the shape of the fabric */
	struct steps_order order;
	struct hd_ar_plan *made; /* the last plan that was made, of step `at`; NULL: none */
	uint32_t at;
};

/* ---- making ---- */

static bool has_graph(const struct hd_ar_steps_request *request)
{
	return request->graph && *request->graph;
}

/* After all errors but -ELOOP nobody knows what it stands for. */
static void drop_graph(const struct hd_ar_steps_request *request, int rc)
{
	if (!has_graph(request) || rc == -ELOOP)
		return;
	hd_ar_graph_free(*request->graph);
	*request->graph = NULL;
}

static int check(const struct hd_ar_steps_request *request, struct hd_error *err)
{
	const struct hd_fabric *fabric = request->fabric;

	if (request->held->table_count > 1 || request->next->table_count > 1)
		return hd_error_set(err, -ENOTSUP,
				    "adaptive routing with private tables has no steps");
	if (request->next->switch_count != fabric->switch_count ||
	    request->next->lid_count != fabric->lid_count ||
	    request->before->switch_count != fabric->switch_count ||
	    request->after->switch_count != fabric->switch_count ||
	    request->before->lid_count != fabric->lid_count ||
	    request->after->lid_count != fabric->lid_count)
		return hd_error_set(err, -EINVAL, "the tables are not of this fabric");
	if (has_graph(request) && (request->before->sl || request->after->sl))
		return hd_error_set(err, -ENOTSUP, "tables with service levels have no graph");
	return 0;
}

static int init_order(struct hd_ar_steps *steps)
{
	const struct hd_fabric *fabric = steps->request.fabric;
	struct steps_order *order = &steps->order;

	order->count = 1;
	order->lid_count = fabric->lid_count;
	order->step = hd_arena_alloc(&order->arena, fabric->switch_count, sizeof(*order->step));
	order->nowhere = hd_arena_alloc(&order->arena, fabric->lid_count, 1);
	order->live = hd_arena_alloc(&order->arena, fabric->switch_count, sizeof(*order->live));
	if (hd_arena_check(&order->arena))
		return -ENOMEM;
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		for (uint32_t port = 1; port <= hd_node_ports(fabric, sw); port++)
			if (fabric->peer[hd_port_index(fabric, sw, port)] != HD_NONE)
				hd_port_set_add(&order->live[sw], port);
	return 0;
}

static int find_order(struct hd_ar_steps *steps, struct hd_error *err)
{
	const struct hd_ar_steps_request *request = &steps->request;

	if (init_order(steps))
		return hd_error_no_memory(err);
	int rc = has_graph(request)
		     ? steps_graph_order(request, steps->held.plan, &steps->order, err)
		     : steps_order_find(request, steps->held.plan, &steps->order, err);
	return !rc && hd_arena_check(&steps->order.arena) ? hd_error_no_memory(err) : rc;
}

int hd_ar_steps_new(const struct hd_ar_steps_request *request, struct hd_ar_steps **out,
		    struct hd_error *err)
{
	int rc = check(request, err);
	struct hd_ar_steps *steps = rc ? NULL : calloc(1, sizeof(*steps));

	if (!rc && !steps)
		rc = hd_error_no_memory(err);
	if (rc) {
		drop_graph(request, rc);
		return rc;
	}
	steps->request = *request;
	rc = hd_go_on_explain(
	    hd_ar_plan_copy_new(request->held, request->fabric, &request->go_on, &steps->held),
	    err);
	if (!rc)
		rc = find_order(steps, err);
	if (rc) {
		drop_graph(request, rc);
		hd_ar_steps_free(steps);
		return rc;
	}
	*out = steps;
	return 0;
}

void hd_ar_steps_free(struct hd_ar_steps *steps)
{
	if (!steps)
		return;
	hd_ar_plan_free(steps->held.plan);
	hd_ar_plan_free(steps->made);
	hd_arena_release(&steps->order.arena);
	free(steps->order.delays);
	free(steps);
}

uint32_t hd_ar_steps_count(const struct hd_ar_steps *steps)
{
	return steps->order.count;
}

static uint32_t noted(const struct hd_ar_steps *steps, uint32_t sw, uint32_t lid)
{
	return steps->order.step[sw] ? steps->order.step[sw][lid] : 0;
}

static bool is_new(const struct hd_ar_steps *steps, uint32_t sw, uint32_t lid, uint32_t step)
{
	uint32_t own = noted(steps, sw, lid) & ~STEPS_LATE;

	return own && own <= step;
}

uint32_t hd_ar_steps_of(const struct hd_ar_steps *steps, uint32_t sw, uint32_t lid)
{
	uint32_t own = noted(steps, sw, lid) & ~STEPS_LATE;

	return own ? own : steps->order.count;
}

/* ---- what switches hold after a step ---- */

/* The ports that entries of either kind may have by a group of this number. */
static struct hd_ar_group shared_group(const struct hd_ar_steps *steps, uint32_t sw,
				       uint32_t number)
{
	const struct hd_ar_switch *held = &steps->held.plan->switches[sw];
	const struct hd_ar_switch *next = &steps->request.next->switches[sw];
	struct hd_ar_group group = {0};
	bool by_held = number < held->group_count && !hd_ar_group_is_empty(&held->groups[number]);
	bool by_next = number < next->group_count && !hd_ar_group_is_empty(&next->groups[number]);

	if (by_held)
		group = held->groups[number];
	else if (by_next)
		group = next->groups[number];
	for (unsigned sub = 0; sub < HD_AR_SUB_GROUPS; sub++) {
		hd_port_set_intersect(&group.ports[sub], &steps->order.live[sw]);
		if (by_held && by_next)
			hd_port_set_intersect(&group.ports[sub], &next->groups[number].ports[sub]);
	}
	return group;
}

static int mix_groups(const struct hd_ar_steps *steps, struct hd_ar_plan_copy *copy, uint32_t sw)
{
	const uint32_t old = steps->held.plan->switches[sw].group_count;
	const uint32_t new = steps->request.next->switches[sw].group_count;
	const uint32_t count = old > new ? old : new;
	struct hd_ar_group *groups = hd_ar_plan_copy_new_groups(copy, sw, count);

	if (!groups)
		return -ENOMEM;
	copy->switches[sw].used = 0;
	for (uint32_t number = 0; number < count; number++) {
		groups[number] = shared_group(steps, sw, number);
		copy->switches[sw].used += !hd_ar_group_is_empty(&groups[number]);
	}
	return 0;
}

static void mix_entry(const struct hd_ar_steps *steps, struct hd_ar_plan_copy *copy, uint32_t sw,
		      uint32_t lid, uint32_t step)
{
	const struct hd_ar_switch *next = &steps->request.next->switches[sw];
	uint16_t *group = &hd_ar_plan_copy_groups(copy, sw, 0)[lid];

	if (is_new(steps, sw, lid, step)) {
		*group =
		    noted(steps, sw, lid) & STEPS_LATE ? HD_AR_NO_GROUP : next->lid_group[0][lid];
		hd_ar_plan_copy_ports(copy, sw, 0)[lid] = next->lid_port[0][lid];
	}
	if (*group != HD_AR_NO_GROUP && (*group >= copy->switches[sw].group_count ||
					 hd_ar_group_is_empty(&copy->switches[sw].groups[*group])))
		*group = HD_AR_NO_GROUP;
}

static uint64_t count_adaptive(const struct hd_ar_plan_copy *copy, uint32_t sw)
{
	const uint16_t *groups = copy->switches[sw].lid_group[0];
	uint64_t count = 0;

	for (uint32_t lid = 0; lid < copy->plan->lid_count; lid++)
		count += groups[lid] != HD_AR_NO_GROUP;
	return count;
}

static int mix_switch(const struct hd_ar_steps *steps, struct hd_ar_plan_copy *copy, uint32_t sw,
		      uint32_t step)
{
	const bool on = steps->held.plan->switches[sw].used > 0;

	copy->plan->adaptive -= count_adaptive(copy, sw);
	int rc = hd_ar_plan_copy_own(copy, sw);
	if (!rc && on)
		rc = mix_groups(steps, copy, sw);
	for (uint32_t lid = 1; !rc && lid < copy->plan->lid_count; lid++)
		mix_entry(steps, copy, sw, lid, step);
	if (rc)
		return rc;
	copy->plan->adaptive += count_adaptive(copy, sw);
	if (!copy->switches[sw].used)
		hd_ar_plan_copy_switch_off(copy, sw);
	return 0;
}

/* Whether groups of the switch have other ports before any of its entries changes: some lead nowhere, or both plans use
 * a number for different ones. */
static bool is_early(const struct hd_ar_steps *steps, uint32_t sw)
{
	const struct hd_ar_switch *held = &steps->held.plan->switches[sw];

	for (uint32_t number = 0; number < held->group_count; number++) {
		const struct hd_ar_group shared = shared_group(steps, sw, number);
		if (!hd_ar_group_equal(&held->groups[number], &shared))
			return true;
	}
	return false;
}

/* What a switch has after a step, where it is known when it changes. In `copy` it has what it has after step `at`. */
static int change_switch(const struct hd_ar_steps *steps, struct hd_ar_plan_copy *copy, uint32_t sw,
			 uint32_t step)
{
	const uint64_t changes = steps->order.changes[sw] & ~UINT64_C(1);
	const uint64_t done = changes & ((UINT64_C(2) << step) - 1);
	const uint64_t before = steps->made ? changes & ((UINT64_C(2) << steps->at) - 1) : 0;

	if (done == changes) /* all of it, or there is nothing but groups to change */
		return hd_ar_plan_copy_share(copy, sw, &steps->request.next->switches[sw]);
	if (steps->made ? done == before : !done && !is_early(steps, sw))
		return 0;
	return mix_switch(steps, copy, sw, step);
}

static int change_all(const struct hd_ar_steps *steps, struct hd_ar_plan_copy *copy, uint32_t step)
{
	int rc = 0;

	for (uint32_t sw = 0; !rc && sw < copy->plan->switch_count; sw++) {
		rc = hd_go_on_ask(&steps->request.go_on) ? 0 : -ECANCELED;
		if (!rc && !steps->order.changes)
			rc = mix_switch(steps, copy, sw, step);
		else if (!rc && steps->order.changes[sw])
			rc = change_switch(steps, copy, sw, step);
	}
	return rc;
}

/* Keeps it for the next step, which shares most of it. */
static int keep(struct hd_ar_steps *steps, const struct hd_ar_plan *plan, uint32_t step)
{
	struct hd_ar_plan_copy copy;

	hd_ar_plan_free(steps->made);
	steps->made = NULL;
	int rc = hd_ar_plan_copy_new(plan, steps->request.fabric, NULL, &copy);
	steps->made = copy.plan;
	steps->at = step;
	return rc;
}

int hd_ar_steps_plan(struct hd_ar_steps *steps, uint32_t step, struct hd_ar_plan **out)
{
	const bool last = step >= steps->order.count;
	struct hd_ar_plan_copy copy;

	if (steps->made && (steps->at > step || !steps->order.changes)) {
		hd_ar_plan_free(steps->made);
		steps->made = NULL;
	}
	int rc = hd_ar_plan_copy_new(last	   ? steps->request.next
				     : steps->made ? steps->made
						   : steps->held.plan,
				     steps->request.fabric, &steps->request.go_on, &copy);
	if (!rc && !last)
		rc = change_all(steps, &copy, step);
	if (!rc && !last && steps->order.changes)
		rc = keep(steps, copy.plan, step);
	if (rc) {
		hd_ar_plan_free(copy.plan);
		return rc;
	}
	*out = copy.plan;
	return 0;
}

int hd_ar_steps_routes(const struct hd_ar_steps *steps, uint32_t step, struct hd_routes **out)
{
	const struct hd_ar_steps_request *request = &steps->request;
	const bool last = step >= steps->order.count;
	struct hd_routes *routes = hd_routes_copy(last ? request->after : request->before);

	if (!routes)
		return -ENOMEM;
	for (uint32_t sw = 0; !last && sw < routes->switch_count; sw++) {
		if (!hd_go_on_ask(&request->go_on)) {
			hd_routes_free(routes);
			return -ECANCELED;
		}
		for (uint32_t lid = 1; lid < request->fabric->lid_count; lid++)
			if (is_new(steps, sw, lid, step))
				hd_routes_row(routes, sw)[lid] =
				    hd_routes_port(request->after, sw, lid);
	}
	*out = routes;
	return 0;
}

/* ---- proof ---- */

/* What switches hold after a step. */
struct state {
	struct hd_ar_plan *plan;
	struct hd_routes *routes;
};

static void release(struct state *state)
{
	hd_ar_plan_free(state->plan);
	hd_routes_free(state->routes);
	*state = (struct state){0};
}

static int take_state(struct hd_ar_steps *steps, uint32_t step, struct state *state)
{
	int rc = hd_ar_steps_plan(steps, step, &state->plan);

	return rc ? rc : hd_ar_steps_routes(steps, step, &state->routes);
}

static int prove_step(const struct hd_ar_steps *steps, const struct state *before,
		      const struct state *after, struct hd_error *err)
{
	const struct hd_ar_proof_request request = {.fabric = steps->request.fabric,
						    .routes = after->routes,
						    .before = before->routes,
						    .plan = before->plan,
						    .next = after->plan,
						    .threads = steps->request.threads,
						    .go_on = steps->request.go_on};

	return hd_ar_prove(&request, NULL, NULL, err);
}

static int prove_steps(struct hd_ar_steps *steps, struct hd_error *err)
{
	struct state before = {0}, after = {0};
	int rc = hd_go_on_explain(take_state(steps, 0, &before), err);

	for (uint32_t step = 1; !rc && step <= steps->order.count; step++) {
		rc = hd_go_on_explain(take_state(steps, step, &after), err);
		if (!rc)
			rc = prove_step(steps, &before, &after, err);
		release(&before);
		before = after;
		after = (struct state){0};
	}
	release(&before);
	return rc;
}

/* With the delays that are known now. */
static int order_again(struct hd_ar_steps *steps, struct hd_error *err)
{
	struct steps_order next = {.delays = steps->order.delays};

	hd_arena_release(&steps->order.arena);
	steps->order = next;
	return find_order(steps, err);
}

int hd_ar_steps_prove(struct hd_ar_steps *steps, struct hd_error *err)
{
	const struct hd_ar_steps_request *request = &steps->request;

	if (!has_graph(request))
		return prove_steps(steps, err);
	int rc = steps_graph_prove(request, steps->held.plan, &steps->order, err);
	for (unsigned round = 0; rc == -EAGAIN && round < ORDERS; round++) {
		rc = order_again(steps, err);
		if (!rc)
			rc = steps_graph_prove(request, steps->held.plan, &steps->order, err);
	}
	if (rc == -EAGAIN)
		rc = -ELOOP;
	if (rc)
		drop_graph(request, rc);
	return rc;
}
