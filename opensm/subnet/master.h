/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Whether this OpenSM is the master: only the master may send. */
#ifndef OPENSM_MASTER_H
#define OPENSM_MASTER_H

#include <stdbool.h>

struct osm_opensm;

/* For any thread, without a lock: the value may be old for a moment, as any answer would be. */
bool master_is_ours(const struct osm_opensm *osm);

#endif
