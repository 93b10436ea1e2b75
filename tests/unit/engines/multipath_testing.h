/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the tests of multipath share. Include after <cmocka.h>. */
#ifndef MULTIPATH_TESTING_H
#define MULTIPATH_TESTING_H

#include "engines_testing.h"
#include "oracle_multipath.h"

static inline struct hd_cycles *cycles_of(const struct hd_fabric *fabric, uint32_t root,
					  unsigned bits)
{
	struct hd_cycles *cycles = NULL;
	struct hd_error err = {""};

	if (hd_cycles_find(fabric, root, bits, &cycles, &err))
		fail_msg("cycles: %s", err.text);
	return cycles;
}

/*
 *	a --- b		The paper's example (figure 4), a host on every switch. From b the links a-c
 *	 \   / \	and c-d are back edges: C1 = a c b a, C2 = c d b c. Ports of every switch
 *	  \ /   \	lead to a, b, c and d in this order, the fifth to the host.
 *	   c --- d
 */
enum { A, B, C, D };

static inline struct hd_fabric *paper_example(unsigned lmc)
{
	static const uint32_t edges[][2] = {{A, B}, {B, C}, {A, C}, {C, D}, {B, D}};
	static const char *const names[] = {"a", "b", "c", "d"};
	struct hd_builder *builder = hd_builder_new();
	uint32_t sw[4], host;

	for (uint32_t i = 0; i < 4; i++) {
		struct hd_node_spec spec = {
		    .type = HD_SWITCH, .guid = 0x10 + i, .port_count = 5, .name = names[i]};
		hd_builder_add_node(builder, &spec, &sw[i], NULL);
		spec = (struct hd_node_spec){.type = HD_CA, .guid = 0x20 + i, .port_count = 1};
		hd_builder_add_node(builder, &spec, &host, NULL);
		hd_builder_link(builder, sw[i], 5, host, 1, 4, HD_SPEED_EDR, NULL);
	}
	for (uint32_t i = 0; i < 5; i++)
		hd_builder_link(builder, sw[edges[i][0]], edges[i][1] + 1, sw[edges[i][1]],
				edges[i][0] + 1, 4, HD_SPEED_EDR, NULL);
	hd_builder_assign_lids(builder, lmc);
	return rebuilt(builder, NULL);
}

/* A random connected fabric of `cycles` independent cycles, some of parallel cables. */
static inline struct hd_fabric *draw_cyclic(uint64_t number, unsigned switches_max, unsigned cycles,
					    char recipe[200])
{
	uint64_t seed = number * 0x9E3779B97F4A7C15u + 7;
	unsigned switches = pick(&seed, cycles > 3 ? 4 + cycles / 4 : 2, switches_max);

	snprintf(recipe, 200, "switches=%u radix=%u cycles=%u hosts=1 seed=%u", switches,
		 pick(&seed, 5, 8) + (switches < 8 ? cycles : 0), cycles, pick(&seed, 0, 100000));
	return generate("irregular", recipe);
}

/* Hosts with LMC 0, 3 and 1 in turn. */
static inline struct hd_fabric *with_mixed_lmc(struct hd_fabric *old)
{
	static const unsigned lmcs[] = {0, 3, 1};
	struct hd_builder *builder = hd_builder_from(old);

	hd_builder_clear_lids(builder);
	for (uint32_t host = 0; host < old->host_count; host++) {
		uint32_t port = old->host_port[host];
		hd_builder_set_lid(builder, old->port_node[port], hd_port_number(old, port),
				   8 * (host + 1), lmcs[host % 3], NULL);
	}
	for (uint32_t sw = 0; sw < old->switch_count; sw++)
		hd_builder_set_lid(builder, sw, 0, 8 * (old->host_count + 1) + sw, 0, NULL);
	return rebuilt(builder, old);
}

/* Settings that root the tree at a switch and leave credit loops alone. */
static inline struct hd_routes *route_rooted(const struct hd_fabric *fabric, uint32_t root,
					     const char *more)
{
	char settings[160];

	snprintf(settings, sizeof(settings), "mode=cycles deadlock=off root=0x%" PRIx64 " %s",
		 fabric->node_guid[root], more);
	return route("multipath", settings, fabric);
}

/* Every LID reaches its port from every switch. */
static inline void assert_arrives(const struct hd_fabric *fabric, const struct hd_routes *routes)
{
	struct hd_check_report *report = check(fabric, routes);

	assert_int_equal(report->no_route + report->dead_end + report->loop, 0);
	hd_check_report_free(report);
}

/* Links from `from` to where the LID leaves the fabric; returns how many. */
static inline uint32_t follow(const struct hd_fabric *fabric, const struct hd_routes *routes,
			      uint32_t from, uint32_t lid, uint32_t *links)
{
	uint32_t hops = 0, link;

	while ((link = link_taken(fabric, routes, from, lid)) != HD_NONE) {
		assert_true(hops < fabric->switch_count);
		links[hops++] = link;
		from = fabric->isl_to[link];
	}
	return hops;
}

/* Different ways that the LIDs of a host are sent from a switch. */
static inline uint32_t distinct_ways(const struct hd_fabric *fabric, const struct hd_routes *routes,
				     uint32_t from, uint32_t host)
{
	uint32_t lids = hd_port_lid_count(fabric, fabric->host_port[host]), distinct = 0;
	uint32_t room = fabric->switch_count;
	uint32_t *ways = calloc((size_t)lids * room, sizeof(*ways));
	uint32_t *lengths = calloc(lids, sizeof(*lengths));

	for (uint32_t offset = 0; offset < lids; offset++) {
		uint32_t *way = ways + (size_t)distinct * room, same = 0;
		uint32_t length =
		    follow(fabric, routes, from, host_lid(fabric, host) + offset, way);
		while (same < distinct &&
		       (lengths[same] != length ||
			memcmp(ways + (size_t)same * room, way, length * sizeof(*way)) != 0))
			same++;
		lengths[same] = length;
		distinct += same == distinct;
	}
	free(ways);
	free(lengths);
	return distinct;
}

#endif
