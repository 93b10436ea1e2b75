/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Sizes of messages: one, several with the same chance each, or all of a range. */
#ifndef TRAFFIC_SIZES_H
#define TRAFFIC_SIZES_H

#include <heddle/base/arena.h>
#include <heddle/base/error.h>
#include <stdint.h>

#define SIZES_MAX 64u

struct traffic_sizes {
	uint32_t count; /* of the list; 0: a range */
	uint32_t list[SIZES_MAX];
	uint32_t least, most;
};

/* "2 kB", "4 KiB, 32 KiB", "84 .. 2 kB". Errors: -EINVAL, -ERANGE. */
int sizes_parse(const char *text, struct traffic_sizes *sizes, struct hd_error *err);
int sizes_check(const char *text, struct hd_error *err);

uint32_t sizes_draw(const struct traffic_sizes *sizes, uint64_t *random);

/* The mean of the payload and of the bytes on a cable is *payload / *count and *wire / *count. */
void sizes_total(const struct traffic_sizes *sizes, uint32_t mtu, uint32_t header,
		 uint64_t *payload, uint64_t *wire, uint64_t *count);

/* Bytes on a cable of a message. */
static inline uint64_t sizes_wire(uint64_t bytes, uint32_t mtu, uint32_t header)
{
	return bytes + (bytes + mtu - 1) / mtu * header;
}

#endif
