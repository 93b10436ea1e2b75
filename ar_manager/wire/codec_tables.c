/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Groups, AR LFTs, and copies of groups. */
#include "codec_ports.h"

#include <string.h>

#define PORT_BYTES 32u

void codec_ports_put(const struct hd_port_set *ports, uint8_t *bytes)
{
	memset(bytes, 0, PORT_BYTES);
	HD_PORT_SET_FOREACH(port, ports) {
		uint8_t *byte = &bytes[PORT_BYTES - 1 - port / 8];
		*byte = (uint8_t)(*byte | 1u << port % 8);
	}
}

void codec_ports_get(const uint8_t *bytes, struct hd_port_set *ports)
{
	*ports = (struct hd_port_set){{0}};
	for (uint32_t port = 0; port < HD_PORT_SET_SIZE; port++)
		if (bytes[PORT_BYTES - 1 - port / 8] >> port % 8 & 1)
			hd_port_set_add(ports, port);
}

void hd_ar_group_block_encode(const struct hd_port_set elements[HD_AR_GROUP_BLOCK],
			      uint8_t data[HD_AR_DATA])
{
	for (unsigned i = 0; i < HD_AR_GROUP_BLOCK; i++)
		codec_ports_put(&elements[i], data + i * PORT_BYTES);
}

void hd_ar_group_block_decode(const uint8_t data[HD_AR_DATA],
			      struct hd_port_set elements[HD_AR_GROUP_BLOCK])
{
	for (unsigned i = 0; i < HD_AR_GROUP_BLOCK; i++)
		codec_ports_get(data + i * PORT_BYTES, &elements[i]);
}

uint32_t hd_ar_group_modifier(const struct hd_ar_quirks *quirks, uint32_t private_lft,
			      uint32_t group_table, uint32_t block)
{
	return private_lft << 24 | group_table << quirks->table_shift | block;
}

uint32_t hd_ar_lft_modifier(uint32_t private_lft, uint32_t block)
{
	return private_lft << 24 | block;
}

void hd_ar_rev1_encode(const struct hd_ar_entry entries[HD_AR_REV1_BLOCK], uint8_t data[HD_AR_DATA])
{
	for (unsigned i = 0; i < HD_AR_REV1_BLOCK; i++) {
		const struct hd_ar_entry *entry = &entries[i];
		uint8_t *bytes = data + 4 * i;
		bytes[0] = (uint8_t)((unsigned)entry->state << 6 | (entry->table & 15u));
		bytes[1] = entry->port;
		bytes[2] = (uint8_t)(entry->group >> 8 & 15);
		bytes[3] = (uint8_t)entry->group;
	}
}

void hd_ar_rev1_decode(const uint8_t data[HD_AR_DATA], struct hd_ar_entry entries[HD_AR_REV1_BLOCK])
{
	for (unsigned i = 0; i < HD_AR_REV1_BLOCK; i++) {
		const uint8_t *bytes = data + 4 * i;
		entries[i] =
		    (struct hd_ar_entry){.state = (enum hd_ar_state)(bytes[0] >> 6),
					 .table = bytes[0] & 15,
					 .port = bytes[1],
					 .group = (uint16_t)((bytes[2] & 15u) << 8 | bytes[3])};
	}
}

void hd_ar_old_encode(const struct hd_ar_entry entries[HD_AR_OLD_BLOCK], uint8_t data[HD_AR_DATA])
{
	for (unsigned i = 0; i < HD_AR_OLD_BLOCK; i++) {
		const struct hd_ar_entry *entry = &entries[i];
		uint8_t *bytes = data + 2 * i;
		bytes[0] = (uint8_t)((unsigned)entry->state << 6 | (entry->table & 15u));
		bytes[1] = entry->state == HD_AR_STATIC ? entry->port : (uint8_t)entry->group;
	}
}

void hd_ar_old_decode(const uint8_t data[HD_AR_DATA], struct hd_ar_entry entries[HD_AR_OLD_BLOCK])
{
	for (unsigned i = 0; i < HD_AR_OLD_BLOCK; i++) {
		const uint8_t *bytes = data + 2 * i;
		entries[i] = (struct hd_ar_entry){.state = (enum hd_ar_state)(bytes[0] >> 6),
						  .table = bytes[0] & 15};
		if (entries[i].state == HD_AR_STATIC)
			entries[i].port = bytes[1];
		else
			entries[i].group = bytes[1];
	}
}

void hd_ar_group_copy_encode(const struct hd_ar_copy_range ranges[HD_AR_COPY_RANGES],
			     uint8_t data[HD_AR_DATA])
{
	for (unsigned i = 0; i < HD_AR_COPY_RANGES; i++) {
		uint8_t *bytes = data + 4 * i;
		bytes[0] = (uint8_t)(ranges[i].last >> 8 & 15);
		bytes[1] = (uint8_t)ranges[i].last;
		bytes[2] = (uint8_t)(ranges[i].first >> 8 & 15);
		bytes[3] = (uint8_t)ranges[i].first;
	}
}

void hd_ar_group_copy_decode(const uint8_t data[HD_AR_DATA],
			     struct hd_ar_copy_range ranges[HD_AR_COPY_RANGES])
{
	for (unsigned i = 0; i < HD_AR_COPY_RANGES; i++) {
		const uint8_t *bytes = data + 4 * i;
		ranges[i].last = (uint16_t)((bytes[0] & 15u) << 8 | bytes[1]);
		ranges[i].first = (uint16_t)((bytes[2] & 15u) << 8 | bytes[3]);
	}
}
