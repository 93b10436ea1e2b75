/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "turn_order.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int turn_order_number(struct turns *turns, const struct hd_fabric *fabric, struct hd_arena *arena)
{
	uint64_t count = 0;

	*turns = (struct turns){.fabric = fabric};
	turns->first = hd_arena_alloc(arena, fabric->isl_count + 1u, sizeof(*turns->first));
	if (!turns->first)
		return -ENOMEM;
	for (uint32_t link = 0; link < fabric->isl_count; link++) {
		const uint32_t to = fabric->isl_to[link];

		turns->first[link] = (uint32_t)count;
		count += fabric->isl_base[to + 1] - fabric->isl_base[to];
		if (count > UINT32_MAX)
			return -ENOMEM;
	}
	turns->first[fabric->isl_count] = turns->count = (uint32_t)count;
	return 0;
}

#define PLACES 64u /* in a word of bits */

int turn_order_begin(struct turn_order *order, const struct turns *turns, struct hd_arena *arena)
{
	const uint32_t links = turns->fabric->isl_count;

	*order = (struct turn_order){.turns = turns};
	order->place = hd_arena_alloc(arena, links, sizeof(*order->place));
	order->taken = hd_arena_alloc(arena, turns->count, sizeof(*order->taken));
	order->stack = hd_arena_alloc(arena, links, sizeof(*order->stack));
	order->later = hd_arena_alloc(arena, links, sizeof(*order->later));
	order->earlier = hd_arena_alloc(arena, links, sizeof(*order->earlier));
	order->places = hd_arena_alloc(arena, links, 2 * sizeof(*order->places));
	order->mark = hd_arena_alloc(arena, links, sizeof(*order->mark));
	order->link_at = hd_arena_alloc(arena, links, sizeof(*order->link_at));
	order->early = hd_arena_alloc(arena, links / PLACES + 1, sizeof(*order->early));
	order->late = hd_arena_alloc(arena, links / PLACES + 1, sizeof(*order->late));
	if (hd_arena_check(arena))
		return -ENOMEM;
	for (uint32_t link = 0; link < links; link++)
		turn_order_put(order, link, link);
	return 0;
}

/* ---- adding ---- */

static void begin_search(struct turn_order *order, uint32_t link)
{
	order->search++;
	order->mark[link] = order->search;
	order->stack[0] = link;
}

/* Lists what follows `out` up to the place of `in`; UINT32_MAX: `in` does, too. */
static uint32_t list_later(struct turn_order *order, uint32_t out, uint32_t in)
{
	const struct turns *turns = order->turns;
	const struct hd_fabric *fabric = turns->fabric;
	const uint32_t last = order->place[in], search = order->search + 1;
	uint32_t waiting = 1, count = 0;

	begin_search(order, out);
	while (waiting) {
		const uint32_t link = order->stack[--waiting], sw = fabric->isl_to[link];
		const uint8_t *taken = order->taken + turns->first[link];

		if (link == in)
			return UINT32_MAX;
		order->later[count++] = link;
		for (uint32_t next = fabric->isl_base[sw], end = fabric->isl_base[sw + 1];
		     next < end; next++) {
			if (!*taken++ || order->mark[next] == search || order->place[next] > last)
				continue;
			order->mark[next] = search;
			order->stack[waiting++] = next;
		}
	}
	return count;
}

/* Lists what `in` follows down to the place of `out`. */
static uint32_t list_earlier(struct turn_order *order, uint32_t in, uint32_t out)
{
	const struct turns *turns = order->turns;
	const struct hd_fabric *fabric = turns->fabric;
	const uint32_t first = order->place[out], search = order->search + 1;
	uint32_t waiting = 1, count = 0;

	begin_search(order, in);
	while (waiting) {
		const uint32_t link = order->stack[--waiting], sw = hd_isl_from(fabric, link);
		const uint32_t base = fabric->isl_base[sw], end = fabric->isl_base[sw + 1];

		order->earlier[count++] = link;
		for (uint32_t own = base; own < end; own++) {
			const uint32_t before = fabric->isl_reverse[own];

			if (order->mark[before] == search || order->place[before] < first ||
			    !order->taken[turns->first[before] + link - base])
				continue;
			order->mark[before] = search;
			order->stack[waiting++] = before;
		}
	}
	return count;
}

/* Sets the bits of the places of links. */
static void note_places(const struct turn_order *order, const uint32_t *links, uint32_t count,
			uint64_t *bits)
{
	for (uint32_t i = 0; i < count; i++) {
		const uint32_t place = order->place[links[i]];

		bits[place / PLACES] |= UINT64_C(1) << place % PLACES;
	}
}

/* Lists the places that are set in a word of bits. Returns where the list goes on. */
static uint32_t *list_places(uint64_t bits, uint32_t word, uint32_t *list)
{
	for (; bits; bits &= bits - 1)
		*list++ = word * PLACES + (uint32_t)__builtin_ctzll(bits);
	return list;
}

/* The same with the links that are there. */
static uint32_t *list_links(const struct turn_order *order, uint64_t bits, uint32_t word,
			    uint32_t *list)
{
	for (; bits; bits &= bits - 1)
		*list++ = order->link_at[word * PLACES + (uint32_t)__builtin_ctzll(bits)];
	return list;
}

/* All that leads to `in` comes before all that follows `out`, in the places that both have now: those from `low` to
 * `high`. Each of both lists keeps its own order. */
static void reorder(struct turn_order *order, uint32_t earlier, uint32_t later, uint32_t low,
		    uint32_t high)
{
	uint32_t *place = order->places, *link = order->stack, *behind = order->later;

	note_places(order, order->earlier, earlier, order->early);
	note_places(order, order->later, later, order->late);
	for (uint32_t word = low / PLACES; word <= high / PLACES; word++) {
		place = list_places(order->early[word] | order->late[word], word, place);
		link = list_links(order, order->early[word], word, link);
		behind = list_links(order, order->late[word], word, behind);
		order->early[word] = order->late[word] = 0;
	}
	memcpy(order->stack + earlier, order->later, later * sizeof(*order->later));
	for (uint32_t i = 0; i < earlier + later; i++)
		turn_order_put(order, order->stack[i], order->places[i]);
}

bool turn_order_add(struct turn_order *order, uint32_t in, uint32_t out, bool for_good)
{
	uint8_t *taken = &order->taken[turns_find(order->turns, in, out)];

	if (turns_back(order->turns, in, out))
		return false;
	if (!*taken && order->place[in] > order->place[out]) {
		const uint32_t low = order->place[out], high = order->place[in];
		const uint32_t later = list_later(order, out, in);

		if (later == UINT32_MAX)
			return false;
		reorder(order, list_earlier(order, in, out), later, low, high);
	}
	if (!*taken || for_good)
		*taken = for_good ? 2 : 1;
	return true;
}

/* ---- sifting ---- */

#define FOR_GOOD ((int64_t)1 << 50)
#define SIFT_MOST 508u /* turns to and from a link */

/* Moving a link behind another one gains so much. */
struct gain {
	uint64_t place;
	int64_t weight;
};

struct sifting {
	struct turn_order *order;
	const uint64_t *weight;
	uint64_t *place; /* [isl_count] with room for others between them */
	uint32_t *links; /* [isl_count] by place */
	struct gain gains[SIFT_MOST];
	unsigned count;
};

static int compare_gains(const void *a, const void *b)
{
	const struct gain *one = a, *other = b;

	return one->place < other->place ? -1 : one->place > other->place;
}

/* Turns count a little where they have no weight, too. */
static int64_t weight_of(const struct sifting *sifting, uint32_t turn)
{
	return sifting->order->taken[turn] == 2 ? FOR_GOOD
						: (int64_t)(sifting->weight[turn] << 8 | 1);
}

/* What the link gains by its place: it gains a turn to another link by being before that, and one from another link by
 * being behind that. */
static void list_gains(struct sifting *sifting, uint32_t link)
{
	const struct turns *turns = sifting->order->turns;
	const struct hd_fabric *fabric = turns->fabric;
	const uint32_t sw = hd_isl_from(fabric, link);

	sifting->count = 0;
	for (uint32_t turn = turns->first[link]; turn < turns->first[link + 1]; turn++) {
		const uint32_t out = turns_out(turns, link, turn);

		if (!turns_back(turns, link, out))
			sifting->gains[sifting->count++] =
			    (struct gain){sifting->place[out], -weight_of(sifting, turn)};
	}
	for (uint32_t own = fabric->isl_base[sw]; own < fabric->isl_base[sw + 1]; own++) {
		const uint32_t in = fabric->isl_reverse[own];

		if (!turns_back(turns, in, link))
			sifting->gains[sifting->count++] = (struct gain){
			    sifting->place[in], weight_of(sifting, turns_find(turns, in, link))};
	}
	qsort(sifting->gains, sifting->count, sizeof(sifting->gains[0]), compare_gains);
}

#define SIFT_ROOM ((uint64_t)1 << 40) /* between two links at first */

/* Moves the link to the first of the places where it gains most, if it gains less where it is. */
static bool move(struct sifting *sifting, uint32_t link)
{
	const struct gain *gains = sifting->gains;
	const uint64_t now = sifting->place[link];
	int64_t gain = 0, most = 0, here = 0;
	unsigned best = 0;

	list_gains(sifting, link);
	for (unsigned i = 0; i <= sifting->count; i++) {
		const bool between =
		    !i || i == sifting->count || gains[i].place - gains[i - 1].place >= 2;

		if (between && gain > most) {
			most = gain;
			best = i;
		}
		if ((!i || gains[i - 1].place < now) &&
		    (i == sifting->count || now < gains[i].place))
			here = gain;
		if (i < sifting->count)
			gain += gains[i].weight;
	}
	if (!sifting->count || most <= here)
		return false;
	const uint64_t low = best ? gains[best - 1].place : gains[0].place - SIFT_ROOM;
	const uint64_t high =
	    best < sifting->count ? gains[best].place : gains[best - 1].place + SIFT_ROOM;
	sifting->place[link] = low + (high - low) / 2;
	return true;
}

static int compare_links(const void *a, const void *b, void *context)
{
	const struct sifting *sifting = context;
	const uint32_t one = *(const uint32_t *)a, other = *(const uint32_t *)b;
	const uint64_t *place = sifting->place;

	if (place[one] != place[other])
		return place[one] < place[other] ? -1 : 1;
	return one < other ? -1 : one > other;
}

/* Makes room again between all links. */
static void spread(struct sifting *sifting)
{
	struct turn_order *order = sifting->order;
	const uint32_t links = order->turns->fabric->isl_count;

	for (uint32_t link = 0; link < links; link++)
		sifting->links[link] = link;
	qsort_r(sifting->links, links, sizeof(*sifting->links), compare_links, sifting);
	for (uint32_t i = 0; i < links; i++) {
		turn_order_put(order, sifting->links[i], i);
		sifting->place[sifting->links[i]] = (i + (uint64_t)links) * SIFT_ROOM;
	}
}

int turn_order_sift(struct turn_order *order, const uint64_t *weight, unsigned rounds,
		    struct hd_arena *arena)
{
	const struct turns *turns = order->turns;
	const uint32_t links = turns->fabric->isl_count;
	struct sifting *sifting = hd_arena_alloc(arena, 1, sizeof(*sifting));
	bool moved = true;

	if (!sifting)
		return -ENOMEM;
	*sifting = (struct sifting){.order = order, .weight = weight};
	sifting->place = hd_arena_alloc(arena, links, sizeof(*sifting->place));
	sifting->links = hd_arena_alloc(arena, links, sizeof(*sifting->links));
	if (hd_arena_check(arena))
		return -ENOMEM;
	for (uint32_t link = 0; link < links; link++)
		sifting->place[link] = order->place[link];
	spread(sifting);
	for (unsigned round = 0; moved && round < rounds; round++) {
		moved = false;
		for (uint32_t link = 0; link < links; link++)
			moved |= move(sifting, link);
		spread(sifting);
	}
	for (uint32_t in = 0; in < links; in++)
		for (uint32_t turn = turns->first[in]; turn < turns->first[in + 1]; turn++) {
			const uint32_t out = turns_out(turns, in, turn);

			if (order->taken[turn] != 2)
				order->taken[turn] = !turns_back(turns, in, out) &&
						     order->place[in] < order->place[out];
		}
	return 0;
}
