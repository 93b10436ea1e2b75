/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Options that several engines have. */
#ifndef ENGINES_ENGINE_OPTIONS_H
#define ENGINES_ENGINE_OPTIONS_H

#include <heddle/engines.h>
#include <heddle/engines/lanes.h>
#include <stdbool.h>
#include <stdint.h>

/* ---- root ---- */

/* What engines with an option `root` share. */

/* False when `text` is not a number in hexadecimal, with or without 0x. */
bool engine_options_guid(const char *text, uint64_t *guid);

/* ---- deadlock ---- */

/* The rows of an engine's option table that are about deadlock. */

/* The choices are in the order of enum hd_deadlock and of enum hd_lanes_spread. */
#define LANE_OPTIONS                                                                               \
	{.name = "deadlock",                                                                       \
	 .summary = "against credit loops: virtual lanes (vl), dropping packets that wait longer " \
		    "than the head-of-queue lifetime (drop), or nothing (off)",                    \
	 .type = HD_OPTION_CHOICE,                                                                 \
	 .fallback = "vl",                                                                         \
	 .choices = "vl|drop|off"},                                                                \
	    {.name = "vls",                                                                        \
	     .summary = "virtual lanes that paths may use; 0: all usable lanes",                   \
	     .type = HD_OPTION_INT,                                                                \
	     .fallback = "0",                                                                      \
	     .minimum = 0,                                                                         \
	     .maximum = 15},                                                                       \
	{                                                                                          \
		.name = "spread",                                                                  \
		.summary = "lanes to use: as few as needed, all usable ones, or (auto) all if "    \
			   "one is not enough",                                                    \
		.type = HD_OPTION_CHOICE, .fallback = "auto", .choices = "auto|needed|all"         \
	}

/* Data VLs that the paths may use: those of the request, limited by the option `vls`. */
unsigned engine_options_lanes(const struct hd_route_request *request);

#endif
