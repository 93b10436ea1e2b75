/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sweep_held.h"
#include "opensm_headers.h"
#include "writer_sweep.h"
#include "writer_tables.h"

#include <errno.h>
#include <heddle/fabric/routes.h>
#include <stdlib.h>
#include <string.h>

/* ---- what OpenSM knows ---- */

/* What a switch is to have: for a LID above those of the fabric, nothing. */
static uint8_t wanted_at(const struct sweep_held *held, uint32_t sw, uint32_t lid)
{
	return lid < held->wanted->stride ? hd_routes_row(held->wanted, sw)[lid] : HD_NO_PORT;
}

/* OpenSM puts 0 where a switch has not acknowledged an entry. */
static bool is_acknowledged(const struct sweep_held *held, uint32_t sw)
{
	const osm_switch_t *found = held->switches[sw];
	bool acknowledged = true;

	for (uint32_t lid = 1; lid < held->tables->stride && lid < found->lft_size; lid++)
		acknowledged &= found->lft[lid] || !wanted_at(held, sw, lid);
	return acknowledged;
}

static bool is_known(const struct sweep_held *held, uint32_t sw)
{
	const osm_switch_t *found = held->switches[sw];

	return found && found->lft && !found->need_update && !held->osm->subn.need_update &&
	       is_acknowledged(held, sw);
}

/* The highest LID for which a switch can have an entry that counts; 0: it has none. */
static uint16_t top_of(const struct sweep_held *held, uint32_t sw)
{
	const uint16_t top = cl_ntoh16(held->switches[sw]->switch_info.lin_top);
	const uint32_t last = held->tables->stride - 1;

	return top < last ? top : (uint16_t)last;
}

static void take_known(struct sweep_held *held, uint32_t sw)
{
	const osm_switch_t *found = held->switches[sw];
	uint8_t *row = hd_routes_row(held->tables, sw);
	const uint32_t size =
	    found->lft_size < held->tables->stride ? found->lft_size : held->tables->stride;

	memcpy(row, found->lft, size);
	row[0] = hd_routes_row(held->wanted, sw)[0];
}

static void look_at(struct sweep_held *held, uint32_t sw)
{
	memset(hd_routes_row(held->tables, sw), HD_NO_PORT, held->tables->stride);
	if (!held->switches[sw])
		return;
	if (is_known(held, sw)) {
		take_known(held, sw);
		held->any = true;
		return;
	}
	if (!top_of(held, sw))
		return; /* a switch that was never programmed */
	held->unknown[sw] = true;
	held->unknown_count++;
	held->blocks += top_of(held, sw) / HD_LFT_BLOCK + 1u;
	held->any = true;
}

int sweep_held_look(struct sweep_held *held, struct hd_error *err)
{
	held->unknown_count = held->blocks = 0;
	held->any = false;
	held->unknown = calloc(held->fabric->switch_count + 1u, sizeof(bool));
	if (!held->unknown)
		return hd_error_no_memory(err);
	for (uint32_t sw = 0; sw < held->fabric->switch_count; sw++)
		look_at(held, sw);
	return 0;
}

uint64_t sweep_held_differing(const struct sweep_held *held)
{
	const struct hd_routes *wanted = held->wanted, *tables = held->tables;
	uint64_t count = 0;

	for (uint32_t sw = 0; sw < held->fabric->switch_count; sw++) {
		const uint8_t *now = hd_routes_row(tables, sw), *then = hd_routes_row(wanted, sw);
		const bool same = !memcmp(now + 1, then + 1, wanted->stride - 1);
		if (held->unknown[sw])
			continue;
		for (uint32_t lid = same ? wanted->stride : 1; lid < tables->stride; lid++)
			count += now[lid] != wanted_at(held, sw, lid);
	}
	return count;
}

/* ---- what the switches say ---- */

/* Entries above the switch's highest LID are not in force. Those that are to go are listed all the same. */
static void take_above(struct sweep_held *held, uint32_t sw, uint32_t from)
{
	uint8_t *tables = hd_routes_row(held->tables, sw);

	for (uint32_t lid = from; lid < held->tables->stride; lid++)
		if (wanted_at(held, sw, lid) != HD_NO_PORT)
			tables[lid] = HD_NO_PORT;
}

static void take_read(struct sweep_held *held, uint32_t sw, const struct hd_lft_row *row)
{
	uint8_t *tables = hd_routes_row(held->tables, sw);
	const uint32_t size = hd_lft_size(row->top_lid);

	for (uint32_t block = 0; block < size / HD_LFT_BLOCK; block++)
		writer_tables_note(held->osm, held->fabric, sw, block,
				   row->ports + (size_t)block * HD_LFT_BLOCK);
	memcpy(tables, row->ports, size);
	take_above(held, sw, row->top_lid + 1u);
	tables[0] = hd_routes_row(held->wanted, sw)[0];
	held->unknown[sw] = false;
	held->unknown_count--;
}

static int ask(struct sweep_held *held, struct hd_smp_queue *queue, struct hd_lft_row *rows)
{
	int rc = 0;

	for (uint32_t sw = 0; !rc && sw < held->fabric->switch_count; sw++) {
		if (!held->unknown[sw])
			continue;
		rows[sw].destination = sw;
		rows[sw].top_lid = top_of(held, sw);
		rows[sw].ports = calloc(1, hd_lft_size(rows[sw].top_lid));
		rc = rows[sw].ports ? hd_lft_read(queue, &rows[sw]) : -ENOMEM;
	}
	return rc;
}

int sweep_held_read(struct sweep_held *held, struct hd_smp_queue *queue,
		    const struct hd_go_on *go_on)
{
	const uint32_t switches = held->fabric->switch_count;
	struct hd_lft_row *rows = calloc(switches + 1u, sizeof(*rows));
	int rc = rows ? ask(held, queue, rows) : -ENOMEM;
	int worked = writer_sweep_work(queue, go_on);

	rc = rc ? rc : worked;
	for (uint32_t sw = 0; rows && sw < switches; sw++) {
		if (!rc && rows[sw].ports && !rows[sw].rc)
			take_read(held, sw, &rows[sw]);
		free(rows[sw].ports);
	}
	free(rows);
	return rc;
}

void sweep_held_release(struct sweep_held *held)
{
	free(held->unknown);
	held->unknown = NULL;
}
