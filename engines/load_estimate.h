/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The largest link load of an engine's paths, estimated without routing, and that of finished
 * tables, in the same unit. Both look at the same sample of destination switches, evenly spaced
 * among those with hosts: as many as cost LOAD_ESTIMATE_STEPS steps over links, but at least
 * LOAD_ESTIMATE_LEAST. The load of a link is the number of pairs of a source host and a host at one
 * of these switches whose path crosses it.
 *
 * The estimate lets the traffic at each switch spread evenly over all next hops that the engine
 * allows. An engine that balances well comes close to it.
 */
#ifndef ENGINES_LOAD_ESTIMATE_H
#define ENGINES_LOAD_ESTIMATE_H

#include <heddle/fabric.h>

#define LOAD_ESTIMATE_STEPS 500000u
#define LOAD_ESTIMATE_LEAST 8u

/* Paths of fewest hops, or with up[isl_count] such that climb, then descend. Pairs without a path
 * do not count. Errors: -ENOMEM. Cost: O(sample * (switches + links)). */
int load_estimate_paths(const struct hd_fabric *fabric, const uint8_t *up, double *largest);

/* Of tables. Errors: -ENOMEM. Cost: O(sample * hosts at a switch * switches). */
int load_estimate_tables(const struct hd_fabric *fabric, const struct hd_routes *routes,
			 double *largest);

#endif
