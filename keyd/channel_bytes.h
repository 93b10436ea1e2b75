/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Numbers in network byte order. */
#ifndef CHANNEL_BYTES_H
#define CHANNEL_BYTES_H

#include <endian.h>
#include <stdint.h>
#include <string.h>

static inline uint16_t channel_bytes_get16(const uint8_t *at)
{
	uint16_t value;

	memcpy(&value, at, sizeof(value));
	return be16toh(value);
}

static inline uint32_t channel_bytes_get32(const uint8_t *at)
{
	uint32_t value;

	memcpy(&value, at, sizeof(value));
	return be32toh(value);
}

static inline uint64_t channel_bytes_get64(const uint8_t *at)
{
	uint64_t value;

	memcpy(&value, at, sizeof(value));
	return be64toh(value);
}

static inline void channel_bytes_put16(uint8_t *at, uint16_t value)
{
	value = htobe16(value);
	memcpy(at, &value, sizeof(value));
}

static inline void channel_bytes_put32(uint8_t *at, uint32_t value)
{
	value = htobe32(value);
	memcpy(at, &value, sizeof(value));
}

static inline void channel_bytes_put64(uint8_t *at, uint64_t value)
{
	value = htobe64(value);
	memcpy(at, &value, sizeof(value));
}

#endif
