/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The egress port of a pair of LIDs: the same pair always gets the same one, so packets of a flow
 * stay in order. Bogdanski et al., "Making the Network Scalable", section 4.1.
 */
#ifndef ROUTER_HASH_H
#define ROUTER_HASH_H

#include <stdint.h>

enum hd_router_hash {
	HD_ROUTER_HASH_PAIR, /* a mix of both LIDs */
	HD_ROUTER_HASH_SUM /* the paper's: pairs with the same sum of LIDs share a port */
};

/* 32 bits in which each bit depends on each bit of `value`. */
uint32_t hd_router_mix(uint32_t value);

/* Index of a candidate, 0 .. count - 1. `count` is 1 or more. Cost: O(1). */
uint32_t hd_router_hash_index(enum hd_router_hash hash, uint16_t source_lid,
			      uint16_t destination_lid, uint32_t count);

#endif
