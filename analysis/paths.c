/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The links of all paths between hosts, by columns: a column is what all switches do with one LID.
 *
 * paths_init() is called once for a run of congestion. It numbers the columns, walks each column from all leaf
 * switches in several threads, and keeps the links in a table if that fits into the memory that the caller allows; the
 * first pass counts, the second writes. Without a table paths_walk() walks each path again when it is asked for. Both
 * give the same links. Paths that enter a loop or end at a wrong port are broken, and are in no table.
 *
 * hd_broken_routes() walks the same columns and counts the pairs without a path.
 */
#include "paths.h"

#include <errno.h>
#include <heddle/analysis/congestion.h>
#include <heddle/base/parallel.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>

/* ---- columns ---- */

/* In place of an entry that leads into a loop: the column is this thread's own. A cable of a switch
 * to itself is a dead end here. */
#define STEP_LOOP HD_STEP_SELF

/* Memory is the arena's. Errors: -ENOMEM. */
static int paths_columns_init(struct paths_columns *paths, const struct hd_columns *columns,
			      struct hd_arena *arena)
{
	*paths = (struct paths_columns){.columns = columns};
	paths->next = hd_arena_alloc(arena, columns->fabric->switch_count, sizeof(*paths->next));
	return hd_column_block_init(&paths->block, columns, arena);
}

/* Takes a LID in hand; its block must be loaded. False when no switch has a cable to its port.
 * Cost: switches. */
static bool paths_columns_take(struct paths_columns *paths, uint32_t lid)
{
	const struct hd_fabric *fabric = paths->columns->fabric;
	struct hd_column column;

	if (!hd_column_take(&paths->block, paths->columns, lid, &column))
		return false;
	paths->step = column.step;
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
		if (hd_step_is_link(column.step[sw]))
			paths->next[sw] = fabric->isl_to[column.step[sw]];
		else if (column.step[sw] == HD_STEP_SELF)
			column.step[sw] = HD_STEP_DEAD_END;
	}
	return true;
}

/* Walks that come upon this path later end at once. */
static void mark_loop(struct paths_columns *paths, uint32_t sw)
{
	while (hd_step_is_link(paths->step[sw])) {
		paths->step[sw] = STEP_LOOP;
		sw = paths->next[sw];
	}
}

/*
 * Follows the entries for the LID in hand from a switch. Returns the number of links, the first
 * `room` of which are written, or an enum path_fault. Cost: hops; in a loop the number of switches,
 * but only once for each loop.
 */
static int paths_columns_walk(struct paths_columns *paths, uint32_t sw, uint32_t *links,
			      uint32_t room)
{
	uint32_t switches = paths->columns->fabric->switch_count, at = sw;

	for (uint32_t hops = 0; hops < switches; hops++) {
		uint32_t step = paths->step[at];
		if (!hd_step_is_link(step)) {
			switch (step) {
			case HD_STEP_ARRIVED:
				return (int)hops;
			case HD_STEP_NO_ROUTE:
				return PATH_NO_ROUTE;
			case STEP_LOOP:
				return PATH_LOOP;
			default:
				return PATH_DEAD_END;
			}
		}
		if (hops < room)
			links[hops] = step;
		at = paths->next[at];
	}
	mark_loop(paths, sw);
	return PATH_LOOP;
}

/* ---- paths ---- */

#define HUGE_PAGE ((size_t)2 << 20)
#define BLOCKS_ASKED 8u

static struct path_walk begin_walk(const struct paths *paths, struct path_walk walk)
{
	walk.sw = paths->fabric->host_switch[walk.source];
	walk.hops = 0;
	return walk;
}

/* Takes one hop. False: the walk has ended. */
static bool take_hop(const struct paths *paths, struct path_walk *walk, uint32_t room)
{
	const struct hd_fabric *fabric = paths->fabric;
	uint8_t port = hd_routes_port(paths->routes, walk->sw, walk->lid);
	uint32_t link = HD_NONE;

	if (walk->sw == fabric->host_switch[walk->destination] &&
	    port == fabric->host_switch_port[walk->destination])
		return false;
	if (port <= hd_node_ports(fabric, walk->sw))
		link = paths->isl_of_port[hd_port_index(fabric, walk->sw, port)];
	if (link == HD_NONE) {
		walk->hops = port == HD_NO_PORT ? PATH_NO_ROUTE : PATH_DEAD_END;
		return false;
	}
	if ((uint32_t)walk->hops < room)
		walk->links[walk->hops] = link;
	walk->sw = fabric->isl_to[link];
	if ((uint32_t)++walk->hops < fabric->switch_count)
		return true;
	walk->hops = PATH_LOOP;
	return false;
}

int paths_walk(const struct paths *paths, uint32_t source, uint32_t destination, uint32_t lid,
	       uint32_t *links, uint32_t room)
{
	struct path_walk walk = begin_walk(
	    paths, (struct path_walk){
		       .source = source, .destination = destination, .lid = lid, .links = links});

	while (take_hop(paths, &walk, room))
		continue;
	return walk.hops;
}

static void prefetch_entry(const struct paths *paths, const struct path_walk *walk)
{
	__builtin_prefetch(hd_routes_row(paths->routes, walk->sw) + walk->lid);
}

void paths_walk_together(const struct paths *paths, struct path_walk *walks, uint32_t count,
			 uint32_t room)
{
	uint32_t going[PATHS_TOGETHER];

	for (uint32_t i = 0; i < count; i++) {
		walks[i] = begin_walk(paths, walks[i]);
		prefetch_entry(paths, &walks[i]);
		going[i] = i;
	}
	while (count) {
		uint32_t left = 0;
		for (uint32_t i = 0; i < count; i++) {
			struct path_walk *walk = &walks[going[i]];
			if (!take_hop(paths, walk, room))
				continue;
			prefetch_entry(paths, walk);
			going[left++] = going[i];
		}
		count = left;
	}
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
		if (end > fabric->host_base[sw])
			paths->row_switch[paths->rows++] = sw;
	}
}

static int init_numbers(struct paths *paths, struct hd_arena *arena)
{
	const struct hd_fabric *fabric = paths->fabric;

	paths->isl_of_port = hd_arena_alloc(arena, fabric->port_count, sizeof(uint32_t));
	paths->column = hd_arena_alloc(arena, fabric->host_count, sizeof(uint32_t));
	paths->row = hd_arena_alloc(arena, fabric->host_count, sizeof(uint32_t));
	paths->row_switch = hd_arena_alloc(arena, fabric->switch_count, sizeof(uint32_t));
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

/* ---- following all paths, destination by destination ---- */

struct pass_worker {
	struct paths_columns columns;
	uint32_t *links; /* [stride] of one path */
	uint32_t longest;
	bool broken;
};

struct pass {
	struct paths *paths;
	struct hd_columns columns;
	struct pass_worker *workers;
	unsigned worker_count;
	uint32_t step; /* only one of so many blocks is looked at */
	bool fill; /* the table of paths; else only look how long paths are */
};

static int pass_init(struct pass *pass, struct paths *paths, unsigned threads,
		     struct hd_arena *arena)
{
	*pass = (struct pass){.paths = paths, .worker_count = hd_parallel_workers(threads)};
	pass->workers = hd_arena_alloc(arena, pass->worker_count, sizeof(*pass->workers));
	if (hd_arena_check(arena) ||
	    hd_columns_init(&pass->columns, paths->fabric, paths->routes, arena))
		return -ENOMEM;
	for (unsigned i = 0; i < pass->worker_count; i++)
		if (paths_columns_init(&pass->workers[i].columns, &pass->columns, arena))
			return -ENOMEM;
	return 0;
}

/* A path longer than the stride is cut off. The table is then made again. */
static inline __attribute__((always_inline)) void
write_path(const struct paths *paths, bool wide, size_t entry, const uint32_t *links, int hops)
{
	uint32_t none = paths->fabric->isl_count;

	for (uint32_t i = 0; i < paths->stride; i++) {
		uint32_t link = (int)i < hops ? links[i] : none;
		if (i == 0 && hops < 0)
			link = PATHS_BROKEN;
		if (wide)
			((uint32_t *)paths->links)[entry + i] = link;
		else
			((uint16_t *)paths->links)[entry + i] = (uint16_t)link;
	}
}

static void write_path_of_width(const struct paths *paths, size_t entry, const uint32_t *links,
				int hops)
{
	if (paths->wide)
		write_path(paths, true, entry, links, hops);
	else
		write_path(paths, false, entry, links, hops);
}

/* Column of a LID, HD_NONE: nobody sends to it. */
static uint32_t column_of_lid(const struct paths *paths, uint32_t lid)
{
	const struct hd_fabric *fabric = paths->fabric;
	uint32_t port = fabric->lid_owner[lid];
	uint32_t host = port == HD_NONE ? HD_NONE : hd_fabric_find_host(fabric, port);

	if (host == HD_NONE || lid - fabric->lid[port] >= paths_lids(paths, host))
		return HD_NONE;
	return paths->column[host] + (lid - fabric->lid[port]);
}

static void follow_block(const struct pass *pass, struct pass_worker *worker, uint32_t first)
{
	uint32_t end = first + hd_column_block_lids(&pass->columns, first);

	hd_column_block_load(&worker->columns.block, &pass->columns, first);
	for (uint32_t lid = first; lid < end; lid++) {
		uint32_t column = column_of_lid(pass->paths, lid);
		if (column != HD_NONE && paths_columns_take(&worker->columns, lid)) {
			/* To one LID from all switches with hosts. */
			const struct paths *paths = pass->paths;
			size_t entry = (size_t)column * paths->rows * paths->stride;
			uint32_t room = pass->fill ? paths->stride : 0;

			for (uint32_t row = 0; row < paths->rows; row++, entry += paths->stride) {
				int hops = paths_columns_walk(
				    &worker->columns, paths->row_switch[row], worker->links, room);
				if (hops < 0)
					worker->broken = true;
				else if ((uint32_t)hops > worker->longest)
					worker->longest = (uint32_t)hops;
				if (pass->fill)
					write_path_of_width(paths, entry, worker->links, hops);
			}
		}
	}
}

static void follow_blocks(void *context, uint32_t begin, uint32_t end, unsigned worker)
{
	const struct pass *pass = context;

	for (uint32_t i = begin; i < end; i++)
		follow_block(pass, &pass->workers[worker], i * pass->step * HD_COLUMN_BLOCK);
}

/* Looks at every `step`th block; with `fill` at all of them, and fills the table. */
static void paths_follow(struct pass *pass, unsigned threads, uint32_t step, bool fill)
{
	struct paths *paths = pass->paths;

	pass->step = step;
	pass->fill = fill;
	paths->longest = 0;
	paths->whole = true;
	for (unsigned i = 0; i < pass->worker_count; i++) {
		pass->workers[i].longest = 0;
		pass->workers[i].broken = false;
	}
	uint32_t blocks = (hd_column_block_count(&pass->columns) + step - 1) / step;
	hd_parallel_for(threads, blocks, 1, follow_blocks, pass);
	for (unsigned i = 0; i < pass->worker_count; i++) {
		const struct pass_worker *worker = &pass->workers[i];
		paths->longest =
		    worker->longest > paths->longest ? worker->longest : paths->longest;
		paths->whole = paths->whole && !worker->broken;
	}
	if (fill) {
		/* Hosts without a LID: nothing arrives there, and that breaks no path that is asked for. */
		const struct hd_fabric *fabric = paths->fabric;

		for (uint32_t host = 0; host < fabric->host_count; host++) {
			size_t entry = (size_t)paths->column[host] * paths->rows * paths->stride;
			size_t end =
			    entry + (size_t)paths_lids(paths, host) * paths->rows * paths->stride;
			for (; !fabric->lid[fabric->host_port[host]] && entry < end;
			     entry += paths->stride)
				write_path_of_width(paths, entry, NULL, PATH_NO_ROUTE);
		}
	}
}

/* ---- the table ---- */

static size_t link_bytes(const struct paths *paths)
{
	return paths->wide ? sizeof(uint32_t) : sizeof(uint16_t);
}

static size_t table_entries(const struct paths *paths)
{
	return (size_t)paths->rows * paths->columns * paths->stride;
}

static bool table_fits(const struct paths *paths, size_t table_bytes)
{
	return table_entries(paths) <= table_bytes / link_bytes(paths);
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
static int paths_fill(struct pass *pass, unsigned threads, struct hd_arena *arena)
{
	struct paths *paths = pass->paths;
	size_t entries = table_entries(paths);

	for (unsigned i = 0; i < pass->worker_count; i++)
		pass->workers[i].links = hd_arena_alloc(arena, paths->stride, sizeof(uint32_t));
	paths->links = hd_arena_alloc(arena, entries, link_bytes(paths));
	if (hd_arena_check(arena))
		return -ENOMEM;
	advise(paths->links, entries * link_bytes(paths), MADV_HUGEPAGE);
	paths_follow(pass, threads, 1, true);
	return 0;
}

static void set_stride(struct paths *paths)
{
	paths->stride = paths->longest ? paths->longest : 1;
}

/* On most fabrics no path is longer than the longest of a few blocks. A table that is too narrow
 * for some path gives its pages back. By then all paths have been followed, so the length of the
 * longest is known. */
static int make_table(struct paths *paths, size_t table_bytes, unsigned threads,
		      struct hd_arena *arena)
{
	struct pass pass;

	if (pass_init(&pass, paths, threads, arena))
		return -ENOMEM;
	paths_follow(&pass, threads, hd_column_block_count(&pass.columns) / BLOCKS_ASKED + 1,
		     false);
	set_stride(paths);
	if (!table_fits(paths, table_bytes))
		paths_follow(&pass, threads, 1, false);
	else if (paths_fill(&pass, threads, arena))
		return -ENOMEM;
	if (paths->longest <= paths->stride)
		return 0;
	if (paths->links)
		advise(paths->links, table_entries(paths) * link_bytes(paths), MADV_DONTNEED);
	paths->links = NULL;
	set_stride(paths);
	return table_fits(paths, table_bytes) ? paths_fill(&pass, threads, arena) : 0;
}

int paths_number(struct paths *paths, const struct hd_fabric *fabric,
		 const struct hd_routes *routes, bool every_lid, struct hd_arena *arena,
		 struct hd_error *err)
{
	*paths = (struct paths){.fabric = fabric, .routes = routes, .every_lid = every_lid};
	paths->wide = fabric->isl_count >= PATHS_NARROW_LINKS;
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

/* ---- paths that are given ---- */

static void measure_walks(struct paths *paths, const struct hd_congestion_request *request)
{
	uint32_t hosts = paths->fabric->host_count;

	paths->whole = true;
	for (uint32_t to = 0; to < hosts; to++)
		for (uint32_t from = 0; from < hosts; from++) {
			int hops = from == to
				       ? 0
				       : request->walk(request->walk_context, from, to, NULL, 0);
			if (hops < 0)
				paths->whole = false;
			else if ((uint32_t)hops > paths->longest)
				paths->longest = (uint32_t)hops;
		}
}

int paths_init_walked(struct paths *paths, const struct hd_congestion_request *request,
		      size_t table_bytes, struct hd_arena *arena, struct hd_error *err)
{
	const struct hd_fabric *fabric = request->fabric;

	*paths = (struct paths){.fabric = fabric,
				.rows = fabric->host_count,
				.columns = fabric->host_count,
				.wide = fabric->isl_count >= PATHS_NARROW_LINKS};
	paths->column = hd_arena_alloc(arena, fabric->host_count, sizeof(uint32_t));
	paths->row = hd_arena_alloc(arena, fabric->host_count, sizeof(uint32_t));
	if (hd_arena_check(arena))
		return hd_error_no_memory(err);
	for (uint32_t host = 0; host < fabric->host_count; host++)
		paths->row[host] = paths->column[host] = host;
	measure_walks(paths, request);
	set_stride(paths);
	if (!table_fits(paths, table_bytes))
		return hd_error_set(
		    err, -EFBIG, "the paths between %u hosts need a table of more than %zu bytes",
		    fabric->host_count, table_bytes);
	uint32_t *links = hd_arena_alloc(arena, paths->stride, sizeof(*links));
	paths->links = hd_arena_alloc(arena, table_entries(paths), link_bytes(paths));
	if (hd_arena_check(arena))
		return hd_error_no_memory(err);
	uint32_t hosts = paths->fabric->host_count;
	size_t entry = 0;
	for (uint32_t to = 0; to < hosts; to++)
		for (uint32_t from = 0; from < hosts; from++, entry += paths->stride) {
			int hops = from == to ? 0
					      : request->walk(request->walk_context, from, to,
							      links, paths->stride);
			write_path_of_width(paths, entry, links, hops);
		}
	return 0;
}

struct search {
	struct paths paths;
	const struct hd_ranks *ranks;
	uint32_t *senders; /* [switch_count] hosts on the switch that have a rank */
	bool *receives; /* [host_count] has a rank */
	atomic_uint_fast64_t (
	    *routes)[HD_BROKEN_KINDS]; /* [switch_count] broken routes from the switch */
	struct hd_columns columns;
	struct paths_columns *workers;
	struct hd_broken_route *list;
	uint32_t room, listed;
};

static enum hd_broken_kind kind_of(int fault)
{
	return fault == PATH_NO_ROUTE	? HD_BROKEN_NO_ENTRY
	       : fault == PATH_DEAD_END ? HD_BROKEN_DEAD_END
					: HD_BROKEN_LOOP;
}

static uint64_t broken_from(const struct search *search, uint32_t sw)
{
	uint64_t routes = 0;

	for (unsigned kind = 0; kind < HD_BROKEN_KINDS; kind++)
		routes += search->routes[sw][kind];
	return routes;
}

/* A host sends nothing to itself. */
static uint32_t senders_to(const struct search *search, uint32_t sw, uint32_t host)
{
	return search->senders[sw] - (sw == search->paths.fabric->host_switch[host]);
}

/* ---- counting, destination by destination ---- */

static void count_block(struct search *search, struct paths_columns *columns, uint32_t first)
{
	const struct hd_fabric *fabric = search->paths.fabric;
	uint32_t end = first + hd_column_block_lids(&search->columns, first);

	hd_column_block_load(&columns->block, &search->columns, first);
	for (uint32_t lid = first; lid < end; lid++) {
		uint32_t port = fabric->lid_owner[lid];
		uint32_t host = port == HD_NONE ? HD_NONE : hd_fabric_find_host(fabric, port);
		if (host != HD_NONE && search->receives[host] && paths_columns_take(columns, lid)) {
			/* To the LID in hand, from all switches with ranks. */
			for (uint32_t row = 0; row < search->paths.rows; row++) {
				uint32_t sw = search->paths.row_switch[row],
					 senders = senders_to(search, sw, host);
				int hops = senders ? paths_columns_walk(columns, sw, NULL, 0) : 0;
				if (hops < 0)
					atomic_fetch_add_explicit(
					    &search->routes[sw][kind_of(hops)], senders,
					    memory_order_relaxed);
			}
		}
	}
}

static void count_blocks(void *context, uint32_t begin, uint32_t end, unsigned worker)
{
	struct search *search = context;

	for (uint32_t block = begin; block < end; block++)
		count_block(search, &search->workers[worker], block * HD_COLUMN_BLOCK);
}

/* ---- listing: switches with broken routes are walked, until the list is full ---- */

static void list_switches(struct search *search)
{
	uint32_t switches = search->paths.fabric->switch_count;

	for (uint32_t sw = 0; sw < switches && search->listed < search->room; sw++)
		if (broken_from(search, sw)) {
			const struct hd_fabric *fabric = search->paths.fabric;
			uint32_t source = fabric->host_base[sw];

			for (uint32_t rank = 0; rank < search->ranks->count; rank++) {
				uint32_t host = search->ranks->host[rank];
				uint32_t base = fabric->lid[fabric->host_port[host]];
				uint32_t lids = senders_to(search, sw, host)
						    ? paths_lids(&search->paths, host)
						    : 0;
				for (uint32_t lid = base; lid < base + lids; lid++) {
					int hops =
					    paths_walk(&search->paths, source, host, lid, NULL, 0);
					if (hops < 0 && search->listed < search->room)
						search->list[search->listed++] =
						    (struct hd_broken_route){sw, host, lid,
									     kind_of(hops)};
				}
			}
		}
}

/* ---- from start to end ---- */

static int init_workers(struct search *search, unsigned threads, struct hd_arena *arena)
{
	unsigned count = hd_parallel_workers(threads);

	search->workers = hd_arena_alloc(arena, count, sizeof(*search->workers));
	if (hd_arena_check(arena) ||
	    hd_columns_init(&search->columns, search->paths.fabric, search->paths.routes, arena))
		return -ENOMEM;
	for (unsigned i = 0; i < count; i++)
		if (paths_columns_init(&search->workers[i], &search->columns, arena))
			return -ENOMEM;
	return 0;
}

static int init_search(struct search *search, unsigned threads, struct hd_arena *arena,
		       struct hd_error *err)
{
	const struct hd_fabric *fabric = search->ranks->fabric;

	search->receives = hd_arena_alloc(arena, fabric->host_count, sizeof(*search->receives));
	search->senders = hd_arena_alloc(arena, fabric->switch_count, sizeof(uint32_t));
	search->routes = hd_arena_alloc(arena, fabric->switch_count, sizeof(*search->routes));
	if (hd_arena_check(arena) || init_workers(search, threads, arena))
		return hd_error_no_memory(err);
	for (uint32_t rank = 0; rank < search->ranks->count; rank++) {
		search->senders[fabric->host_switch[search->ranks->host[rank]]]++;
		search->receives[search->ranks->host[rank]] = true;
	}
	return 0;
}

int hd_broken_routes(const struct hd_routes *tables, const struct hd_ranks *ranks, unsigned threads,
		     uint64_t routes[HD_BROKEN_KINDS], struct hd_broken_route *list, uint32_t room,
		     uint32_t *listed, struct hd_error *err)
{
	uint32_t switches = ranks->fabric->switch_count;
	struct hd_arena arena = {0};
	struct search search = {.ranks = ranks, .list = list, .room = room};
	int rc = paths_number(&search.paths, ranks->fabric, tables, true, &arena, err);

	if (!rc)
		rc = init_search(&search, threads, &arena, err);
	if (!rc) {
		hd_parallel_for(threads, hd_column_block_count(&search.columns), 1, count_blocks,
				&search);
		list_switches(&search);
		*listed = search.listed;
		memset(routes, 0, HD_BROKEN_KINDS * sizeof(*routes));
		for (uint32_t sw = 0; sw < switches; sw++)
			for (unsigned kind = 0; kind < HD_BROKEN_KINDS; kind++)
				routes[kind] += search.routes[sw][kind];
	}
	hd_arena_release(&arena);
	return rc;
}
