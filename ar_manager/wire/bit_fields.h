/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Records of bit fields, from tables: a row says where a field is in the bytes and in the struct.
 * Multi-byte fields are big-endian.
 */
#ifndef AR_MANAGER_BIT_FIELDS_H
#define AR_MANAGER_BIT_FIELDS_H

#include <heddle/ar_manager/codec.h>
#include <stddef.h>

/* Bits high .. low of the unit of `bytes` bytes that begins at `byte`; bit 0 is the lowest. */
#define BIT_FIELDS_AT(byte, bytes, high, low)                                                      \
	.first_bit = 8 * (byte) + 8 * (bytes)-1 - (high), .bits = (high) - (low) + 1

/* A row for a uint32_t member of a struct. */
#define BIT_FIELDS_ROW(type, member, byte, bytes, high, low)                                       \
	{                                                                                          \
		.name = #member, BIT_FIELDS_AT(byte, bytes, high, low),                            \
		.offset = offsetof(type, member)                                                   \
	}

/* The same for a field that the manager may set. */
#define BIT_FIELDS_WRITABLE(type, member, byte, bytes, high, low)                                  \
	{                                                                                          \
		.name = #member, BIT_FIELDS_AT(byte, bytes, high, low), .writable = true,          \
		.offset = offsetof(type, member)                                                   \
	}

/* Up to 32 bits. A value that does not fit loses its high bits. */
void bit_fields_put(uint8_t *data, unsigned first_bit, unsigned bits, uint32_t value);
uint32_t bit_fields_get(const uint8_t *data, unsigned first_bit, unsigned bits);

/* All fields of a table, and nothing else of the record. */
void bit_fields_encode(const struct hd_ar_field *fields, size_t count, const void *record,
		       uint8_t *data);
void bit_fields_decode(const struct hd_ar_field *fields, size_t count, const uint8_t *data,
		       void *record);

#endif
