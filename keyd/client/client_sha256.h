/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* SHA-256 (FIPS 180-4), for the digest of a request in a MUNGE credential. */
#ifndef CLIENT_SHA256_H
#define CLIENT_SHA256_H

#include <stddef.h>
#include <stdint.h>

struct client_sha256 {
	uint32_t state[8];
	uint64_t length; /* bytes so far */
	uint8_t block[64]; /* those that do not fill a block yet */
};

void client_sha256_begin(struct client_sha256 *sha);
void client_sha256_add(struct client_sha256 *sha, const void *bytes, size_t length);

/* 64 lower-case hexadecimal digits and a 0. */
void client_sha256_end(struct client_sha256 *sha, char text[65]);

#endif
