/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "repair_lead.h"
#include "part.h"
#include "repair_paths.h"
#include "routing.h"
#include "writer_lft.h"

#include <errno.h>
#include <heddle/change/steps.h>
#include <stdlib.h>

#define NOWHERE (HD_SMP_HOPS + 1)

struct leading {
	struct repair *repair;
	const struct hd_ar_steps *steps;
	/* [switch_count] of the tables of what is left; HD_NONE: the switch is lost */
	uint32_t *row;
};

static const struct hd_fabric *fabric_of(const struct repair *repair)
{
	return repair->repairs->start->routing->fabric;
}

/* From malloc(); NULL: no memory. */
static uint32_t *find_rows(const struct repair *repair)
{
	const struct hd_fabric *fabric = fabric_of(repair);
	uint32_t *row = malloc((fabric->switch_count + 1u) * sizeof(*row));

	for (uint32_t sw = 0; row && sw < fabric->switch_count; sw++)
		row[sw] = hd_fabric_find_node(repair->routing->fabric, fabric->node_guid[sw]);
	return row;
}

/* Directed routes to the switches that are left, without what is lost. */
static int find_addresses(const struct repair *repair, const uint32_t *row,
			  struct hd_smp_address *addresses)
{
	const struct repairs *repairs = repair->repairs;
	const struct hd_fabric *fabric = fabric_of(repair);
	struct repair_paths paths;
	int rc = repair_paths_init(&paths, fabric, repairs->start->own_port);

	if (!rc)
		repair_paths_search(&paths, repairs->cut, NULL, 0);
	for (uint32_t sw = 0; !rc && sw < fabric->switch_count; sw++) {
		struct hd_smp_address address;
		if (row[sw] != HD_NONE &&
		    repair_paths_address(&paths, sw, repairs->start->m_key, &address))
			addresses[row[sw]] = address;
	}
	repair_paths_release(&paths);
	return rc;
}

static int find(struct repair_change *change, struct hd_routes **before,
		struct hd_smp_address **addresses, struct hd_error *err)
{
	const struct repair *repair = repair_of(change);
	const struct hd_fabric *left = repair->routing->fabric;
	struct hd_smp_address *list = calloc(left->switch_count + 1u, sizeof(*list));
	uint32_t *row = find_rows(repair);

	for (uint32_t i = 0; list && i < left->switch_count; i++)
		list[i].hop_count = NOWHERE;
	int rc =
	    list && row && !find_addresses(repair, row, list)
		? hd_routes_rebase(fabric_of(repair), repair->repairs->in_place, left, before, err)
		: hd_error_no_memory(err);
	free(row);
	if (rc)
		free(list);
	else
		*addresses = list;
	return rc;
}

static uint32_t step_of(void *context, uint32_t sw, uint32_t lid)
{
	const struct leading *leading = context;
	uint32_t row = leading->row[sw];

	if (row == HD_NONE || lid >= leading->repair->routing->fabric->lid_count)
		return hd_ar_steps_count(leading->steps) - 1;
	return hd_ar_steps_of(leading->steps, row, lid) - 1;
}

static int begin(struct repair_change *change, const struct hd_ar_steps *steps,
		 struct hd_error *err)
{
	struct repair *repair = repair_of(change);
	struct leading leading = {repair, steps, find_rows(repair)};
	int rc = leading.row
		     ? hd_repair_plan_reorder(repair->plan, repair->repairs->in_place,
					      hd_ar_steps_count(steps), step_of, &leading, err)
		     : hd_error_no_memory(err);

	free(leading.row);
	return rc;
}

/* Steps count from 1 here: step 0 is that of the groups. */
static int write_step(struct repair_change *change, uint32_t step, struct hd_error *err)
{
	struct repair *repair = repair_of(change);
	struct repairs *repairs = repair->repairs;
	const struct hd_repair_plan *plan = repair->plan;
	struct writer_lft send = {.writer = repairs->writer,
				  .turn = repair->turn,
				  .fabric = fabric_of(repair),
				  .queue = repairs->queue,
				  .before = repairs->in_place,
				  .in_place = repairs->in_place,
				  .go_on = true};
	uint32_t first = 0, end;

	while (first < plan->write_count && plan->writes[first].step + 1 < step)
		first++;
	for (end = first; end < plan->write_count && plan->writes[end].step + 1 == step; end++)
		continue;
	send.writes = plan->writes + first;
	send.count = end - first;
	int rc = writer_lft_run(&send, err);
	repair->sent += send.sent;
	change->sent |= send.begun;
	return rc;
}

int repair_lead(struct repair *repair, bool *done, struct hd_error *err)
{
	struct repair_change *change = &repair->change;

	change->find = find;
	change->begin = begin;
	change->write = write_step;
	change->proved_ms = repair->proved;
	int rc = part_repair_programs(repair->repairs->shared->context, change, done, err);
	repair->proved = change->proved_ms;
	return rc;
}
