/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "emulator_attributes.h"
#include "emulator_wire.h"

typedef uint16_t attribute_fn(struct ar_switch *sw, bool set, uint32_t modifier, uint8_t *data);

static uint16_t do_general_info(struct ar_switch *sw, bool set, uint32_t modifier, uint8_t *data)
{
	if (set)
		return STATUS_UNSUPPORTED_METHOD;
	if (modifier != 4)
		return STATUS_INVALID_VALUE;
	memset(data, 0, WIRE_DATA_SIZE);
	for (unsigned word = 0; word < 4; word++)
		wire_put32(data + 4 * word, sw->can.mask[word]);
	return STATUS_OK;
}

/* The bits of AdaptiveRoutingInfo that a Set changes. */
static const uint8_t info_writable[SWITCH_RECORD] = {
    [0] = 0x11,	 [2] = 0x0F,  [3] = 0x31,  [5] = 0xFF,	[6] = 0xF0,
    [8] = 0xFF,	 [9] = 0xFF,  [15] = 0x0F, [16] = 0xFF, [17] = 0xFF,
    [18] = 0xFF, [19] = 0xFF, [22] = 0xF0, [26] = 0xFF, [27] = 0xFF};

/* Whether the values of writable fields are within what the switch can do. */
static bool info_is_valid(const struct ar_switch *sw, const uint8_t *info)
{
	unsigned active = (info[2] & 0x0Fu) + (sw->can.active_minus_one ? 1u : 0u);
	unsigned top = wire_get32(info + 4) >> 12 & 0xFFF;
	bool by_sl = info[0] & 1 << 3, by_transport = info[0] & 1 << 5;

	return active <= sw->can.subgroups && (!top || top < sw->can.group_cap) &&
	       (by_sl || !(info[0] & 1 << 4)) && (by_transport || !(info[15] & 0x0F)) &&
	       (info[3] & INFO_RECOVERY_SUPPORTED || !(info[3] & INFO_RECOVERY_ENABLED)) &&
	       (info[20] & INFO_NOTICES_SUPPORTED || !(info[22] & INFO_NOTICES_ENABLED)) &&
	       (info[20] & 1 << 7 || !(info[22] & 1 << 7)) &&
	       (info[20] & 1 << 6 || !(info[22] & 1 << 6));
}

static uint16_t do_info(struct ar_switch *sw, bool set, uint32_t modifier, uint8_t *data)
{
	uint8_t info[SWITCH_RECORD];

	if (modifier)
		return STATUS_INVALID_VALUE;
	for (unsigned i = 0; set && i < SWITCH_RECORD; i++)
		info[i] =
		    (uint8_t)((sw->info[i] & ~info_writable[i]) | (data[i] & info_writable[i]));
	if (set && !info_is_valid(sw, info))
		return STATUS_INVALID_VALUE;
	if (set)
		memcpy(sw->info, info, sizeof(sw->info));
	memcpy(data, sw->info, sizeof(sw->info));
	return STATUS_OK;
}

/* Whether pLFT and group table of a modifier exist. */
static bool is_table(const struct ar_switch *sw, uint32_t plft, uint32_t table)
{
	uint32_t plfts = switch_can(sw, CAPABILITY_PRIVATE_LFT) ? sw->can.plfts : 1;

	return plft < plfts && table <= (sw->info[4] & 0x0Fu);
}

/* Whether a port mask has only bits of ports 1 .. ports. */
static bool mask_is_valid(const uint8_t *mask, uint8_t ports)
{
	for (unsigned port = 0; port < 256; port++)
		if (mask[31 - port / 8] >> port % 8 & 1 && (port == 0 || port > ports))
			return false;
	return true;
}

static uint16_t do_group_table(struct ar_switch *sw, bool set, uint32_t modifier, uint8_t *data)
{
	uint32_t plft = modifier >> 24, table = modifier >> 16 & 0x0F, block = modifier & 0xFFFF;
	uint32_t count = switch_group_count(sw);

	uint8_t(*masks)[32];

	if (!is_table(sw, plft, table) || modifier & 0x00F00000 || 2 * block >= count)
		return STATUS_INVALID_VALUE;
	for (unsigned i = 0; set && i < 2; i++)
		if (!mask_is_valid(data + (size_t)32 * i, 2 * block + i < count ? sw->ports : 0))
			return STATUS_INVALID_VALUE;
	masks = switch_groups(sw, plft, table, set);
	if (set && masks)
		memcpy(masks[(size_t)2 * block], data, WIRE_DATA_SIZE);
	if (masks)
		memcpy(data, masks[(size_t)2 * block], WIRE_DATA_SIZE);
	else
		memset(data, 0, WIRE_DATA_SIZE);
	return STATUS_OK;
}

static bool entry_is_valid(const struct ar_switch *sw, const struct ar_entry *entry)
{
	if (entry->state == STATE_HASH && !(sw->info[20] & 1 << 7))
		return false;
	if (entry->port > sw->ports && entry->port != 0xFF)
		return false;
	return entry->state == STATE_STATIC ||
	       (entry->group < sw->can.group_cap && entry->table <= (sw->info[4] & 0x0Fu));
}

static void decode_rev1(const uint8_t *at, struct ar_entry *entry)
{
	*entry = (struct ar_entry){.state = at[0] >> 6,
				   .table = at[0] & 0x0F,
				   .port = at[1],
				   .group = wire_get16(at + 2) & 0x0FFF};
}

static void encode_rev1(uint8_t *at, const struct ar_entry *entry)
{
	at[0] = (uint8_t)(entry->state << 6 | entry->table);
	at[1] = entry->port;
	wire_put16(at + 2, entry->group);
}

/* The old form has a port only in static entries; other entries keep the port that they had. */
static void decode_old(const uint8_t *at, struct ar_entry *entry)
{
	uint16_t bits = wire_get16(at);

	entry->state = (uint8_t)(bits >> 14);
	entry->table = bits >> 8 & 0x0F;
	if (entry->state == STATE_STATIC)
		entry->port = (uint8_t)bits;
	else
		entry->group = (uint8_t)bits;
}

static void encode_old(uint8_t *at, const struct ar_entry *entry)
{
	unsigned low = entry->state == STATE_STATIC ? entry->port : entry->group & 0xFFu;

	wire_put16(at,
		   (uint16_t)((unsigned)entry->state << 14 | (unsigned)entry->table << 8 | low));
}

struct form {
	uint32_t lids, bytes; /* LIDs in a block of the attribute, bytes of an entry */
	void (*decode)(const uint8_t *at, struct ar_entry *entry);
	void (*encode)(uint8_t *at, const struct ar_entry *entry);
};

static const struct form rev1 = {16, 4, decode_rev1, encode_rev1};
static const struct form old = {32, 2, decode_old, encode_old};

static struct ar_entry entry_of(struct ar_switch *sw, uint32_t plft, uint32_t lid)
{
	struct ar_block *block = switch_block(sw, plft, lid / SWITCH_BLOCK_LIDS, false);

	if (block)
		return block->entries[lid % SWITCH_BLOCK_LIDS];
	return (struct ar_entry){.state = STATE_STATIC, .port = 0xFF};
}

/* Stores all entries of a block, or none if one is not valid. */
static bool set_entries(struct ar_switch *sw, const struct form *form, uint32_t plft, uint32_t lid,
			const uint8_t *data)
{
	struct ar_entry entries[32];

	for (uint32_t i = 0; i < form->lids; i++) {
		entries[i] = entry_of(sw, plft, lid + i);
		form->decode(data + (size_t)i * form->bytes, &entries[i]);
		if (!entry_is_valid(sw, &entries[i]))
			return false;
	}
	for (uint32_t i = 0; i < form->lids; i++) {
		struct ar_block *block =
		    switch_block(sw, plft, (lid + i) / SWITCH_BLOCK_LIDS, true);

		if (block)
			block->entries[(lid + i) % SWITCH_BLOCK_LIDS] = entries[i];
	}
	return true;
}

static uint16_t do_lft(struct ar_switch *sw, const struct form *form, bool set, uint32_t modifier,
		       uint8_t *data)
{
	uint32_t plft = modifier >> 24, block = modifier & 0x00FFFFFF, lid = block * form->lids;

	if (block >= SWITCH_LIDS / form->lids || !is_table(sw, plft, 0))
		return STATUS_INVALID_VALUE;
	if (set && !set_entries(sw, form, plft, lid, data))
		return STATUS_INVALID_VALUE;
	for (uint32_t i = 0; i < form->lids; i++) {
		struct ar_entry entry = entry_of(sw, plft, lid + i);

		form->encode(data + (size_t)i * form->bytes, &entry);
	}
	return STATUS_OK;
}

static uint16_t do_lft_rev1(struct ar_switch *sw, bool set, uint32_t modifier, uint8_t *data)
{
	return do_lft(sw, &rev1, set, modifier, data);
}

static uint16_t do_lft_old(struct ar_switch *sw, bool set, uint32_t modifier, uint8_t *data)
{
	return do_lft(sw, &old, set, modifier, data);
}

/* Copies all sub-groups of the source group to the groups first .. last of each range. */
static uint16_t do_group_copy(struct ar_switch *sw, bool set, uint32_t modifier, uint8_t *data)
{
	uint32_t subgroups = switch_subgroups(sw), cap = sw->can.group_cap;

	uint8_t(*masks)[32];

	if (!set)
		return STATUS_UNSUPPORTED_METHOD;
	if (!(sw->info[2] >> 4) || modifier >= cap)
		return STATUS_INVALID_VALUE;
	for (uint32_t i = 0; i < 16; i++) {
		uint32_t last = wire_get16(data + (size_t)4 * i) & 0x0FFF;
		uint32_t first = wire_get16(data + (size_t)4 * i + 2) & 0x0FFF;

		if (first > last || last >= cap)
			return STATUS_INVALID_VALUE;
	}
	masks = switch_groups(sw, 0, 0, true);
	for (uint32_t i = 0; masks && i < 16; i++) {
		uint32_t last = wire_get16(data + (size_t)4 * i) & 0x0FFF;

		for (uint32_t to = wire_get16(data + (size_t)4 * i + 2) & 0x0FFF; to <= last; to++)
			memmove(masks[(size_t)to * subgroups], masks[(size_t)modifier * subgroups],
				(size_t)32 * subgroups);
	}
	return STATUS_OK;
}

static uint16_t do_plft_info(struct ar_switch *sw, bool set, uint32_t modifier, uint8_t *data)
{
	if (modifier || (set && (data[3] & 0x07) > sw->can.modes))
		return STATUS_INVALID_VALUE;
	if (set)
		sw->plft_info[3] = data[3] & 0x07;
	memcpy(data, sw->plft_info, WIRE_DATA_SIZE);
	return STATUS_OK;
}

static uint16_t do_plft_definition(struct ar_switch *sw, bool set, uint32_t modifier, uint8_t *data)
{
	if (16 * modifier >= sw->can.plfts)
		return STATUS_INVALID_VALUE;
	for (uint32_t i = 0; set && i < 16 && 16 * modifier + i < sw->can.plfts; i++) {
		const uint8_t *at = data + (size_t)4 * i;

		if ((at[0] & 0x0F) >= sw->can.plfts || at[1] > 96 || at[3] >= 96)
			return STATUS_INVALID_VALUE;
	}
	for (uint32_t i = 0; set && i < WIRE_DATA_SIZE; i++)
		sw->plft_definition[modifier][i] = (uint8_t)(data[i] & (i % 4 == 0   ? 0x0F
									: i % 4 == 2 ? 0
										     : 0xFF));
	memcpy(data, sw->plft_definition[modifier], WIRE_DATA_SIZE);
	return STATUS_OK;
}

static uint16_t do_plft_map(struct ar_switch *sw, bool set, uint32_t modifier, uint8_t *data)
{
	uint8_t *map;

	if (modifier >= sw->can.plfts)
		return STATUS_INVALID_VALUE;
	map = sw->plft_map[modifier];
	for (uint32_t i = 3; set && i < 40; i++)
		map[i] = data[i] & (i == 3 ? 0x03 : i == 36 || i == 37 ? 0 : 0xFF);
	memcpy(data, map, WIRE_DATA_SIZE);
	return STATUS_OK;
}

static uint16_t do_sl_to_plft(struct ar_switch *sw, bool set, uint32_t modifier, uint8_t *data)
{
	if (modifier > sw->ports / 4u)
		return STATUS_INVALID_VALUE;
	for (uint32_t i = 0; set && i < WIRE_DATA_SIZE; i++)
		if (data[i] >= sw->can.plfts)
			return STATUS_INVALID_VALUE;
	if (set)
		memcpy(sw->sl_to_plft[modifier], data, WIRE_DATA_SIZE);
	memcpy(data, sw->sl_to_plft[modifier], WIRE_DATA_SIZE);
	return STATUS_OK;
}

/* Bytes 0 to 3: the policy is supported; 8: the SL; 11: the policy; then two times. */
static uint16_t do_pfrn_config(struct ar_switch *sw, bool set, uint32_t modifier, uint8_t *data)
{
	if (!(sw->info[20] & INFO_NOTICES_SUPPORTED))
		return STATUS_UNSUPPORTED_ATTRIBUTE;
	if (modifier)
		return STATUS_INVALID_VALUE;
	if (set && ((data[11] & 0x0F) > 1 || wire_get16(data + 12) > 0x7FF ||
		    wire_get16(data + 14) > 0x7FF))
		return STATUS_INVALID_VALUE;
	if (set) {
		sw->pfrn[8] = data[8] & 0xF0;
		sw->pfrn[11] = sw->pfrn[3] & 1 ? data[11] & 0x0F : 0;
		memcpy(sw->pfrn + 12, data + 12, 4);
	}
	memcpy(data, sw->pfrn, WIRE_DATA_SIZE);
	return STATUS_OK;
}

/* Which function does an attribute, and the capabilities that it takes: one of them is enough. */
static const struct attribute {
	uint16_t attribute;
	uint32_t needs; /* bits of mask[0]; 0: none */
	attribute_fn *act;
} known[] = {
    {ATTRIBUTE_GENERAL_INFO, 0, do_general_info},
    {ATTRIBUTE_AR_INFO, 1u << CAPABILITY_AR_OLD | 1u << CAPABILITY_AR_REV1, do_info},
    {ATTRIBUTE_GROUP_TABLE, 1u << CAPABILITY_AR_OLD | 1u << CAPABILITY_AR_REV1, do_group_table},
    {ATTRIBUTE_AR_LFT_OLD, 1u << CAPABILITY_AR_OLD, do_lft_old},
    {ATTRIBUTE_AR_LFT_REV1, 1u << CAPABILITY_AR_REV1, do_lft_rev1},
    {ATTRIBUTE_GROUP_COPY, 1u << CAPABILITY_AR_OLD | 1u << CAPABILITY_AR_REV1, do_group_copy},
    {ATTRIBUTE_PFRN_CONFIG, 1u << CAPABILITY_AR_OLD | 1u << CAPABILITY_AR_REV1, do_pfrn_config},
    {ATTRIBUTE_PLFT_INFO, 1u << CAPABILITY_PRIVATE_LFT, do_plft_info},
    {ATTRIBUTE_PLFT_DEFINITION, 1u << CAPABILITY_PRIVATE_LFT, do_plft_definition},
    {ATTRIBUTE_PLFT_MAP, 1u << CAPABILITY_PRIVATE_LFT, do_plft_map},
    {ATTRIBUTE_SL_TO_PLFT, 1u << CAPABILITY_SL_TO_PRIVATE_LFT, do_sl_to_plft},
};

uint16_t attributes_do(struct ar_switch *sw, uint8_t method, uint16_t attribute, uint32_t modifier,
		       uint8_t *data)
{
	for (unsigned i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (known[i].attribute != attribute)
			continue;
		if (known[i].needs && !(sw->can.mask[0] & known[i].needs))
			break;
		return known[i].act(sw, method == METHOD_SET, modifier, data);
	}
	return STATUS_UNSUPPORTED_ATTRIBUTE;
}
