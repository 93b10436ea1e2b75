/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Every changed entry is followed to its LID, and the dependencies of the new paths are added to the
 * base. If no other switch leads to the changed entries of a LID, only they are followed. Otherwise
 * all sources are.
 */
#include "repair_work.h"

#include <errno.h>
#include <heddle/base/grow.h>
#include <heddle/fabric/walk.h>
#include <string.h>

/* `then` is written after `first`. Errors: -ENOMEM. */
static int wait_for(struct repair_work *work, uint32_t first, uint32_t then)
{
	struct repair_wait *waits =
	    hd_grow(work->waits, work->wait_count, 1, &work->wait_room, sizeof(*waits));

	if (!waits)
		return -ENOMEM;
	work->waits = waits;
	work->waits[work->wait_count++] = (struct repair_wait){first, then};
	return 0;
}

/* ---- the entries for one LID ---- */

static uint32_t decode(const struct repair_work *work, uint32_t sw, uint8_t port)
{
	const struct repair_column *column = &work->column;

	if (sw == column->destination && port == column->port)
		return HD_STEP_ARRIVED;
	if (port <= hd_node_ports(work->fabric, sw))
		return work->remains.port_step[hd_port_index(work->fabric, sw, port)];
	return port == HD_NO_PORT ? HD_STEP_NO_ROUTE : HD_STEP_DEAD_END;
}

static void look(struct repair_work *work, uint32_t sw)
{
	struct repair_column *column = &work->column;

	if (column->known[sw] == column->stamp)
		return;
	column->known[sw] = column->stamp;
	column->changed[sw] = HD_NONE;
	column->fed_before[sw] = column->fed_after[sw] = 0;
	column->before[sw] = decode(work, sw, hd_routes_row(work->in_place, sw)[column->lid]);
	column->after[sw] = column->before[sw];
}

static uint32_t before(struct repair_work *work, uint32_t sw)
{
	look(work, sw);
	return work->column.before[sw];
}

static uint32_t after(struct repair_work *work, uint32_t sw)
{
	look(work, sw);
	return work->column.after[sw];
}

/* The entries of by_lid from `at` on that are for the same LID. */
static uint32_t group_end(const struct repair_work *work, uint32_t at)
{
	uint32_t lid = work->entries[work->by_lid[at]].lid;

	while (at < work->count && work->entries[work->by_lid[at]].lid == lid)
		at++;
	return at;
}

static void open_column(struct repair_work *work, uint32_t begin, uint32_t end)
{
	struct repair_column *column = &work->column;

	column->stamp++;
	column->lid = work->entries[work->by_lid[begin]].lid;
	hd_fabric_lid_destination(work->fabric, column->lid, &column->destination, &column->port);
	for (uint32_t i = begin; i < end; i++) {
		const struct repair_entry *entry = &work->entries[work->by_lid[i]];
		look(work, entry->sw);
		column->after[entry->sw] = decode(work, entry->sw, entry->after);
		column->changed[entry->sw] = work->by_lid[i];
	}
}

static bool any_is_passed(const struct repair_work *work, uint32_t begin, uint32_t end)
{
	for (uint32_t i = begin; i < end; i++)
		if (work->entries[work->by_lid[i]].passed)
			return true;
	return false;
}

/* ---- walks ---- */

static int say_end(const struct repair_work *work, const struct repair_entry *entry, uint32_t sw,
		   const char *what, struct hd_error *err)
{
	char port[HD_LABEL_SIZE];

	return hd_error_set(
	    err, -EINVAL,
	    "the repaired entry of switch '%s' for LID %u leads by port %s to "
	    "switch '%s', which %s",
	    work->fabric->node_name[entry->sw], entry->lid,
	    hd_port_label(work->fabric,
			  hd_port_index(work->fabric, entry->sw,
					entry->after <= hd_node_ports(work->fabric, entry->sw)
					    ? entry->after
					    : 0),
			  port, sizeof(port)),
	    work->fabric->node_name[sw], what);
}

/* Follows the new path of an entry up to where it is known to arrive. */
static int follow(struct repair_work *work, const struct repair_entry *entry, struct hd_error *err)
{
	struct repair_column *column = &work->column;
	uint32_t sw = entry->sw, hops = 0;

	while (column->arrives[sw] != column->stamp && hd_step_is_link(after(work, sw))) {
		sw = work->fabric->isl_to[column->after[sw]];
		if (hops++ > work->fabric->switch_count)
			return say_end(work, entry, sw, "it passes twice", err);
	}
	if (column->arrives[sw] != column->stamp && after(work, sw) != HD_STEP_ARRIVED)
		return say_end(work, entry, sw, "has no path to it", err);
	for (sw = entry->sw; column->arrives[sw] != column->stamp;
	     sw = work->fabric->isl_to[column->after[sw]]) {
		column->arrives[sw] = column->stamp;
		if (!hd_step_is_link(column->after[sw]))
			break;
	}
	return 0;
}

/* An entry whose path arrives waits for the next changed one on it. */
static int wait_ahead(struct repair_work *work, uint32_t index)
{
	struct repair_column *column = &work->column;
	uint32_t sw = work->entries[index].sw;

	while (hd_step_is_link(after(work, sw))) {
		sw = work->fabric->isl_to[column->after[sw]];
		look(work, sw);
		if (column->changed[sw] != HD_NONE)
			return wait_for(work, column->changed[sw], index);
	}
	return 0;
}

/* A hole is right only where the old path does not arrive either. */
static int check_hole(struct repair_work *work, const struct repair_entry *entry,
		      struct hd_error *err)
{
	uint32_t sw = entry->sw, hops = 0;

	if (work->gone[entry->lid] || work->of_sweep)
		return 0;
	while (hd_step_is_link(before(work, sw)) && hops++ <= work->fabric->switch_count)
		sw = work->fabric->isl_to[work->column.before[sw]];
	if (before(work, sw) != HD_STEP_ARRIVED)
		return 0;
	return hd_error_set(err, -EINVAL,
			    "the repair would take the path from switch '%s' to LID %u away",
			    work->fabric->node_name[entry->sw], entry->lid);
}

static int walk(struct repair_work *work, uint32_t begin, uint32_t end, struct hd_error *err)
{
	int rc = 0;

	for (uint32_t i = begin; !rc && i < end; i++) {
		const struct repair_entry *entry = &work->entries[work->by_lid[i]];
		if (entry->after == HD_NO_PORT)
			rc = check_hole(work, entry, err);
		else if (work->gone[entry->lid])
			rc = say_end(work, entry, entry->sw, "has no cable to that LID", err);
		else
			rc = follow(work, entry, err);
		if (!rc && entry->after != HD_NO_PORT && wait_ahead(work, work->by_lid[i]))
			rc = hd_error_no_memory(err);
	}
	return rc;
}

/* ---- dependencies ---- */

static uint16_t lane_of(const struct repair_work *work, uint32_t sw)
{
	return (uint16_t)(1u << hd_routes_vl(work->in_place, sw, work->column.lid));
}

/* Forgets that packets on these lanes were followed from `sw` up to the switch `end`. */
static void unfeed(struct repair_work *work, uint32_t sw, uint32_t end, uint16_t lanes)
{
	for (;; sw = work->fabric->isl_to[after(work, sw)]) {
		work->column.fed_after[sw] &= (uint16_t)~lanes;
		if (sw == end)
			return;
	}
}

/* Adds what packets on some lanes depend on that come to a switch, along the new path, as far as
 * others have not been there before. */
static bool feed(struct repair_work *work, uint32_t source, uint16_t lanes)
{
	struct repair_column *column = &work->column;
	uint32_t sw = source;

	for (;;) {
		uint32_t link = after(work, sw);
		lanes = (uint16_t)(lanes & ~column->fed_after[sw]);
		column->fed_after[sw] |= lanes;
		if (!lanes || !hd_step_is_link(link))
			return true;
		uint32_t to = work->fabric->isl_to[link], next = after(work, to);
		if (hd_step_is_link(next) &&
		    !lane_graphs_add(&work->base->graphs, lanes, link, next)) {
			unfeed(work, source, sw, lanes);
			return false;
		}
		sw = to;
	}
}

static bool feed_all(struct repair_work *work)
{
	for (uint32_t sw = 0; sw < work->fabric->switch_count; sw++)
		if (hd_has_adapters(work->fabric, sw) && work->remains.row[sw] != HD_NONE &&
		    !feed(work, sw, lane_of(work, sw)))
			return false;
	return true;
}

static bool feed_changed(struct repair_work *work, uint32_t begin, uint32_t end)
{
	for (uint32_t i = begin; i < end; i++) {
		uint32_t sw = work->entries[work->by_lid[i]].sw;
		if (hd_has_adapters(work->fabric, sw) && !feed(work, sw, lane_of(work, sw)))
			return false;
	}
	return true;
}

/* ---- turns from an old entry into a new one ---- */

static void feed_before(struct repair_work *work)
{
	const struct hd_fabric *fabric = work->fabric;
	struct repair_column *column = &work->column;

	for (uint32_t source = 0; source < fabric->switch_count; source++) {
		if (!hd_has_adapters(fabric, source) || work->remains.row[source] == HD_NONE)
			continue;
		uint16_t lane = lane_of(work, source);
		uint32_t sw = source, link = before(work, sw);
		while (!(column->fed_before[sw] & lane)) {
			column->fed_before[sw] |= lane;
			if (!hd_step_is_link(link))
				break;
			sw = fabric->isl_to[link];
			link = before(work, sw);
		}
	}
}

/* The new entry of `then` waits for those that lead packets on these lanes to switch `sw`. */
static int wait_behind(struct repair_work *work, uint32_t sw, uint16_t lanes, uint32_t then,
		       uint32_t depth)
{
	const struct hd_fabric *fabric = work->fabric;
	struct repair_column *column = &work->column;
	int rc = 0;

	if (column->changed[sw] != HD_NONE)
		return wait_for(work, column->changed[sw], then);
	if (depth > fabric->switch_count)
		return 0;
	for (uint32_t link = fabric->isl_base[sw]; !rc && link < fabric->isl_base[sw + 1]; link++) {
		uint32_t far = fabric->isl_to[link];
		if (before(work, far) == fabric->isl_reverse[link] &&
		    column->fed_before[far] & lanes)
			rc = wait_behind(work, far, lanes, then, depth + 1);
	}
	return rc;
}

/* Packets that an old entry leads to a switch whose entry is new. */
static int check_turn(struct repair_work *work, uint32_t index, uint32_t link)
{
	struct repair_column *column = &work->column;
	const struct hd_fabric *fabric = work->fabric;
	uint32_t arriving = fabric->isl_reverse[link], far = fabric->isl_to[link];
	uint32_t sw = work->entries[index].sw, next = column->after[sw];

	if (before(work, far) != arriving)
		return 0;
	uint16_t lanes = column->fed_before[far];
	if (column->after[far] == arriving)
		lanes = (uint16_t)(lanes & ~column->fed_after[far]); /* others are proved */
	if (!lanes)
		return 0;
	if (lane_graphs_add(&work->base->graphs, lanes, arriving, next) && feed(work, sw, lanes))
		return 0;
	return wait_behind(work, far, lanes, index, 0);
}

static int check_turns(struct repair_work *work, uint32_t begin, uint32_t end)
{
	const struct hd_fabric *fabric = work->fabric;
	int rc = 0;

	feed_before(work);
	for (uint32_t i = begin; i < end; i++) {
		uint32_t sw = work->entries[work->by_lid[i]].sw;
		if (!hd_step_is_link(after(work, sw)))
			continue;
		for (uint32_t link = fabric->isl_base[sw]; !rc && link < fabric->isl_base[sw + 1];
		     link++)
			rc = check_turn(work, work->by_lid[i], link);
	}
	return rc;
}

/* ---- entries to which other switches lead ---- */

/* Marks those of one switch to which the cable of a link leads packets, before or after. */
static void mark_passed(struct repair_work *work, uint32_t begin, uint32_t end, uint32_t link)
{
	const struct hd_fabric *fabric = work->fabric;
	const uint32_t far = fabric->isl_to[link];
	const uint8_t port = fabric->isl_port[fabric->isl_reverse[link]];

	if (work->remains.port_step[hd_port_index(fabric, far, port)] == HD_STEP_DEAD_END)
		return;
	const uint8_t *now = hd_routes_row(work->in_place, far);
	const uint8_t *then = hd_routes_row(work->repaired, work->remains.row[far]);
	for (uint32_t i = begin; i < end; i++) {
		struct repair_entry *entry = &work->entries[i];
		entry->passed |= now[entry->lid] == port ||
				 (entry->lid < work->repaired->stride && then[entry->lid] == port);
	}
}

/* Row by row, because the entries for one LID are far apart in memory. */
static int mark_all_passed(struct repair_work *work, struct hd_error *err)
{
	const struct hd_fabric *fabric = work->fabric;
	int rc = 0;

	for (uint32_t begin = 0, end; !rc && begin < work->count; begin = end) {
		const uint32_t sw = work->entries[begin].sw;
		for (end = begin; end < work->count && work->entries[end].sw == sw; end++)
			continue;
		for (uint32_t link = fabric->isl_base[sw]; link < fabric->isl_base[sw + 1]; link++)
			mark_passed(work, begin, end, link);
		rc = hd_go_on_check(work->go_on, err);
	}
	return rc;
}

/* ---- all LIDs ---- */

/* The dependencies of the new paths, which have to stay. */
static int prove_lid(struct repair_work *work, uint32_t begin, uint32_t end, struct hd_error *err)
{
	open_column(work, begin, end);
	int rc = walk(work, begin, end, err);
	uint32_t lid = work->column.lid;

	if (rc == -EINVAL && work->of_sweep) {
		work->stays[lid] = true;
		return 0;
	}
	if (rc || work->gone[lid] || work->base->loose || !work->column.port)
		return rc; /* packets to a switch itself are no data traffic */
	lane_graphs_begin(&work->base->graphs);
	bool fits =
	    any_is_passed(work, begin, end) ? feed_all(work) : feed_changed(work, begin, end);
	lane_graphs_end(&work->base->graphs, fits);
	work->stays[lid] = !fits;
	return 0;
}

/* The turns, which are over soon: what they need comes after what stays. */
static int prove_turns(struct repair_work *work, uint32_t begin, uint32_t end)
{
	uint32_t lid = work->entries[work->by_lid[begin]].lid;

	if (work->gone[lid] || work->stays[lid] || work->base->loose)
		return 0;
	if (!any_is_passed(work, begin, end))
		return 0;
	open_column(work, begin, end);
	if (!work->column.port)
		return 0;
	feed_all(work);
	return check_turns(work, begin, end);
}

int repair_proof_run(struct repair_work *work, struct hd_error *err)
{
	int rc = mark_all_passed(work, err);

	for (uint32_t begin = 0, end; !rc && begin < work->count; begin = end) {
		end = group_end(work, begin);
		rc = prove_lid(work, begin, end, err);
		if (!rc)
			rc = hd_go_on_check(work->go_on, err);
	}
	for (uint32_t begin = 0, end; !rc && begin < work->count; begin = end) {
		end = group_end(work, begin);
		rc = prove_turns(work, begin, end) ? hd_error_no_memory(err)
						   : hd_go_on_check(work->go_on, err);
	}
	return rc;
}
