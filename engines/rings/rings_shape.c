/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "rings_shape.h"
#include "parallel_links.h"

#include <errno.h>
#include <stdlib.h>

#define NO_DIM 0xFF

struct finding {
	const struct hd_fabric *fabric;
	struct rings_shape *shape;
	struct hd_arena *arena; /* of the result */
	struct hd_arena scratch;
	uint32_t *class; /* [isl_count] links of one direction */
	struct parallel_corners corners;
	struct parallel_vote *votes;
	size_t vote_count;
	bool *placed; /* [switch_count] */
	uint32_t *queue; /* [switch_count] */
};

static int not_rings(const char *why, struct hd_error *err)
{
	return hd_error_set(err, -ENOTSUP, "the fabric is no torus and no mesh: %s", why);
}

/* ---- directions ---- */

/* Links of two classes meet: `in` leads to a switch, `out` away from it. vote 1: they are no sides of a square there, -1:
 * they are, 0: that is not known. */
static void add_vote(struct finding *finding, uint32_t in, uint32_t out, int32_t vote)
{
	finding->votes[finding->vote_count++] =
	    (struct parallel_vote){parallel_links_lowest(finding->class, in),
				   parallel_links_lowest(finding->class, out), vote};
}

/* Lists the pairs of links at a switch from which nothing is missing. Links with several others with which they are no
 * sides of a square say nothing: something is missing behind them. */
static void list_votes(struct finding *finding, uint32_t sw, uint32_t count)
{
	const uint32_t *reverse = finding->fabric->isl_reverse, *links = finding->corners.links;
	bool corner[2 * RINGS_DIMS][2 * RINGS_DIMS];
	uint32_t partners[2 * RINGS_DIMS] = {0};

	for (uint32_t i = 0; i < count; i++)
		for (uint32_t j = i + 1; j < count; j++) {
			corner[i][j] =
			    parallel_links_corner(&finding->corners, sw, links[i], links[j]);
			partners[i] += !corner[i][j];
			partners[j] += !corner[i][j];
		}
	for (uint32_t i = 0; i < count; i++)
		for (uint32_t j = i + 1; j < count; j++) {
			const bool alone = partners[i] == 1 && partners[j] == 1;
			const int32_t vote = corner[i][j] ? -1 : alone;
			add_vote(finding, reverse[links[i]], links[j], vote);
			add_vote(finding, reverse[links[j]], links[i], vote);
		}
}

static uint32_t most_neighbours(struct finding *finding)
{
	uint32_t most = 0;

	for (uint32_t sw = 0; sw < finding->fabric->switch_count; sw++) {
		const uint32_t count = parallel_links_list(&finding->corners, sw);
		most = count > most ? count : most;
	}
	return most;
}

/* Links between the same two switches have one direction. In a grid of two switches no square says so. */
static void join_cables(struct finding *finding)
{
	const struct hd_fabric *fabric = finding->fabric;

	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		for (uint32_t a = fabric->isl_base[sw]; a < fabric->isl_base[sw + 1]; a++)
			for (uint32_t b = fabric->isl_base[sw]; b < a; b++)
				if (fabric->isl_to[a] == fabric->isl_to[b])
					parallel_links_join(finding->class, a, b);
}

static int find_directions(struct finding *finding, struct hd_error *err)
{
	const struct hd_fabric *fabric = finding->fabric;

	if (!fabric->isl_count)
		return not_rings("it has no cables between switches", err);
	if (parallel_links_find(fabric, finding->class))
		return hd_error_no_memory(err);
	join_cables(finding);
	const uint32_t most = most_neighbours(finding);
	if (most > 2 * RINGS_DIMS)
		return not_rings("its switches have too many neighbours", err);
	finding->votes =
	    hd_arena_alloc(&finding->scratch, (size_t)fabric->switch_count * most * most + 1,
			   sizeof(*finding->votes));
	if (!finding->votes)
		return hd_error_no_memory(err);
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
		const uint32_t count = parallel_links_list(&finding->corners, sw);
		if (count == most)
			list_votes(finding, sw, count);
	}
	/* most switches decide: beside a hole other links are no sides of a square either */
	parallel_links_join_voted(finding->class, finding->votes, finding->vote_count, 1);
	for (uint32_t link = 0; link < fabric->isl_count; link++)
		finding->class[link] = parallel_links_lowest(finding->class, link);
	return 0;
}

/* ---- dimensions ---- */

/* A class with fewer than a quarter of as many links as there are switches is a splinter beside a hole. */
#define SPLINTER 4u

/* Gives a direction to all links of a class, and the opposite one to those back. */
static void set_direction(struct finding *finding, uint32_t link, uint8_t dim, bool ahead)
{
	const uint32_t class = finding->class[link];
	const uint32_t back = finding->class[finding->fabric->isl_reverse[link]];

	for (uint32_t i = 0; i < finding->fabric->isl_count; i++)
		if (finding->class[i] == class || finding->class[i] == back) {
			finding->shape->dim[i] = dim;
			finding->shape->ahead[i] = (finding->class[i] == class) == ahead;
		}
}

/* A direction by its links: how many, and the sum of the numbers of their ports. */
struct direction {
	uint32_t class;
	uint64_t links, ports;
};

/* By the mean number of a port: that hardly changes if cables are missing. */
static int compare_directions(const void *a, const void *b)
{
	const struct direction *x = a, *y = b;
	const uint64_t left = x->ports * y->links, right = y->ports * x->links;

	if (left != right)
		return left < right ? -1 : 1;
	return x->class < y->class ? -1 : x->class > y->class;
}

static int add_dimensions(struct finding *finding, struct direction *directions, uint32_t count,
			  struct hd_error *err)
{
	const struct hd_fabric *fabric = finding->fabric;
	struct rings_shape *shape = finding->shape;

	qsort(directions, count, sizeof(*directions), compare_directions);
	for (uint32_t i = 0; i < count; i++) {
		const uint32_t class = directions[i].class;
		if (shape->dim[class] != NO_DIM)
			continue;
		if (finding->class[fabric->isl_reverse[class]] == class)
			return not_rings("links of one direction lead back", err);
		if (shape->dims == RINGS_DIMS)
			return not_rings("it has too many directions", err);
		set_direction(finding, class, (uint8_t)shape->dims++, true);
	}
	return shape->dims ? 0 : not_rings("its links have no common directions", err);
}

static int find_dimensions(struct finding *finding, struct hd_error *err)
{
	const struct hd_fabric *fabric = finding->fabric;
	struct direction *directions =
	    hd_arena_alloc(&finding->scratch, fabric->isl_count + 1u, sizeof(*directions));
	uint32_t count = 0;

	if (!directions)
		return hd_error_no_memory(err);
	memset(finding->shape->dim, NO_DIM, fabric->isl_count);
	for (uint32_t link = 0; link < fabric->isl_count; link++) {
		struct direction *direction = &directions[finding->class[link]];
		direction->class = finding->class[link];
		direction->links++;
		direction->ports += fabric->isl_port[link];
	}
	for (uint32_t link = 0; link < fabric->isl_count; link++)
		if (directions[link].links >= (fabric->switch_count + SPLINTER - 1) / SPLINTER)
			directions[count++] = directions[link];
	return add_dimensions(finding, directions, count, err);
}

/* ---- places ---- */

static int32_t *place_of(const struct finding *finding, uint32_t sw)
{
	return finding->shape->at + (size_t)sw * finding->shape->dims;
}

static uint32_t common_divisor(uint32_t a, uint32_t b)
{
	while (b) {
		const uint32_t rest = a % b;
		a = b;
		b = rest;
	}
	return a;
}

/* Another path to a switch: the difference of the steps goes round rings. */
static void compare_place(struct finding *finding, uint32_t sw, uint32_t link)
{
	struct rings_shape *shape = finding->shape;
	const int32_t *from = place_of(finding, sw);
	const int32_t *to = place_of(finding, finding->fabric->isl_to[link]);

	for (uint32_t dim = 0; dim < shape->dims; dim++) {
		int32_t step = shape->dim[link] == dim ? (shape->ahead[link] ? 1 : -1) : 0;
		shape->size[dim] =
		    common_divisor(shape->size[dim], (uint32_t)abs(from[dim] + step - to[dim]));
	}
}

static void place_next(struct finding *finding, uint32_t sw, uint32_t link)
{
	const struct rings_shape *shape = finding->shape;
	int32_t *to = place_of(finding, finding->fabric->isl_to[link]);

	memcpy(to, place_of(finding, sw), shape->dims * sizeof(*to));
	to[shape->dim[link]] += shape->ahead[link] ? 1 : -1;
	finding->placed[finding->fabric->isl_to[link]] = true;
}

/* Counts steps from all switches that have a place. */
static void count_steps(struct finding *finding)
{
	const struct hd_fabric *fabric = finding->fabric;
	uint32_t begin = 0, end = 0;

	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		if (finding->placed[sw])
			finding->queue[end++] = sw;
	while (begin < end) {
		const uint32_t sw = finding->queue[begin++];
		for (uint32_t link = fabric->isl_base[sw]; link < fabric->isl_base[sw + 1];
		     link++) {
			if (finding->shape->dim[link] == NO_DIM)
				continue;
			if (finding->placed[fabric->isl_to[link]]) {
				compare_place(finding, sw, link);
				continue;
			}
			place_next(finding, sw, link);
			finding->queue[end++] = fabric->isl_to[link];
		}
	}
}

/* A link without a direction between two places that differ in one dimension only: by one step, or by all steps of a ring
 * but one. Returns whether its class has a direction now. */
static bool learn_direction(struct finding *finding, uint32_t link)
{
	const struct hd_fabric *fabric = finding->fabric;
	struct rings_shape *shape = finding->shape;
	const int32_t *from = place_of(finding, hd_isl_from(fabric, link));
	const int32_t *to = place_of(finding, fabric->isl_to[link]);
	uint8_t dim = NO_DIM;

	for (uint32_t i = 0; i < shape->dims; i++) {
		if (from[i] != to[i] && dim != NO_DIM)
			return false;
		dim = from[i] != to[i] ? (uint8_t)i : dim;
	}
	if (dim == NO_DIM)
		return false;
	const int32_t step = to[dim] - from[dim];
	const uint32_t way = (uint32_t)abs(step), size = shape->size[dim];
	if (way != 1 && (way < 2 || (size && size != way + 1)))
		return false;
	set_direction(finding, link, dim, way == 1 ? step > 0 : step < 0);
	return true;
}

/* Gives directions to classes of links that do not have one, by the places at their ends. */
static void learn_directions(struct finding *finding)
{
	const struct hd_fabric *fabric = finding->fabric;
	bool again = true;

	while (again) {
		again = false;
		count_steps(finding);
		for (uint32_t link = 0; link < fabric->isl_count && !again; link++)
			again = finding->shape->dim[link] == NO_DIM &&
				finding->placed[fabric->isl_to[link]] &&
				finding->placed[hd_isl_from(fabric, link)] &&
				learn_direction(finding, link);
	}
}

/* The switch with the most links that have a direction. */
static uint32_t find_first(const struct finding *finding)
{
	const struct hd_fabric *fabric = finding->fabric;
	uint32_t best = 0, most = 0;

	for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
		uint32_t count = 0;
		for (uint32_t link = fabric->isl_base[sw]; link < fabric->isl_base[sw + 1]; link++)
			count += finding->shape->dim[link] != NO_DIM;
		best = count > most ? sw : best;
		most = count > most ? count : most;
	}
	return best;
}

/* Rings begin at the first switch that has a place. */
static int32_t origin_of(const struct finding *finding, uint32_t dim)
{
	uint32_t first = 0;

	while (!finding->placed[first])
		first++;
	return place_of(finding, first)[dim];
}

static int32_t rest(int32_t value, uint32_t size)
{
	const int32_t left = value % (int32_t)size;

	return left < 0 ? left + (int32_t)size : left;
}

/* Rings have the length that was found; rows go from their first place to the last. */
static int find_sizes(struct finding *finding, struct hd_error *err)
{
	const uint32_t switches = finding->fabric->switch_count;
	struct rings_shape *shape = finding->shape;
	uint64_t places = 1;

	for (uint32_t dim = 0; dim < shape->dims; dim++) {
		int32_t least = INT32_MAX, most = INT32_MIN;
		for (uint32_t sw = 0; sw < switches; sw++) {
			if (!finding->placed[sw])
				continue;
			const int32_t at = place_of(finding, sw)[dim];
			least = at < least ? at : least;
			most = at > most ? at : most;
		}
		shape->round[dim] = shape->size[dim] != 0;
		if (!shape->round[dim])
			shape->size[dim] = (uint32_t)(most - least) + 1;
		if (shape->round[dim])
			least = origin_of(finding, dim);
		for (uint32_t sw = 0; sw < switches; sw++)
			if (finding->placed[sw])
				place_of(finding, sw)[dim] =
				    rest(place_of(finding, sw)[dim] - least, shape->size[dim]);
		places *= shape->size[dim];
		if (shape->size[dim] < 2 || places > 2 * (uint64_t)switches)
			return not_rings("its switches have no places in a grid", err);
	}
	shape->places = (uint32_t)places;
	return 0;
}

static uint32_t grid_index(const struct rings_shape *shape, const int32_t *at)
{
	uint32_t index = 0;

	for (uint32_t dim = 0; dim < shape->dims; dim++)
		index = index * shape->size[dim] + (uint32_t)at[dim];
	return index;
}

/* The place `steps` further in a dimension; false: the row ends before. */
static bool move(const struct rings_shape *shape, int32_t *at, uint32_t dim, int32_t steps)
{
	const int32_t size = (int32_t)shape->size[dim];

	at[dim] += steps;
	if (shape->round[dim])
		at[dim] = (at[dim] + size) % size;
	return at[dim] >= 0 && at[dim] < size;
}

static int fill_grid(struct finding *finding, struct hd_error *err)
{
	struct rings_shape *shape = finding->shape;

	shape->switch_at = hd_arena_alloc(finding->arena, shape->places, sizeof(uint32_t));
	if (!shape->switch_at)
		return hd_error_no_memory(err);
	memset(shape->switch_at, 0xFF, shape->places * sizeof(uint32_t));
	for (uint32_t sw = 0; sw < finding->fabric->switch_count; sw++) {
		if (!finding->placed[sw])
			continue;
		uint32_t *place = &shape->switch_at[grid_index(shape, place_of(finding, sw))];
		if (*place != HD_NONE)
			return not_rings("two switches would have the same place", err);
		*place = sw;
	}
	return 0;
}

/* ---- switches beside holes ---- */

/* The dimension in which two places are neighbours; NO_DIM: they are not. *ahead: the second comes next. */
static uint8_t between(const struct rings_shape *shape, const int32_t *from, const int32_t *to,
		       bool *ahead)
{
	uint8_t found = NO_DIM;

	for (uint32_t dim = 0; dim < shape->dims; dim++) {
		const int32_t size = (int32_t)shape->size[dim], step = to[dim] - from[dim];
		if (!step)
			continue;
		*ahead = step == 1 || (shape->round[dim] && step == 1 - size);
		if (found != NO_DIM ||
		    (!*ahead && step != -1 && !(shape->round[dim] && step == size - 1)))
			return NO_DIM;
		found = (uint8_t)dim;
	}
	return found;
}

/* Whether all neighbours that have a place are next to this one. */
static bool suits(const struct finding *finding, uint32_t sw, const int32_t *at)
{
	const struct hd_fabric *fabric = finding->fabric;
	bool ahead;

	if (finding->shape->switch_at[grid_index(finding->shape, at)] != HD_NONE)
		return false;
	for (uint32_t link = fabric->isl_base[sw]; link < fabric->isl_base[sw + 1]; link++) {
		const uint32_t to = fabric->isl_to[link];
		if (finding->placed[to] &&
		    between(finding->shape, at, place_of(finding, to), &ahead) == NO_DIM)
			return false;
	}
	return true;
}

/* Places around a neighbour that suit a switch; their number. The switch gets the last of them. */
static uint32_t find_places(struct finding *finding, uint32_t sw, uint32_t neighbour)
{
	const struct rings_shape *shape = finding->shape;
	int32_t at[RINGS_DIMS];
	uint32_t count = 0;

	for (uint32_t dim = 0; dim < shape->dims; dim++)
		for (int32_t step = -1; step <= 1; step += 2) {
			memcpy(at, place_of(finding, neighbour), shape->dims * sizeof(*at));
			if (!move(shape, at, dim, step) || !suits(finding, sw, at))
				continue;
			memcpy(place_of(finding, sw), at, shape->dims * sizeof(*at));
			count++;
		}
	return count;
}

/* Places a switch beside one that has a place, if there is one place that suits, or with `any` if there are several. */
static bool place_beside(struct finding *finding, uint32_t sw, bool any)
{
	const struct hd_fabric *fabric = finding->fabric;
	struct rings_shape *shape = finding->shape;
	uint32_t link = fabric->isl_base[sw];

	while (link < fabric->isl_base[sw + 1] && !finding->placed[fabric->isl_to[link]])
		link++;
	if (link == fabric->isl_base[sw + 1])
		return false;
	const uint32_t count = find_places(finding, sw, fabric->isl_to[link]);
	if (!count || (count > 1 && !any))
		return false;
	shape->switch_at[grid_index(shape, place_of(finding, sw))] = sw;
	return finding->placed[sw] = true;
}

/* Switches all of whose links are splinters. What can be at one place only comes first. */
static int place_others(struct finding *finding, struct hd_error *err)
{
	const uint32_t switches = finding->fabric->switch_count;
	bool any = false;

	for (;;) {
		bool again = false, all = true;

		for (uint32_t sw = 0; sw < switches && !(any && again); sw++) {
			if (!finding->placed[sw])
				again |= place_beside(finding, sw, any);
			all &= finding->placed[sw];
		}
		if (all && !(any && again))
			return 0;
		if (any && !again)
			return not_rings("some switches have no place", err);
		any = !again;
	}
}

/* ---- all links ---- */

static int name_links(struct finding *finding, struct hd_error *err)
{
	const struct hd_fabric *fabric = finding->fabric;
	struct rings_shape *shape = finding->shape;

	for (uint32_t link = 0; link < fabric->isl_count; link++) {
		const uint32_t from = hd_isl_from(fabric, link), to = fabric->isl_to[link];
		shape->dim[link] = between(shape, place_of(finding, from), place_of(finding, to),
					   &shape->ahead[link]);
		if (shape->dim[link] == NO_DIM)
			return hd_error_set(err, -ENOTSUP,
					    "the fabric is no torus and no mesh: the cable from "
					    "'%s' to '%s' leads to no neighbour",
					    fabric->node_name[from], fabric->node_name[to]);
	}
	return 0;
}

static bool are_cabled(const struct hd_fabric *fabric, uint32_t from, uint32_t to)
{
	for (uint32_t link = fabric->isl_base[from]; link < fabric->isl_base[from + 1]; link++)
		if (fabric->isl_to[link] == to)
			return true;
	return false;
}

static void count_missing(struct finding *finding)
{
	struct rings_shape *shape = finding->shape;
	int32_t at[RINGS_DIMS];

	shape->switches_missing = shape->places - finding->fabric->switch_count;
	for (uint32_t sw = 0; sw < finding->fabric->switch_count; sw++)
		for (uint32_t dim = 0; dim < shape->dims; dim++) {
			memcpy(at, place_of(finding, sw), shape->dims * sizeof(*at));
			if (!move(shape, at, dim, 1))
				continue;
			const uint32_t next = shape->switch_at[grid_index(shape, at)];
			shape->cables_missing +=
			    next != HD_NONE && !are_cabled(finding->fabric, sw, next);
		}
}

static int allocate(struct finding *finding)
{
	const struct hd_fabric *fabric = finding->fabric;
	const uint32_t switches = fabric->switch_count;
	struct hd_arena *scratch = &finding->scratch;

	finding->shape->dim = hd_arena_alloc(finding->arena, fabric->isl_count + 1u, 1);
	finding->shape->ahead =
	    hd_arena_alloc(finding->arena, fabric->isl_count + 1u, sizeof(bool));
	finding->class = hd_arena_alloc(scratch, fabric->isl_count + 1u, sizeof(uint32_t));
	finding->placed = hd_arena_alloc(scratch, switches + 1u, sizeof(bool));
	finding->queue = hd_arena_alloc(scratch, switches + 1u, sizeof(uint32_t));
	return parallel_links_start(&finding->corners, fabric, scratch) ||
		       hd_arena_check(finding->arena)
		   ? -ENOMEM
		   : 0;
}

static int find(struct finding *finding, struct hd_error *err)
{
	struct rings_shape *shape = finding->shape;

	int rc = find_directions(finding, err);
	if (!rc)
		rc = find_dimensions(finding, err);
	if (rc)
		return rc;
	shape->at =
	    hd_arena_alloc(finding->arena, (size_t)finding->fabric->switch_count * shape->dims,
			   sizeof(*shape->at));
	if (!shape->at)
		return hd_error_no_memory(err);
	finding->placed[find_first(finding)] = true;
	learn_directions(finding);
	rc = find_sizes(finding, err);
	if (!rc)
		rc = fill_grid(finding, err);
	if (!rc)
		rc = place_others(finding, err);
	if (!rc)
		rc = name_links(finding, err);
	if (!rc)
		count_missing(finding);
	return rc;
}

int rings_shape_find(const struct hd_fabric *fabric, struct hd_arena *arena,
		     struct rings_shape *shape, struct hd_error *err)
{
	struct finding finding = {.fabric = fabric, .shape = shape, .arena = arena};

	*shape = (struct rings_shape){.fabric = fabric};
	int rc = allocate(&finding) ? hd_error_no_memory(err) : find(&finding, err);
	hd_arena_release(&finding.scratch);
	return rc;
}
