/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reads any bytes as a file of stored tables. The header gets the right length and checksum, so
 * that changed bytes reach the reader. What is accepted must survive being written and read
 * again, and must be safe to use with a fabric that has some of the file's switches.
 */
#include "fuzzing.h"

#include "stored_format.h"

#include <heddle/fabric/regular_tree.h>
#include <heddle/fabric/stored_tables.h>
#include <stdio.h>

static void sign(uint8_t *bytes, size_t size)
{
	struct stored_checksum checksum = {0};
	uint64_t numbers[2];

	if (size < STORED_HEADER_BYTES)
		return;
	stored_checksum_add(&checksum, bytes + STORED_HEADER_BYTES, size - STORED_HEADER_BYTES);
	numbers[0] = size - STORED_HEADER_BYTES;
	numbers[1] = stored_checksum_end(&checksum);
	memcpy(bytes, STORED_MAGIC, 8);
	for (unsigned i = 0; i < 16; i++)
		bytes[16 + i] = (uint8_t)(numbers[i / 8] >> i % 8 * 8);
}

/* The tree of the seeds, which `heddle topo generate xgft` makes: children 2,2, parents 1,2. */
static const struct hd_fabric *tree(void)
{
	static struct hd_fabric *fabric;
	const struct hd_generator *generator = hd_generator_find("xgft");

	if (fabric)
		return fabric;
	struct hd_options *options = hd_options_new(generator->options, generator->option_count);
	demand(options && hd_options_set(options, "children", "2,2", NULL) == 0 &&
	       hd_options_set(options, "parents", "1,2", NULL) == 0 &&
	       generator->generate(options, &fabric, NULL) == 0);
	hd_options_free(options);
	return fabric;
}

static void use_set(const struct hd_stored_tables *set)
{
	struct hd_routes *routes;
	struct hd_arena arena = {0};
	struct hd_regular_tree regular;

	hd_stored_tables_fit(set, tree());
	hd_stored_tables_known(set, tree());
	demand(hd_stored_tables_get(set, tree(), &routes, NULL) == 0);
	for (uint32_t sw = 0; sw < routes->switch_count; sw++)
		for (uint32_t lid = 0; lid < routes->stride; lid++) {
			uint8_t port = hd_routes_row(routes, sw)[lid];
			demand(port == HD_NO_PORT || port <= hd_node_ports(tree(), sw));
			demand(!routes->sl || routes->sl[(size_t)sw * routes->stride + lid] < 16);
		}
	if (routes->labels &&
	    !hd_regular_tree_label_again(tree(), NULL, routes->labels, &arena, &regular)) {
		struct hd_tree_labels *labels;
		demand(hd_regular_tree_labels(&regular, routes->labels, &labels) == 0);
		hd_tree_labels_release(labels);
	}
	hd_arena_release(&arena);
	hd_routes_free(routes);
}

static void add_to_set(struct hd_stored_tables *set)
{
	struct hd_routes *routes = hd_routes_new(tree());
	bool grown;

	demand(routes != NULL);
	memset(routes->lft, 1, (size_t)routes->switch_count * routes->stride);
	demand(hd_stored_tables_add(set, tree(), routes, &grown, NULL) == 0);
	hd_routes_free(routes);
}

static void check_round_trip(const struct hd_stored_state *state)
{
	struct hd_stored_state back;
	char *bytes = NULL;
	size_t size = 0;
	FILE *stream = open_memstream(&bytes, &size);

	demand(stream && hd_stored_state_write(state, stream, NULL) == 0 && !fclose(stream));
	demand(hd_stored_state_read(bytes, size, &back, NULL) == 0 && back.count == state->count);
	for (uint32_t i = 0; i < back.count; i++)
		demand(hd_routes_equal(back.sets[i]->routes, state->sets[i]->routes));
	hd_stored_state_release(&back);
	free(bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *copy = malloc(size + 1);
	struct hd_stored_state state;
	struct hd_error err = {""};

	demand(copy != NULL);
	memcpy(copy, data, size);
	sign(copy, size);
	if (hd_stored_state_read(copy, size, &state, &err)) {
		demand(err.text[0]);
	} else {
		check_round_trip(&state);
		for (uint32_t i = 0; i < state.count; i++) {
			use_set(state.sets[i]);
			add_to_set(state.sets[i]);
			use_set(state.sets[i]);
		}
		hd_stored_state_release(&state);
	}
	free(copy);
	return 0;
}
