/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "multipath_exact.h"
#include "multipath_choices.h"

#include <errno.h>

struct exact {
	struct multipath_exact_plan *plan;
	const struct hd_fabric *fabric;
	struct hd_routes *routes;
	struct hd_arena arena;
	struct multipath_cycle_lists lists;
	struct multipath_choices choices;
	uint32_t destination; /* for which the choices were made */
	unsigned bits;
	/* of the host at hand, at multipath_choices_at(): */
	uint32_t *entry; /* link, HD_NONE: no path */
	uint32_t *stray; /* hops of the entry's path beyond those of a shortest one */
	uint64_t *use; /* [isl_count] LIDs forwarded by the link so far */
	uint32_t *walk; /* [switch_count] last walk that passed */
	uint32_t walks;
};

unsigned multipath_exact_bits(const struct multipath_exact_plan *plan, uint32_t host)
{
	const struct hd_fabric *fabric = plan->fabric;
	uint32_t port = fabric->host_port[host];

	if (!fabric->lid[port])
		return 0;
	unsigned bits = fabric->lmc[port];
	if (plan->indicator && bits)
		bits--;
	return bits < plan->cycles->kept ? bits : plan->cycles->kept;
}

/* ---- choosing ---- */

/* The first of the host's LIDs that have path bits. */
static uint32_t first_lid(const struct exact *exact, uint32_t host)
{
	uint32_t port = exact->fabric->host_port[host];
	uint32_t without = exact->plan->indicator ? hd_port_lid_count(exact->fabric, port) / 2 : 0;

	return exact->fabric->lid[port] + without;
}

/* spf's next hop for the host's LID with these bits. */
static uint32_t shortest(const struct exact *exact, uint32_t host, uint32_t sw, uint32_t bits)
{
	uint32_t lid = first_lid(exact, host) + bits;

	return hd_fabric_find_isl(exact->fabric, sw, hd_routes_port(exact->routes, sw, lid));
}

static uint32_t least_used(const struct exact *exact, uint32_t sw, const struct hd_port_set *ports)
{
	const uint32_t *isl_base = exact->fabric->isl_base;
	uint32_t best = HD_NONE;

	for (uint32_t link = isl_base[sw]; link < isl_base[sw + 1]; link++)
		if (hd_port_set_has(ports, exact->fabric->isl_port[link]) &&
		    (best == HD_NONE || exact->use[link] < exact->use[best]))
			best = link;
	return best;
}

static void choose_entry(struct exact *exact, uint32_t host, uint32_t sw, uint32_t bits)
{
	const struct multipath_choices *choices = &exact->choices;
	size_t at = multipath_choices_at(choices, sw, bits);
	uint32_t link = shortest(exact, host, sw, bits);

	exact->entry[at] = link;
	exact->stray[at] = 0;
	if (link == HD_NONE || choices->hops[at] == HD_NONE)
		return;
	exact->stray[at] = choices->hops[at] - choices->distance[sw];
	if (!hd_port_set_has(&choices->ports[at], exact->fabric->isl_port[link]))
		exact->entry[at] = least_used(exact, sw, &choices->ports[at]);
}

static void choose_entries(struct exact *exact, uint32_t host)
{
	for (uint32_t sw = 0; sw < exact->fabric->switch_count; sw++)
		for (uint32_t bits = 0; sw != exact->destination && bits < 1u << exact->bits;
		     bits++)
			if (!(bits & ~exact->choices.looks_at[sw]))
				choose_entry(exact, host, sw, bits);
}

/* ---- proof and repair ---- */

static uint32_t next_switch(const struct exact *exact, uint32_t sw, uint32_t bits)
{
	uint32_t link = exact->entry[multipath_choices_at(&exact->choices, sw, bits)];

	return link == HD_NONE ? HD_NONE : exact->fabric->isl_to[link];
}

/* Follows the entries for these bits from every switch. A switch on a loop, or HD_NONE. */
static uint32_t find_loop(struct exact *exact, uint32_t bits)
{
	uint32_t first = exact->walks + 1;

	for (uint32_t start = 0; start < exact->fabric->switch_count; start++) {
		uint32_t sw = start, walk = ++exact->walks;
		while (sw != HD_NONE && sw != exact->destination && exact->walk[sw] < first) {
			exact->walk[sw] = walk;
			sw = next_switch(exact, sw, bits);
		}
		if (sw != HD_NONE && sw != exact->destination && exact->walk[sw] == walk)
			return sw;
	}
	return HD_NONE;
}

/* Puts the switch of the loop that is farthest from a shortest path on one. */
static void open_loop(struct exact *exact, uint32_t host, uint32_t bits, uint32_t on_loop)
{
	const struct multipath_choices *choices = &exact->choices;
	uint32_t sw = on_loop, worst = on_loop;

	do {
		uint32_t stray = exact->stray[multipath_choices_at(choices, sw, bits)];
		uint32_t most = exact->stray[multipath_choices_at(choices, worst, bits)];
		if (stray > most || (stray == most && sw < worst))
			worst = sw;
		sw = next_switch(exact, sw, bits);
	} while (sw != on_loop);
	size_t at = multipath_choices_at(choices, worst, bits);
	exact->entry[at] = shortest(exact, host, worst, bits & choices->looks_at[worst]);
	exact->stray[at] = 0;
	exact->plan->repaired++;
}

static void open_all_loops(struct exact *exact, uint32_t host)
{
	bool clean;

	do {
		clean = true;
		memset(exact->walk, 0, exact->fabric->switch_count * sizeof(*exact->walk));
		exact->walks = 0;
		for (uint32_t bits = 0; bits < 1u << exact->bits; bits++) {
			uint32_t on_loop;
			while ((on_loop = find_loop(exact, bits)) != HD_NONE) {
				open_loop(exact, host, bits, on_loop);
				clean = false;
			}
		}
	} while (!clean);
}

/* ---- all hosts ---- */

static void write_host(struct exact *exact, uint32_t host)
{
	const struct hd_fabric *fabric = exact->fabric;
	uint32_t port = fabric->host_port[host], first = first_lid(exact, host);
	uint32_t count = fabric->lid[port] + hd_port_lid_count(fabric, port) - first;

	for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
		if (sw == exact->destination)
			continue;
		uint8_t *row = hd_routes_row(exact->routes, sw);
		for (uint32_t offset = 0; offset < count; offset++) {
			uint32_t link =
			    exact->entry[multipath_choices_at(&exact->choices, sw, offset)];
			row[first + offset] = link == HD_NONE ? HD_NO_PORT : fabric->isl_port[link];
			if (link != HD_NONE)
				exact->use[link]++;
		}
	}
}

static void route_host(struct exact *exact, uint32_t host)
{
	unsigned bits = multipath_exact_bits(exact->plan, host);

	if (!bits)
		return;
	if (exact->destination != exact->fabric->host_switch[host] || exact->bits != bits) {
		exact->destination = exact->fabric->host_switch[host];
		exact->bits = bits;
		multipath_choices_build(&exact->choices, exact->destination, bits,
					exact->plan->match_all);
	}
	choose_entries(exact, host);
	open_all_loops(exact, host);
	write_host(exact, host);
}

static int allocate(struct exact *exact)
{
	const struct hd_fabric *fabric = exact->fabric;
	const struct hd_cycles *cycles = exact->plan->cycles;
	struct hd_arena *arena = &exact->arena;
	size_t entries = (size_t)fabric->switch_count << cycles->kept;

	if (multipath_cycles_list(fabric, cycles->cycles, cycles->count, arena, &exact->lists) ||
	    multipath_choices_allocate(&exact->choices, fabric, &exact->lists, cycles->kept, arena))
		return -ENOMEM;
	exact->entry = hd_arena_alloc(arena, entries, sizeof(*exact->entry));
	exact->stray = hd_arena_alloc(arena, entries, sizeof(*exact->stray));
	exact->use = hd_arena_alloc(arena, fabric->isl_count, sizeof(*exact->use));
	exact->walk = hd_arena_alloc(arena, fabric->switch_count, sizeof(*exact->walk));
	return hd_arena_check(arena);
}

int multipath_exact_route(struct multipath_exact_plan *plan, struct hd_routes *routes,
			  struct hd_error *err)
{
	struct exact exact = {
	    .plan = plan, .fabric = plan->fabric, .routes = routes, .destination = HD_NONE};
	int rc = allocate(&exact) ? hd_error_no_memory(err) : 0;

	plan->repaired = 0;
	for (uint32_t i = 0; !rc && i < plan->fabric->host_count; i++)
		route_host(&exact, plan->policy->host_order[i]);
	hd_arena_release(&exact.arena);
	return rc;
}
