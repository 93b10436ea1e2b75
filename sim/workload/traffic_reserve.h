/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Bandwidth that streams reserve before they send, section 3.4 of the paper in doc/papers/irregular.md. There a probe goes
 * along one path after the other, the shortest first. A switch without enough bandwidth left sends a NACK, which takes the
 * reservation back; the destination sends an ACK. Here the answer is there at once: a probe takes microseconds, and a
 * stream lasts for seconds.
 */
#ifndef TRAFFIC_RESERVE_H
#define TRAFFIC_RESERVE_H

#include "traffic.h"

struct traffic_reserve;

/* Nothing is reserved; streams may have `share` (millionths) of each cable. Memory is the traffic's. Errors: -ENOMEM. */
int traffic_reserve_new(struct hd_traffic *traffic, uint64_t share, struct traffic_reserve **out,
			struct hd_error *err);

/*
 * Reserves `rate` bits/s on each cable of the shortest path that has them, of those that the option `offset` allows; of
 * equal ones that with the lowest LID offset. Sets the message's LID offset. False: there is no such path, and nothing is
 * reserved. While the simulation runs. O(LIDs * hops).
 */
bool traffic_reserve_take(struct traffic_reserve *reserve, const struct hd_traffic_part *part,
			  struct hd_sim_message *message, double rate);

#endif
