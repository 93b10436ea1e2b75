/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Listing what is cabled to the switches: hosts, and adapters that are set aside. */
#ifndef FABRIC_ADAPTERS_H
#define FABRIC_ADAPTERS_H

#include <heddle/base/arena.h>
#include <heddle/fabric/graph.h>

/*
 * Fills host_* and aside_* of a fabric that has its nodes and ports; fabric->aside says which ports
 * are set aside. Memory from the arena. Errors: -ENOMEM. Cost: O(ports of the switches).
 */
int adapters_list(struct hd_fabric *fabric, struct hd_arena *arena);

#endif
