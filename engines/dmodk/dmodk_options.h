/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The options and the policy of dmodk, for its own table and for engines that are dmodk underneath. */
#ifndef ENGINES_DMODK_OPTIONS_H
#define ENGINES_DMODK_OPTIONS_H

#include "balance.h"
#include "lane_options.h"

#define DMODK_OPTIONS                                                                              \
	{.name = "method",                                                                         \
	 .summary = "auto: the closed form on regular trees, counters on others; balanced: "       \
		    "counters on all trees",                                                       \
	 .type = HD_OPTION_CHOICE,                                                                 \
	 .fallback = "auto",                                                                       \
	 .choices = "auto|balanced"},                                                              \
	    {.name = "passes",                                                                     \
	     .summary = "rounds of balancing where counters are used",                             \
	     .type = HD_OPTION_INT,                                                                \
	     .fallback = "4",                                                                      \
	     .minimum = 1,                                                                         \
	     .maximum = 16},                                                                       \
	    BALANCE_OPTION_REBALANCE, LANE_OPTIONS

#define DMODK_POLICIES                                                                             \
	(HD_POLICY_COMMON | HD_POLICY_BIT(HD_POLICY_ROOTS) |                                       \
	 HD_POLICY_BIT(HD_POLICY_COMPUTE_NODES) | HD_POLICY_BIT(HD_POLICY_IO_NODES) |              \
	 HD_POLICY_BIT(HD_POLICY_ORDER) | HD_POLICY_BIT(HD_POLICY_IGNORED_PORTS))

#endif
