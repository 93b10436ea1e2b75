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
 */
#include "plan_changes.h"
#include "plan_memory.h"
#include "plan_shared.h"

#include <errno.h>
#include <heddle/fabric/tree.h>

#define BLOCK 64u /* destinations compared at a time */
#define STRAY_SHARE 8u /* at most one of so many cables is stray, or the fabric is no tree */

/* The planner's stride is a multiple of BLOCK. fabric: what hop counts are of. */
static int load_hops(struct planner *planner, const struct hd_fabric *fabric, uint8_t *rows,
		     struct hd_error *err)
{
	size_t switches = planner->fabric->switch_count;
	uint8_t *hops = hd_arena_alloc(&planner->arena, switches, switches);

	if (!hops)
		return hd_error_no_memory(err);
	int rc = hd_fabric_distances(fabric, planner->request->threads, hops, err);
	for (size_t sw = 0; !rc && sw < switches; sw++)
		memcpy(rows + sw * planner->hop_stride, hops + sw * switches, switches);
	return rc;
}

/* The plan remembers the hop counts. If those of the previous plan can be brought up to date, that is done. */
static int find_hops(struct planner *planner, const struct hd_fabric *fabric, struct hd_error *err)
{
	size_t switches = planner->fabric->switch_count;
	struct hd_arena *arena = &planner->holder->memory->arena;

	planner->hop_stride = (switches + BLOCK - 1) / BLOCK * BLOCK;
	uint8_t *rows = hd_arena_alloc(arena, switches, planner->hop_stride);
	if (!rows || plan_changes_find(planner) || plan_changes_hops(planner, rows))
		return hd_error_no_memory(err);
	planner->hops = rows;
	return planner->changes ? 0 : load_hops(planner, fabric, rows, err);
}

/* fabric: what hop counts are of. */
static int prepare_by(struct planner *planner, const struct hd_fabric *fabric, const bool *stray,
		      struct hd_error *err)
{
	if (plan_shared_prepare(planner, planner->lids.count))
		return hd_error_no_memory(err);
	planner->stray = stray;
	int rc = find_hops(planner, fabric, err);
	for (unsigned i = 0; !rc && i < planner->worker_count; i++)
		planner->workers[i].planes = hd_arena_alloc(&planner->arena, planner->hop_stride,
							    8 * (size_t)planner->words);
	return rc ? rc : hd_arena_check(&planner->arena) ? hd_error_no_memory(err) : 0;
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

static void fill_planes(const struct planner *planner, struct planner_worker *worker, uint32_t sw)
{
	const struct hd_fabric *fabric = planner->fabric;
	const size_t stride = planner->hop_stride;
	uint32_t first = fabric->isl_base[sw];

	memset(worker->planes, 0, stride * 8 * planner->words);
	for (uint32_t link = first; link < fabric->isl_base[sw + 1]; link++) {
		if (planner->stray && planner->stray[link])
			continue;
		compare_rows(planner->hops + fabric->isl_to[link] * stride,
			     planner->hops + sw * stride,
			     worker->planes + (link - first) / 8 * stride, stride,
			     (uint8_t)(1u << (link - first) % 8));
	}
}

/* True if the set differs from that of the destination before. */
static bool load_set(const struct planner *planner, struct planner_worker *worker,
		     uint32_t destination)
{
	const uint8_t *column = worker->planes + destination;
	uint64_t differs = 0;

	for (uint32_t word = 0; word < planner->words; word++) {
		uint64_t bits = 0;
		for (unsigned byte = 0; byte < 8; byte++, column += planner->hop_stride)
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

static uint32_t class_of(const struct planner *planner, uint32_t sw, uint32_t lid, uint8_t link)
{
	(void)sw;
	(void)link;
	return planner->lids.destination[lid];
}

/* The same as all planes of the switch say of one destination. */
static void set_of(const struct planner *planner, struct planner_worker *worker, uint32_t sw,
		   uint32_t class)
{
	const struct hd_fabric *fabric = planner->fabric;
	const uint8_t *column = planner->hops + planner->lids.sw[class];
	const uint8_t own = column[sw * planner->hop_stride];
	uint32_t first = fabric->isl_base[sw];

	memset(worker->set, 0, planner->words * sizeof(*worker->set));
	for (uint32_t link = first; link < fabric->isl_base[sw + 1]; link++)
		if (!(planner->stray && planner->stray[link]) &&
		    (uint8_t)(column[fabric->isl_to[link] * planner->hop_stride] + 1) == own)
			link_sets_add(worker->set, link - first);
}

static const struct planner_algorithm without_strays = {.algorithm = HD_AR_TREE,
							.name = "tree",
							.table_count = 1,
							.sub_groups = 1,
							.prepare = prepare_without_strays,
							.wish = wish,
							.class_of = class_of,
							.set_of = set_of};

const struct planner_algorithm planner_tree = {.algorithm = HD_AR_TREE,
					       .name = "tree",
					       .table_count = 1,
					       .sub_groups = 1,
					       .prepare = prepare,
					       .wish = wish,
					       .class_of = class_of,
					       .set_of = set_of,
					       .careful = &without_strays};
