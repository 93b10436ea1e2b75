/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "chakra_groups.h"

#include <errno.h>
#include <heddle/base/grow.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct searched {
	const struct chakra_groups *groups;
	const char *name;
};

static bool has_name(const void *context, uint32_t index)
{
	const struct searched *searched = context;

	return !strcmp(searched->groups->groups[index].name, searched->name);
}

static uint32_t find(const struct chakra_groups *groups, const char *name)
{
	struct searched searched = {groups, name};

	return hd_lookup_find(&groups->names, hd_hash_bytes(name, strlen(name)), has_name,
			      &searched);
}

static int add_group(struct chakra_groups *groups, const char *name, uint32_t *index)
{
	struct chakra_group *grown =
	    hd_grow(groups->groups, groups->count, 1, &groups->room, sizeof(*grown));
	char *copy = grown ? strdup(name) : NULL;

	if (grown)
		groups->groups = grown;
	if (!copy ||
	    hd_lookup_add(&groups->names, hd_hash_bytes(name, strlen(name)), groups->count)) {
		free(copy);
		return -ENOMEM;
	}
	groups->groups[groups->count] = (struct chakra_group){.name = copy};
	*index = groups->count++;
	return 0;
}

int chakra_groups_note(struct chakra_groups *groups, const char *name, uint32_t rank)
{
	uint32_t index = find(groups, name);

	if (index == HD_NONE && add_group(groups, name, &index))
		return -ENOMEM;
	struct chakra_group *group = &groups->groups[index];
	if (!group->count || group->members[group->count - 1].rank != rank) {
		struct chakra_member *members =
		    hd_grow(group->members, group->count, 1, &group->room, sizeof(*members));
		if (!members)
			return -ENOMEM;
		group->members = members;
		members[group->count++] = (struct chakra_member){.rank = rank};
	}
	group->members[group->count - 1].count++;
	return 0;
}

int chakra_groups_number(struct chakra_groups *groups, struct hd_error *err)
{
	uint64_t number = 0;

	for (uint32_t i = 0; i < groups->count; i++) {
		struct chakra_group *group = &groups->groups[i];
		const struct chakra_member *first = group->members;
		group->first = (uint32_t)number;
		number += first->count;
		if (number >= UINT64_C(1) << 31)
			return hd_error_set(err, -ERANGE, "more than 2^31 collective operations");
		for (uint32_t m = 1; m < group->count; m++)
			if (group->members[m].count != first->count)
				return hd_error_set(
				    err, -EINVAL,
				    "process group '%s': rank %" PRIu32 " has %" PRIu32
				    " collective operations, but rank %" PRIu32 " has %" PRIu32,
				    group->name, first->rank, first->count, group->members[m].rank,
				    group->members[m].count);
	}
	return 0;
}

struct chakra_member *chakra_groups_find(const struct chakra_groups *groups, const char *name,
					 uint32_t rank, const struct chakra_group **group)
{
	uint32_t index = find(groups, name), low = 0;

	if (index == HD_NONE)
		return NULL;
	*group = &groups->groups[index];
	for (uint32_t high = (*group)->count; high - low > 1;) {
		uint32_t middle = low + (high - low) / 2;
		if ((*group)->members[middle].rank <= rank)
			low = middle;
		else
			high = middle;
	}
	struct chakra_member *member = &(*group)->members[low];
	return member->rank == rank ? member : NULL;
}

void chakra_groups_release(struct chakra_groups *groups)
{
	for (uint32_t i = 0; i < groups->count; i++) {
		free(groups->groups[i].name);
		free(groups->groups[i].members);
	}
	free(groups->groups);
	hd_lookup_release(&groups->names);
}
