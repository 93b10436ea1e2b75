/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "parallel_links.h"

#include <errno.h>
#include <heddle/base/arena.h>
#include <heddle/fabric/graph.h>

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

static uint32_t find_class(uint32_t *class, uint32_t link)
{
	while (class[link] != link) {
		class[link] = class[class[link]];
		link = class[link];
	}
	return link;
}

static void join(uint32_t *class, uint32_t a, uint32_t b)
{
	a = find_class(class, a);
	b = find_class(class, b);
	if (a < b)
		class[b] = a;
	else
		class[a] = b;
}

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
				join(finding->class, walks[i].first, walks[j].second);
				join(finding->class, walks[j].first, walks[i].second);
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
		class[link] = find_class(class, link);
	hd_arena_release(&arena);
	return rc;
}
