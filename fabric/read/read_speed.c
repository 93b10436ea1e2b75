/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "read_speed.h"

bool read_speed_take_width(struct hd_cursor *cursor, uint8_t *width)
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

bool read_speed_take(struct hd_cursor *cursor, uint8_t *speed)
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
