/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Asks the processor to load what the next events will need, while the present one is handled.
 *
 * A large network does not fit into the processor's cache, and an event touches about ten places in
 * memory that no event before it has touched for a long time. Each place is known only when another
 * one has been read: a packet's port, the port's queue. So events are looked at several times, and
 * each time what was loaded the time before leads one step further. Nothing changes in the simulation.
 */
#ifndef AHEAD_H
#define AHEAD_H

#include "core_state.h"

/* Before each event. O(1). */
void ahead_load(const struct hd_sim *sim);

#endif
