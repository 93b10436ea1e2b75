/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Copies of the lists of other subnets that routers have handed over. */
#ifndef OPENSM_MAP_FOREIGN_LISTS_H
#define OPENSM_MAP_FOREIGN_LISTS_H

#include <heddle/ir_router/handshake.h>
#include <stdbool.h>

struct map_foreign_list {
	uint64_t prefix;
	struct hd_handshake_host *hosts; /* [host_count] ascending by place, then GUID; malloc'ed */
	uint32_t host_count;
};

/* Zero-initialise before use. */
struct map_foreign_lists {
	struct map_foreign_list items[HD_HANDSHAKE_FOREIGN_MAX]; /* ascending by prefix */
	uint32_t count;
};

/* Adds a copy of a list, or replaces the earlier one of that subnet. *changed: its hosts differ from
 * the earlier ones. Errors: -ENOSPC too many subnets, -ENOMEM; nothing changes then. */
int map_foreign_lists_put(struct map_foreign_lists *lists, const struct hd_handshake_foreign *list,
			  bool *changed);

/* Removes the list of a subnet, if there is one. */
void map_foreign_lists_remove(struct map_foreign_lists *lists, uint64_t prefix);

/* Makes an independent copy in *out, which is empty before. Errors: -ENOMEM, *out stays empty. */
int map_foreign_lists_copy(const struct map_foreign_lists *lists, struct map_foreign_lists *out);

void map_foreign_lists_release(struct map_foreign_lists *lists);

#endif
