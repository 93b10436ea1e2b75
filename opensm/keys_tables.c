/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "keys_tables.h"
#include "keys_entries.h"
#include "opensm_headers.h"

#include <errno.h>

static osm_switch_t *switch_of(osm_opensm_t *osm, const struct hd_fabric *fabric,
			       const struct keys_block *block)
{
	osm_switch_t *sw =
	    osm_get_switch_by_guid(&osm->subn, cl_hton64(fabric->node_guid[block->sw]));
	bool has_block =
	    sw && sw->lft && sw->new_lft && (block->number + 1) * HD_LFT_BLOCK <= sw->lft_size;

	return has_block ? sw : NULL;
}

int keys_tables_check(struct osm_opensm *osm, const struct hd_fabric *fabric,
		      const struct keys_blocks *blocks, struct hd_error *err)
{
	char name[HD_LABEL_SIZE];

	for (uint32_t i = 0; i < blocks->count; i++) {
		const struct keys_block *block = &blocks->list[i];
		const osm_switch_t *sw = switch_of(osm, fabric, block);

		if (sw &&
		    !memcmp(sw->lft + block->number * HD_LFT_BLOCK, block->before, HD_LFT_BLOCK))
			continue;
		return hd_error_set(
		    err, -EAGAIN, "switch %s has not acknowledged its forwarding table",
		    keys_entries_switch_name(fabric, block->sw, name, sizeof(name)));
	}
	return 0;
}

void keys_tables_take(struct osm_opensm *osm, const struct hd_fabric *fabric,
		      const struct keys_blocks *blocks)
{
	for (uint32_t i = 0; i < blocks->count; i++) {
		const struct keys_block *block = &blocks->list[i];
		osm_switch_t *sw = switch_of(osm, fabric, block);

		if (!sw)
			continue;
		memcpy(sw->lft + block->number * HD_LFT_BLOCK, block->after, HD_LFT_BLOCK);
		memcpy(sw->new_lft + block->number * HD_LFT_BLOCK, block->after, HD_LFT_BLOCK);
	}
}

/* No entry for a host's LID is 0, the switch itself: so the block differs from any new one. */
static void forget_block(osm_switch_t *sw, const struct keys_block *block)
{
	uint8_t *held = sw->lft + block->number * HD_LFT_BLOCK;

	for (uint32_t i = 0; i < HD_LFT_BLOCK; i++)
		if (block->before[i] != block->after[i])
			held[i] = 0;
}

void keys_tables_forget(struct osm_opensm *osm, const struct hd_fabric *fabric,
			const struct keys_blocks *blocks, bool only_unknown)
{
	for (uint32_t i = 0; i < blocks->count; i++) {
		const struct keys_block *block = &blocks->list[i];
		osm_switch_t *sw = switch_of(osm, fabric, block);

		if (sw && (!only_unknown || block->held == KEYS_HELD_UNKNOWN))
			forget_block(sw, block);
	}
}
