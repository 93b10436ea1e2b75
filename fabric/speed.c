/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <heddle/fabric/graph.h>

static const char *const names[HD_SPEED_COUNT] = {
    [HD_SPEED_UNKNOWN] = "???", [HD_SPEED_SDR] = "SDR",	    [HD_SPEED_DDR] = "DDR",
    [HD_SPEED_QDR] = "QDR",	[HD_SPEED_FDR10] = "FDR10", [HD_SPEED_FDR] = "FDR",
    [HD_SPEED_EDR] = "EDR",	[HD_SPEED_HDR] = "HDR",	    [HD_SPEED_NDR] = "NDR",
    [HD_SPEED_XDR] = "XDR"};

const char *hd_speed_name(enum hd_speed speed)
{
	return names[speed];
}

uint8_t hd_link_width(unsigned active)
{
	switch (active) {
	case 1:
		return 1;
	case 2:
		return 4;
	case 4:
		return 8;
	case 8:
		return 12;
	case 16:
		return 2;
	default:
		return 0;
	}
}

enum hd_speed hd_link_speed(unsigned active, unsigned extended)
{
	static const uint8_t extended_speeds[] = {
	    [1] = HD_SPEED_FDR, [2] = HD_SPEED_EDR, [4] = HD_SPEED_HDR, [8] = HD_SPEED_NDR};
	static const uint8_t speeds[] = {
	    [1] = HD_SPEED_SDR, [2] = HD_SPEED_DDR, [4] = HD_SPEED_QDR};
	uint8_t speed = HD_SPEED_UNKNOWN;

	if (extended < sizeof(extended_speeds))
		speed = extended_speeds[extended];
	if (speed == HD_SPEED_UNKNOWN && active < sizeof(speeds))
		speed = speeds[active];
	return (enum hd_speed)speed;
}
