/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * OpenSM's lock, as the part that repairs takes it. Each time is measured, since OpenSM's own threads
 * wait meanwhile. The time by the clock includes what the thread spends without a core; its CPU time does
 * not, but includes page faults.
 */
#ifndef OPENSM_REPAIR_LOCK_H
#define OPENSM_REPAIR_LOCK_H

#include <stdbool.h>
#include <stdint.h>

struct repair_shared;

#define REPAIR_LOCK_LONG_US 1000u /* that OpenSM's threads should never wait */

/* When something began. */
struct repair_hold {
	double wall_us, cpu_us; /* of any clock; of the thread */
	long preempted; /* times that another thread got the core */
};

/* Times of one kind. */
struct repair_holds {
	uint64_t count;
	uint64_t over; /* of these longer than REPAIR_LOCK_LONG_US by the clock */
	uint64_t preempted; /* of these in which another thread got the core */
	uint64_t wall_us_most, cpu_us_most;
};

/* Takes OpenSM's lock, exclusively or shared. The result is for repair_lock_release(). */
struct repair_hold repair_lock_take(struct repair_shared *shared, bool exclusive);

/*
 * Takes OpenSM's lock exclusively, but gives up when the turn is lost meanwhile: false. The sweeper
 * thread keeps the lock while it waits for the thread of adaptive routing, which writes tables in a
 * repair. So that thread must not wait for the lock.
 */
bool repair_lock_try(struct repair_shared *shared, uint64_t turn, struct repair_hold *hold);

void repair_lock_release(struct repair_shared *shared, struct repair_hold hold);

/* What a thread does that has the lock already, or another one. */
struct repair_hold repair_lock_begin(void);

/* Adds the time since then. The caller sees to it that `holds` is not changed at the same time. */
void repair_lock_end(struct repair_holds *holds, struct repair_hold hold);

#endif
