/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Proposals of hosts for a job. */
#ifndef KEYD_CHOOSE_HOSTS_H
#define KEYD_CHOOSE_HOSTS_H

#include "choose_groups.h"

struct choose_free {
	const struct choose_groups *groups;
	uint32_t *hosts; /* [count] free hosts by their place */
	uint32_t count;
	uint32_t *room[CHOOSE_LEVELS]; /* [groups] hosts to take of each group */
	uint32_t *colours; /* [256] leaves that have a free host of that colour */
};

/* Takes copies. All memory is from the arena. Errors: -ENOMEM. */
int choose_free_new(const struct choose_groups *groups, const uint32_t *hosts, uint32_t count,
		    struct hd_arena *arena, struct choose_free *out);

/* Most free hosts of a leaf. */
uint32_t choose_free_largest(const struct choose_free *free);

/*
 * Writes `need` free hosts to out[need]: of the smallest subtree that has room, and there of the
 * fewest leaves. each: so many hosts of each leaf, besides the last one, and leaves with fewer free
 * hosts are left out; 0: whole leaves. flat: leaves of any pods of that subtree; else of few pods. In
 * each leaf, hosts are taken whose colours most leaves have. False: there is no such proposal.
 */
bool choose_hosts(struct choose_free *free, uint32_t need, uint32_t each, bool flat, uint32_t *out);

#endif
