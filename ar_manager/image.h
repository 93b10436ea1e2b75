/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Entries in the blocks of an image. */
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

#endif
