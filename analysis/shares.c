/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Max-min fair shares by filling. All open flows grow alike until a link is full. The flows of that
 * link keep their share, and the others go on growing. Source: Bertsekas, Gallager, "Data
 * Networks", 2nd edition, section 6.5.2. A heap orders the links by the share that they would give
 * next. So a round costs O(flows * hops * log links). All sums are made in one fixed order, so the
 * figures are the same everywhere.
 */
#include "counting.h"
#include "tally.h"

#include <errno.h>
#include <math.h>
#include <string.h>

static double fastest_host_rate(const struct hd_fabric *fabric)
{
	double fastest = 0;

	for (uint32_t host = 0; host < fabric->host_count; host++)
		fastest = fmax(fastest, hd_port_rate(fabric, fabric->host_port[host]));
	return fastest;
}

static double relative_rate(const struct hd_fabric *fabric, uint32_t port, double fastest)
{
	double rate = hd_port_rate(fabric, port);

	return rate > 0 && fastest > 0 ? rate / fastest : 1;
}

static void set_capacities(struct shares *shares, const struct hd_fabric *fabric, bool weights)
{
	double fastest = weights ? fastest_host_rate(fabric) : 0;
	uint32_t links = fabric->isl_count, hosts = fabric->host_count;

	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		for (uint32_t i = fabric->isl_base[sw]; i < fabric->isl_base[sw + 1]; i++)
			shares->capacity[i] = relative_rate(
			    fabric, hd_port_index(fabric, sw, fabric->isl_port[i]), fastest);
	for (uint32_t host = 0; host < hosts; host++) {
		double capacity = relative_rate(fabric, fabric->host_port[host], fastest);
		shares->capacity[links + host] = capacity;
		shares->capacity[links + hosts + host] = capacity;
	}
}

int shares_init(struct shares *shares, const struct hd_congestion_request *request,
		const struct paths *paths, struct hd_arena *arena)
{
	const struct hd_fabric *fabric = paths->fabric;
	uint32_t links = fabric->isl_count + 2 * fabric->host_count;
	size_t routes = request->pattern->round_max;

	*shares = (struct shares){.model = request->shares, .link_count = links};
	shares->capacity = hd_arena_alloc(arena, links, sizeof(double));
	shares->left = hd_arena_alloc(arena, links, sizeof(double));
	shares->open = hd_arena_alloc(arena, links, sizeof(uint32_t));
	shares->flow_base = hd_arena_alloc(arena, (size_t)links + 1, sizeof(uint32_t));
	shares->flow = hd_arena_alloc(arena, routes * (paths->stride + 2), sizeof(uint32_t));
	shares->active = hd_arena_alloc(arena, links, sizeof(uint32_t));
	shares->place = hd_arena_alloc(arena, links, sizeof(uint32_t));
	shares->share = hd_arena_alloc(arena, routes, sizeof(double));
	if (hd_arena_check(arena))
		return -ENOMEM;
	set_capacities(shares, fabric, request->rate_weights);
	return 0;
}

/* Link number `hop` of a route, with its hosts' cables last. HD_NONE: the route has no such
 * link. */
static uint32_t link_of(const struct counting *counting, uint32_t route, uint32_t hop)
{
	const struct hd_fabric *fabric = counting->paths->fabric;
	uint32_t stride = counting->paths->stride;

	if (hop == stride)
		return fabric->isl_count + counting->flows[route].source;
	if (hop > stride)
		return fabric->isl_count + fabric->host_count + counting->flows[route].destination;
	uint32_t link = counting_link(counting, route, hop);
	return link == fabric->isl_count ? HD_NONE : link;
}

/* ---- the flows of each link ---- */

static void list_flows(struct shares *shares, const struct counting *counting)
{
	uint32_t hops = counting->paths->stride + 2, *next = shares->place;

	shares->flow_base[0] = 0;
	for (uint32_t link = 0; link < shares->link_count; link++) {
		next[link] = shares->flow_base[link];
		shares->flow_base[link + 1] = shares->flow_base[link] + shares->open[link];
	}
	for (uint32_t route = 0; route < counting->routes; route++)
		for (uint32_t hop = 0; hop < hops; hop++) {
			uint32_t link = link_of(counting, route, hop);
			if (link != HD_NONE)
				shares->flow[next[link]++] = route;
		}
}

/* ---- the heap: the link on top would give its open flows the smallest share ---- */

static double level(const struct shares *shares, uint32_t link)
{
	return shares->left[link] / shares->open[link];
}

static bool before(const struct shares *shares, uint32_t a, uint32_t b)
{
	double level_a = level(shares, a), level_b = level(shares, b);

	return level_a < level_b || (level_a == level_b && a < b);
}

static void shares_put(struct shares *shares, uint32_t place, uint32_t link)
{
	shares->active[place] = link;
	shares->place[link] = place;
}

static void sink(struct shares *shares, uint32_t size, uint32_t place)
{
	uint32_t link = shares->active[place];

	for (uint32_t child; (child = 2 * place + 1) < size; place = child) {
		if (child + 1 < size &&
		    before(shares, shares->active[child + 1], shares->active[child]))
			child++;
		if (!before(shares, shares->active[child], link))
			break;
		shares_put(shares, place, shares->active[child]);
	}
	shares_put(shares, place, link);
}

static uint32_t make_heap(struct shares *shares)
{
	uint32_t size = 0;

	for (uint32_t link = 0; link < shares->link_count; link++) {
		shares->left[link] = shares->capacity[link];
		if (shares->open[link])
			shares_put(shares, size++, link);
	}
	for (uint32_t place = size / 2; place-- > 0;)
		sink(shares, size, place);
	return size;
}

/* Takes a link out of the heap. All its flows have their share. */
static void shares_drop(struct shares *shares, uint32_t *size, uint32_t place)
{
	uint32_t last = shares->active[--*size];

	if (place == *size)
		return;
	shares_put(shares, place, last);
	while (place > 0 && before(shares, last, shares->active[(place - 1) / 2])) {
		shares_put(shares, place, shares->active[(place - 1) / 2]);
		place = (place - 1) / 2;
		shares_put(shares, place, last);
	}
	sink(shares, *size, place);
}

static void fix_share(struct shares *shares, const struct counting *counting, uint32_t route,
		      uint32_t full, double share, uint32_t *size)
{
	shares->share[route] = share;
	for (uint32_t hop = 0; hop < counting->paths->stride + 2; hop++) {
		uint32_t link = link_of(counting, route, hop);
		if (link != HD_NONE && link != full) {
			/* Takes an open flow off a link. The flow's share is at most what the link would have given, so the link's level can only rise. */
			shares->left[link] = fmax(shares->left[link] - share, 0);
			if (--shares->open[link])
				sink(shares, *size, shares->place[link]);
			else
				shares_drop(shares, size, shares->place[link]);
		}
	}
}

/* ---- links of different rates without fairness ---- */

static uint32_t flows_on(const struct counting *counting, uint32_t link)
{
	const struct hd_fabric *fabric = counting->paths->fabric;

	if (link < fabric->isl_count)
		return counting->load[link];
	link -= fabric->isl_count;
	if (counting->single)
		return 1;
	return link < fabric->host_count ? counting->sent[link]
					 : counting->received[link - fabric->host_count];
}

uint64_t shares_sum(struct shares *shares, const struct counting *counting)
{
	uint64_t sum = 0;

	if (shares->model == HD_SHARE_MAX_MIN) {
		for (uint32_t route = 0; route < counting->routes; route++)
			shares->share[route] = -1;
		uint32_t hops = counting->paths->stride + 2;
		memset(shares->open, 0, shares->link_count * sizeof(*shares->open));
		for (uint32_t route = 0; route < counting->routes; route++)
			for (uint32_t hop = 0; hop < hops; hop++) {
				uint32_t link = link_of(counting, route, hop);
				if (link != HD_NONE)
					shares->open[link]++;
			}
		list_flows(shares, counting);
		for (uint32_t size = make_heap(shares); size;) {
			uint32_t full = shares->active[0];
			double share = level(shares, full);
			shares_drop(shares, &size, 0);
			for (uint32_t i = shares->flow_base[full]; i < shares->flow_base[full + 1];
			     i++)
				if (shares->share[shares->flow[i]] < 0)
					fix_share(shares, counting, shares->flow[i], full, share,
						  &size);
		}
	} else {
		for (uint32_t route = 0; route < counting->routes; route++) {
			double least = INFINITY;
			for (uint32_t hop = 0; hop < counting->paths->stride + 2; hop++) {
				uint32_t link = link_of(counting, route, hop);
				if (link != HD_NONE)
					least = fmin(least, shares->capacity[link] /
								flows_on(counting, link));
			}
			shares->share[route] = least;
		}
	}
	for (uint32_t route = 0; route < counting->routes; route++)
		sum += (uint64_t)llround(shares->share[route] * (double)TALLY_ONE);
	return sum;
}
