/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The first attempts have all flows: the key as it is asked for, then other shifts of it, and other keys with other
 * shifts. A shift becomes another one by random loads that are added to those of others.
 *
 * Then LIDs are left out. A set of LIDs is tried together with all that is sound so far. If it is refused, each of its
 * halves is tried. So the last sound attempt is the whole result, and n LIDs of which b are not sound take about
 * b * log2(n) attempts.
 */
#include <heddle/keyd/key_attempts.h>

#include "key_tree.h"

#include <errno.h>
#include <heddle/base/random.h>
#include <stdlib.h>
#include <string.h>

#define NOISE 4u /* random flows on a link are fewer */
#define RANGES_MOST 64u /* halves of halves of LIDs that wait */

struct range {
	uint32_t begin, end; /* LIDs */
};

struct hd_key_attempts {
	struct hd_key_attempts_request request;
	struct hd_key_loads *loads, *noisy;
	struct hd_key *first; /* key with all flows, without a shift */
	struct hd_key *key, *sound; /* of the open attempt, and of the best one */
	struct hd_key_shift *shift, *sound_shift;
	unsigned number; /* of the next attempt */
	bool ended;
	/* of parts; NULL: they have not begun */
	uint32_t lid_count;
	uint32_t *lid_of; /* [flow_count] number of each flow's LID; HD_NONE: it has no route */
	bool *kept; /* [lid_count] are sound together */
	struct range ranges[RANGES_MOST];
	unsigned range_count;
	struct range tried;
};

static const struct hd_key_tree *tree_of(const struct hd_key_attempts *attempts)
{
	return attempts->request.key.tree;
}

static int copy_key(const struct hd_key *key, struct hd_key **out)
{
	struct hd_key *copy = malloc(sizeof(*copy));
	struct hd_key_route *routes = malloc(((size_t)key->flow_count + 1) * sizeof(*routes));

	if (!copy || !routes) {
		free(copy);
		free(routes);
		return -ENOMEM;
	}
	*copy = *key;
	copy->routes = routes;
	memcpy(routes, key->routes, key->flow_count * sizeof(*routes));
	*out = copy;
	return 0;
}

/* Another key of the same flows, if it has as little contention as the first one; else the first one. */
static int make_key(struct hd_key_attempts *attempts, struct hd_error *err)
{
	struct hd_key_request request = attempts->request.key;

	request.best_effort = true;
	request.variant += attempts->number;
	int rc = hd_key_make(&request, &attempts->key, err);
	if (rc || attempts->key->contention <= attempts->first->contention)
		return rc;
	hd_key_free(attempts->key);
	attempts->key = NULL;
	return copy_key(attempts->first, &attempts->key) ? hd_error_no_memory(err) : 0;
}

static int choose_first_shift(struct hd_key_attempts *attempts, struct hd_key_shift **out,
			      struct hd_error *err)
{
	return attempts->loads
		   ? hd_key_shift_choose(tree_of(attempts), attempts->first, attempts->loads,
					 attempts->request.objective, out, err)
		   : 0;
}

struct numbered {
	uint32_t destination, offset, flow;
};

static int attempts_compare(const void *left, const void *right)
{
	const struct numbered *a = left, *b = right;

	if (a->destination != b->destination)
		return a->destination < b->destination ? -1 : 1;
	return (a->offset > b->offset) - (a->offset < b->offset);
}

static void push_halves(struct hd_key_attempts *attempts, struct range range)
{
	uint32_t middle = range.begin + (range.end - range.begin) / 2;

	if (range.end - range.begin < 2 || attempts->range_count + 2 > RANGES_MOST)
		return;
	attempts->ranges[attempts->range_count++] = (struct range){middle, range.end};
	attempts->ranges[attempts->range_count++] = (struct range){range.begin, middle};
}

static int begin_parts(struct hd_key_attempts *attempts)
{
	size_t flows = (size_t)attempts->first->flow_count + 1;
	struct numbered *list = malloc(flows * sizeof(*list));

	attempts->lid_of = malloc(flows * sizeof(*attempts->lid_of));
	attempts->kept = calloc(flows, sizeof(*attempts->kept));
	if (!list || !attempts->lid_of || !attempts->kept) {
		free(list);
		return -ENOMEM;
	}
	const struct hd_key *key = attempts->first;
	uint32_t count = 0;
	for (uint32_t i = 0; i < key->flow_count; i++) {
		const struct hd_key_route *route = &key->routes[i];
		attempts->lid_of[i] = HD_NONE;
		if (!route->left_out)
			list[count++] = (struct numbered){route->destination, route->offset, i};
	}
	qsort(list, count, sizeof(*list), attempts_compare);
	for (uint32_t i = 0; i < count; i++) {
		attempts->lid_count += !i || attempts_compare(&list[i], &list[i - 1]);
		attempts->lid_of[list[i].flow] = attempts->lid_count - 1;
	}
	push_halves(attempts, (struct range){0, attempts->lid_count});
	free(list);
	return 0;
}

static void close_attempt(struct hd_key_attempts *attempts)
{
	hd_key_free(attempts->key);
	hd_key_shift_free(attempts->shift);
	attempts->key = NULL;
	attempts->shift = NULL;
}

static int copy_loads(struct hd_key_attempts *attempts, const struct hd_key_loads *loads)
{
	attempts->noisy = hd_key_loads_new(tree_of(attempts));
	if (!attempts->noisy)
		return -ENOMEM;
	attempts->loads = loads ? hd_key_loads_new(tree_of(attempts)) : NULL;
	if (loads && !attempts->loads)
		return -ENOMEM;
	if (loads)
		memcpy(attempts->loads->flows, loads->flows,
		       loads->link_count * sizeof(*loads->flows));
	return 0;
}

int hd_key_attempts_new(const struct hd_key_attempts_request *request, struct hd_key_attempts **out,
			struct hd_error *err)
{
	struct hd_key_attempts *attempts = calloc(1, sizeof(*attempts));

	if (!attempts)
		return hd_error_no_memory(err);
	attempts->request = *request;
	int rc = copy_loads(attempts, request->loads) ? hd_error_no_memory(err) : 0;
	if (!rc)
		rc = (request->fewest_offsets ? hd_key_make_fewest
					      : hd_key_make)(&request->key, &attempts->first, err);
	if (rc) {
		hd_key_attempts_free(attempts);
		return rc;
	}
	if (request->fewest_offsets)
		attempts->request.key.offsets = attempts->first->offsets;
	*out = attempts;
	return 0;
}

static int make_attempt(struct hd_key_attempts *attempts, struct hd_error *err)
{
	unsigned whole = attempts->request.whole ? attempts->request.whole : 1;

	if (attempts->ended || attempts->number >= whole + attempts->request.parts)
		return -ENOENT;
	if (!attempts->number) {
		if (copy_key(attempts->first, &attempts->key))
			return hd_error_no_memory(err);
		return choose_first_shift(attempts, &attempts->shift, err);
	}
	if (attempts->number < whole) {
		/* Every other attempt has another key, and each another shift. */
		int rc = 0;
		if (attempts->number % 2 == 0)
			rc = make_key(attempts, err);
		else if (copy_key(attempts->first, &attempts->key))
			rc = hd_error_no_memory(err);
		if (rc)
			return rc;
		uint64_t random = attempts->number;
		for (uint32_t link = 0; link < attempts->noisy->link_count; link++)
			attempts->noisy->flows[link] =
			    (attempts->loads ? attempts->loads->flows[link] : 0) +
			    (uint32_t)hd_random_below(&random, NOISE);
		return hd_key_shift_choose(tree_of(attempts), attempts->key, attempts->noisy,
					   HD_KEY_SHIFT_LINKS, &attempts->shift, err);
	}
	if (!attempts->lid_of && begin_parts(attempts))
		return hd_error_no_memory(err);
	if (!attempts->range_count)
		return -ENOENT;
	attempts->tried = attempts->ranges[--attempts->range_count];
	if (copy_key(attempts->first, &attempts->key))
		return hd_error_no_memory(err);
	struct hd_key *key = attempts->key;
	for (uint32_t i = 0; i < key->flow_count; i++) {
		uint32_t lid = attempts->lid_of[i];
		if (lid == HD_NONE || attempts->kept[lid] ||
		    (lid >= attempts->tried.begin && lid < attempts->tried.end))
			continue;
		key->routes[i].left_out = true;
		key->routes[i].climbs = key->routes[i].descents = 0;
		key->left_out++;
	}
	if (key_count_contention(tree_of(attempts), attempts->key))
		return hd_error_no_memory(err);
	return choose_first_shift(attempts, &attempts->shift, err);
}

int hd_key_attempts_next(struct hd_key_attempts *attempts, struct hd_key_attempt *out,
			 struct hd_error *err)
{
	int rc = make_attempt(attempts, err);

	if (rc) {
		close_attempt(attempts);
		attempts->ended = true;
		return rc;
	}
	*out = (struct hd_key_attempt){.key = attempts->key,
				       .shift = attempts->shift,
				       .number = attempts->number++,
				       .whole = !attempts->lid_of};
	return 0;
}

void hd_key_attempts_answer(struct hd_key_attempts *attempts, bool sound)
{
	bool part = attempts->lid_of;

	if (sound) {
		hd_key_free(attempts->sound);
		hd_key_shift_free(attempts->sound_shift);
		attempts->sound = attempts->key;
		attempts->sound_shift = attempts->shift;
		attempts->key = NULL;
		attempts->shift = NULL;
		attempts->ended = !part;
		for (uint32_t lid = attempts->tried.begin; part && lid < attempts->tried.end; lid++)
			attempts->kept[lid] = true;
	} else {
		close_attempt(attempts);
		if (part)
			push_halves(attempts, attempts->tried);
	}
}

int hd_key_attempts_take(struct hd_key_attempts *attempts, struct hd_key **key,
			 struct hd_key_shift **shift)
{
	if (!attempts->sound)
		return -ENOENT;
	*key = attempts->sound;
	*shift = attempts->sound_shift;
	attempts->sound = NULL;
	attempts->sound_shift = NULL;
	return 0;
}

void hd_key_attempts_free(struct hd_key_attempts *attempts)
{
	if (!attempts)
		return;
	close_attempt(attempts);
	hd_key_free(attempts->first);
	hd_key_free(attempts->sound);
	hd_key_shift_free(attempts->sound_shift);
	hd_key_loads_free(attempts->loads);
	hd_key_loads_free(attempts->noisy);
	free(attempts->lid_of);
	free(attempts->kept);
	free(attempts);
}
