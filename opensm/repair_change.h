/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A repair before the sweep, as other parts see it: a change of the tables in force that the part repair makes,
 * and that routing keys and adaptive routing follow. The writer's thread calls the hooks `repair_*` of struct
 * part with it, in this order:
 *
 *	repair_begins     nothing has been asked or computed
 *	repair_routed     the engine has tables for what is left
 *	repair_programs   they are proved, and nothing is sent; adaptive routing may lead the steps
 *	repair_lands      the switches have them; with OpenSM's lock
 *	repair_ends       whatever has happened before, even if nothing has
 */
#ifndef OPENSM_REPAIR_CHANGE_H
#define OPENSM_REPAIR_CHANGE_H

#include <heddle/ar_manager/pins.h>
#include <heddle/base/error.h>
#include <heddle/base/go_on.h>
#include <stdbool.h>
#include <stdint.h>

struct hd_ar_steps;
struct hd_fabric;
struct hd_routes;
struct hd_smp_address;
struct routing;

struct repair_change {
	uint64_t turn; /* with which it began */
	struct hd_go_on go_on; /* until the turn is lost */
	unsigned threads; /* to compute with */

	/* ---- from repair_begins on ---- */
	/* Why every LID has to be repaired, and none may stay as it is: "routing keys are in force". NULL: it may.
	 * A hook sets it. */
	const char *strict;

	/* ---- from repair_routed on ---- */
	const struct hd_fabric *damaged; /* what is left */
	struct hd_routes *repaired; /* of the engine, in that shape */
	/* The same with routing keys, by the hook; then the part repair owns it. NULL: there are none. */
	struct hd_routes *keyed;
	struct hd_ar_pins pins; /* the entries of these keys; the same */
	/* A key is out of force: for the log. */
	void (*note_broken)(struct repair_change *change, uint64_t key, const char *reason);

	/* ---- from repair_programs on ---- */
	struct routing *
	    routing; /* with these tables; the last routing when the repair ends, if it was published */
	/*
	 * For a hook that leads the steps. `find`: the tables before, in the shape of the routing's fabric, and where
	 * its switches are, for the hook to free. `begin`: the steps are proved. `write`: writes the forwarding
	 * entries of a step, from 1. Errors: with a reason.
	 */
	int (*find)(struct repair_change *change, struct hd_routes **before,
		    struct hd_smp_address **addresses, struct hd_error *err);
	int (*begin)(struct repair_change *change, const struct hd_ar_steps *steps,
		     struct hd_error *err);
	int (*write)(struct repair_change *change, uint32_t step, struct hd_error *err);
	/* Of a hook that leads: monotonic_ms() when the proof was complete. */
	double proved_ms;

	/* ---- at the end ---- */
	bool sent; /* switches may have taken some blocks */
	bool published; /* `routing` is in force */
};

#endif
