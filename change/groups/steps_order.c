/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The order of steps, LID by LID: the links of the new entries, from the LID backwards. An entry is reached when all
 * entries to which its links lead have been reached.
 */
#include "steps_order.h"

#include <errno.h>
#include <heddle/base/arena.h>

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

	ordering->links = hd_arena_alloc(arena, switches, sizeof(*ordering->links));
	ordering->new = hd_arena_alloc(arena, switches, sizeof(*ordering->new));
	ordering->changes = hd_arena_alloc(arena, switches, sizeof(*ordering->changes));
	ordering->late = hd_arena_alloc(arena, switches, sizeof(*ordering->late));
	ordering->open = hd_arena_alloc(arena, switches, sizeof(*ordering->open));
	ordering->steps = hd_arena_alloc(arena, switches, sizeof(*ordering->steps));
	ordering->queue = hd_arena_alloc(arena, switches, sizeof(*ordering->queue));
	return hd_arena_check(arena);
}

static void find_ports(struct ordering *ordering)
{
	const struct hd_fabric *fabric = ordering->request->fabric;

	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		for (uint32_t link = fabric->isl_base[sw]; link < fabric->isl_base[sw + 1]; link++)
			hd_port_set_add(&ordering->links[sw], fabric->isl_port[link]);
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
		steps_order_row(order, sw)[lid] =
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

int steps_order_find(const struct hd_ar_steps_request *request, const struct hd_ar_plan *held,
		     struct steps_order *order, struct hd_error *err)
{
	struct ordering ordering = {.request = request, .held = held, .order = order};
	int rc = prepare(&ordering) ? hd_error_no_memory(err) : 0;

	if (!rc) {
		find_ports(&ordering);
		rc = order_all(&ordering, err);
		order->count += order->late;
	}
	hd_arena_release(&ordering.arena);
	return rc;
}
