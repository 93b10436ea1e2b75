/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Entries in the blocks of an image, and its private forwarding tables. */
#ifndef AR_MANAGER_IMAGE_H
#define AR_MANAGER_IMAGE_H

#include <heddle/ar_manager/diff.h>
#include <heddle/base/arena.h>

/* LIDs of a block of its AR LFT. */
uint32_t image_block_lids(const struct hd_ar_image *image);

/* The attribute of its AR LFT. */
uint32_t image_lft_attribute(const struct hd_ar_image *image);

/* The entries of a block; of the new form only the first 16 count. */
void image_entries_get(const struct hd_ar_image *image, const uint8_t *block,
		       struct hd_ar_entry entries[HD_AR_OLD_BLOCK]);

void image_entries_put(const struct hd_ar_image *image,
		       const struct hd_ar_entry entries[HD_AR_OLD_BLOCK], uint8_t *block);

/* hd_ar_image_of_plan(), but only those blocks of AR LFTs are filled that are wanted[table_count * lft_blocks];
 * the others are known and all 0. NULL: all. */
int image_of_plan(const struct hd_ar_plan *plan, uint32_t sw, const struct hd_ar_settings *settings,
		  const struct hd_ar_quirks *quirks, const struct hd_ar_info *info,
		  const bool *wanted, struct hd_ar_image **out);

/* ---- private tables ---- */

/* The blocks that say which packets use which table, and the group tables of all but the first. */

/* Blocks that a switch of a plan needs beside those of its first table; 0 without private tables.
 */
uint32_t image_private_count(const struct hd_ar_plan *plan, const struct hd_ar_switch *planned,
			     uint32_t group_blocks);

/* Fills image->private_blocks, after the groups. */
void image_private_want(struct hd_ar_image *image, const struct hd_ar_plan *plan,
			const struct hd_ar_switch *planned);

/* What is wanted depends on what the switch can do, which `held` knows or not (it may be NULL). */
void image_private_learn(struct hd_ar_image *want, const struct hd_ar_plan *plan,
			 const struct hd_ar_image *held);

/* The private blocks of `want`, and those that the groups of `group_blocks` blocks take: to be freed
 * with free(). *count of them. NULL: no memory. */
struct hd_ar_private_block *image_private_more(const struct hd_ar_image *want,
					       uint32_t group_blocks, uint32_t *count);

/* Whether the switch is known to hold a block. */
bool image_private_is_held(const struct hd_ar_private_block *block, const struct hd_ar_image *held);

/* The block with that attribute and modifier, or NULL. */
struct hd_ar_private_block *image_private_find(const struct hd_ar_image *image, uint32_t attribute,
					       uint32_t modifier);

/* Reserved bits become 0. */
void image_private_normalise(uint32_t attribute, uint8_t data[HD_AR_DATA]);

/* Whether the switch is known to use private tables. */
bool image_private_active(const struct hd_ar_image *held);

/* The record that ends their use. image_private_active(). */
void image_private_off(const struct hd_ar_image *held, uint8_t data[HD_AR_DATA]);

#endif
