/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "topology_reader.h"

#define LID_UNASSIGNED 0xFFFF

bool topology_reader_is_debug(struct hd_cursor line)
{
	return hd_take_text(&line, "DR path ");
}

int topology_reader_set_lid(struct topology_reader *reader, uint32_t node, uint32_t port,
			    uint32_t lid, unsigned lmc)
{
	if (!lid || lid == LID_UNASSIGNED)
		return 0;
	if (lmc > HD_LMC_INFINIBAND)
		return hd_lines_error(&reader->lines, reader->err, "LMC %u; expected 0..%d", lmc,
				      HD_LMC_INFINIBAND);
	return hd_builder_set_lid(reader->builder, node, port, lid, lmc, reader->err);
}
