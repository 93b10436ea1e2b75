/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "bisections.h"

#include <assert.h>
#include <errno.h>
#include <heddle/base/arena.h>
#include <heddle/base/parallel.h>
#include <heddle/base/random.h>

#define SHARE_ONE (UINT64_C(1) << 31) /* sums of whole numbers are the same in any order */
#define SEED UINT64_C(0x48656464)
#define CHUNKS 64u /* so often is it asked whether to go on */
#define KEPT 16u
#define NO_PATH UINT32_MAX

struct worker {
	uint32_t *order; /* [host_count] the first half sends to the second */
	uint32_t *load; /* [isl_count] */
	uint32_t *path; /* [switch_count] links of the path at hand */
	uint32_t *length; /* [host_count / 2] links of each path; NO_PATH: it does not arrive */
	/* [host_count / 2 * KEPT] links of the paths that are not longer than that */
	uint32_t *kept;
	uint64_t sum[BISECTIONS_TABLES];
};

struct bisections {
	const struct hd_fabric *fabric;
	const struct hd_routes *const *tables;
	unsigned table_count;
	uint32_t *host; /* [host_count] those with a LID */
	uint32_t host_count;
	uint32_t *link_of_port; /* [port_count] HD_NONE: it leads to no switch */
	struct worker workers[HD_THREADS_MAX];
	struct hd_arena arena;
};

/* ---- paths ---- */

struct walk {
	const struct hd_routes *routes;
	uint32_t sw, destination; /* a switch, a host */
};

/* The next link of the path; HD_NONE at its end, which is the host if *arrived. */
static uint32_t step(const struct bisections *bisections, struct walk *walk, bool *arrived)
{
	const struct hd_fabric *fabric = bisections->fabric;
	uint32_t to = walk->destination, link = HD_NONE;
	uint8_t port = hd_routes_port(walk->routes, walk->sw, fabric->lid[fabric->host_port[to]]);

	*arrived = walk->sw == fabric->host_switch[to] && port == fabric->host_switch_port[to];
	if (!*arrived && port <= hd_node_ports(fabric, walk->sw))
		link = bisections->link_of_port[hd_port_index(fabric, walk->sw, port)];
	if (link != HD_NONE)
		walk->sw = fabric->isl_to[link];
	return link;
}

/* Fills path[] with the links of a path. Returns how many there are; NO_PATH: it does not arrive. */
static uint32_t follow(const struct bisections *bisections, struct walk walk, uint32_t *path)
{
	bool arrived;

	for (uint32_t hops = 0; hops < bisections->fabric->switch_count; hops++) {
		path[hops] = step(bisections, &walk, &arrived);
		if (path[hops] == HD_NONE)
			return arrived ? hops : NO_PATH;
	}
	return NO_PATH;
}

/* ---- one bisection ---- */

static struct walk begin_walk(const struct bisections *bisections, const struct worker *worker,
			      const struct hd_routes *routes, uint32_t pair)
{
	uint32_t from = worker->order[pair];

	return (struct walk){routes, bisections->fabric->host_switch[from],
			     worker->order[bisections->host_count / 2 + pair]};
}

/* Adds all paths to the loads of their links. */
static void count_loads(const struct bisections *bisections, const struct worker *worker,
			const struct hd_routes *routes)
{
	memset(worker->load, 0, bisections->fabric->isl_count * sizeof(*worker->load));
	for (uint32_t pair = 0; pair < bisections->host_count / 2; pair++) {
		const struct walk walk = begin_walk(bisections, worker, routes, pair);
		const uint32_t length = follow(bisections, walk, worker->path);

		worker->length[pair] = length;
		if (length == NO_PATH)
			continue;
		for (uint32_t hop = 0; hop < length; hop++)
			worker->load[worker->path[hop]]++;
		if (length <= KEPT)
			memcpy(worker->kept + (size_t)pair * KEPT, worker->path,
			       length * sizeof(*worker->path));
	}
}

static uint64_t sum_shares(const struct bisections *bisections, const struct worker *worker,
			   const struct hd_routes *routes)
{
	uint64_t sum = 0;

	count_loads(bisections, worker, routes);
	for (uint32_t pair = 0; pair < bisections->host_count / 2; pair++) {
		const uint32_t length = worker->length[pair];
		const uint32_t *path = worker->kept + (size_t)pair * KEPT;
		uint32_t largest = 1;

		if (length == NO_PATH)
			continue;
		if (length > KEPT) {
			follow(bisections, begin_walk(bisections, worker, routes, pair),
			       worker->path);
			path = worker->path;
		}
		for (uint32_t hop = 0; hop < length; hop++)
			if (worker->load[path[hop]] > largest)
				largest = worker->load[path[hop]];
		sum += SHARE_ONE / largest;
	}
	return sum;
}

static void draw_order(const struct bisections *bisections, uint32_t number, uint32_t *order)
{
	uint64_t start = SEED + number, state = hd_random_next(&start);

	memcpy(order, bisections->host, bisections->host_count * sizeof(*order));
	for (uint32_t left = bisections->host_count; left > 1; left--) {
		uint32_t drawn = (uint32_t)hd_random_below(&state, left), host = order[drawn];
		order[drawn] = order[left - 1];
		order[left - 1] = host;
	}
}

static void run(void *context, uint32_t begin, uint32_t end, unsigned number)
{
	struct bisections *bisections = context;
	struct worker *worker = &bisections->workers[number];

	for (uint32_t i = begin; i < end; i++) {
		draw_order(bisections, i, worker->order);
		for (unsigned table = 0; table < bisections->table_count; table++)
			worker->sum[table] +=
			    sum_shares(bisections, worker, bisections->tables[table]);
	}
}

/* ---- all of them ---- */

static int prepare(struct bisections *bisections, unsigned workers)
{
	const struct hd_fabric *fabric = bisections->fabric;
	struct hd_arena *arena = &bisections->arena;
	const uint32_t pairs = fabric->host_count / 2;

	bisections->host = hd_arena_alloc(arena, fabric->host_count, sizeof(uint32_t));
	bisections->link_of_port = hd_arena_alloc(arena, fabric->port_count, sizeof(uint32_t));
	for (unsigned i = 0; i < workers; i++) {
		struct worker *worker = &bisections->workers[i];
		worker->order = hd_arena_alloc(arena, fabric->host_count, sizeof(uint32_t));
		worker->load = hd_arena_alloc(arena, fabric->isl_count, sizeof(uint32_t));
		worker->path = hd_arena_alloc(arena, fabric->switch_count, sizeof(uint32_t));
		worker->length = hd_arena_alloc(arena, pairs, sizeof(uint32_t));
		worker->kept = hd_arena_alloc(arena, pairs, KEPT * sizeof(uint32_t));
	}
	if (hd_arena_check(arena))
		return -ENOMEM;
	for (uint32_t host = 0; host < fabric->host_count; host++)
		if (fabric->lid[fabric->host_port[host]])
			bisections->host[bisections->host_count++] = host;
	memset(bisections->link_of_port, 0xFF, fabric->port_count * sizeof(uint32_t));
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		for (uint32_t link = fabric->isl_base[sw]; link < fabric->isl_base[sw + 1]; link++)
			bisections
			    ->link_of_port[hd_port_index(fabric, sw, fabric->isl_port[link])] =
			    link;
	return 0;
}

static uint32_t count_bisections(uint32_t pairs)
{
	uint32_t wanted = BISECTIONS_PATHS / pairs;

	return wanted < BISECTIONS_LEAST  ? BISECTIONS_LEAST
	       : wanted > BISECTIONS_MOST ? BISECTIONS_MOST
					  : wanted;
}

static double mean(const struct bisections *bisections, unsigned workers, unsigned table,
		   uint32_t rounds)
{
	uint64_t sum = 0, paths = (uint64_t)rounds * (bisections->host_count / 2);

	for (unsigned i = 0; i < workers; i++)
		sum += bisections->workers[i].sum[table];
	return (double)sum / (double)SHARE_ONE / (double)paths;
}

int bisections_worth(const struct hd_fabric *fabric, const struct hd_routes *const *tables,
		     unsigned count, unsigned threads, const struct hd_go_on *go_on, double *worth)
{
	struct bisections bisections = {.fabric = fabric, .tables = tables, .table_count = count};
	unsigned workers = hd_parallel_workers(threads);
	uint32_t rounds = 0;

	assert(count <= BISECTIONS_TABLES);
	int rc = prepare(&bisections, workers);
	if (!rc && bisections.host_count > 1) {
		rounds = count_bisections(bisections.host_count / 2);
		rc = hd_parallel_for_while(threads, rounds, rounds / CHUNKS + 1, run, &bisections,
					   go_on);
	}
	for (unsigned table = 0; !rc && table < count; table++)
		worth[table] = rounds ? mean(&bisections, workers, table, rounds) : 1;
	hd_arena_release(&bisections.arena);
	return rc;
}
