/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "bit_fields.h"

void bit_fields_put(uint8_t *data, unsigned first_bit, unsigned bits, uint32_t value)
{
	for (unsigned i = 0; i < bits; i++) {
		unsigned at = first_bit + bits - 1 - i;
		uint8_t mask = (uint8_t)(0x80u >> at % 8);
		if (value >> i & 1)
			data[at / 8] = (uint8_t)(data[at / 8] | mask);
		else
			data[at / 8] = (uint8_t)(data[at / 8] & ~mask);
	}
}

uint32_t bit_fields_get(const uint8_t *data, unsigned first_bit, unsigned bits)
{
	uint32_t value = 0;

	for (unsigned at = first_bit; at < first_bit + bits; at++)
		value = value << 1 | ((uint32_t)data[at / 8] >> (7 - at % 8) & 1u);
	return value;
}

void bit_fields_encode(const struct hd_ar_field *fields, size_t count, const void *record,
		       uint8_t *data)
{
	for (size_t i = 0; i < count; i++) {
		const uint32_t *member =
		    (const uint32_t *)((const char *)record + fields[i].offset);
		bit_fields_put(data, fields[i].first_bit, fields[i].bits, *member);
	}
}

void bit_fields_decode(const struct hd_ar_field *fields, size_t count, const uint8_t *data,
		       void *record)
{
	for (size_t i = 0; i < count; i++) {
		uint32_t *member = (uint32_t *)((char *)record + fields[i].offset);
		*member = bit_fields_get(data, fields[i].first_bit, fields[i].bits);
	}
}
