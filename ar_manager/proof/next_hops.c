/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The LIDs of one destination switch mostly have the same group, and the static port is in it. So
 * an entry is first reduced to a code of what it adds: group, and static links outside the group.
 * Only a code that differs from the one before is turned into links.
 */
#include "next_hops.h"

/* The groups of one switch in one plan. */
struct groups_view {
	const uint16_t *of_lid; /* NULL: no entry is adaptive */
	const uint64_t *links;
	uint32_t words;
};

static const uint16_t *groups_of(const struct next_hops_entries *entries, unsigned which)
{
	return entries->plan[which] ? entries->plan[which]->lid_group[entries->table] : NULL;
}

static const uint64_t *links_of(const struct groups_view *view, uint32_t group)
{
	return group == HD_AR_NO_GROUP ? NULL : view->links + (size_t)group * view->words;
}

/* The link of the static port, unless a group has it. */
static uint64_t outside(const uint8_t *ports, uint32_t lid, const uint8_t *link_of_port,
			const uint64_t *first, const uint64_t *second)
{
	uint32_t link = ports ? link_of_port[ports[lid]] : LINK_SETS_NO_LINK;

	if (link == LINK_SETS_NO_LINK || (first && link_sets_has(first, link)) ||
	    (second && link_sets_has(second, link)))
		return LINK_SETS_NO_LINK;
	return link;
}

static void load_views(const struct next_hops *next, struct next_hops_worker *worker, uint32_t sw,
		       const uint8_t *link_of_port, struct groups_view views[2])
{
	const struct next_hops_entries *entries = &next->entries[sw];

	for (unsigned i = 0; i < 2; i++) {
		views[i] = (struct groups_view){.of_lid = groups_of(entries, i),
						.links = worker->group[i],
						.words = next->words};
		if (views[i].of_lid) {
			const struct hd_ar_switch *plan = entries->plan[i];
			uint64_t *groups = worker->group[i];
			uint32_t words = next->words;
			memset(groups, 0, (size_t)plan->group_count * words * sizeof(*groups));
			for (uint32_t group = 0; group < plan->group_count; group++)
				for (uint32_t sub = 0; sub < HD_AR_SUB_GROUPS; sub++)
					link_sets_from_ports(&plan->groups[group].ports[sub],
							     link_of_port,
							     groups + (size_t)group * words);
		}
	}
}

/* Groups in the upper 32 bits, and links outside them below. */
static uint64_t code_of(const struct next_hops_entries *entries, uint32_t lid,
			const uint8_t *link_of_port, const struct groups_view views[2])
{
	uint32_t first = views[0].of_lid ? views[0].of_lid[lid] : HD_AR_NO_GROUP;
	uint32_t second = views[1].of_lid ? views[1].of_lid[lid] : HD_AR_NO_GROUP;
	const uint64_t *a = links_of(&views[0], first), *b = links_of(&views[1], second);

	return (uint64_t)first << 48 | (uint64_t)second << 32 | UINT64_C(0xFFFF0000) |
	       outside(entries->port[0], lid, link_of_port, a, b) << 8 |
	       outside(entries->port[1], lid, link_of_port, a, b);
}

/* code_of() for one kind of static port and one plan at most, which is the common case. */
static inline uint64_t plain_code(const uint8_t *ports, uint32_t lid, const uint8_t *link_of_port,
				  const struct groups_view *view)
{
	uint32_t group = view->of_lid ? view->of_lid[lid] : HD_AR_NO_GROUP;
	uint64_t link = link_of_port[ports[lid]];

	if (group != HD_AR_NO_GROUP && link != LINK_SETS_NO_LINK &&
	    link_sets_has(view->links + (size_t)group * view->words, (uint32_t)link))
		link = LINK_SETS_NO_LINK;
	return (uint64_t)group << 48 | UINT64_C(0xFFFFFFFF00FF) | link << 8;
}

/* Unites the entries of each destination switch. */
static void unite(const struct next_hops *next, struct next_hops_worker *worker, uint32_t sw)
{
	const uint32_t *destination = next->lids->destination;
	const uint8_t *link_of_port = next->rows[sw].link_of_port;
	struct groups_view views[2];

	load_views(next, worker, sw, link_of_port, views);
	const struct next_hops_entries *entries = &next->entries[sw];
	bool plain = !views[1].of_lid && entries->port[0] && !entries->port[1];
	for (uint32_t lid = 0; lid < next->lids->lid_count; lid++) {
		uint32_t to = destination[lid];
		if (to == HD_NONE)
			continue;
		uint64_t code = plain ? plain_code(entries->port[0], lid, link_of_port, &views[0])
				      : code_of(entries, lid, link_of_port, views);
		if (code == worker->last[to])
			continue;
		worker->last[to] = code;
		worker->differs[lid] = true;
		uint64_t *set = worker->united + (size_t)to * next->words;
		for (unsigned i = 0; i < 2; i++) {
			const uint64_t *links = links_of(&views[i], code >> (48 - 16 * i) & 0xFFFF);
			uint32_t link = code >> (8 - 8 * i) & 0xFF;
			if (links)
				link_sets_unite(set, links, views[i].words);
			if (link != LINK_SETS_NO_LINK)
				link_sets_add(set, link);
		}
	}
}

/* Keeps each different set once. */
static void number_sets(const struct next_hops *next, struct next_hops_worker *worker, uint32_t sw)
{
	struct next_hops_row *row = &next->rows[sw];
	uint32_t words = next->words;
	const uint64_t *before = NULL;

	link_sets_clear(&worker->sets);
	for (uint32_t to = 0; to < next->lids->count; to++) {
		const uint64_t *set = worker->united + (size_t)to * words;
		bool same = before && !memcmp(before, set, words * sizeof(*set));
		row->number[to] = same ? row->number[to - 1] : link_sets_number(&worker->sets, set);
		before = set;
	}
	size_t count = (size_t)worker->sets.count * words;
	uint64_t *copy = hd_arena_alloc(&worker->arena, count, sizeof(*copy));
	if (copy)
		memcpy(copy, worker->sets.sets, count * sizeof(*copy));
	row->sets = copy;
}

static void do_switches(void *context, uint32_t begin, uint32_t end, unsigned index)
{
	const struct next_hops *next = context;
	struct next_hops_worker *worker = &next->workers[index];
	size_t cells = (size_t)next->lids->count * next->words;

	for (uint32_t sw = begin; sw < end; sw++) {
		memset(worker->united, 0, cells * sizeof(*worker->united));
		memset(worker->last, 0xFF, next->lids->count * sizeof(*worker->last));
		link_sets_of_ports(next->fabric, sw, next->rows[sw].link_of_port);
		unite(next, worker, sw);
		/* Keeps what was loaded of the groups. */
		const struct next_hops_entries *entries = &next->entries[sw];
		for (unsigned i = 0; i < 2; i++) {
			if (!groups_of(entries, i))
				continue;
			const size_t count = (size_t)entries->plan[i]->group_count * next->words;
			uint64_t *copy = hd_arena_alloc(&worker->arena, count, sizeof(*copy));
			if (copy && count)
				memcpy(copy, worker->group[i], count * sizeof(*copy));
			next->rows[sw].group[i] = copy;
		}
		number_sets(next, worker, sw);
	}
}

static void init_worker(const struct next_hops *next, struct next_hops_worker *worker,
			uint32_t groups, struct hd_arena *arena)
{
	size_t destinations = next->lids->count;

	for (unsigned i = 0; i < 2; i++)
		worker->group[i] =
		    hd_arena_alloc(arena, (size_t)groups * next->words, sizeof(uint64_t));
	worker->united = hd_arena_alloc(arena, destinations * next->words, sizeof(*worker->united));
	worker->last = hd_arena_alloc(arena, destinations, sizeof(*worker->last));
	worker->differs = hd_arena_alloc(arena, next->lids->lid_count, sizeof(*worker->differs));
	link_sets_init(&worker->sets, next->words, next->lids->count, arena);
}

static bool differs(const struct next_hops *next, uint32_t lid)
{
	for (unsigned i = 0; i < next->worker_count; i++)
		if (next->workers[i].differs[lid])
			return true;
	return false;
}

int next_hops_init(struct next_hops *next, const struct hd_fabric *fabric,
		   const struct host_lids *lids, const struct next_hops_entries *entries,
		   unsigned threads, const struct hd_go_on *go_on, struct hd_arena *arena)
{
	*next = (struct next_hops){
	    .fabric = fabric, .lids = lids, .entries = entries, .words = link_sets_words(fabric)};
	uint32_t switches = next->fabric->switch_count, groups = 0;
	for (uint32_t sw = 0; sw < switches; sw++)
		for (unsigned i = 0; i < 2; i++) {
			const struct hd_ar_switch *plan = next->entries[sw].plan[i];
			if (plan && plan->group_count > groups)
				groups = plan->group_count;
		}
	next->rows = hd_arena_alloc(arena, switches, sizeof(*next->rows));
	uint32_t *numbers =
	    hd_arena_alloc(arena, (size_t)switches * next->lids->count, sizeof(*numbers));
	uint8_t *ports = hd_arena_alloc(arena, switches, 256);
	next->alike = hd_arena_alloc(arena, next->lids->lid_count, sizeof(*next->alike));
	unsigned workers = hd_parallel_workers(threads);
	next->workers = hd_arena_alloc(arena, workers, sizeof(*next->workers));
	if (hd_arena_check(arena))
		return -ENOMEM;
	next->worker_count = workers;
	for (uint32_t sw = 0; sw < switches; sw++) {
		next->rows[sw].number = numbers + (size_t)sw * next->lids->count;
		next->rows[sw].link_of_port = ports + (size_t)sw * 256;
	}
	for (unsigned i = 0; i < workers; i++)
		init_worker(next, &next->workers[i], groups, arena);
	if (hd_arena_check(arena))
		return -ENOMEM;
	int rc = hd_parallel_for_while(threads, fabric->switch_count, 8, do_switches, next, go_on);
	for (unsigned i = 0; i < next->worker_count; i++)
		if (hd_arena_check(&next->workers[i].arena))
			return -ENOMEM;
	uint32_t *before = hd_arena_alloc(arena, lids->count, sizeof(*before));
	if (!before)
		return -ENOMEM;
	/* before: [destinations] of memory. */
	for (uint32_t to = 0; to < next->lids->count; to++)
		before[to] = HD_NONE;
	for (uint32_t lid = 0; lid < next->lids->lid_count; lid++) {
		const uint32_t to = next->lids->destination[lid];
		next->alike[lid] = lid;
		if (to == HD_NONE)
			continue;
		if (before[to] != HD_NONE && !differs(next, lid))
			next->alike[lid] = next->alike[before[to]];
		before[to] = lid;
	}
	return rc;
}

void next_hops_release(struct next_hops *next)
{
	for (unsigned i = 0; i < next->worker_count; i++)
		hd_arena_release(&next->workers[i].arena);
}

void next_hops_of_lid(const struct next_hops *next, uint32_t sw, uint32_t lid, uint64_t *set)
{
	const struct next_hops_entries *entries = &next->entries[sw];
	const struct next_hops_row *row = &next->rows[sw];

	memset(set, 0, next->words * sizeof(*set));
	for (unsigned i = 0; i < 2; i++) {
		const uint64_t link = outside(entries->port[i], lid, row->link_of_port, NULL, NULL);
		const uint32_t group = row->group[i] ? groups_of(entries, i)[lid] : HD_AR_NO_GROUP;
		if (link != LINK_SETS_NO_LINK)
			link_sets_add(set, (uint32_t)link);
		if (group != HD_AR_NO_GROUP)
			link_sets_unite(set, row->group[i] + (size_t)group * next->words,
					next->words);
	}
}
