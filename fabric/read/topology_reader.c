/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "topology_reader.h"

/* ---- width and speed ---- */

bool topology_reader_take_width(struct hd_cursor *cursor, uint8_t *width)
{
	struct hd_cursor after = *cursor;
	uint32_t lanes = 0;

	if (!hd_take_text(&after, "??") &&
	    !(hd_take_decimal(&after, &lanes) && hd_take_text(&after, "x")))
		return false;
	if (lanes > 12)
		return false;
	*cursor = after;
	*width = (uint8_t)lanes;
	return true;
}

static bool name_character(char character)
{
	return (character >= 'A' && character <= 'Z') || (character >= '0' && character <= '9') ||
	       character == '?';
}

bool topology_reader_take_speed(struct hd_cursor *cursor, uint8_t *speed)
{
	struct hd_cursor name = *cursor;

	while (cursor->at < cursor->end && name_character(*cursor->at))
		cursor->at++;
	name.end = cursor->at;
	*speed = HD_SPEED_UNKNOWN;
	for (unsigned i = 0; i < HD_SPEED_COUNT; i++)
		if (hd_cursor_is(&name, hd_speed_name((enum hd_speed)i)))
			*speed = (uint8_t)i;
	return name.end > name.at;
}

/* ---- dialects ---- */

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
