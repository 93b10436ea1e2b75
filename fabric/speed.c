/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "speed.h"

#include <string.h>

static const char *const names[HD_SPEED_COUNT] = {
    [HD_SPEED_UNKNOWN] = "???", [HD_SPEED_SDR] = "SDR",	    [HD_SPEED_DDR] = "DDR",
    [HD_SPEED_QDR] = "QDR",	[HD_SPEED_FDR10] = "FDR10", [HD_SPEED_FDR] = "FDR",
    [HD_SPEED_EDR] = "EDR",	[HD_SPEED_HDR] = "HDR",	    [HD_SPEED_NDR] = "NDR",
    [HD_SPEED_XDR] = "XDR"};

const char *hd_speed_name(enum hd_speed speed)
{
	return names[speed];
}

bool take_width(struct cursor *cursor, uint8_t *width)
{
	struct cursor after = *cursor;
	uint32_t lanes = 0;
	if (!take_text(&after, "??") && !(take_decimal(&after, &lanes) && take_text(&after, "x")))
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

bool take_speed(struct cursor *cursor, uint8_t *speed)
{
	struct cursor name = *cursor;
	while (cursor->at < cursor->end && name_character(*cursor->at))
		cursor->at++;
	name.end = cursor->at;
	*speed = HD_SPEED_UNKNOWN;
	for (unsigned i = 0; i < HD_SPEED_COUNT; i++)
		if (cursor_is(&name, names[i]))
			*speed = (uint8_t)i;
	return name.end > name.at;
}
