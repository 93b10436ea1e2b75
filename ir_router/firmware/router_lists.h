/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Makes complete lists ready for use. */
#ifndef ROUTER_LISTS_H
#define ROUTER_LISTS_H

#include "router.h"

/*
 * Orders the hosts by LID, and gives each host the port whose switch D-mod-K names for it. If
 * several ports lead to that switch, its hosts share them in turn, by place. What was confirmed in
 * the lists before (NULL: none) stays confirmed for hosts with the same LID, switch and port.
 * Cost: O(hosts * (log hosts + ports)).
 */
void router_lists_prepare(struct hd_router_lists *lists, const struct hd_router_lists *before);

#endif
