/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a switch is known to hold in full, as the row of a plan: it takes no memory of its own, as an image would. */
#ifndef AR_MANAGER_PROGRAM_ROW_H
#define AR_MANAGER_PROGRAM_ROW_H

#include <heddle/ar_manager/diff.h>

/* All zero: not known. */
struct program_row {
	struct hd_ar_switch planned; /* has a row, which is held here; without one: not known */
	enum hd_ar_state mode;
	uint32_t lid_count;
	struct hd_ar_settings settings;
	struct hd_ar_info info; /* the switch's own, when it held the row */
};

static inline bool program_row_is_known(const struct program_row *known)
{
	return known->planned.row != NULL;
}

void program_row_forget(struct program_row *known);

/* Whether the switch, whose info is known, holds what the plan wants of switch `sw`, so that there is nothing to set.
 * O(1). */
bool program_row_is(const struct program_row *known, const struct hd_ar_plan *plan, uint32_t sw,
		    const struct hd_ar_settings *settings, const struct hd_ar_info *info);

/* Notes that the switch holds what the plan wants. False: that cannot be noted, and *known is not known: the plan has no
 * row, private tables, or no groups for the switch. Then it has no tables, but what it had before may be of use. */
bool program_row_take(struct program_row *known, const struct hd_ar_plan *plan, uint32_t sw,
		      const struct hd_ar_settings *settings, const struct hd_ar_info *info);

/* The image of what the switch holds; *known must be known. Errors: -ENOMEM. O(LIDs + groups). */
int program_row_image(const struct program_row *known, const struct hd_ar_quirks *quirks,
		      struct hd_ar_image **out);

/* The images of what the switch holds and of what the plan wants, of which only the blocks are filled that matter
 * when one becomes the other. */
struct program_row_images {
	struct hd_ar_image *want, *held;
	bool *filled; /* [blocks of the AR LFT] */
};

/* Whether such images can be made: the plan wants a table of the same size and kind. */
bool program_row_compares(const struct program_row *known, const struct hd_ar_plan *plan,
			  uint32_t sw);

/* Makes the images; they and `filled` are freed as usual. `info` is the switch's own, now. Errors: -ENOMEM, nothing is
 * made. Cost: O(LIDs), a comparison of bytes, and O(groups + LIDs of blocks that differ). */
int program_row_images_new(const struct program_row *known, const struct hd_ar_plan *plan,
			   uint32_t sw, const struct hd_ar_settings *settings,
			   const struct hd_ar_quirks *quirks, const struct hd_ar_info *info,
			   struct program_row_images *out);

/* All that is known of a switch when only a part of it was set: the row, and what has become of the blocks of
 * `held`. Errors: -ENOMEM. */
int program_row_mend(const struct program_row *known, const struct hd_ar_quirks *quirks,
		     const struct hd_ar_image *held, const bool *filled, struct hd_ar_image **out);

#endif
