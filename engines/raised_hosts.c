/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "raised_hosts.h"
#include "resolved_policy.h"

#include <errno.h>
#include <heddle/fabric/tree.h>
#include <string.h>

/* Marks the hosts above the leaves beside what is set aside already; their number. Where they are
 * many, the tree is another one, and its balance would suffer: then 0. */
static uint32_t mark(const struct hd_fabric *fabric, const struct hd_tree *tree, bool *aside)
{
	uint32_t count = 0;

	memcpy(aside, fabric->aside, fabric->port_count * sizeof(*aside));
	for (uint32_t host = 0; host < fabric->host_count; host++) {
		if (!tree->level[fabric->host_switch[host]])
			continue;
		aside[fabric->host_port[host]] = true;
		count++;
	}
	return count > fabric->host_count / 4 ? 0 : count;
}

static int make_views(const struct hd_fabric *fabric, const struct hd_tree_facts *facts,
		      struct hd_arena *arena, struct hd_fabric **views, unsigned *count,
		      struct hd_error *err)
{
	bool *aside = hd_arena_alloc(arena, fabric->port_count, sizeof(*aside));
	struct hd_tree tree;

	if (!aside)
		return hd_error_no_memory(err);
	int rc = hd_tree_find(fabric, facts, 1, arena, &tree, NULL);
	while (!rc && *count < RAISED_HOSTS_TRIES) {
		if (mark(fabric, &tree, aside)) {
			rc = hd_fabric_regroup(fabric, aside, &views[*count], err);
			*count += !rc;
		}
		if (!rc)
			rc = hd_tree_try_next(fabric, facts, arena, &tree, NULL);
	}
	return rc == -ENOMEM ? hd_error_no_memory(err) : 0;
}

int raised_hosts_views(const struct hd_route_request *request, struct hd_fabric **views,
		       unsigned *count, struct hd_error *err)
{
	struct resolved_policy policy;
	struct hd_arena arena = {0};
	struct hd_route_request quiet = *request;

	*count = 0;
	quiet.log = NULL; /* the engine has said what the policy names in vain */
	int rc = resolved_policy_make(&quiet, &policy, err);
	if (rc)
		return rc;
	const struct hd_tree_facts facts = {.is_root = policy.is_root,
					    .is_compute = policy.is_compute};
	rc = make_views(request->fabric, &facts, &arena, views, count, err);
	hd_arena_release(&arena);
	resolved_policy_release(&policy);
	return rc;
}
