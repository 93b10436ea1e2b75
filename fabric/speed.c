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
