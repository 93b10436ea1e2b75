/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "dmodk_numbers.h"
#include "dmodk_repairing.h"

#include <string.h>

/* ---- orders of preference ---- */

void dmodk_list_steps(uint32_t count, uint32_t key, uint8_t *steps)
{
	uint8_t left[256];

	for (uint32_t i = 0; i + 1 < count; i++)
		left[i] = (uint8_t)(i + 1);
	for (uint32_t many = count - 1; many && many < count; many--) {
		uint32_t at = key % many;
		*steps++ = left[at];
		memmove(left + at, left + at + 1, many - at - 1);
		key /= many;
	}
}

uint32_t dmodk_choose(const struct dmodk_order *order, dmodk_usable *usable, const void *context)
{
	uint8_t steps[256];

	if (usable(context, order->first))
		return order->first;
	dmodk_list_steps(order->count, order->key, steps);
	for (uint32_t i = 0; i + 1 < order->count; i++) {
		uint32_t cable = dmodk_beyond(order->count, order->first, steps[i]);
		if (usable(context, cable))
			return cable;
	}
	return order->count;
}

/* ---- cables that lead to the destination ---- */

/* The cables up of a switch, and what they lead to. */
struct climb {
	const struct dmodk_cables *cables;
	const uint64_t *above; /* the parents that lead to the destination */
	const uint64_t *cable; /* the cables of the switch's block */
	uint32_t bit; /* of the switch in the slice of each parent */
	uint32_t slice; /* bits from one parent to the next */
	uint32_t words; /* of the parents' masks */
};

static inline bool leads_up(const struct climb *climb, uint32_t cable)
{
	uint32_t bit = climb->bit + climb->cables->parent[cable] * climb->slice;

	return dmodk_bit(climb->above, bit) &&
	       dmodk_bit(climb->cable + climb->cables->parallel[cable] * climb->words, bit);
}

/* A run's cable: the first one of its order, other than the very first, that leads up; else the very
 * first. */
static inline uint32_t choose_climb(const struct climb *climb, uint32_t block,
				    const struct dmodk_run *run)
{
	uint32_t count = climb->cables->count;
	const uint8_t *steps = climb->cables->steps + (size_t)(run->key + block) * (count - 1);
	uint32_t last = run->first;

	for (uint32_t i = 0; i + 1 < count; i++) {
		uint32_t cable = dmodk_beyond(count, run->first, steps[i]);
		if (!leads_up(climb, cable))
			continue;
		if (climb->cables->parent[cable] != run->avoid)
			return cable;
		if (last == run->first)
			last = cable;
	}
	return last;
}

static inline void set_run(const struct dmodk_repairing *repairing, const struct dmodk_run *run,
			   uint8_t *row, uint8_t port)
{
	uint32_t count = run->end - run->begin;

	if (count == 1)
		row[run->lid] = port;
	else if (run->follow)
		memset(row + run->lid, port, count);
	else
		for (uint32_t i = run->begin; i < run->end; i++)
			row[repairing->items[i].lid] = port;
}

/* Whether the path in place from a switch to a LID of the destination has all its links. */
static bool path_in_place_is_whole(const struct dmodk_repairing *repairing, const uint8_t *row,
				   uint32_t lid)
{
	const struct dmodk_damage *damage = repairing->damage;
	const struct hd_fabric *fabric = damage->tree->fabric;
	uint32_t sw = (uint32_t)((size_t)(row - damage->routes->lft) / damage->routes->stride);

	for (uint32_t hops = 0; sw != repairing->sw; hops++) {
		uint8_t port = hd_routes_port(damage->kept[damage->kept_count - 1], sw, lid);
		uint32_t link = hd_fabric_find_isl(fabric, sw, port);
		if (link == HD_NONE || hops == fabric->switch_count)
			return false;
		sw = fabric->isl_to[link];
	}
	return true;
}

/*
 * The kept port of an entry that leads up, else that of the best cable. The first cable may lead up
 * and yet count as lost, because of what it is to lead to further on. An entry stays at it if its
 * path in place does not need what is lost. ports: of the cables.
 */
__attribute__((noinline)) static uint8_t keep_climb(const struct dmodk_repairing *repairing,
						    const struct climb *climb, const uint8_t *row,
						    uint32_t lid, const uint8_t *ports,
						    uint32_t first, uint32_t best)
{
	const struct dmodk_damage *damage = repairing->damage;

	for (uint32_t n = 0; n < damage->kept_count; n++) {
		uint8_t port = dmodk_kept_row(damage, n, row)[lid];
		if (port == ports[best])
			return port;
		const uint8_t *found = memchr(ports, port, climb->cables->count);
		if (!found || !leads_up(climb, (uint32_t)(found - ports)))
			continue;
		if ((uint32_t)(found - ports) != first ||
		    (n + 1 == damage->kept_count && path_in_place_is_whole(repairing, row, lid)))
			return port;
	}
	return ports[best];
}

/* Leads a run that cannot take the cable of the closed form up by kept cables or the best one. */
static inline void keep_run(const struct dmodk_repairing *repairing, const struct dmodk_run *run,
			    uint8_t *row, const uint8_t *ports, uint32_t best,
			    const struct climb *climb)
{
	const struct dmodk_damage *damage = repairing->damage;
	const struct dmodk_item *item = repairing->items + run->begin;
	const struct dmodk_item *end = repairing->items + run->end;
	const uint8_t *first = dmodk_kept_row(damage, 0, row);

	for (uint8_t port = ports[best]; item < end; item++)
		row[item->lid] =
		    first[item->lid] == port
			? port
			: keep_climb(repairing, climb, row, item->lid, ports, run->first, best);
}

static inline struct climb climb_of(const struct dmodk_repairing *repairing, uint32_t level,
				    uint32_t block, const uint64_t *above)
{
	const struct dmodk_masks *masks = &repairing->damage->masks;

	return (struct climb){.cables = &repairing->damage->cables[level],
			      .above = above,
			      .cable = dmodk_cable_of(repairing, level, block, 0),
			      .slice = level ? masks->words[level] * 64 : 1,
			      .words = masks->words[level + 1]};
}

/* Leads a run up by `best`, or by the cables in place. */
static inline void climb_by(const struct dmodk_repairing *repairing, const struct climb *climb,
			    uint32_t level, uint32_t place, const struct dmodk_run *run,
			    uint32_t best)
{
	const struct dmodk_damage *damage = repairing->damage;
	const uint8_t *ports = climb->cables->ports + (size_t)place * (climb->cables->count + 1);
	uint8_t *row = damage->row[level][place];

	if (damage->kept_count)
		keep_run(repairing, run, row, ports, best, climb);
	else
		set_run(repairing, run, row, ports[best]);
}

void dmodk_paths_climb(const struct dmodk_repairing *repairing, const struct dmodk_spot *spot,
		       uint64_t **classes)
{
	const struct dmodk_damage *damage = repairing->damage;
	uint32_t level = spot->level;
	uint32_t parent_block = damage->masks.parent_block[level][spot->block];
	struct climb climb = climb_of(repairing, level, spot->block,
				      dmodk_mask_of(repairing, classes, level + 1, parent_block));
	const uint8_t *ports =
	    climb.cables->ports + (size_t)spot->place * (climb.cables->count + 1);
	bool climbs_in_closed_form = dmodk_bit(repairing->reach.intact[level], spot->bit) &&
				     !dmodk_contains(&repairing->reach, level, spot->block);

	climb.bit = level ? spot->bit : 0;
	for (uint32_t i = 0; i < repairing->run_count[level]; i++) {
		const struct dmodk_run *run = &repairing->runs[level][i];
		bool first = leads_up(&climb, run->first);
		if (first && climbs_in_closed_form)
			set_run(repairing, run, damage->row[level][spot->place], ports[run->first]);
		else
			climb_by(repairing, &climb, level, spot->place, run,
				 first ? run->first : choose_climb(&climb, spot->block, run));
	}
}

struct descent {
	const struct dmodk_repairing *repairing;
	const struct dmodk_spot *spot;
	uint32_t child; /* block of the child */
};

static inline bool can_descend(const void *context, uint32_t cable)
{
	const struct descent *descent = context;

	return dmodk_bit(
	    dmodk_cable_of(descent->repairing, descent->spot->level - 1, descent->child, cable),
	    descent->spot->bit);
}

void dmodk_paths_descend(const struct dmodk_repairing *repairing, const struct dmodk_spot *spot,
			 const struct dmodk_item *item, uint32_t child)
{
	const struct hd_regular_tree *tree = dmodk_tree_of(repairing);
	uint32_t level = spot->level, links = tree->child_links[level];
	const struct descent descent = {.repairing = repairing, .spot = spot, .child = child};
	const struct dmodk_order order = {.count = links,
					  .first = item->descent[level],
					  .key = dmodk_key(tree, level - 1, item->number)};
	uint32_t cable = dmodk_choose(&order, can_descend, &descent);
	const uint8_t *ports = tree->down_port +
			       (size_t)dmodk_switch_of(repairing, spot) * HD_TREE_FANOUT +
			       child % tree->children[level] * links;
	uint8_t *row = dmodk_row_of(repairing, spot);

	row[item->lid] = ports[cable];
	for (uint32_t n = 0; n < repairing->damage->kept_count && cable != order.first; n++) {
		uint8_t port = dmodk_kept_row(repairing->damage, n, row)[item->lid];
		const uint8_t *found = memchr(ports, port, links);
		if (!found || !can_descend(&descent, (uint32_t)(found - ports)))
			continue;
		row[item->lid] = port;
		return;
	}
}

/* Entries of switches that descend to the destination by parallel cables. */
static void repair_descents(struct dmodk_repairing *repairing, uint32_t level, uint32_t block)
{
	const struct hd_regular_tree *tree = dmodk_tree_of(repairing);
	const struct dmodk_place *to = &repairing->reach.to;
	const uint64_t *legal = dmodk_mask_of(repairing, repairing->reach.legal, level, block);
	uint32_t words = repairing->damage->masks.words[level];

	if (level == to->level || tree->child_links[level] == 1)
		return;
	uint32_t child = repairing->reach.chain[level - 1];
	for (uint32_t i = 0; i < repairing->item_count; i++) {
		const struct dmodk_item *item = &repairing->items[i];
		const uint64_t *cable =
		    dmodk_cable_of(repairing, level - 1, child, item->descent[level]);
		for (uint32_t word = 0; word < words; word++)
			for (uint64_t lost = legal[word] & ~cable[word]; lost; lost &= lost - 1) {
				const struct dmodk_spot spot =
				    dmodk_spot_at(repairing, level, block,
						  word * 64 + (uint32_t)__builtin_ctzll(lost));
				dmodk_paths_descend(repairing, &spot, item, child);
			}
	}
}

/*
 * What is looked up for a leaf. Copied into one place, because a compiler has to read again what it
 * finds by pointers after each entry that is written.
 */
struct leaf {
	const struct dmodk_repairing *repairing;
	const uint64_t *above; /* the parents that lead to the destination */
	const struct dmodk_run *runs;
	const uint16_t *bit; /* of each cable; NULL: cable n has bit n of the only word */
	const uint8_t *steps; /* of key 0 */
	const uint8_t *parent; /* of each cable */
	const uint8_t *ports;
	uint8_t *row;
	uint32_t block;
	uint32_t count; /* of cables */
	const uint8_t *kept; /* the first kept row; NULL: none */
};

static inline struct leaf leaf_of(const struct dmodk_repairing *repairing, uint32_t block,
				  const uint64_t *above, bool masks_are_words)
{
	const struct dmodk_cables *cables = &repairing->damage->cables[0];

	uint8_t *row = repairing->damage->row[0][block];

	return (struct leaf){.repairing = repairing,
			     .above = above,
			     .runs = repairing->runs[0],
			     .bit = masks_are_words ? NULL : cables->leaf_bit,
			     .steps = cables->steps + (size_t)block * (cables->count - 1),
			     .parent = cables->parent,
			     .ports = cables->ports + (size_t)block * (cables->count + 1),
			     .row = row,
			     .block = block,
			     .kept = repairing->damage->kept_count
					 ? dmodk_kept_row(repairing->damage, 0, row)
					 : NULL,
			     .count = cables->count};
}

__attribute__((noinline)) static void keep_leaf_run(const struct leaf *leaf,
						    const struct dmodk_run *run, uint32_t best)
{
	const struct climb climb = climb_of(leaf->repairing, 0, leaf->block, leaf->above);

	keep_run(leaf->repairing, run, leaf->row, leaf->ports, best, &climb);
}

/* Leads a run of a leaf up by another cable than its first one. usable: the leaf's cables that lead
 * to the destination. */
static inline void leaf_climb_by_other(const struct leaf *leaf, const uint64_t *usable,
				       const struct dmodk_run *run)
{
	uint32_t count = leaf->count, first = run->first, cable = first;
	const uint8_t *steps = leaf->steps + (size_t)run->key * (count - 1);

	for (const uint8_t *end = steps + count - 1; steps < end; steps++) {
		uint32_t other = dmodk_beyond(count, first, *steps);
		if (!(leaf->bit ? dmodk_bit(usable, leaf->bit[other]) : *usable >> other & 1))
			continue;
		bool avoided = leaf->parent[other] == run->avoid;
		if (!avoided || cable == first)
			cable = other;
		if (!avoided)
			break;
	}
	set_run(leaf->repairing, run, leaf->row, leaf->ports[cable]);
	if (leaf->kept && (run->end - run->begin > 1 || leaf->kept[run->lid] != leaf->ports[cable]))
		keep_leaf_run(leaf, run, cable);
}

/* The runs of a leaf whose first cables are lost: bits from `bit` on. */
static inline void leaf_climbs_by_others(const struct leaf *leaf, const uint64_t *usable,
					 uint32_t bit, uint64_t lost)
{
	for (; lost; lost &= lost - 1)
		for (uint32_t at =
			 leaf->repairing->first_run[bit + (uint32_t)__builtin_ctzll(lost)];
		     at != HD_NONE; at = leaf->runs[at].next)
			leaf_climb_by_other(leaf, usable, &leaf->runs[at]);
}

/*
 * Where several cables join a parent and the destination's block, and the one of the closed form is
 * lost, the others could take all that it had. So the runs that descend by it climb by other cables,
 * as if theirs were lost. Returns the cables that exist to the destination's block from above a
 * level, in the layout of a block's cables; NULL: such runs are not to move.
 */
static inline const uint64_t *exact_descents(const struct dmodk_repairing *repairing,
					     uint32_t level)
{
	uint32_t block = repairing->reach.chain[level];

	if (block == HD_NONE || dmodk_tree_of(repairing)->parent_links[level] == 1)
		return NULL;
	return dmodk_cable_of(repairing, level, block, 0);
}

/* Entries of the leaves. The bits of their cables are parents. */
static void repair_leaf_climbs(const struct dmodk_repairing *repairing)
{
	const struct dmodk_masks *masks = &repairing->damage->masks;
	const struct dmodk_reach *reach = &repairing->reach;
	uint32_t words = masks->words[1], width = dmodk_tree_of(repairing)->parent_links[0] * words;
	const uint64_t *taken = repairing->taken, *exact = exact_descents(repairing, 0);
	uint64_t usable[HD_TREE_FANOUT], first[HD_TREE_FANOUT];

	for (uint32_t n = 0; n < reach->opened_count[0]; n++) {
		uint32_t block = reach->opened[0][n];
		const uint64_t *cable = masks->cable[0] + (size_t)block * width;
		const uint64_t *above =
		    reach->legal[1] + (size_t)masks->parent_block[0][block] * words;
		uint64_t lost = 0;
		if (!reach->legal[0][block] || dmodk_contains(reach, 0, block))
			continue;
		for (uint32_t at = 0; at < width;)
			for (uint32_t word = 0; word < words; word++, at++) {
				usable[at] = cable[at] & above[word];
				first[at] =
				    taken[at] & ~(exact ? usable[at] & exact[at] : usable[at]);
				lost |= first[at];
			}
		if (!lost)
			continue;
		if (width == 1) {
			const struct leaf narrow = leaf_of(repairing, block, above, true);
			leaf_climbs_by_others(&narrow, usable, 0, lost);
			continue;
		}
		const struct leaf leaf = leaf_of(repairing, block, above, false);
		for (uint32_t at = 0; at < width; at++)
			leaf_climbs_by_others(&leaf, usable, at * 64, first[at]);
	}
}

/* Entries of switches above the leaves that climb. */
static void repair_climbs(struct dmodk_repairing *repairing, uint32_t level, uint32_t block)
{
	const struct dmodk_masks *masks = &repairing->damage->masks;
	const struct dmodk_reach *reach = &repairing->reach;
	uint32_t words = masks->words[level];
	const uint64_t *legal = reach->legal[level] + (size_t)block * words;
	const uint64_t *descents = exact_descents(repairing, level);
	struct climb climb =
	    climb_of(repairing, level, block,
		     reach->legal[level + 1] +
			 (size_t)masks->parent_block[level][block] * masks->words[level + 1]);

	for (uint32_t i = 0; i < repairing->run_count[level]; i++) {
		const struct dmodk_run *run = &repairing->runs[level][i];
		uint32_t slice = climb.cables->parent[run->first] * words;
		uint32_t parallel = climb.cables->parallel[run->first] * climb.words + slice;
		const uint64_t *above = climb.above + slice, *cable = climb.cable + parallel;
		const uint64_t *exact = descents ? descents + parallel : cable;
		for (uint32_t word = 0; word < words; word++)
			for (uint64_t lost =
				 legal[word] & ~(cable[word] & above[word] & exact[word]);
			     lost; lost &= lost - 1) {
				climb.bit = word * 64 + (uint32_t)__builtin_ctzll(lost);
				climb_by(repairing, &climb, level,
					 dmodk_spot_at(repairing, level, block, climb.bit).place,
					 run, choose_climb(&climb, block, run));
			}
	}
}

void dmodk_paths_repair(struct dmodk_repairing *repairing, uint32_t level)
{
	const struct dmodk_reach *reach = &repairing->reach;

	if (!level && dmodk_tree_of(repairing)->level_count > 1)
		repair_leaf_climbs(repairing);
	for (uint32_t i = 0; level && i < reach->opened_count[level]; i++) {
		uint32_t block = reach->opened[level][i];
		if (dmodk_contains(reach, level, block))
			repair_descents(repairing, level, block);
		else
			repair_climbs(repairing, level, block);
	}
}
