/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "image.h"
#include "plan_data.h"
#include "program_state.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void program_row_forget(struct program_row *known)
{
	plan_row_release(known->planned.row);
	*known = (struct program_row){.lid_count = 0};
}

bool program_row_is(const struct program_row *known, const struct hd_ar_plan *plan, uint32_t sw,
		    const struct hd_ar_settings *settings, const struct hd_ar_info *info)
{
	/* All fields of an info are of one type, so that no bytes lie between them. */
	return plan->table_count == 1 && hd_ar_switch_same(&known->planned, &plan->switches[sw]) &&
	       known->mode == plan->mode && known->lid_count == plan->lid_count &&
	       known->settings.sl_mask == settings->sl_mask &&
	       known->settings.transport_disable == settings->transport_disable &&
	       known->settings.ageing_time_us == settings->ageing_time_us &&
	       known->settings.recovery == settings->recovery &&
	       !memcmp(&known->info, info, sizeof(known->info));
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

/* The plan of which the switch holds a row: its only one. */
static struct hd_ar_plan plan_of(const struct program_row *known)
{
	return (struct hd_ar_plan){.mode = known->mode,
				   .switch_count = 1,
				   .lid_count = known->lid_count,
				   .table_count = 1,
				   .switches = &known->planned};
}

int program_row_image(const struct program_row *known, const struct hd_ar_quirks *quirks,
		      struct hd_ar_image **out)
{
	const struct hd_ar_plan plan = plan_of(known);

	return hd_ar_image_of_plan(&plan, 0, &known->settings, quirks, &known->info, out);
}

/* ---- what differs ---- */

bool program_row_compares(const struct program_row *known, const struct hd_ar_plan *plan,
			  uint32_t sw)
{
	const struct hd_ar_switch *planned = &plan->switches[sw];

	return program_row_is_known(known) && planned->row && planned->used &&
	       plan->table_count == 1 && known->mode == plan->mode &&
	       known->lid_count == plan->lid_count && known->planned.form == planned->form &&
	       known->planned.sub_groups == 1 && planned->sub_groups == 1;
}

int program_row_images_new(const struct program_row *known, const struct hd_ar_plan *plan,
			   uint32_t sw, const struct hd_ar_settings *settings,
			   const struct hd_ar_quirks *quirks, const struct hd_ar_info *info,
			   struct program_row_images *out)
{
	const struct hd_ar_plan before = plan_of(known);
	const struct hd_ar_image shape = {.form = known->planned.form, .quirks = *quirks};
	const uint32_t lids = image_block_lids(&shape);
	struct hd_ar_image *want = NULL, *held = NULL, *was = NULL;
	bool *filled = calloc(known->lid_count / lids + 1, sizeof(*filled));
	int rc = filled ? 0 : -ENOMEM;

	if (!rc) {
		/* Also the blocks of entries that must be static while their group gets other
		 * ports: these entries differ. */
		const struct hd_ar_switch *now = &plan->switches[sw];
		uint32_t lid_count = known->lid_count;
		for (uint32_t first = 0; first < lid_count; first += lids) {
			const uint32_t left = lid_count - first;
			const uint32_t count = left < lids ? left : lids;
			filled[first / lids] =
			    memcmp(known->planned.lid_group[0] + first, now->lid_group[0] + first,
				   count * sizeof(*now->lid_group[0])) ||
			    memcmp(known->planned.lid_port[0] + first, now->lid_port[0] + first,
				   count);
		}
	}
	if (!rc)
		rc = image_of_plan(plan, sw, settings, quirks, info, filled, &want);
	if (!rc)
		rc = image_of_plan(&before, 0, settings, quirks, info, filled, &was);
	if (!rc && was->group_blocks < want->group_blocks)
		rc = hd_ar_image_like(want, was, &held);
	if (rc) {
		hd_ar_image_free(was);
		hd_ar_image_free(want);
		free(filled);
		return rc;
	}
	if (held)
		hd_ar_image_free(was);
	else
		held = was;
	held->info = *info;
	*out = (struct program_row_images){want, held, filled};
	return 0;
}

int program_row_mend(const struct program_row *known, const struct hd_ar_quirks *quirks,
		     const struct hd_ar_image *held, const bool *filled, struct hd_ar_image **out)
{
	struct hd_ar_image *row = NULL, *image = NULL;
	int rc = program_row_image(known, quirks, &row);

	if (!rc)
		rc = hd_ar_image_like(held, row, &image);
	hd_ar_image_free(row);
	if (rc)
		return rc;
	memcpy(image->groups, held->groups, held->group_blocks * sizeof(*image->groups));
	memcpy(image->group_known, held->group_known, held->group_blocks * sizeof(bool));
	for (uint32_t i = 0; i < held->lft_blocks; i++)
		if (filled[i]) {
			memcpy(image->lft[i], held->lft[i], HD_AR_DATA);
			image->lft_known[i] = held->lft_known[i];
		}
	*out = image;
	return 0;
}
