/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Explains what limits the virtual lanes, for an engine that needs more. */
#ifndef OPENSM_LANE_SHORTAGE_H
#define OPENSM_LANE_SHORTAGE_H

#include <heddle/base/error.h>

struct hd_config;
struct hd_engine;
struct virtual_lanes;

/* Adds the reason to the text in `err`. `lanes` are those of the fabric; `for_unicast` is the
 * number that the engine got. */
void lane_shortage_explain(const struct hd_config *config, const struct hd_engine *engine,
			   const struct virtual_lanes *lanes, unsigned for_unicast,
			   struct hd_error *err);

#endif
