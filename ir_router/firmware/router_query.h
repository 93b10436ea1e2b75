/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * query_down_for_egress_port() of the paper (ISFR): asks the switch behind each port for its
 * forwarding table. The port is the egress port of a host when
 *  - its switch is the one that D-mod-K names for the host, as the subnet manager says; and
 *  - the switch's entry for the host leads down the tree; and
 *  - two readings, settle_ms apart, agree.
 * Else the host's packets use the hash (ISSR), and the switch is asked again after retry_ms. All
 * tables are read again every refresh_ms; an entry that has changed meanwhile needs a second
 * reading again.
 */
#ifndef ROUTER_QUERY_H
#define ROUTER_QUERY_H

#include "router.h"

#define HD_ROUTER_NEVER UINT64_MAX

/*
 * Takes answers and sends what is due, and returns the time at which it has something to do even
 * if no answer comes. Each port has one SMP on its way at a time. A call takes at most as many
 * answers as the router has ports, sends at most one SMP for each port, and looks at no more than
 * 1,024 hosts of each port; if more is to be done, it returns the present time.
 */
uint64_t hd_router_work(struct hd_router *router);

/* Lets all switches of a subnet be asked as soon as possible, for example after a link came back. */
void hd_router_ask_again(struct hd_router *router, uint8_t subnet);

/* How many hosts of a subnet are in each state, [5] by enum hd_router_host_state. Hosts whose port
 * is not trusted or not usable count as HD_ROUTER_NO_ANSWER. Cost: O(hosts). */
void hd_router_count_states(const struct hd_router *router, uint8_t subnet, uint32_t counts[5]);

#endif
