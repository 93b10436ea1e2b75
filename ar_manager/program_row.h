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

#endif
