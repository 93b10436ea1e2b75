/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * There are two passes over the flows of a round. The first adds to the loads, the second takes the
 * largest load on each path. A dummy link fills all paths up to one length, so that neither pass
 * branches. Its load is set to 1 between the passes. That is also the congestion of a route that
 * crosses no link. A flow reads 2 or 4 bytes a hop from the table of paths. No other access misses
 * the near caches, so this one is prefetched.
 */
#include "counting.h"
#include "tally.h"

#include <string.h>

/* ---- spreading ---- */

/* Rounds in which each flow divides evenly over all LIDs of its destination. */
/*
 * If a host has fewer LIDs than others, each of its LIDs gets several parts. So all parts of all
 * flows weigh the same, and loads stay whole numbers.
 */

/* How many parts every flow has: the largest number of LIDs of any host. */
static uint32_t spreading_parts(const struct paths *paths)
{
	uint32_t parts = 1;

	for (uint32_t host = 0; host < paths->fabric->host_count; host++)
		if (paths_lids(paths, host) > parts)
			parts = paths_lids(paths, host);
	return parts;
}

/* Writes the links of one part to counting->walked. Returns their number, or a negative one if the
 * part does not arrive. */
static int part_links(const struct counting *counting, struct hd_flow flow, uint32_t part)
{
	const struct paths *paths = counting->paths;
	uint32_t offset = part & (paths_lids(paths, flow.destination) - 1), hops = 0;

	if (!paths->links) {
		uint32_t base = paths->fabric->lid[paths->fabric->host_port[flow.destination]];
		return paths_walk(paths, flow.source, flow.destination, base + offset,
				  counting->walked, paths->stride);
	}
	size_t entry = paths_entry(paths, flow.source, flow.destination, offset);
	if (paths_broken(paths, entry))
		return PATH_NO_ROUTE;
	for (; hops < paths->stride; hops++) {
		uint32_t link = paths_link(paths->links, paths->wide, entry + hops);
		if (link == paths->fabric->isl_count)
			break;
		counting->walked[hops] = link;
	}
	return (int)hops;
}

static bool arrives(const struct counting *counting, struct hd_flow flow)
{
	for (uint32_t part = 0; !counting->paths->whole && part < counting->parts; part++)
		if (part_links(counting, flow, part) < 0)
			return false;
	return true;
}

/* The cables of a flow's two hosts carry all its parts. */
static uint32_t largest_load(const struct counting *counting, struct hd_flow flow)
{
	uint32_t largest = counting->parts;

	for (uint32_t part = 0; part < counting->parts; part++) {
		int hops = part_links(counting, flow, part);
		for (int hop = 0; hop < hops; hop++)
			if (counting->load[counting->walked[hop]] > largest)
				largest = counting->load[counting->walked[hop]];
	}
	return largest;
}

/* What a part has of the round's loads, those of its hosts' cables included. */
static uint32_t part_load(const struct counting *counting, struct hd_flow flow, uint32_t part)
{
	uint32_t largest = counting->parts;
	const int hops = part_links(counting, flow, part);

	for (int hop = 0; hop < hops; hop++)
		if (counting->load[counting->walked[hop]] > largest)
			largest = counting->load[counting->walked[hop]];
	if (!counting->single && counting->sent[flow.source] > largest)
		largest = counting->sent[flow.source];
	if (!counting->single && counting->received[flow.destination] > largest)
		largest = counting->received[flow.destination];
	return largest;
}

uint64_t counting_parallel_share(const struct counting *counting, uint32_t route)
{
	uint64_t sum = 0;

	for (uint32_t part = 0; part < counting->parts; part++)
		sum +=
		    TALLY_ONE * counting->parts / part_load(counting, counting->flows[route], part);
	return sum / counting->parts;
}

/* ---- counting ---- */

#define AHEAD 16 /* flows to prefetch ahead */
#define MOST_UNROLLED 8

int counting_init(struct counting *counting, const struct paths *paths, uint32_t round_max,
		  bool single, enum hd_lid_choice lids, struct hd_arena *arena)
{
	const struct hd_fabric *fabric = paths->fabric;

	*counting = (struct counting){.paths = paths, .single = single, .lids = lids};
	size_t room = (size_t)round_max + AHEAD;
	counting->load = hd_arena_alloc(arena, (size_t)fabric->isl_count + 1, sizeof(uint32_t));
	counting->sent = hd_arena_alloc(arena, fabric->host_count, sizeof(uint32_t));
	counting->received = hd_arena_alloc(arena, fabric->host_count, sizeof(uint32_t));
	counting->flows = hd_arena_alloc(arena, room, sizeof(*counting->flows));
	counting->lid_offset = hd_arena_alloc(arena, room, sizeof(uint32_t));
	counting->congestion = hd_arena_alloc(arena, room, sizeof(uint32_t));
	counting->entry = hd_arena_alloc(arena, room, sizeof(*counting->entry));
	if (lids == HD_LIDS_ROTATE)
		counting->turn = hd_arena_alloc(arena, fabric->host_count, sizeof(uint32_t));
	bool divide = hd_lids_divide(lids);
	counting->parts = divide ? spreading_parts(paths) : 1;
	if (divide || !paths->links)
		counting->walked =
		    hd_arena_alloc(arena, (divide ? 1 : room) * paths->stride, sizeof(uint32_t));
	return hd_arena_check(arena);
}

/* ---- choosing LIDs ---- */

/* A host's number of LIDs is a power of 2, so `turn` may wrap around. */
void counting_begin(struct counting *counting, uint64_t index)
{
	if (!counting->turn)
		return;
	for (uint32_t host = 0; host < counting->paths->fabric->host_count; host++)
		counting->turn[host] = host + (uint32_t)index;
}

static uint32_t lid_offset(struct counting *counting, struct hd_flow flow, struct stream *stream)
{
	uint32_t lids = paths_lids(counting->paths, flow.destination);

	switch (counting->lids) {
	case HD_LIDS_SOURCE:
		return flow.source & (lids - 1);
	case HD_LIDS_RANDOM:
		return stream_below(stream, lids);
	case HD_LIDS_ROTATE:
		return counting->turn[flow.source]++ & (lids - 1);
	default:
		return 0;
	}
}

/* ---- finding the links of flows; broken flows drop out ---- */

/* Moves a path that arrives to the front. */
static void keep_walk(struct counting *counting, const struct path_walk *walk, struct hd_flow flow)
{
	const struct paths *paths = counting->paths;
	uint32_t *links = counting->walked + (size_t)counting->routes * paths->stride;

	if (links != walk->links)
		memcpy(links, walk->links, (size_t)walk->hops * sizeof(*links));
	for (uint32_t hop = (uint32_t)walk->hops; hop < paths->stride; hop++)
		links[hop] = paths->fabric->isl_count;
	counting->flows[counting->routes++] = flow;
}

/* ---- the two passes ---- */

static inline __attribute__((always_inline)) void find_largest(struct counting *counting, bool wide,
							       uint32_t stride)
{
	const void *links = counting->paths->links;
	const uint32_t *load = counting->load;
	uint32_t routes = counting->routes;

	for (uint32_t i = 0; i < routes; i++) {
		size_t place = counting->entry[i];
		uint32_t largest = load[paths_link(links, wide, place)];
		for (uint32_t hop = 1; hop < stride; hop++) {
			uint32_t here = load[paths_link(links, wide, place + hop)];
			largest = here > largest ? here : largest;
		}
		counting->congestion[i] = largest;
	}
}

static inline __attribute__((always_inline)) void count_passes(struct counting *counting, bool wide,
							       uint32_t stride)
{
	/* `wide` and `stride` are constants in each copy, so that the compiler unrolls the inner loops. */
	const void *links = counting->paths->links;
	const size_t *entry = counting->entry;
	uint32_t *load = counting->load, routes = counting->routes;

	for (uint32_t i = 0; i < routes; i++) {
		size_t place = entry[i], ahead = entry[i + AHEAD];
		__builtin_prefetch((const char *)links + ahead * (wide ? 4 : 2));
		for (uint32_t hop = 0; hop < stride; hop++)
			load[paths_link(links, wide, place + hop)]++;
	}
	counting->load[counting->paths->fabric->isl_count] = 1;
	find_largest(counting, wide, stride);
}

static inline __attribute__((always_inline)) void count_of_width(struct counting *counting,
								 bool wide)
{
	switch (counting->paths->stride) {
#define UNROLLED(hops)                                                                             \
	case hops:                                                                                 \
		count_passes(counting, wide, hops);                                                \
		break;
		UNROLLED(1)
		UNROLLED(2)
		UNROLLED(3)
		UNROLLED(4)
		UNROLLED(5)
		UNROLLED(6)
		UNROLLED(7)
		UNROLLED(MOST_UNROLLED)
#undef UNROLLED
	default:
		count_passes(counting, wide, counting->paths->stride);
	}
}

static void count_whole_flows(struct counting *counting, uint32_t count, struct stream *stream)
{
	if (counting->lids != HD_LIDS_BASE) {
		for (uint32_t i = 0; i < count; i++)
			counting->lid_offset[i] = lid_offset(counting, counting->flows[i], stream);
	}
	if (counting->paths->links) {
		const struct paths *paths = counting->paths;

		for (uint32_t i = 0; i < count; i++) {
			struct hd_flow flow = counting->flows[i];
			counting->entry[i] = paths_entry(paths, flow.source, flow.destination, 0);
		}
		if (counting->lids != HD_LIDS_BASE)
			for (uint32_t i = 0; i < count; i++)
				counting->entry[i] +=
				    (size_t)counting->lid_offset[i] * paths->rows * paths->stride;
		counting->routes = count;
		if (!counting->paths->whole) {
			uint32_t kept = 0;

			for (uint32_t i = 0; i < counting->routes; i++) {
				counting->entry[kept] = counting->entry[i];
				counting->flows[kept] = counting->flows[i];
				kept += !paths_broken(counting->paths, counting->entry[i]);
			}
			counting->routes = kept;
		}
		if (counting->paths->wide)
			count_of_width(counting, true);
		else
			count_of_width(counting, false);
	} else {
		struct path_walk walks[PATHS_TOGETHER];

		counting->routes = 0;
		for (uint32_t first = 0; first < count; first += PATHS_TOGETHER) {
			uint32_t left = count - first;
			uint32_t group = left < PATHS_TOGETHER ? left : PATHS_TOGETHER;
			/* Walks the flows first .. first + count - 1. Their links go to places of the same numbers. */
			const struct paths *paths = counting->paths;
			const struct hd_fabric *fabric = paths->fabric;
			for (uint32_t i = 0; i < group; i++) {
				struct hd_flow flow = counting->flows[first + i];
				uint32_t lid = fabric->lid[fabric->host_port[flow.destination]];
				if (counting->lids != HD_LIDS_BASE)
					lid += counting->lid_offset[first + i];
				walks[i] = (struct path_walk){
				    .source = flow.source,
				    .destination = flow.destination,
				    .lid = lid,
				    .links =
					counting->walked + (size_t)(first + i) * paths->stride};
			}
			paths_walk_together(paths, walks, group, paths->stride);
			for (uint32_t i = 0; i < group; i++)
				if (walks[i].hops >= 0)
					keep_walk(counting, &walks[i], counting->flows[first + i]);
		}
		uint32_t stride = counting->paths->stride, *load = counting->load;
		size_t slots = (size_t)counting->routes * stride;
		for (size_t i = 0; i < slots; i++)
			load[counting->walked[i]]++;
		load[counting->paths->fabric->isl_count] = 1;
		for (uint32_t i = 0; i < counting->routes; i++) {
			uint32_t largest = 1;
			for (uint32_t hop = 0; hop < stride; hop++) {
				uint32_t here = load[counting->walked[(size_t)i * stride + hop]];
				largest = here > largest ? here : largest;
			}
			counting->congestion[i] = largest;
		}
	}
}

void counting_finish(struct counting *counting, uint32_t count)
{
	counting->broken = count - counting->routes;
	if (!counting->single) {
		/* Adds the hosts' own cables. If each carries at most one flow, none of them is ever the worst. */
		for (uint32_t i = 0; i < counting->routes; i++) {
			counting->sent[counting->flows[i].source] += counting->parts;
			counting->received[counting->flows[i].destination] += counting->parts;
		}
		for (uint32_t i = 0; i < counting->routes; i++) {
			uint32_t sent = counting->sent[counting->flows[i].source];
			uint32_t received = counting->received[counting->flows[i].destination];
			uint32_t more = sent > received ? sent : received;
			if (more > counting->congestion[i])
				counting->congestion[i] = more;
		}
	}
}

void counting_run(struct counting *counting, uint32_t count, struct stream *stream)
{
	if (hd_lids_divide(counting->lids)) {
		/* Like counting_run() for the first `count` of counting->flows, in units of 1/counting->parts. The congestion of a flow is that of its slowest part. A flow is broken if any part does not arrive. The hosts' cables are not counted. */
		counting->routes = 0;
		for (uint32_t i = 0; i < count; i++)
			if (arrives(counting, counting->flows[i]))
				counting->flows[counting->routes++] = counting->flows[i];
		for (uint32_t i = 0; i < counting->routes; i++) {
			struct hd_flow flow = counting->flows[i];
			for (uint32_t part = 0; part < counting->parts; part++) {
				int hops = part_links(counting, flow, part);
				for (int hop = 0; hop < hops; hop++)
					counting->load[counting->walked[hop]]++;
			}
		}
		for (uint32_t i = 0; i < counting->routes; i++)
			counting->congestion[i] = largest_load(counting, counting->flows[i]);
	} else
		count_whole_flows(counting, count, stream);
	counting_finish(counting, count);
}

/* Clears all loads, or only those of the round's links, whichever touches less memory. */
void counting_clear(struct counting *counting)
{
	uint32_t links = counting->paths->fabric->isl_count, stride = counting->paths->stride;

	if (counting->adaptive || hd_lids_divide(counting->lids) ||
	    (size_t)counting->routes * stride * 8 >= links) {
		memset(counting->load, 0, links * sizeof(*counting->load));
	} else {
		for (uint32_t i = 0; i < counting->routes; i++)
			for (uint32_t hop = 0; hop < stride; hop++)
				counting->load[counting_link(counting, i, hop)] = 0;
	}
	for (uint32_t i = 0; !counting->single && i < counting->routes; i++) {
		counting->sent[counting->flows[i].source] = 0;
		counting->received[counting->flows[i].destination] = 0;
	}
}
