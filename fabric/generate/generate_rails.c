/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Rail-optimised trees: machines have several adapters, and adapter i of each machine of a group is
 * on leaf i of that group. So two adapters of one rail meet at a leaf, and only traffic between
 * rails or groups goes by the spines. A group with the defaults is a scalable unit of a DGX
 * SuperPOD: 32 machines, 8 leaves, each with as many cables upwards as it has machines, and 4 spines
 * for each group. Source: NVIDIA, "DGX SuperPOD Reference Architecture. Featuring NVIDIA DGX B200
 * Systems", 2025, the table of sizes in the chapter on the architecture.
 *
 * Hosts are numbered machine by machine. Down ports of a leaf follow the machines, those of a spine
 * the leaves; parallel cables lie side by side.
 */
#include "generate_internal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

enum system_guids { SYSTEM_OF_MACHINE, SYSTEM_OF_ADAPTER, SYSTEM_NONE };

struct rail_tree {
	uint32_t groups, machines, adapters, spines, uplinks; /* machines: of a group */
	enum system_guids system;
	bool numbered; /* devices are called HCA-1, HCA-2 ... */
};

#define COUNT_OPTION(option_name, option_summary, option_fallback, least, most)                    \
	{                                                                                          \
		.name = option_name, .summary = option_summary, .type = HD_OPTION_INT,             \
		.fallback = option_fallback, .minimum = least, .maximum = most                     \
	}

static const struct hd_option rail_tree_options[] = {
    COUNT_OPTION("groups", "groups of machines, each with leaves of its own", "1", 1, HD_LID_LAST),
    COUNT_OPTION("machines", "machines of a group", "32", 1, HD_PORTS_MAX),
    COUNT_OPTION("adapters", "adapters of a machine, and leaves of a group: adapter i is on leaf i",
		 "8", 1, HD_PORTS_MAX),
    COUNT_OPTION("spines", "spines, each cabled to all leaves", "4", 1, HD_PORTS_MAX),
    COUNT_OPTION(
	"uplinks",
	"cables from every leaf to all spines together; 0: as many as machines of a group, "
	"which is full bandwidth",
	"0", 0, HD_PORTS_MAX),
    {.name = "system-guids",
     .summary = "system image GUIDs: one for all adapters of a machine, one for each "
		"adapter, or none (0)",
     .type = HD_OPTION_CHOICE,
     .fallback = "machine",
     .choices = "machine|adapter|none"},
    {.name = "devices",
     .summary = "names of adapters: gpu01 mlx5_0 or gpu01 HCA-1",
     .type = HD_OPTION_CHOICE,
     .fallback = "mlx5",
     .choices = "mlx5|hca"},
};

static uint32_t leaf_of(const struct rail_tree *shape, uint32_t group, uint32_t rail)
{
	return group * shape->adapters + rail;
}

static void add_switches(struct generation *generation, const struct rail_tree *shape)
{
	uint32_t leaves = shape->groups * shape->adapters;

	for (uint32_t group = 0; group < shape->groups; group++)
		for (uint32_t rail = 0; rail < shape->adapters; rail++)
			generate_switch(generation, shape->machines + shape->uplinks, "S1_%u_%u",
					group, rail);
	for (uint32_t spine = 0; spine < shape->spines; spine++)
		generate_switch(generation, leaves * (shape->uplinks / shape->spines), "S2_%u",
				spine);
}

static int digits_of(uint32_t number)
{
	return snprintf(NULL, 0, "%02" PRIu32, number);
}

static void add_machine(struct generation *generation, const struct rail_tree *shape,
			uint32_t group, uint32_t place)
{
	int digits = digits_of(shape->groups * shape->machines);
	uint32_t machine = group * shape->machines + place, first = generation->host_count;

	for (uint32_t rail = 0; rail < shape->adapters; rail++) {
		uint32_t system = shape->system == SYSTEM_OF_MACHINE   ? first
				  : shape->system == SYSTEM_OF_ADAPTER ? first + rail
								       : HD_NONE;
		uint32_t host =
		    generate_adapter(generation, system, "gpu%0*u %s%u", digits, machine + 1,
				     shape->numbered ? "HCA-" : "mlx5_", rail + shape->numbered);
		generate_link(generation, leaf_of(shape, group, rail), place + 1, host, 1);
	}
}

static void link_leaf(struct generation *generation, const struct rail_tree *shape, uint32_t leaf)
{
	uint32_t leaves = shape->groups * shape->adapters;
	uint32_t parallel = shape->uplinks / shape->spines;

	for (uint32_t spine = 0; spine < shape->spines; spine++)
		for (uint32_t cable = 0; cable < parallel; cable++)
			generate_link(generation, leaf,
				      shape->machines + spine * parallel + cable + 1,
				      leaves + spine, leaf * parallel + cable + 1);
}

static int check_uplinks(const struct rail_tree *shape, struct hd_error *err)
{
	if (shape->uplinks % shape->spines == 0)
		return 0;
	return hd_error_set(err, -EINVAL,
			    "option 'uplinks': %u cables of a leaf do not divide evenly among %u "
			    "spines",
			    shape->uplinks, shape->spines);
}

static struct generate_size size_of(const struct rail_tree *shape)
{
	uint64_t leaves = generate_product(shape->groups, shape->adapters);
	uint64_t leaf = (uint64_t)shape->machines + shape->uplinks;
	uint64_t spine = generate_product(leaves, shape->uplinks / shape->spines);

	return (struct generate_size){.switches = leaves + shape->spines,
				      .hosts = generate_product(leaves, shape->machines),
				      .radix = leaf > spine ? leaf : spine};
}

static int rail_tree(const struct hd_options *options, struct hd_fabric **out, struct hd_error *err)
{
	int rc = hd_options_complete(options, err);

	if (rc)
		return rc;
	struct generation generation;
	struct rail_tree shape = {.groups = generate_number(options, "groups"),
				  .machines = generate_number(options, "machines"),
				  .adapters = generate_number(options, "adapters"),
				  .spines = generate_number(options, "spines"),
				  .uplinks = generate_number(options, "uplinks"),
				  .system =
				      (enum system_guids)generate_number(options, "system-guids"),
				  .numbered = generate_number(options, "devices")};
	if (!shape.uplinks)
		shape.uplinks = shape.machines;
	struct generate_size size = size_of(&shape);
	rc = check_uplinks(&shape, err);
	if (!rc)
		rc = generate_begin(&generation, &size, err);
	if (rc)
		return rc;
	add_switches(&generation, &shape);
	for (uint32_t group = 0; group < shape.groups; group++)
		for (uint32_t place = 0; place < shape.machines; place++)
			add_machine(&generation, &shape, group, place);
	for (uint32_t leaf = 0; leaf < shape.groups * shape.adapters; leaf++)
		link_leaf(&generation, &shape, leaf);
	return generate_end(&generation, out);
}

const struct hd_generator generate_rail_tree = {
    .name = "rail-tree",
    .summary = "machines of several adapters, each on a leaf of its own, below spines",
    .options = rail_tree_options,
    .option_count = GENERATE_OPTION_COUNT(rail_tree_options),
    .generate = rail_tree,
};
