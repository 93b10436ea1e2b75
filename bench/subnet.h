/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Prepares OpenSM's switches for a routing engine, and examines them afterwards. All functions need
 * OpenSM's lock, held exclusively.
 */
#ifndef BENCH_SUBNET_H
#define BENCH_SUBNET_H

#include <stdint.h>
#include <stdio.h>

struct osm_opensm;

/* Makes every switch ready for tables, as OpenSM's unicast manager does before each engine.
 * 0, or -ENOMEM. */
int subnet_prepare(struct osm_opensm *osm);

/* Throws the hop counts away, so that the next engine allocates them as in a first sweep. */
void subnet_forget_hops(struct osm_opensm *osm);

/* Entries without a port, over all switches and all LIDs that a port owns. */
uint64_t subnet_count_unrouted(const struct osm_opensm *osm);

/* Writes the tables that the last engine made, in the form of OpenSM's own dump without its
 * comments. */
void subnet_write_tables(const struct osm_opensm *osm, FILE *stream);

#endif
