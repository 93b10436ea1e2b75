/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* GeneralInfo, AdaptiveRoutingInfo, pFRNConfig and MlnxExtPortInfo. */
#include <heddle/ar_manager/codec.h>
#include <heddle/ar_manager/diff.h>
#include <heddle/ar_manager/firmware.h>
#include <heddle/ar_manager/neighbours.h>
#include <stddef.h>
#include <string.h>

/*
 * Records of bit fields, from tables: a row says where a field is in the bytes and in the struct.
 * Multi-byte fields are big-endian.
 */

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

/* ---- bit fields ---- */

/* Up to 32 bits. A value that does not fit loses its high bits. */
static void bit_fields_put(uint8_t *data, unsigned first_bit, unsigned bits, uint32_t value)
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

static uint32_t bit_fields_get(const uint8_t *data, unsigned first_bit, unsigned bits)
{
	uint32_t value = 0;

	for (unsigned at = first_bit; at < first_bit + bits; at++)
		value = value << 1 | ((uint32_t)data[at / 8] >> (7 - at % 8) & 1u);
	return value;
}

/* All fields of a table, and nothing else of the record. */
static void bit_fields_encode(const struct hd_ar_field *fields, size_t count, const void *record,
			      uint8_t *data)
{
	for (size_t i = 0; i < count; i++) {
		const uint32_t *member =
		    (const uint32_t *)((const char *)record + fields[i].offset);
		bit_fields_put(data, fields[i].first_bit, fields[i].bits, *member);
	}
}

static void bit_fields_decode(const struct hd_ar_field *fields, size_t count, const uint8_t *data,
			      void *record)
{
	for (size_t i = 0; i < count; i++) {
		uint32_t *member = (uint32_t *)((char *)record + fields[i].offset);
		*member = bit_fields_get(data, fields[i].first_bit, fields[i].bits);
	}
}

/* ---- codec ---- */

#define READ(member, byte, bytes, high, low)                                                       \
	BIT_FIELDS_ROW(struct hd_ar_info, member, byte, bytes, high, low)
#define WRITE(member, byte, bytes, high, low)                                                      \
	BIT_FIELDS_WRITABLE(struct hd_ar_info, member, byte, bytes, high, low)

static const struct hd_ar_field info_fields[] = {
    READ(dyn_cap_calc_sup, 0, 1, 6, 6),
    READ(by_transp_cap, 0, 1, 5, 5),
    WRITE(by_sl_en, 0, 1, 4, 4),
    READ(by_sl_cap, 0, 1, 3, 3),
    READ(glb_groups, 0, 1, 2, 2),
    READ(is4_mode, 0, 1, 1, 1),
    WRITE(no_fallback, 0, 1, 0, 0),
    READ(direction_num_sup, 1, 1, 7, 0),
    READ(group_table_copy_sup, 2, 1, 7, 4),
    WRITE(sub_grps_active, 2, 1, 3, 0),
    READ(rn_xmit_enabled, 3, 1, 5, 5),
    WRITE(fr_enabled, 3, 1, 4, 4),
    READ(is_fr_sup, 3, 1, 3, 3),
    READ(is_frn_sup, 3, 1, 2, 2),
    READ(is_arn_sup, 3, 1, 1, 1),
    WRITE(enabled, 3, 1, 0, 0),
    READ(string_width_cap, 4, 4, 31, 28),
    READ(group_table_cap, 4, 4, 27, 24),
    WRITE(group_top, 4, 4, 23, 12),
    READ(group_cap, 4, 4, 11, 0),
    WRITE(enable_by_sl_mask, 8, 2, 15, 0),
    READ(sub_grps_supported, 10, 1, 7, 0),
    READ(rn_version_cap, 11, 1, 7, 4),
    READ(ar_version_cap, 11, 1, 3, 0),
    WRITE(by_transport_disable, 15, 1, 3, 0),
    WRITE(ageing_time_value, 16, 4, 31, 0),
    READ(hbf_sup, 20, 1, 7, 7),
    READ(whbf_sup, 20, 1, 6, 6),
    READ(symmetric_hash_sup, 20, 1, 5, 5),
    READ(dceth_hash_sup, 20, 1, 4, 4),
    READ(bth_dqp_hash_sup, 20, 1, 3, 3),
    READ(pfrn_sup, 20, 1, 1, 1),
    WRITE(by_sl_hbf_en, 22, 1, 7, 7),
    WRITE(whbf_en, 22, 1, 6, 6),
    WRITE(by_vl_en, 22, 1, 5, 5),
    WRITE(pfrn_enabled, 22, 1, 4, 4),
    READ(whbf_granularity, 24, 1, 7, 5),
    WRITE(enable_by_sl_mask_hbf, 26, 2, 15, 0),
};

#define INFO_FIELDS (sizeof(info_fields) / sizeof(info_fields[0]))

const struct hd_ar_field *hd_ar_info_fields(unsigned *count)
{
	*count = INFO_FIELDS;
	return info_fields;
}

void hd_ar_info_encode(const struct hd_ar_info *info, uint8_t data[HD_AR_DATA])
{
	memset(data, 0, HD_AR_DATA);
	bit_fields_encode(info_fields, INFO_FIELDS, info, data);
}

void hd_ar_info_decode(const uint8_t data[HD_AR_DATA], struct hd_ar_info *info)
{
	bit_fields_decode(info_fields, INFO_FIELDS, data, info);
}

static const struct hd_ar_field pfrn_fields[] = {
    BIT_FIELDS_ROW(struct hd_ar_pfrn_config, policy_sup, 0, 4, 0, 0),
    BIT_FIELDS_WRITABLE(struct hd_ar_pfrn_config, sl, 8, 1, 7, 4),
    BIT_FIELDS_WRITABLE(struct hd_ar_pfrn_config, policy, 11, 1, 3, 0),
    BIT_FIELDS_WRITABLE(struct hd_ar_pfrn_config, mask_force_clear_s, 12, 2, 10, 0),
    BIT_FIELDS_WRITABLE(struct hd_ar_pfrn_config, mask_clear_s, 14, 2, 10, 0),
};

#define PFRN_FIELDS (sizeof(pfrn_fields) / sizeof(pfrn_fields[0]))

void hd_ar_pfrn_config_encode(const struct hd_ar_pfrn_config *config, uint8_t data[HD_AR_DATA])
{
	memset(data, 0, HD_AR_DATA);
	bit_fields_encode(pfrn_fields, PFRN_FIELDS, config, data);
}

void hd_ar_pfrn_config_decode(const uint8_t data[HD_AR_DATA], struct hd_ar_pfrn_config *config)
{
	bit_fields_decode(pfrn_fields, PFRN_FIELDS, data, config);
}

static const struct hd_ar_field ext_port_fields[] = {
    BIT_FIELDS_WRITABLE(struct hd_ar_ext_port_info, adaptive_timeout_sl_mask, 52, 2, 15, 0),
    BIT_FIELDS_WRITABLE(struct hd_ar_ext_port_info, ooo_sl_mask, 54, 2, 15, 0),
};

#define EXT_PORT_FIELDS (sizeof(ext_port_fields) / sizeof(ext_port_fields[0]))

void hd_ar_ext_port_info_encode(const struct hd_ar_ext_port_info *info, uint8_t data[HD_AR_DATA])
{
	bit_fields_encode(ext_port_fields, EXT_PORT_FIELDS, info, data);
}

void hd_ar_ext_port_info_decode(const uint8_t data[HD_AR_DATA], struct hd_ar_ext_port_info *info)
{
	bit_fields_decode(ext_port_fields, EXT_PORT_FIELDS, data, info);
}

#define MASK_WORDS 4u

void hd_ar_capability_mask_encode(const struct hd_ar_capability_mask *mask,
				  uint8_t data[HD_AR_DATA])
{
	memset(data, 0, HD_AR_DATA);
	for (unsigned word = 0; word < MASK_WORDS; word++)
		bit_fields_put(data, 32 * word, 32, mask->words[word]);
}

void hd_ar_capability_mask_decode(const uint8_t data[HD_AR_DATA],
				  struct hd_ar_capability_mask *mask)
{
	for (unsigned word = 0; word < MASK_WORDS; word++)
		mask->words[word] = bit_fields_get(data, 32 * word, 32);
}

struct hd_ar_capability hd_ar_capability_of(const struct hd_ar_capability_mask *mask,
					    const struct hd_ar_info *info)
{
	struct hd_ar_capability can = {.form = HD_AR_FORM_NONE};

	if (!info || !info->group_cap)
		return can;
	if (hd_ar_capability_mask_has(mask, HD_AR_CAN_REV1))
		can.form = HD_AR_FORM_REV1;
	else if (hd_ar_capability_mask_has(mask, HD_AR_CAN_OLD))
		can.form = HD_AR_FORM_OLD;
	else
		return can;
	can.group_cap = info->group_cap;
	can.sub_groups = info->sub_grps_supported;
	can.private_tables = hd_ar_capability_mask_has(mask, HD_AR_CAN_PRIVATE_LFT);
	return can;
}

const char *hd_ar_transport_name(uint32_t bit)
{
	static const char *const names[HD_AR_TRANSPORTS] = {"UD", "RC", "UC", "DC"};

	return names[bit];
}

enum hd_ar_recovery hd_ar_recovery_of(const struct hd_ar_info *info)
{
	return info->pfrn_enabled ? HD_AR_RECOVERY_NOTICES
	       : info->fr_enabled ? HD_AR_RECOVERY_LOCAL
				  : HD_AR_RECOVERY_OFF;
}

enum hd_ar_recovery hd_ar_recovery_supported(const struct hd_ar_info *info)
{
	return info->pfrn_sup	 ? HD_AR_RECOVERY_NOTICES
	       : info->is_fr_sup ? HD_AR_RECOVERY_LOCAL
				 : HD_AR_RECOVERY_OFF;
}

/* ---- codec tables ---- */

/* Groups, AR LFTs, and copies of groups. */

#define PORT_BYTES 32u

static void codec_ports_put(const struct hd_port_set *ports, uint8_t *bytes)
{
	memset(bytes, 0, PORT_BYTES);
	HD_PORT_SET_FOREACH(port, ports) {
		uint8_t *byte = &bytes[PORT_BYTES - 1 - port / 8];
		*byte = (uint8_t)(*byte | 1u << port % 8);
	}
}

static void codec_ports_get(const uint8_t *bytes, struct hd_port_set *ports)
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

/* ---- codec private ---- */

/* Private forwarding tables. */

#define INFO(member, byte, high, low)                                                              \
	BIT_FIELDS_ROW(struct hd_ar_private_info, member, byte, 1, high, low)
#define MODE(index)                                                                                \
	INFO(modes[index].bank_kilolids, 4 + 2 * (index), 7, 0),                                   \
	    INFO(modes[index].banks, 5 + 2 * (index), 7, 0)

static const struct hd_ar_field codec_private_info_fields[] = {
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

#define CODEC_PRIVATE_INFO_FIELDS                                                                  \
	(sizeof(codec_private_info_fields) / sizeof(codec_private_info_fields[0]))

void hd_ar_private_info_encode(const struct hd_ar_private_info *info, uint8_t data[HD_AR_DATA])
{
	memset(data, 0, HD_AR_DATA);
	bit_fields_encode(codec_private_info_fields, CODEC_PRIVATE_INFO_FIELDS, info, data);
}

void hd_ar_private_info_decode(const uint8_t data[HD_AR_DATA], struct hd_ar_private_info *info)
{
	bit_fields_decode(codec_private_info_fields, CODEC_PRIVATE_INFO_FIELDS, data, info);
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

/* ---- codec neighbours ---- */

/* MADs of the class N2N, and their attributes NeighborsInfo and KeyInfo. */

#define RECORD 16u /* bytes */
#define TYPE_SHIFT 5u

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
		bit_fields_put(at + 2, 0, 16, records[i].lid);
		put64(at + 8, records[i].key);
	}
}

void hd_n2n_neighbours_decode(const uint8_t data[HD_N2N_DATA],
			      struct hd_n2n_neighbour records[HD_N2N_NEIGHBOURS])
{
	for (unsigned i = 0; i < HD_N2N_NEIGHBOURS; i++) {
		const uint8_t *at = data + RECORD * i;
		records[i] =
		    (struct hd_n2n_neighbour){.node_type = (uint8_t)(at[0] >> TYPE_SHIFT),
					      .lid = (uint16_t)bit_fields_get(at + 2, 0, 16),
					      .key = get64(at + 8)};
	}
}

void hd_n2n_key_info_encode(const struct hd_n2n_key_info *info, uint8_t data[HD_N2N_DATA])
{
	memset(data, 0, HD_N2N_DATA);
	put64(data, info->manager_key);
	data[8] = info->protect ? 0x80 : 0;
	bit_fields_put(data + 10, 0, 16, info->lease_s);
	bit_fields_put(data + 12, 0, 16, info->violations);
	bit_fields_put(data + 14, 0, 16, info->node_violations);
}

void hd_n2n_key_info_decode(const uint8_t data[HD_N2N_DATA], struct hd_n2n_key_info *info)
{
	*info =
	    (struct hd_n2n_key_info){.manager_key = get64(data),
				     .protect = data[8] >> 7,
				     .lease_s = (uint16_t)bit_fields_get(data + 10, 0, 16),
				     .violations = (uint16_t)bit_fields_get(data + 12, 0, 16),
				     .node_violations = (uint16_t)bit_fields_get(data + 14, 0, 16)};
}

/* ---- codec firmware ---- */

/* Bytes of GeneralInfo of the vendor's class, after its key. */
enum { DEVICE = 10, MAJOR = 41, MINOR = 42, SUB_MINOR = 43, PSID = 56, EXTENDED = 76 };

void hd_firmware_decode(const uint8_t data[HD_FIRMWARE_DATA], struct hd_firmware *firmware)
{
	const uint32_t version[] = {bit_fields_get(data, 8 * EXTENDED, 32),
				    bit_fields_get(data, 8 * (EXTENDED + 4), 32),
				    bit_fields_get(data, 8 * (EXTENDED + 8), 32)};

	/* The short form of a version has the low bytes of its long form. */
	const bool extended = version[0] && (version[0] & 0xFF) == data[MAJOR] &&
			      (version[1] & 0xFF) == data[MINOR] &&
			      (version[2] & 0xFF) == data[SUB_MINOR];

	*firmware = (struct hd_firmware){
	    .device = (uint16_t)(data[DEVICE] << 8 | data[DEVICE + 1]),
	    .major = extended ? version[0] : data[MAJOR],
	    .minor = extended ? version[1] : data[MINOR],
	    .sub_minor = extended ? version[2] : data[SUB_MINOR],
	};
	memcpy(firmware->psid, data + PSID, HD_FIRMWARE_PSID);
}

/* ---- quirks ---- */

/* What is inferred or unknown of the format, as options. */

const struct hd_option hd_ar_quirk_options[] = {
    {.name = "old_block_lids",
     .summary = "LIDs in a block of the old AR LFT; inferred",
     .type = HD_OPTION_INT,
     .fallback = "32",
     .minimum = 16,
     .maximum = HD_AR_OLD_BLOCK},
    {.name = "active_sub_groups",
     .summary = "what the field sub_grps_active holds: the count, or the count less one; unknown",
     .type = HD_OPTION_CHOICE,
     .fallback = "count",
     .choices = "count|less-one"},
    {.name = "table_shift",
     .summary = "lowest bit of the group table in the modifier of ARGroupTable; inferred",
     .type = HD_OPTION_INT,
     .fallback = "16",
     .minimum = 12,
     .maximum = 20},
    {.name = "element_order",
     .summary = "order of elements in ARGroupTable; inferred",
     .type = HD_OPTION_CHOICE,
     .fallback = "group-major",
     .choices = "group-major|sub-group-major"},
    {.name = "unreachable_port",
     .summary = "static port of a LID that has no route; inferred",
     .type = HD_OPTION_INT,
     .fallback = "255",
     .minimum = 0,
     .maximum = 255},
    {.name = "group_copy",
     .summary = "use ARGroupTableCopy where a switch has it; its unused entries are inferred",
     .type = HD_OPTION_BOOL,
     .fallback = "no"},
    {.name = "first_neighbour",
     .summary = "port of the first record of NeighborsInfo; unknown",
     .type = HD_OPTION_INT,
     .fallback = "0",
     .minimum = 0,
     .maximum = 1},
};

const unsigned hd_ar_quirk_option_count =
    sizeof(hd_ar_quirk_options) / sizeof(hd_ar_quirk_options[0]);

const struct hd_ar_quirks hd_ar_quirks_default = {
    .old_block_lids = 32, .table_shift = 16, .unreachable_port = 0xFF};

struct hd_ar_quirks hd_ar_quirks_from(const struct hd_options *options)
{
	return (struct hd_ar_quirks){
	    .old_block_lids = (uint32_t)hd_options_get(options, "old_block_lids")->number,
	    .active_minus_one = hd_options_get(options, "active_sub_groups")->number,
	    .table_shift = (uint32_t)hd_options_get(options, "table_shift")->number,
	    .sub_group_major = hd_options_get(options, "element_order")->number,
	    .unreachable_port = (uint8_t)hd_options_get(options, "unreachable_port")->number,
	    .group_copy = hd_options_get(options, "group_copy")->number,
	    .first_neighbour = (uint32_t)hd_options_get(options, "first_neighbour")->number,
	};
}

const char *hd_ar_attribute_name(uint32_t attribute)
{
	switch (attribute) {
	case HD_AR_PRIVATE_LFT_INFO:
		return "PrivateLFTInfo";
	case HD_AR_PRIVATE_LFT_DEF:
		return "PrivateLFTDef";
	case HD_AR_PRIVATE_LFT_MAP:
		return "PrivateLFTMap";
	case HD_AR_PORT_SL_TO_PRIVATE_LFT:
		return "PortSLToPrivateLFTMap";
	case HD_AR_GENERAL_INFO:
		return "GeneralInfo";
	case HD_AR_INFO:
		return "AdaptiveRoutingInfo";
	case HD_AR_GROUP_TABLE:
		return "ARGroupTable";
	case HD_AR_LFT_OLD:
	case HD_AR_LFT_REV1:
		return "ARLinearForwardingTable";
	case HD_AR_PFRN_CONFIG:
		return "pFRNConfig";
	case HD_N2N_KEY_INFO:
		return "KeyInfo of the class N2N";
	case HD_N2N_NEIGHBORS_INFO:
		return "NeighborsInfo";
	case HD_AR_EXT_PORT_INFO:
		return "MlnxExtPortInfo";
	case HD_AR_GROUP_COPY:
		return "ARGroupTableCopy";
	default:
		return "unknown attribute";
	}
}
