/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What is known of a fabric without any engine. Slow and obvious on purpose. */
#ifndef CONFORMANCE_FACTS_H
#define CONFORMANCE_FACTS_H

#include <heddle/fabric.h>

/* Component number of each switch; the result is malloc'ed, NULL: no memory. */
uint32_t *fact_components(const struct hd_fabric *fabric);

/* Levels by steps from the nearest switch with hosts, 0xFF where there is no way. malloc'ed. */
uint8_t *fact_levels(const struct hd_fabric *fabric);

/* True when each leaf with hosts reaches every other one of its component by climbing the given
 * levels, those of the tree before it was damaged, then descending. */
bool fact_is_tree_still(const uint8_t *level, const struct hd_fabric *fabric);

#endif
