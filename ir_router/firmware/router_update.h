/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Takes what subnet managers say, and writes what their neighbours should know. The lists of an
 * epoch are collected beside those in use, and replace them with READY, all at once.
 */
#ifndef ROUTER_UPDATE_H
#define ROUTER_UPDATE_H

#include "router.h"

/*
 * Takes a message that the session of this subnet has accepted: PORTS, HOSTS, MAP, READY and
 * PREFIXES. All other types are left to the caller. With READY:
 *  - each host gets its port, and hosts that are as before keep what was confirmed;
 *  - the switches are asked from the next hd_router_work() on.
 * When something is refused, the lists in use stay as they are. Cost of READY:
 * O(hosts * (ports + log hosts)); of all others O(entries).
 */
enum hd_router_reason hd_router_update(struct hd_router *router, uint8_t subnet,
				       const struct hd_router_message *message);

/*
 * Writes a part of the list of hosts of the subnet `of` for the SM of another one: FOREIGN, from
 * entry *first on, as many entries as fit. *message has the stamp of the session there. *first
 * moves on. Returns the length; 0: all parts were written, or the list is not complete yet.
 */
uint32_t hd_router_write_foreign(const struct hd_router *router, uint8_t of, uint32_t *first,
				 struct hd_router_message *message, uint8_t *bytes, uint32_t size);

/*
 * Writes PREFIXES for the SM of a subnet: what the port number `port` there leads to. Those are the
 * other attached subnets, and what was learned through them (split horizon), as long as the path
 * has at most HD_ROUTER_HOPS_MAX routers. *message has the stamp of the session. Returns the
 * length, or 0 if there is no such port. Cost: O(rows * subnets).
 */
uint32_t hd_router_write_prefixes(const struct hd_router *router, uint8_t subnet, uint32_t port,
				  struct hd_router_message *message, uint8_t *bytes, uint32_t size);

#endif
