/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* All parts of the plugin. What each does stands at the top of its file. */
#ifndef OPENSM_PARTS_H
#define OPENSM_PARTS_H

#include "part.h"

extern const struct part ar_part;
extern const struct part balance_part;
extern const struct part certificate_part;
extern const struct part drain_part;
extern const struct part engines_part;
extern const struct part keys_part;
extern const struct part lanes_part;
extern const struct part lifetimes_part;
extern const struct part map_part;
extern const struct part multicast_part;
extern const struct part repair_part;
extern const struct part status_part;
extern const struct part sweep_part;

#endif
