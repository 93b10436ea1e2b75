/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What every routing engine must do on every fabric.
 *
 * - It routes, or it refuses with -ENOTSUP and a reason where it may (demands.c: may_refuse()).
 * - Tables are clean: a host or switch without a route stands in another component, and no
 *   lane has a credit loop.
 * - Tables do not depend on the order in which the fabric was told nor on the thread count.
 * - Tables put in as previous ones come out unchanged.
 * - After one cable is gone only the LIDs change whose entries used it, as long as what decides
 *   which links climb is as it was.
 * - Whatever stands in previous tables, those that come out are clean.
 */
#ifndef CONFORMANCE_DEMANDS_H
#define CONFORMANCE_DEMANDS_H

#include "fabrics.h"
#include <heddle/engines.h>

struct tally {
	unsigned routed, refused, failed;
	unsigned lanes; /* most that any tables used */
	unsigned cuts, reshuffled; /* cables taken away; after how many other LIDs changed too */
	uint64_t affected; /* entries that pointed to such a cable */
	uint64_t changed; /* entries that changed after it was gone, reshuffles left out */
	uint64_t returned; /* entries that changed when it was back */
};

struct trial {
	const struct sample *sample;
	const struct hd_engine *engine;
	uint64_t number; /* of the sample */
	struct tally *tally;
};

/* Makes all demands; prints each that is not met. */
void demands_make(const struct trial *trial);

#endif
