/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the status part says itself, of sweeps and of the fabric. For its own files. */
#ifndef OPENSM_STATUS_SUBNET_H
#define OPENSM_STATUS_SUBNET_H

#include "status_load.h"
#include "status_lost.h"
#include "status_missing.h"
#include "status_report.h"

#include <time.h>

struct osm_opensm;
struct routing;

/* Of the sweeper thread, which the lock of the part guards. */
struct status_sweeps {
	bool sweeping; /* a heavy sweep has begun, and is not complete */
	uint64_t count; /* complete heavy sweeps */
	time_t started, last; /* of OpenSM; end of the last heavy sweep */
	double seconds; /* it took */
	/* The tables in force now, and their fabric, if the thread has not taken them yet. */
	bool any;
	struct routing *routing; /* held; NULL: the tables are not ours */
	struct hd_fabric *fabric; /* owned; NULL: that of the routing, or none could be read */
};

/* Of the thread. Zero-initialise before use. */
struct status_view {
	struct routing *routing; /* held; NULL: the tables are not ours */
	struct hd_fabric *fabric; /* owned; NULL: that of the routing */
	struct status_lost lost;
	struct status_load load;
	struct status_missing missing;
	bool counted; /* `load` and `missing` are those of the routing */
};

/* Takes what a sweep found; *sweeps has it no more. Errors: -ENOMEM: nothing is known to be lost. */
int status_view_take(struct status_view *view, struct status_sweeps *sweeps, struct hd_error *err);
void status_view_release(struct status_view *view);

/* Whether OpenSM manages the subnet now. */
bool status_subnet_is_master(const struct osm_opensm *osm);

/* Adds the sections `subnet`, `fabric` and `load`. Counts the loads if that is not done. */
void status_subnet_report(struct status_view *view, const struct status_sweeps *sweeps,
			  const struct osm_opensm *osm, struct status_report *report);

#endif
