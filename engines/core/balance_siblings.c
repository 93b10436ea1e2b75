/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "balance_siblings.h"
#include "link_number.h"

#include <errno.h>
#include <heddle/fabric/siblings.h>

int balance_siblings_find(const struct hd_fabric *fabric, const struct destinations *list,
			  const uint8_t *chosen, struct hd_arena *arena,
			  struct balance_siblings *out)
{
	*out = (struct balance_siblings){.fabric = fabric, .list = list, .chosen = chosen};
	if (hd_siblings_lids(fabric, arena, &out->lid))
		return -ENOMEM;
	if (!out->lid)
		return 0;
	out->item = hd_arena_alloc(arena, fabric->lid_count, sizeof(*out->item));
	if (!out->item)
		return -ENOMEM;
	memset(out->item, 0xFF, fabric->lid_count * sizeof(*out->item));
	for (uint32_t i = 0; i < list->count; i++)
		out->item[list->items[i].lid] = i;
	for (uint32_t i = 0; i < list->count; i++) {
		const uint32_t other = out->item[out->lid[list->items[i].lid]];

		out->apart |= out->lid[list->items[i].lid] && other != HD_NONE &&
			      list->items[other].sw != list->items[i].sw;
	}
	return 0;
}

/* The sibling's tree, and what the paths to it pass. */
struct other {
	const struct hd_fabric *fabric;
	const uint8_t *tree;
	uint32_t sw, exit; /* where it ends, and where the tree at hand does */
	struct balance_siblings_marks *marks;
};

/* Marks the switches of the path from a switch to the sibling. False: that is not routed. */
static bool mark_path(const struct other *other, uint32_t sw)
{
	const struct hd_fabric *fabric = other->fabric;

	other->marks->last++;
	for (uint32_t hops = 0; sw != other->sw; hops++) {
		if (other->tree[sw] == LINK_NUMBER_NONE || hops == fabric->switch_count)
			return false;
		sw = fabric->isl_to[fabric->isl_base[sw] + other->tree[sw]];
		if (sw != other->exit)
			other->marks->path[sw] = other->marks->last;
	}
	return true;
}

/* How many marked switches the path by a next hop passes. */
static uint32_t count_met(const struct other *other, const uint8_t *tree, uint32_t next)
{
	const struct hd_fabric *fabric = other->fabric;
	uint32_t met = 0;

	for (; next != other->exit; next = fabric->isl_to[fabric->isl_base[next] + tree[next]])
		met += other->marks->path[next] == other->marks->last;
	return met;
}

/* What a next hop is compared by: the least is the best. */
struct rank {
	uint32_t met;
	uint64_t key;
	bool alone; /* the switch before took another one */
	uint32_t load;
};

static bool is_less(const struct rank *a, const struct rank *b)
{
	if (a->met != b->met)
		return a->met < b->met;
	if (a->key != b->key)
		return a->key < b->key;
	if (a->alone != b->alone)
		return b->alone;
	return a->load < b->load;
}

/* The link that a switch is to take. common: the next hop of the switch before; HD_NONE: it is the first. */
static uint8_t part_path(const struct other *other, const struct dag *dag, uint32_t sw,
			 const uint64_t *key, const uint32_t *load, const uint8_t *tree,
			 uint32_t common)
{
	const uint32_t base = other->fabric->isl_base[sw], *to = other->fabric->isl_to + base;
	struct rank least = {.met = UINT32_MAX};
	uint8_t best = tree[sw];

	if ((common == HD_NONE || to[best] == common) && !count_met(other, tree, to[best]))
		return best;
	for (uint32_t i = 0; i < dag->count[sw]; i++) {
		const uint8_t number = dag->number[base + i];
		const struct rank rank = {.met = count_met(other, tree, to[number]),
					  .key = key[to[number]],
					  .alone = to[number] != common,
					  .load = load[base + number]};

		if (!is_less(&rank, &least))
			continue;
		best = number;
		least = rank;
	}
	return best;
}

void balance_siblings_part(const struct balance_siblings *siblings,
			   struct balance_siblings_marks *marks,
			   const struct balance_destination *to, const struct dag *dag,
			   const uint64_t *key, const uint32_t *load, const uint8_t *before,
			   uint8_t *tree)
{
	const struct hd_fabric *fabric = siblings->fabric;
	const uint16_t lid = siblings->lid ? siblings->lid[to->lid] : 0;
	const uint32_t item = lid ? siblings->item[lid] : HD_NONE;
	uint32_t common = HD_NONE;

	if (item == HD_NONE)
		return;
	const struct other other = {.fabric = fabric,
				    .tree = siblings->chosen + (size_t)item * fabric->switch_count,
				    .sw = siblings->list->items[item].sw,
				    .exit = to->sw,
				    .marks = marks};
	for (uint32_t i = 1; i < dag->reached; i++) {
		const uint32_t sw = dag->order[i], base = fabric->isl_base[sw];
		const bool stays = before && before[sw] != LINK_NUMBER_NONE &&
				   dag->is_candidate[base + before[sw]];

		/* at the sibling's own switch, another way than the path back */
		if (stays || !hd_has_hosts(fabric, sw) ||
		    !mark_path(&other, sw == other.sw ? other.exit : sw))
			continue;
		tree[sw] = part_path(&other, dag, sw, key, load, tree, common);
		common = fabric->isl_to[base + tree[sw]];
	}
}
