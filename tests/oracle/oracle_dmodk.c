/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "oracle_dmodk.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* Digits of "H_3_0_5" or "S2_3_0_5", the lowest at digit[lowest]; all others 0. */
static void parse_digits(const char *name, unsigned lowest, uint32_t digit[ORACLE_DMODK_LEVELS + 1])
{
	unsigned count = 0;

	memset(digit, 0, (ORACLE_DMODK_LEVELS + 1) * sizeof(*digit));
	for (const char *at = name; (at = strchr(at, '_')); at++)
		count++;
	for (const char *at = name; (at = strchr(at, '_')); at++)
		digit[lowest + --count] = (uint32_t)strtoul(at + 1, NULL, 10);
}

/* d: the host's number among all, digit h first. */
static uint32_t number_of(const struct oracle_dmodk_shape *shape, const uint32_t *digit)
{
	uint32_t number = 0;

	for (unsigned j = shape->height; j >= 1; j--)
		number = number * shape->children[j - 1] + digit[j];
	return number;
}

/* Number of the up-link that d takes at a switch of `level` (1 = leaf). */
static uint32_t up_number(const struct oracle_dmodk_shape *shape, unsigned level, uint32_t d)
{
	for (unsigned j = 0; j < level; j++)
		d /= shape->parents[j];
	return d % (shape->parents[level] * shape->parallel[level]);
}

uint8_t oracle_dmodk_port(const struct hd_fabric *fabric, const struct oracle_dmodk_shape *shape,
			  uint32_t sw, uint32_t host, uint32_t offset)
{
	uint32_t here[ORACLE_DMODK_LEVELS + 1], there[ORACLE_DMODK_LEVELS + 1];
	const char *host_name = fabric->node_name[fabric->port_node[fabric->host_port[host]]];
	unsigned level = (unsigned)strtoul(fabric->node_name[sw] + 1, NULL, 10);

	assert(host_name[0] == 'H' && fabric->node_name[sw][0] == 'S' && level <= shape->height);
	parse_digits(fabric->node_name[sw], 2, here);
	parse_digits(host_name, 1, there);
	uint32_t d = number_of(shape, there) + offset;
	bool below = true;
	for (unsigned j = level + 1; j <= shape->height; j++)
		below &= here[j] == there[j];
	if (!below) {
		uint32_t number = up_number(shape, level, d);
		uint32_t parent = number % shape->parents[level];
		uint32_t cable = number / shape->parents[level];
		return (uint8_t)(shape->children[level - 1] * shape->parallel[level - 1] +
				 parent * shape->parallel[level] + cable + 1);
	}
	if (level == 1)
		return (uint8_t)(there[1] + 1);
	uint32_t cable = up_number(shape, level - 1, d) / shape->parents[level - 1];
	return (uint8_t)(there[level] * shape->parallel[level - 1] + cable + 1);
}
