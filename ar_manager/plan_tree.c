/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * TREE: a group is all ports on a path of fewest hops to the destination switch.
 *
 * All LIDs of one destination switch share the group. For eight links of a switch at a time, one
 * byte for each destination switch says which of the links lead nearer to it. These bytes come from
 * comparing rows of hop counts, which the compiler turns into vector instructions.
 *
 * A cable that does not join neighbouring levels, such as one that was swapped with another, offers
 * short paths that climb again after they have descended. With them the groups may deadlock, or lead
 * to fewer destinations. If few cables are such, another plan leaves them out of groups and hop counts.
 *
 * Shortest paths may also lead down and up again where all cables join neighbouring levels: from one line chip of a
 * director to another by a leaf that both have, which is as short as by a spine. If the groups can deadlock then, those
 * of `climbing` follow paths that climb, then descend. Those of `united` have both kinds of ports, so that only the
 * ports need be left out which really close a loop.
 */
#include "climbs.h"
#include "levels.h"
#include "plan_shared.h"

#include <errno.h>
#include <heddle/fabric/tree.h>

#define BLOCK 64u /* destinations compared at a time */
#define STRAY_SHARE 8u /* at most one of so many cables is stray, or the fabric is no tree */

struct tree {
	size_t stride; /* of a row of hop counts, a multiple of BLOCK */
	uint8_t *hops; /* [switch_count * stride]; NULL: the groups follow `climbs` alone */
	bool *stray; /* [isl_count] the link is in no group; NULL: none */
	struct climbs climbs; /* its states are NULL: the groups follow `hops` alone */
};

static int load_hops(struct planner *planner, const struct hd_fabric *fabric, struct tree *tree,
		     struct hd_error *err)
{
	size_t switches = planner->fabric->switch_count;
	uint8_t *hops = hd_arena_alloc(&planner->arena, switches, switches);

	tree->hops = hd_arena_alloc(&planner->arena, switches, tree->stride);
	if (hd_arena_check(&planner->arena))
		return hd_error_no_memory(err);
	int rc = hd_fabric_distances(fabric, planner->request->threads, hops, err);
	for (size_t sw = 0; !rc && sw < switches; sw++)
		memcpy(tree->hops + sw * tree->stride, hops + sw * switches, switches);
	return rc;
}

static int begin(struct planner *planner, struct tree **out, struct hd_error *err)
{
	struct tree *tree = hd_arena_alloc(&planner->arena, 1, sizeof(*tree));

	if (!tree || plan_shared_prepare(planner, planner->lids.count))
		return hd_error_no_memory(err);
	tree->stride = (planner->fabric->switch_count + BLOCK - 1) / BLOCK * BLOCK;
	planner->context = *out = tree;
	for (unsigned i = 0; i < planner->holder->worker_count; i++)
		planner->workers[i].planes =
		    hd_arena_alloc(&planner->arena, tree->stride, 8 * (size_t)planner->words);
	return hd_arena_check(&planner->arena) ? hd_error_no_memory(err) : 0;
}

/* fabric: what hop counts are of. */
static int prepare_by(struct planner *planner, const struct hd_fabric *fabric, bool *stray,
		      struct hd_error *err)
{
	struct tree *tree;
	int rc = begin(planner, &tree, err);

	if (rc)
		return rc;
	tree->stray = stray;
	return load_hops(planner, fabric, tree, err);
}

static int prepare(struct planner *planner, struct hd_error *err)
{
	return prepare_by(planner, planner->fabric, NULL, err);
}

static int prepare_without_strays(struct planner *planner, struct hd_error *err)
{
	static const struct hd_tree_facts no_facts;
	uint32_t links = planner->fabric->isl_count;
	bool *stray = hd_arena_alloc(&planner->arena, links, sizeof(*stray));
	struct hd_tree_pruned pruned;

	if (!stray)
		return hd_error_no_memory(err);
	int rc = hd_tree_prune(planner->fabric, &no_facts, NULL, &planner->arena, &pruned);
	if (rc == -ENOMEM)
		return hd_error_no_memory(err);
	if (rc || pruned.strays > links / 2 / STRAY_SHARE)
		return hd_error_set(err, -ENOTSUP, "the fabric is no tree with stray cables");
	memset(stray, true, links * sizeof(*stray));
	for (uint32_t link = 0; link < pruned.fabric.isl_count; link++)
		stray[pruned.original[link]] = false;
	return prepare_by(planner, &pruned.fabric, stray, err);
}

static int prepare_climbing(struct planner *planner, struct hd_error *err)
{
	const struct hd_ar_request *request = planner->request;
	struct levels levels;
	struct tree *tree;
	uint8_t *up;
	int rc = levels_find(planner->fabric, &planner->arena, &levels, err);

	if (!rc && levels_directions(&levels, &planner->arena, &up))
		rc = hd_error_no_memory(err);
	if (!rc)
		rc = begin(planner, &tree, err);
	if (rc)
		return rc;
	rc = climbs_find(&tree->climbs, planner->fabric, up, tree->stride, request->threads,
			 &request->go_on, &planner->arena);
	if (rc == -ERANGE)
		return hd_error_set(err, -ENOTSUP, "a path has too many hops");
	return hd_go_on_explain(rc, err);
}

static int prepare_united(struct planner *planner, struct hd_error *err)
{
	int rc = prepare_climbing(planner, err);

	return rc ? rc : load_hops(planner, planner->fabric, planner->context, err);
}

/* Sets the bit where the link leads one hop nearer. No hop count is above 254, so that 255 + 1 is
 * none of those that a switch has to another. */
static void compare_rows(const uint8_t *restrict near, const uint8_t *restrict own,
			 uint8_t *restrict plane, size_t stride, uint8_t bit)
{
	for (size_t block = 0; block < stride; block += BLOCK)
		for (size_t i = block; i < block + BLOCK; i++) {
			uint8_t nearer = (uint8_t)(near[i] + 1) == own[i] ? 0xFF : 0;
			plane[i] = (uint8_t)(plane[i] | (nearer & bit));
		}
}

static void fill_plane(const struct tree *tree, uint32_t from, uint32_t link, uint32_t to,
		       uint8_t *plane, uint8_t bit)
{
	if (tree->climbs.states)
		climbs_compare(&tree->climbs, from, link, to, plane, bit);
	if (tree->hops && (!tree->stray || !tree->stray[link]))
		compare_rows(tree->hops + to * tree->stride, tree->hops + from * tree->stride,
			     plane, tree->stride, bit);
}

static void fill_planes(const struct planner *planner, struct planner_worker *worker, uint32_t sw)
{
	const struct hd_fabric *fabric = planner->fabric;
	const struct tree *tree = planner->context;
	uint32_t first = fabric->isl_base[sw];

	memset(worker->planes, 0, tree->stride * 8 * planner->words);
	for (uint32_t link = first; link < fabric->isl_base[sw + 1]; link++)
		fill_plane(tree, sw, link, fabric->isl_to[link],
			   worker->planes + (link - first) / 8 * tree->stride,
			   (uint8_t)(1u << (link - first) % 8));
}

/* True if the set differs from that of the destination before. */
static bool load_set(const struct planner *planner, struct planner_worker *worker,
		     uint32_t destination)
{
	const struct tree *tree = planner->context;
	const uint8_t *column = worker->planes + destination;
	uint64_t differs = 0;

	for (uint32_t word = 0; word < planner->words; word++) {
		uint64_t bits = 0;
		for (unsigned byte = 0; byte < 8; byte++, column += tree->stride)
			bits |= (uint64_t)*column << 8 * byte;
		differs |= bits ^ worker->set[word];
		worker->set[word] = bits;
	}
	return differs != 0;
}

/* The set of a destination without what is cut. */
static const uint64_t *wanted_set(const struct planner *planner, struct planner_worker *worker,
				  uint32_t sw, uint32_t destination)
{
	if (!planner->cuts)
		return worker->set;
	const uint64_t *cut = cuts_get(planner->cuts, sw, destination);
	for (uint32_t word = 0; word < planner->words; word++)
		worker->wanted[word] = worker->set[word] & ~cut[word];
	return worker->wanted;
}

static void wish(const struct planner *planner, struct planner_worker *worker, uint32_t sw)
{
	link_sets_clear(&worker->sets);
	fill_planes(planner, worker, sw);
	for (uint32_t i = 0; i < planner->lids.count; i++) {
		if (load_set(planner, worker, planner->lids.sw[i]) || !i || planner->cuts)
			plan_shared_set(worker, wanted_set(planner, worker, sw, i), i);
		else
			worker->set_of_class[i] = worker->set_of_class[i - 1];
	}
	plan_shared_mark(planner, worker, sw, planner->lids.destination);
}

static const struct planner_algorithm without_strays = {.algorithm = HD_AR_TREE,
							.name = "tree",
							.table_count = 1,
							.sub_groups = 1,
							.prepare = prepare_without_strays,
							.wish = wish};

static const struct planner_algorithm united = {.algorithm = HD_AR_TREE,
						.name = "tree",
						.table_count = 1,
						.sub_groups = 1,
						.prepare = prepare_united,
						.wish = wish};

static const struct planner_algorithm climbing = {.algorithm = HD_AR_TREE,
						  .name = "tree",
						  .table_count = 1,
						  .sub_groups = 1,
						  .prepare = prepare_climbing,
						  .wish = wish};

const struct planner_algorithm planner_tree = {.algorithm = HD_AR_TREE,
					       .name = "tree",
					       .table_count = 1,
					       .sub_groups = 1,
					       .prepare = prepare,
					       .wish = wish,
					       .careful = &without_strays,
					       .climbing = &climbing,
					       .united = &united};
