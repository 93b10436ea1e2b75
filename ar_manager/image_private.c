/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Each private table has a bank of its own, which begins at LID 0. PrivateLFTMap says by which
 * ports packets come that use a table; PortSLToPrivateLFTMap says the same for each port and, of
 * packets from below, whether they are on the raised lane. How a switch tells lanes there is not
 * public: byte n is taken for lane n, which has the name of a service level in the format.
 */
#include "image_private.h"

#include <stdlib.h>
#include <string.h>

#define LIDS_OF_SPACE 512u
#define FIXED_BLOCKS 2u /* PrivateLFTInfo, PrivateLFTDef */
#define RAISED_LANE 1u

static uint32_t map_blocks(const struct hd_ar_switch *planned)
{
	return planned->port_count / HD_AR_MAP_PORTS + 1;
}

uint32_t image_private_count(const struct hd_ar_plan *plan, const struct hd_ar_switch *planned,
			     uint32_t group_blocks)
{
	if (plan->table_count == 1)
		return 0;
	return FIXED_BLOCKS + (plan->table_count - 1) * group_blocks + plan->table_count +
	       map_blocks(planned);
}

bool hd_ar_private_fits(const struct hd_ar_private_info *info, uint32_t tables, uint32_t lid_count,
			uint32_t *mode)
{
	if (info->table_count && info->table_count < tables)
		return false;
	for (uint32_t i = 1; i <= info->mode_cap && i <= HD_AR_PRIVATE_MODES; i++)
		if (info->modes[i - 1].banks >= tables &&
		    info->modes[i - 1].bank_kilolids * 1024 >= lid_count) {
			*mode = i;
			return true;
		}
	return false;
}

static void want_info(const struct hd_ar_plan *plan, const struct hd_ar_image *held, uint8_t *data)
{
	const struct hd_ar_private_block *block =
	    held ? image_private_find(held, HD_AR_PRIVATE_LFT_INFO, 0) : NULL;
	struct hd_ar_private_info info = {0};

	if (block && block->known)
		hd_ar_private_info_decode(block->data, &info);
	info.active_mode = 0;
	hd_ar_private_fits(&info, plan->table_count, plan->lid_count, &info.active_mode);
	hd_ar_private_info_encode(&info, data);
}

static void want_banks(const struct hd_ar_plan *plan, uint8_t *data)
{
	struct hd_ar_private_bank banks[HD_AR_PRIVATE_BANKS] = {{0}};

	for (uint32_t table = 0; table < plan->table_count; table++)
		banks[table] = (struct hd_ar_private_bank){
		    .bank = table,
		    .lid_space = (plan->lid_count + LIDS_OF_SPACE - 1) / LIDS_OF_SPACE};
	hd_ar_private_def_encode(banks, data);
}

static void want_map(const struct hd_ar_plan *plan, const struct hd_ar_switch *planned,
		     uint32_t table, uint8_t *data)
{
	struct hd_ar_private_map map = {
	    .port_mask_enabled = true, .top_enabled = true, .top = plan->lid_count - 1};

	for (uint32_t port = 1; port <= planned->port_count; port++)
		if (hd_port_set_has(&planned->above, port) == (table == 0))
			hd_port_set_add(&map.ports, port);
	hd_ar_private_map_encode(&map, data);
}

static uint8_t table_of(const struct hd_ar_switch *planned, uint32_t port, uint32_t lane)
{
	if (port > planned->port_count || hd_port_set_has(&planned->above, port))
		return 0;
	return lane == RAISED_LANE ? 2 : 1;
}

static void want_port_map(const struct hd_ar_switch *planned, uint32_t block, uint8_t *data)
{
	struct hd_ar_port_sl_map map;

	for (uint32_t i = 0; i < HD_AR_MAP_PORTS; i++)
		for (uint32_t lane = 0; lane < HD_AR_SLS; lane++)
			map.table[i][lane] = table_of(planned, block * HD_AR_MAP_PORTS + i, lane);
	hd_ar_port_sl_map_encode(&map, data);
}

static uint8_t *add(struct hd_ar_image *image, uint32_t attribute, uint32_t modifier)
{
	struct hd_ar_private_block *block = &image->private_blocks[image->private_count++];

	*block = (struct hd_ar_private_block){
	    .attribute = attribute, .modifier = modifier, .known = true};
	return block->data;
}

void image_private_want(struct hd_ar_image *image, const struct hd_ar_plan *plan,
			const struct hd_ar_switch *planned)
{
	image->private_count = 0;
	want_info(plan, NULL, add(image, HD_AR_PRIVATE_LFT_INFO, 0));
	want_banks(plan, add(image, HD_AR_PRIVATE_LFT_DEF, 0));
	for (uint32_t table = 1; table < plan->table_count; table++)
		for (uint32_t block = 0; block < image->group_blocks; block++) {
			uint32_t modifier = hd_ar_group_modifier(&image->quirks, table, 0, block);
			memcpy(add(image, HD_AR_GROUP_TABLE, modifier), image->groups[block],
			       HD_AR_DATA);
		}
	for (uint32_t table = 0; table < plan->table_count; table++)
		want_map(plan, planned, table, add(image, HD_AR_PRIVATE_LFT_MAP, table));
	for (uint32_t block = 0; block < map_blocks(planned); block++)
		want_port_map(planned, block, add(image, HD_AR_PORT_SL_TO_PRIVATE_LFT, block));
}

struct hd_ar_private_block *image_private_more(const struct hd_ar_image *want,
					       uint32_t group_blocks, uint32_t *count)
{
	uint32_t more = group_blocks > want->group_blocks ? group_blocks - want->group_blocks : 0;
	size_t room = want->private_count + (size_t)want->table_count * more;
	struct hd_ar_private_block *blocks = calloc(room + 1, sizeof(*blocks));

	*count = want->private_count;
	if (!blocks || !want->private_count)
		return blocks;
	memcpy(blocks, want->private_blocks, want->private_count * sizeof(*blocks));
	for (uint32_t table = 1; table < want->table_count; table++)
		for (uint32_t i = want->group_blocks; i < group_blocks; i++)
			blocks[(*count)++] = (struct hd_ar_private_block){
			    .attribute = HD_AR_GROUP_TABLE,
			    .modifier = hd_ar_group_modifier(&want->quirks, table, 0, i)};
	return blocks;
}

struct hd_ar_private_block *image_private_find(const struct hd_ar_image *image, uint32_t attribute,
					       uint32_t modifier)
{
	for (uint32_t i = 0; i < image->private_count; i++)
		if (image->private_blocks[i].attribute == attribute &&
		    image->private_blocks[i].modifier == modifier)
			return &image->private_blocks[i];
	return NULL;
}

void image_private_normalise(uint32_t attribute, uint8_t data[HD_AR_DATA])
{
	struct hd_ar_private_bank banks[HD_AR_PRIVATE_BANKS];
	struct hd_ar_private_info info;
	struct hd_ar_private_map map;

	switch (attribute) {
	case HD_AR_PRIVATE_LFT_INFO:
		hd_ar_private_info_decode(data, &info);
		hd_ar_private_info_encode(&info, data);
		break;
	case HD_AR_PRIVATE_LFT_DEF:
		hd_ar_private_def_decode(data, banks);
		hd_ar_private_def_encode(banks, data);
		break;
	case HD_AR_PRIVATE_LFT_MAP:
		hd_ar_private_map_decode(data, &map);
		hd_ar_private_map_encode(&map, data);
		break;
	default:
		break;
	}
}

bool image_private_active(const struct hd_ar_image *held)
{
	const struct hd_ar_private_block *block =
	    held ? image_private_find(held, HD_AR_PRIVATE_LFT_INFO, 0) : NULL;
	struct hd_ar_private_info info;

	if (!block || !block->known)
		return false;
	hd_ar_private_info_decode(block->data, &info);
	return info.active_mode != 0;
}

void image_private_off(const struct hd_ar_image *held, uint8_t data[HD_AR_DATA])
{
	struct hd_ar_private_info info;

	hd_ar_private_info_decode(image_private_find(held, HD_AR_PRIVATE_LFT_INFO, 0)->data, &info);
	info.active_mode = 0;
	hd_ar_private_info_encode(&info, data);
}

void image_private_learn(struct hd_ar_image *want, const struct hd_ar_plan *plan,
			 const struct hd_ar_image *held)
{
	struct hd_ar_private_block *block = image_private_find(want, HD_AR_PRIVATE_LFT_INFO, 0);

	if (block)
		want_info(plan, held, block->data);
}

int hd_ar_private_differences(const struct hd_ar_plan *plan, uint32_t sw,
			      const struct hd_ar_image *held, uint32_t *out)
{
	struct hd_ar_image *want = NULL;
	int rc = hd_ar_image_of_plan(plan, sw, &hd_ar_settings_default, &held->quirks, &held->info,
				     &want);

	if (rc)
		return rc;
	image_private_learn(want, plan, held);
	*out = 0;
	for (uint32_t i = 0; i < want->private_count; i++)
		*out += want->private_blocks[i].attribute != HD_AR_GROUP_TABLE &&
			!image_private_is_held(&want->private_blocks[i], held);
	hd_ar_image_free(want);
	return 0;
}

bool image_private_is_held(const struct hd_ar_private_block *block, const struct hd_ar_image *held)
{
	const struct hd_ar_private_block *now =
	    image_private_find(held, block->attribute, block->modifier);

	return now && now->known && !memcmp(now->data, block->data, HD_AR_DATA);
}
