/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "ranking.h"

#include <errno.h>
#include <stdlib.h>

#define ROOTS_TRIED 64u
#define UNREACHED 0xFF /* of hd_fabric_distances() */
#define ROOM_ABOVE 0x10000u /* ranks that are free above the roots, for new switches */
#define SAMPLE 32u /* destinations that are looked at for each root */

int ranking_allocate(struct ranking *ranking)
{
	uint32_t switches = ranking->fabric->switch_count;

	ranking->up = hd_arena_alloc(&ranking->arena, ranking->fabric->isl_count, 1);
	ranking->rank = hd_arena_alloc(&ranking->arena, switches, sizeof(*ranking->rank));
	ranking->queue = hd_arena_alloc(&ranking->arena, switches, sizeof(*ranking->queue));
	ranking->centres = hd_arena_alloc(&ranking->arena, switches, sizeof(*ranking->centres));
	return hd_arena_check(&ranking->arena);
}

/* Ranks by steps from the roots, which have rank 0 on entry and all others HD_NONE. A component
 * without a root gets its lowest-numbered switch. */
static void spread_ranks(struct ranking *ranking)
{
	const struct hd_fabric *fabric = ranking->fabric;
	uint32_t head = 0, tail = 0, *rank = ranking->rank, *queue = ranking->queue;

	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		if (!rank[sw])
			queue[tail++] = sw;
	for (uint32_t seed = 0; seed <= fabric->switch_count; seed++) {
		for (; head < tail; head++) {
			uint32_t near = queue[head];
			for (uint32_t link = fabric->isl_base[near];
			     link < fabric->isl_base[near + 1]; link++) {
				uint32_t far = fabric->isl_to[link];
				if (rank[far] == HD_NONE) {
					rank[far] = rank[near] + 1;
					queue[tail++] = far;
				}
			}
		}
		if (seed < fabric->switch_count && rank[seed] == HD_NONE) {
			rank[seed] = 0;
			queue[tail++] = seed;
		}
	}
}

/* A link climbs towards the lower rank, between equals towards the lower index. */
static void direct_links(struct ranking *ranking)
{
	const struct hd_fabric *fabric = ranking->fabric;

	for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
		for (uint32_t link = fabric->isl_base[sw]; link < fabric->isl_base[sw + 1];
		     link++) {
			uint32_t far = fabric->isl_to[link];
			ranking->up[link] = ranking->rank[far] != ranking->rank[sw]
						? ranking->rank[far] < ranking->rank[sw]
						: far < sw;
		}
	}
}

void ranking_from_root(struct ranking *ranking, uint32_t root)
{
	memset(ranking->rank, 0xFF, ranking->fabric->switch_count * sizeof(*ranking->rank));
	ranking->rank[root] = 0;
	spread_ranks(ranking);
	direct_links(ranking);
}

void ranking_from_roots(struct ranking *ranking, const bool *is_root)
{
	for (uint32_t sw = 0; sw < ranking->fabric->switch_count; sw++)
		ranking->rank[sw] = is_root[sw] ? 0 : HD_NONE;
	spread_ranks(ranking);
	direct_links(ranking);
}

struct centre {
	uint32_t unreached, eccentricity, sw;
};

static int compare_centres(const void *left, const void *right)
{
	const struct centre *a = left, *b = right;

	if (a->unreached != b->unreached)
		return a->unreached < b->unreached ? -1 : 1;
	if (a->eccentricity != b->eccentricity)
		return a->eccentricity < b->eccentricity ? -1 : 1;
	return a->sw < b->sw ? -1 : a->sw > b->sw;
}

int ranking_find_centres(struct ranking *ranking, struct hd_error *err)
{
	const struct hd_fabric *fabric = ranking->fabric;
	uint32_t switches = fabric->switch_count;
	uint8_t *hops = malloc((size_t)switches * switches);
	struct centre *centres = calloc(switches, sizeof(*centres));
	int rc = hops && centres ? hd_fabric_distances(fabric, ranking->request->threads, hops, err)
				 : hd_error_no_memory(err);

	for (uint32_t sw = 0; !rc && sw < switches; sw++) {
		centres[sw].sw = sw;
		for (uint32_t far = 0; far < switches; far++) {
			uint32_t away = hops[(size_t)sw * switches + far];
			if (away == UNREACHED)
				centres[sw].unreached++;
			else if (away > centres[sw].eccentricity)
				centres[sw].eccentricity = away;
		}
	}
	if (!rc) {
		qsort(centres, switches, sizeof(*centres), compare_centres);
		for (uint32_t i = 0; i < switches; i++)
			ranking->centres[i] = centres[i].sw;
	}
	free(hops);
	free(centres);
	return rc;
}

/* Entries for one LID that descend to a switch which then climbs. */
static uint32_t count_breaks(const struct ranking *ranking, uint32_t lid)
{
	const struct hd_fabric *fabric = ranking->fabric;
	const struct hd_routes *routes = ranking->request->previous;
	uint32_t breaks = 0;

	for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
		uint32_t link = hd_fabric_find_isl(fabric, sw, hd_routes_port(routes, sw, lid));
		if (link == HD_NONE || ranking->up[link])
			continue;
		uint32_t below = fabric->isl_to[link];
		uint32_t next =
		    hd_fabric_find_isl(fabric, below, hd_routes_port(routes, below, lid));
		breaks += next != HD_NONE && ranking->up[next];
	}
	return breaks;
}

uint32_t ranking_steady_centre(struct ranking *ranking)
{
	const struct hd_fabric *fabric = ranking->fabric;
	uint32_t best = ranking->centres[0], least = UINT32_MAX;

	if (!ranking->request->previous)
		return best;
	uint32_t step = fabric->host_count / SAMPLE + 1;
	for (uint32_t i = 0; least && i < ROOTS_TRIED && i < fabric->switch_count; i++) {
		uint32_t breaks = 0;
		ranking_from_root(ranking, ranking->centres[i]);
		for (uint32_t host = 0; host < fabric->host_count; host += step)
			breaks += count_breaks(ranking, fabric->lid[fabric->host_port[host]]);
		if (breaks < least) {
			least = breaks;
			best = ranking->centres[i];
		}
	}
	return best;
}

/* ---- ranks in tables ---- */

static uint32_t known_rank(const struct hd_routes *tables, const struct hd_routes *others,
			   uint32_t sw)
{
	uint32_t rank = tables->rank ? tables->rank[sw] : HD_NONE;

	return rank == HD_NONE && others && others->rank ? others->rank[sw] : rank;
}

/* The rank of a new switch by its neighbours that have one, or HD_NONE. */
static uint32_t rank_beside(const struct ranking *ranking, uint32_t sw)
{
	const struct hd_fabric *fabric = ranking->fabric;
	uint32_t lowest = HD_NONE, highest = 0;

	for (uint32_t link = fabric->isl_base[sw]; link < fabric->isl_base[sw + 1]; link++) {
		uint32_t rank = ranking->rank[fabric->isl_to[link]];
		if (rank == HD_NONE)
			continue;
		lowest = rank < lowest ? rank : lowest;
		highest = rank > highest ? rank : highest;
	}
	if (lowest == HD_NONE)
		return HD_NONE;
	return fabric->host_base[sw] != fabric->host_base[sw + 1] ? highest + 1 : lowest - 1;
}

bool ranking_from_tables(struct ranking *ranking, const struct hd_routes *tables,
			 const struct hd_routes *others)
{
	uint32_t switches = ranking->fabric->switch_count;
	bool any = false, grown = true;

	if (!tables || !tables->rank)
		return false;
	for (uint32_t sw = 0; sw < switches; sw++) {
		ranking->rank[sw] = known_rank(tables, others, sw);
		any |= ranking->rank[sw] != HD_NONE;
	}
	while (any && grown) {
		grown = false;
		for (uint32_t sw = 0; sw < switches; sw++) {
			if (ranking->rank[sw] != HD_NONE)
				continue;
			ranking->rank[sw] = rank_beside(ranking, sw);
			grown |= ranking->rank[sw] != HD_NONE;
		}
	}
	direct_links(ranking);
	return any;
}

/* ---- a root for all ---- */

static bool has_climb(const struct ranking *ranking, uint32_t sw)
{
	const struct hd_fabric *fabric = ranking->fabric;

	for (uint32_t link = fabric->isl_base[sw]; link < fabric->isl_base[sw + 1]; link++)
		if (ranking->up[link])
			return true;
	return false;
}

/* Marks the switches that paths from `top` reach by descending only. Returns the hosts of those that were not marked. */
static uint32_t descend(struct ranking *ranking, uint32_t top, bool *reached)
{
	const struct hd_fabric *fabric = ranking->fabric;
	uint32_t *queue = ranking->queue, tail = 0, found = 0;

	reached[top] = true;
	queue[tail++] = top;
	for (uint32_t head = 0; head < tail; head++) {
		uint32_t sw = queue[head];
		found += fabric->host_base[sw + 1] - fabric->host_base[sw];
		for (uint32_t link = fabric->isl_base[sw]; link < fabric->isl_base[sw + 1];
		     link++) {
			uint32_t far = fabric->isl_to[link];
			if (ranking->up[link] || reached[far])
				continue;
			reached[far] = true;
			queue[tail++] = far;
		}
	}
	return found;
}

/* The switch that no link climbs from, of those not reached, with the most hosts below it. HD_NONE: all
 * are reached. */
static uint32_t widest_top(struct ranking *ranking, const bool *reached, bool *scratch)
{
	uint32_t switches = ranking->fabric->switch_count, best = HD_NONE, most = 0;

	for (uint32_t sw = 0; sw < switches; sw++) {
		if (reached[sw] || has_climb(ranking, sw))
			continue;
		memset(scratch, 0, switches * sizeof(*scratch));
		uint32_t found = descend(ranking, sw, scratch);
		if (best == HD_NONE || found > most) {
			best = sw;
			most = found;
		}
	}
	return best;
}

static bool is_above(const struct ranking *ranking, uint32_t a, uint32_t b)
{
	return ranking->rank[a] != ranking->rank[b] ? ranking->rank[a] < ranking->rank[b] : a < b;
}

/* The highest switch beside this one that is reached, or HD_NONE. */
static uint32_t reached_beside(const struct ranking *ranking, uint32_t sw, const bool *reached)
{
	const struct hd_fabric *fabric = ranking->fabric;
	uint32_t highest = HD_NONE;

	for (uint32_t link = fabric->isl_base[sw]; link < fabric->isl_base[sw + 1]; link++) {
		uint32_t far = fabric->isl_to[link];
		if (reached[far] && (highest == HD_NONE || is_above(ranking, far, highest)))
			highest = far;
	}
	return highest;
}

/* Puts one switch that is not reached, beside one that is, below the highest of these: the one from which most hosts that
 * are not reached are, or the highest. Returns it, or HD_NONE if there is no such switch. All others stay tops, with paths
 * of their own. */
static uint32_t lower_one(struct ranking *ranking, const bool *reached, bool *scratch)
{
	const uint32_t switches = ranking->fabric->switch_count;
	uint32_t lowered = HD_NONE, parent = HD_NONE, most = 0;

	for (uint32_t sw = 0; sw < switches; sw++) {
		const uint32_t beside =
		    reached[sw] ? HD_NONE : reached_beside(ranking, sw, reached);
		if (beside == HD_NONE)
			continue;
		memcpy(scratch, reached, switches * sizeof(*scratch));
		const uint32_t found = descend(ranking, sw, scratch);
		if (lowered != HD_NONE &&
		    (found < most || (found == most && is_above(ranking, lowered, sw))))
			continue;
		lowered = sw;
		parent = beside;
		most = found;
	}
	if (lowered != HD_NONE)
		ranking->rank[lowered] = ranking->rank[parent] + (lowered < parent);
	return lowered;
}

/* Whether hosts that are not reached are in the part of the fabric in which `top` is. */
static bool misses_hosts(struct ranking *ranking, uint32_t top, const bool *reached, bool *scratch)
{
	const struct hd_fabric *fabric = ranking->fabric;
	uint32_t *queue = ranking->queue, tail = 0;

	memset(scratch, 0, fabric->switch_count * sizeof(*scratch));
	scratch[top] = true;
	queue[tail++] = top;
	for (uint32_t head = 0; head < tail; head++) {
		const uint32_t sw = queue[head];
		if (!reached[sw] && fabric->host_base[sw + 1] > fabric->host_base[sw])
			return true;
		for (uint32_t link = fabric->isl_base[sw]; link < fabric->isl_base[sw + 1];
		     link++) {
			const uint32_t far = fabric->isl_to[link];
			if (!scratch[far])
				queue[tail++] = far;
			scratch[far] = true;
		}
	}
	return false;
}

int ranking_join(struct ranking *ranking)
{
	uint32_t switches = ranking->fabric->switch_count, top, lowered;
	bool *reached = hd_arena_alloc(&ranking->arena, switches, sizeof(*reached));
	bool *scratch = hd_arena_alloc(&ranking->arena, switches, sizeof(*scratch));

	if (hd_arena_check(&ranking->arena))
		return -ENOMEM;
	while ((top = widest_top(ranking, reached, scratch)) != HD_NONE) {
		descend(ranking, top, reached);
		while (misses_hosts(ranking, top, reached, scratch) &&
		       (lowered = lower_one(ranking, reached, scratch)) != HD_NONE) {
			direct_links(ranking);
			descend(ranking, lowered, reached);
		}
		/* misses_hosts() has marked the part that `top` is in: other tops there stay tops */
		for (uint32_t sw = 0; sw < switches; sw++)
			reached[sw] |= scratch[sw];
	}
	return 0;
}

int ranking_store(const struct ranking *ranking, const struct hd_tree *tree,
		  struct hd_routes *routes)
{
	const struct hd_fabric *fabric = ranking->fabric;
	const struct hd_routes *previous = ranking->request->previous;
	uint32_t *rank = malloc((fabric->switch_count + 1) * sizeof(*rank));

	if (!rank)
		return -ENOMEM;
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
		rank[sw] = tree ? tree->level_count - tree->level[sw] : ranking->rank[sw];
		if (rank[sw] != HD_NONE && rank[sw] < ROOM_ABOVE / 2)
			rank[sw] += ROOM_ABOVE;
		if (fabric->isl_base[sw] == fabric->isl_base[sw + 1])
			rank[sw] = previous ? known_rank(previous, NULL, sw) : HD_NONE;
	}
	free(routes->rank);
	routes->rank = rank;
	return 0;
}
