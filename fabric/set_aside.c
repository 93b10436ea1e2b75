/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "adapters.h"
#include "graph_holder.h"

#include <heddle/fabric/aside.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

int hd_fabric_regroup(const struct hd_fabric *fabric, const bool *aside, struct hd_fabric **out,
		      struct hd_error *err)
{
	struct hd_arena arena = {0};
	struct fabric_holder *holder = hd_arena_alloc(&arena, 1, sizeof(*holder));
	bool *flags = hd_arena_alloc(&arena, fabric->port_count, sizeof(*flags));
	int rc = hd_arena_check(&arena);

	if (!rc) {
		*holder = *(const struct fabric_holder *)fabric;
		if (aside)
			memcpy(flags, aside, fabric->port_count * sizeof(*flags));
		holder->fabric.aside = flags;
		rc = adapters_list(&holder->fabric, &arena);
	}
	if (rc) {
		hd_arena_release(&arena);
		return hd_error_no_memory(err);
	}
	holder->arena = arena;
	*out = &holder->fabric;
	return 0;
}

int hd_fabric_set_aside(struct hd_fabric *fabric, const bool *aside, struct hd_error *err)
{
	struct hd_arena *arena = &((struct fabric_holder *)fabric)->arena;
	const bool *before = fabric->aside;
	bool *flags = hd_arena_alloc(arena, fabric->port_count, sizeof(*flags));

	if (!flags)
		return hd_error_no_memory(err);
	memcpy(flags, aside, fabric->port_count * sizeof(*flags));
	fabric->aside = flags;
	if (!adapters_list(fabric, arena))
		return 0;
	fabric->aside = before;
	return hd_error_no_memory(err);
}

static void mark(const struct hd_fabric *fabric, uint64_t guid, const struct hd_log *log,
		 bool *aside)
{
	uint32_t begin = hd_fabric_find_port(fabric, guid);

	if (begin == HD_NONE || hd_is_switch(fabric, fabric->port_node[begin])) {
		hd_log(log, HD_LOG_INFO, "aggregation_guid_file: GUID 0x%016" PRIx64 " is %s", guid,
		       begin == HD_NONE ? "not in the fabric" : "a switch");
		return;
	}
	uint32_t node = fabric->port_node[begin], end = begin + 1;
	if (fabric->port_guid[begin] != guid) {
		begin = fabric->port_base[node];
		end = fabric->port_base[node + 1];
	}
	for (uint32_t port = begin; port < end; port++)
		aside[port] = true;
}

bool *hd_fabric_listed_aside(const struct hd_fabric *fabric, const struct hd_policy *policy,
			     const struct hd_log *log)
{
	bool *aside = malloc(fabric->port_count + 1);

	if (!aside)
		return NULL;
	memcpy(aside, fabric->aside, fabric->port_count);
	for (uint32_t i = 0; i < policy->aggregation_count; i++)
		mark(fabric, policy->aggregation_guids[i], log, aside);
	return aside;
}
