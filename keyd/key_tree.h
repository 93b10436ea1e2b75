/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The tree of keys: the switches and cables of the completed regular tree, and which of them are
 * there. A switch of a level has a block and a group (heddle/fabric/regular_tree.h). The parent
 * that its cable n leads to is number n % parents.
 */
#ifndef KEYD_KEY_TREE_H
#define KEYD_KEY_TREE_H

#include <heddle/base/arena.h>
#include <heddle/keyd/key.h>

#define KEY_CABLES_MAX 256u /* upwards, of one switch */
#define KEY_MASK_WORDS (KEY_CABLES_MAX / 64)

struct key_level {
	uint32_t parents, parallel; /* parents of a switch, parallel cables to each */
	uint32_t cables; /* upwards: parents * parallel; 0 at the top */
	uint32_t leaves; /* below a switch of the level; 1 at level 0 */
	uint32_t blocks, groups;
	uint32_t *at; /* [block * groups + group] the switch; HD_NONE: missing */
	uint32_t *link; /* [(block * groups + group) * cables + cable] link up; HD_NONE: missing */
	uint64_t (*reach)[KEY_MASK_WORDS]; /* [block * groups + group] parents that it reaches */
	uint32_t *usable; /* [block * groups + group] cables upwards that are there */
};

/* A tree that is not regular: levels and cables as they are (key_ranks.h). */
struct key_ranks;

struct hd_key_tree {
	const struct hd_fabric *fabric;
	struct hd_arena arena;
	/* NULL: a regular tree, or one of two levels; else nothing below is set but top */
	struct key_ranks *ranks;
	uint32_t top; /* level of the top switches */
	struct key_level level[HD_KEY_LEVELS + 1];
	uint32_t *leaf; /* [host_count] number of the host's leaf; HD_NONE: it is not on a leaf */
	bool intact; /* no cable between switches is missing */
};

static inline uint32_t key_tree_place(const struct key_level *level, uint32_t block, uint32_t group)
{
	return block * level->groups + group;
}

/* Group of the parent that a cable of a group's switch leads to. */
static inline uint32_t key_tree_parent_group(const struct key_level *level, uint32_t group,
					     uint32_t cable)
{
	return group + level->groups * (cable % level->parents);
}

static inline uint32_t key_tree_link(const struct key_level *level, uint32_t block, uint32_t group,
				     uint32_t cable)
{
	return level->link[(size_t)key_tree_place(level, block, group) * level->cables + cable];
}

/* Levels that a flow must climb from one leaf to another: 0 .. top. */
uint32_t key_tree_climbs(const struct hd_key_tree *tree, uint32_t from, uint32_t to);

/*
 * Whether the switches of a level, both of `group`, with the blocks `from` and `to` have a path to
 * each other that climbs and then descends, within the completed tree. Two equal blocks have one if
 * the switch exists. Cost: O(1), and at most the switches above in trees of 4 levels or more.
 */
bool key_tree_meets(const struct hd_key_tree *tree, uint32_t level, uint32_t group, uint32_t from,
		    uint32_t to);

/* Whether keys can have routes for a host. */
static inline bool key_tree_has(const struct hd_key_tree *tree, uint32_t host)
{
	return tree->ranks || tree->leaf[host] != HD_NONE;
}

/* Whether a path climbs and then descends from one host to another. Cost: as key_tree_meets(). */
bool key_tree_joins(const struct hd_key_tree *tree, uint32_t source, uint32_t destination);

/* Sets the error of a flow without a path, and returns -EHOSTUNREACH. */
int key_tree_no_path(const struct hd_key_tree *tree, const struct hd_key_flow *flow,
		     struct hd_error *err);

/* Sets key->contention by its routes, without a shift. Errors: -ENOMEM. O(flows * hops + links). */
int key_count_contention(const struct hd_key_tree *tree, struct hd_key *key);

#endif
