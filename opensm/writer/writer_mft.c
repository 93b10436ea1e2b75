/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "writer_mft.h"
#include "opensm_headers.h"

#include <errno.h>
#include <string.h>

static osm_switch_t *switch_of(struct osm_opensm *osm, uint64_t guid)
{
	return osm_get_switch_by_guid(&osm->subn, cl_hton64(guid));
}

void writer_mft_read(struct osm_opensm *osm, uint64_t guid, uint32_t first, uint32_t count,
		     struct hd_port_set *ports)
{
	const osm_switch_t *sw = switch_of(osm, guid);
	const osm_mcast_tbl_t *table = sw ? &sw->mcast_tbl : NULL;

	memset(ports, 0, count * sizeof(*ports));
	if (!table || !table->p_mask_tbl)
		return;
	for (uint32_t i = 0; i < count && first + i < table->mft_depth; i++)
		for (uint32_t position = 0; position <= IB_MCAST_POSITION_MAX; position++)
			ports[i].words[position / 4] |=
			    (uint64_t)cl_ntoh16((*table->p_mask_tbl)[first + i][position])
			    << position % 4 * 16;
}

bool writer_mft_forwards(struct osm_opensm *osm, uint64_t guid)
{
	const osm_switch_t *sw = switch_of(osm, guid);

	return sw && osm_switch_supports_mcast(sw);
}

/* The table of the write's switch; NULL: it has no room for the block. */
static const osm_mcast_tbl_t *table_of(const osm_switch_t *sw, const struct hd_mft_write *write)
{
	const osm_mcast_tbl_t *table = sw ? &sw->mcast_tbl : NULL;

	return table && table->p_mask_tbl &&
		       (write->block + 1) * HD_MFT_BLOCK <= table->mft_depth &&
		       write->block <= table->max_block && write->position <= table->max_position
		   ? table
		   : NULL;
}

static bool holds(const osm_mcast_tbl_t *table, const struct hd_mft_write *write,
		  const uint16_t *masks)
{
	bool same = true;

	for (uint32_t i = 0; i < HD_MFT_BLOCK; i++)
		same &=
		    cl_ntoh16(
			(*table->p_mask_tbl)[write->block * HD_MFT_BLOCK + i][write->position]) ==
		    masks[i];
	return same;
}

/* The last MLID that a switch looks at. */
static uint32_t last_mlid(const osm_switch_t *sw)
{
	const uint32_t top = cl_ntoh16(sw->switch_info.mcast_top);

	return top ? top : HD_MLID_LAST;
}

/* The last MLID that has ports after the write; 0: none has. */
static uint32_t last_used(const struct hd_mft_write *write)
{
	for (uint32_t i = HD_MFT_BLOCK; i > 0; i--)
		if (write->after[i - 1])
			return HD_MLID_FIRST + write->block * HD_MFT_BLOCK + i - 1;
	return 0;
}

int writer_mft_check(struct osm_opensm *osm, const struct hd_fabric *fabric,
		     const struct hd_mft_write *write, bool top, struct hd_error *err)
{
	const osm_switch_t *sw = switch_of(osm, fabric->node_guid[write->sw]);
	const osm_mcast_tbl_t *table = table_of(sw, write);
	const char *name = fabric->node_name[write->sw];

	if (!table)
		return hd_error_set(err, -EAGAIN, "OpenSM has no multicast table of switch '%s'",
				    name);
	if (!holds(table, write, write->before))
		return hd_error_set(err, -EAGAIN, "OpenSM changes a group at switch '%s'", name);
	if (top && last_mlid(sw) < last_used(write))
		return hd_error_set(err, -ERANGE, "switch '%s' looks at no MLID above 0x%X", name,
				    last_mlid(sw));
	return 0;
}

void writer_mft_take(struct osm_opensm *osm, const struct hd_fabric *fabric,
		     const struct hd_mft_write *write, bool undo)
{
	const uint16_t *masks = undo ? write->before : write->after;
	osm_switch_t *sw = switch_of(osm, fabric->node_guid[write->sw]);
	const osm_mcast_tbl_t *table = table_of(sw, write);
	ib_net16_t block[IB_MCAST_BLOCK_SIZE];

	if (!table || !holds(table, write, undo ? write->after : write->before))
		return;
	for (uint32_t i = 0; i < HD_MFT_BLOCK; i++)
		block[i] = cl_hton16(masks[i]);
	osm_switch_set_mft_block(sw, block, (uint16_t)write->block, (uint8_t)write->position);
}
