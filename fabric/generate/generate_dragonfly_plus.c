/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Dragonfly+: islands of leaves and spines, each leaf cabled to each spine of its island, and
 * spines cabled to spines of the other islands.
 *
 * The global cables of an island are numbered spine by spine; generate_far_end() says where each
 * goes. Global ports that are left over stay free. Source: Shpiner et al., "Dragonfly+: low cost topology
 * for scaling datacenters", 2017.
 */
#include "generate_internal.h"

#include <errno.h>
#include <stddef.h>

struct dragonfly {
	uint32_t islands, leaves, spines, hosts, globals;
};

#define COUNT_OPTION(option_name, option_summary, option_fallback, least)                          \
	{                                                                                          \
		.name = option_name, .summary = option_summary, .type = HD_OPTION_INT,             \
		.fallback = option_fallback, .minimum = least, .maximum = HD_PORTS_MAX             \
	}

static const struct hd_option dragonfly_plus_options[] = {
    COUNT_OPTION("islands", "number of islands", NULL, 1),
    COUNT_OPTION("leaves", "leaves of an island", NULL, 1),
    COUNT_OPTION("spines", "spines of an island", NULL, 1),
    COUNT_OPTION("hosts", "hosts on every leaf", NULL, 0),
    COUNT_OPTION("global-links", "ports of every spine towards other islands", "1", 0),
};

/* Leaves come first, island by island, then spines. */
static uint32_t leaf_of(const struct dragonfly *shape, uint32_t island, uint32_t leaf)
{
	return island * shape->leaves + leaf;
}

static uint32_t spine_of(const struct dragonfly *shape, uint32_t island, uint32_t spine)
{
	return shape->islands * shape->leaves + island * shape->spines + spine;
}

static void add_switches(struct generation *generation, const struct dragonfly *shape)
{
	for (uint32_t island = 0; island < shape->islands; island++)
		for (uint32_t leaf = 0; leaf < shape->leaves; leaf++)
			generate_switch(generation, shape->hosts + shape->spines, "S1_%u_%u",
					island, leaf);
	for (uint32_t island = 0; island < shape->islands; island++)
		for (uint32_t spine = 0; spine < shape->spines; spine++)
			generate_switch(generation, shape->leaves + shape->globals, "S2_%u_%u",
					island, spine);
}

static void link_leaf(struct generation *generation, const struct dragonfly *shape, uint32_t island,
		      uint32_t leaf)
{
	uint32_t sw = leaf_of(shape, island, leaf);

	for (uint32_t host = 0; host < shape->hosts; host++)
		generate_link(generation, sw, host + 1,
			      generate_host(generation, "H_%u_%u_%u", island, leaf, host), 1);
	for (uint32_t spine = 0; spine < shape->spines; spine++)
		generate_link(generation, sw, shape->hosts + spine + 1,
			      spine_of(shape, island, spine), leaf + 1);
}

static void link_global(struct generation *generation, const struct dragonfly *shape,
			uint32_t island, uint32_t cable)
{
	struct generate_global near = {island, cable};
	struct generate_global far = generate_far_end(shape->islands, near);

	if (far.group > island)
		generate_link(generation, spine_of(shape, island, cable / shape->globals),
			      shape->leaves + cable % shape->globals + 1,
			      spine_of(shape, far.group, far.cable / shape->globals),
			      shape->leaves + far.cable % shape->globals + 1);
}

static int check_globals(const struct dragonfly *shape, struct hd_error *err)
{
	uint32_t ports = shape->spines * shape->globals, others = shape->islands - 1;

	if (ports >= others)
		return 0;
	return hd_error_set(err, -EINVAL,
			    "an island has %u global ports (%u spines x %u global-links), fewer "
			    "than the %u other islands",
			    ports, shape->spines, shape->globals, others);
}

static int generate_islands(const struct dragonfly *shape, struct hd_fabric **out,
			    struct hd_error *err)
{
	struct generation generation;
	uint64_t leaves = (uint64_t)shape->islands * shape->leaves;
	uint64_t leaf_radix = shape->hosts + shape->spines;
	uint64_t spine_radix = shape->leaves + shape->globals;
	struct generate_size size = {.switches = leaves + (uint64_t)shape->islands * shape->spines,
				     .hosts = leaves * shape->hosts,
				     .radix = leaf_radix > spine_radix ? leaf_radix : spine_radix};
	int rc = generate_begin(&generation, &size, err);

	if (rc)
		return rc;
	add_switches(&generation, shape);
	uint32_t others = shape->islands - 1;
	uint32_t cables = others ? shape->spines * shape->globals / others * others : 0;
	for (uint32_t island = 0; island < shape->islands; island++) {
		for (uint32_t leaf = 0; leaf < shape->leaves; leaf++)
			link_leaf(&generation, shape, island, leaf);
		for (uint32_t cable = 0; cable < cables; cable++)
			link_global(&generation, shape, island, cable);
	}
	return generate_end(&generation, out);
}

static int dragonfly_plus(const struct hd_options *options, struct hd_fabric **out,
			  struct hd_error *err)
{
	int rc = hd_options_complete(options, err);

	if (rc)
		return rc;
	struct dragonfly shape = {.islands = generate_number(options, "islands"),
				  .leaves = generate_number(options, "leaves"),
				  .spines = generate_number(options, "spines"),
				  .hosts = generate_number(options, "hosts"),
				  .globals = generate_number(options, "global-links")};
	rc = check_globals(&shape, err);
	return rc ? rc : generate_islands(&shape, out, err);
}

const struct hd_generator generate_dragonfly_plus = {
    .name = "dragonfly-plus",
    .summary = "Dragonfly+: islands of leaves and spines, spines cabled across islands",
    .options = dragonfly_plus_options,
    .option_count = GENERATE_OPTION_COUNT(dragonfly_plus_options),
    .generate = dragonfly_plus,
};
