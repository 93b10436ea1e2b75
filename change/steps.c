/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <heddle/ar_manager/plan_copy.h>
#include <heddle/base/arena.h>
#include <heddle/change/steps.h>
#include <stdlib.h>

/* ---- the order of steps ---- */

/* In which step each entry changes. */
/*
 * For each LID: the links of the new entries, from the LID backwards. An entry is reached when all
 * entries to which its links lead have been reached.
 */

#define STEPS_LATE 0x80u

struct steps_order {
	uint32_t count; /* steps, 1 or more */
	/* [switch_count * lid_count] 0: the entry does not change. With STEPS_LATE: it is static from
	 * then on, and gets its group in the last step. */
	uint8_t *step;
	bool late; /* any is */
	struct hd_port_set *live; /* [switch_count] ports with a cable */
	struct hd_arena arena;
};

struct ordering {
	const struct hd_ar_steps_request *request;
	const struct hd_ar_plan *held;
	struct steps_order *order;
	struct hd_arena arena;
	struct hd_port_set *links; /* [switch_count] ports to other switches */
	/* ---- of the LID at hand ---- */
	struct hd_port_set *new; /* [switch_count] links of the new entry */
	bool *changes; /* [switch_count] */
	bool *late; /* [switch_count] static until the last step */
	uint32_t *open; /* [switch_count] links to entries that were not reached yet */
	uint32_t *steps; /* [switch_count] that the entries which follow need */
	uint32_t *queue; /* [switch_count] */
};

static int prepare(struct ordering *ordering)
{
	const struct hd_fabric *fabric = ordering->request->fabric;
	struct hd_arena *arena = &ordering->arena;
	const uint32_t switches = fabric->switch_count;

	ordering->order->step = hd_arena_alloc(
	    &ordering->order->arena, (size_t)switches * fabric->lid_count, sizeof(uint8_t));
	ordering->order->live =
	    hd_arena_alloc(&ordering->order->arena, switches, sizeof(*ordering->order->live));
	ordering->links = hd_arena_alloc(arena, switches, sizeof(*ordering->links));
	ordering->new = hd_arena_alloc(arena, switches, sizeof(*ordering->new));
	ordering->changes = hd_arena_alloc(arena, switches, sizeof(*ordering->changes));
	ordering->late = hd_arena_alloc(arena, switches, sizeof(*ordering->late));
	ordering->open = hd_arena_alloc(arena, switches, sizeof(*ordering->open));
	ordering->steps = hd_arena_alloc(arena, switches, sizeof(*ordering->steps));
	ordering->queue = hd_arena_alloc(arena, switches, sizeof(*ordering->queue));
	return hd_arena_check(&ordering->order->arena) || hd_arena_check(arena) ? -ENOMEM : 0;
}

static void find_ports(struct ordering *ordering)
{
	const struct hd_fabric *fabric = ordering->request->fabric;

	for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
		for (uint32_t port = 1; port <= hd_node_ports(fabric, sw); port++)
			if (fabric->peer[hd_port_index(fabric, sw, port)] != HD_NONE)
				hd_port_set_add(&ordering->order->live[sw], port);
		for (uint32_t link = fabric->isl_base[sw]; link < fabric->isl_base[sw + 1]; link++)
			hd_port_set_add(&ordering->links[sw], fabric->isl_port[link]);
	}
}

/* ---- one entry ---- */

/* The ports of its group, without those that lead nowhere. */
static struct hd_port_set group_ports(const struct ordering *ordering,
				      const struct hd_ar_plan *plan, uint32_t sw, uint32_t lid)
{
	const struct hd_ar_switch *planned = &plan->switches[sw];
	uint16_t number = planned->used ? planned->lid_group[0][lid] : HD_AR_NO_GROUP;
	struct hd_port_set ports = {{0}};

	if (number == HD_AR_NO_GROUP)
		return ports;
	ports = planned->groups[number].ports[0];
	hd_port_set_unite(&ports, &planned->groups[number].ports[1]);
	hd_port_set_intersect(&ports, &ordering->order->live[sw]);
	return ports;
}

/* A static port of an AR table is that of the forwarding table, or nothing is known of the entry. */
static bool is_static_port(const struct hd_ar_plan *plan, uint32_t sw, uint32_t lid, uint8_t port)
{
	return !plan->switches[sw].used || plan->switches[sw].lid_port[0][lid] == port;
}

static int open_entry(struct ordering *ordering, uint32_t sw, uint32_t lid, struct hd_error *err)
{
	const struct hd_ar_steps_request *request = ordering->request;
	uint8_t before = hd_routes_port(request->before, sw, lid);
	uint8_t after = hd_routes_port(request->after, sw, lid);
	struct hd_port_set was = group_ports(ordering, ordering->held, sw, lid);
	struct hd_port_set *is = &ordering->new[sw];

	if (!is_static_port(ordering->held, sw, lid, before) ||
	    !is_static_port(request->next, sw, lid, after))
		return hd_error_set(err, -EINVAL,
				    "switch '%s' has another static port for LID %u in its AR "
				    "table than in its forwarding table",
				    request->fabric->node_name[sw], lid);
	*is = group_ports(ordering, request->next, sw, lid);
	ordering->changes[sw] = before != after || !hd_port_set_equal(&was, is);
	if (after != HD_NO_PORT)
		hd_port_set_add(is, after);
	hd_port_set_intersect(is, &ordering->links[sw]);
	ordering->late[sw] = false;
	ordering->open[sw] = hd_port_set_count(is);
	ordering->steps[sw] = 0;
	return 0;
}

/* ---- one LID ---- */

static int open_lid(struct ordering *ordering, uint32_t lid, bool *any, struct hd_error *err)
{
	int rc = 0;

	*any = false;
	for (uint32_t sw = 0; !rc && sw < ordering->request->fabric->switch_count; sw++) {
		rc = open_entry(ordering, sw, lid, err);
		*any |= !rc && ordering->changes[sw];
	}
	return rc;
}

/* All entries that follow have been reached: notes the step, and tells those before. */
static uint32_t reach(struct ordering *ordering, uint32_t sw, uint32_t lid, uint32_t end)
{
	const struct hd_fabric *fabric = ordering->request->fabric;
	struct steps_order *order = ordering->order;
	uint32_t step = ordering->steps[sw] + ordering->changes[sw];

	if (ordering->changes[sw])
		order->step[(size_t)sw * fabric->lid_count + lid] =
		    (uint8_t)(ordering->late[sw] ? step | STEPS_LATE : step);
	if (step > order->count)
		order->count = step;
	for (uint32_t link = fabric->isl_base[sw]; link < fabric->isl_base[sw + 1]; link++) {
		uint32_t from = fabric->isl_to[link];
		uint32_t arriving = fabric->isl_port[fabric->isl_reverse[link]];
		if (!hd_port_set_has(&ordering->new[from], arriving))
			continue;
		if (step > ordering->steps[from])
			ordering->steps[from] = step;
		if (!--ordering->open[from])
			ordering->queue[end++] = from;
	}
	return end;
}

/* Returns how many entries were reached. Those of a circle are not, and those that lead there. */
static uint32_t reach_all(struct ordering *ordering, uint32_t lid)
{
	const uint32_t switches = ordering->request->fabric->switch_count;
	uint32_t end = 0, begin = 0;

	for (uint32_t sw = 0; sw < switches; sw++)
		if (!ordering->open[sw])
			ordering->queue[end++] = sw;
	while (begin < end && ordering->order->count < HD_AR_STEPS_MOST)
		end = reach(ordering, ordering->queue[begin++], lid, end);
	return end;
}

/* No packet comes to the switches that were not reached, or the groups of the plan would have a
 * loop. Their entries are static until the last step, so that nothing has to be known of packets. */
static void make_late(struct ordering *ordering, uint32_t lid)
{
	const struct hd_ar_steps_request *request = ordering->request;

	for (uint32_t sw = 0; sw < request->fabric->switch_count; sw++) {
		uint8_t after = hd_routes_port(request->after, sw, lid);
		if (ordering->open[sw]) {
			ordering->order->late = true;
			ordering->late[sw] = ordering->changes[sw] = true;
			ordering->new[sw] = (struct hd_port_set){{0}};
			hd_port_set_add(&ordering->new[sw], after);
			hd_port_set_intersect(&ordering->new[sw], &ordering->links[sw]);
		}
	}
	for (uint32_t sw = 0; sw < request->fabric->switch_count; sw++) {
		ordering->open[sw] = hd_port_set_count(&ordering->new[sw]);
		ordering->steps[sw] = 0;
	}
}

static int order_lid(struct ordering *ordering, uint32_t lid, struct hd_error *err)
{
	const uint32_t switches = ordering->request->fabric->switch_count;
	uint32_t reached = reach_all(ordering, lid);

	if (reached < switches && ordering->order->count < HD_AR_STEPS_MOST) {
		make_late(ordering, lid);
		reached = reach_all(ordering, lid);
	}
	if (ordering->order->count >= HD_AR_STEPS_MOST)
		return hd_error_set(err, -E2BIG, "more than %u steps are needed", HD_AR_STEPS_MOST);
	if (reached < switches)
		return hd_error_set(err, -ELOOP, "the new tables lead to LID %u in a circle", lid);
	return 0;
}

static int order_all(struct ordering *ordering, struct hd_error *err)
{
	const struct hd_fabric *fabric = ordering->request->fabric;
	int rc = 0;

	for (uint32_t lid = 1; !rc && lid < fabric->lid_count; lid++) {
		bool any;
		if (fabric->lid_owner[lid] == HD_NONE)
			continue; /* no packets */
		rc = hd_go_on_check(&ordering->request->go_on, err);
		if (!rc)
			rc = open_lid(ordering, lid, &any, err);
		if (!rc && any)
			rc = order_lid(ordering, lid, err);
	}
	return rc;
}

/* `held` is that of the request, in the shape of the fabric. To be released in any case. Errors and
 * cost: as hd_ar_steps_new(). */
static int steps_order_find(const struct hd_ar_steps_request *request,
			    const struct hd_ar_plan *held, struct steps_order *order,
			    struct hd_error *err)
{
	struct ordering ordering = {.request = request, .held = held, .order = order};
	int rc = prepare(&ordering) ? hd_error_no_memory(err) : 0;

	order->count = 1;
	if (!rc) {
		find_ports(&ordering);
		rc = order_all(&ordering, err);
		order->count += order->late;
	}
	hd_arena_release(&ordering.arena);
	return rc;
}

static void steps_order_release(struct steps_order *order)
{
	hd_arena_release(&order->arena);
}

/* ---- steps ---- */

struct hd_ar_steps {
	struct hd_ar_steps_request request;
	struct hd_ar_plan_copy held; /* in the shape of the fabric */
	struct steps_order order;
};

/* ---- making ---- */

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
	return 0;
}

int hd_ar_steps_new(const struct hd_ar_steps_request *request, struct hd_ar_steps **out,
		    struct hd_error *err)
{
	int rc = check(request, err);
	struct hd_ar_steps *steps = rc ? NULL : calloc(1, sizeof(*steps));

	if (rc)
		return rc;
	if (!steps)
		return hd_error_no_memory(err);
	steps->request = *request;
	rc = hd_go_on_explain(
	    hd_ar_plan_copy_new(request->held, request->fabric, &request->go_on, &steps->held),
	    err);
	if (!rc)
		rc = steps_order_find(request, steps->held.plan, &steps->order, err);
	if (rc)
		hd_ar_steps_free(steps);
	else
		*out = steps;
	return rc;
}

void hd_ar_steps_free(struct hd_ar_steps *steps)
{
	if (!steps)
		return;
	hd_ar_plan_free(steps->held.plan);
	steps_order_release(&steps->order);
	free(steps);
}

uint32_t hd_ar_steps_count(const struct hd_ar_steps *steps)
{
	return steps->order.count;
}

static uint32_t noted(const struct hd_ar_steps *steps, uint32_t sw, uint32_t lid)
{
	return steps->order.step[(size_t)sw * steps->request.fabric->lid_count + lid];
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
	const uint32_t old = copy->switches[sw].group_count;
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

static int mix_switch(const struct hd_ar_steps *steps, struct hd_ar_plan_copy *copy, uint32_t sw,
		      uint32_t step)
{
	const bool on = copy->switches[sw].used > 0;
	int rc = hd_go_on_ask(&steps->request.go_on) ? 0 : -ECANCELED;

	if (!rc)
		rc = hd_ar_plan_copy_own(copy, sw);
	if (!rc && on)
		rc = mix_groups(steps, copy, sw);
	for (uint32_t lid = 1; !rc && lid < copy->plan->lid_count; lid++)
		mix_entry(steps, copy, sw, lid, step);
	if (!rc && !copy->switches[sw].used)
		hd_ar_plan_copy_switch_off(copy, sw);
	return rc;
}

static int count_adaptive(const struct hd_ar_steps *steps, struct hd_ar_plan_copy *copy)
{
	copy->plan->adaptive = 0;
	for (uint32_t sw = 0; sw < copy->plan->switch_count; sw++) {
		if (!hd_go_on_ask(&steps->request.go_on))
			return -ECANCELED;
		for (uint32_t lid = 0; lid < copy->plan->lid_count; lid++)
			copy->plan->adaptive +=
			    copy->switches[sw].lid_group[0][lid] != HD_AR_NO_GROUP;
	}
	return 0;
}

int hd_ar_steps_plan(const struct hd_ar_steps *steps, uint32_t step, struct hd_ar_plan **out)
{
	const bool last = step >= steps->order.count;
	struct hd_ar_plan_copy copy;
	int rc = hd_ar_plan_copy_new(last ? steps->request.next : steps->held.plan,
				     steps->request.fabric, &steps->request.go_on, &copy);

	if (rc)
		return rc;
	for (uint32_t sw = 0; !rc && !last && sw < copy.plan->switch_count; sw++)
		rc = mix_switch(steps, &copy, sw, step);
	if (!rc)
		rc = count_adaptive(steps, &copy);
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

static int take_state(const struct hd_ar_steps *steps, uint32_t step, struct state *state)
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

int hd_ar_steps_prove(const struct hd_ar_steps *steps, struct hd_error *err)
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
