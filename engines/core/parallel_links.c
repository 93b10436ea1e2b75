/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "parallel_links.h"

#include <errno.h>
#include <heddle/fabric/graph.h>
#include <stdlib.h>

/* Two hops from the switch at hand: its own link to a neighbour, and that neighbour's link to the switch `far`. */
struct two_hops {
	uint32_t far, first, second; /* links */
};

struct finding {
	const struct hd_fabric *fabric;
	uint32_t *class;
	struct two_hops *walks; /* from the switch at hand, by the far one */
	struct two_hops *found; /* the same as they were found */
	uint32_t *place; /* [switch_count + 1] where the walks to a switch end */
	uint32_t *near; /* [switch_count] switch + 1 whose neighbours have this mark */
};

/* Marks the neighbours of a switch, and the switch itself. */
static void mark_near(struct finding *finding, uint32_t sw)
{
	const struct hd_fabric *fabric = finding->fabric;

	finding->near[sw] = sw + 1;
	for (uint32_t link = fabric->isl_base[sw]; link < fabric->isl_base[sw + 1]; link++)
		finding->near[fabric->isl_to[link]] = sw + 1;
}

/* Sorts the walks from a switch to others that are no neighbours by these. Returns their number. */
static uint32_t list_walks(struct finding *finding, uint32_t sw)
{
	const struct hd_fabric *fabric = finding->fabric;
	uint32_t count = 0, *place = finding->place;

	mark_near(finding, sw);
	memset(place, 0, (fabric->switch_count + 1u) * sizeof(*place));
	for (uint32_t first = fabric->isl_base[sw]; first < fabric->isl_base[sw + 1]; first++) {
		const uint32_t middle = fabric->isl_to[first];

		for (uint32_t second = fabric->isl_base[middle];
		     second < fabric->isl_base[middle + 1]; second++) {
			const uint32_t far = fabric->isl_to[second];

			if (finding->near[far] == sw + 1)
				continue;
			finding->found[count++] = (struct two_hops){far, first, second};
			place[far + 1]++;
		}
	}
	for (uint32_t i = 0; i < fabric->switch_count; i++)
		place[i + 1] += place[i];
	for (uint32_t i = 0; i < count; i++)
		finding->walks[place[finding->found[i].far]++] = finding->found[i];
	return count;
}

/* Whether the middles of two walks to the same switch are neither the same nor neighbours. */
static bool is_square(const struct hd_fabric *fabric, const struct two_hops *a,
		      const struct two_hops *b)
{
	const uint32_t one = fabric->isl_to[a->first], other = fabric->isl_to[b->first];

	if (one == other)
		return false;
	for (uint32_t link = fabric->isl_base[one]; link < fabric->isl_base[one + 1]; link++)
		if (fabric->isl_to[link] == other)
			return false;
	return true;
}

static void join_squares(struct finding *finding, uint32_t count)
{
	const struct two_hops *walks = finding->walks;

	for (uint32_t i = 0; i < count; i++)
		for (uint32_t j = i + 1; j < count && walks[j].far == walks[i].far; j++)
			if (is_square(finding->fabric, &walks[i], &walks[j])) {
				parallel_links_join(finding->class, walks[i].first,
						    walks[j].second);
				parallel_links_join(finding->class, walks[j].first,
						    walks[i].second);
			}
}

/* The most walks of two hops that begin at a switch. */
static size_t most_walks(const struct hd_fabric *fabric)
{
	size_t most = 0;

	for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
		size_t walks = 0;

		for (uint32_t link = fabric->isl_base[sw]; link < fabric->isl_base[sw + 1];
		     link++) {
			const uint32_t to = fabric->isl_to[link];
			walks += fabric->isl_base[to + 1] - fabric->isl_base[to];
		}
		most = walks > most ? walks : most;
	}
	return most;
}

int parallel_links_find(const struct hd_fabric *fabric, uint32_t *class)
{
	struct hd_arena arena = {0};
	const size_t most = most_walks(fabric);
	struct finding finding = {
	    .fabric = fabric,
	    .class = class,
	    .walks = hd_arena_alloc(&arena, most, sizeof(*finding.walks)),
	    .found = hd_arena_alloc(&arena, most, sizeof(*finding.found)),
	    .place = hd_arena_alloc(&arena, fabric->switch_count + 1u, sizeof(*finding.place)),
	    .near = hd_arena_alloc(&arena, fabric->switch_count, sizeof(*finding.near))};
	int rc = hd_arena_check(&arena) ? -ENOMEM : 0;

	for (uint32_t link = 0; link < fabric->isl_count; link++)
		class[link] = link;
	for (uint32_t sw = 0; !rc && sw < fabric->switch_count; sw++)
		join_squares(&finding, list_walks(&finding, sw));
	for (uint32_t link = 0; link < fabric->isl_count; link++)
		class[link] = parallel_links_lowest(class, link);
	hd_arena_release(&arena);
	return rc;
}

/* ---- corners ---- */

int parallel_links_start(struct parallel_corners *corners, const struct hd_fabric *fabric,
			 struct hd_arena *arena)
{
	uint32_t radix = 1;

	for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
		const uint32_t links = fabric->isl_base[sw + 1] - fabric->isl_base[sw];
		radix = links > radix ? links : radix;
	}
	corners->fabric = fabric;
	corners->links = hd_arena_alloc(arena, radix, sizeof(*corners->links));
	corners->near = hd_arena_alloc(arena, fabric->switch_count + 1u, sizeof(*corners->near));
	corners->beside =
	    hd_arena_alloc(arena, fabric->switch_count + 1u, sizeof(*corners->beside));
	return hd_arena_check(arena);
}

uint32_t parallel_links_list(struct parallel_corners *corners, uint32_t sw)
{
	const struct hd_fabric *fabric = corners->fabric;
	uint32_t count = 0;

	for (uint32_t link = fabric->isl_base[sw]; link < fabric->isl_base[sw + 1]; link++)
		corners->near[fabric->isl_to[link]] = 0; /* it may have been listed before */
	corners->near[sw] = sw + 1;
	for (uint32_t link = fabric->isl_base[sw]; link < fabric->isl_base[sw + 1]; link++) {
		if (corners->near[fabric->isl_to[link]] == sw + 1)
			continue;
		corners->near[fabric->isl_to[link]] = sw + 1;
		corners->links[count++] = link;
	}
	return count;
}

/* Marks the neighbours of the switch behind a link. False: that behind the other link is one of them. */
static bool mark_beside(struct parallel_corners *corners, uint32_t link, uint32_t other,
			uint32_t mark)
{
	const struct hd_fabric *fabric = corners->fabric;
	const uint32_t to = fabric->isl_to[link];
	bool apart = true;

	for (uint32_t next = fabric->isl_base[to]; next < fabric->isl_base[to + 1]; next++) {
		corners->beside[fabric->isl_to[next]] = mark;
		apart &= fabric->isl_to[next] != fabric->isl_to[other];
	}
	return apart;
}

bool parallel_links_corner(struct parallel_corners *corners, uint32_t sw, uint32_t a, uint32_t b)
{
	const struct hd_fabric *fabric = corners->fabric;
	const uint32_t one = fabric->isl_to[a];
	const bool apart = mark_beside(corners, b, a, 1);
	bool found = false;

	for (uint32_t link = fabric->isl_base[one]; apart && link < fabric->isl_base[one + 1];
	     link++)
		found |= corners->beside[fabric->isl_to[link]] &&
			 corners->near[fabric->isl_to[link]] != sw + 1;
	mark_beside(corners, b, a, 0);
	return found;
}

/* ---- votes ---- */

static int compare_pairs(const void *a, const void *b)
{
	const struct parallel_vote *x = a, *y = b;

	if (x->one != y->one)
		return x->one < y->one ? -1 : 1;
	return x->other < y->other ? -1 : x->other > y->other;
}

void parallel_links_join_voted(uint32_t *class, struct parallel_vote *votes, size_t count,
			       int64_t least)
{
	qsort(votes, count, sizeof(*votes), compare_pairs);
	for (size_t i = 0, end; i < count; i = end) {
		int64_t sum = 0;

		for (end = i; end < count && !compare_pairs(&votes[i], &votes[end]); end++)
			sum += votes[end].vote;
		if (sum >= least)
			parallel_links_join(class, votes[i].one, votes[i].other);
	}
}

/* ---- dimensions ---- */

#define SEVERAL (UINT32_MAX - 1)
#define VOTES_LEAST 3 /* more switches than are beside one gap */

struct grouping {
	const struct hd_fabric *fabric;
	uint32_t *class; /* [isl_count] */
	struct parallel_corners corners;
	/* of classes that meet. 1: no sides of a common square there, -1: sides */
	struct parallel_vote *votes;
	size_t vote_count;
};

static void list_votes(struct grouping *grouping, uint32_t sw)
{
	struct parallel_corners *corners = &grouping->corners;
	const uint32_t count = parallel_links_list(corners, sw), *links = corners->links;

	for (uint32_t i = 0; i < count; i++)
		for (uint32_t j = i + 1; j < count; j++) {
			const uint32_t a = parallel_links_lowest(grouping->class, links[i]);
			const uint32_t b = parallel_links_lowest(grouping->class, links[j]);

			if (a != b)
				grouping->votes[grouping->vote_count++] = (struct parallel_vote){
				    .one = a < b ? a : b,
				    .other = a < b ? b : a,
				    .vote = parallel_links_corner(corners, sw, links[i], links[j])
						? -1
						: 1};
		}
}

/* ---- large classes ---- */

#define LARGE                                                                                      \
	4u /* a class with less than one link for so many switches is a splinter beside a gap */

/* Gives links of splinters no dimension. Whether the others are several dimensions, and most of all links. */
static bool keep_large(const struct grouping *grouping, uint32_t *size, uint32_t *dimension)
{
	const struct hd_fabric *fabric = grouping->fabric;
	uint32_t large = 0, links = 0;

	for (uint32_t link = 0; link < fabric->isl_count; link++)
		size[parallel_links_lowest(grouping->class, link)]++;
	for (uint32_t link = 0; link < fabric->isl_count; link++) {
		const uint32_t class = parallel_links_lowest(grouping->class, link);
		const bool counts = (uint64_t)size[class] * LARGE >= fabric->switch_count;

		dimension[link] = counts ? class : PARALLEL_LINKS_NONE;
		links += counts;
		large += counts && class == link;
	}
	return large > 1 && links >= fabric->isl_count - fabric->isl_count / LARGE;
}

/* ---- splinters ---- */

/* Joins the switches that links of all other dimensions connect: layers of a product. */
static void find_layers(const struct hd_fabric *fabric, const uint32_t *dimension, uint32_t without,
			uint32_t *layer)
{
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		layer[sw] = sw;
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		for (uint32_t link = fabric->isl_base[sw]; link < fabric->isl_base[sw + 1]; link++)
			if (dimension[link] != without && dimension[link] != PARALLEL_LINKS_NONE)
				parallel_links_join(layer, sw, fabric->isl_to[link]);
}

/* Gives each splinter the dimension in which its ends differ, if that is one alone. fits[isl_count]: overwritten, as is
 * layer[switch_count]. */
static void place_splinters(const struct hd_fabric *fabric, uint32_t *layer, uint32_t *fits,
			    uint32_t *dimension)
{
	for (uint32_t link = 0; link < fabric->isl_count; link++)
		fits[link] = PARALLEL_LINKS_NONE;
	for (uint32_t first = 0; first < fabric->isl_count; first++) {
		if (dimension[first] != first)
			continue;
		find_layers(fabric, dimension, first, layer);
		for (uint32_t link = 0; link < fabric->isl_count; link++)
			if (dimension[link] == PARALLEL_LINKS_NONE &&
			    parallel_links_lowest(layer, hd_isl_from(fabric, link)) !=
				parallel_links_lowest(layer, fabric->isl_to[link]))
				fits[link] = fits[link] == PARALLEL_LINKS_NONE ? first : SEVERAL;
	}
	for (uint32_t link = 0; link < fabric->isl_count; link++)
		if (fits[link] != SEVERAL && dimension[link] == PARALLEL_LINKS_NONE)
			dimension[link] = fits[link];
}

/* ---- all ---- */

static size_t most_votes(const struct hd_fabric *fabric)
{
	size_t count = 1;

	for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
		const uint32_t links = fabric->isl_base[sw + 1] - fabric->isl_base[sw];

		count += (size_t)links * links / 2;
	}
	return count;
}

static int allocate(struct grouping *grouping, struct hd_arena *arena)
{
	const struct hd_fabric *fabric = grouping->fabric;

	grouping->class = hd_arena_alloc(arena, fabric->isl_count + 1u, sizeof(*grouping->class));
	grouping->votes = hd_arena_alloc(arena, most_votes(fabric), sizeof(*grouping->votes));
	return parallel_links_start(&grouping->corners, fabric, arena);
}

int parallel_links_dimensions(const struct hd_fabric *fabric, uint32_t *dimension, bool *found)
{
	struct hd_arena arena = {0};
	struct grouping grouping = {.fabric = fabric};
	int rc = allocate(&grouping, &arena);
	uint32_t *size = rc ? NULL : hd_arena_alloc(&arena, fabric->isl_count + 1u, sizeof(*size));

	if (!size || parallel_links_find(fabric, grouping.class)) {
		hd_arena_release(&arena);
		return -ENOMEM;
	}
	for (uint32_t link = 0; link < fabric->isl_count; link++)
		parallel_links_join(grouping.class, link, fabric->isl_reverse[link]);
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		list_votes(&grouping, sw);
	parallel_links_join_voted(grouping.class, grouping.votes, grouping.vote_count, VOTES_LEAST);
	*found = keep_large(&grouping, size, dimension);
	if (*found)
		place_splinters(fabric, grouping.corners.near, size, dimension);
	for (uint32_t link = 0; !*found && link < fabric->isl_count; link++)
		dimension[link] = 0;
	hd_arena_release(&arena);
	return 0;
}
