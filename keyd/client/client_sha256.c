/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "client_sha256.h"

#include <stdio.h>
#include <string.h>

/* FIPS 180-4, 4.2.2: from the cube roots of the first 64 primes. */
static const uint32_t constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static uint32_t rotate(uint32_t word, unsigned bits)
{
	return word >> bits | word << (32 - bits);
}

static void expand(const uint8_t block[64], uint32_t words[64])
{
	for (int i = 0; i < 16; i++)
		words[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 |
			   (uint32_t)block[4 * i + 2] << 8 | block[4 * i + 3];
	for (int i = 16; i < 64; i++) {
		uint32_t early = words[i - 15], late = words[i - 2];

		words[i] = words[i - 16] + words[i - 7] +
			   (rotate(early, 7) ^ rotate(early, 18) ^ early >> 3) +
			   (rotate(late, 17) ^ rotate(late, 19) ^ late >> 10);
	}
}

static void compress(uint32_t state[8], const uint8_t block[64])
{
	uint32_t words[64], now[8];

	expand(block, words);
	memcpy(now, state, sizeof(now));
	for (int i = 0; i < 64; i++) {
		uint32_t first = now[7] + constants[i] + words[i] +
				 (rotate(now[4], 6) ^ rotate(now[4], 11) ^ rotate(now[4], 25)) +
				 ((now[4] & now[5]) ^ (~now[4] & now[6]));
		uint32_t second = (rotate(now[0], 2) ^ rotate(now[0], 13) ^ rotate(now[0], 22)) +
				  ((now[0] & now[1]) ^ (now[0] & now[2]) ^ (now[1] & now[2]));

		memmove(now + 1, now, 7 * sizeof(*now));
		now[4] += first;
		now[0] = first + second;
	}
	for (int i = 0; i < 8; i++)
		state[i] += now[i];
}

void client_sha256_begin(struct client_sha256 *sha)
{
	*sha = (struct client_sha256){.state = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
						0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19}};
}

void client_sha256_add(struct client_sha256 *sha, const void *bytes, size_t length)
{
	const uint8_t *from = bytes;

	while (length) {
		size_t held = sha->length % 64, part = 64 - held < length ? 64 - held : length;

		memcpy(sha->block + held, from, part);
		sha->length += part;
		from += part;
		length -= part;
		if (held + part == 64)
			compress(sha->state, sha->block);
	}
}

void client_sha256_end(struct client_sha256 *sha, char text[65])
{
	static const uint8_t padding[64] = {0x80};
	uint64_t bits = sha->length * 8;
	uint8_t size[8];

	for (int i = 0; i < 8; i++)
		size[i] = (uint8_t)(bits >> (56 - 8 * i));
	client_sha256_add(sha, padding, 1 + (119 - sha->length % 64) % 64);
	client_sha256_add(sha, size, sizeof(size));
	for (int i = 0; i < 8; i++)
		snprintf(text + (size_t)(8 * i), 9, "%08x", sha->state[i]);
}
