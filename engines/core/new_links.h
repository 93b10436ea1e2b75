/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Links that a fabric has gained since its baseline was made. */
#ifndef ENGINES_NEW_LINKS_H
#define ENGINES_NEW_LINKS_H

#include <heddle/fabric/graph.h>
#include <heddle/fabric/routes.h>

/*
 * Marks the links that no entry of the baseline uses: is_new[isl_count]. Returns their number. A link that the engine
 * never uses is among them for ever. Cost: O(links) as a rule; O(LIDs) for a switch that has such a link.
 */
uint32_t new_links_mark(const struct hd_fabric *fabric, const struct hd_routes *baseline,
			bool *is_new);

/* Number of ports that the baseline uses and that lead nowhere now. Cost: O(switches * LIDs). */
uint32_t new_links_missing(const struct hd_fabric *fabric, const struct hd_routes *baseline);

/* Number of links that tables use. Cost: O(links) as a rule, else O(switches * LIDs). */
uint32_t new_links_used(const struct hd_fabric *fabric, const struct hd_routes *routes);

#endif
