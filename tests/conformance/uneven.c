/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "uneven.h"
#include "generated.h"

#include <heddle/base/random.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define CASCADE_PORTS 36u
#define CASCADE_GUID UINT64_C(0x7700000000)

static void demand(int rc, const struct hd_error *err)
{
	if (!rc)
		return;
	fprintf(stderr, "%s\n", err->text);
	exit(2);
}

static unsigned pick(uint64_t *random, unsigned least, unsigned most)
{
	return least + (unsigned)hd_random_below(random, most - least + 1);
}

static struct hd_fabric *generate(const char *kind, const char *settings, char *name)
{
	struct hd_fabric *fabric = NULL;
	struct hd_error err = {""};

	demand(generated_fabric(kind, settings, &fabric, &err), &err);
	snprintf(name, UNEVEN_NAME, "%s %s", kind, settings);
	return fabric;
}

static struct hd_fabric *draw_tree(uint64_t *random, char *name)
{
	char settings[80];
	unsigned leaf = pick(random, 4, 12), up = pick(random, 2, leaf);

	if (pick(random, 0, 1))
		snprintf(settings, sizeof(settings), "children=%u,%u parents=1,%u", leaf,
			 pick(random, 4, 10), up);
	else
		snprintf(settings, sizeof(settings), "children=%u,%u,%u parents=1,%u,%u", leaf,
			 pick(random, 2, 5), pick(random, 2, 4), pick(random, 2, 4),
			 pick(random, 2, 4));
	return generate("xgft", settings, name);
}

/* Builds the fabric as it was changed, and frees the one that it was made from. */
static struct hd_fabric *build(struct hd_builder *builder, struct hd_fabric *from)
{
	struct hd_fabric *fabric = NULL, *numbered = NULL;
	struct hd_error err = {""};

	demand(hd_builder_build(builder, &fabric, &err), &err);
	demand(hd_fabric_assign_lids(fabric, 0, &numbered, &err), &err);
	hd_builder_free(builder);
	hd_fabric_free(fabric);
	hd_fabric_free(from);
	return numbered;
}

static void add(char *name, const char *what, unsigned number)
{
	size_t used = strlen(name);

	snprintf(name + used, UNEVEN_NAME - used, ", %s %u", what, number);
}

static struct hd_fabric *without_links(struct hd_fabric *fabric, uint64_t *random, char *name)
{
	unsigned percent = pick(random, 1, 25);
	struct hd_fabric *less = NULL;
	struct hd_error err = {""};

	demand(hd_fabric_remove_links(fabric, percent, hd_random_next(random), &less, &err), &err);
	hd_fabric_free(fabric);
	add(name, "percent of the cables missing:", percent);
	return less;
}

/* Leaves with different numbers of hosts. */
static struct hd_fabric *without_hosts(struct hd_fabric *fabric, uint64_t *random, char *name)
{
	struct hd_builder *builder = hd_builder_from(fabric);
	unsigned percent = pick(random, 5, 50);

	for (uint32_t host = 0; host < fabric->host_count; host++)
		if (hd_random_below(random, 100) < percent)
			hd_builder_unlink(builder, fabric->host_switch[host],
					  fabric->host_switch_port[host]);
	add(name, "percent of the hosts missing:", percent);
	return build(builder, fabric);
}

/* Some of the switches without hosts are gone. */
static struct hd_fabric *without_spines(struct hd_fabric *fabric, uint64_t *random, char *name)
{
	struct hd_builder *builder = hd_builder_from(fabric);
	unsigned percent = pick(random, 5, 40);

	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		if (fabric->host_base[sw] == fabric->host_base[sw + 1] &&
		    hd_random_below(random, 100) < percent)
			for (uint32_t port = 1; port <= hd_node_ports(fabric, sw); port++)
				hd_builder_unlink(builder, sw, port);
	add(name, "percent of the spines missing:", percent);
	return build(builder, fabric);
}

/* The last hosts of a leaf go to a switch of their own, which hangs below the leaf. */
static void hang_below(struct hd_builder *builder, const struct hd_fabric *fabric, uint32_t leaf,
		       unsigned moved, unsigned cables)
{
	uint32_t node = HD_NONE, end = fabric->host_base[leaf + 1];
	struct hd_error err = {""};

	demand(hd_builder_add_node(builder,
				   &(struct hd_node_spec){.type = HD_SWITCH,
							  .guid = CASCADE_GUID + leaf,
							  .port_count = CASCADE_PORTS,
							  .name = "cascade"},
				   &node, &err),
	       &err);
	for (uint32_t i = 0; i < moved; i++) {
		uint32_t host = end - 1 - i, at = fabric->host_switch_port[host];
		uint32_t port = fabric->host_port[host];
		hd_builder_unlink(builder, leaf, at);
		demand(hd_builder_link(builder, fabric->port_node[port],
				       hd_port_number(fabric, port), node, i + 1, 0, 0, &err),
		       &err);
		if (i < cables)
			demand(
			    hd_builder_link(builder, leaf, at, node, CASCADE_PORTS - i, 0, 0, &err),
			    &err);
	}
}

static struct hd_fabric *with_cascades(struct hd_fabric *fabric, uint64_t *random, char *name)
{
	struct hd_builder *builder = hd_builder_from(fabric);
	unsigned count = 0;

	for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
		unsigned hosts = fabric->host_base[sw + 1] - fabric->host_base[sw];
		if (hosts < 3 || pick(random, 0, 3))
			continue;
		unsigned moved = pick(random, 2, hosts - 1);
		hang_below(builder, fabric, sw, moved, pick(random, 1, moved));
		count++;
	}
	add(name, "switches below leaves:", count);
	return build(builder, fabric);
}

static struct hd_fabric *draw_other(uint64_t *random, char *name)
{
	char settings[80];

	switch (pick(random, 0, 3)) {
	case 0:
		snprintf(settings, sizeof(settings), "dims=%u,%u hosts=%u", pick(random, 3, 5),
			 pick(random, 3, 5), pick(random, 1, 4));
		return generate("torus", settings, name);
	case 1:
		snprintf(settings, sizeof(settings),
			 "islands=%u leaves=%u spines=%u hosts=%u global-links=2",
			 pick(random, 2, 4), pick(random, 2, 4), pick(random, 2, 4),
			 pick(random, 2, 4));
		return generate("dragonfly-plus", settings, name);
	default:
		snprintf(settings, sizeof(settings), "switches=%u radix=%u seed=%u",
			 pick(random, 5, 40), pick(random, 8, 16), pick(random, 0, 100000));
		return generate("irregular", settings, name);
	}
}

struct hd_fabric *uneven_fabric(uint64_t number, char name[UNEVEN_NAME])
{
	uint64_t random = number * UINT64_C(0x9E3779B97F4A7C15);

	switch (number % UNEVEN_KINDS) {
	case 0:
		return without_hosts(draw_tree(&random, name), &random, name);
	case 1:
		return without_links(draw_tree(&random, name), &random, name);
	case 2:
		return without_spines(draw_tree(&random, name), &random, name);
	case 3:
		return with_cascades(draw_tree(&random, name), &random, name);
	case 4:
		return draw_other(&random, name);
	default:
		return number % 4 ? without_links(draw_other(&random, name), &random, name)
				  : draw_tree(&random, name);
	}
}
