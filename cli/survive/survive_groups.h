/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The multicast groups whose trees heddle survive repairs. */
#ifndef CLI_SURVIVE_GROUPS_H
#define CLI_SURVIVE_GROUPS_H

#include <heddle/fabric.h>

struct survive_groups {
	/* as typed */
	int64_t random; /* groups to draw; 0: none */
	int64_t size; /* hosts of each; 0: RANDOM_GROUP_SIZE */
	const char *tables_path; /* the groups of these multicast tables; NULL: none */
	/* after they are found */
	uint32_t count;
	uint32_t *mlids; /* [count] ascending */
	uint32_t
	    *first; /* [count + 1] group i has members[first[i]] .. members[first[i + 1] - 1] */
	uint32_t *members; /* port indices */
};

bool survive_groups_asked(const struct survive_groups *groups);

/* 0, or STATUS_BAD after a message: options that do not go together. `repairs`: losses to repair. */
int survive_groups_refuse(const struct survive_groups *groups, uint32_t repairs);

/*
 * Finds the groups: random hosts, or what the entries of each MLID name. Released with
 * survive_groups_release(), also after an error. Errors: -EINVAL more hosts than the fabric has; those
 * of hd_mfts_read(); -ENOMEM.
 */
int survive_groups_find(struct survive_groups *groups, const struct hd_fabric *fabric,
			uint64_t seed, const struct hd_log *log, struct hd_error *err);

void survive_groups_release(struct survive_groups *groups);

#endif
