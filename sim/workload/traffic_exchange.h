/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Collective operations of MPI as steps: in each, a rank sends at most one message and receives at
 * most one. The algorithms are those that MPI libraries use (R. Thakur, R. Rabenseifner, W. Gropp,
 * "Optimization of collective communication operations in MPICH", 2005); `auto` changes from one to
 * the other at MPICH's sizes.
 */
#ifndef TRAFFIC_EXCHANGE_H
#define TRAFFIC_EXCHANGE_H

#include <heddle/base/index.h>
#include <stdbool.h>
#include <stdint.h>

/* Bytes: what a rank sends to each (all-to-all), contributes (all-gather, gather), gets (scatter),
 * or the whole vector (all-reduce, reduce, broadcast). */
enum exchange {
	EXCHANGE_BARRIER, /* dissemination */
	EXCHANGE_ALL_TO_ALL, /* auto: Bruck up to 256 bytes, else pairwise */
	EXCHANGE_ALL_TO_ALL_LINEAR, /* all messages at once */
	EXCHANGE_ALL_TO_ALL_PAIRWISE,
	EXCHANGE_ALL_TO_ALL_BRUCK,
	EXCHANGE_ALL_REDUCE, /* auto: recursive doubling up to 2 KiB, else ring */
	EXCHANGE_ALL_REDUCE_DOUBLING,
	EXCHANGE_ALL_REDUCE_RING,
	EXCHANGE_ALL_GATHER, /* auto: recursive doubling below 512 KiB in all for 2^n ranks, else ring */
	EXCHANGE_ALL_GATHER_DOUBLING, /* for 2^n ranks; others take the ring */
	EXCHANGE_ALL_GATHER_RING,
	EXCHANGE_BROADCAST, /* binomial trees */
	EXCHANGE_REDUCE,
	EXCHANGE_GATHER,
	EXCHANGE_SCATTER,
	EXCHANGE_COUNT
};

/* Names as in traces and scenarios: "all-to-all-linear". */
extern const char *const exchange_names[EXCHANGE_COUNT];

struct exchange_step {
	uint32_t to, from; /* ranks; HD_NONE: does not send, does not receive */
	uint64_t bytes; /* that it sends, at least 1 */
	bool wait; /* for both, before the next step */
};

/* Step `step` (from 0) of a rank. False: there are no more steps. O(log ranks) at most. */
bool exchange_step(enum exchange exchange, uint32_t ranks, uint32_t rank, uint32_t root,
		   uint64_t bytes, uint32_t step, struct exchange_step *out);

#endif
