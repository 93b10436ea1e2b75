/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Trees that are not regular: directors, cascades, unequal leaves, hosts above the leaves, missing cables and switches. */
#ifndef KEY_RANKS_TESTING_H
#define KEY_RANKS_TESTING_H

#include "key_testing.h"

#include "directors_testing.h"

#define RANKS_KINDS 6u

static const char *const ranks_kinds[RANKS_KINDS] = {"directors",	"cables missing",
						     "unequal leaves",	"cascades",
						     "hosts on spines", "switches missing"};

static inline uint32_t ranks_draw(uint64_t *random, uint32_t least, uint32_t most)
{
	return least + (uint32_t)hd_random_below(random, most - least + 1);
}

static inline struct hd_fabric *ranks_tree(uint64_t *random)
{
	char settings[80];
	uint32_t hosts = ranks_draw(random, 2, 5);

	snprintf(settings, sizeof(settings), "children=%u,%u,%u parents=1,%u,%u", hosts,
		 ranks_draw(random, 2, 4), ranks_draw(random, 2, 4), ranks_draw(random, 2, 4),
		 ranks_draw(random, 2, 3));
	return generate("xgft", settings);
}

/* Builds the changed fabric, and frees the one that it comes from. */
static inline struct hd_fabric *ranks_build(struct hd_builder *builder, struct hd_fabric *from)
{
	struct hd_fabric *fabric = NULL;
	struct hd_error err = {""};

	if (hd_builder_build(builder, &fabric, &err))
		fail_msg("%s", err.text);
	hd_builder_free(builder);
	hd_fabric_free(from);
	return fabric;
}

static inline struct hd_fabric *ranks_directors(uint64_t *random)
{
	const struct directors shape = {.count = ranks_draw(random, 1, 3),
					.lines = ranks_draw(random, 4, 6),
					.spines = ranks_draw(random, 2, 4),
					.trunks = ranks_draw(random, 0, 3) / 3,
					.leaves = ranks_draw(random, 6, 12),
					.uplinks = ranks_draw(random, 2, 4),
					.hosts = ranks_draw(random, 2, 5),
					.shared = ranks_draw(random, 1, 2),
					.direct = ranks_draw(random, 0, 3) / 3,
					.seed = hd_random_next(random)};

	return directors_build(&shape);
}

static inline struct hd_fabric *ranks_without_cables(struct hd_fabric *fabric, uint64_t *random,
						     double percent)
{
	struct hd_fabric *less = NULL;

	assert_int_equal(
	    hd_fabric_remove_links(fabric, percent, hd_random_next(random), &less, NULL), 0);
	hd_fabric_free(fabric);
	return less;
}

/* Leaves with different numbers of hosts and of cables; perhaps a switch is missing. */
static inline struct hd_fabric *ranks_unequal(uint64_t *random)
{
	struct hd_fabric *fabric = ranks_tree(random);
	struct hd_builder *builder = hd_builder_from(fabric);

	for (uint32_t host = 1; host < fabric->host_count; host++)
		if (hd_random_below(random, 3) == 0)
			hd_builder_unlink(builder, fabric->host_switch[host],
					  fabric->host_switch_port[host]);
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		if (hd_has_hosts(fabric, sw) && hd_random_below(random, 3) == 0)
			hd_builder_unlink(builder, sw, fabric->isl_port[fabric->isl_base[sw]]);
	uint32_t top = fabric->switch_count - 1;
	for (uint32_t link = fabric->isl_base[top];
	     hd_random_below(random, 2) && link < fabric->isl_base[top + 1]; link++)
		hd_builder_unlink(builder, top, fabric->isl_port[link]);
	return ranks_build(builder, fabric);
}

/* Some hosts of a leaf go to a switch of their own, which one to three cables join to the leaf. */
static inline void ranks_hang_below(struct hd_builder *builder, const struct hd_fabric *fabric,
				    uint32_t leaf, uint32_t moved)
{
	const struct hd_node_spec spec = {.type = HD_SWITCH,
					  .guid = UINT64_C(0x7700000000) + leaf,
					  .port_count = 36,
					  .name = "cascade"};
	uint32_t node = HD_NONE, first = fabric->host_base[leaf];

	assert_int_equal(hd_builder_add_node(builder, &spec, &node, NULL), 0);
	for (uint32_t i = 0; i < moved; i++) {
		uint32_t port = fabric->host_port[first + i],
			 at = fabric->host_switch_port[first + i];
		hd_builder_unlink(builder, leaf, at);
		assert_int_equal(hd_builder_link(builder, fabric->port_node[port],
						 hd_port_number(fabric, port), node, i + 1, 4,
						 HD_SPEED_EDR, NULL),
				 0);
		assert_int_equal(
		    hd_builder_link(builder, leaf, at, node, 36 - i, 4, HD_SPEED_EDR, NULL), 0);
	}
}

static inline struct hd_fabric *ranks_cascades(uint64_t *random)
{
	struct hd_fabric *fabric = ranks_tree(random);
	struct hd_builder *builder = hd_builder_from(fabric);

	for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
		uint32_t hosts = fabric->host_base[sw + 1] - fabric->host_base[sw];
		if (hosts > 2 && hd_random_below(random, 3) == 0)
			ranks_hang_below(builder, fabric, sw, ranks_draw(random, 1, hosts - 1));
	}
	return ranks_build(builder, fabric);
}

/* A host takes the place of a cable at some switches above the leaves. */
static inline struct hd_fabric *ranks_hosts_above(uint64_t *random)
{
	struct hd_fabric *fabric = ranks_tree(random);
	struct hd_builder *builder = hd_builder_from(fabric);

	for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
		if (hd_has_hosts(fabric, sw) || hd_random_below(random, 3))
			continue;
		const struct hd_node_spec spec = {.type = HD_CA,
						  .guid = UINT64_C(0x7700000000) + sw,
						  .port_count = 1,
						  .name = "above"};
		uint32_t node = HD_NONE, port = fabric->isl_port[fabric->isl_base[sw]];
		assert_int_equal(hd_builder_add_node(builder, &spec, &node, NULL), 0);
		hd_builder_unlink(builder, sw, port);
		assert_int_equal(hd_builder_link(builder, node, 1, sw, port, 4, HD_SPEED_EDR, NULL),
				 0);
	}
	return ranks_build(builder, fabric);
}

/* One to three switches above the leaves have lost all cables, and others some. */
static inline struct hd_fabric *ranks_without_switches(uint64_t *random)
{
	struct hd_fabric *fabric = ranks_tree(random);
	struct hd_builder *builder = hd_builder_from(fabric);

	for (uint32_t i = ranks_draw(random, 1, 3); i > 0; i--) {
		uint32_t sw = (uint32_t)hd_random_below(random, fabric->switch_count);
		for (uint32_t link = fabric->isl_base[sw];
		     !hd_has_hosts(fabric, sw) && link < fabric->isl_base[sw + 1]; link++)
			hd_builder_unlink(builder, sw, fabric->isl_port[link]);
	}
	return ranks_without_cables(ranks_build(builder, fabric), random,
				    ranks_draw(random, 0, 12));
}

/* Fabric number n, of kind n % RANKS_KINDS, with two LIDs for each host. */
static inline struct hd_fabric *ranks_fabric(uint64_t number)
{
	uint64_t random = number * UINT64_C(0x9E3779B97F4A7C15) + 1;

	switch (number % RANKS_KINDS) {
	case 0:
		return with_lmc(ranks_directors(&random), 1);
	case 1:
		return with_lmc(
		    ranks_without_cables(ranks_tree(&random), &random, 4 + (double)(number % 23)),
		    1);
	case 2:
		return with_lmc(ranks_unequal(&random), 1);
	case 3:
		return with_lmc(ranks_cascades(&random), 1);
	case 4:
		return with_lmc(ranks_hosts_above(&random), 1);
	default:
		return with_lmc(ranks_without_switches(&random), 1);
	}
}

#endif
