/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * TREE: a group is all ports on a path of fewest hops to the destination switch.
 *
 * All LIDs of one destination switch share the group. For eight links of a switch at a time, one
 * byte for each destination switch says which of the links lead nearer to it. These bytes come from
 * comparing rows of hop counts, which the compiler turns into vector instructions.
 *
 * A switch above the leaves which has lost a cable may have shortest paths that descend, and climb again. Only what is
 * cabled to switches above the leaves sends there, as aggregation nodes do, and the forwarding entry has been proved with
 * all others. A group would turn at any leaf, and close loops. So it has no ports of such paths; the entry is static.
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
#include "plan_changes.h"
#include "plan_data.h"
#include "planning.h"

#include <errno.h>
#include <heddle/fabric/tree.h>

/* ---- plan shared ---- */

/*
 * What TREE and LAG share. Both sort the LIDs at a switch into classes whose LIDs want the same set
 * of links: by destination switch, or by the link of the static port.
 */

/* Memory for so many classes in each worker. Errors: -ENOMEM. */
static int plan_shared_prepare(struct planner *planner, uint32_t classes)
{
	planner->wish_room = classes;
	for (unsigned i = 0; i < planner->worker_count; i++) {
		struct planner_worker *worker = &planner->workers[i];
		worker->set_of_class =
		    hd_arena_alloc(&planner->arena, classes, sizeof(*worker->set_of_class));
		link_sets_init(&worker->sets, planner->words, classes, &planner->arena);
	}
	return hd_arena_check(&planner->arena);
}

/* Gives a set to a class; a set of one link or none is no wish. */
static void plan_shared_set(struct planner_worker *worker, const uint64_t *set, uint32_t class)
{
	bool choice = link_sets_count(set, worker->sets.words) > 1;

	worker->set_of_class[class] =
	    choice ? link_sets_number(&worker->sets, set) : HD_AR_NO_GROUP;
}

static bool is_cut(const struct planner *planner, uint32_t sw, uint32_t lid, const uint64_t *set)
{
	uint32_t destination = planner->lids.destination[lid];
	uint64_t shared = 0;

	if (!planner->cuts || destination == HD_NONE)
		return false;
	for (uint32_t word = 0; word < planner->words; word++)
		shared |= set[word] & cuts_get(planner->cuts, sw, destination)[word];
	return shared != 0;
}

/* Makes the wishes of the sets, and marks the entries: each wants the set of its class if its
 * static port is in it, and no link of it is cut. */
static void plan_shared_mark(const struct planner *planner, struct planner_worker *worker,
			     uint32_t sw, const uint32_t *class_of_lid)
{
	uint32_t lids = planner->fabric->lid_count;
	uint16_t *groups = planning_groups(planner, worker, 0);
	uint8_t *ports = planning_ports(planner, worker, 0), link_of_port[256];

	for (uint32_t number = 0; number < worker->sets.count; number++) {
		struct groups_wish *wish = &worker->wishes[number];
		*wish = (struct groups_wish){.lids = 0};
		link_sets_to_ports(planner->fabric, sw, link_sets_get(&worker->sets, number),
				   planner->words, &wish->group.ports[0]);
	}
	worker->wish_count = worker->sets.count;
	memcpy(ports, hd_routes_row(planner->request->routes, sw), lids);
	link_sets_of_ports(planner->fabric, sw, link_of_port);
	for (uint32_t lid = 0; lid < lids; lid++) {
		uint32_t class = class_of_lid[lid], link = link_of_port[ports[lid]];
		uint32_t set = class == HD_NONE ? HD_AR_NO_GROUP : worker->set_of_class[class];
		groups[lid] = HD_AR_NO_GROUP;
		if (set == HD_AR_NO_GROUP || link == LINK_SETS_NO_LINK ||
		    !planner->lids.may_adapt[lid] ||
		    !link_sets_has(link_sets_get(&worker->sets, set), link) ||
		    is_cut(planner, sw, lid, link_sets_get(&worker->sets, set)))
			continue;
		groups[lid] = (uint16_t)set;
		worker->wishes[set].lids++;
	}
}

/* ---- plan lag ---- */

/* LAG: a group is all ports to the neighbour to which the static port leads. Where one of them is cut, the
 * entry is static. */

static int plan_lag_prepare(struct planner *planner, struct hd_error *err)
{
	uint32_t lids = planner->fabric->lid_count;
	int rc = plan_shared_prepare(planner, HD_PORTS_MAX);

	for (unsigned i = 0; i < planner->worker_count; i++)
		planner->workers[i].class_of_lid =
		    hd_arena_alloc(&planner->arena, lids, sizeof(uint32_t));
	if (!rc)
		rc = plan_changes_find(planner);
	return rc || hd_arena_check(&planner->arena) ? hd_error_no_memory(err) : 0;
}

/* The links to the switch to which one link leads. */
static void parallel_links(const struct planner *planner, uint32_t sw, uint32_t link, uint64_t *set)
{
	const struct hd_fabric *fabric = planner->fabric;
	uint32_t first = fabric->isl_base[sw], to = fabric->isl_to[first + link];

	memset(set, 0, planner->words * sizeof(*set));
	for (uint32_t other = first; other < fabric->isl_base[sw + 1]; other++)
		if (fabric->isl_to[other] == to)
			link_sets_add(set, other - first);
}

static void plan_lag_wish(const struct planner *planner, struct planner_worker *worker, uint32_t sw)
{
	const struct hd_fabric *fabric = planner->fabric;
	const uint8_t *row = hd_routes_row(planner->request->routes, sw);
	uint8_t link_of_port[256];

	link_sets_clear(&worker->sets);
	for (uint32_t link = 0; link < fabric->isl_base[sw + 1] - fabric->isl_base[sw]; link++) {
		parallel_links(planner, sw, link, worker->set);
		plan_shared_set(worker, worker->set, link);
	}
	link_sets_of_ports(fabric, sw, link_of_port);
	for (uint32_t lid = 0; lid < fabric->lid_count; lid++) {
		uint32_t link = link_of_port[row[lid]];
		bool leads = planner->lids.destination[lid] != HD_NONE && link != LINK_SETS_NO_LINK;
		worker->class_of_lid[lid] = leads ? link : HD_NONE;
	}
	plan_shared_mark(planner, worker, sw, worker->class_of_lid);
}

static uint32_t plan_lag_class_of(const struct planner *planner, uint32_t sw, uint32_t lid,
				  uint8_t link)
{
	(void)sw;
	return planner->lids.destination[lid] == HD_NONE ? HD_NONE : link;
}

static void plan_lag_set_of(const struct planner *planner, struct planner_worker *worker,
			    uint32_t sw, uint32_t class)
{
	parallel_links(planner, sw, class, worker->set);
}

const struct planner_algorithm planner_lag = {.algorithm = HD_AR_LAG,
					      .name = "lag",
					      .table_count = 1,
					      .sub_groups = 1,
					      .prepare = plan_lag_prepare,
					      .wish = plan_lag_wish,
					      .class_of = plan_lag_class_of,
					      .set_of = plan_lag_set_of};

/* ---- plan tree ---- */

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

static int plan_tree_begin(struct planner *planner, struct hd_error *err)
{
	const size_t switches = planner->fabric->switch_count;

	planner->hop_stride = (switches + BLOCK - 1) / BLOCK * BLOCK;
	if (plan_shared_prepare(planner, planner->lids.count))
		return hd_error_no_memory(err);
	for (unsigned i = 0; i < planner->worker_count; i++)
		planner->workers[i].planes = hd_arena_alloc(&planner->arena, planner->hop_stride,
							    8 * (size_t)planner->words);
	return hd_arena_check(&planner->arena) ? hd_error_no_memory(err) : 0;
}

/* Whether anything but hosts is cabled to switches above the leaves. */
static bool any_sends_above(const struct hd_fabric *fabric, const uint32_t *level)
{
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		if (level[sw] && hd_has_adapters(fabric, sw))
			return true;
	return false;
}

/* Where levels count for the groups. The plan remembers them. */
static int find_levels(struct planner *planner, struct hd_error *err)
{
	const uint32_t switches = planner->fabric->switch_count;
	uint32_t *steps = hd_arena_alloc(&planner->arena, switches, sizeof(*steps));
	uint8_t *level =
	    hd_arena_alloc(&planner->holder->memory->arena, planner->hop_stride, sizeof(*level));

	if (!steps || !level)
		return hd_error_no_memory(err);
	int rc = hd_fabric_levels(planner->fabric, steps, err);
	if (rc || !any_sends_above(planner->fabric, steps))
		return rc;
	/* Whether few cables do not join neighbouring levels. */
	const struct hd_fabric *fabric = planner->fabric;
	uint32_t strays = 0;
	for (uint32_t link = 0; link < fabric->isl_count; link++) {
		const uint32_t near = steps[hd_isl_from(fabric, link)],
			       far = steps[fabric->isl_to[link]];
		strays += near + 1 != far && far + 1 != near;
	}
	if (!(strays <= fabric->isl_count / STRAY_SHARE))
		return rc;
	for (uint32_t sw = 0; sw < switches; sw++) {
		const bool known = steps[sw] < UINT8_MAX;
		level[sw] = known ? (uint8_t)steps[sw] : UINT8_MAX;
		if (known && level[sw] > planner->top)
			planner->top = level[sw];
	}
	planner->level = level;
	return 0;
}

/* fabric: what hop counts are of. */
static int prepare_by(struct planner *planner, const struct hd_fabric *fabric, const bool *stray,
		      struct hd_error *err)
{
	int rc = plan_tree_begin(planner, err);

	planner->stray = stray;
	if (!rc)
		rc = find_levels(planner, err);
	if (rc)
		return rc;
	/* The plan remembers the hop counts. If those of the previous plan can be brought up to
	 * date, that is done. */
	size_t switches = planner->fabric->switch_count;
	struct hd_arena *arena = &planner->holder->memory->arena;
	uint8_t *rows = hd_arena_alloc(arena, switches, planner->hop_stride);
	if (!rows || plan_changes_find(planner) || plan_changes_hops(planner, rows))
		return hd_error_no_memory(err);
	planner->hops = rows;
	return planner->changes ? 0 : load_hops(planner, fabric, rows, err);
}

static int plan_tree_prepare(struct planner *planner, struct hd_error *err)
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

/* The groups follow these climbs, not hop counts. */
static int prepare_climbing(struct planner *planner, struct hd_error *err)
{
	const struct hd_ar_request *request = planner->request;
	struct climbs *climbs = hd_arena_alloc(&planner->arena, 1, sizeof(*climbs));
	struct levels levels;
	uint8_t *up;
	int rc = climbs ? levels_find(planner->fabric, &planner->arena, &levels, err)
			: hd_error_no_memory(err);

	if (!rc && levels_directions(&levels, &planner->arena, &up))
		rc = hd_error_no_memory(err);
	if (!rc)
		rc = plan_tree_begin(planner, err);
	if (rc)
		return rc;
	planner->context = climbs;
	rc = climbs_find(climbs, planner->fabric, up, planner->hop_stride, request->threads,
			 &request->go_on, &planner->arena);
	if (rc == -ERANGE)
		return hd_error_set(err, -ENOTSUP, "a path has too many hops");
	return hd_go_on_explain(rc, err);
}

/* The groups follow both. No later plan is made by one of these, so nothing is remembered. */
static int prepare_united(struct planner *planner, struct hd_error *err)
{
	int rc = prepare_climbing(planner, err);
	uint8_t *rows =
	    hd_arena_alloc(&planner->arena, planner->fabric->switch_count, planner->hop_stride);

	if (!rc && !rows)
		rc = hd_error_no_memory(err);
	planner->hops = rows;
	return rc ? rc : load_hops(planner, planner->fabric, rows, err);
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

static void fill_plane(const struct planner *planner, uint32_t sw, uint32_t link, uint8_t *plane,
		       uint8_t bit)
{
	const uint32_t to = planner->fabric->isl_to[link];
	const size_t stride = planner->hop_stride;

	if (planner->context)
		climbs_compare(planner->context, sw, link, to, plane, bit);
	if (planner->hops && !(planner->stray && planner->stray[link]))
		compare_rows(planner->hops + to * stride, planner->hops + sw * stride, plane,
			     stride, bit);
}

/* ---- paths that descend, then climb ---- */

/* Ports of a switch for destinations that shortest paths do not reach by climbing, then descending. */
struct valleys {
	const uint8_t *level, *hops; /* by destination */
	uint8_t own; /* level of the switch */
	uint8_t most; /* hops by the top from there to level 0 */
	uint64_t descending[HD_PORT_SET_WORDS]; /* links, in the order of a set */
};

/* False: the switch has none, since no link descends. */
static bool begin_valleys(const struct planner *planner, uint32_t sw, struct valleys *valleys)
{
	const struct hd_fabric *fabric = planner->fabric;
	const uint32_t first = fabric->isl_base[sw];
	bool any = false;

	if (!planner->level || planner->level[sw] > planner->top)
		return false;
	*valleys = (struct valleys){.level = planner->level,
				    .hops = planner->hops + sw * planner->hop_stride,
				    .own = planner->level[sw],
				    .most = (uint8_t)(2 * planner->top - planner->level[sw])};
	for (uint32_t link = first; link < fabric->isl_base[sw + 1]; link++)
		if (planner->level[fabric->isl_to[link]] < planner->level[sw]) {
			link_sets_add(valleys->descending, link - first);
			any = true;
		}
	return any;
}

/* Whether a shortest path may descend all the way. */
static bool may_descend(const struct valleys *valleys, size_t to)
{
	return valleys->hops[to] <= valleys->own &&
	       valleys->level[to] <= valleys->own - valleys->hops[to];
}

/* Whether it is no longer than one by the top, so that it may climb, then descend. */
static bool may_climb(const struct valleys *valleys, size_t to)
{
	return valleys->hops[to] <= valleys->most &&
	       valleys->level[to] <= valleys->most - valleys->hops[to];
}

/* In the planes of a switch. */
static void empty_valleys(const struct planner *planner, const struct valleys *valleys,
			  uint8_t *planes)
{
	const size_t stride = planner->hop_stride;

	for (size_t block = 0; block < stride; block += BLOCK) {
		uint8_t climbs[BLOCK] = {0};
		for (uint32_t plane = 0; plane < 8 * planner->words; plane++) {
			const uint8_t others =
			    (uint8_t) ~(valleys->descending[plane / 8] >> plane % 8 * 8);
			for (size_t i = 0; i < BLOCK; i++)
				climbs[i] |= planes[plane * stride + block + i] & others;
		}
		for (size_t i = 0; i < BLOCK; i++)
			climbs[i] = may_descend(valleys, block + i) ||
					    (climbs[i] && may_climb(valleys, block + i))
					? 0xFF
					: 0;
		for (uint32_t plane = 0; plane < 8 * planner->words; plane++)
			for (size_t i = 0; i < BLOCK; i++)
				planes[plane * stride + block + i] &= climbs[i];
	}
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
	const struct hd_fabric *fabric = planner->fabric;
	const size_t stride = planner->hop_stride;
	uint32_t first = fabric->isl_base[sw];
	struct valleys valleys;
	memset(worker->planes, 0, stride * 8 * planner->words);
	for (uint32_t link = first; link < fabric->isl_base[sw + 1]; link++)
		fill_plane(planner, sw, link, worker->planes + (link - first) / 8 * stride,
			   (uint8_t)(1u << (link - first) % 8));
	if (begin_valleys(planner, sw, &valleys))
		empty_valleys(planner, &valleys, worker->planes);
	for (uint32_t i = 0; i < planner->lids.count; i++) {
		/* True if the set differs from that of the destination before. */
		const uint8_t *column = worker->planes + planner->lids.sw[i];
		uint64_t differs = 0;
		for (uint32_t word = 0; word < planner->words; word++) {
			uint64_t bits = 0;
			for (unsigned byte = 0; byte < 8; byte++, column += planner->hop_stride)
				bits |= (uint64_t)*column << 8 * byte;
			differs |= bits ^ worker->set[word];
			worker->set[word] = bits;
		}
		if ((differs != 0) || !i || planner->cuts)
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
	/* In the set of one destination. */
	uint32_t to = planner->lids.sw[class];
	uint64_t *set = worker->set;
	struct valleys valleys;
	bool climbs = false;
	if (!begin_valleys(planner, sw, &valleys) || may_descend(&valleys, to))
		return;
	for (uint32_t word = 0; word < planner->words; word++)
		climbs |= (set[word] & ~valleys.descending[word]) != 0;
	if (!climbs || !may_climb(&valleys, to))
		memset(set, 0, planner->words * sizeof(*set));
}

static const struct planner_algorithm without_strays = {.algorithm = HD_AR_TREE,
							.name = "tree",
							.table_count = 1,
							.sub_groups = 1,
							.prepare = prepare_without_strays,
							.wish = wish,
							.class_of = class_of,
							.set_of = set_of};

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
					       .prepare = plan_tree_prepare,
					       .wish = wish,
					       .class_of = class_of,
					       .set_of = set_of,
					       .careful = &without_strays,
					       .climbing = &climbing,
					       .united = &united};
