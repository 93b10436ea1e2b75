/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The order of steps by a graph of adaptive routing. LIDs of one destination switch change together. From each entry
 * that changes, a search follows the new entries: it comes in a step after all that change there.
 */
#include "ar_graph.h"
#include "steps_delay.h"
#include "steps_order.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MOST_HOPS 16u /* to a switch that are followed */
#define SPLIT_ROUNDS 8u

struct ordering {
	const struct hd_ar_steps_request *request;
	const struct hd_ar_plan *held;
	struct hd_ar_graph *graph;
	struct steps_order *order;
	struct hd_arena arena;
	const uint8_t **rows[2]; /* [switch_count] of the forwarding tables */
	bool *other; /* [HD_AR_GROUPS_MAX + 1] groups of the switch at hand with other ports */
	/* ---- of the destination at hand ---- */
	uint32_t to;
	uint8_t
	    *when; /* [slots] steps that what is reached from the switch on takes, without delays */
	uint32_t *seen; /* [slots] the destination for which that is known, + 1 */
	uint32_t *path; /* [slots] */
	uint8_t *port; /* [slots] at which the search goes on */
	uint32_t latest; /* step */
	/* ---- what is marked in the graph, in its order ---- */
	uint32_t *first, *list; /* [destinations + 1], [marked]: by destination */
	uint8_t *value; /* [marked] `when` of the entries that change */
	/* ---- LIDs of switches ---- */
	struct own {
		uint32_t sw, lid;
	} * own; /* entries that change */
	size_t own_count, own_room;
};

/* ---- which entries change ---- */

static uint8_t *step_of(const struct ordering *ordering, uint32_t sw, uint32_t lid)
{
	return steps_order_row(ordering->order, sw) + lid;
}

/* An entry for a switch itself, to which no packets of adapters go. */
static void add_own(struct ordering *ordering, uint32_t sw, uint32_t lid)
{
	if (*step_of(ordering, sw, lid))
		return;
	if (ordering->own_count == ordering->own_room) {
		const size_t room = ordering->own_room * 2 + 256;
		struct own *own = realloc(ordering->own, room * sizeof(*own));
		if (!own) {
			ordering->arena.failed = true;
			return;
		}
		ordering->own = own;
		ordering->own_room = room;
	}
	ordering->own[ordering->own_count++] = (struct own){sw, lid};
	*step_of(ordering, sw, lid) = 1;
}

static void mark(struct ordering *ordering, uint32_t sw, uint32_t lid)
{
	const uint32_t to = ar_graph_destination(ordering->graph, lid);

	ordering->order->changes[sw] |= 1;
	if (to != HD_NONE)
		ar_graph_mark(ordering->graph, sw, to, true);
	else if (ordering->request->fabric->lid_owner[lid] != HD_NONE)
		add_own(ordering, sw, lid);
}

static void compare_ports(struct ordering *ordering, uint32_t sw, const uint8_t *was,
			  const uint8_t *is)
{
	const uint32_t lids = ordering->request->fabric->lid_count, step = 64;

	if (was == is)
		return;
	for (uint32_t lid = 0; lid < lids; lid += step) {
		const uint32_t count = lids - lid < step ? lids - lid : step;
		if (!memcmp(was + lid, is + lid, count))
			continue;
		for (uint32_t i = lid; i < lid + count; i++)
			if (was[i] != is[i])
				mark(ordering, sw, i);
	}
}

/* Whether any number stands for other ports than before. */
static bool compare_groups(struct ordering *ordering, uint32_t sw, const struct hd_ar_switch *was,
			   const struct hd_ar_switch *is)
{
	const uint32_t both =
	    was->group_count < is->group_count ? was->group_count : is->group_count;
	bool any = false;

	for (uint32_t number = 0; number < both; number++) {
		ordering->other[number] =
		    !hd_ar_group_equal(&was->groups[number], &is->groups[number]);
		any |= ordering->other[number];
	}
	ordering->order->changes[sw] |= any || was->group_count != is->group_count;
	for (uint32_t number = both; any && number < was->group_count; number++)
		ordering->other[number] = true;
	return any;
}

static void compare_entries(struct ordering *ordering, uint32_t sw, const struct hd_ar_switch *was,
			    const struct hd_ar_switch *is)
{
	const uint16_t *old = was->lid_group[0], *new = is->lid_group[0];
	const uint32_t lids = ordering->request->fabric->lid_count, step = 64;
	const bool any = compare_groups(ordering, sw, was, is);

	for (uint32_t lid = 0; lid < lids; lid += step) {
		const uint32_t count = lids - lid < step ? lids - lid : step;
		if (!any && !memcmp(old + lid, new + lid, count * sizeof(*old)))
			continue;
		for (uint32_t i = lid; i < lid + count; i++)
			if (old[i] != new[i] ||
			    (any && old[i] != HD_AR_NO_GROUP && ordering->other[old[i]]))
				mark(ordering, sw, i);
	}
}

static void mark_all(struct ordering *ordering, uint32_t sw)
{
	for (uint32_t lid = 1; lid < ordering->request->fabric->lid_count; lid++)
		mark(ordering, sw, lid);
}

static void compare_switch(struct ordering *ordering, uint32_t sw)
{
	const struct hd_ar_switch *was = &ordering->held->switches[sw];
	const struct hd_ar_switch *is = &ordering->request->next->switches[sw];

	compare_ports(ordering, sw, ordering->rows[0][sw], ordering->rows[1][sw]);
	if (!was->used != !is->used) {
		mark_all(ordering, sw);
	} else if (was->used && !hd_ar_switch_same(was, is)) {
		compare_ports(ordering, sw, was->lid_port[0], is->lid_port[0]);
		compare_entries(ordering, sw, was, is);
	}
}

/* ---- the order ---- */

/* The number of a step, which may have been delayed. */
static uint32_t number_of(const struct ordering *ordering, uint8_t when, uint32_t destination)
{
	return when + (uint32_t)steps_order_delay(ordering->order, destination, when);
}

/* When an entry changes, after all that changes where it leads to. Paths of new entries have no more hops than that. */
static uint8_t after(struct ordering *ordering, uint8_t need)
{
	const uint8_t when = need < HD_AR_STEPS_MOST ? need + 1 : need;
	const uint32_t number = number_of(ordering, when, ordering->to);

	if (number > ordering->latest)
		ordering->latest = number;
	return when;
}

static void enter(struct ordering *ordering, uint32_t slot, uint32_t *depth)
{
	ordering->seen[slot] = ordering->to + 1;
	ordering->when[slot] = 0;
	ordering->port[slot] = 0;
	ordering->path[(*depth)++] = slot;
}

/* The switch at the next port of the new entry; HD_NONE: there is no further one. */
static uint32_t next_of(struct ordering *ordering, uint32_t slot)
{
	const struct hd_ar_graph *graph = ordering->graph;
	const uint64_t *set = graph->columns[ordering->to].sets + (size_t)slot * graph->words;

	uint32_t port = ordering->port[slot] + 1u;

	while (port < graph->ports) {
		const uint64_t left = set[port / 64] >> port % 64;
		port += left ? (uint32_t)__builtin_ctzll(left) : 64 - port % 64;
		if (!left)
			continue;
		ordering->port[slot] = (uint8_t)port;
		return graph->far_slot[slot * graph->ports + port];
	}
	ordering->port[slot] = UINT8_MAX;
	return HD_NONE;
}

/* Searches in depth. At switches to which no packet comes, new entries may lead in a circle; the proof decides
 * whether that matters. */
static void search(struct ordering *ordering, uint32_t source)
{
	uint32_t depth = 0;

	enter(ordering, source, &depth);
	while (depth) {
		const uint32_t slot = ordering->path[depth - 1];
		const uint32_t next = next_of(ordering, slot);
		if (next != HD_NONE && ordering->seen[next] != ordering->to + 1) {
			enter(ordering, next, &depth);
			continue;
		}
		if (next != HD_NONE) {
			if (ordering->when[next] > ordering->when[slot])
				ordering->when[slot] = ordering->when[next];
			continue;
		}
		if (ar_graph_has_changed(ordering->graph, slot, ordering->to))
			ordering->when[slot] = after(ordering, ordering->when[slot]);
		if (--depth && ordering->when[slot] > ordering->when[ordering->path[depth - 1]])
			ordering->when[ordering->path[depth - 1]] = ordering->when[slot];
	}
}

/* Lists what is marked by destination. */
static int list_marked(struct ordering *ordering)
{
	const struct hd_ar_graph *graph = ordering->graph;
	struct hd_arena *arena = &ordering->arena;
	const size_t count = graph->mark_count;

	ordering->first = hd_arena_alloc(arena, graph->destinations + 1u, sizeof(*ordering->first));
	ordering->list = hd_arena_alloc(arena, count, sizeof(*ordering->list));
	ordering->value = hd_arena_alloc(arena, count, sizeof(*ordering->value));
	if (hd_arena_check(arena))
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		ordering->first[graph->marked[i].destination]++;
	for (uint32_t to = 0; to < graph->destinations; to++)
		ordering->first[to + 1] += ordering->first[to];
	for (size_t i = count; i-- > 0;)
		ordering->list[--ordering->first[graph->marked[i].destination]] = (uint32_t)i;
	return 0;
}

/* All entries for the destination at hand. */
static void search_destination(struct ordering *ordering)
{
	const struct hd_ar_graph *graph = ordering->graph;

	for (uint32_t i = ordering->first[ordering->to]; i < ordering->first[ordering->to + 1];
	     i++) {
		const uint32_t slot = graph->marked[ordering->list[i]].slot;
		if (!ar_graph_has_changed(graph, slot, ordering->to))
			continue;
		if (ordering->seen[slot] != ordering->to + 1)
			search(ordering, slot);
		ordering->value[ordering->list[i]] = ordering->when[slot];
	}
}

static int search_all(struct ordering *ordering)
{
	const struct hd_ar_graph *graph = ordering->graph;
	int rc = list_marked(ordering);

	for (ordering->to = 0; !rc && ordering->to < graph->destinations; ordering->to++) {
		if (ordering->first[ordering->to] == ordering->first[ordering->to + 1])
			continue;
		if (!hd_go_on_ask(&ordering->request->go_on))
			return -ECANCELED;
		search_destination(ordering);
	}
	return rc;
}

/* ---- the steps ---- */

/* Gives a step to all LIDs of a destination. */
static void note(struct ordering *ordering, const struct ar_pair *pair)
{
	const struct hd_ar_graph *graph = ordering->graph;

	ordering->order->changes[graph->sw[pair->slot]] |= UINT64_C(1) << pair->step;
	for (uint32_t i = graph->first_lid[pair->destination];
	     i < graph->first_lid[pair->destination + 1]; i++)
		*step_of(ordering, graph->sw[pair->slot], graph->lids[i]) = (uint8_t)pair->step;
}

static int number_all(struct ordering *ordering, struct hd_error *err)
{
	struct hd_ar_graph *graph = ordering->graph;
	struct steps_order *order = ordering->order;

	order->count = ordering->latest ? ordering->latest : 1;
	if (order->count + MOST_HOPS >= HD_AR_STEPS_MOST)
		return hd_error_set(err, -E2BIG, "more than %u steps are needed",
				    HD_AR_STEPS_MOST - MOST_HOPS);
	for (size_t i = 0; i < graph->mark_count; i++) {
		struct ar_pair *pair = &graph->marked[i];
		pair->step = 0;
		if (graph->sw[pair->slot] == HD_NONE ||
		    !ar_graph_has_changed(graph, pair->slot, pair->destination))
			continue;
		pair->step = number_of(ordering, ordering->value[i], pair->destination);
		note(ordering, pair);
	}
	return 0;
}

/* ---- switches themselves ---- */

/* The step of an entry for a LID of a switch comes after those to which it leads. Returns the latest on the path. */
static uint8_t follow(struct ordering *ordering, uint32_t sw, uint32_t lid, unsigned hops)
{
	const struct hd_fabric *fabric = ordering->request->fabric;
	uint8_t *row = ordering->order->step[sw], none = 0, *step = row ? row + lid : &none;
	const uint32_t link = hd_fabric_find_isl(fabric, sw, ordering->rows[1][sw][lid]);
	const uint8_t next =
	    link == HD_NONE || !hops ? 0 : follow(ordering, fabric->isl_to[link], lid, hops - 1);

	if (*step && next >= *step)
		*step = next + 1;
	if (*step > ordering->order->count)
		ordering->order->count = *step;
	return *step > next ? *step : next;
}

/* Without proof, since packets of adapters do not go there: the order alone keeps them out of circles. */
static void order_own(struct ordering *ordering)
{
	for (size_t i = 0; i < ordering->own_count; i++) {
		const struct own *own = &ordering->own[i];
		follow(ordering, own->sw, own->lid, MOST_HOPS);
		ordering->order->changes[own->sw] |= UINT64_C(1)
						     << *step_of(ordering, own->sw, own->lid);
	}
}

/* ---- the beginning ---- */

static int allocate(struct ordering *ordering)
{
	const uint32_t switches = ordering->request->fabric->switch_count;
	const size_t slots = ordering->graph->slots;
	struct hd_arena *arena = &ordering->arena;

	for (unsigned i = 0; i < 2; i++)
		ordering->rows[i] = hd_arena_alloc(arena, switches, sizeof(*ordering->rows[i]));
	ordering->other = hd_arena_alloc(arena, HD_AR_GROUPS_MAX + 1u, sizeof(*ordering->other));
	ordering->when = hd_arena_alloc(arena, slots, sizeof(*ordering->when));
	ordering->seen = hd_arena_alloc(arena, slots, sizeof(*ordering->seen));
	ordering->path = hd_arena_alloc(arena, slots, sizeof(*ordering->path));
	ordering->port = hd_arena_alloc(arena, slots, sizeof(*ordering->port));
	ordering->order->changes =
	    hd_arena_alloc(&ordering->order->arena, switches, sizeof(*ordering->order->changes));
	if (hd_arena_check(arena) || hd_arena_check(&ordering->order->arena))
		return -ENOMEM;
	for (uint32_t sw = 0; sw < switches; sw++) {
		ordering->rows[0][sw] = hd_routes_row(ordering->request->before, sw);
		ordering->rows[1][sw] = hd_routes_row(ordering->request->after, sw);
	}
	return 0;
}

static void load_states(const struct ordering *ordering, struct ar_state states[2])
{
	states[0] = (struct ar_state){ordering->rows[0], ordering->held};
	states[1] = (struct ar_state){ordering->rows[1], ordering->request->next};
}

static int begin(struct ordering *ordering, const struct hd_ar_steps_request *request,
		 const struct hd_ar_plan *held, struct steps_order *order)
{
	*ordering = (struct ordering){
	    .request = request, .held = held, .graph = *request->graph, .order = order};
	return allocate(ordering);
}

static void end(struct ordering *ordering)
{
	hd_arena_release(&ordering->arena);
	free(ordering->own);
}

static int explain(const struct ordering *ordering, int rc, struct hd_error *err)
{
	if (rc == -ELOOP)
		return ar_graph_name_loop(ordering->graph, ordering->request->fabric, err);
	if (rc == -ESTALE)
		return hd_error_set(err, rc,
				    "the graph does not know the fabric, or what is in force");
	return hd_go_on_explain(rc, err);
}

/* Marks what changes, and puts the graph at the beginning of the change. */
static int mark_changes(struct ordering *ordering)
{
	const struct hd_fabric *fabric = ordering->request->fabric;
	struct ar_state states[2];
	int rc = ar_graph_take_fabric(ordering->graph, fabric);

	for (uint32_t sw = 0; !rc && sw < fabric->switch_count; sw++) {
		if (!hd_go_on_ask(&ordering->request->go_on))
			return -ECANCELED;
		compare_switch(ordering, sw);
	}
	if (rc || hd_arena_check(&ordering->arena))
		return rc ? rc : -ENOMEM;
	load_states(ordering, states);
	rc = ar_graph_try(ordering->graph, states, 0);
	if (!rc)
		ar_graph_keep(ordering->graph);
	return rc == -ELOOP ? -ESTALE : rc; /* what is in force has none */
}

/* The new entries, as the graph has them at the end, say what comes first. *count: destinations in list[] whose LIDs
 * close a loop together. */
static int find_order(struct ordering *ordering, uint32_t *list, uint32_t *count)
{
	struct ar_state states[2];

	load_states(ordering, states);
	int rc = ar_graph_try(ordering->graph, states, AR_GRAPH_LAST);
	if (!rc)
		rc = search_all(ordering);
	*count = rc == -ELOOP ? ar_graph_find_split(ordering->graph, states, 1, list) : 0;
	ar_graph_undo(ordering->graph);
	return rc;
}

/* The same, after LIDs that close a loop only together have got a destination of their own. */
static int find_order_by_lid(struct ordering *ordering)
{
	uint32_t *list =
	    hd_arena_alloc(&ordering->arena, ordering->graph->destinations, sizeof(*list));
	struct ar_state states[2];
	int rc = list ? mark_changes(ordering) : -ENOMEM;

	load_states(ordering, states);
	for (unsigned round = 0; !rc; round++) {
		uint32_t count;
		rc = find_order(ordering, list, &count);
		if (rc != -ELOOP || !count || round == SPLIT_ROUNDS)
			break;
		rc = ar_graph_split(ordering->graph, states, list, count);
		if (!rc)
			rc = mark_changes(ordering);
	}
	return rc;
}

int steps_graph_order(const struct hd_ar_steps_request *request, const struct hd_ar_plan *held,
		      struct steps_order *order, struct hd_error *err)
{
	struct ordering ordering;
	int rc = begin(&ordering, request, held, order);

	if (!rc)
		rc = find_order_by_lid(&ordering);
	rc = explain(&ordering, rc, err);
	if (!rc)
		rc = number_all(&ordering, err);
	if (!rc)
		order_own(&ordering);
	end(&ordering);
	return rc;
}

int steps_graph_prove(const struct hd_ar_steps_request *request, const struct hd_ar_plan *held,
		      struct steps_order *order, struct hd_error *err)
{
	struct ordering ordering;
	struct steps_order unused = {.count = 0};
	struct ar_state states[2];
	uint32_t step = 0;
	int rc = begin(&ordering, request, held, &unused);

	load_states(&ordering, states);
	while (!rc && step < order->count)
		rc = hd_go_on_ask(&request->go_on) ? ar_graph_try(ordering.graph, states, ++step)
						   : -ECANCELED;
	rc = explain(&ordering, rc, err);
	if (rc == -ELOOP)
		rc = steps_delay_loop(ordering.graph, states, step, order);
	if (!rc)
		ar_graph_keep(ordering.graph);
	else
		ar_graph_undo(ordering.graph);
	end(&ordering);
	hd_arena_release(&unused.arena);
	return rc == -ENOMEM ? hd_error_no_memory(err) : rc;
}
