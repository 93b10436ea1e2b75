/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What every routing engine must do on every fabric.
 *
 * - It routes. It may refuse with -ENOTSUP and a reason only if the fact needs_tree allows it.
 * - Tables are clean: a host or switch without a path is in another component, and no lane has a
 *   credit loop.
 * - Tables do not depend on the order in which the fabric is described, nor on the thread count.
 * - Tables that are given as previous ones come out unchanged.
 * - After one cable is gone, only those LIDs change whose entries used it. Engines without the fact
 *   keeps_entries must do this only if the levels of the tree stay the same.
 * - Whatever the previous tables contain, those that come out are clean.
 * - The facts one_lane and shortest_paths hold.
 *
 * With aggregation nodes, paths that no longer fit beside those of hosts may move, and an engine of
 * one lane may take a second for them.
 */
#ifndef CONFORMANCE_DEMANDS_H
#define CONFORMANCE_DEMANDS_H

#include "sample.h"
#include <heddle/engines.h>

struct tally {
	unsigned routed, refused, failed;
	unsigned lanes; /* the most that any tables used */
	unsigned left_out; /* tables without some paths from aggregation nodes, see demands.c */
	unsigned cuts, reshuffled; /* cables removed; how often other LIDs changed too */
	uint64_t affected; /* entries that pointed to such a cable */
	uint64_t changed; /* entries that changed after it was gone, without reshuffles */
	uint64_t returned; /* entries that changed after it was back */
};

struct trial {
	const struct sample *sample;
	const struct hd_engine *engine;
	const struct hd_options *options; /* of the engine; NULL: its defaults */
	uint64_t number; /* of the sample */
	struct tally *tally;
};

/* Checks all demands. Prints each that is not met. */
void demands_make(const struct trial *trial);

#endif
