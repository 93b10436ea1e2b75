/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* MADs for slow switches, by the time at which they go on. */
#ifndef EMULATOR_DELAYS_H
#define EMULATOR_DELAYS_H

#include "emulator_wire.h"
#include <stdbool.h>
#include <stdint.h>

struct delayed {
	uint64_t due; /* ms of the monotonic clock */
	uint64_t order; /* among those due at the same time */
	uint64_t guid; /* of the node */
	uint32_t session; /* number of the one who asked */
	struct wire_datagram request;
	struct wire_datagram route; /* ibsim's answer that shows the way back */
};

/* A heap, the next one first. Zero-initialise before use. */
struct delays {
	struct delayed **heap; /* [count] */
	uint32_t count, capacity;
	uint64_t order;
};

/* Keeps a copy of the item. False: no memory. */
bool delays_add(struct delays *delays, const struct delayed *item);

/* Takes an item that is due at `now` out, to be freed with free(); NULL: none is. */
struct delayed *delays_take(struct delays *delays, uint64_t now);

/* Milliseconds until the next one is due, -1: nothing is delayed. */
int delays_wait(const struct delays *delays, uint64_t now);

void delays_free(struct delays *delays);

#endif
