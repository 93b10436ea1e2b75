/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Plans multicast trees. Arrays are by switch unless said otherwise. */
#include <errno.h>
#include <heddle/base/arena.h>
#include <heddle/engines/multicast.h>
#include <stdlib.h>
#include <string.h>

/* What the parts of the multicast planner share. Arrays are by switch unless said otherwise. */

#define MULTICAST_UNREACHED UINT16_MAX /* no path */
#define MULTICAST_CENTRES 16 /* at most so many equally good centres are tried */

/* Members of the group at hand, by the switch to which they are cabled. */
struct multicast_members {
	uint32_t *switches; /* those with members */
	uint32_t switch_count;
	uint32_t *at; /* members of each switch */
	struct hd_port_set *ports; /* ports to them */
	uint32_t total;
};

/* The tree at hand. */
struct multicast_growth {
	const uint16_t *distance; /* from its root */
	bool one_way;
	uint32_t *uplink; /* of each switch of the tree */
	bool *used; /* whether the switch is in the tree */
	uint32_t *switches; /* those of the tree */
	uint32_t switch_count;
	uint32_t *level; /* [distance]: a switch of the tree at that distance, HD_NONE */
	uint32_t *next; /* the next one at the same distance */
	uint32_t *coverage; /* children that a possible parent would have */
	uint64_t *cost; /* and the loads of its links to them */
	uint32_t *counted_for; /* the child that was counted last */
	uint32_t *candidates;
	uint32_t peak; /* highest load met on a link of the tree */
	uint64_t total; /* sum of the loads and the number of links */
};

struct hd_multicast {
	const struct hd_fabric *fabric;
	struct hd_arena arena;
	bool *forwards;
	uint32_t *load; /* of each link */
	uint32_t *through; /* links of trees that leave the switch */
	uint16_t **distance; /* rows, made when first asked for */
	uint32_t *queue;
	struct hd_go_on go_on;
	uint32_t *farthest, *sum, *reached; /* distances to the members of the group at hand */
	struct multicast_members members;
	struct multicast_growth growth;
};

/* ---- the root of a tree ---- */

/* Breadth first; a row of MULTICAST_UNREACHED on entry. */
static void search(struct hd_multicast *multicast, uint32_t from, uint16_t *row)
{
	const struct hd_fabric *fabric = multicast->fabric;
	uint32_t head = 0, tail = 0;

	row[from] = 0;
	multicast->queue[tail++] = from;
	while (head < tail) {
		uint32_t sw = multicast->queue[head++];
		uint16_t beyond = (uint16_t)(row[sw] + 1);

		for (uint32_t link = fabric->isl_base[sw]; link < fabric->isl_base[sw + 1];
		     link++) {
			uint32_t to = fabric->isl_to[link];

			if (row[to] == MULTICAST_UNREACHED && multicast->forwards[to]) {
				row[to] = beyond;
				multicast->queue[tail++] = to;
			}
		}
	}
}

/* Distances from a switch over switches that forward, MULTICAST_UNREACHED without a path; a row of
 * switch_count that the planner owns. NULL: no memory. */
static const uint16_t *multicast_distances(struct hd_multicast *multicast, uint32_t sw)
{
	uint32_t count = multicast->fabric->switch_count;
	uint16_t *row = multicast->distance[sw];

	if (row)
		return row;
	row = hd_arena_alloc(&multicast->arena, count, sizeof(*row));
	if (!row)
		return NULL;
	memset(row, 0xFF, count * sizeof(*row));
	if (multicast->forwards[sw])
		search(multicast, sw, row);
	multicast->distance[sw] = row;
	return row;
}

/* Adds the distances to one switch with members. */
static void measure_to(struct hd_multicast *multicast, const uint16_t *row, uint32_t members)
{
	for (uint32_t sw = 0; sw < multicast->fabric->switch_count; sw++) {
		uint32_t distance = row[sw];
		uint32_t near = distance != MULTICAST_UNREACHED;

		if (near && multicast->farthest[sw] < distance)
			multicast->farthest[sw] = distance;
		multicast->sum[sw] += near ? distance : 0;
		multicast->reached[sw] += near ? members : 0;
	}
}

static int measure(struct hd_multicast *multicast, struct hd_error *err)
{
	const struct multicast_members *members = &multicast->members;
	size_t size = multicast->fabric->switch_count * sizeof(uint32_t);

	memset(multicast->farthest, 0, size);
	memset(multicast->sum, 0, size);
	memset(multicast->reached, 0, size);
	for (uint32_t i = 0; i < members->switch_count; i++) {
		uint32_t sw = members->switches[i];
		int rc = hd_go_on_check(&multicast->go_on, err);

		if (rc)
			return rc;
		const uint16_t *row = multicast_distances(multicast, sw);
		if (!row)
			return hd_error_no_memory(err);
		measure_to(multicast, row, members->at[sw]);
	}
	return 0;
}

/* Negative: switch a is the better root; 0: they are equally good. */
static int compare(const struct hd_multicast *multicast, uint32_t a, uint32_t b)
{
	if (multicast->reached[a] != multicast->reached[b])
		return multicast->reached[a] > multicast->reached[b] ? -1 : 1;
	if (multicast->farthest[a] != multicast->farthest[b])
		return multicast->farthest[a] < multicast->farthest[b] ? -1 : 1;
	if (multicast->sum[a] != multicast->sum[b])
		return multicast->sum[a] < multicast->sum[b] ? -1 : 1;
	return 0;
}

/* Keeps `centres` sorted by use. Switches come by ascending index. */
static void insert(const struct hd_multicast *multicast, uint32_t *centres, uint32_t *count,
		   uint32_t sw)
{
	uint32_t at = *count;

	while (at && multicast->through[centres[at - 1]] > multicast->through[sw])
		at--;
	if (at == MULTICAST_CENTRES)
		return;
	*count += *count < MULTICAST_CENTRES;
	for (uint32_t i = *count - 1; i > at; i--)
		centres[i] = centres[i - 1];
	centres[at] = sw;
}

/*
 * The centres of the members at hand, the least used first, at most MULTICAST_CENTRES of them.
 * *count is 0 when no switch reaches a member. Errors: -ECANCELED, -ENOMEM.
 */
static int multicast_centres(struct hd_multicast *multicast, uint32_t *centres, uint32_t *count,
			     struct hd_error *err)
{
	int rc = measure(multicast, err);

	*count = 0;
	if (rc)
		return rc;
	for (uint32_t sw = 0; sw < multicast->fabric->switch_count; sw++) {
		int order = *count ? compare(multicast, sw, centres[0]) : -1;

		if (!multicast->reached[sw] || order > 0)
			continue;
		if (order < 0)
			*count = 0;
		insert(multicast, centres, count, sw);
	}
	return 0;
}

/* ---- the growth of a tree ---- */

/*
 * A tree grows from the farthest members inwards, level by level. At each level the switches of the
 * tree need parents one step nearer to the root. First come switches that are in the tree already,
 * then those that are the only choice of a switch. Until all have a parent, the tree then takes the
 * switch that would get the most children, and of several the one with the least loaded links.
 */

static void take(struct multicast_growth *growth, uint32_t sw)
{
	uint16_t distance = growth->distance[sw];

	if (growth->used[sw])
		return;
	growth->used[sw] = true;
	growth->switches[growth->switch_count++] = sw;
	growth->next[sw] = growth->level[distance];
	growth->level[distance] = sw;
}

static void clear(struct multicast_growth *growth)
{
	for (uint32_t i = 0; i < growth->switch_count; i++) {
		uint32_t sw = growth->switches[i];

		growth->used[sw] = false;
		growth->level[growth->distance[sw]] = HD_NONE;
	}
	growth->switch_count = 0;
	growth->peak = 0;
	growth->total = 0;
}

/* The far end of a link that is a step towards the root, else HD_NONE. */
static uint32_t parent_by(const struct hd_multicast *multicast, uint32_t child, uint32_t link)
{
	const uint16_t *distance = multicast->growth.distance;
	uint32_t to = multicast->fabric->isl_to[link];

	return distance[to] != MULTICAST_UNREACHED && distance[to] + 1 == distance[child] ? to
											  : HD_NONE;
}

/* How many groups a child's link towards its parent carries in the directions that this group
 * would use. */
static uint32_t load_of(const struct hd_multicast *multicast, uint32_t link)
{
	uint32_t away = multicast->load[multicast->fabric->isl_reverse[link]];

	return multicast->growth.one_way ? away : away + multicast->load[link];
}

/* The only parent that a switch can have, or HD_NONE. */
static uint32_t only_parent(const struct hd_multicast *multicast, uint32_t child)
{
	const struct hd_fabric *fabric = multicast->fabric;
	uint32_t only = HD_NONE;

	for (uint32_t link = fabric->isl_base[child]; link < fabric->isl_base[child + 1]; link++) {
		uint32_t parent = parent_by(multicast, child, link);

		if (parent == HD_NONE || parent == only)
			continue;
		if (only != HD_NONE)
			return HD_NONE;
		only = parent;
	}
	return only;
}

/* The least loaded link of `child` to `parent`; HD_NONE as parent: to any that is in the tree. */
static uint32_t best_link(const struct hd_multicast *multicast, uint32_t child, uint32_t parent)
{
	const struct hd_fabric *fabric = multicast->fabric;
	uint32_t best = HD_NONE, least = UINT32_MAX;

	for (uint32_t link = fabric->isl_base[child]; link < fabric->isl_base[child + 1]; link++) {
		uint32_t to = parent_by(multicast, child, link);

		if (to == HD_NONE ||
		    (parent == HD_NONE ? !multicast->growth.used[to] : to != parent))
			continue;
		if (best == HD_NONE || load_of(multicast, link) < least) {
			best = link;
			least = load_of(multicast, link);
		}
	}
	return best;
}

/* Counts a child for each parent it could have; returns how many candidates there are now. */
static uint32_t propose(struct hd_multicast *multicast, uint32_t child, uint32_t candidate_count)
{
	const struct hd_fabric *fabric = multicast->fabric;
	struct multicast_growth *growth = &multicast->growth;

	for (uint32_t link = fabric->isl_base[child]; link < fabric->isl_base[child + 1]; link++) {
		uint32_t parent = parent_by(multicast, child, link);

		if (parent == HD_NONE || growth->counted_for[parent] == child)
			continue;
		growth->counted_for[parent] = child;
		if (!growth->coverage[parent])
			growth->candidates[candidate_count++] = parent;
		growth->coverage[parent]++;
		growth->cost[parent] += load_of(multicast, best_link(multicast, child, parent));
	}
	return candidate_count;
}

static bool is_better(const struct multicast_growth *growth, uint32_t parent, uint32_t than)
{
	if (growth->coverage[parent] != growth->coverage[than])
		return growth->coverage[parent] > growth->coverage[than];
	if (growth->cost[parent] != growth->cost[than])
		return growth->cost[parent] < growth->cost[than];
	return parent < than;
}

/* Takes the best of the candidates and forgets what was counted. */
static void take_best(struct multicast_growth *growth, uint32_t candidate_count)
{
	uint32_t best = growth->candidates[0];

	for (uint32_t i = 1; i < candidate_count; i++)
		if (is_better(growth, growth->candidates[i], best))
			best = growth->candidates[i];
	for (uint32_t i = 0; i < candidate_count; i++) {
		growth->coverage[growth->candidates[i]] = 0;
		growth->cost[growth->candidates[i]] = 0;
		growth->counted_for[growth->candidates[i]] = HD_NONE;
	}
	take(growth, best);
}

static void choose_parents(struct hd_multicast *multicast, uint16_t distance)
{
	struct multicast_growth *growth = &multicast->growth;
	uint32_t first = growth->level[distance], candidate_count;

	for (uint32_t child = first; child != HD_NONE; child = growth->next[child]) {
		uint32_t parent = only_parent(multicast, child);

		if (parent != HD_NONE)
			take(growth, parent);
	}
	do {
		candidate_count = 0;
		for (uint32_t child = first; child != HD_NONE; child = growth->next[child])
			if (best_link(multicast, child, HD_NONE) == HD_NONE)
				candidate_count = propose(multicast, child, candidate_count);
		if (candidate_count)
			take_best(growth, candidate_count);
	} while (candidate_count);
}

static void attach(struct hd_multicast *multicast, uint16_t distance)
{
	struct multicast_growth *growth = &multicast->growth;

	for (uint32_t child = growth->level[distance]; child != HD_NONE;
	     child = growth->next[child]) {
		uint32_t link = best_link(multicast, child, HD_NONE);
		uint32_t load = load_of(multicast, link);

		growth->uplink[child] = link;
		growth->peak = load > growth->peak ? load : growth->peak;
		growth->total += load + 1u;
	}
}

/* Grows the tree from a root to the members at hand; growth->one_way is set before. Errors:
 * -ENOMEM. */
static int multicast_grow(struct hd_multicast *multicast, uint32_t root, struct hd_error *err)
{
	const struct multicast_members *members = &multicast->members;
	struct multicast_growth *growth = &multicast->growth;
	const uint16_t *distance = multicast_distances(multicast, root);
	uint16_t farthest = 0;

	if (!distance)
		return hd_error_no_memory(err);
	clear(growth);
	growth->distance = distance;
	take(growth, root);
	growth->uplink[root] = HD_NONE;
	for (uint32_t i = 0; i < members->switch_count; i++) {
		uint32_t sw = members->switches[i];

		if (distance[sw] == MULTICAST_UNREACHED)
			continue;
		take(growth, sw);
		farthest = distance[sw] > farthest ? distance[sw] : farthest;
	}
	for (uint16_t level = farthest; level > 0; level--) {
		choose_parents(multicast, level);
		attach(multicast, level);
	}
	return 0;
}

/* ---- groups ---- */

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
