/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Dragonfly of one level: groups of switches, each switch cabled to each other one of its group,
 * and global cables between groups.
 *
 * The first ports of a switch are for hosts. Port k of the next a - 1 ones leads to the k-th next
 * switch of the group, in a circle. The global ports follow. The global cables of a group are
 * numbered switch by switch; generate_far_end() says where each goes. Global ports that are left
 * over stay free. Source: Kim, Dally, Scott, Abts, "Technology-driven, highly-scalable dragonfly
 * topology", 2008 (there g groups of a switches with h global ports and p hosts each).
 */
#include "generate_internal.h"

#include <errno.h>
#include <stddef.h>

struct dragonfly {
	uint32_t groups, switches, hosts, globals; /* switches: of a group */
};

#define COUNT_OPTION(option_name, option_summary, option_fallback, least, most)                    \
	{                                                                                          \
		.name = option_name, .summary = option_summary, .type = HD_OPTION_INT,             \
		.fallback = option_fallback, .minimum = least, .maximum = most                     \
	}

static const struct hd_option dragonfly_options[] = {
    COUNT_OPTION("switches", "switches of a group (a)", NULL, 1, HD_PORTS_MAX),
    COUNT_OPTION("global-links", "ports of every switch towards other groups (h)", NULL, 0,
		 HD_PORTS_MAX),
    COUNT_OPTION("hosts", "hosts on every switch (p)", NULL, 0, HD_PORTS_MAX),
    COUNT_OPTION(
	"groups",
	"number of groups (g); 0: as many as can be, one cable between every two (a h + 1)", "0", 0,
	HD_LID_LAST),
};

static uint32_t switch_of(const struct dragonfly *shape, uint32_t group, uint32_t member)
{
	return group * shape->switches + member;
}

static void add_switches(struct generation *generation, const struct dragonfly *shape,
			 uint32_t radix)
{
	for (uint32_t group = 0; group < shape->groups; group++)
		for (uint32_t member = 0; member < shape->switches; member++)
			generate_switch(generation, radix, "S_%u_%u", group, member);
}

/* Cables a switch to its hosts and to the later ones of its group. */
static void link_member(struct generation *generation, const struct dragonfly *shape,
			uint32_t group, uint32_t member)
{
	uint32_t sw = switch_of(shape, group, member);

	for (uint32_t host = 0; host < shape->hosts; host++)
		generate_link(generation, sw, host + 1,
			      generate_host(generation, "H_%u_%u_%u", group, member, host), 1);
	for (uint32_t step = 1; member + step < shape->switches; step++)
		generate_link(generation, sw, shape->hosts + step, sw + step,
			      shape->hosts + shape->switches - step);
}

static void link_global(struct generation *generation, const struct dragonfly *shape,
			uint32_t group, uint32_t cable)
{
	struct generate_global near = {group, cable};
	struct generate_global far = generate_far_end(shape->groups, near);
	uint32_t port = shape->hosts + shape->switches; /* the first global one */

	if (far.group > group)
		generate_link(generation, switch_of(shape, group, cable / shape->globals),
			      port + cable % shape->globals,
			      switch_of(shape, far.group, far.cable / shape->globals),
			      port + far.cable % shape->globals);
}

static int check_groups(const struct dragonfly *shape, struct hd_error *err)
{
	uint32_t ports = shape->switches * shape->globals;

	if (ports >= shape->groups - 1)
		return 0;
	return hd_error_set(err, -EINVAL,
			    "a group has %u global ports (%u switches x %u global-links), fewer "
			    "than the %u other groups",
			    ports, shape->switches, shape->globals, shape->groups - 1);
}

static int generate_groups(const struct dragonfly *shape, struct hd_fabric **out,
			   struct hd_error *err)
{
	struct generation generation;
	struct generate_size size = {.switches = (uint64_t)shape->groups * shape->switches,
				     .radix = (uint64_t)shape->hosts + shape->switches - 1 +
					      shape->globals};

	size.hosts = size.switches * shape->hosts;
	int rc = generate_begin(&generation, &size, err);
	if (rc)
		return rc;
	add_switches(&generation, shape, size.radix ? (uint32_t)size.radix : 1);
	uint32_t others = shape->groups - 1;
	uint32_t cables = others ? shape->switches * shape->globals / others * others : 0;
	for (uint32_t group = 0; group < shape->groups; group++) {
		for (uint32_t member = 0; member < shape->switches; member++)
			link_member(&generation, shape, group, member);
		for (uint32_t cable = 0; cable < cables; cable++)
			link_global(&generation, shape, group, cable);
	}
	return generate_end(&generation, out);
}

static int dragonfly(const struct hd_options *options, struct hd_fabric **out, struct hd_error *err)
{
	int rc = hd_options_complete(options, err);

	if (rc)
		return rc;
	struct dragonfly shape = {.groups = generate_number(options, "groups"),
				  .switches = generate_number(options, "switches"),
				  .hosts = generate_number(options, "hosts"),
				  .globals = generate_number(options, "global-links")};
	if (!shape.groups)
		shape.groups = shape.switches * shape.globals + 1;
	rc = check_groups(&shape, err);
	return rc ? rc : generate_groups(&shape, out, err);
}

const struct hd_generator generate_dragonfly = {
    .name = "dragonfly",
    .summary = "Dragonfly: groups in which all switches are neighbours, cabled to each other",
    .options = dragonfly_options,
    .option_count = GENERATE_OPTION_COUNT(dragonfly_options),
    .generate = dragonfly,
};
