/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "repair_tables.h"
#include "opensm_headers.h"
#include "repair_shared.h"

#include <string.h>

static osm_switch_t *switch_of(osm_opensm_t *osm, const struct hd_fabric *fabric,
			       const struct hd_repair_write *write)
{
	osm_switch_t *sw =
	    osm_get_switch_by_guid(&osm->subn, cl_hton64(fabric->node_guid[write->sw]));
	bool has_block =
	    sw && sw->lft && sw->new_lft && (write->block + 1) * HD_LFT_BLOCK <= sw->lft_size;

	return has_block ? sw : NULL;
}

bool repair_tables_knows(struct osm_opensm *osm, const struct hd_fabric *fabric,
			 const struct hd_routes *in_place, const struct hd_repair_write *write)
{
	const osm_switch_t *sw = switch_of(osm, fabric, write);
	const size_t offset = (size_t)write->block * HD_LFT_BLOCK;

	/* LID 0 has no entry */
	return sw && !memcmp(sw->lft + offset + !offset,
			     hd_routes_row(in_place, write->sw) + offset + !offset,
			     HD_LFT_BLOCK - !offset);
}

void repair_tables_take(struct osm_opensm *osm, const struct hd_fabric *fabric,
			const struct hd_repair_write *write)
{
	osm_switch_t *sw = switch_of(osm, fabric, write);

	if (!sw)
		return;
	osm_switch_set_lft_block(sw, write->ports, write->block);
	memcpy(sw->new_lft + (size_t)write->block * HD_LFT_BLOCK, write->ports, HD_LFT_BLOCK);
}

/* `lft` still has the old content. No entry changes to 0, the switch itself, or from it: so the block
 * differs from the old content and from the new one. */
static void forget_block(osm_switch_t *sw, const struct hd_repair_write *write)
{
	uint8_t *held = sw->lft + (size_t)write->block * HD_LFT_BLOCK;

	for (uint32_t i = 0; i < HD_LFT_BLOCK; i++)
		if (held[i] != write->ports[i])
			held[i] = 0;
}

void repair_tables_forget(struct osm_opensm *osm, const struct repair_flight *flight)
{
	for (uint32_t i = 0; flight->fabric && i < flight->count; i++) {
		osm_switch_t *sw =
		    flight->done[i] ? NULL : switch_of(osm, flight->fabric, &flight->writes[i]);
		if (sw)
			forget_block(sw, &flight->writes[i]);
	}
}
