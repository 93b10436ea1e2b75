/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The file of stored tables. Numbers are little-endian.
 *
 *	header   8 bytes "HDTABLES", u32 version, u32 number of sets, u64 bytes after the header,
 *	         u64 checksum of these bytes
 *	text     512 bytes, padded with zeros
 *	labels   u32 levels (0: no labels, and nothing follows; the highest bit: `whole` of struct
 *	         hd_tree_labels), u32 hosts, u32 next ordinal, u32 count; for each level u32
 *	         children, u32 parents, u32 parent links; for each label u64 GUID, u32 level, u32
 *	         first leaf, u32 group, u32 ordinal, 256 bytes up ports, 256 bytes down ports
 *	sets     for each set: 32 bytes engine, 32 bytes chosen engine, u32 links for which it was
 *	         chosen (not in version 1), 256 bytes options, u64 policy, u32 rows, u32 columns, u32
 *	         flags, 16 bytes lanes of the service levels; for each row u64 GUID; for each row u8
 *	         ports; for each column u64 owner; for each column u16 offset; if it has ranks, for
 *	         each row u32 rank; the rows; if it has service levels, their rows; if lanes depend on
 *	         ports (version 3), u32 number of maps, for each 16 bytes lanes, for each row u32 ports,
 *	         for each row and pair of its ports u16 map
 */
#ifndef FABRIC_STORED_FORMAT_H
#define FABRIC_STORED_FORMAT_H

#include <endian.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define STORED_MAGIC "HDTABLES"
#define STORED_VERSION 3u
#define STORED_VERSION_PLAIN 2u /* without lanes that depend on ports */
#define STORED_HEADER_BYTES 32u
#define STORED_LABELS_WHOLE 0x80000000u

enum stored_flags {
	STORED_HAS_LEVELS = 1,
	STORED_HAS_RANKS = 2,
	STORED_HAS_LABELS = 4,
	STORED_HAS_MAPS = 8
};

/* A number that differs if any byte does, for accidents only. Zero-initialise; add bytes in any
 * portions; the last step adds their number. */
struct stored_checksum {
	uint64_t sum, word, length;
};

static inline uint64_t stored_mix(uint64_t sum, uint64_t word)
{
	sum = (sum ^ word) * 0x9E3779B97F4A7C15u;
	return sum ^ sum >> 29;
}

static inline uint64_t stored_number(const uint8_t *bytes, unsigned size)
{
	uint64_t value = 0;

	for (unsigned i = size; i-- > 0;)
		value = value << 8 | bytes[i];
	return value;
}

static inline void stored_checksum_add(struct stored_checksum *checksum, const uint8_t *bytes,
				       size_t size)
{
	size_t i = 0;

	for (; i < size && checksum->length % 8; i++, checksum->length++) {
		checksum->word |= (uint64_t)bytes[i] << checksum->length % 8 * 8;
		if (checksum->length % 8 == 7) {
			checksum->sum = stored_mix(checksum->sum, checksum->word);
			checksum->word = 0;
		}
	}
	for (; i + 8 <= size; i += 8, checksum->length += 8) {
		uint64_t word;
		memcpy(&word, bytes + i, sizeof(word));
		checksum->sum = stored_mix(checksum->sum, le64toh(word));
	}
	for (; i < size; i++, checksum->length++)
		checksum->word |= (uint64_t)bytes[i] << checksum->length % 8 * 8;
}

static inline uint64_t stored_checksum_end(const struct stored_checksum *checksum)
{
	return stored_mix(stored_mix(checksum->sum, checksum->word), checksum->length);
}

#endif
