/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* MADs of the class N2N, and their attributes NeighborsInfo and KeyInfo. */
#include <heddle/ar_manager/neighbours.h>
#include <string.h>

#define RECORD 16u /* bytes */
#define TYPE_SHIFT 5u

static void put16(uint8_t *at, uint16_t value)
{
	at[0] = (uint8_t)(value >> 8);
	at[1] = (uint8_t)value;
}

static uint16_t get16(const uint8_t *at)
{
	return (uint16_t)(at[0] << 8 | at[1]);
}

static void put64(uint8_t *at, uint64_t value)
{
	for (unsigned i = 0; i < 8; i++)
		at[i] = (uint8_t)(value >> (56 - 8 * i));
}

static uint64_t get64(const uint8_t *at)
{
	uint64_t value = 0;

	for (unsigned i = 0; i < 8; i++)
		value = value << 8 | at[i];
	return value;
}

void hd_n2n_mad_encode(const struct hd_n2n_mad *mad, uint8_t data[HD_N2N_KEY + HD_N2N_DATA])
{
	put64(data, mad->manager_key);
	memcpy(data + HD_N2N_KEY, mad->data, HD_N2N_DATA);
}

void hd_n2n_neighbours_encode(const struct hd_n2n_neighbour records[HD_N2N_NEIGHBOURS],
			      uint8_t data[HD_N2N_DATA])
{
	memset(data, 0, HD_N2N_DATA);
	for (unsigned i = 0; i < HD_N2N_NEIGHBOURS; i++) {
		uint8_t *at = data + RECORD * i;
		at[0] = (uint8_t)(records[i].node_type << TYPE_SHIFT);
		put16(at + 2, records[i].lid);
		put64(at + 8, records[i].key);
	}
}

void hd_n2n_neighbours_decode(const uint8_t data[HD_N2N_DATA],
			      struct hd_n2n_neighbour records[HD_N2N_NEIGHBOURS])
{
	for (unsigned i = 0; i < HD_N2N_NEIGHBOURS; i++) {
		const uint8_t *at = data + RECORD * i;
		records[i] = (struct hd_n2n_neighbour){.node_type = (uint8_t)(at[0] >> TYPE_SHIFT),
						       .lid = get16(at + 2),
						       .key = get64(at + 8)};
	}
}

void hd_n2n_key_info_encode(const struct hd_n2n_key_info *info, uint8_t data[HD_N2N_DATA])
{
	memset(data, 0, HD_N2N_DATA);
	put64(data, info->manager_key);
	data[8] = info->protect ? 0x80 : 0;
	put16(data + 10, info->lease_s);
	put16(data + 12, info->violations);
	put16(data + 14, info->node_violations);
}

void hd_n2n_key_info_decode(const uint8_t data[HD_N2N_DATA], struct hd_n2n_key_info *info)
{
	*info = (struct hd_n2n_key_info){.manager_key = get64(data),
					 .protect = data[8] >> 7,
					 .lease_s = get16(data + 10),
					 .violations = get16(data + 12),
					 .node_violations = get16(data + 14)};
}
