/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "match_keys.h"

#include <stdlib.h>
#include <string.h>

#define ROUNDS_MOST 40u

/* ---- keys ---- */

static bool same_kind(const struct match_keys *keys, uint32_t planned, uint32_t live)
{
	return hd_is_switch(keys->plan, planned) == hd_is_switch(keys->live, live);
}

static void take_key(struct match_keys *keys, uint32_t planned, uint32_t live)
{
	if (live == HD_NONE || !same_kind(keys, planned, live) || keys->key_plan[live] != HD_NONE)
		return;
	keys->key_live[planned] = live;
	keys->key_plan[live] = planned;
	keys->switches += hd_is_switch(keys->plan, planned);
}

/* Some listings have the GUIDs of ports only. */
static uint32_t find_by_ports(const struct hd_fabric *plan, uint32_t planned,
			      const struct hd_fabric *live)
{
	uint32_t port = hd_fabric_find_port(live, plan->node_guid[planned]);

	for (uint32_t own = plan->port_base[planned];
	     port == HD_NONE && own < plan->port_base[planned + 1]; own++)
		if (plan->port_guid[own])
			port = hd_fabric_find_port(live, plan->port_guid[own]);
	return port == HD_NONE ? HD_NONE : live->port_node[port];
}

static void find_guids(struct match_keys *keys)
{
	const struct hd_fabric *plan = keys->plan, *live = keys->live;

	for (uint32_t node = 0; node < plan->node_count; node++)
		take_key(keys, node, hd_fabric_find_node(live, plan->node_guid[node]));
	for (uint32_t node = 0; node < plan->node_count; node++)
		if (keys->key_live[node] == HD_NONE)
			take_key(keys, node, find_by_ports(plan, node, live));
}

struct named {
	const char *name;
	uint32_t node;
};

static int compare_named(const void *a, const void *b)
{
	return strcmp(((const struct named *)a)->name, ((const struct named *)b)->name);
}

static void sort_names(const struct hd_fabric *fabric, struct named *list)
{
	for (uint32_t node = 0; node < fabric->node_count; node++)
		list[node] = (struct named){fabric->node_name[node], node};
	qsort(list, fabric->node_count, sizeof(*list), compare_named);
}

/* The number of nodes with one name, from `at` on. */
static uint32_t same_name(const struct named *list, uint32_t at, uint32_t count)
{
	uint32_t end = at + 1;

	while (end < count && !strcmp(list[at].name, list[end].name))
		end++;
	return end - at;
}

static int find_names(struct match_keys *keys, struct hd_error *err)
{
	uint32_t plan_count = keys->plan->node_count, live_count = keys->live->node_count;
	struct named *plan = calloc((size_t)plan_count + live_count + 1, sizeof(*plan)),
		     *live = plan + plan_count;

	if (!plan)
		return hd_error_no_memory(err);
	sort_names(keys->plan, plan);
	sort_names(keys->live, live);
	for (uint32_t a = 0, b = 0; a < plan_count && b < live_count;) {
		uint32_t of_plan = same_name(plan, a, plan_count),
			 of_live = same_name(live, b, live_count);
		int order = strcmp(plan[a].name, live[b].name);
		if (!order && of_plan == 1 && of_live == 1 && *plan[a].name)
			take_key(keys, plan[a].node, live[b].node);
		a += order <= 0 ? of_plan : 0;
		b += order >= 0 ? of_live : 0;
	}
	free(plan);
	return 0;
}

int match_keys_find(const struct hd_fabric *plan, const struct hd_fabric *live, bool by_name,
		    struct hd_arena *arena, struct match_keys *out, struct hd_error *err)
{
	struct match_keys keys = {.plan = plan, .live = live};

	keys.key_live = hd_arena_alloc(arena, plan->node_count, sizeof(uint32_t));
	keys.key_plan = hd_arena_alloc(arena, live->node_count, sizeof(uint32_t));
	keys.live_of = hd_arena_alloc(arena, plan->node_count, sizeof(uint32_t));
	keys.plan_of = hd_arena_alloc(arena, live->node_count, sizeof(uint32_t));
	if (hd_arena_check(arena))
		return hd_error_no_memory(err);
	memset(keys.key_live, 0xFF, plan->node_count * sizeof(uint32_t));
	memset(keys.key_plan, 0xFF, live->node_count * sizeof(uint32_t));
	int rc = 0;
	if (by_name)
		rc = find_names(&keys, err);
	else
		find_guids(&keys);
	*out = keys;
	return rc;
}

/* ---- places ---- */

struct votes {
	uint32_t *of; /* [live nodes] all 0 between two uses */
	uint32_t *touched; /* [planned ports] */
};

/* The live port that is at the place of a planned one, or HD_NONE. */
static uint32_t live_port(const struct match_keys *keys, uint32_t port)
{
	uint32_t node = keys->live_of[keys->plan->port_node[port]],
		 number = hd_port_number(keys->plan, port);

	if (node == HD_NONE || number > hd_node_ports(keys->live, node))
		return HD_NONE;
	return hd_port_index(keys->live, node, number);
}

/* Cables of a place that agree if a live node is there. */
static uint32_t agreement(const struct match_keys *keys, uint32_t place, uint32_t live)
{
	const struct hd_fabric *plan = keys->plan, *fabric = keys->live;
	uint32_t sum = 0, ports = hd_node_ports(plan, place);

	if (live == HD_NONE)
		return 0;
	for (uint32_t number = 1; number <= ports && number <= hd_node_ports(fabric, live);
	     number++) {
		uint32_t peer = plan->peer[hd_port_index(plan, place, number)];
		uint32_t found = fabric->peer[hd_port_index(fabric, live, number)];
		sum += peer != HD_NONE && found != HD_NONE && live_port(keys, peer) == found;
	}
	return sum;
}

/* The live node to which most ports lead that are cabled to the place in the plan. *cast is the number of votes. */
static uint32_t vote(const struct match_keys *keys, uint32_t place, struct votes *votes,
		     uint32_t *cast)
{
	const struct hd_fabric *plan = keys->plan, *live = keys->live;
	uint32_t best = HD_NONE, most = 0, count = 0;

	for (uint32_t port = plan->port_base[place]; port < plan->port_base[place + 1]; port++) {
		uint32_t peer = plan->peer[port];
		uint32_t voter = peer == HD_NONE ? HD_NONE : live_port(keys, peer);
		if (voter == HD_NONE || live->peer[voter] == HD_NONE)
			continue;
		uint32_t node = live->port_node[live->peer[voter]];
		if (!same_kind(keys, place, node))
			continue;
		votes->touched[count++] = node;
		votes->of[node]++;
		if (votes->of[node] > most || (votes->of[node] == most && node < best)) {
			most = votes->of[node];
			best = node;
		}
	}
	for (uint32_t i = 0; i < count; i++)
		votes->of[votes->touched[i]] = 0;
	*cast = count;
	return best;
}

static void put(struct match_keys *keys, uint32_t place, uint32_t live)
{
	if (place != HD_NONE)
		keys->live_of[place] = live;
	if (live != HD_NONE)
		keys->plan_of[live] = place;
}

/* Cables that agree more if `live` comes to the place, and what is there goes to its place. */
static int64_t gain_of(struct match_keys *keys, uint32_t place, uint32_t live)
{
	uint32_t away = keys->live_of[place], from = keys->plan_of[live];
	int64_t before = agreement(keys, place, away), after;

	before += from == HD_NONE ? 0 : agreement(keys, from, live);
	put(keys, place, live);
	put(keys, from, away);
	after = agreement(keys, place, live) +
		(from == HD_NONE ? 0 : (int64_t)agreement(keys, from, away));
	return after - before;
}

/* Looks for a better node for one place. Adapters that are known change no places: their cables are listed. */
static bool improve_place(struct match_keys *keys, uint32_t place, struct votes *votes)
{
	uint32_t cast, away = keys->live_of[place], live = vote(keys, place, votes, &cast);
	bool is_switch = hd_is_switch(keys->plan, place);

	if (live == HD_NONE || live == away || 2 * agreement(keys, place, away) >= cast)
		return false;
	uint32_t from = keys->plan_of[live];
	if (!is_switch && (away != HD_NONE || from != HD_NONE))
		return false;
	int64_t gain = gain_of(keys, place, live);
	if (gain > 0 && 2 * agreement(keys, place, live) > cast)
		return true;
	put(keys, place, away);
	put(keys, from, live);
	if (from == HD_NONE)
		keys->plan_of[live] = HD_NONE;
	return false;
}

int match_keys_place(struct match_keys *keys, struct hd_error *err)
{
	uint32_t nodes = keys->plan->node_count;
	struct votes votes = {calloc(keys->live->node_count + 1u, sizeof(uint32_t)),
			      calloc(HD_PORTS_MAX + 1u, sizeof(uint32_t))};
	bool better = votes.of && votes.touched;
	int rc = better ? 0 : hd_error_no_memory(err);

	memcpy(keys->live_of, keys->key_live, nodes * sizeof(uint32_t));
	memcpy(keys->plan_of, keys->key_plan, keys->live->node_count * sizeof(uint32_t));
	for (unsigned round = 0; better && round < ROUNDS_MOST; round++) {
		better = false;
		for (uint32_t place = 0; place < nodes; place++)
			better |= improve_place(keys, place, &votes);
	}
	free(votes.of);
	free(votes.touched);
	return rc;
}
