/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "emulator_switch.h"
#include "emulator_recovery.h"
#include "emulator_wire.h"
#include <stdlib.h>

void switch_default(struct capabilities *can)
{
	*can = (struct capabilities){.mask = {1u << CAPABILITY_AR_REV1},
				     .group_cap = 1024,
				     .subgroups = 2,
				     .plfts = 3,
				     .modes = 1};
	can->record[0] = 1 << 5 | 1 << 3; /* by transport and by SL */
	can->record[11] = 0x11; /* versions */
}

/* AdaptiveRoutingInfo at power-on. */
static void reset_info(struct ar_switch *sw)
{
	const struct capabilities *can = &sw->can;

	memcpy(sw->info, can->record, sizeof(sw->info));
	sw->info[2] = (uint8_t)((sw->info[2] & 0xF0) | (can->active_minus_one ? 0 : 1));
	wire_put32(sw->info + 4, (wire_get32(sw->info + 4) & 0xFF000000) | can->group_cap);
	sw->info[10] = can->subgroups;
	wire_put32(sw->info + 16, can->ageing_time);
}

/* PrivateLFTInfo at power-on: off; in each mode every private LFT has a bank of all LIDs. */
static void reset_plft_info(struct ar_switch *sw)
{
	memset(sw->plft_info, 0, sizeof(sw->plft_info));
	sw->plft_info[1] = sw->can.plfts == SWITCH_PLFTS_MAX ? 0 : sw->can.plfts;
	sw->plft_info[2] = sw->can.modes;
	for (unsigned mode = 0; mode < sw->can.modes; mode++) {
		sw->plft_info[4 + 2 * mode] = SWITCH_LIDS / 1024;
		sw->plft_info[5 + 2 * mode] = sw->can.plfts;
	}
}

static void free_tables(struct ar_switch *sw)
{
	for (uint32_t plft = 0; plft < SWITCH_PLFTS_MAX; plft++) {
		for (uint32_t table = 0; table < SWITCH_GROUP_TABLES; table++) {
			free(sw->groups[plft][table].masks);
			sw->groups[plft][table].masks = NULL;
		}
		for (uint32_t block = 0; sw->lft[plft] && block < SWITCH_BLOCKS; block++)
			free(sw->lft[plft][block]);
		free(sw->lft[plft]);
		sw->lft[plft] = NULL;
	}
}

void switch_reset(struct ar_switch *sw)
{
	free_tables(sw);
	reset_info(sw);
	reset_plft_info(sw);
	memset(sw->plft_definition, 0, sizeof(sw->plft_definition));
	memset(sw->plft_map, 0, sizeof(sw->plft_map));
	memset(sw->sl_to_plft, 0, sizeof(sw->sl_to_plft));
	memset(sw->pfrn, 0, sizeof(sw->pfrn));
	sw->pfrn[3] = 1;
	memset(sw->key_info, 0, sizeof(sw->key_info));
	memset(sw->neighbours, 0, sizeof(sw->neighbours));
	recovery_forget(sw);
}

struct ar_switch *switch_new(const struct capabilities *can, uint8_t ports)
{
	struct ar_switch *sw = calloc(1, sizeof(*sw));

	if (!sw)
		return NULL;
	sw->can = *can;
	sw->ports = ports;
	switch_reset(sw);
	return sw;
}

void switch_free(struct ar_switch *sw)
{
	if (sw) {
		free_tables(sw);
		recovery_forget(sw);
	}
	free(sw);
}

bool switch_can(const struct ar_switch *sw, unsigned capability)
{
	return sw->can.mask[capability / 32] >> capability % 32 & 1;
}

uint32_t switch_group_count(const struct ar_switch *sw)
{
	return (uint32_t)sw->can.group_cap * sw->can.subgroups;
}

uint8_t switch_subgroups(const struct ar_switch *sw)
{
	unsigned active = (sw->info[2] & 0x0F) + (sw->can.active_minus_one ? 1u : 0u);

	return (uint8_t)(active ? active : 1);
}

static struct ar_block *new_block(void)
{
	struct ar_block *made = calloc(1, sizeof(*made));

	for (uint32_t i = 0; made && i < SWITCH_BLOCK_LIDS; i++)
		made->entries[i] = (struct ar_entry){.state = STATE_STATIC, .port = 0xFF};
	return made;
}

struct ar_block *switch_block(struct ar_switch *sw, uint32_t plft, uint32_t block, bool make)
{
	if (!sw->lft[plft] && make)
		sw->lft[plft] = calloc(SWITCH_BLOCKS, sizeof(struct ar_block *));
	if (!sw->lft[plft])
		return NULL;
	if (!sw->lft[plft][block] && make)
		sw->lft[plft][block] = new_block();
	return sw->lft[plft][block];
}

uint8_t (*switch_groups(struct ar_switch *sw, uint32_t plft, uint32_t table, bool make))[32]
{
	struct group_table *groups = &sw->groups[plft][table];

	/* the largest size, so that a test may change the capabilities */
	if (!groups->masks && make)
		groups->masks = calloc(4096u * 16u, sizeof(*groups->masks));
	return groups->masks;
}
