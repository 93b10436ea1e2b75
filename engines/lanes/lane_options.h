/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The rows of an engine's option table that say what is done against deadlock. */
#ifndef ENGINES_LANE_OPTIONS_H
#define ENGINES_LANE_OPTIONS_H

#include <heddle/engines.h>
#include <heddle/engines/lanes.h>

/* The choices are in the order of enum hd_deadlock and of enum hd_lanes_spread. */
#define LANE_OPTIONS                                                                               \
	{.name = "deadlock",                                                                       \
	 .summary = "against credit loops: virtual lanes, dropping by head-of-queue lifetimes, "   \
		    "or nothing",                                                                  \
	 .type = HD_OPTION_CHOICE,                                                                 \
	 .fallback = "vl",                                                                         \
	 .choices = "vl|drop|off"},                                                                \
	    {.name = "vls",                                                                        \
	     .summary = "virtual lanes that routes may take, 0 = all that the fabric has",         \
	     .type = HD_OPTION_INT,                                                                \
	     .fallback = "0",                                                                      \
	     .minimum = 0,                                                                         \
	     .maximum = 15},                                                                       \
	{                                                                                          \
		.name = "spread",                                                                  \
		.summary = "lanes to use: as few as needed, all of them, or (auto) all where one " \
			   "does not do",                                                          \
		.type = HD_OPTION_CHOICE, .fallback = "auto", .choices = "auto|needed|all"         \
	}

/* Data VLs that the routes may take: what the option `vls` leaves of the request's. */
unsigned lane_options_available(const struct hd_route_request *request);

#endif
