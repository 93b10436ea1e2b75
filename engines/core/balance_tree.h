/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One destination tree of the balance: the choice among the next hops of a DAG, and the loads of
 * links that the trees chosen so far make.
 *
 * The cost sequence of a switch is a key: the key of its next hop, then the load of the link to it.
 * Keys of a level are all of one width, so that they compare like the sequences. When a word has no
 * room for one more load, the keys of the level before are replaced by their ranks.
 */
#ifndef ENGINES_BALANCE_TREE_H
#define ENGINES_BALANCE_TREE_H

#include "balance_plan.h"
#include "balance_siblings.h"
#include "conflicts.h"
#include "dag.h"
#include "link_number.h"

/* ---- trees ---- */

struct balance_tree_key {
	uint64_t key;
	uint32_t sw;
};

/*
 * The least loaded links of a switch, for one list of candidates. Loads mostly grow, so that the
 * next choice is among what is left of these: most choices look at one load only.
 */
struct balance_least {
	uint64_t targets; /* dag->targets of the list; 0: nothing is known */
	uint64_t positions; /* bits: those in the list that had the least load when it was found */
	uint32_t load; /* no link of the list has less */
};

/*
 * The least key of a list of candidates, and the positions in the list that have it, as bits for
 * the first 64: among these the load decides.
 */
struct balance_tied {
	uint64_t targets; /* dag->targets of the list */
	uint64_t tree; /* in which tree */
	uint64_t positions, key;
};

struct balance_trees {
	const struct hd_fabric *fabric;
	const bool *uncounted; /* [isl_count] links without a load; NULL: none */
	uint32_t *load; /* [isl_count] source hosts over the link */
	uint32_t load_bits; /* all loads so far, or-ed: no load has more bits */
	uint32_t *host_load; /* [switch_count] hosts on a switch */
	uint32_t *weight; /* [switch_count] hosts at or behind it, of the tree at hand */
	uint64_t *key; /* [switch_count] of the tree at hand */
	struct balance_tree_key *keys, *sorted; /* [switch_count] while a level is ranked */
	struct balance_least *least; /* [switch_count] */
	bool fallen; /* some load has become less: least[] is of no use any more */
	uint64_t tree; /* number of the tree at hand, 1 .. */
	struct balance_tied *tied; /* [1 << BALANCE_TIED_BITS] by the highest bits of targets */
};

/* Before trees are added and none removed: then each choice is faster. Cost: O(switches). */
void balance_trees_begin(struct balance_trees *trees);

/* True when the switch's entry in the tree is an allowed next hop. */
static inline bool balance_tree_allows(const struct dag *dag, const struct hd_fabric *fabric,
				       const uint8_t *tree, uint32_t sw)
{
	return tree[sw] != LINK_NUMBER_NONE && dag->is_candidate[fabric->isl_base[sw] + tree[sw]];
}

/* ---- parts ---- */

/*
 * The destinations of a large fabric are balanced in parts, each against its own loads alone, so
 * that threads can route the parts at the same time. Where the loads of each part are even, their
 * sums are. How many parts there are does not depend on the threads, so the tables do not either.
 */

struct balance_part {
	const struct balance_plan *plan;
	struct destinations list; /* of this part */
	uint32_t *row; /* [list.count] where the tree of a destination is in chosen */
	uint32_t *sw; /* [list.count] destination switches */
	uint8_t *chosen; /* rows of switch_count bytes, those of all parts */
	uint8_t *before; /* [switch_count] a tree before it is chosen again */
	struct dag dag;
	bool dag_to_host; /* the DAG was built for a host's LID, not for a switch's */
	struct balance_trees trees;
	struct conflicts *conflicts; /* they decide; NULL: the loads do */
	const struct balance_siblings *siblings;
	struct balance_siblings_marks marks;
	bool changed; /* some tree is not as before */
	int rc; /* of the routing so far */
	struct hd_error err;
};

/* A part without destinations. Errors: -ENOMEM. */
int balance_part_allocate(struct balance_part *part, const struct balance_plan *plan,
			  bool by_conflicts, uint8_t *chosen,
			  const struct balance_siblings *siblings, struct hd_arena *arena);

/*
 * Deals a list out to parts: all LIDs of one destination switch to the same part, to that which has
 * the fewest so far. Row i of chosen is that of list->items[i]. Errors: -ENOMEM. Cost: O(LIDs *
 * parts).
 */
int balance_parts_list(struct balance_part *parts, unsigned part_count,
		       const struct destinations *list, struct hd_arena *arena);

/* Where step `number` of so many begins in a layer: never between LIDs of one switch. */
uint32_t balance_part_cut(const struct balance_part *part, uint32_t layer, uint32_t number,
			  uint32_t steps);

/* Makes part->dag that of a destination. Errors: those of plan->build. */
int balance_part_build(struct balance_part *part, uint32_t destination, struct hd_error *err);

/* Chooses the tree of a destination, for which part->dag was built. With keep, entries that are candidates stay. Leaves
 * what it was in part->before. */
void balance_part_choose(struct balance_part *part, uint32_t destination, bool keep);

/* Counts a tree that is final for now, and reports it. With first: it was not counted before. */
void balance_part_settle(struct balance_part *part, uint32_t destination);

/*
 * Routes destinations begin .. end-1 of the part against the part's loads. With first: for the
 * first time. Sets part->rc and part->err, and part->changed.
 */
void balance_part_route(struct balance_part *part, uint32_t begin, uint32_t end, bool first);

/*
 * Gives every part the loads of all: what each has changed since the last merge, when all had
 * load[], is added up. Cost: O(links * parts).
 */
void balance_parts_merge(struct balance_part *parts, unsigned part_count, uint32_t *load);

#endif
