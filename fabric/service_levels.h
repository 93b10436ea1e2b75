/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the readers and writers of service levels share. */
#ifndef FABRIC_SERVICE_LEVELS_H
#define FABRIC_SERVICE_LEVELS_H

#include <heddle/fabric/graph.h>

#define SERVICE_LEVELS 16u
#define SERVICE_MAP_HEAD "SL to VL:"

/*
 * For each LID whether it is one of a host that hangs on a switch: only these have service
 * levels. [lid_count], to be freed with free(); NULL: no memory.
 */
bool *service_lids(const struct hd_fabric *fabric);

#endif
