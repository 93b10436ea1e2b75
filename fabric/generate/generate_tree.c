/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Trees that three numbers for each level define.
 *
 * A node at level l is a row of digits d_h .. d_1. The digits above l are the number of its subtree
 * (digit j is less than m_j). The others are the number of its copy within the subtree (digit j is
 * less than w_j). A node at level l-1 and a node at level l are cabled if they differ only in digit
 * l. Hosts are level 0. w_1 is 1, so digit 1 of a switch is always 0 and not part of its name.
 *
 * Sources: Öhring, Ibel, Das, Kumar, "On generalized fat trees", IPPS 1995, section 2; Zahavi,
 * "D-Mod-K routing providing non-blocking traffic for shift permutations on real life fat
 * trees", 2010, section 3.
 */
#include "generate_internal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Number of values that the digit i + 1 of a node at `level` can have. */
static uint32_t digit_base(const struct tree_shape *shape, unsigned level, unsigned i)
{
	return i < level ? shape->parents[i] : shape->children[i];
}

static uint64_t nodes_at(const struct tree_shape *shape, unsigned level)
{
	uint64_t nodes = 1;

	for (unsigned i = 0; i < shape->height; i++)
		nodes = generate_product(nodes, digit_base(shape, level, i));
	return nodes;
}

static uint32_t down_ports(const struct tree_shape *shape, unsigned level)
{
	return shape->children[level - 1] * shape->parallel[level - 1];
}

static uint32_t up_ports(const struct tree_shape *shape, unsigned level)
{
	return level < shape->height ? shape->parents[level] * shape->parallel[level] : 0;
}

static struct generate_size size_of(const struct tree_shape *shape)
{
	struct generate_size size = {.hosts = nodes_at(shape, 0)};

	for (unsigned level = 1; level <= shape->height; level++) {
		uint64_t radix =
		    (uint64_t)down_ports(shape, level) + (uint64_t)up_ports(shape, level);
		uint64_t nodes = nodes_at(shape, level);
		size.radix = radix > size.radix ? radix : size.radix;
		if (__builtin_add_overflow(size.switches, nodes, &size.switches))
			size.switches = UINT64_MAX;
	}
	return size;
}

/* "_a_b_c": the digits of a node from the highest down to digit `lowest`. */
static const char *digits_text(const struct tree_shape *shape, unsigned level, uint32_t index,
			       unsigned lowest, char *text)
{
	uint32_t digits[HD_OPTION_LIST_MAX];
	int used = 0;

	for (unsigned i = 0; i < shape->height; i++) {
		uint32_t base = digit_base(shape, level, i);
		digits[i] = index % base;
		index /= base;
	}
	text[0] = '\0';
	for (unsigned i = shape->height; i-- >= lowest && used < GENERATE_NAME_SIZE;)
		used += snprintf(text + used, (size_t)(GENERATE_NAME_SIZE - used), "_%" PRIu32,
				 digits[i]);
	return text;
}

static void add_level(struct generation *generation, const struct tree_shape *shape, unsigned level,
		      uint32_t *first)
{
	char digits[GENERATE_NAME_SIZE];
	uint64_t nodes = nodes_at(shape, level);

	for (uint32_t index = 0; index < nodes; index++) {
		uint32_t handle;
		if (!level)
			handle = generate_host(generation, "H%s",
					       digits_text(shape, 0, index, 1, digits));
		else
			handle = generate_switch(
			    generation, down_ports(shape, level) + up_ports(shape, level), "S%u%s",
			    level, digits_text(shape, level, index, 2, digits));
		if (!index)
			first[level] = handle;
	}
}

/* Cables one node of level - 1 with all its parents. */
static void link_up(struct generation *generation, const struct tree_shape *shape, unsigned level,
		    const uint32_t *first, uint32_t child)
{
	uint32_t children = shape->children[level - 1], parents = shape->parents[level - 1];
	uint32_t parallel = shape->parallel[level - 1], below = 1;

	for (unsigned i = 0; i + 1 < level; i++)
		below *= shape->parents[i];
	uint32_t above = child / below / children, digit = child / below % children;
	uint32_t down = level > 1 ? down_ports(shape, level - 1) : 0;
	for (uint32_t choice = 0; choice < parents; choice++) {
		uint32_t parent = (above * parents + choice) * below + child % below;
		for (uint32_t cable = 0; cable < parallel; cable++)
			generate_link(generation, first[level - 1] + child,
				      down + choice * parallel + cable + 1, first[level] + parent,
				      digit * parallel + cable + 1);
	}
}

int generate_tree(const struct tree_shape *shape, struct hd_fabric **out, struct hd_error *err)
{
	struct generation generation;
	struct generate_size size = size_of(shape);
	uint32_t first[HD_OPTION_LIST_MAX + 1];
	int rc = generate_begin(&generation, &size, err);

	if (rc)
		return rc;
	for (unsigned level = 0; level <= shape->height; level++)
		add_level(&generation, shape, level, first);
	for (unsigned level = 1; level <= shape->height; level++)
		for (uint32_t child = 0; child < nodes_at(shape, level - 1); child++)
			link_up(&generation, shape, level, first, child);
	return generate_end(&generation, out);
}

/* ---- XGFT ---- */

static const struct hd_option xgft_options[] = {
    {.name = "children",
     .summary = "children of a leaf, of a switch one level up, ... (m)",
     .type = HD_OPTION_INT_LIST,
     .minimum = 1,
     .maximum = HD_PORTS_MAX},
    {.name = "parents",
     .summary = "parents of a host, of a leaf, of a switch one level up, ... (w); the first is 1",
     .type = HD_OPTION_INT_LIST,
     .minimum = 1,
     .maximum = HD_PORTS_MAX},
    {.name = "parallel",
     .summary = "parallel cables below a leaf, below a switch one level up, ...; the first is 1; a "
		"single 1: no parallel cables",
     .type = HD_OPTION_INT_LIST,
     .fallback = "1",
     .minimum = 1,
     .maximum = HD_PORTS_MAX},
};

static int copy_levels(const struct hd_options *options, const char *name, unsigned height,
		       uint32_t *levels, struct hd_error *err)
{
	const struct hd_option_value *value = hd_options_get(options, name);

	if (value->count != height)
		return hd_error_set(err, -EINVAL, "option '%s': %u levels given, 'children' has %u",
				    name, value->count, height);
	for (unsigned i = 0; i < height; i++)
		levels[i] = (uint32_t)value->list[i];
	return 0;
}

static int host_cables(const char *name, uint32_t first, struct hd_error *err)
{
	if (first == 1)
		return 0;
	return hd_error_set(
	    err, -EINVAL,
	    "option '%s': the first number is %u, expected 1, because a host has one port", name,
	    first);
}

static int xgft(const struct hd_options *options, struct hd_fabric **out, struct hd_error *err)
{
	int rc = hd_options_complete(options, err);

	if (rc)
		return rc;
	struct tree_shape shape = {.height = hd_options_get(options, "children")->count};
	for (unsigned i = 0; i < shape.height; i++)
		shape.parallel[i] = 1;
	rc = copy_levels(options, "children", shape.height, shape.children, err);
	if (!rc)
		rc = copy_levels(options, "parents", shape.height, shape.parents, err);
	if (!rc && hd_options_get(options, "parallel")->given)
		rc = copy_levels(options, "parallel", shape.height, shape.parallel, err);
	if (!rc)
		rc = host_cables("parents", shape.parents[0], err);
	if (!rc)
		rc = host_cables("parallel", shape.parallel[0], err);
	return rc ? rc : generate_tree(&shape, out, err);
}

const struct hd_generator generate_xgft = {
    .name = "xgft",
    .summary = "extended generalized fat tree XGFT(h; m; w), also with parallel cables",
    .options = xgft_options,
    .option_count = GENERATE_OPTION_COUNT(xgft_options),
    .generate = xgft,
};

/* ---- k-ary n-tree ---- */

static const struct hd_option kary_ntree_options[] = {
    {.name = "k",
     .summary = "number of down ports of a switch, and of its up ports",
     .type = HD_OPTION_INT,
     .minimum = 1,
     .maximum = HD_PORTS_MAX / 2},
    {.name = "n",
     .summary = "levels of switches",
     .type = HD_OPTION_INT,
     .minimum = 1,
     .maximum = HD_OPTION_LIST_MAX},
};

static int kary_ntree(const struct hd_options *options, struct hd_fabric **out,
		      struct hd_error *err)
{
	int rc = hd_options_complete(options, err);

	if (rc)
		return rc;
	struct tree_shape shape = {.height = generate_number(options, "n")};
	for (unsigned i = 0; i < shape.height; i++) {
		shape.children[i] = generate_number(options, "k");
		shape.parents[i] = i ? shape.children[i] : 1;
		shape.parallel[i] = 1;
	}
	return generate_tree(&shape, out, err);
}

const struct hd_generator generate_kary_ntree = {
    .name = "kary-ntree",
    .summary = "k-ary n-tree: k^n hosts below n levels of k^(n-1) switches",
    .options = kary_ntree_options,
    .option_count = GENERATE_OPTION_COUNT(kary_ntree_options),
    .generate = kary_ntree,
};

/* ---- real-life fat trees ---- */

/*
 * Real-life fat trees have one kind of switch, use every port, and have as many cables upwards as
 * downwards at every level (constant bisection). A tree with fewer hosts than the largest one of
 * that height has parallel cables in place of further subtrees, at the highest levels first.
 *
 * With radix 2K and h levels, a leaf has K hosts. A switch of level l has p_l parallel cables to
 * each of its K / p_l children (2K / p_l at the top). The number of hosts is 2 K^h / (p_2 p_3 ...
 * p_h). Source: Zahavi, "D-Mod-K routing ... on real life fat trees", 2010, section 3.
 */

static const struct hd_option rlft_options[] = {
    {.name = "radix",
     .summary = "ports of a switch, an even number",
     .type = HD_OPTION_INT,
     .fallback = "36",
     .minimum = 2,
     .maximum = HD_PORTS_MAX},
    {.name = "levels",
     .summary = "levels of switches",
     .type = HD_OPTION_INT,
     .fallback = "2",
     .minimum = 2,
     .maximum = 6},
    {.name = "hosts",
     .summary = "number of hosts; 0: the most that the tree can have",
     .type = HD_OPTION_INT,
     .fallback = "0",
     .minimum = 0,
     .maximum = HD_LID_LAST},
};

static uint64_t largest_tree(uint32_t half, unsigned levels)
{
	uint64_t hosts = 2;

	for (unsigned level = 0; level < levels; level++)
		hosts = generate_product(hosts, half);
	return hosts;
}

static uint32_t greatest_common_divisor(uint64_t a, uint32_t b)
{
	while (b) {
		uint32_t rest = (uint32_t)(a % b);
		a = b;
		b = rest;
	}
	return (uint32_t)a;
}

/* Chooses the numbers of parallel cables; false if no such tree has that many hosts. */
static bool fit(uint32_t half, unsigned levels, uint64_t hosts, struct tree_shape *shape)
{
	uint64_t largest = largest_tree(half, levels);

	if (!hosts || largest % hosts)
		return false;
	uint64_t left = largest / hosts;
	*shape = (struct tree_shape){.height = levels};
	for (unsigned i = levels; i-- > 0;) {
		uint32_t parallel = i ? greatest_common_divisor(left, half) : 1;
		shape->parallel[i] = parallel;
		shape->parents[i] = i ? half / parallel : 1;
		shape->children[i] = (i + 1 == levels ? 2 * half : half) / parallel;
		left /= parallel;
	}
	return left == 1;
}

static int does_not_fit(uint32_t half, unsigned levels, uint64_t hosts, struct hd_error *err)
{
	struct tree_shape shape;
	uint64_t fewer = hosts, more = hosts;

	while (fewer && !fit(half, levels, fewer, &shape))
		fewer--;
	while (more <= HD_LID_LAST && !fit(half, levels, more, &shape))
		more++;
	if (more > HD_LID_LAST)
		return hd_error_set(err, -EINVAL,
				    "no full tree of %u levels of %u-port switches has %" PRIu64
				    " hosts; the largest that the LIDs allow has %" PRIu64,
				    levels, 2 * half, hosts, fewer);
	if (!fewer)
		return hd_error_set(err, -EINVAL,
				    "no full tree of %u levels of %u-port switches has %" PRIu64
				    " hosts; the smallest has %" PRIu64,
				    levels, 2 * half, hosts, more);
	return hd_error_set(err, -EINVAL,
			    "%" PRIu64 " hosts do not fill %u levels of %u-port switches evenly; "
			    "the nearest numbers that fill them are %" PRIu64 " and %" PRIu64,
			    hosts, levels, 2 * half, fewer, more);
}

static int rlft(const struct hd_options *options, struct hd_fabric **out, struct hd_error *err)
{
	uint32_t radix = generate_number(options, "radix");
	unsigned levels = generate_number(options, "levels");
	uint64_t hosts = generate_number(options, "hosts");
	struct tree_shape shape;

	if (radix % 2)
		return hd_error_set(err, -EINVAL,
				    "option 'radix': %u is odd, expected an even number: half of "
				    "the ports lead up, half down",
				    radix);
	if (!hosts)
		hosts = largest_tree(radix / 2, levels);
	if (!fit(radix / 2, levels, hosts, &shape))
		return does_not_fit(radix / 2, levels, hosts, err);
	return generate_tree(&shape, out, err);
}

const struct hd_generator generate_rlft = {
    .name = "rlft",
    .summary = "real-life fat tree: equal switches, constant bisection, parallel cables",
    .options = rlft_options,
    .option_count = GENERATE_OPTION_COUNT(rlft_options),
    .generate = rlft,
};

/* ---- directors ---- */

/*
 * Leaves below director switches. A director consists of line chips and spine chips, and each line
 * chip is cabled to each spine chip. Leaves fill the outside ports of the line chips in leaf order.
 * The defaults make a fabric like CHiC's: 44 leaves of 24 ports and two 288-port directors.
 */

struct directors {
	uint32_t leaves, hosts, directors, uplinks, lines, outside, spines;
};

#define COUNT_OPTION(option_name, option_summary, option_fallback, least, most)                    \
	{                                                                                          \
		.name = option_name, .summary = option_summary, .type = HD_OPTION_INT,             \
		.fallback = option_fallback, .minimum = least, .maximum = most                     \
	}

static const struct hd_option directors_options[] = {
    COUNT_OPTION("leaves", "leaf switches", "44", 1, HD_LID_LAST),
    COUNT_OPTION("hosts", "hosts on every leaf", "12", 0, HD_PORTS_MAX),
    COUNT_OPTION("directors", "director switches", "2", 1, HD_PORTS_MAX),
    COUNT_OPTION("uplinks", "cables from every leaf to every director", "6", 1, HD_PORTS_MAX),
    COUNT_OPTION("line-chips", "line chips of a director", "24", 1, HD_PORTS_MAX),
    COUNT_OPTION("outside", "outside ports of a line chip", "12", 1, HD_PORTS_MAX),
    COUNT_OPTION("spine-chips", "spine chips of a director", "12", 1, HD_PORTS_MAX),
};

static uint32_t line_chip(const struct directors *shape, uint32_t director, uint32_t line)
{
	return shape->leaves + director * (shape->lines + shape->spines) + line;
}

static uint32_t spine_chip(const struct directors *shape, uint32_t director, uint32_t spine)
{
	return line_chip(shape, director, shape->lines) + spine;
}

static void add_switches(struct generation *generation, const struct directors *shape)
{
	for (uint32_t leaf = 0; leaf < shape->leaves; leaf++)
		generate_switch(generation, shape->hosts + shape->directors * shape->uplinks,
				"S1_%u", leaf);
	for (uint32_t director = 0; director < shape->directors; director++) {
		for (uint32_t line = 0; line < shape->lines; line++)
			generate_switch(generation, shape->outside + shape->spines, "S2_%u_%u",
					director, line);
		for (uint32_t spine = 0; spine < shape->spines; spine++)
			generate_switch(generation, shape->lines, "S3_%u_%u", director, spine);
	}
}

static void link_leaf(struct generation *generation, const struct directors *shape, uint32_t leaf)
{
	for (uint32_t host = 0; host < shape->hosts; host++)
		generate_link(generation, leaf, host + 1,
			      generate_host(generation, "H_%u", leaf * shape->hosts + host), 1);
	for (uint32_t director = 0; director < shape->directors; director++) {
		for (uint32_t cable = 0; cable < shape->uplinks; cable++) {
			uint32_t socket = leaf * shape->uplinks + cable;
			generate_link(generation, leaf,
				      shape->hosts + director * shape->uplinks + cable + 1,
				      line_chip(shape, director, socket / shape->outside),
				      socket % shape->outside + 1);
		}
	}
}

static void link_director(struct generation *generation, const struct directors *shape,
			  uint32_t director)
{
	for (uint32_t line = 0; line < shape->lines; line++)
		for (uint32_t spine = 0; spine < shape->spines; spine++)
			generate_link(generation, line_chip(shape, director, line),
				      shape->outside + spine + 1,
				      spine_chip(shape, director, spine), line + 1);
}

static int check_sockets(const struct directors *shape, struct hd_error *err)
{
	uint64_t needed = (uint64_t)shape->leaves * shape->uplinks;
	uint64_t sockets = (uint64_t)shape->lines * shape->outside;

	if (needed <= sockets)
		return 0;
	return hd_error_set(err, -EINVAL,
			    "%u leaves with %u uplinks each need %" PRIu64
			    " outside ports of every director, but a director has only %" PRIu64,
			    shape->leaves, shape->uplinks, needed, sockets);
}

static struct generate_size size_of_directors(const struct directors *shape)
{
	const uint64_t radix[] = {shape->hosts + shape->directors * shape->uplinks,
				  shape->outside + shape->spines, shape->lines};
	struct generate_size size = {.hosts = (uint64_t)shape->leaves * shape->hosts,
				     .switches = shape->leaves +
						 shape->directors * (shape->lines + shape->spines)};

	for (unsigned i = 0; i < sizeof(radix) / sizeof(radix[0]); i++)
		size.radix = radix[i] > size.radix ? radix[i] : size.radix;
	return size;
}

static int directors(const struct hd_options *options, struct hd_fabric **out, struct hd_error *err)
{
	struct directors shape = {.leaves = generate_number(options, "leaves"),
				  .hosts = generate_number(options, "hosts"),
				  .directors = generate_number(options, "directors"),
				  .uplinks = generate_number(options, "uplinks"),
				  .lines = generate_number(options, "line-chips"),
				  .outside = generate_number(options, "outside"),
				  .spines = generate_number(options, "spine-chips")};
	struct generation generation;
	struct generate_size size = size_of_directors(&shape);
	int rc = check_sockets(&shape, err);

	if (!rc)
		rc = generate_begin(&generation, &size, err);
	if (rc)
		return rc;
	add_switches(&generation, &shape);
	for (uint32_t leaf = 0; leaf < shape.leaves; leaf++)
		link_leaf(&generation, &shape, leaf);
	for (uint32_t director = 0; director < shape.directors; director++)
		link_director(&generation, &shape, director);
	return generate_end(&generation, out);
}

const struct hd_generator generate_directors = {
    .name = "directors",
    .summary = "leaves below directors, which are fat trees inside",
    .options = directors_options,
    .option_count = GENERATE_OPTION_COUNT(directors_options),
    .generate = directors,
};
