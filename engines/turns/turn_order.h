/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Turns from link to link, and sets of them without a cycle. A set keeps an order of all links in which each of its
 * turns goes forward. Paths whose turns are all in the set have no credit loop with one another. Source: D. J. Pearce,
 * P. H. J. Kelly, A dynamic topological sort algorithm for directed acyclic graphs (2006).
 */
#ifndef ENGINES_TURN_ORDER_H
#define ENGINES_TURN_ORDER_H

#include <heddle/base/arena.h>
#include <heddle/fabric/graph.h>
#include <stdbool.h>

/* A turn is from an inter-switch link `in` to one of the links of the switch that it leads to. Turns are numbered:
 * those of link 0 first. */
struct turns {
	const struct hd_fabric *fabric;
	uint32_t *first; /* [isl_count + 1] first turn of a link */
	uint32_t count;
};

/* Errors: -ENOMEM. */
int turn_order_number(struct turns *turns, const struct hd_fabric *fabric, struct hd_arena *arena);

static inline uint32_t turns_find(const struct turns *turns, uint32_t in, uint32_t out)
{
	return turns->first[in] + out - turns->fabric->isl_base[turns->fabric->isl_to[in]];
}

static inline uint32_t turns_out(const struct turns *turns, uint32_t in, uint32_t turn)
{
	return turn - turns->first[in] + turns->fabric->isl_base[turns->fabric->isl_to[in]];
}

/* Packets never go back to the switch from which they come. */
static inline bool turns_back(const struct turns *turns, uint32_t in, uint32_t out)
{
	return turns->fabric->isl_to[out] == hd_isl_from(turns->fabric, in);
}

struct turn_order {
	const struct turns *turns;
	uint32_t *place; /* [isl_count] of a link in the order */
	uint8_t *taken; /* [turns->count] 1: in the set, 2: and not to be given up again */
	/* ---- for turn_order.c alone ---- */
	uint32_t *link_at; /* [isl_count] by place */
	uint32_t *stack, *later, *earlier, *places; /* [isl_count], places: twice that */
	uint64_t *early,
	    *late; /* [isl_count / 64 + 1] a bit for each place; clear between two calls */
	uint32_t *mark; /* [isl_count] search in which a link was found last */
	uint32_t search;
};

/* An empty set. Errors: -ENOMEM. */
int turn_order_begin(struct turn_order *order, const struct turns *turns, struct hd_arena *arena);

/* Puts a link in a place of the order. */
static inline void turn_order_put(struct turn_order *order, uint32_t link, uint32_t place)
{
	order->place[link] = place;
	order->link_at[place] = link;
}

/* Takes a turn unless that closes a cycle, or leads back: then false. Cost: O(1) mostly, else a search among the links
 * that are between its two in the order. */
bool turn_order_add(struct turn_order *order, uint32_t in, uint32_t out, bool for_good);

/*
 * Moves links in the order as long as the weights of the turns that go forward grow, at most `rounds` times each. Then
 * the set has all turns that go forward. weight[turns->count] < 2^40. Cost: O(rounds * turns * log radix).
 */
int turn_order_sift(struct turn_order *order, const uint64_t *weight, unsigned rounds,
		    struct hd_arena *arena);

#endif
