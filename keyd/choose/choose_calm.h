/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The free hosts whose switches carry few flows of other jobs. */
#ifndef KEYD_CHOOSE_CALM_H
#define KEYD_CHOOSE_CALM_H

#include <heddle/base/arena.h>
#include <heddle/keyd/key_choose.h>

/*
 * Writes the free hosts to hosts[free_count] whose switches have at most so many flows of others on each
 * link between switches, with the smallest such number that leaves enough hosts for the job. *count 0: these
 * are all hosts, or no flows of others are known. Memory is from the arena. Errors: -ENOMEM. Cost:
 * O(links + free hosts * log).
 */
int choose_calm_find(const struct hd_key_choose_request *request, struct hd_arena *arena,
		     uint32_t *hosts, uint32_t *count);

#endif
