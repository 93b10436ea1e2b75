/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which MADs turn what a switch holds into what a plan wants. program_switch.c calls hd_ar_diff().
 *
 * Steps in this order: entries whose group changes become static; then groups; then entries; last the info, unless
 * AR begins there. So no packet ever follows an entry with another group than it is for. Blocks that are held as
 * wanted are not sent; blocks that are not known are.
 */
#include "image.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct changes_holder {
	struct hd_ar_changes changes; /* first: their address is their holder's */
	struct hd_arena arena;
};

void hd_ar_changes_free(struct hd_ar_changes *changes)
{
	struct changes_holder *holder = (struct changes_holder *)changes;

	if (!holder)
		return;
	hd_arena_release(&holder->arena);
	free(holder);
}

static uint32_t lft_total(const struct hd_ar_image *image)
{
	return image->table_count * image->lft_blocks;
}

/* Blocks of a held table beyond those that are wanted: for LIDs that have gone. */
static uint32_t lft_beyond(const struct hd_ar_image *want, const struct hd_ar_image *held)
{
	return held->form == want->form && held->lft_blocks > want->lft_blocks
		   ? held->lft_blocks - want->lft_blocks
		   : 0;
}

/* Room for so many blocks of AR LFTs and all other blocks twice, for the info twice, and for what is taken away. */
static int changes_new(const struct hd_ar_image *want, const struct hd_ar_image *held,
		       uint32_t lft_blocks, struct changes_holder **out)
{
	struct changes_holder *holder = calloc(1, sizeof(*holder));
	size_t room = 2 * ((size_t)want->group_blocks + lft_blocks + 1) + held->group_blocks +
		      (size_t)want->table_count * lft_beyond(want, held) + want->private_count + 1;

	if (!holder)
		return -ENOMEM;
	holder->changes.mads = hd_arena_alloc(&holder->arena, room, sizeof(struct hd_ar_mad));
	holder->changes.step = hd_arena_alloc(&holder->arena, room, sizeof(uint32_t));
	holder->changes.wanted_blocks =
	    want->group_blocks + lft_total(want) + want->private_count + 1;
	if (hd_arena_check(&holder->arena)) {
		hd_ar_changes_free(&holder->changes);
		return -ENOMEM;
	}
	*out = holder;
	return 0;
}

static void diff_add(struct hd_ar_changes *changes, uint32_t step, uint32_t attribute,
		     uint32_t modifier, const uint8_t *data)
{
	struct hd_ar_mad *mad = &changes->mads[changes->count];

	mad->attribute = attribute;
	mad->modifier = modifier;
	if (data)
		memcpy(mad->data, data, HD_AR_DATA);
	changes->step[changes->count++] = step;
}

static void add_info(struct hd_ar_changes *changes, uint32_t step, const struct hd_ar_info *info)
{
	uint8_t data[HD_AR_DATA];

	hd_ar_info_encode(info, data);
	diff_add(changes, step, HD_AR_INFO, 0, data);
}

static bool group_known(const struct hd_ar_image *held, uint32_t block)
{
	return block < held->group_blocks && held->group_known[block];
}

/* The held bytes of block i of the wanted AR LFTs, NULL where they are not known. */
static const uint8_t *held_lft(const struct hd_ar_image *want, const struct hd_ar_image *held,
			       uint32_t i)
{
	uint32_t table = i / want->lft_blocks, block = i % want->lft_blocks;
	size_t index = (size_t)table * held->lft_blocks + block;

	if (table >= held->table_count || block >= held->lft_blocks || !held->lft_known[index] ||
	    held->form != want->form)
		return NULL;
	return held->lft[index];
}

static uint32_t count_unknown(const struct hd_ar_image *want, const struct hd_ar_image *held)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < lft_total(want); i++)
		count += !held_lft(want, held, i);
	return count;
}

/* Blocks of the wanted AR LFTs that are not known to be held. */
static uint32_t count_differing(const struct hd_ar_image *want, const struct hd_ar_image *held)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < lft_total(want); i++) {
		const uint8_t *now = held_lft(want, held, i);
		count += !now || memcmp(now, want->lft[i], HD_AR_DATA);
	}
	return count;
}

static uint32_t lft_modifier(const struct hd_ar_image *want, uint32_t i)
{
	return hd_ar_lft_modifier(i / want->lft_blocks, i % want->lft_blocks);
}

static uint32_t group_modifier(const struct hd_ar_image *want, uint32_t block)
{
	return hd_ar_group_modifier(&want->quirks, 0, 0, block);
}

int hd_ar_unknown(const struct hd_ar_image *want, const struct hd_ar_image *held,
		  struct hd_ar_changes **out)
{
	struct changes_holder *holder = NULL;
	int rc = changes_new(want, held, count_unknown(want, held), &holder);

	if (rc)
		return rc;
	struct hd_ar_changes *changes = &holder->changes;
	if (!held->info_known)
		diff_add(changes, 0, HD_AR_INFO, 0, NULL);
	for (uint32_t block = 0; block < want->group_blocks; block++)
		if (!group_known(held, block))
			diff_add(changes, 0, HD_AR_GROUP_TABLE, group_modifier(want, block), NULL);
	for (uint32_t i = 0; i < lft_total(want); i++)
		if (!held_lft(want, held, i))
			diff_add(changes, 0, image_lft_attribute(want), lft_modifier(want, i),
				 NULL);
	for (uint32_t i = 0; i < want->private_count; i++) {
		const struct hd_ar_private_block *block = &want->private_blocks[i];
		const struct hd_ar_private_block *now =
		    image_private_find(held, block->attribute, block->modifier);
		if (!now || !now->known)
			diff_add(changes, 0, block->attribute, block->modifier, NULL);
	}
	*out = changes;
	return 0;
}

/* ---- the changes ---- */

static uint32_t sub_groups_of(const struct hd_ar_image *want)
{
	return hd_ar_sub_groups(&want->info, &want->quirks);
}

static uint32_t element_of(const struct hd_ar_image *want, uint32_t group, uint32_t sub)
{
	return hd_ar_group_element(&want->quirks, want->info.group_top + 1, sub_groups_of(want),
				   group, sub);
}

/* The ports of an element; none beyond the image. */
static struct hd_port_set ports_of(const struct hd_ar_image *image, uint32_t element)
{
	struct hd_port_set sets[HD_AR_GROUP_BLOCK] = {{{0}}};

	if (element / HD_AR_GROUP_BLOCK < image->group_blocks)
		hd_ar_group_block_decode(image->groups[element / HD_AR_GROUP_BLOCK], sets);
	return sets[element % HD_AR_GROUP_BLOCK];
}

static bool group_is_wanted(const struct hd_ar_image *want, uint32_t group)
{
	bool any = false;

	for (uint32_t sub = 0; group <= want->info.group_top && sub < sub_groups_of(want); sub++) {
		struct hd_port_set ports = ports_of(want, element_of(want, group, sub));
		any |= !hd_port_set_is_empty(&ports);
	}
	return any;
}

/* Whether a number gets ports that it did not have. One that is not wanted keeps its ports until no
 * entry uses it any more. */
static bool group_grows(const struct hd_ar_image *want, const struct hd_ar_image *held,
			uint32_t group)
{
	if (!group_is_wanted(want, group))
		return false;
	for (uint32_t sub = 0; sub < sub_groups_of(want); sub++) {
		uint32_t element = element_of(want, group, sub);
		struct hd_port_set wanted = ports_of(want, element), now = ports_of(held, element);
		struct hd_port_set shared = wanted;
		hd_port_set_intersect(&shared, &now);
		if (!hd_port_set_equal(&shared, &wanted))
			return true;
	}
	return false;
}

/* Entries become static if their group gets other ports, unless they are to have that group. An
 * entry of the new form keeps its static port; one of the old form has none while it is adaptive,
 * and gets the one that is wanted. Returns whether the block has any such entry. */
static bool retreat_block(const struct hd_ar_image *want, const bool *growing, uint32_t i,
			  const uint8_t *before, uint8_t *data)
{
	uint32_t lids = image_block_lids(want);
	const uint8_t *ports = want->lid_port + (size_t)i * lids;
	struct hd_ar_entry entries[HD_AR_OLD_BLOCK] = {{0}}, later[HD_AR_OLD_BLOCK] = {{0}};
	bool any = false;

	image_entries_get(want, before, entries);
	image_entries_get(want, want->lft[i], later);
	for (uint32_t j = 0; j < lids; j++) {
		struct hd_ar_entry *entry = &entries[j];
		bool keeps = later[j].state != HD_AR_STATIC && later[j].group == entry->group;
		if (entry->state == HD_AR_STATIC || keeps || entry->group > want->info.group_top ||
		    !growing[entry->group])
			continue;
		any = true;
		*entry = (struct hd_ar_entry){.state = HD_AR_STATIC,
					      .port = want->form == HD_AR_FORM_OLD ? ports[j]
										   : entry->port};
	}
	if (any)
		image_entries_put(want, entries, data);
	return any;
}

/* A block with the groups that are wanted, and, where entries may still use them, those that the
 * switch holds beside these. */
static void fill_block(const struct hd_ar_image *want, const struct hd_ar_image *held,
		       uint32_t block, bool keep, uint8_t *data)
{
	struct hd_port_set sets[HD_AR_GROUP_BLOCK];

	for (uint32_t i = 0; i < HD_AR_GROUP_BLOCK; i++) {
		uint32_t element = block * HD_AR_GROUP_BLOCK + i;
		bool wanted = group_is_wanted(want, want->quirks.sub_group_major
							? element % (want->info.group_top + 1)
							: element / sub_groups_of(want));
		sets[i] = ports_of(keep && !wanted ? held : want, element);
	}
	hd_ar_group_block_encode(sets, data);
}

static void add_groups(const struct hd_ar_image *want, const struct hd_ar_image *held,
		       uint32_t step, bool keep, struct hd_ar_changes *changes)
{
	for (uint32_t block = 0; block < want->group_blocks; block++) {
		uint8_t data[HD_AR_DATA];
		fill_block(want, held, block, keep, data);
		if (!group_known(held, block) || memcmp(held->groups[block], data, HD_AR_DATA))
			diff_add(changes, step, HD_AR_GROUP_TABLE, group_modifier(want, block),
				 data);
	}
}

/* Takes away the groups in blocks that are not wanted at all. */
static void clean_beyond(const struct hd_ar_image *want, const struct hd_ar_image *held,
			 uint32_t step, struct hd_ar_changes *changes)
{
	static const uint8_t empty[HD_AR_DATA];

	for (uint32_t block = want->group_blocks; block < held->group_blocks; block++)
		if (held->group_known[block] && memcmp(held->groups[block], empty, HD_AR_DATA))
			diff_add(changes, step, HD_AR_GROUP_TABLE, group_modifier(want, block),
				 empty);
}

static void add_lft(const struct hd_ar_image *want, const struct hd_ar_image *held, uint32_t step,
		    uint32_t retreats, struct hd_ar_changes *changes)
{
	uint32_t next = 0;

	for (uint32_t i = 0; i < lft_total(want); i++) {
		uint32_t modifier = lft_modifier(want, i);
		/* Whether the first step has set the block already, and to what. */
		while (next < retreats && changes->mads[next].modifier < modifier)
			++next;
		const uint8_t *now = next < retreats && changes->mads[next].modifier == modifier
					 ? changes->mads[next].data
					 : NULL;
		if (!now)
			now = held_lft(want, held, i);
		if (!now || memcmp(now, want->lft[i], HD_AR_DATA))
			diff_add(changes, step, image_lft_attribute(want), modifier, want->lft[i]);
	}
}

/* Entries for LIDs above the highest one become what a switch has that was never programmed. */
static void clean_lft(const struct hd_ar_image *want, const struct hd_ar_image *held, uint32_t step,
		      struct hd_ar_changes *changes)
{
	struct hd_ar_entry entries[HD_AR_OLD_BLOCK] = {{0}};
	uint8_t blank[HD_AR_DATA] = {0};

	for (uint32_t i = 0; i < image_block_lids(want); i++)
		entries[i] = (struct hd_ar_entry){.state = HD_AR_STATIC,
						  .port = want->quirks.unreachable_port};
	image_entries_put(want, entries, blank);
	for (uint32_t table = 0; table < want->table_count && table < held->table_count; table++)
		for (uint32_t i = 0; i < lft_beyond(want, held); i++) {
			const uint32_t block = want->lft_blocks + i;
			const size_t at = (size_t)table * held->lft_blocks + block;
			if (held->lft_known[at] && memcmp(held->lft[at], blank, HD_AR_DATA))
				diff_add(changes, step, image_lft_attribute(want),
					 hd_ar_lft_modifier(table, block), blank);
		}
}

/* While AR is on, tables can be changed step by step only if all of them are known and the meaning
 * of group numbers stays. */
static bool must_switch_off(const struct hd_ar_image *want, const struct hd_ar_image *held)
{
	if (held->info_known && !held->info.enabled)
		return false;
	bool known = held->info_known;
	for (uint32_t block = 0; known && block < want->group_blocks; block++)
		known = group_known(held, block);
	for (uint32_t i = 0; known && i < lft_total(want); i++)
		known = held_lft(want, held, i) != NULL;
	return !known || image_private_active(held) ||
	       held->info.sub_grps_active != want->info.sub_grps_active;
}

static void add_private_off(const struct hd_ar_image *held, uint32_t step,
			    struct hd_ar_changes *changes)
{
	uint8_t data[HD_AR_DATA];

	image_private_off(held, data);
	diff_add(changes, step, HD_AR_PRIVATE_LFT_INFO, 0, data);
}

static void switch_off(const struct hd_ar_image *want, const struct hd_ar_image *held,
		       struct hd_ar_changes *changes)
{
	struct hd_ar_info off = held->info_known ? held->info : want->info;

	off.enabled = off.fr_enabled = off.pfrn_enabled = 0;
	add_info(changes, 0, &off);
}

/* AR stays on or is to be switched on. */
static void change_tables(const struct hd_ar_image *want, const struct hd_ar_image *held,
			  enum hd_ar_order order, struct hd_ar_changes *changes)
{
	bool off = must_switch_off(want, held);
	bool stays_on = !off && held->info.enabled;
	uint32_t retreats = 0;

	if (off)
		switch_off(want, held, changes);
	if (image_private_active(held))
		add_private_off(held, 0, changes);
	if (stays_on) {
		/* The blocks in which entries become static first: some of those that differ. */
		bool growing[HD_AR_GROUPS_MAX + 1], any = false;
		for (uint32_t group = 0; group <= want->info.group_top; group++) {
			growing[group] = group_grows(want, held, group);
			any |= growing[group];
		}
		for (uint32_t i = 0; any && i < lft_total(want); i++) {
			uint8_t data[HD_AR_DATA];
			const uint8_t *before = held_lft(want, held, i);
			if (before && memcmp(before, want->lft[i], HD_AR_DATA) &&
			    retreat_block(want, growing, i, before, data))
				diff_add(changes, 0, image_lft_attribute(want),
					 lft_modifier(want, i), data);
		}
		retreats = changes->count;
	}
	clean_lft(want, held, stays_on ? 0 : 1, changes);
	if (order == HD_AR_LFT_FIRST && !stays_on)
		add_lft(want, held, 1, 0, changes);
	add_groups(want, held, order == HD_AR_LFT_FIRST && !stays_on ? 2 : 1, stays_on, changes);
	if (order != HD_AR_LFT_FIRST || stays_on)
		add_lft(want, held, 2, retreats, changes);
	if (stays_on) {
		/* Takes away the groups that no entry uses any more. */
		for (uint32_t block = 0; block < want->group_blocks; block++) {
			uint8_t kept[HD_AR_DATA];
			fill_block(want, held, block, true, kept);
			if (memcmp(kept, want->groups[block], HD_AR_DATA))
				diff_add(changes, 3, HD_AR_GROUP_TABLE, group_modifier(want, block),
					 want->groups[block]);
		}
		clean_beyond(want, held, 3, changes);
	} else
		clean_beyond(want, held, 3, changes);
}

/* ---- private tables ---- */

static void add_private(const struct hd_ar_image *want, const struct hd_ar_image *held,
			uint32_t attribute, uint32_t step, struct hd_ar_changes *changes)
{
	for (uint32_t i = 0; i < want->private_count; i++) {
		const struct hd_ar_private_block *block = &want->private_blocks[i];
		if (block->attribute == attribute && !image_private_is_held(block, held))
			diff_add(changes, step, attribute, block->modifier, block->data);
	}
}

enum {
	STEP_INFO = 4, /* after all other steps */
	STEP_PRIVATE_INFO = 1,
	STEP_PRIVATE_DEF,
	STEP_GROUPS,
	STEP_LFT,
	STEP_MAPS,
	STEP_INFO_PRIVATE
};

static void add_all_private(const struct hd_ar_image *want, const struct hd_ar_image *held,
			    struct hd_ar_changes *changes)
{
	add_private(want, held, HD_AR_PRIVATE_LFT_INFO, STEP_PRIVATE_INFO, changes);
	add_private(want, held, HD_AR_PRIVATE_LFT_DEF, STEP_PRIVATE_DEF, changes);
	add_groups(want, held, STEP_GROUPS, false, changes);
	add_private(want, held, HD_AR_GROUP_TABLE, STEP_GROUPS, changes);
	add_lft(want, held, STEP_LFT, 0, changes);
	clean_lft(want, held, STEP_LFT, changes);
	add_private(want, held, HD_AR_PRIVATE_LFT_MAP, STEP_MAPS, changes);
	add_private(want, held, HD_AR_PORT_SL_TO_PRIVATE_LFT, STEP_MAPS, changes);
}

int hd_ar_switch_off(const struct hd_ar_info *info, const struct hd_ar_image *held,
		     struct hd_ar_changes **out)
{
	const struct hd_ar_image want = {.info = *info, .info_known = true}, none = {0};
	struct changes_holder *holder = NULL;
	int rc = changes_new(&want, &none, 0, &holder);

	if (rc)
		return rc;
	switch_off(&want, &want, &holder->changes);
	if (image_private_active(held))
		add_private_off(held, 1, &holder->changes);
	*out = &holder->changes;
	return 0;
}

static bool info_differs(const struct hd_ar_image *want, const struct hd_ar_image *held,
			 bool switched_off)
{
	uint8_t wanted[HD_AR_DATA], found[HD_AR_DATA];

	if (!held->info_known || switched_off)
		return true;
	hd_ar_info_encode(&want->info, wanted);
	hd_ar_info_encode(&held->info, found);
	return memcmp(wanted, found, HD_AR_DATA) != 0;
}

int hd_ar_diff(const struct hd_ar_image *want, const struct hd_ar_image *held,
	       enum hd_ar_order order, struct hd_ar_changes **out)
{
	struct changes_holder *holder = NULL;
	int rc = changes_new(want, held, count_differing(want, held), &holder);

	if (rc)
		return rc;
	struct hd_ar_changes *changes = &holder->changes;
	if (want->private_count) {
		/* Private tables change only while AR is off. */
		add_all_private(want, held, changes);
		bool differs =
		    changes->count > 0 || held->info.sub_grps_active != want->info.sub_grps_active;
		if (differs && !(held->info_known && !held->info.enabled)) {
			changes->count = 0;
			switch_off(want, held, changes);
			add_all_private(want, held, changes);
		}
	} else if (want->info.enabled)
		change_tables(want, held, order, changes);
	bool switched_off = changes->count && changes->mads[0].attribute == HD_AR_INFO;
	if (!want->private_count && !want->info.enabled && image_private_active(held)) {
		if (info_differs(want, held, false))
			add_info(changes, 0, &want->info);
		add_private_off(held, 1, changes);
	} else if (info_differs(want, held, switched_off))
		add_info(changes, want->private_count ? STEP_INFO_PRIVATE : STEP_INFO, &want->info);
	*out = changes;
	return 0;
}
