/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which ranks take part in the collective operations of a Chakra trace. */
#ifndef CHAKRA_GROUPS_H
#define CHAKRA_GROUPS_H

#include <heddle/base/error.h>
#include <heddle/base/index.h>
#include <heddle/base/lookup.h>
#include <stdbool.h>

struct chakra_member {
	uint32_t rank;
	uint32_t count; /* operations of the group in its trace */
	uint32_t done; /* of them, up to now */
};

/* A process group: the ranks whose traces have operations with its name. The k-th operation of one
 * is the k-th of all. */
struct chakra_group {
	char *name;
	uint32_t first; /* number of its first operation, among those of all groups */
	uint32_t count, room;
	struct chakra_member *members; /* [count] in order of ranks */
};

/* Zero-initialise before use. */
struct chakra_groups {
	struct chakra_group *groups;
	uint32_t count, room;
	struct hd_lookup names;
};

/* Counts an operation of a rank; ranks come in order. Errors: -ENOMEM. */
int chakra_groups_note(struct chakra_groups *groups, const char *name, uint32_t rank);

/* Numbers the operations. Errors: -EINVAL ranks of a group have different numbers of them, -ERANGE. */
int chakra_groups_number(struct chakra_groups *groups, struct hd_error *err);

/* The rank as a member of the group of that name. NULL: it is none. */
struct chakra_member *chakra_groups_find(const struct chakra_groups *groups, const char *name,
					 uint32_t rank, const struct chakra_group **group);

void chakra_groups_release(struct chakra_groups *groups);

#endif
