/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sweep_known.h"
#include "opensm_headers.h"
#include "writer_sweep.h"

#include <errno.h>
#include <heddle/change/repair_mfts.h>
#include <stdlib.h>
#include <string.h>

#define POSITION_SHIFT 28

static int compare(const void *left, const void *right)
{
	const struct sweep_known_switch *a = left, *b = right;

	return a->guid < b->guid ? -1 : a->guid > b->guid;
}

static struct sweep_known_switch *find(const struct sweep_known *known, uint64_t guid)
{
	const struct sweep_known_switch key = {.guid = guid};

	return known->count ? bsearch(&key, known->switches, known->count, sizeof(key), compare)
			    : NULL;
}

int sweep_known_begin(struct sweep_known *known, struct osm_opensm *osm)
{
	const size_t most = cl_qmap_count(&osm->subn.sw_guid_tbl);
	struct sweep_known now = {calloc(most + 1u, sizeof(*now.switches)), 0};

	MAP_FOREACH(osm_switch_t, sw, &osm->subn.sw_guid_tbl)
	{
		const uint64_t guid = cl_ntoh64(osm_node_get_node_guid(sw->p_node));
		const struct sweep_known_switch *former = find(known, guid);
		if (!now.switches)
			break;
		if (former)
			now.switches[now.count++] = *former;
		else
			now.switches[now.count++].guid = guid;
	}
	sweep_known_release(known);
	if (!now.switches)
		return -ENOMEM;
	qsort(now.switches, now.count, sizeof(*now.switches), compare);
	*known = now;
	return 0;
}

void sweep_known_release(struct sweep_known *known)
{
	free(known->switches);
	*known = (struct sweep_known){NULL, 0};
}

/* ---- what switches say ---- */

static bool is_missing(const struct sweep_known *known, const struct hd_fabric *fabric, uint32_t sw,
		       uint32_t block)
{
	const struct sweep_known_switch *found = find(known, fabric->node_guid[sw]);

	return found && !found->blocks[block];
}

uint32_t sweep_known_missing(const struct sweep_known *known, const struct hd_fabric *fabric,
			     uint32_t block)
{
	uint32_t count = 0;

	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		count += is_missing(known, fabric, sw, block);
	return count;
}

/* A block of a switch, as it is read. */
struct reading {
	struct hd_port_set rows[HD_MFT_BLOCK];
	bool asked, failed;
};

static void on_end(void *cookie, const struct hd_smp_result *result)
{
	struct reading *reading = cookie;
	const uint32_t first = (result->smp->modifier >> POSITION_SHIFT) * HD_MFT_PORTS;

	reading->failed |= result->rc != 0;
	for (uint32_t i = 0; !result->rc && i < HD_MFT_BLOCK; i++) {
		const uint64_t mask =
		    (uint64_t)((unsigned)result->data[2 * i] << 8 | result->data[2 * i + 1]);
		reading->rows[i].words[first / 64] |= mask << first % 64;
	}
}

static int ask(const struct hd_fabric *fabric, uint32_t sw, uint32_t block,
	       struct hd_smp_queue *queue, struct reading *reading)
{
	int rc = 0;

	reading->asked = true;
	for (uint32_t position = 0; !rc && position <= hd_node_ports(fabric, sw) / HD_MFT_PORTS;
	     position++) {
		const struct hd_smp smp = {.method = HD_SMP_GET,
					   .attribute = HD_SMP_MFT,
					   .modifier = block | position << POSITION_SHIFT};
		rc = hd_smp_queue_submit(queue, sw, &smp, on_end, reading);
	}
	return rc;
}

static int take(struct sweep_known *known, uint64_t guid, uint32_t block,
		const struct reading *reading, struct sweep_copies *copies)
{
	int rc = 0;

	for (uint32_t i = 0; !rc && i < HD_MFT_BLOCK && block * HD_MFT_BLOCK + i < SWEEP_MLIDS; i++)
		rc = sweep_tree_put(&copies->trees[block * HD_MFT_BLOCK + i], guid,
				    &reading->rows[i]);
	if (!rc)
		find(known, guid)->blocks[block] = true;
	return rc;
}

int sweep_known_read(struct sweep_known *known, const struct hd_fabric *fabric, uint32_t block,
		     struct hd_smp_queue *queue, const struct hd_go_on *go_on,
		     struct sweep_copies *copies)
{
	struct reading *readings = calloc(fabric->switch_count + 1u, sizeof(*readings));
	int rc = readings ? 0 : -ENOMEM;

	for (uint32_t sw = 0; !rc && sw < fabric->switch_count; sw++)
		if (is_missing(known, fabric, sw, block))
			rc = ask(fabric, sw, block, queue, &readings[sw]);
	int worked = writer_sweep_work(queue, go_on);
	rc = rc ? rc : worked;
	for (uint32_t sw = 0; !rc && sw < fabric->switch_count; sw++)
		if (readings[sw].asked && !readings[sw].failed)
			rc = take(known, fabric->node_guid[sw], block, &readings[sw], copies);
	free(readings);
	return rc;
}
