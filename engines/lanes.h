/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The rows of an engine's option table that say what is done against deadlock. */
#ifndef ENGINES_LANES_H
#define ENGINES_LANES_H

#include <heddle/engines.h>

enum { DEADLOCK_VL, DEADLOCK_DROP, DEADLOCK_OFF };
enum { SPREAD_NEEDED, SPREAD_ALL };

/* `spread` is that engine's default: "needed" or "all". */
#define LANES_OPTIONS(spread_by_default)                                                           \
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
		.summary = "routes over as few lanes as are needed, or evenly over all",           \
		.type = HD_OPTION_CHOICE, .fallback = spread_by_default, .choices = "needed|all"   \
	}

#endif
