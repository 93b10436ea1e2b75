/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Helpers that the tests of the generators share. Include after <cmocka.h>. */
#ifndef GENERATE_TESTING_H
#define GENERATE_TESTING_H

#include "generated.h"

#include <stdlib.h>
#include <string.h>

static inline struct hd_fabric *generate(const char *kind, const char *settings)
{
	struct hd_fabric *fabric = NULL;
	struct hd_error err = {""};

	if (generated_fabric(kind, settings, &fabric, &err))
		fail_msg("%s %s: %s", kind, settings, err.text);
	return fabric;
}

/* The generator must refuse with a reason that contains `expected`. */
static inline void assert_refused(const char *kind, const char *settings, const char *expected)
{
	struct hd_fabric *fabric = NULL;
	struct hd_error err = {""};

	assert_true(generated_fabric(kind, settings, &fabric, &err) < 0);
	assert_null(fabric);
	if (!strstr(err.text, expected))
		fail_msg("%s %s: '%s' does not say '%s'", kind, settings, err.text, expected);
}

/* Switches that can be reached from switch 0. */
static inline uint32_t reachable_switches(const struct hd_fabric *fabric)
{
	uint32_t *queue = calloc(fabric->switch_count, sizeof(*queue)), tail = 1;
	bool *seen = calloc(fabric->switch_count, sizeof(*seen));

	seen[0] = true;
	for (uint32_t head = 0; head < tail; head++) {
		uint32_t sw = queue[head];
		for (uint32_t i = fabric->isl_base[sw]; i < fabric->isl_base[sw + 1]; i++) {
			if (!seen[fabric->isl_to[i]])
				queue[tail++] = fabric->isl_to[i];
			seen[fabric->isl_to[i]] = true;
		}
	}
	free(seen);
	free(queue);
	return tail;
}

static inline void assert_size(const struct hd_fabric *fabric, uint32_t hosts, uint32_t switches,
			       uint32_t cables)
{
	assert_int_equal(fabric->host_count, hosts);
	assert_int_equal(fabric->switch_count, switches);
	assert_int_equal(fabric->isl_count, 2 * cables);
	assert_int_equal(fabric->node_count, hosts + switches);
}

static inline uint32_t node_named(const struct hd_fabric *fabric, const char *name)
{
	for (uint32_t node = 0; node < fabric->node_count; node++)
		if (!strcmp(fabric->node_name[node], name))
			return node;
	fail_msg("no node is called %s", name);
	return HD_NONE;
}

/* Port `port_a` of the first is cabled to port `port_b` of the second. */
static inline void assert_cabled(const struct hd_fabric *fabric, const char *a, uint32_t port_a,
				 const char *b, uint32_t port_b)
{
	uint32_t near = hd_port_index(fabric, node_named(fabric, a), port_a);
	uint32_t far = hd_port_index(fabric, node_named(fabric, b), port_b);

	if (fabric->peer[near] != far)
		fail_msg("%s[%u] is not cabled to %s[%u]", a, port_a, b, port_b);
}

/* Same nodes, names, GUIDs, LIDs and cables. */
static inline bool same_fabric(const struct hd_fabric *a, const struct hd_fabric *b)
{
	if (a->node_count != b->node_count || a->port_count != b->port_count ||
	    a->lid_count != b->lid_count)
		return false;
	for (uint32_t node = 0; node < a->node_count; node++)
		if (strcmp(a->node_name[node], b->node_name[node]))
			return false;
	return !memcmp(a->node_guid, b->node_guid, a->node_count * sizeof(*a->node_guid)) &&
	       !memcmp(a->port_guid, b->port_guid, a->port_count * sizeof(*a->port_guid)) &&
	       !memcmp(a->lid, b->lid, a->port_count * sizeof(*a->lid)) &&
	       !memcmp(a->peer, b->peer, a->port_count * sizeof(*a->peer));
}

#endif
