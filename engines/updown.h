/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * updown: Up*-Down* routing. Switches are ranked from the roots. A path climbs towards them, then
 * descends, and never climbs again. So it is free of deadlock on one virtual lane, on any fabric.
 * All links are used, or with links=tree those of a spanning tree alone. Source: Schroeder et al.
 * (Autonet); Kim, Yum, Das et al., section 3.1.
 */
#ifndef ENGINES_UPDOWN_H
#define ENGINES_UPDOWN_H

#include <heddle/engines.h>

extern const struct hd_engine hd_engine_updown;

#endif
