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
	struct oracle_multipath_paths *out;
	uint32_t room;
	bool failed;
};

/* Cycle list of one link: i + 1 if cycle i has the link, -(i + 1) if it has its reverse. */
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

/* Adds the members of a list that may enter the union with another one: those that the other does
 * not contradict; all of them if the list has one member. */
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
static bool unite(const struct listing *listing, struct oracle_multipath_path *path)
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
	struct oracle_multipath_paths *out = listing->out;

	if (out->count == listing->room) {
		uint32_t room = listing->room ? 2 * listing->room : 16;
		struct oracle_multipath_path *paths =
		    hd_arena_alloc(listing->arena, room, sizeof(*paths));
		if (!paths)
			return false;
		for (uint32_t i = 0; i < out->count; i++)
			paths[i] = out->paths[i];
		out->paths = paths;
		listing->room = room;
	}
	struct oracle_multipath_path *path = &out->paths[out->count++];
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

bool oracle_multipath_list(const struct hd_fabric *fabric, const struct hd_cycles *cycles,
			   uint32_t from, uint32_t to, struct hd_arena *arena,
			   struct oracle_multipath_paths *out)
{
	*out = (struct oracle_multipath_paths){.count = 0};
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

int oracle_multipath_bit(const struct oracle_multipath_path *path, uint32_t cycle)
{
	if (contains(path->members, path->member_count, (int32_t)cycle + 1))
		return 1;
	return contains(path->members, path->member_count, -((int32_t)cycle + 1)) ? 0 : -1;
}

/* ---- tables ---- */

struct routing {
	const struct hd_fabric *fabric;
	const struct hd_cycles *cycles;
	const struct hd_routes *spf;
	struct hd_routes *routes;
	bool match_all, indicator;
	struct hd_arena arena;
	uint32_t destination;
	struct oracle_multipath_paths
	    *paths; /* [switch_count] from each switch to the destination */
	uint64_t *use; /* [isl_count] LIDs sent by the link */
	uint32_t bits; /* path bits of the present host */
	uint32_t base; /* its first LID that has path bits */
	uint32_t *stray; /* [switch_count << bits] for each LID, not for classes of LIDs */
};

static bool passes(const struct routing *routing, uint32_t cycle, uint32_t sw)
{
	const struct hd_cycle *of = &routing->cycles->cycles[cycle];

	for (uint32_t i = 0; i < of->length; i++)
		if (routing->fabric->isl_to[of->links[i]] == sw)
			return true;
	return false;
}

static bool looks_at(const struct routing *routing, uint32_t sw, uint32_t bit)
{
	return bit < routing->bits && (routing->match_all || passes(routing, bit, sw));
}

/* The LID offset that has only those bits at which the switch looks. */
static uint32_t seen_by(const struct routing *routing, uint32_t sw, uint32_t offset)
{
	uint32_t seen = 0;

	for (uint32_t bit = 0; bit < routing->bits; bit++)
		if (looks_at(routing, sw, bit))
			seen |= offset & 1u << bit;
	return seen;
}

static bool matches(const struct routing *routing, uint32_t sw,
		    const struct oracle_multipath_path *path, uint32_t offset)
{
	for (uint32_t bit = 0; bit < routing->bits; bit++) {
		int wanted = oracle_multipath_bit(path, bit);
		if (looks_at(routing, sw, bit) && wanted >= 0 &&
		    (uint32_t)wanted != (offset >> bit & 1))
			return false;
	}
	return path->has_pattern;
}

static uint32_t spf_link(const struct routing *routing, uint32_t sw, uint32_t offset)
{
	return hd_fabric_find_isl(routing->fabric, sw,
				  hd_routes_port(routing->spf, sw, routing->base + offset));
}

static uint32_t *stray_of(const struct routing *routing, uint32_t sw, uint32_t offset)
{
	return &routing->stray[((size_t)sw << routing->bits) + offset];
}

/* Writes the entry for one LID offset. LIDs that share it get the same one, each by itself. */
static void choose(struct routing *routing, uint32_t sw, uint32_t offset)
{
	const struct oracle_multipath_paths *all = &routing->paths[sw];
	uint32_t spf = spf_link(routing, sw, seen_by(routing, sw, offset));
	uint32_t least = UINT32_MAX, shortest = UINT32_MAX, best = HD_NONE;

	for (uint32_t i = 0; i < all->count; i++) {
		uint32_t hops = all->paths[i].hops;
		shortest = hops < shortest ? hops : shortest;
		if (matches(routing, sw, &all->paths[i], offset))
			least = hops < least ? hops : least;
	}
	for (uint32_t i = 0; i < all->count; i++) {
		uint32_t link = all->paths[i].links[0];
		if (all->paths[i].hops != least || !matches(routing, sw, &all->paths[i], offset))
			continue;
		if (best == HD_NONE || link == spf ||
		    (best != spf && (routing->use[link] < routing->use[best] ||
				     (routing->use[link] == routing->use[best] && link < best))))
			best = link;
	}
	*stray_of(routing, sw, offset) = best == HD_NONE ? 0 : least - shortest;
	best = best == HD_NONE ? spf : best;
	hd_routes_row(routing->routes, sw)[routing->base + offset] =
	    best == HD_NONE ? HD_NO_PORT : routing->fabric->isl_port[best];
}

/* ---- loops ---- */

static uint32_t next_switch(const struct routing *routing, uint32_t sw, uint32_t offset)
{
	uint32_t link = hd_fabric_find_isl(
	    routing->fabric, sw, hd_routes_port(routing->routes, sw, routing->base + offset));

	return link == HD_NONE ? HD_NONE : routing->fabric->isl_to[link];
}

/* The switch of a loop that is farthest from a shortest path, the lowest-numbered of several. */
static uint32_t furthest_astray(const struct routing *routing, uint32_t on_loop, uint32_t offset)
{
	uint32_t worst = on_loop;

	for (uint32_t sw = next_switch(routing, on_loop, offset); sw != on_loop;
	     sw = next_switch(routing, sw, offset)) {
		uint32_t stray = *stray_of(routing, sw, offset);
		uint32_t most = *stray_of(routing, worst, offset);
		if (stray > most || (stray == most && sw < worst))
			worst = sw;
	}
	return worst;
}

/* Puts all LIDs of the host that share the switch's entry on a shortest path. */
static void straighten(struct routing *routing, uint32_t sw, uint32_t offset)
{
	uint32_t seen = seen_by(routing, sw, offset), link = spf_link(routing, sw, seen);

	for (uint32_t other = 0; other < 1u << routing->bits; other++) {
		if (seen_by(routing, sw, other) != seen)
			continue;
		hd_routes_row(routing->routes, sw)[routing->base + other] =
		    routing->fabric->isl_port[link];
		*stray_of(routing, sw, other) = 0;
	}
}

/* Opens the first loop found by walks from each switch. Returns false if there is no loop. */
static bool open_one(struct routing *routing, uint32_t offset)
{
	uint32_t switches = routing->fabric->switch_count;

	for (uint32_t start = 0; start < switches; start++) {
		uint32_t sw = start;
		for (uint32_t hops = 0;
		     sw != HD_NONE && sw != routing->destination && hops < switches; hops++)
			sw = next_switch(routing, sw, offset);
		if (sw == HD_NONE || sw == routing->destination)
			continue;
		straighten(routing, furthest_astray(routing, sw, offset), offset);
		return true;
	}
	return false;
}

static void open_all(struct routing *routing)
{
	bool opened;

	do {
		opened = false;
		for (uint32_t offset = 0; offset < 1u << routing->bits; offset++)
			while (open_one(routing, offset))
				opened = true;
	} while (opened);
}

/* ---- hosts ---- */

/* LIDs beyond the path bits repeat those that have the same bits. */
static void repeat(struct routing *routing, uint32_t lids)
{
	const struct hd_fabric *fabric = routing->fabric;

	for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
		uint8_t *row = hd_routes_row(routing->routes, sw) + routing->base;
		for (uint32_t offset = 0; sw != routing->destination && offset < lids; offset++) {
			row[offset] = row[offset & ((1u << routing->bits) - 1)];
			uint32_t link = hd_fabric_find_isl(fabric, sw, row[offset]);
			if (link != HD_NONE)
				routing->use[link]++;
		}
	}
}

static bool list_paths(struct routing *routing, uint32_t destination)
{
	bool good = true;

	routing->destination = destination;
	hd_arena_release(&routing->arena);
	routing->paths =
	    hd_arena_alloc(&routing->arena, routing->fabric->switch_count, sizeof(*routing->paths));
	for (uint32_t sw = 0; routing->paths && good && sw < routing->fabric->switch_count; sw++)
		good = sw == destination ||
		       oracle_multipath_list(routing->fabric, routing->cycles, sw, destination,
					     &routing->arena, &routing->paths[sw]);
	return routing->paths && good;
}

static bool route_host(struct routing *routing, uint32_t host)
{
	const struct hd_fabric *fabric = routing->fabric;
	uint32_t port = fabric->host_port[host], lids = hd_port_lid_count(fabric, port);

	routing->base = fabric->lid[port];
	if (routing->indicator && lids > 1) {
		lids /= 2;
		routing->base += lids; /* the LIDs with the highest bit */
	}
	routing->bits = 0;
	while (routing->bits < routing->cycles->kept && 2u << routing->bits <= lids)
		routing->bits++;
	if (!routing->bits)
		return true;
	if (fabric->host_switch[host] != routing->destination &&
	    !list_paths(routing, fabric->host_switch[host]))
		return false;
	routing->stray = calloc((size_t)fabric->switch_count << routing->bits, sizeof(uint32_t));
	if (!routing->stray)
		return false;
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		for (uint32_t offset = 0;
		     sw != routing->destination && offset < 1u << routing->bits; offset++)
			choose(routing, sw, offset);
	open_all(routing);
	repeat(routing, lids);
	free(routing->stray);
	return true;
}

struct hd_routes *oracle_multipath_route(const struct hd_fabric *fabric,
					 const struct hd_cycles *cycles,
					 const struct hd_routes *spf, bool match_all,
					 bool indicator)
{
	struct routing routing = {.fabric = fabric,
				  .cycles = cycles,
				  .spf = spf,
				  .routes = hd_routes_new(fabric),
				  .match_all = match_all,
				  .indicator = indicator,
				  .destination = HD_NONE,
				  .use = calloc(fabric->isl_count + 1, sizeof(uint64_t))};
	bool good = routing.routes && routing.use;

	for (uint32_t sw = 0; good && sw < fabric->switch_count; sw++)
		memcpy(hd_routes_row(routing.routes, sw), hd_routes_row(spf, sw), spf->lid_count);
	for (uint32_t host = 0; good && host < fabric->host_count; host++)
		good = route_host(&routing, host);
	hd_arena_release(&routing.arena);
	free(routing.use);
	if (good)
		return routing.routes;
	hd_routes_free(routing.routes);
	return NULL;
}
