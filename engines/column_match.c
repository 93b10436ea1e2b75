/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * route.c calls column_match() when a routing afresh may take the place of tables. For each switch, and each LMC of its hosts:
 * the entries are counted by which the column of host i differs from the new column of host j, the assignment with the
 * least sum is found, and rows of entries and of service levels are dealt out by it. Switches are independent of each
 * other: threads share them, and the result does not depend on their number.
 */
#include "column_match.h"

#include <errno.h>
#include <heddle/base/arena.h>
#include <heddle/base/parallel.h>
#include <heddle/fabric/siblings.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdlib.h>

/* Hosts at a switch that can exchange columns. */
struct alike {
	uint32_t count;
	uint16_t *lid; /* [count] their first LIDs */
	uint32_t lids; /* of each */
	uint32_t *
	    differing; /* [count * count] entries by which a host's column differs from another's new one */
	uint32_t *taken; /* [count] whose column each of them takes */
	uint8_t *row; /* [count] entries of one switch */
};

struct matching {
	const struct hd_fabric *fabric;
	const struct hd_routes *in_place;
	struct hd_routes *routes;
	uint32_t *sibling; /* [host_count] see heddle/fabric/siblings.h; NULL: there are none */
	atomic_bool failed; /* no memory */
};

/* ---- the assignment ---- */

/* The column at which the shortest augmenting path grows next, and the least slack by which it does. */
static uint32_t least_slack(uint32_t count, const bool *done, const int64_t *slack)
{
	uint32_t best = 0;

	for (uint32_t column = 1; column <= count; column++)
		if (!done[column] && (!best || slack[column] < slack[best]))
			best = column;
	return best;
}

/*
 * The Hungarian method with potentials, a row at a time. Rows and columns are numbered from 1; column 0 stands for the
 * row at hand. Source: Kuhn, "The Hungarian method for the assignment problem", 1955. O(count^3).
 */
static int assign(struct alike *alike)
{
	const uint32_t count = alike->count;
	struct hd_arena arena = {0};
	int64_t *of_row = hd_arena_alloc(&arena, count + 1, sizeof(*of_row));
	int64_t *of_column = hd_arena_alloc(&arena, count + 1, sizeof(*of_column));
	int64_t *slack = hd_arena_alloc(&arena, count + 1, sizeof(*slack));
	uint32_t *row_of = hd_arena_alloc(&arena, count + 1, sizeof(*row_of));
	uint32_t *before = hd_arena_alloc(&arena, count + 1, sizeof(*before));
	bool *done = hd_arena_alloc(&arena, count + 1, sizeof(*done));

	if (hd_arena_check(&arena)) {
		hd_arena_release(&arena);
		return -ENOMEM;
	}
	for (uint32_t first = 1; first <= count; first++) {
		uint32_t at = 0;

		row_of[0] = first;
		memset(done, 0, (count + 1) * sizeof(*done));
		for (uint32_t column = 0; column <= count; column++)
			slack[column] = INT64_MAX;
		do {
			const uint32_t row = row_of[at];
			int64_t step;

			done[at] = true;
			for (uint32_t column = 1; column <= count; column++) {
				const int64_t cost =
				    alike->differing[(row - 1) * count + column - 1] - of_row[row] -
				    of_column[column];
				if (done[column] || cost >= slack[column])
					continue;
				slack[column] = cost;
				before[column] = at;
			}
			const uint32_t next = least_slack(count, done, slack);
			step = slack[next];
			for (uint32_t column = 0; column <= count; column++) {
				if (done[column]) {
					of_row[row_of[column]] += step;
					of_column[column] -= step;
				} else if (column) {
					slack[column] -= step;
				}
			}
			at = next;
		} while (row_of[at]);
		for (; at; at = before[at])
			row_of[at] = row_of[before[at]];
	}
	for (uint32_t column = 1; column <= count; column++)
		alike->taken[row_of[column] - 1] = column - 1;
	hd_arena_release(&arena);
	return 0;
}

/* ---- one switch ---- */

static void count_differing(const struct matching *matching, uint32_t exit, struct alike *alike)
{
	const uint32_t count = alike->count;

	memset(alike->differing, 0, (size_t)count * count * sizeof(*alike->differing));
	for (uint32_t sw = 0; sw < matching->fabric->switch_count; sw++) {
		const uint8_t *old = hd_routes_row(matching->in_place, sw);
		const uint8_t *new = hd_routes_row(matching->routes, sw);

		if (sw == exit)
			continue;
		for (uint32_t offset = 0; offset < alike->lids; offset++) {
			for (uint32_t i = 0; i < count; i++)
				alike->row[i] = new[alike->lid[i] + offset];
			for (uint32_t i = 0; i < count; i++) {
				const uint8_t own = old[alike->lid[i] + offset];
				uint32_t *differing = alike->differing + (size_t)i * count;

				for (uint32_t j = 0; j < count; j++)
					differing[j] += own != alike->row[j];
			}
		}
	}
}

/* Exchanges what a row of entries, or of service levels, has for the hosts. */
static void deal_row(const struct alike *alike, uint8_t *row)
{
	for (uint32_t offset = 0; offset < alike->lids; offset++) {
		for (uint32_t i = 0; i < alike->count; i++)
			alike->row[i] = row[alike->lid[i] + offset];
		for (uint32_t i = 0; i < alike->count; i++)
			row[alike->lid[i] + offset] = alike->row[alike->taken[i]];
	}
}

static int match_alike(const struct matching *matching, uint32_t exit, struct alike *alike)
{
	struct hd_routes *routes = matching->routes;

	count_differing(matching, exit, alike);
	if (assign(alike))
		return -ENOMEM;
	for (uint32_t sw = 0; sw < routes->switch_count; sw++) {
		if (sw == exit)
			continue;
		deal_row(alike, hd_routes_row(routes, sw));
		if (routes->sl)
			deal_row(alike, routes->sl + (size_t)sw * routes->stride);
	}
	return 0;
}

/* The hosts of a switch with so many LIDs each. The two ports of a dual-homed node keep their columns, because those of
 * others may lead over the same switches. */
static void list_alike(const struct matching *matching, uint32_t sw, unsigned lmc,
		       struct alike *out)
{
	const struct hd_fabric *fabric = matching->fabric;

	out->count = 0;
	out->lids = 1u << lmc;
	for (uint32_t host = fabric->host_base[sw]; host < fabric->host_base[sw + 1]; host++) {
		const uint32_t port = fabric->host_port[host];

		if (fabric->lid[port] && fabric->lmc[port] == lmc &&
		    (!matching->sibling || matching->sibling[host] == HD_NONE))
			out->lid[out->count++] = (uint16_t)fabric->lid[port];
	}
}

static int match_switch(const struct matching *matching, uint32_t sw)
{
	const uint32_t hosts =
	    matching->fabric->host_base[sw + 1] - matching->fabric->host_base[sw];
	struct hd_arena arena = {0};
	struct alike alike = {
	    .lid = hd_arena_alloc(&arena, hosts, sizeof(*alike.lid)),
	    .differing = hd_arena_alloc(&arena, (size_t)hosts * hosts, sizeof(*alike.differing)),
	    .taken = hd_arena_alloc(&arena, hosts, sizeof(*alike.taken)),
	    .row = hd_arena_alloc(&arena, hosts, 1),
	};
	int rc = hd_arena_check(&arena);

	for (unsigned lmc = 0; !rc && lmc <= HD_LMC_MAX; lmc++) {
		list_alike(matching, sw, lmc, &alike);
		if (alike.count > 1)
			rc = match_alike(matching, sw, &alike);
	}
	hd_arena_release(&arena);
	return rc;
}

static void match_switches(void *context, uint32_t begin, uint32_t end, unsigned worker)
{
	struct matching *matching = context;

	(void)worker;
	for (uint32_t sw = begin; sw < end; sw++)
		if (match_switch(matching, sw))
			atomic_store(&matching->failed, true);
}

int column_match(const struct hd_fabric *fabric, const struct hd_routes *in_place, unsigned threads,
		 const struct hd_go_on *go_on, struct hd_routes *routes)
{
	struct matching matching = {.fabric = fabric, .in_place = in_place, .routes = routes};
	struct hd_arena arena = {0};
	int rc = hd_siblings_find(fabric, &arena, &matching.sibling);

	if (!rc)
		rc = hd_parallel_for_while(threads, fabric->switch_count, 4, match_switches,
					   &matching, go_on);
	hd_arena_release(&arena);
	return rc ? rc : atomic_load(&matching.failed) ? -ENOMEM : 0;
}
