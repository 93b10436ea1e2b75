/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * dfp: minimal paths of a Dragonfly+. A path climbs to a spine, crosses at most one link to another
 * island, and descends. Adaptive routing of the kind DFP stands on these tables.
 */
#ifndef ENGINES_DFP_H
#define ENGINES_DFP_H

#include <heddle/engines.h>

extern const struct hd_engine hd_engine_dfp;

#endif
