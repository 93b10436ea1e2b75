/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <heddle/base/digest.h>
#include <heddle/base/text.h>

#define PRIME UINT64_C(0x100000001b3)
#define END_OF_TEXT 0xFF /* in no UTF-8 */

uint64_t hd_digest_bytes(uint64_t digest, const void *bytes, size_t size)
{
	const unsigned char *at = bytes;

	for (size_t i = 0; at && i < size; i++)
		digest = (digest ^ at[i]) * PRIME;
	return digest;
}

uint64_t hd_digest_text(uint64_t digest, const char *text)
{
	for (; *text; text++)
		digest = (digest ^ (unsigned char)*text) * PRIME;
	return (digest ^ END_OF_TEXT) * PRIME;
}

uint64_t hd_digest_file(uint64_t digest, const char *path)
{
	struct hd_text text;

	if (!path || hd_text_open(path, &text, NULL))
		return digest;
	digest = hd_digest_bytes(digest, text.bytes, text.length);
	hd_text_close(&text);
	return digest;
}
