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

#include "dag.h"
#include "link_number.h"

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

#define BALANCE_TIED_BITS 10u

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

/* Loads of 0. Errors: -ENOMEM. */
int balance_trees_allocate(struct balance_trees *trees, const struct hd_fabric *fabric,
			   const bool *uncounted, struct hd_arena *arena);

/*
 * Fills tree[]: the number of the link that each switch takes among its own, as the DAG allows.
 * With keep, entries that are candidates stay. Does not change the loads. Cost: O(switches +
 * candidates).
 */
void balance_tree_choose(struct balance_trees *trees, const struct dag *dag, uint8_t *tree,
			 bool keep);

/* Before trees are added and none removed: then each choice is faster. Cost: O(switches). */
void balance_trees_begin(struct balance_trees *trees);

/* Adds a tree's source hosts to the loads of its links, or takes them out. Cost: O(switches). */
void balance_tree_add(struct balance_trees *trees, const struct dag *dag, const uint8_t *tree);
void balance_tree_remove(struct balance_trees *trees, const struct dag *dag, const uint8_t *tree);

/* True when the switch's entry in the tree is an allowed next hop. */
static inline bool balance_tree_allows(const struct dag *dag, const struct hd_fabric *fabric,
				       const uint8_t *tree, uint32_t sw)
{
	return tree[sw] != LINK_NUMBER_NONE && dag->is_candidate[fabric->isl_base[sw] + tree[sw]];
}

#endif
