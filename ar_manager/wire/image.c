/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The blocks that a switch holds, or that a plan wants it to hold. diff.c compares two images; the programming
 * stores answers in one.
 *
 * An image has the info, the blocks of groups, of AR LFTs, and of private tables, and for each whether it is
 * known. Reserved bits are cleared, so that equal blocks are equal bytes.
 */
#include "image.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- the image ---- */

const struct hd_ar_settings hd_ar_settings_default = {.sl_mask = 0xFFFF, .ageing_time_us = 30};

struct image_holder {
	struct hd_ar_image image; /* first: an image's address is its holder's */
	struct hd_arena arena;
};

void hd_ar_image_free(struct hd_ar_image *image)
{
	struct image_holder *holder = (struct image_holder *)image;

	if (!holder)
		return;
	hd_arena_release(&holder->arena);
	free(holder);
}

bool hd_ar_settings_fit(const struct hd_ar_settings *settings, const struct hd_ar_info *info)
{
	return (info->by_sl_cap || settings->sl_mask == 0xFFFF) &&
	       (info->by_transp_cap || !settings->transport_disable);
}

uint32_t image_block_lids(const struct hd_ar_image *image)
{
	return image->form == HD_AR_FORM_OLD ? image->quirks.old_block_lids : HD_AR_REV1_BLOCK;
}

void image_entries_get(const struct hd_ar_image *image, const uint8_t *block,
		       struct hd_ar_entry entries[HD_AR_OLD_BLOCK])
{
	if (image->form == HD_AR_FORM_OLD)
		hd_ar_old_decode(block, entries);
	else
		hd_ar_rev1_decode(block, entries);
}

void image_entries_put(const struct hd_ar_image *image,
		       const struct hd_ar_entry entries[HD_AR_OLD_BLOCK], uint8_t *block)
{
	if (image->form == HD_AR_FORM_OLD)
		hd_ar_old_encode(entries, block);
	else
		hd_ar_rev1_encode(entries, block);
}

uint32_t image_lft_attribute(const struct hd_ar_image *image)
{
	return image->form == HD_AR_FORM_OLD ? HD_AR_LFT_OLD : HD_AR_LFT_REV1;
}

/* An image of the same size with nothing known. */
static int image_new(const struct hd_ar_image *shape, struct hd_ar_image **out)
{
	struct image_holder *holder = calloc(1, sizeof(*holder));
	size_t lft = (size_t)shape->table_count * shape->lft_blocks;

	if (!holder)
		return -ENOMEM;
	struct hd_ar_image *image = &holder->image;
	*image = (struct hd_ar_image){.form = shape->form,
				      .quirks = shape->quirks,
				      .group_blocks = shape->group_blocks,
				      .table_count = shape->table_count,
				      .lft_blocks = shape->lft_blocks,
				      .private_count = shape->private_count};
	image->groups = hd_arena_alloc(&holder->arena, shape->group_blocks, HD_AR_DATA);
	image->group_known = hd_arena_alloc(&holder->arena, shape->group_blocks, sizeof(bool));
	image->lft = hd_arena_alloc(&holder->arena, lft, HD_AR_DATA);
	image->lft_known = hd_arena_alloc(&holder->arena, lft, sizeof(bool));
	image->private_blocks =
	    hd_arena_alloc(&holder->arena, shape->private_count, sizeof(*image->private_blocks));
	if (hd_arena_check(&holder->arena)) {
		hd_ar_image_free(image);
		return -ENOMEM;
	}
	for (uint32_t i = 0; shape->private_blocks && i < shape->private_count; i++)
		image->private_blocks[i] =
		    (struct hd_ar_private_block){.attribute = shape->private_blocks[i].attribute,
						 .modifier = shape->private_blocks[i].modifier};
	*out = image;
	return 0;
}

/* ---- what a plan wants ---- */

uint32_t hd_ar_sub_groups(const struct hd_ar_info *info, const struct hd_ar_quirks *quirks)
{
	uint32_t active = info->sub_grps_active + quirks->active_minus_one;

	return active ? active : 1;
}

uint32_t hd_ar_group_element(const struct hd_ar_quirks *quirks, uint32_t groups,
			     uint32_t sub_groups, uint32_t group, uint32_t sub)
{
	return quirks->sub_group_major ? sub * groups + group : group * sub_groups + sub;
}

const uint8_t *hd_ar_image_groups(const struct hd_ar_image *image, uint32_t table, uint32_t block)
{
	if (!table)
		return block < image->group_blocks ? image->groups[block] : NULL;
	const struct hd_ar_private_block *private = image_private_find(
	    image, HD_AR_GROUP_TABLE, hd_ar_group_modifier(&image->quirks, table, 0, block));
	return private ? private->data : NULL;
}

static struct hd_ar_entry entry_of(const struct hd_ar_image *image, const struct hd_ar_plan *plan,
				   uint32_t sw, uint32_t table, uint32_t lid)
{
	struct hd_ar_entry entry = {.state = HD_AR_STATIC, .port = image->quirks.unreachable_port};

	if (lid >= plan->lid_count)
		return entry;
	uint8_t port = plan->switches[sw].lid_port[table][lid];
	uint32_t group = hd_ar_plan_group(plan, sw, table, lid);
	if (port != HD_NO_PORT)
		entry.port = port;
	if (group != HD_AR_NO_GROUP) {
		entry.state = plan->mode;
		entry.group = (uint16_t)group;
	}
	return entry;
}

/* A block of the new form whose LIDs the plan has: image_entries_put() of entry_of(), sixteen times. Without branches,
 * so that the compiler turns it into vector instructions. */
static void want_rev1_block(struct hd_ar_image *image, const struct hd_ar_plan *plan, uint32_t sw,
			    uint32_t table, uint32_t first, uint32_t block)
{
	const uint8_t *ports = plan->switches[sw].lid_port[table] + first;
	const uint16_t *groups = plan->switches[sw].lid_group[table] + first;
	const uint32_t adaptive = (uint32_t)plan->mode << 30, fixed = (uint32_t)HD_AR_STATIC << 30;
	const uint8_t none = image->quirks.unreachable_port;
	uint8_t *out = image->lid_port + (size_t)block * HD_AR_REV1_BLOCK;
	uint32_t words[HD_AR_REV1_BLOCK];

	for (uint32_t i = 0; i < HD_AR_REV1_BLOCK; i++)
		out[i] = ports[i] == HD_NO_PORT ? none : ports[i];
	for (uint32_t i = 0; i < HD_AR_REV1_BLOCK; i++)
		words[i] = htobe32(
		    (groups[i] == HD_AR_NO_GROUP ? fixed : adaptive | (groups[i] & 0xFFFu)) |
		    (uint32_t)out[i] << 16);
	memcpy(image->lft[block], words, HD_AR_DATA);
}

static void want_block(struct hd_ar_image *image, const struct hd_ar_plan *plan, uint32_t sw,
		       uint32_t i)
{
	const uint32_t lids = image_block_lids(image), table = i / image->lft_blocks;
	const uint32_t first = i % image->lft_blocks * lids;
	struct hd_ar_entry entries[HD_AR_OLD_BLOCK] = {{0}};

	if (image->form == HD_AR_FORM_REV1 && first + lids <= plan->lid_count) {
		want_rev1_block(image, plan, sw, table, first, i);
		return;
	}
	for (uint32_t j = 0; j < lids; j++) {
		entries[j] = entry_of(image, plan, sw, table, first + j);
		image->lid_port[i * lids + j] = entries[j].port;
	}
	image_entries_put(image, entries, image->lft[i]);
}

/* wanted: which blocks are filled; NULL: all. */
static int want_lft(struct hd_ar_image *image, const struct hd_ar_plan *plan, uint32_t sw,
		    const bool *wanted)
{
	uint32_t lids = image_block_lids(image), blocks = image->table_count * image->lft_blocks;
	struct image_holder *holder = (struct image_holder *)image;

	image->lid_port = hd_arena_alloc(&holder->arena, blocks, lids);
	if (!image->lid_port)
		return -ENOMEM;
	for (uint32_t i = 0; i < blocks; i++) {
		if (!wanted || wanted[i])
			want_block(image, plan, sw, i);
		image->lft_known[i] = true;
	}
	return 0;
}

static uint32_t blocks_for(uint32_t items, uint32_t block)
{
	return (items + block - 1) / block;
}

int image_of_plan(const struct hd_ar_plan *plan, uint32_t sw, const struct hd_ar_settings *settings,
		  const struct hd_ar_quirks *quirks, const struct hd_ar_info *info,
		  const bool *wanted, struct hd_ar_image **out)
{
	const struct hd_ar_switch *planned = &plan->switches[sw];
	struct hd_ar_image shape = {.form = planned->form, .quirks = *quirks}, *image = NULL;

	/* With private tables a switch needs them even where no entry is adaptive. */
	const bool tables =
	    planned->used > 0 || (plan->table_count > 1 && planned->form != HD_AR_FORM_NONE);

	if (tables) {
		shape.group_blocks =
		    blocks_for(planned->group_count * planned->sub_groups, HD_AR_GROUP_BLOCK);
		shape.table_count = plan->table_count;
		shape.lft_blocks = blocks_for(plan->lid_count, image_block_lids(&shape));
		shape.private_count = image_private_count(plan, planned, shape.group_blocks);
	}
	int rc = image_new(&shape, &image);
	if (rc)
		return rc;
	if (tables) {
		for (uint32_t group = 0; group < planned->group_count; group++)
			for (uint32_t sub = 0; sub < planned->sub_groups; sub++) {
				struct hd_port_set sets[HD_AR_GROUP_BLOCK];
				uint32_t element =
				    hd_ar_group_element(&image->quirks, planned->group_count,
							planned->sub_groups, group, sub);
				uint8_t *block = image->groups[element / HD_AR_GROUP_BLOCK];
				hd_ar_group_block_decode(block, sets);
				sets[element % HD_AR_GROUP_BLOCK] =
				    planned->groups[group].ports[sub];
				hd_ar_group_block_encode(sets, block);
			}
		for (uint32_t block = 0; block < image->group_blocks; block++)
			image->group_known[block] = true;
		rc = want_lft(image, plan, sw, wanted);
	}
	if (!rc && image->private_count)
		image_private_want(image, plan, planned);
	if (rc) {
		hd_ar_image_free(image);
		return rc;
	}
	struct hd_ar_info *want = &image->info;
	*want = *info;
	image->info_known = true;
	want->enabled = tables;
	want->fr_enabled = tables && settings->recovery >= HD_AR_RECOVERY_LOCAL && info->is_fr_sup;
	want->pfrn_enabled = settings->recovery >= HD_AR_RECOVERY_NOTICES && info->pfrn_sup;
	if (want->enabled) {
		want->group_top = planned->group_count ? planned->group_count - 1 : 0;
		want->sub_grps_active = planned->sub_groups - image->quirks.active_minus_one;
		want->ageing_time_value = settings->ageing_time_us;
		if (info->by_sl_cap) {
			want->by_sl_en = settings->sl_mask != 0xFFFF;
			want->enable_by_sl_mask = settings->sl_mask;
		}
		if (info->by_transp_cap)
			want->by_transport_disable = settings->transport_disable;
	}
	*out = image;
	return 0;
}

int hd_ar_image_of_plan(const struct hd_ar_plan *plan, uint32_t sw,
			const struct hd_ar_settings *settings, const struct hd_ar_quirks *quirks,
			const struct hd_ar_info *info, struct hd_ar_image **out)
{
	return image_of_plan(plan, sw, settings, quirks, info, NULL, out);
}

/* ---- what a switch holds ---- */

/* Where a block is and whether it is known; false where the image has no such block. */
struct place {
	uint8_t *data;
	bool *known;
};

static bool find_place(struct hd_ar_image *image, uint32_t attribute, uint32_t modifier,
		       struct place *place)
{
	uint32_t table = modifier >> 24, block = modifier & 0xFFF;

	struct hd_ar_private_block *block_found = image_private_find(image, attribute, modifier);

	if (block_found) {
		*place = (struct place){block_found->data, &block_found->known};
		return true;
	}
	if (attribute == HD_AR_GROUP_TABLE && modifier < image->group_blocks) {
		*place = (struct place){image->groups[modifier], &image->group_known[modifier]};
		return true;
	}
	if (attribute != image_lft_attribute(image) || table >= image->table_count ||
	    block >= image->lft_blocks || modifier != hd_ar_lft_modifier(table, block))
		return false;
	size_t index = (size_t)table * image->lft_blocks + block;
	*place = (struct place){image->lft[index], &image->lft_known[index]};
	return true;
}

bool hd_ar_image_store(struct hd_ar_image *image, const struct hd_ar_mad *mad)
{
	struct place place;

	if (mad->attribute == HD_AR_INFO) {
		hd_ar_info_decode(mad->data, &image->info);
		image->info_known = true;
		return true;
	}
	if (!find_place(image, mad->attribute, mad->modifier, &place))
		return false;
	/* Reserved bits become 0. */
	uint8_t *data = place.data;
	struct hd_ar_entry entries[HD_AR_OLD_BLOCK];
	memcpy(data, mad->data, HD_AR_DATA);
	image_private_normalise(mad->attribute, data);
	if (!(mad->attribute != image_lft_attribute(image))) {
		image_entries_get(image, mad->data, entries);
		for (uint32_t i = image_block_lids(image); i < HD_AR_OLD_BLOCK; i++)
			if (image->form == HD_AR_FORM_OLD)
				entries[i] = (struct hd_ar_entry){0};
		image_entries_put(image, entries, data);
	}
	*place.known = true;
	return true;
}

void hd_ar_image_forget(struct hd_ar_image *image, uint32_t attribute, uint32_t modifier)
{
	struct place place;

	if (attribute == HD_AR_INFO)
		image->info_known = false;
	else if (find_place(image, attribute, modifier, &place))
		*place.known = false;
}

/* The blocks that both have room for. */
static void take_known(struct hd_ar_image *image, const struct hd_ar_image *known)
{
	for (uint32_t i = 0; i < image->group_blocks && i < known->group_blocks; i++) {
		memcpy(image->groups[i], known->groups[i], HD_AR_DATA);
		image->group_known[i] = known->group_known[i];
	}
	for (uint32_t table = 0; table < image->table_count && table < known->table_count; table++)
		for (uint32_t i = 0; i < image->lft_blocks && i < known->lft_blocks; i++) {
			size_t to = (size_t)table * image->lft_blocks + i;
			size_t from = (size_t)table * known->lft_blocks + i;
			memcpy(image->lft[to], known->lft[from], HD_AR_DATA);
			image->lft_known[to] = known->lft_known[from];
		}
	for (uint32_t i = 0; i < known->private_count; i++) {
		const struct hd_ar_private_block *from = &known->private_blocks[i];
		struct hd_ar_private_block *to =
		    image_private_find(image, from->attribute, from->modifier);
		if (to)
			*to = *from;
	}
}

static uint32_t larger(uint32_t a, uint32_t b)
{
	return a > b ? a : b;
}

int hd_ar_image_like(const struct hd_ar_image *want, const struct hd_ar_image *known,
		     struct hd_ar_image **out)
{
	struct hd_ar_image shape = *want;
	bool same = known && known->form == want->form &&
		    known->quirks.old_block_lids == want->quirks.old_block_lids;

	if (same) {
		shape.group_blocks = larger(want->group_blocks, known->group_blocks);
		shape.table_count = larger(want->table_count, known->table_count);
		shape.lft_blocks = larger(want->lft_blocks, known->lft_blocks);
	}
	if (same && known->private_count > want->private_count) {
		shape.private_count = known->private_count;
		shape.private_blocks = known->private_blocks;
	}
	int rc = image_new(&shape, out);
	if (rc || !known)
		return rc;
	(*out)->info = known->info;
	(*out)->info_known = known->info_known;
	if (same)
		take_known(*out, known);
	return 0;
}

/* ---- private forwarding tables ---- */

/*
 * Each private table has a bank of its own, which begins at LID 0. PrivateLFTMap says by which
 * ports packets come that use a table; PortSLToPrivateLFTMap says the same for each port and, of
 * packets from below, whether they are on the raised lane. How a switch tells lanes there is not
 * public: byte n is taken for lane n, which has the name of a service level in the format.
 */

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

static uint8_t *image_add(struct hd_ar_image *image, uint32_t attribute, uint32_t modifier)
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
	want_info(plan, NULL, image_add(image, HD_AR_PRIVATE_LFT_INFO, 0));
	want_banks(plan, image_add(image, HD_AR_PRIVATE_LFT_DEF, 0));
	for (uint32_t table = 1; table < plan->table_count; table++)
		for (uint32_t block = 0; block < image->group_blocks; block++) {
			uint32_t modifier = hd_ar_group_modifier(&image->quirks, table, 0, block);
			memcpy(image_add(image, HD_AR_GROUP_TABLE, modifier), image->groups[block],
			       HD_AR_DATA);
		}
	for (uint32_t table = 0; table < plan->table_count; table++)
		want_map(plan, planned, table, image_add(image, HD_AR_PRIVATE_LFT_MAP, table));
	for (uint32_t block = 0; block < map_blocks(planned); block++) {
		uint8_t *data = image_add(image, HD_AR_PORT_SL_TO_PRIVATE_LFT, block);
		struct hd_ar_port_sl_map map;
		for (uint32_t i = 0; i < HD_AR_MAP_PORTS; i++)
			for (uint32_t lane = 0; lane < HD_AR_SLS; lane++)
				map.table[i][lane] =
				    table_of(planned, block * HD_AR_MAP_PORTS + i, lane);
		hd_ar_port_sl_map_encode(&map, data);
	}
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
