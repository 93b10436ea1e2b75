/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Real-life fat trees have one kind of switch, use every port, and have as many cables upwards as
 * downwards at every level (constant bisection). A tree with fewer hosts than the largest one of
 * that height has parallel cables in place of further subtrees, at the highest levels first.
 *
 * With radix 2K and h levels, a leaf has K hosts. A switch of level l has p_l parallel cables to
 * each of its K / p_l children (2K / p_l at the top). The number of hosts is 2 K^h / (p_2 p_3 ...
 * p_h). Source: Zahavi, "D-Mod-K routing ... on real life fat trees", 2010, section 3.
 */
#include "generate_internal.h"

#include <errno.h>
#include <inttypes.h>

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
