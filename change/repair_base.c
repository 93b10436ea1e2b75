/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "repair_work.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int hd_repair_base_new(const struct hd_fabric *fabric, const struct hd_routes *in_place,
		       unsigned threads, const struct hd_go_on *go_on, struct hd_repair_base **out,
		       struct hd_error *err)
{
	struct hd_repair_base *base = calloc(1, sizeof(*base));
	int rc;

	if (!base)
		return hd_error_no_memory(err);
	base->threads = threads;
	rc = lane_graphs_init(&base->graphs, fabric, in_place, "the tables in place", threads,
			      go_on, err);
	if (rc)
		hd_repair_base_free(base);
	else
		*out = base;
	return rc;
}

int repair_base_loose(const struct hd_fabric *fabric, unsigned threads, struct hd_repair_base **out,
		      struct hd_error *err)
{
	struct hd_repair_base *base = calloc(1, sizeof(*base));

	if (!base)
		return hd_error_no_memory(err);
	base->graphs.fabric = fabric;
	base->threads = threads;
	base->loose = true;
	*out = base;
	return 0;
}

void hd_repair_base_free(struct hd_repair_base *base)
{
	if (!base)
		return;
	lane_graphs_release(&base->graphs);
	free(base);
}

/* ---- other tables of the same fabric, whose dependencies the base takes in ---- */

static void compare(const struct hd_routes *in_place, const struct hd_routes *tables, bool *differs)
{
	for (uint32_t sw = 0; sw < in_place->switch_count; sw++) {
		const uint8_t *before = hd_routes_row(in_place, sw);
		const uint8_t *after = hd_routes_row(tables, sw);
		if (!memcmp(before, after, in_place->lid_count))
			continue;
		for (uint32_t lid = 0; lid < in_place->lid_count; lid++)
			differs[lid] |= before[lid] != after[lid];
	}
}

static int take_lid(struct hd_repair_base *base, const struct hd_routes *tables, uint32_t lid,
		    struct hd_error *err)
{
	uint32_t destination;
	uint8_t port;

	if (!hd_fabric_lid_destination(base->graphs.fabric, lid, &destination, &port) || !port)
		return 0; /* packets to a switch itself are no data traffic */
	lane_graphs_look(&base->graphs, tables, lid);
	lane_graphs_begin(&base->graphs);
	bool fits = lane_graphs_add_lid(&base->graphs, tables, lid);
	lane_graphs_end(&base->graphs, fits);
	return fits ? 0
		    : hd_error_set(err, -ELOOP,
				   "the entries for LID %u do not fit the earlier ones", lid);
}

int hd_repair_base_take(struct hd_repair_base *base, const struct hd_routes *in_place,
			const struct hd_routes *tables, const struct hd_go_on *go_on,
			struct hd_error *err)
{
	bool *differs = calloc(tables->lid_count, sizeof(*differs));
	int rc = differs ? 0 : hd_error_no_memory(err);

	if (!rc)
		compare(in_place, tables, differs);
	for (uint32_t lid = 0; !rc && lid < tables->lid_count; lid++) {
		if (!differs[lid])
			continue;
		rc = hd_go_on_check(go_on, err);
		if (!rc)
			rc = take_lid(base, tables, lid, err);
	}
	free(differs);
	return rc;
}
