/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <heddle/fabric/islands.h>
#include <heddle/fabric/pull.h>

struct cutting {
	const struct hd_fabric *fabric;
	struct hd_arena arena;
	struct hd_islands islands;
	uint32_t *hosts_before, *hosts_after; /* [switch_count] hosts of an island */
	uint32_t *
	    most; /* [switch_count] of an island before: the island after that has most of its hosts */
};

static int prepare(struct cutting *cutting, const struct hd_fabric_change *pulled, uint32_t count)
{
	const uint32_t switches = cutting->fabric->switch_count;
	struct hd_arena *arena = &cutting->arena;

	cutting->hosts_before = hd_arena_alloc(arena, switches, sizeof(uint32_t));
	cutting->hosts_after = hd_arena_alloc(arena, switches, sizeof(uint32_t));
	cutting->most = hd_arena_alloc(arena, switches, sizeof(uint32_t));
	for (uint32_t sw = 0; cutting->most && sw < switches; sw++)
		cutting->most[sw] = HD_NONE;
	return hd_islands_find(cutting->fabric, pulled, count, arena, &cutting->islands);
}

static bool is_alone(const struct cutting *cutting, uint32_t host)
{
	const struct hd_fabric *fabric = cutting->fabric;

	return cutting->islands.gone[fabric->host_switch[host]] ||
	       cutting->islands.cut[fabric->host_port[host]];
}

static void count_hosts(struct cutting *cutting)
{
	const struct hd_fabric *fabric = cutting->fabric;

	for (uint32_t host = 0; host < fabric->host_count; host++) {
		const uint32_t sw = fabric->host_switch[host];
		cutting->hosts_before[cutting->islands.before[sw]]++;
		if (!is_alone(cutting, host))
			cutting->hosts_after[cutting->islands.after[sw]]++;
	}
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
		uint32_t *most = &cutting->most[cutting->islands.before[sw]];
		const uint32_t island = cutting->islands.after[sw];
		if (*most == HD_NONE || cutting->hosts_after[island] > cutting->hosts_after[*most])
			*most = island;
	}
}

static uint64_t pairs_of(uint64_t hosts)
{
	return hosts ? hosts * (hosts - 1) : 0;
}

static void count_cut(const struct cutting *cutting, bool *cut, struct hd_pull_cut *out)
{
	const struct hd_fabric *fabric = cutting->fabric;

	*out = (struct hd_pull_cut){0};
	for (uint32_t host = 0; host < fabric->host_count; host++) {
		const uint32_t sw = fabric->host_switch[host];
		const bool lost =
		    is_alone(cutting, host) ||
		    cutting->islands.after[sw] != cutting->most[cutting->islands.before[sw]];
		out->hosts += lost;
		out->alone += is_alone(cutting, host);
		if (cut)
			cut[host] = lost;
	}
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
		out->pairs += pairs_of(cutting->hosts_before[sw]);
		out->pairs -= pairs_of(cutting->hosts_after[sw]);
		out->parts += cutting->hosts_after[sw] != 0;
	}
}

int hd_pull_cut(const struct hd_fabric *fabric, const struct hd_fabric_change *pulled,
		uint32_t count, bool *cut, struct hd_pull_cut *out, struct hd_error *err)
{
	struct cutting cutting = {.fabric = fabric};
	int rc = prepare(&cutting, pulled, count) ? hd_error_no_memory(err) : 0;

	if (!rc) {
		count_hosts(&cutting);
		count_cut(&cutting, cut, out);
	}
	hd_arena_release(&cutting.arena);
	return rc;
}
