/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Facts about a fabric that need no engine. Slow and obvious on purpose. */
#ifndef CONFORMANCE_FACTS_H
#define CONFORMANCE_FACTS_H

#include <heddle/fabric.h>

/* Component number of each switch, to be freed with free(). NULL: no memory. */
uint32_t *facts_components(const struct hd_fabric *fabric);

/* Levels by steps from the nearest switch with hosts, 0xFF without a path, to be freed with free().
 * NULL: no memory. */
uint8_t *facts_levels(const struct hd_fabric *fabric);

/* True when each leaf with hosts reaches every other leaf of its component by legal paths over the
 * given levels, those of the tree before it was damaged. */
bool facts_is_tree_still(const uint8_t *level, const struct hd_fabric *fabric);

#endif
