/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Routing keys: heddle-keyd hands over routes for the flows of applications, which replace entries of
 * the engine's tables. A sweep puts the keys on top of its new tables, as far as they are sound
 * there; between sweeps the thread of the part programs single keys.
 */
#ifndef OPENSM_KEYS_PART_H
#define OPENSM_KEYS_PART_H

struct part;

extern const struct part keys_part;

#endif
