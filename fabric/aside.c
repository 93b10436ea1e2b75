/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "adapters.h"
#include "graph_holder.h"

#include <heddle/fabric/aside.h>
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
