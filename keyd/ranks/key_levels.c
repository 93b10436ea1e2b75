/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "key_levels.h"

#include "key_lower.h"

#include <errno.h>
#include <heddle/fabric/tree.h>

struct search {
	const struct hd_fabric *fabric;
	struct hd_arena arena;
	const uint32_t *component; /* [switch_count] */
	const uint8_t *best; /* levels; NULL: no tree yet */
	uint64_t apart; /* pairs of leaves without a path in the best one */
};

/* Pairs of leaves with hosts that are connected, but not by a path that climbs and then descends. */
static uint64_t count_apart(const struct search *search, const struct key_ranks *ranks)
{
	const struct hd_fabric *fabric = search->fabric;
	uint64_t apart = 0;

	for (uint32_t a = 0; a < fabric->switch_count; a++)
		for (uint32_t b = 0; !ranks->level[a] && hd_has_hosts(fabric, a) && b < a; b++)
			apart += !ranks->level[b] && hd_has_hosts(fabric, b) &&
				 search->component[a] == search->component[b] &&
				 !key_ranks_reaches(ranks, a, b);
	return apart;
}

/* 1: all leaves have paths to each other, so no other tree need be tried; else 0 or -ENOMEM. */
static int try_levels(struct search *search, const uint8_t *level)
{
	struct key_ranks *ranks;

	if (key_ranks_make(search->fabric, level, &search->arena, &ranks))
		return -ENOMEM;
	uint64_t apart = count_apart(search, ranks);
	if (!search->best || apart < search->apart) {
		search->best = level;
		search->apart = apart;
	}
	return !apart;
}

/* All trees whose cables join neighbouring levels. As try_levels(); -ENOTSUP: the fabric is no such tree. */
static int try_trees(struct search *search, const struct hd_tree_facts *facts, struct hd_error *err)
{
	struct hd_tree tree;
	int rc = hd_tree_find(search->fabric, facts, 1, &search->arena, &tree, err);

	if (rc)
		return rc;
	for (rc = 0; !rc;) {
		rc = try_levels(search, tree.level);
		if (!rc)
			rc = hd_tree_try_next(search->fabric, facts, &search->arena, &tree, NULL);
	}
	return rc == -ENOTSUP ? 0 : rc;
}

static int try_pruned(struct search *search, const struct hd_tree_facts *facts)
{
	struct hd_tree_pruned pruned;
	int rc = hd_tree_prune(search->fabric, facts, NULL, &search->arena, &pruned);

	return rc ? rc : try_levels(search, pruned.level);
}

static int try_facts(struct search *search, const struct hd_tree_facts *facts, struct hd_error *err)
{
	int rc = try_trees(search, facts, err);

	if (!rc || rc == -ENOTSUP)
		rc = try_pruned(search, facts);
	return rc;
}

/* Routers make no switch a leaf. */
static int try_without_routers(struct search *search)
{
	const struct hd_fabric *fabric = search->fabric;
	bool *is_compute = hd_arena_alloc(&search->arena, fabric->host_count, sizeof(*is_compute));
	const struct hd_tree_facts facts = {.is_compute = is_compute};
	uint32_t routers = 0;

	if (!is_compute)
		return -ENOMEM;
	for (uint32_t host = 0; host < fabric->host_count; host++) {
		is_compute[host] =
		    fabric->node_type[fabric->port_node[fabric->host_port[host]]] != HD_ROUTER;
		routers += !is_compute[host];
	}
	return routers && routers < fabric->host_count ? try_facts(search, &facts, NULL) : -ENOTSUP;
}

static int find_best(struct search *search, struct hd_error *err)
{
	static const struct hd_tree_facts no_facts;
	uint32_t *component =
	    hd_arena_alloc(&search->arena, search->fabric->switch_count, sizeof(*component));

	if (!component || hd_tree_components(search->fabric, component))
		return -ENOMEM;
	search->component = component;
	int rc = try_facts(search, &no_facts, err);
	if (!rc || rc == -ENOTSUP)
		rc = try_without_routers(search);
	if (rc == -ENOMEM)
		return rc;
	return search->best ? 0 : -ENOTSUP;
}

int key_levels_find(const struct hd_fabric *fabric, struct hd_arena *arena, struct key_ranks **out,
		    struct hd_error *err)
{
	struct search search = {.fabric = fabric};
	struct key_ranks *found = NULL;
	uint8_t *level = NULL;
	int rc = find_best(&search, err);

	if (!rc)
		rc = key_ranks_make(fabric, search.best, &search.arena, &found);
	if (!rc)
		rc = key_lower(found, search.component, &search.arena, &level);
	if (!rc && key_ranks_highest(fabric, level) > HD_KEY_LEVELS)
		rc = hd_error_set(err, -ENOTSUP, "the tree has %u levels of switches, keys take %u",
				  key_ranks_highest(fabric, level) + 1, HD_KEY_LEVELS + 1);
	if (!rc)
		rc = key_ranks_make(fabric, level, arena, out);
	hd_arena_release(&search.arena);
	return rc == -ENOMEM ? hd_error_no_memory(err) : rc;
}
