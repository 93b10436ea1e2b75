/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Private forwarding tables. */
#include "bit_fields.h"
#include "codec_ports.h"

#include <string.h>

#define INFO(member, byte, high, low)                                                              \
	BIT_FIELDS_ROW(struct hd_ar_private_info, member, byte, 1, high, low)
#define MODE(index)                                                                                \
	INFO(modes[index].bank_kilolids, 4 + 2 * (index), 7, 0),                                   \
	    INFO(modes[index].banks, 5 + 2 * (index), 7, 0)

static const struct hd_ar_field info_fields[] = {
    INFO(table_count, 1, 7, 0),
    INFO(mode_cap, 2, 2, 0),
    BIT_FIELDS_WRITABLE(struct hd_ar_private_info, active_mode, 3, 1, 2, 0),
    MODE(0),
    MODE(1),
    MODE(2),
    MODE(3),
    MODE(4),
    MODE(5),
    MODE(6),
};

#define INFO_FIELDS (sizeof(info_fields) / sizeof(info_fields[0]))

void hd_ar_private_info_encode(const struct hd_ar_private_info *info, uint8_t data[HD_AR_DATA])
{
	memset(data, 0, HD_AR_DATA);
	bit_fields_encode(info_fields, INFO_FIELDS, info, data);
}

void hd_ar_private_info_decode(const uint8_t data[HD_AR_DATA], struct hd_ar_private_info *info)
{
	bit_fields_decode(info_fields, INFO_FIELDS, data, info);
}

#define BANK(member, byte, high, low)                                                              \
	BIT_FIELDS_WRITABLE(struct hd_ar_private_bank, member, byte, 1, high, low)

static const struct hd_ar_field bank_fields[] = {
    BANK(bank, 0, 3, 0),
    BANK(lid_space, 1, 7, 0),
    BANK(lid_offset, 3, 7, 0),
};

#define BANK_FIELDS (sizeof(bank_fields) / sizeof(bank_fields[0]))

void hd_ar_private_def_encode(const struct hd_ar_private_bank banks[HD_AR_PRIVATE_BANKS],
			      uint8_t data[HD_AR_DATA])
{
	memset(data, 0, HD_AR_DATA);
	for (unsigned i = 0; i < HD_AR_PRIVATE_BANKS; i++)
		bit_fields_encode(bank_fields, BANK_FIELDS, &banks[i], data + 4 * i);
}

void hd_ar_private_def_decode(const uint8_t data[HD_AR_DATA],
			      struct hd_ar_private_bank banks[HD_AR_PRIVATE_BANKS])
{
	for (unsigned i = 0; i < HD_AR_PRIVATE_BANKS; i++)
		bit_fields_decode(bank_fields, BANK_FIELDS, data + 4 * i, &banks[i]);
}

void hd_ar_private_map_encode(const struct hd_ar_private_map *map, uint8_t data[HD_AR_DATA])
{
	memset(data, 0, HD_AR_DATA);
	data[3] = (uint8_t)(map->port_mask_enabled | map->top_enabled << 1);
	codec_ports_put(&map->ports, data + 4);
	bit_fields_put(data, 8 * 38, 16, map->top);
}

void hd_ar_private_map_decode(const uint8_t data[HD_AR_DATA], struct hd_ar_private_map *map)
{
	map->port_mask_enabled = data[3] & 1;
	map->top_enabled = data[3] >> 1 & 1;
	codec_ports_get(data + 4, &map->ports);
	map->top = bit_fields_get(data, 8 * 38, 16);
}

void hd_ar_port_sl_map_encode(const struct hd_ar_port_sl_map *map, uint8_t data[HD_AR_DATA])
{
	memcpy(data, map->table, HD_AR_DATA);
}

void hd_ar_port_sl_map_decode(const uint8_t data[HD_AR_DATA], struct hd_ar_port_sl_map *map)
{
	memcpy(map->table, data, HD_AR_DATA);
}
