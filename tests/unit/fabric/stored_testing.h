/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Stored tables for tests. Include after <cmocka.h>. */
#ifndef STORED_TESTING_H
#define STORED_TESTING_H

#include "generate_testing.h"

#include <heddle/base/random.h>
#include <heddle/fabric/regular_tree.h>
#include <heddle/fabric/stored_tables.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Port 0, or at a leaf of a tree also port 1, to its first host: by such ports no path goes on, and no fabric grows. */
static inline uint8_t random_port(const struct hd_fabric *fabric, uint32_t sw, uint64_t *seed)
{
	return hd_has_hosts(fabric, sw) ? (uint8_t)hd_random_below(seed, 2) : 0;
}

/* Tables of such ports, with holes, for LIDs that are cabled. The switch of a host has its port. */
static inline struct hd_routes *random_tables(const struct hd_fabric *fabric, uint64_t seed)
{
	struct hd_routes *routes = hd_routes_new(fabric);
	uint32_t exit;
	uint8_t port;

	assert_non_null(routes);
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		for (uint32_t lid = 1; lid < fabric->lid_count; lid++)
			if (!hd_fabric_lid_destination(fabric, lid, &exit, &port))
				continue;
			else if (exit == sw)
				hd_routes_row(routes, sw)[lid] = port;
			else if (hd_random_below(&seed, 10))
				hd_routes_row(routes, sw)[lid] = random_port(fabric, sw, &seed);
	return routes;
}

/* The labels of a regular tree. */
static inline struct hd_tree_labels *labels_of(const struct hd_fabric *fabric)
{
	struct hd_arena arena = {0};
	struct hd_regular_tree regular;
	struct hd_tree_labels *labels;
	const struct hd_tree_facts facts = {NULL, NULL};
	struct hd_tree tree;

	assert_int_equal(hd_tree_find(fabric, &facts, 1, &arena, &tree, NULL), 0);
	assert_int_equal(hd_regular_tree_label(fabric, &tree, &arena, &regular), 0);
	assert_int_equal(hd_regular_tree_labels(&regular, NULL, &labels), 0);
	hd_arena_release(&arena);
	return labels;
}

static inline void add_levels_and_ranks(const struct hd_fabric *fabric, struct hd_routes *routes)
{
	size_t bytes = (size_t)routes->switch_count * routes->stride;

	routes->sl = calloc(1, bytes);
	routes->rank = calloc(routes->switch_count, sizeof(*routes->rank));
	assert_true(routes->sl && routes->rank);
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
		routes->rank[sw] = sw ? sw : HD_NONE;
		for (uint32_t lid = 1; lid < fabric->lid_count; lid++)
			routes->sl[(size_t)sw * routes->stride + lid] = (uint8_t)((sw + lid) % 3);
	}
	for (unsigned level = 0; level < 3; level++)
		routes->sl2vl[level] = (uint8_t)level;
}

#define STORED_SAMPLES 3u

/* Number 0: a tree with everything. 1: a mesh without labels and ranks. 2: also two baselines. To
 * be released with hd_stored_state_release(). */
static inline void stored_sample(unsigned number, struct hd_stored_state *state)
{
	struct hd_fabric *fabric = number == 1 ? generate("mesh", "dims=3,2")
					       : generate("xgft", "children=2,2 parents=1,2");
	struct hd_routes *routes = random_tables(fabric, number + 1);
	bool grown;

	memset(state, 0, sizeof(*state));
	snprintf(state->text, sizeof(state->text), "dmodk,updown");
	snprintf(routes->engine, sizeof(routes->engine), "dmodk");
	snprintf(routes->chosen, sizeof(routes->chosen), "spf");
	routes->chosen_for = 0x12345678;
	snprintf(routes->options, sizeof(routes->options), "method=auto passes=%u", number);
	if (number != 1) {
		routes->labels = labels_of(fabric);
		add_levels_and_ranks(fabric, routes);
	}
	for (; state->count < number; state->count++) {
		struct hd_stored_tables *set = hd_stored_tables_new();
		assert_int_equal(hd_stored_tables_add(set, fabric, routes, &grown, NULL), 0);
		state->sets[state->count] = set;
	}
	assert_int_equal(hd_stored_tables_name(fabric, &state->sets[state->count], NULL), 0);
	state->sets[state->count]->policy = 7;
	state->sets[state->count++]->routes = routes;
	hd_fabric_free(fabric);
}

/* The bytes of a file, to be freed. */
static inline char *stored_bytes(const struct hd_stored_state *state, size_t *size)
{
	char *bytes = NULL;
	FILE *stream = open_memstream(&bytes, size);

	assert_non_null(stream);
	assert_int_equal(hd_stored_state_write(state, stream, NULL), 0);
	assert_int_equal(fclose(stream), 0);
	return bytes;
}

#endif
