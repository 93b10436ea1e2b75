/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Plans with pinned entries: entries that are static for now, such as while a change is under way (pins.h). The
 * plugin and change/ call it.
 *
 * A pinned plan shares the rows of the plan without pins but for those that a pin changes, and holds that plan. So
 * to remove all pins is to return it.
 */
#include "plan_data.h"

#include <errno.h>
#include <heddle/ar_manager/pins.h>
#include <heddle/ar_manager/plan_copy.h>
#include <stdlib.h>
#include <string.h>

/* ---- pins ---- */

static int plan_pins_compare(const struct hd_ar_pin *a, const struct hd_ar_pin *b)
{
	if (a->sw != b->sw)
		return a->sw < b->sw ? -1 : 1;
	return a->lid < b->lid ? -1 : a->lid > b->lid;
}

static int by_place(const void *a, const void *b)
{
	return plan_pins_compare(a, b);
}

void hd_ar_pins_release(struct hd_ar_pins *pins)
{
	free(pins->list);
	*pins = (struct hd_ar_pins){0};
}

void hd_ar_pins_sort(struct hd_ar_pins *pins)
{
	uint32_t kept = 0;

	if (pins->count)
		qsort(pins->list, pins->count, sizeof(*pins->list), by_place);
	for (uint32_t i = 0; i < pins->count; i++)
		if (!kept || plan_pins_compare(&pins->list[kept - 1], &pins->list[i]))
			pins->list[kept++] = pins->list[i];
	pins->count = kept;
}

/* Whether the list has the pin; *next goes on to the first that does not come before it. */
static bool passes(const struct hd_ar_pins *pins, uint32_t *next, const struct hd_ar_pin *pin)
{
	while (*next < pins->count && plan_pins_compare(&pins->list[*next], pin) < 0)
		++*next;
	return *next < pins->count && !plan_pins_compare(&pins->list[*next], pin);
}

int hd_ar_pins_change(const struct hd_ar_pins *pins, const struct hd_ar_pins *gone,
		      const struct hd_ar_pins *come, struct hd_ar_pins *out)
{
	const size_t room = (size_t)pins->count + come->count + 1;
	struct hd_ar_pins made = {.list = malloc(room * sizeof(*made.list))};
	uint32_t next = 0, left = 0, added = 0;

	if (!made.list)
		return -ENOMEM;
	while (left < pins->count || added < come->count) {
		int order = left == pins->count ? 1
			    : added == come->count
				? -1
				: plan_pins_compare(&pins->list[left], &come->list[added]);
		if (order >= 0)
			made.list[made.count++] = come->list[added++];
		else if (!passes(gone, &next, &pins->list[left]))
			made.list[made.count++] = pins->list[left];
		left += order <= 0;
	}
	*out = made;
	return 0;
}

bool hd_ar_pins_has(const struct hd_ar_pins *pins, uint32_t sw, uint32_t lid)
{
	const struct hd_ar_pin pin = {.sw = sw, .lid = (uint16_t)lid};

	return pins->count &&
	       bsearch(&pin, pins->list, pins->count, sizeof(*pins->list), by_place) != NULL;
}

/* ---- plans ---- */

struct hd_ar_plan *hd_ar_plan_hold(struct hd_ar_plan *plan)
{
	struct plan_holder *holder = (struct plan_holder *)plan;

	atomic_fetch_add(&holder->others, 1);
	return plan;
}

struct hd_ar_plan *hd_ar_plan_unpinned(struct hd_ar_plan *plan)
{
	struct plan_holder *holder = (struct plan_holder *)plan;

	return holder->unpinned ? holder->unpinned : plan;
}

/* One entry: static, or as in the plan without pins. */
static int put_entry(struct hd_ar_plan_copy *copy, const struct hd_ar_plan *unpinned,
		     const struct hd_ar_pin *place, bool pinned, uint8_t port)
{
	const uint16_t group =
	    pinned ? HD_AR_NO_GROUP : unpinned->switches[place->sw].lid_group[0][place->lid];
	int rc = hd_ar_plan_copy_own(copy, place->sw);

	if (rc)
		return rc;
	hd_ar_plan_copy_make_static(copy, place->sw, place->lid);
	hd_ar_plan_copy_ports(copy, place->sw, 0)[place->lid] = port;
	if (group == HD_AR_NO_GROUP)
		return 0;
	hd_ar_plan_copy_groups(copy, place->sw, 0)[place->lid] = group;
	copy->plan->adaptive++;
	return 0;
}

/* Counts the entries of a row that is complete, so that copies of the plan need not. */
static void count_row(struct hd_ar_row *row, const struct hd_ar_switch *sw,
		      const struct hd_ar_switch *unpinned)
{
	plan_row_count(sw, 1, row->lid_count, &row->entries, &row->adaptive);
	row->possible = unpinned->row ? unpinned->row->possible : row->adaptive;
	memset(row->lids, 0, row->group_count * sizeof(*row->lids));
	for (uint32_t lid = 0; lid < row->lid_count; lid++)
		if (row->lid_group[lid] != HD_AR_NO_GROUP)
			row->lids[row->lid_group[lid]]++;
	row->counted = true;
}

int hd_ar_plan_repinned(struct hd_ar_plan *pinned, const struct hd_fabric *fabric,
			const struct hd_routes *routes, const struct hd_ar_pins *pins,
			const struct hd_ar_pins *places, struct hd_ar_plan **out,
			struct hd_error *err)
{
	struct hd_ar_plan *unpinned = hd_ar_plan_unpinned(pinned);
	struct hd_ar_plan_copy copy;

	if (pinned->table_count > 1)
		return hd_error_set(
		    err, -ENOTSUP,
		    "routing keys do not go with private tables of adaptive routing");
	if (pinned->switch_count != fabric->switch_count ||
	    pinned->lid_count != fabric->lid_count ||
	    routes->switch_count != fabric->switch_count || routes->lid_count != fabric->lid_count)
		return hd_error_set(err, -EINVAL, "the plan is not one of this fabric");
	if (hd_ar_plan_copy_new(pinned, fabric, NULL, &copy))
		return hd_error_no_memory(err);
	int rc = 0;
	for (uint32_t i = 0; !rc && i < places->count; i++) {
		const struct hd_ar_pin *place = &places->list[i];
		rc = put_entry(&copy, unpinned, place, hd_ar_pins_has(pins, place->sw, place->lid),
			       hd_routes_port(routes, place->sw, place->lid));
	}
	if (rc) {
		hd_ar_plan_free(copy.plan);
		return hd_error_no_memory(err);
	}
	for (uint32_t i = 0; i < places->count; i++) {
		const uint32_t sw = places->list[i].sw;
		const struct hd_ar_switch *now = &copy.switches[sw];
		if (!i || places->list[i - 1].sw != sw)
			count_row((struct hd_ar_row *)(uintptr_t)now->row, now,
				  &unpinned->switches[sw]);
	}
	((struct plan_holder *)copy.plan)->unpinned = hd_ar_plan_hold(unpinned);
	*out = copy.plan;
	return 0;
}

int hd_ar_plan_pinned(struct hd_ar_plan *plan, const struct hd_fabric *fabric,
		      const struct hd_routes *routes, const struct hd_ar_pins *pins,
		      struct hd_ar_plan **out, struct hd_error *err)
{
	if (pins->count)
		return hd_ar_plan_repinned(plan, fabric, routes, pins, pins, out, err);
	*out = hd_ar_plan_hold(plan);
	return 0;
}
