/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What is different between two snapshots, against a search for each node and cable. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "generated.h"
#include "variants.h"

#include <heddle/base/random.h>
#include <heddle/fabric/changes.h>

#define ROOM 4096

/* The port of `other` that has the node GUID and number of a port; HD_NONE: none. */
static uint32_t counterpart(const struct hd_fabric *fabric, uint32_t port,
			    const struct hd_fabric *other)
{
	uint32_t number = hd_port_number(fabric, port);

	for (uint32_t node = 0; node < other->node_count; node++)
		if (other->node_guid[node] == fabric->node_guid[fabric->port_node[port]])
			return number <= hd_node_ports(other, node)
				   ? hd_port_index(other, node, number)
				   : HD_NONE;
	return HD_NONE;
}

/* Whether `changes` has such a change, and how many of that direction there are in all. */
static bool has(const struct hd_fabric_change *changes, uint32_t count, bool lost, bool cable,
		uint32_t index)
{
	for (uint32_t i = 0; i < count; i++)
		if (changes[i].lost == lost && changes[i].cable == cable &&
		    changes[i].index == index)
			return true;
	return false;
}

/* Asserts that exactly the nodes and cables of `fabric` that `other` lacks are among the changes.
 * Returns how many there are. */
static uint32_t assert_listed(const struct hd_fabric *fabric, const struct hd_fabric *other,
			      bool lost, const struct hd_fabric_change *changes, uint32_t count)
{
	uint32_t expected = 0;

	for (uint32_t node = 0; node < fabric->node_count; node++) {
		bool missing =
		    counterpart(fabric, hd_port_index(fabric, node, 0), other) == HD_NONE;

		assert_int_equal(has(changes, count, lost, false, node), missing);
		expected += missing;
	}
	for (uint32_t port = 0; port < fabric->port_count; port++) {
		uint32_t peer = fabric->peer[port];

		if (peer == HD_NONE || peer < port)
			continue;
		uint32_t here = counterpart(fabric, port, other);
		uint32_t there = counterpart(fabric, peer, other);
		bool missing = here != HD_NONE && there != HD_NONE && other->peer[here] != there;

		assert_int_equal(has(changes, count, lost, true, port), missing);
		expected += missing;
	}
	return expected;
}

/* Property: between any two damaged copies of a fabric, the changes are those that a search for
 * each node and each cable finds, and there are no others. */
static void equals_plain_search(void **state)
{
	(void)state;
	struct hd_fabric_change *changes = calloc(ROOM, sizeof(*changes));
	struct hd_fabric *whole;
	uint32_t found = 0;

	assert_int_equal(generated_fabric("xgft", "children=4,6 parents=1,4", &whole, NULL), 0);
	for (unsigned seed = 0; seed < 200; seed++) {
		struct hd_fabric *older, *newer;
		uint32_t count, expected;

		assert_int_equal(variants_damaged(whole, seed % 20, seed, &older, NULL), 0);
		assert_int_equal(variants_damaged(whole, seed % 7, seed + 1000, &newer, NULL), 0);
		assert_int_equal(hd_fabric_changes(older, newer, changes, ROOM, &count, NULL), 0);
		expected = assert_listed(older, newer, true, changes, count);
		expected += assert_listed(newer, older, false, changes, count);
		assert_int_equal(count, expected);
		found += count;
		hd_fabric_free(older);
		hd_fabric_free(newer);
	}
	assert_true(found > 1000);
	hd_fabric_free(whole);
	free(changes);
}

/* Property: damaged copies of a fabric are the same if and only if there are no changes. */
static void same_has_no_changes(void **state)
{
	struct hd_fabric *whole;
	unsigned same = 0;

	(void)state;
	assert_int_equal(generated_fabric("xgft", "children=4,6 parents=1,4", &whole, NULL), 0);
	for (unsigned seed = 0; seed < 100; seed++) {
		struct hd_fabric *older, *newer;
		uint32_t count;

		assert_int_equal(variants_damaged(whole, seed % 3, seed % 4, &older, NULL), 0);
		assert_int_equal(variants_damaged(whole, seed % 2, seed % 5, &newer, NULL), 0);
		assert_int_equal(hd_fabric_changes(older, newer, NULL, 0, &count, NULL), 0);
		assert_int_equal(hd_fabric_same(older, newer), count == 0);
		same += count == 0;
		hd_fabric_free(older);
		hd_fabric_free(newer);
	}
	assert_true(same > 5 && same < 100);
	hd_fabric_free(whole);
}

/* A switch with two hosts, the second one on request. */
static struct hd_fabric *small(bool second, uint32_t port)
{
	struct hd_builder *builder = hd_builder_new();
	struct hd_fabric *fabric;
	uint32_t leaf, host;

	hd_builder_add_node(
	    builder,
	    &(struct hd_node_spec){.type = HD_SWITCH, .guid = 1, .port_count = 4, .name = "leaf"},
	    &leaf, NULL);
	hd_builder_add_node(
	    builder,
	    &(struct hd_node_spec){.type = HD_CA, .guid = 2, .port_count = 1, .name = "n1"}, &host,
	    NULL);
	hd_builder_link(builder, leaf, port, host, 1, 4, HD_SPEED_HDR, NULL);
	if (second)
		hd_builder_add_node(
		    builder,
		    &(struct hd_node_spec){.type = HD_CA, .guid = 3, .port_count = 1, .name = "n2"},
		    &host, NULL);
	assert_int_equal(hd_builder_build(builder, &fabric, NULL), 0);
	hd_builder_free(builder);
	return fabric;
}

static void assert_text(const struct hd_fabric *older, const struct hd_fabric *newer,
			uint32_t named, int size, const char *expected)
{
	char text[256];

	assert_int_equal(hd_fabric_changes_print(older, newer, named, text, size, NULL), 0);
	assert_string_equal(text, expected);
}

/* Property: the text names nodes and cables, losses first, no more than asked for, and counts the
 * rest. It never writes past its end. */
static void text_names_changes(void **state)
{
	(void)state;
	struct hd_fabric *one = small(false, 1), *moved = small(true, 2);

	assert_text(one, one, 3, 256, "");
	assert_text(one, moved, 3, 256,
		    "lost cable 'leaf'[1] - 'n1'[1]; new host 'n2', cable 'leaf'[2] - 'n1'[1]");
	assert_text(moved, one, 3, 256,
		    "lost host 'n2', cable 'leaf'[2] - 'n1'[1]; new cable 'leaf'[1] - 'n1'[1]");
	assert_text(one, moved, 1, 256, "new host 'n2'; 2 more");
	assert_text(one, moved, 0, 256, "3 changes");
	assert_text(one, moved, 3, 11, "lost cable");
	hd_fabric_free(one);
	hd_fabric_free(moved);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(equals_plain_search),
	    cmocka_unit_test(same_has_no_changes),
	    cmocka_unit_test(text_names_changes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
