/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "traffic_match.h"

#include <errno.h>
#include <heddle/base/index.h>
#include <heddle/base/lookup.h>

#define CHUNK 1024u

struct entry {
	uint64_t key;
	struct entry *next;
	uint32_t arrived; /* messages that nobody has received yet */
	uint32_t waiting[2]; /* by enum match_mode */
};

struct match {
	struct hd_arena *arena;
	struct entry **buckets;
	uint64_t mask;
	struct entry *unused;
};

struct match *match_new(struct hd_arena *arena, uint32_t size)
{
	struct match *match = hd_arena_alloc(arena, 1, sizeof(*match));
	uint64_t buckets = 64;

	while (buckets < size)
		buckets *= 2;
	if (!match)
		return NULL;
	*match = (struct match){.arena = arena, .mask = buckets - 1};
	match->buckets = hd_arena_alloc(arena, buckets, sizeof(struct entry *));
	return match->buckets ? match : NULL;
}

static int add_chunk(struct match *match)
{
	struct entry *entries = hd_arena_alloc(match->arena, CHUNK, sizeof(*entries));

	if (!entries)
		return -ENOMEM;
	for (uint32_t i = 0; i < CHUNK; i++) {
		entries[i].next = match->unused;
		match->unused = &entries[i];
	}
	return 0;
}

/* The link to the entry of a key. Makes the entry if it is missing. NULL: no memory. */
static struct entry **find(struct match *match, uint64_t key)
{
	struct entry **at = &match->buckets[hd_hash_number(key) & match->mask];

	while (*at && (*at)->key != key)
		at = &(*at)->next;
	if (*at)
		return at;
	if (!match->unused && add_chunk(match))
		return NULL;
	*at = match->unused;
	match->unused = (*at)->next;
	**at = (struct entry){.key = key};
	return at;
}

static void drop_if_empty(struct match *match, struct entry **at)
{
	struct entry *entry = *at;

	if (entry->arrived || entry->waiting[0] || entry->waiting[1])
		return;
	*at = entry->next;
	entry->next = match->unused;
	match->unused = entry;
}

int match_arrive(struct match *match, uint64_t key, enum match_mode *mode)
{
	struct entry **at = find(match, key);

	if (!at)
		return -ENOMEM;
	*mode = MATCH_BACKGROUND;
	while (*mode != MATCH_NONE && !(*at)->waiting[*mode])
		++*mode;
	if (*mode == MATCH_NONE)
		(*at)->arrived++;
	else
		(*at)->waiting[*mode]--;
	drop_if_empty(match, at);
	return 0;
}

int match_post(struct match *match, uint64_t key, enum match_mode mode, _Bool *waits)
{
	struct entry **at = find(match, key);

	if (!at)
		return -ENOMEM;
	*waits = !(*at)->arrived;
	if (*waits)
		(*at)->waiting[mode]++;
	else
		(*at)->arrived--;
	drop_if_empty(match, at);
	return 0;
}
