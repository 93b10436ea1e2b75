/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Multicast groups of random hosts. */
#ifndef CLI_RANDOM_GROUP_H
#define CLI_RANDOM_GROUP_H

#include <heddle/fabric.h>

#define RANDOM_GROUPS_MAX 16383 /* as many as there are MLIDs */
#define RANDOM_GROUP_SIZE 8 /* hosts, if not told otherwise */
#define RANDOM_GROUP_SIZE_MAX 65535

/*
 * Draws `size` hosts of the fabric, which has so many, and advances *seed. hosts[host_count] is a
 * permutation of the hosts, which changes. members[size]: their port indices.
 */
void random_group_draw(const struct hd_fabric *fabric, uint32_t size, uint64_t *seed,
		       uint32_t *hosts, uint32_t *members);

#endif
