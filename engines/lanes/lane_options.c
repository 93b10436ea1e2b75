/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "lane_options.h"

#define LANES_BY_DEFAULT 8 /* what most switches have */

unsigned lane_options_available(const struct hd_route_request *request)
{
	unsigned wanted = (unsigned)hd_options_get(request->options, "vls")->number;
	unsigned present = request->lanes < HD_LANES_MAX ? request->lanes : HD_LANES_MAX;

	if (!present)
		return wanted ? wanted : LANES_BY_DEFAULT;
	return wanted && wanted < present ? wanted : present;
}
