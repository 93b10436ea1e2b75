/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "program_row.h"
#include "plan_row.h"

#include <string.h>

void program_row_forget(struct program_row *known)
{
	plan_row_release(known->planned.row);
	*known = (struct program_row){.lid_count = 0};
}

/* All fields of an info are of one type, so that no bytes lie between them. */
static bool same_info(const struct hd_ar_info *a, const struct hd_ar_info *b)
{
	return !memcmp(a, b, sizeof(*a));
}

bool program_row_is(const struct program_row *known, const struct hd_ar_plan *plan, uint32_t sw,
		    const struct hd_ar_settings *settings, const struct hd_ar_info *info)
{
	return plan->table_count == 1 && hd_ar_switch_same(&known->planned, &plan->switches[sw]) &&
	       known->mode == plan->mode && known->lid_count == plan->lid_count &&
	       known->settings.sl_mask == settings->sl_mask &&
	       known->settings.transport_disable == settings->transport_disable &&
	       known->settings.ageing_time_us == settings->ageing_time_us &&
	       same_info(&known->info, info);
}

bool program_row_take(struct program_row *known, const struct hd_ar_plan *plan, uint32_t sw,
		      const struct hd_ar_settings *settings, const struct hd_ar_info *info)
{
	const struct hd_ar_switch *planned = &plan->switches[sw];

	program_row_forget(known);
	if (!planned->row || plan->table_count > 1 || !planned->used)
		return false;
	*known = (struct program_row){.planned = *planned,
				      .mode = plan->mode,
				      .lid_count = plan->lid_count,
				      .settings = *settings,
				      .info = *info};
	plan_row_hold(planned->row);
	return true;
}

int program_row_image(const struct program_row *known, const struct hd_ar_quirks *quirks,
		      struct hd_ar_image **out)
{
	const struct hd_ar_plan plan = {.mode = known->mode,
					.switch_count = 1,
					.lid_count = known->lid_count,
					.table_count = 1,
					.switches = &known->planned};

	return hd_ar_image_of_plan(&plan, 0, &known->settings, quirks, &known->info, out);
}
