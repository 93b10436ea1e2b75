/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The tables of a subnet that routers join to others. A map says which router port the packets to
 * each foreign destination go to; these engines make the paths to the router ports, which count as
 * destinations like hosts.
 *
 * A packet keeps its service level in all subnets, but each subnet has its own maps from service
 * levels to lanes. So all paths are on one lane.
 */
#ifndef ENGINES_ACROSS_H
#define ENGINES_ACROSS_H

#include <heddle/engines.h>

extern const struct hd_engine hd_engine_issr;
extern const struct hd_engine hd_engine_isfr;

#endif
