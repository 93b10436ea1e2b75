/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "writer_tables.h"
#include "opensm_headers.h"

#include <heddle/fabric/routes.h>
#include <string.h>

/* A block of a switch in OpenSM's tables. */
struct copy {
	uint8_t *held, *wanted; /* in `lft` and `new_lft`; NULL: OpenSM does not have it */
	size_t first; /* entry that counts */
};

static struct copy find(osm_opensm_t *osm, const struct hd_fabric *fabric, uint32_t sw,
			uint32_t block)
{
	const osm_switch_t *found =
	    osm_get_switch_by_guid(&osm->subn, cl_hton64(fabric->node_guid[sw]));
	const size_t offset = (size_t)block * HD_LFT_BLOCK;

	if (!found || !found->lft || !found->new_lft || offset + HD_LFT_BLOCK > found->lft_size)
		return (struct copy){NULL, NULL, 0};
	return (struct copy){found->lft + offset, found->new_lft + offset, offset ? 0 : 1};
}

bool writer_tables_holds(struct osm_opensm *osm, const struct hd_fabric *fabric, uint32_t sw,
			 uint32_t block, const uint8_t *ports)
{
	const struct copy copy = find(osm, fabric, sw, block);

	return copy.held &&
	       !memcmp(copy.held + copy.first, ports + copy.first, HD_LFT_BLOCK - copy.first);
}

void writer_tables_take(struct osm_opensm *osm, const struct hd_fabric *fabric, uint32_t sw,
			uint32_t block, const uint8_t *ports)
{
	const struct copy copy = find(osm, fabric, sw, block);

	if (!copy.held)
		return;
	memcpy(copy.held, ports, HD_LFT_BLOCK);
	memcpy(copy.wanted, ports, HD_LFT_BLOCK);
}

void writer_tables_note(struct osm_opensm *osm, const struct hd_fabric *fabric, uint32_t sw,
			uint32_t block, const uint8_t *ports)
{
	const struct copy copy = find(osm, fabric, sw, block);

	if (copy.held)
		memcpy(copy.held, ports, HD_LFT_BLOCK);
}

/* No entry changes to 0, the switch itself, or from it: so `lft` differs from the old content and from
 * the new one. */
void writer_tables_forget(struct osm_opensm *osm, const struct hd_fabric *fabric, uint32_t sw,
			  uint32_t block, const uint8_t *ports)
{
	const struct copy copy = find(osm, fabric, sw, block);

	for (size_t i = copy.first; copy.held && i < HD_LFT_BLOCK; i++)
		if (copy.held[i] != ports[i])
			copy.held[i] = 0;
}

void writer_tables_keep(struct osm_switch *sw)
{
	if (sw->new_lft)
		memcpy(sw->new_lft, sw->lft, sw->lft_size);
}
