/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the tests of multicast trees share. Include after <cmocka.h>. */
#ifndef MULTICAST_TESTING_H
#define MULTICAST_TESTING_H

#include "engines_testing.h"

#include <errno.h>
#include <heddle/engines/multicast.h>

static inline struct hd_multicast *planner(const struct hd_fabric *fabric, const bool *forwards)
{
	struct hd_multicast *multicast = NULL;
	struct hd_error err;

	assert_int_equal(hd_multicast_new(fabric, forwards, &multicast, &err), 0);
	return multicast;
}

static inline struct hd_multicast_tree *
plan(struct hd_multicast *multicast, const uint32_t *members, uint32_t count, uint32_t source)
{
	struct hd_multicast_group group = {members, count, source};
	struct hd_multicast_tree *tree = NULL;
	struct hd_error err;

	assert_int_equal(hd_multicast_plan(multicast, &group, &tree, &err), 0);
	return tree;
}

static inline const struct hd_multicast_branch *branch_at(const struct hd_multicast_tree *tree,
							  uint32_t sw)
{
	for (uint32_t i = 0; i < tree->branch_count; i++)
		if (tree->branches[i].sw == sw)
			return &tree->branches[i];
	return NULL;
}

/* Copies that each port gets of a packet; only switches with a table entry pass it on. */
struct flood {
	const struct hd_fabric *fabric;
	const struct hd_multicast_tree *tree;
	uint32_t *copies; /* by port index: ports of hosts, port 0 of switches */
	uint32_t *visits; /* by switch */
};

static inline void arrive(struct flood *flood, uint32_t sw, uint32_t by)
{
	const struct hd_multicast_branch *branch = branch_at(flood->tree, sw);

	assert_non_null(branch);
	assert_int_equal(++flood->visits[sw], 1); /* else a loop */
	HD_PORT_SET_FOREACH(port, &branch->ports) {
		uint32_t index = hd_port_index(flood->fabric, sw, port), peer;
		if (port == by)
			continue;
		peer = port ? flood->fabric->peer[index] : index;
		assert_int_not_equal(peer, HD_NONE);
		if (port && hd_is_switch(flood->fabric, flood->fabric->port_node[peer]))
			arrive(flood, flood->fabric->port_node[peer],
			       hd_port_number(flood->fabric, peer));
		else
			flood->copies[peer]++;
	}
}

/* Where a member's packets come in: its switch, and the port there. */
static inline uint32_t entrance(const struct hd_fabric *fabric, uint32_t member, uint32_t *port)
{
	uint32_t end =
	    hd_is_switch(fabric, fabric->port_node[member]) ? member : fabric->peer[member];

	*port = hd_port_number(fabric, end);
	return fabric->port_node[end];
}

static inline void assert_delivered(const struct hd_fabric *fabric,
				    const struct hd_multicast_tree *tree, const uint32_t *members,
				    uint32_t count, uint32_t sender)
{
	struct flood flood = {fabric, tree, calloc(fabric->port_count, sizeof(uint32_t)),
			      calloc(fabric->switch_count, sizeof(uint32_t))};
	uint32_t port, sw = entrance(fabric, sender, &port), visited = 0;

	arrive(&flood, sw, port);
	for (uint32_t i = 0; i < count; i++) {
		assert_int_equal(flood.copies[members[i]], members[i] != sender);
		flood.copies[members[i]] = 0;
	}
	for (uint32_t i = 0; i < fabric->port_count; i++)
		assert_int_equal(flood.copies[i], 0); /* nobody else */
	for (sw = 0; sw < fabric->switch_count; sw++)
		visited += flood.visits[sw];
	assert_int_equal(visited, tree->branch_count);
	free(flood.visits);
	free(flood.copies);
}

#endif
