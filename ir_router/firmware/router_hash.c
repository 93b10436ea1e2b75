/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "router_hash.h"

/* The constants are those of C. Wellons, "Hash function prospector", triple32. */
uint32_t hd_router_mix(uint32_t value)
{
	value ^= value >> 17;
	value *= 0xED5AD4BBu;
	value ^= value >> 11;
	value *= 0xAC4C1B51u;
	value ^= value >> 15;
	value *= 0x31848BABu;
	value ^= value >> 14;
	return value;
}

/* One number of a permuted congruential generator with this seed: the same on every machine, as
 * the C library's rand() is not. */
static uint32_t first_random(uint32_t seed)
{
	uint32_t state = seed * 747796405u + 2891336453u;
	uint32_t word = ((state >> ((state >> 28) + 4)) ^ state) * 277803737u;

	return (word >> 22) ^ word;
}

uint32_t hd_router_hash_index(enum hd_router_hash hash, uint16_t source_lid,
			      uint16_t destination_lid, uint32_t count)
{
	uint32_t pair = (uint32_t)source_lid << 16 | destination_lid;

	if (hash == HD_ROUTER_HASH_SUM)
		return first_random((uint32_t)source_lid + destination_lid) % count;
	return (uint32_t)((uint64_t)hd_router_mix(pair) * count >> 32);
}
