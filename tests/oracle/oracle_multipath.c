/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "oracle_multipath.h"

#include <heddle/base/arena.h>
#include <stdlib.h>

/* ---- paths ---- */

struct listing {
	const struct hd_fabric *fabric;
	const struct hd_cycles *cycles;
	struct hd_arena *arena;
	uint32_t to;
	bool *visited; /* [switch_count] */
	uint32_t *links; /* [switch_count] taken so far */
	struct oracle_paths *out;
	uint32_t room;
	bool failed;
};

/* Cycle list of one link: i + 1 where cycle i has it, -(i + 1) where it has its reverse. */
static uint32_t list_of_link(const struct listing *listing, uint32_t link, int32_t *members)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < listing->cycles->count; i++) {
		const struct hd_cycle *cycle = &listing->cycles->cycles[i];
		for (uint32_t at = 0; at < cycle->length; at++) {
			if (cycle->links[at] == link)
				members[count++] = (int32_t)i + 1;
			if (cycle->links[at] == listing->fabric->isl_reverse[link])
				members[count++] = -((int32_t)i + 1);
		}
	}
	return count;
}

static bool contains(const int32_t *members, uint32_t count, int32_t member)
{
	for (uint32_t i = 0; i < count; i++)
		if (members[i] == member)
			return true;
	return false;
}

/* Members of a list that may enter the union with another: those which that one does not
 * contradict, and all of them where the list has but one. */
static uint32_t add_members(const int32_t *list, uint32_t count, const int32_t *other,
			    uint32_t other_count, int32_t *out, uint32_t out_count)
{
	for (uint32_t i = 0; i < count; i++) {
		bool opposed = contains(other, other_count, -list[i]);
		if ((!opposed || count == 1) && !contains(out, out_count, list[i]))
			out[out_count++] = list[i];
	}
	return out_count;
}

static bool both_single_and_opposed(const int32_t *a, uint32_t a_count, const int32_t *b,
				    uint32_t b_count)
{
	return a_count == 1 && b_count == 1 && a[0] == -b[0];
}

/* Definition 2, from the first link to the last. */
static bool unite(const struct listing *listing, struct oracle_path *path)
{
	uint32_t room = 2 * listing->cycles->count + 1;
	int32_t *list = calloc(room, sizeof(*list)), *next = calloc(room, sizeof(*next));
	int32_t *sum = calloc(room, sizeof(*sum));
	uint32_t count = 0;

	path->has_pattern = true;
	for (uint32_t hop = 0; list && next && sum && hop < path->hops; hop++) {
		uint32_t next_count = list_of_link(listing, path->links[hop], next);
		if (both_single_and_opposed(list, count, next, next_count)) {
			path->has_pattern = false;
			break;
		}
		uint32_t sum_count = add_members(list, count, next, next_count, sum, 0);
		count = add_members(next, next_count, list, count, sum, sum_count);
		memcpy(list, sum, count * sizeof(*list));
	}
	path->member_count = count;
	path->members = hd_arena_alloc(listing->arena, count, sizeof(*path->members));
	bool good = list && next && sum && path->members;
	if (good)
		memcpy(path->members, list, count * sizeof(*list));
	free(list);
	free(next);
	free(sum);
	return good;
}

static bool append(struct listing *listing, uint32_t hops)
{
	struct oracle_paths *out = listing->out;

	if (out->count == listing->room) {
		uint32_t room = listing->room ? 2 * listing->room : 16;
		struct oracle_path *paths = hd_arena_alloc(listing->arena, room, sizeof(*paths));
		if (!paths)
			return false;
		for (uint32_t i = 0; i < out->count; i++)
			paths[i] = out->paths[i];
		out->paths = paths;
		listing->room = room;
	}
	struct oracle_path *path = &out->paths[out->count++];
	path->hops = hops;
	path->links = hd_arena_alloc(listing->arena, hops, sizeof(*path->links));
	if (!path->links)
		return false;
	memcpy(path->links, listing->links, hops * sizeof(*path->links));
	return unite(listing, path);
}

static void extend(struct listing *listing, uint32_t sw, uint32_t hops)
{
	const struct hd_fabric *fabric = listing->fabric;

	if (sw == listing->to) {
		listing->failed |= !append(listing, hops);
		return;
	}
	listing->visited[sw] = true;
	for (uint32_t link = fabric->isl_base[sw]; link < fabric->isl_base[sw + 1]; link++) {
		if (listing->visited[fabric->isl_to[link]])
			continue;
		listing->links[hops] = link;
		extend(listing, fabric->isl_to[link], hops + 1);
	}
	listing->visited[sw] = false;
}

bool oracle_paths_list(const struct hd_fabric *fabric, const struct hd_cycles *cycles,
		       uint32_t from, uint32_t to, struct hd_arena *arena, struct oracle_paths *out)
{
	*out = (struct oracle_paths){.count = 0};
	struct listing listing = {
	    .fabric = fabric,
	    .cycles = cycles,
	    .arena = arena,
	    .to = to,
	    .visited = hd_arena_alloc(arena, fabric->switch_count, sizeof(bool)),
	    .links = hd_arena_alloc(arena, fabric->switch_count, sizeof(uint32_t)),
	    .out = out};
	if (!listing.visited || !listing.links)
		return false;
	extend(&listing, from, 0);
	return !listing.failed;
}

int oracle_path_bit(const struct oracle_path *path, uint32_t cycle)
{
	if (contains(path->members, path->member_count, (int32_t)cycle + 1))
		return 1;
	return contains(path->members, path->member_count, -((int32_t)cycle + 1)) ? 0 : -1;
}

/* ---- tables ---- */

struct oracle {
	const struct hd_fabric *fabric;
	const struct hd_cycles *cycles;
	const struct hd_routes *spf;
	struct hd_routes *routes;
	bool match_all;
	struct hd_arena arena;
	uint32_t exit;
	struct oracle_paths *paths; /* [switch_count] from each switch to the exit */
	uint64_t *use; /* [isl_count] LIDs sent by the link */
	uint32_t bits; /* path bits of the host at hand */
	uint32_t base; /* its LID */
	uint32_t *stray; /* [switch_count << bits] for whole LIDs, not for classes of them */
};

static bool passes(const struct oracle *oracle, uint32_t cycle, uint32_t sw)
{
	const struct hd_cycle *of = &oracle->cycles->cycles[cycle];

	for (uint32_t i = 0; i < of->length; i++)
		if (oracle->fabric->isl_to[of->links[i]] == sw)
			return true;
	return false;
}

static bool looks_at(const struct oracle *oracle, uint32_t sw, uint32_t bit)
{
	return bit < oracle->bits && (oracle->match_all || passes(oracle, bit, sw));
}

/* The LID offset whose bits are those that the switch looks at. */
static uint32_t seen_by(const struct oracle *oracle, uint32_t sw, uint32_t offset)
{
	uint32_t seen = 0;

	for (uint32_t bit = 0; bit < oracle->bits; bit++)
		if (looks_at(oracle, sw, bit))
			seen |= offset & 1u << bit;
	return seen;
}

static bool matches(const struct oracle *oracle, uint32_t sw, const struct oracle_path *path,
		    uint32_t offset)
{
	for (uint32_t bit = 0; bit < oracle->bits; bit++) {
		int wanted = oracle_path_bit(path, bit);
		if (looks_at(oracle, sw, bit) && wanted >= 0 &&
		    (uint32_t)wanted != (offset >> bit & 1))
			return false;
	}
	return path->has_pattern;
}

static uint32_t spf_link(const struct oracle *oracle, uint32_t sw, uint32_t offset)
{
	return hd_fabric_find_isl(oracle->fabric, sw,
				  hd_routes_port(oracle->spf, sw, oracle->base + offset));
}

static uint32_t *stray_of(const struct oracle *oracle, uint32_t sw, uint32_t offset)
{
	return &oracle->stray[((size_t)sw << oracle->bits) + offset];
}

/* Writes the entry for one LID offset; the LIDs that share it get the same, each by itself. */
static void choose(struct oracle *oracle, uint32_t sw, uint32_t offset)
{
	const struct oracle_paths *all = &oracle->paths[sw];
	uint32_t spf = spf_link(oracle, sw, seen_by(oracle, sw, offset));
	uint32_t least = UINT32_MAX, shortest = UINT32_MAX, best = HD_NONE;

	for (uint32_t i = 0; i < all->count; i++) {
		uint32_t hops = all->paths[i].hops;
		shortest = hops < shortest ? hops : shortest;
		if (matches(oracle, sw, &all->paths[i], offset))
			least = hops < least ? hops : least;
	}
	for (uint32_t i = 0; i < all->count; i++) {
		uint32_t link = all->paths[i].links[0];
		if (all->paths[i].hops != least || !matches(oracle, sw, &all->paths[i], offset))
			continue;
		if (best == HD_NONE || link == spf ||
		    (best != spf && (oracle->use[link] < oracle->use[best] ||
				     (oracle->use[link] == oracle->use[best] && link < best))))
			best = link;
	}
	*stray_of(oracle, sw, offset) = best == HD_NONE ? 0 : least - shortest;
	best = best == HD_NONE ? spf : best;
	hd_routes_row(oracle->routes, sw)[oracle->base + offset] =
	    best == HD_NONE ? HD_NO_PORT : oracle->fabric->isl_port[best];
}

/* ---- loops ---- */

static uint32_t step(const struct oracle *oracle, uint32_t sw, uint32_t offset)
{
	uint32_t link = hd_fabric_find_isl(
	    oracle->fabric, sw, hd_routes_port(oracle->routes, sw, oracle->base + offset));

	return link == HD_NONE ? HD_NONE : oracle->fabric->isl_to[link];
}

/* Of the switches on a loop the one that strays furthest, the lowest-numbered of several. */
static uint32_t furthest_astray(const struct oracle *oracle, uint32_t on_loop, uint32_t offset)
{
	uint32_t worst = on_loop;

	for (uint32_t sw = step(oracle, on_loop, offset); sw != on_loop;
	     sw = step(oracle, sw, offset)) {
		uint32_t stray = *stray_of(oracle, sw, offset);
		uint32_t most = *stray_of(oracle, worst, offset);
		if (stray > most || (stray == most && sw < worst))
			worst = sw;
	}
	return worst;
}

/* Sends all LIDs of the host that share the switch's entry the shortest way. */
static void straighten(struct oracle *oracle, uint32_t sw, uint32_t offset)
{
	uint32_t seen = seen_by(oracle, sw, offset), link = spf_link(oracle, sw, seen);

	for (uint32_t other = 0; other < 1u << oracle->bits; other++) {
		if (seen_by(oracle, sw, other) != seen)
			continue;
		hd_routes_row(oracle->routes, sw)[oracle->base + other] =
		    oracle->fabric->isl_port[link];
		*stray_of(oracle, sw, other) = 0;
	}
}

/* Opens the first loop that a walk gets into, from the switches in turn. False: there is none. */
static bool open_one(struct oracle *oracle, uint32_t offset)
{
	uint32_t switches = oracle->fabric->switch_count;

	for (uint32_t start = 0; start < switches; start++) {
		uint32_t sw = start;
		for (uint32_t hops = 0; sw != HD_NONE && sw != oracle->exit && hops < switches;
		     hops++)
			sw = step(oracle, sw, offset);
		if (sw == HD_NONE || sw == oracle->exit)
			continue;
		straighten(oracle, furthest_astray(oracle, sw, offset), offset);
		return true;
	}
	return false;
}

static void open_all(struct oracle *oracle)
{
	bool opened;

	do {
		opened = false;
		for (uint32_t offset = 0; offset < 1u << oracle->bits; offset++)
			while (open_one(oracle, offset))
				opened = true;
	} while (opened);
}

/* ---- hosts ---- */

/* LIDs beyond the path bits repeat those that have the same bits. */
static void repeat(struct oracle *oracle, uint32_t lids)
{
	const struct hd_fabric *fabric = oracle->fabric;

	for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
		uint8_t *row = hd_routes_row(oracle->routes, sw) + oracle->base;
		for (uint32_t offset = 0; sw != oracle->exit && offset < lids; offset++) {
			row[offset] = row[offset & ((1u << oracle->bits) - 1)];
			uint32_t link = hd_fabric_find_isl(fabric, sw, row[offset]);
			if (link != HD_NONE)
				oracle->use[link]++;
		}
	}
}

static bool list_paths(struct oracle *oracle, uint32_t exit)
{
	bool good = true;

	oracle->exit = exit;
	hd_arena_release(&oracle->arena);
	oracle->paths =
	    hd_arena_alloc(&oracle->arena, oracle->fabric->switch_count, sizeof(*oracle->paths));
	for (uint32_t sw = 0; oracle->paths && good && sw < oracle->fabric->switch_count; sw++)
		good = sw == exit || oracle_paths_list(oracle->fabric, oracle->cycles, sw, exit,
						       &oracle->arena, &oracle->paths[sw]);
	return oracle->paths && good;
}

static bool route_host(struct oracle *oracle, uint32_t host)
{
	const struct hd_fabric *fabric = oracle->fabric;
	uint32_t port = fabric->host_port[host], lids = hd_port_lid_count(fabric, port);

	oracle->base = fabric->lid[port];
	oracle->bits = 0;
	while (oracle->bits < oracle->cycles->kept && 2u << oracle->bits <= lids)
		oracle->bits++;
	if (!oracle->bits)
		return true;
	if (fabric->host_switch[host] != oracle->exit &&
	    !list_paths(oracle, fabric->host_switch[host]))
		return false;
	oracle->stray = calloc((size_t)fabric->switch_count << oracle->bits, sizeof(uint32_t));
	if (!oracle->stray)
		return false;
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		for (uint32_t offset = 0; sw != oracle->exit && offset < 1u << oracle->bits;
		     offset++)
			choose(oracle, sw, offset);
	open_all(oracle);
	repeat(oracle, lids);
	free(oracle->stray);
	return true;
}

struct hd_routes *oracle_multipath(const struct hd_fabric *fabric, const struct hd_cycles *cycles,
				   const struct hd_routes *spf, bool match_all)
{
	struct oracle oracle = {.fabric = fabric,
				.cycles = cycles,
				.spf = spf,
				.routes = hd_routes_new(fabric),
				.match_all = match_all,
				.exit = HD_NONE,
				.use = calloc(fabric->isl_count + 1, sizeof(uint64_t))};
	bool good = oracle.routes && oracle.use;

	for (uint32_t sw = 0; good && sw < fabric->switch_count; sw++)
		memcpy(hd_routes_row(oracle.routes, sw), hd_routes_row(spf, sw), spf->lid_count);
	for (uint32_t host = 0; good && host < fabric->host_count; host++)
		good = route_host(&oracle, host);
	hd_arena_release(&oracle.arena);
	free(oracle.use);
	if (good)
		return oracle.routes;
	hd_routes_free(oracle.routes);
	return NULL;
}
