/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A set of ports of one node: one bit for each number 0 .. 255. It holds nothing else, so that it
 * is copied by assignment, emptied by `(struct hd_port_set){{0}}`, and valid when all bytes are 0.
 * Every function takes constant time.
 */
#ifndef HEDDLE_BASE_PORT_SET_H
#define HEDDLE_BASE_PORT_SET_H

#include <assert.h>
#include <heddle/base/index.h>
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define HD_PORT_SET_WORDS 4u
#define HD_PORT_SET_SIZE (64u * HD_PORT_SET_WORDS) /* port numbers are below it */

struct hd_port_set {
	uint64_t words[HD_PORT_SET_WORDS]; /* port p is bit p % 64 of words[p / 64] */
};

/* Puts a port into the set; nothing changes if it is there. port < HD_PORT_SET_SIZE. */
static inline void hd_port_set_add(struct hd_port_set *set, uint32_t port)
{
	assert(port < HD_PORT_SET_SIZE);
	set->words[port / 64] |= UINT64_C(1) << port % 64;
}

/* Takes a port out of the set; nothing changes if it is not there. port < HD_PORT_SET_SIZE. */
static inline void hd_port_set_remove(struct hd_port_set *set, uint32_t port)
{
	assert(port < HD_PORT_SET_SIZE);
	set->words[port / 64] &= ~(UINT64_C(1) << port % 64);
}

/* Whether a port is in the set. port < HD_PORT_SET_SIZE. */
static inline bool hd_port_set_has(const struct hd_port_set *set, uint32_t port)
{
	assert(port < HD_PORT_SET_SIZE);
	return set->words[port / 64] >> port % 64 & 1;
}

/* Number of ports in the set: 0 .. HD_PORT_SET_SIZE. */
static inline uint32_t hd_port_set_count(const struct hd_port_set *set)
{
	uint32_t count = 0;

	for (uint32_t word = 0; word < HD_PORT_SET_WORDS; word++)
		count += (uint32_t)__builtin_popcountll(set->words[word]);
	return count;
}

/* Whether the set has no port. */
static inline bool hd_port_set_is_empty(const struct hd_port_set *set)
{
	uint64_t any = 0;

	for (uint32_t word = 0; word < HD_PORT_SET_WORDS; word++)
		any |= set->words[word];
	return !any;
}

/* Whether both sets have the same ports. */
static inline bool hd_port_set_equal(const struct hd_port_set *a, const struct hd_port_set *b)
{
	uint64_t differ = 0;

	for (uint32_t word = 0; word < HD_PORT_SET_WORDS; word++)
		differ |= a->words[word] ^ b->words[word];
	return !differ;
}

/* Adds to the set all ports of `other`. */
static inline void hd_port_set_unite(struct hd_port_set *set, const struct hd_port_set *other)
{
	for (uint32_t word = 0; word < HD_PORT_SET_WORDS; word++)
		set->words[word] |= other->words[word];
}

/* Leaves in the set only the ports that `other` has too. */
static inline void hd_port_set_intersect(struct hd_port_set *set, const struct hd_port_set *other)
{
	for (uint32_t word = 0; word < HD_PORT_SET_WORDS; word++)
		set->words[word] &= other->words[word];
}

/* The lowest port in the set that is `from` or higher, or HD_NONE. `from` may be any number. */
static inline uint32_t hd_port_set_next(const struct hd_port_set *set, uint32_t from)
{
	uint64_t bits;

	if (from >= HD_PORT_SET_SIZE)
		return HD_NONE;
	bits = set->words[from / 64] >> from % 64;
	if (bits)
		return from + (uint32_t)__builtin_ctzll(bits);
	for (uint32_t word = from / 64 + 1; word < HD_PORT_SET_WORDS; word++)
		if (set->words[word])
			return word * 64 + (uint32_t)__builtin_ctzll(set->words[word]);
	return HD_NONE;
}

/*
 * Loops over the ports in the set, by ascending number: HD_PORT_SET_FOREACH(port, &set) { ... }
 * declares `port`. The body may add and remove ports; ports below the present one are not visited
 * again.
 */
#define HD_PORT_SET_FOREACH(port, set)                                                             \
	for (uint32_t port = hd_port_set_next((set), 0); port != HD_NONE;                          \
	     port = hd_port_set_next((set), port + 1))

#ifdef __cplusplus
}
#endif

#endif
