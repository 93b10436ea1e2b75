/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * THE WATCHER: finds losses whose trap never came. It is a client of the writer, the last in rank. Every watch_ms it
 * asks all switches for the states of their ports (repair_poll.h), at most watch_mads SMPs a second. If a port is down
 * that was up in the last sweep, it does what a trap does: a repair begins, and OpenSM is to sweep.
 *
 * A job sends what may go in TICK_MS and waits for the answers. It ends at once when a trap has come, another client of
 * the writer has something to do, or a sweep has begun; what it has asked is asked again later. From the beginning of a
 * heavy sweep until what it leaves is prepared for, the watcher sends nothing. A switch that is silent is no loss.
 */
#ifndef OPENSM_REPAIR_WATCH_H
#define OPENSM_REPAIR_WATCH_H

#include "repair_shared.h"

struct hd_error;
struct repair_watch;
struct repairs;

/* Adds the client. It reads *repairs, which is for the writer's thread. Errors: of the system, with a reason;
 * -ENOMEM. */
int repair_watch_start(struct repairs *repairs, struct repair_watch **out, struct hd_error *err);

/* NULL is allowed. Without OpenSM's lock. */
void repair_watch_end(struct repair_watch *watch);

/* ---- the writer's thread ---- */

/* What a sweep has left is prepared for: watches that, if it is to. */
void repair_watch_begin(struct repair_watch *watch);

/* What the last sweep left is about to be freed. NULL is allowed. */
void repair_watch_forget(struct repair_watch *watch);

#endif
