/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "paths.h"

#include <heddle/base/parallel.h>

#include <errno.h>
#include <stdatomic.h>
#include <sys/mman.h>

#define HUGE_PAGE ((size_t)2 << 20)
#define ROWS_ASKED 8u

int paths_walk(const struct paths *paths, uint32_t source, uint32_t destination, uint32_t lid,
	       uint32_t *links, uint32_t room)
{
	const struct hd_fabric *fabric = paths->fabric;
	uint32_t sw = fabric->host_switch[source], last = fabric->host_switch[destination];
	uint32_t hops = 0;

	for (; hops < fabric->switch_count; hops++) {
		uint8_t port = hd_routes_port(paths->routes, sw, lid);
		if (sw == last && port == fabric->host_switch_port[destination])
			return (int)hops;
		if (port == HD_NO_PORT)
			return PATH_NO_ROUTE;
		if (port > hd_node_ports(fabric, sw))
			return PATH_DEAD_END;
		uint32_t link = paths->isl_of_port[hd_port_index(fabric, sw, port)];
		if (link == HD_NONE)
			return PATH_DEAD_END;
		if (hops < room)
			links[hops] = link;
		sw = fabric->isl_to[link];
	}
	return PATH_LOOP;
}

uint32_t paths_lids(const struct paths *paths, uint32_t host)
{
	return paths->every_lid ? 1u << paths->fabric->lmc[paths->fabric->host_port[host]] : 1;
}

static void number_columns(struct paths *paths)
{
	const struct hd_fabric *fabric = paths->fabric;

	for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
		uint32_t end = fabric->host_base[sw + 1];
		for (uint32_t host = fabric->host_base[sw]; host < end; host++) {
			paths->row[host] = paths->rows;
			paths->column[host] = paths->columns;
			paths->columns += paths_lids(paths, host);
		}
		paths->rows += end > fabric->host_base[sw];
	}
}

static int init_numbers(struct paths *paths, struct hd_arena *arena)
{
	const struct hd_fabric *fabric = paths->fabric;

	paths->isl_of_port = hd_arena_alloc(arena, fabric->port_count, sizeof(uint32_t));
	paths->column = hd_arena_alloc(arena, fabric->host_count, sizeof(uint32_t));
	paths->row = hd_arena_alloc(arena, fabric->host_count, sizeof(uint32_t));
	if (hd_arena_check(arena))
		return -ENOMEM;
	for (uint32_t port = 0; port < fabric->port_count; port++)
		paths->isl_of_port[port] = HD_NONE;
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		for (uint32_t i = fabric->isl_base[sw]; i < fabric->isl_base[sw + 1]; i++)
			paths->isl_of_port[hd_port_index(fabric, sw, fabric->isl_port[i])] = i;
	number_columns(paths);
	return 0;
}

/* ---- walking all routes, a switch with hosts at a time ---- */

struct pass {
	struct paths *paths;
	atomic_uint longest;
	atomic_bool broken;
	uint32_t *scratch; /* [workers * stride]; NULL: only find out how long the paths are */
};

static void note_length(struct pass *pass, int hops)
{
	unsigned seen = atomic_load_explicit(&pass->longest, memory_order_relaxed);

	if (hops < 0)
		atomic_store_explicit(&pass->broken, true, memory_order_relaxed);
	while (hops > (int)seen &&
	       !atomic_compare_exchange_weak(&pass->longest, &seen, (unsigned)hops))
		continue;
}

/* A path longer than the stride is cut off. The table is then made again. */
static void write_links(const struct paths *paths, uint32_t row, uint32_t column,
			const uint32_t *links, int hops)
{
	uint16_t *entry = paths->links + ((size_t)row * paths->columns + column) * paths->stride;

	for (uint32_t i = 0; i < paths->stride; i++)
		entry[i] = (uint16_t)((int)i < hops ? links[i] : paths->fabric->isl_count);
	if (hops < 0)
		entry[0] = PATH_BROKEN;
}

static void walk_row(struct pass *pass, uint32_t source, uint32_t *links)
{
	struct paths *paths = pass->paths;
	const struct hd_fabric *fabric = paths->fabric;
	uint32_t room = links ? paths->stride : 0;

	for (uint32_t host = 0; host < fabric->host_count; host++) {
		uint32_t base = fabric->lid[fabric->host_port[host]],
			 lids = paths_lids(paths, host);
		for (uint32_t offset = 0; offset < lids; offset++) {
			int hops = base
				       ? paths_walk(paths, source, host, base + offset, links, room)
				       : PATH_NO_ROUTE;
			if (base)
				note_length(pass, hops);
			if (links)
				write_links(paths, paths->row[source], paths->column[host] + offset,
					    links, hops);
		}
	}
}

static void walk_switches(void *context, uint32_t begin, uint32_t end, unsigned worker)
{
	struct pass *pass = context;
	const struct hd_fabric *fabric = pass->paths->fabric;
	uint32_t *links =
	    pass->scratch ? pass->scratch + (size_t)worker * pass->paths->stride : NULL;

	for (uint32_t sw = begin; sw < end; sw++)
		if (fabric->host_base[sw] < fabric->host_base[sw + 1])
			walk_row(pass, fabric->host_base[sw], links);
}

static void walk_all(struct paths *paths, unsigned threads, uint32_t *scratch)
{
	struct pass pass = {.paths = paths, .scratch = scratch};

	hd_parallel_for(threads, paths->fabric->switch_count, 4, walk_switches, &pass);
	paths->longest = atomic_load(&pass.longest);
	paths->whole = !atomic_load(&pass.broken);
}

/* The longest path of a few rows. On most fabrics no other path is longer. */
static uint32_t guess_longest(struct paths *paths)
{
	const struct hd_fabric *fabric = paths->fabric;
	struct pass pass = {.paths = paths};
	uint32_t step = paths->rows / ROWS_ASKED + 1;

	for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
		uint32_t host = fabric->host_base[sw];
		if (host < fabric->host_base[sw + 1] && paths->row[host] % step == 0)
			walk_row(&pass, host, NULL);
	}
	return atomic_load(&pass.longest);
}

/* ---- the table ---- */

static size_t table_entries(const struct paths *paths)
{
	return (size_t)paths->rows * paths->columns * paths->stride;
}

static bool table_fits(const struct paths *paths, size_t table_bytes)
{
	return paths->fabric->isl_count < PATH_BROKEN &&
	       table_entries(paths) <= table_bytes / sizeof(uint16_t);
}

/* The kernel may ignore this advice, so errors do not matter. */
static void advise(void *memory, size_t bytes, int advice)
{
	uintptr_t begin = ((uintptr_t)memory + HUGE_PAGE - 1) & ~(uintptr_t)(HUGE_PAGE - 1);
	uintptr_t end = ((uintptr_t)memory + bytes) & ~(uintptr_t)(HUGE_PAGE - 1);

	if (begin < end)
		(void)madvise((void *)begin, end - begin, advice);
}

/* Flows read the table at random. With small pages, address translation takes a quarter of the
 * time. */
static int fill(struct paths *paths, unsigned threads, struct hd_arena *arena)
{
	size_t workers = hd_parallel_workers(threads), entries = table_entries(paths);
	uint32_t *scratch = hd_arena_alloc(arena, workers * paths->stride, sizeof(uint32_t));

	paths->links = hd_arena_alloc(arena, entries, sizeof(uint16_t));
	if (hd_arena_check(arena))
		return -ENOMEM;
	advise(paths->links, entries * sizeof(*paths->links), MADV_HUGEPAGE);
	walk_all(paths, threads, scratch);
	return 0;
}

static void set_stride(struct paths *paths, uint32_t longest)
{
	paths->stride = longest ? longest : 1;
}

/* A table that is too narrow for some path gives its pages back. By then all paths have been
 * walked, so the length of the longest is known. */
static int make_table(struct paths *paths, size_t table_bytes, unsigned threads,
		      struct hd_arena *arena)
{
	set_stride(paths, guess_longest(paths));
	if (!table_fits(paths, table_bytes))
		walk_all(paths, threads, NULL);
	else if (fill(paths, threads, arena))
		return -ENOMEM;
	if (paths->longest <= paths->stride)
		return 0;
	if (paths->links)
		advise(paths->links, table_entries(paths) * sizeof(uint16_t), MADV_DONTNEED);
	paths->links = NULL;
	set_stride(paths, paths->longest);
	return table_fits(paths, table_bytes) ? fill(paths, threads, arena) : 0;
}

int paths_number(struct paths *paths, const struct hd_fabric *fabric,
		 const struct hd_routes *routes, bool every_lid, struct hd_arena *arena,
		 struct hd_error *err)
{
	*paths = (struct paths){.fabric = fabric, .routes = routes, .every_lid = every_lid};
	if (routes->switch_count != fabric->switch_count || routes->lid_count != fabric->lid_count)
		return hd_error_set(err, -EINVAL,
				    "tables of %u switches and %u LIDs do not fit a fabric of %u "
				    "switches and %u LIDs",
				    routes->switch_count, routes->lid_count, fabric->switch_count,
				    fabric->lid_count);
	return init_numbers(paths, arena) ? hd_error_no_memory(err) : 0;
}

int paths_init(struct paths *paths, const struct hd_fabric *fabric, const struct hd_routes *routes,
	       bool every_lid, size_t table_bytes, unsigned threads, struct hd_arena *arena,
	       struct hd_error *err)
{
	int rc = paths_number(paths, fabric, routes, every_lid, arena, err);

	if (rc)
		return rc;
	return make_table(paths, table_bytes, threads, arena) ? hd_error_no_memory(err) : 0;
}
