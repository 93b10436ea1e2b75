/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What OpenSM's performance manager reads from the ports (opensm.conf: perfmgr TRUE). It tells the plugin after each
 * reading what a port has counted since the one before. Kept in memory: of data, packets and waiting what was counted
 * between the last two readings; of errors what was counted since the first reading.
 *
 * The first reading of a port tells what it has counted since anything, so it only starts the count. The performance
 * manager begins again with a port that it had forgotten, too; then the time that it gives is shorter than that since
 * the last reading.
 *
 * For any thread; the lock is held for copying only. OpenSM calls the first two with locks of its own.
 */
#ifndef OPENSM_COUNTED_H
#define OPENSM_COUNTED_H

#include <heddle/analysis/counters.h>
#include <heddle/base/lookup.h>
#include <pthread.h>

#define COUNTED_MOST 524288u /* ports */

struct counted_port;
struct osm_epi_dc_event;
struct osm_epi_pe_event;

struct counted {
	pthread_mutex_t lock; /* of all below */
	struct hd_lookup lookup; /* of ports, by GUID and number */
	struct counted_port *ports; /* [count], room for `capacity` */
	uint32_t count, capacity;
	uint64_t left_out; /* readings of ports for which there was no memory */
	uint64_t errors[HD_COUNTERS]; /* of all ports, also of those that have gone; 0 of data */
};

/* What a port has counted since the reading before. */
struct counted_reading {
	uint64_t guid; /* of the node */
	uint8_t port;
	double seconds; /* since that, as the performance manager says: whole seconds */
	uint32_t
	    known; /* HD_COUNTER_BIT() each: either some errors and HD_XMIT_WAIT, or data and packets */
	uint64_t value[HD_COUNTERS]; /* 0 where it is not known */
};

void counted_init(struct counted *counted);
void counted_release(struct counted *counted);

/* Notes a reading at the time `now` in ms of a clock that never goes back. Without memory for a new port the
 * reading is left out. O(1). */
void counted_note(struct counted *counted, const struct counted_reading *reading, double now);

/* The same, for OpenSM's events. */
void counted_data(struct counted *counted, const struct osm_epi_dc_event *event, double now);
void counted_errors(struct counted *counted, const struct osm_epi_pe_event *event, double now);

/* Sums over all ports, and what is kept. */
struct counted_sums {
	uint32_t ports; /* that have been read, also if once */
	uint64_t left_out, errors[HD_COUNTERS];
};

/*
 * The counters of the ports of a fabric, to be freed with hd_counters_free(). Ports that have not been read for
 * long, or once only, are not known. `seconds` is the median of the times between the last two readings of the ports;
 * data, packets and waiting of each port are scaled to it. Errors: -ENOMEM. O(ports).
 */
int counted_take(struct counted *counted, const struct hd_fabric *fabric, double now,
		 struct hd_counters **out, struct counted_sums *sums, struct hd_error *err);

#endif
