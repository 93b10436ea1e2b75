/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "multicast_planner.h"

#include <errno.h>
#include <stdlib.h>

static int allocate(struct hd_multicast *multicast)
{
	struct multicast_members *members = &multicast->members;
	struct multicast_growth *growth = &multicast->growth;
	uint32_t switches = multicast->fabric->switch_count;
	uint32_t **by_switch[] = {&multicast->through, &multicast->queue,   &multicast->farthest,
				  &multicast->sum,     &multicast->reached, &members->switches,
				  &members->at,	       &growth->uplink,	    &growth->switches,
				  &growth->level,      &growth->next,	    &growth->coverage,
				  &growth->candidates, &growth->counted_for};
	struct hd_arena *arena = &multicast->arena;

	for (size_t i = 0; i < sizeof(by_switch) / sizeof(*by_switch); i++)
		*by_switch[i] = hd_arena_alloc(arena, switches, sizeof(uint32_t));
	multicast->load = hd_arena_alloc(arena, multicast->fabric->isl_count, sizeof(uint32_t));
	multicast->forwards = hd_arena_alloc(arena, switches, sizeof(bool));
	multicast->distance = hd_arena_alloc(arena, switches, sizeof(*multicast->distance));
	members->ports = hd_arena_alloc(arena, switches, sizeof(*members->ports));
	growth->used = hd_arena_alloc(arena, switches, sizeof(bool));
	growth->cost = hd_arena_alloc(arena, switches, sizeof(*growth->cost));
	return hd_arena_check(arena);
}

int hd_multicast_new(const struct hd_fabric *fabric, const bool *forwards,
		     struct hd_multicast **out, struct hd_error *err)
{
	struct hd_multicast *multicast = calloc(1, sizeof(*multicast));

	if (!multicast)
		return hd_error_no_memory(err);
	multicast->fabric = fabric;
	if (allocate(multicast)) {
		hd_multicast_free(multicast);
		return hd_error_no_memory(err);
	}
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
		multicast->forwards[sw] = !forwards || forwards[sw];
		multicast->growth.level[sw] = HD_NONE;
		multicast->growth.counted_for[sw] = HD_NONE;
	}
	*out = multicast;
	return 0;
}

void hd_multicast_set_go_on(struct hd_multicast *multicast, const struct hd_go_on *go_on)
{
	multicast->go_on = *go_on;
}

void hd_multicast_free(struct hd_multicast *multicast)
{
	if (!multicast)
		return;
	hd_arena_release(&multicast->arena);
	free(multicast);
}

/* The switch to which a port is cabled and the number of its port to it (0: the switch itself).
 * False without such a switch, or if it does not forward. */
static bool find_attachment(const struct hd_multicast *multicast, uint32_t port, uint32_t *sw,
			    uint32_t *port_number)
{
	const struct hd_fabric *fabric = multicast->fabric;
	uint32_t node = fabric->port_node[port];

	if (!hd_is_switch(fabric, node)) {
		port = fabric->peer[port];
		if (port == HD_NONE || !hd_is_switch(fabric, fabric->port_node[port]))
			return false;
		node = fabric->port_node[port];
		*port_number = hd_port_number(fabric, port);
	} else {
		*port_number = 0;
	}
	*sw = node;
	return multicast->forwards[node];
}

/* False when no switch that forwards leads to it. */
static bool add_member(struct hd_multicast *multicast, uint32_t port)
{
	struct multicast_members *members = &multicast->members;
	uint32_t sw, number;

	if (!find_attachment(multicast, port, &sw, &number))
		return false;
	if (hd_port_set_has(&members->ports[sw], number))
		return true;
	hd_port_set_add(&members->ports[sw], number);
	if (!members->at[sw]++)
		members->switches[members->switch_count++] = sw;
	members->total++;
	return true;
}

static void forget_members(struct multicast_members *members)
{
	for (uint32_t i = 0; i < members->switch_count; i++) {
		uint32_t sw = members->switches[i];

		members->at[sw] = 0;
		members->ports[sw] = (struct hd_port_set){{0}};
	}
	members->switch_count = members->total = 0;
}

static int collect_members(struct hd_multicast *multicast, const struct hd_multicast_group *group,
			   uint32_t *unattached, struct hd_error *err)
{
	uint32_t port_count = multicast->fabric->port_count;

	if (group->source != HD_NONE && group->source >= port_count)
		return hd_error_set(err, -EINVAL, "source port %u of a fabric with %u ports",
				    group->source, port_count);
	for (uint32_t i = 0; i < group->member_count; i++) {
		if (group->members[i] >= port_count)
			return hd_error_set(err, -EINVAL,
					    "member port %u of a fabric with %u ports",
					    group->members[i], port_count);
		*unattached += !add_member(multicast, group->members[i]);
	}
	return 0;
}

/* Tries the equally good centres. The tree from the best one is the result. */
static int grow_from_centre(struct hd_multicast *multicast, struct hd_error *err)
{
	struct multicast_growth *growth = &multicast->growth;
	uint32_t centres[MULTICAST_CENTRES], count, best = 0, peak = 0;
	uint64_t total = 0;
	int rc = multicast_centres(multicast, centres, &count, err);

	for (uint32_t i = 0; !rc && i < count; i++) {
		rc = hd_go_on_check(&multicast->go_on, err);
		if (!rc)
			rc = multicast_grow(multicast, centres[i], err);
		if (i && (growth->peak > peak || (growth->peak == peak && growth->total >= total)))
			continue;
		best = i;
		peak = growth->peak;
		total = growth->total;
	}
	if (rc || !count || best + 1 == count)
		return rc;
	return multicast_grow(multicast, centres[best], err);
}

/* True when the tree begins at the source. *port_number is then the port that leads to it. */
static bool find_source(const struct hd_multicast *multicast,
			const struct hd_multicast_group *group, uint32_t *sw, uint32_t *port_number)
{
	return group->source != HD_NONE &&
	       find_attachment(multicast, group->source, sw, port_number);
}

static int compare_distances(const void *left, const void *right, void *distances)
{
	const struct hd_multicast_branch *a = left, *b = right;
	const uint16_t *distance = *(const uint16_t **)distances;

	if (distance[a->sw] != distance[b->sw])
		return distance[a->sw] < distance[b->sw] ? -1 : 1;
	return a->sw < b->sw ? -1 : a->sw > b->sw;
}

/* A branch for each switch of the grown tree: ports to members, to its parent, to its children. */
static void write_branches(const struct hd_multicast *multicast, struct hd_multicast_tree *tree)
{
	const struct hd_fabric *fabric = multicast->fabric;
	const struct multicast_growth *growth = &multicast->growth;
	const struct multicast_members *members = &multicast->members;
	struct hd_port_set *ports = members->ports;
	const uint16_t *distance = growth->distance;

	for (uint32_t i = 0; i < growth->switch_count; i++) {
		uint32_t sw = growth->switches[i], uplink = growth->uplink[sw];

		if (uplink == HD_NONE)
			continue;
		hd_port_set_add(&ports[sw], fabric->isl_port[uplink]);
		hd_port_set_add(&ports[fabric->isl_to[uplink]],
				fabric->isl_port[fabric->isl_reverse[uplink]]);
	}
	for (uint32_t i = 0; i < growth->switch_count; i++) {
		uint32_t sw = growth->switches[i];
		struct hd_multicast_branch *branch = &tree->branches[tree->branch_count++];

		branch->sw = sw;
		branch->uplink = growth->uplink[sw];
		branch->ports = ports[sw];
		ports[sw] = (struct hd_port_set){{0}};
	}
	qsort_r(tree->branches, tree->branch_count, sizeof(*tree->branches), compare_distances,
		&distance);
}

/* Members that the grown tree reaches. */
static uint32_t count_reached(const struct hd_multicast *multicast)
{
	const struct multicast_members *members = &multicast->members;
	uint32_t reached = 0;

	for (uint32_t i = 0; i < members->switch_count; i++)
		if (multicast->growth.used[members->switches[i]])
			reached += members->at[members->switches[i]];
	return reached;
}

/* `outside`: the source is at the root and is no member. */
static int write_tree(const struct hd_multicast *multicast, bool outside, uint32_t unattached,
		      struct hd_multicast_tree **out, struct hd_error *err)
{
	const struct multicast_growth *growth = &multicast->growth;
	uint32_t reached = multicast->members.total ? count_reached(multicast) : 0;
	bool needed = reached && reached + outside >= 2;
	struct hd_multicast_tree *tree = calloc(
	    1, sizeof(*tree) + (needed ? growth->switch_count : 0) * sizeof(*tree->branches));

	if (!tree)
		return hd_error_no_memory(err);
	tree->one_way = growth->one_way;
	tree->left_out = unattached + multicast->members.total - reached;
	if (needed)
		write_branches(multicast, tree);
	*out = tree;
	return 0;
}

int hd_multicast_plan(struct hd_multicast *multicast, const struct hd_multicast_group *group,
		      struct hd_multicast_tree **out, struct hd_error *err)
{
	uint32_t root, number, unattached = 0;
	bool from_source, outside = false;
	int rc = collect_members(multicast, group, &unattached, err);

	if (!rc) {
		from_source = find_source(multicast, group, &root, &number);
		multicast->growth.one_way = from_source;
		if (from_source)
			outside = !hd_port_set_has(&multicast->members.ports[root], number);
		rc = from_source ? multicast_grow(multicast, root, err)
				 : grow_from_centre(multicast, err);
	}
	if (!rc)
		rc = write_tree(multicast, outside, unattached, out, err);
	forget_members(&multicast->members);
	return rc;
}

static void change_load(struct hd_multicast *multicast, const struct hd_multicast_tree *tree,
			uint32_t by)
{
	const struct hd_fabric *fabric = multicast->fabric;

	for (uint32_t i = 0; i < tree->branch_count; i++) {
		uint32_t up = tree->branches[i].uplink;

		if (up == HD_NONE)
			continue;
		multicast->load[fabric->isl_reverse[up]] += by;
		multicast->through[fabric->isl_to[up]] += by;
		multicast->through[tree->branches[i].sw] += by;
		if (!tree->one_way)
			multicast->load[up] += by;
	}
}

void hd_multicast_add(struct hd_multicast *multicast, const struct hd_multicast_tree *tree)
{
	change_load(multicast, tree, 1);
}

void hd_multicast_remove(struct hd_multicast *multicast, const struct hd_multicast_tree *tree)
{
	change_load(multicast, tree, UINT32_MAX);
}

uint32_t hd_multicast_load(const struct hd_multicast *multicast, uint32_t link)
{
	return multicast->load[link];
}
