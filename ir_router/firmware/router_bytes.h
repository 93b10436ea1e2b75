/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Numbers in network byte order, and the checksum. */
#ifndef ROUTER_BYTES_H
#define ROUTER_BYTES_H

#include <stdint.h>

static inline uint16_t router_bytes_get16(const uint8_t *at)
{
	return (uint16_t)(at[0] << 8 | at[1]);
}

static inline uint32_t router_bytes_get32(const uint8_t *at)
{
	return (uint32_t)router_bytes_get16(at) << 16 | router_bytes_get16(at + 2);
}

static inline uint64_t router_bytes_get64(const uint8_t *at)
{
	return (uint64_t)router_bytes_get32(at) << 32 | router_bytes_get32(at + 4);
}

static inline void router_bytes_put16(uint8_t *at, uint16_t value)
{
	at[0] = (uint8_t)(value >> 8);
	at[1] = (uint8_t)value;
}

static inline void router_bytes_put32(uint8_t *at, uint32_t value)
{
	router_bytes_put16(at, (uint16_t)(value >> 16));
	router_bytes_put16(at + 2, (uint16_t)value);
}

static inline void router_bytes_put64(uint8_t *at, uint64_t value)
{
	router_bytes_put32(at, (uint32_t)(value >> 32));
	router_bytes_put32(at + 4, (uint32_t)value);
}

/* CRC-32C (Castagnoli) of bytes, continued: begin with 0. Cost: O(length). */
uint32_t router_bytes_checksum(uint32_t before, const uint8_t *bytes, uint32_t length);

#endif
