/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Irregular fabrics: a random spanning tree, and further links between random switches, each of
 * which closes a cycle. If the last free ports are all on one switch, a link between two other
 * switches is removed and both of its ends are cabled to that switch instead.
 */
#include "generate_internal.h"

#include <assert.h>
#include <errno.h>
#include <heddle/base/random.h>
#include <inttypes.h>
#include <stdlib.h>

/* Draws before a second cable between the same two switches is accepted. */
#define DISTINCT_TRIES 8

static const struct hd_option irregular_options[] = {
    {.name = "switches",
     .summary = "number of switches",
     .type = HD_OPTION_INT,
     .minimum = 1,
     .maximum = HD_LID_LAST},
    {.name = "radix",
     .summary = "ports of a switch",
     .type = HD_OPTION_INT,
     .minimum = 1,
     .maximum = HD_PORTS_MAX},
    {.name = "cycles",
     .summary = "links beyond a spanning tree; -1: so many that half of all ports have links "
		"between switches",
     .type = HD_OPTION_INT,
     .fallback = "-1",
     .minimum = -1,
     .maximum = (int64_t)HD_LID_LAST * HD_PORTS_MAX},
    {.name = "hosts",
     .summary = "hosts on every switch; -1: half of the radix",
     .type = HD_OPTION_INT,
     .fallback = "-1",
     .minimum = -1,
     .maximum = HD_PORTS_MAX},
    {.name = "seed",
     .summary = "seed of the random choices",
     .type = HD_OPTION_INT,
     .fallback = "1",
     .minimum = 0,
     .maximum = INT64_MAX},
};

struct link {
	uint32_t a, b;
};

struct wiring {
	uint32_t switches, radix, hosts;
	uint32_t cycles;
	uint64_t random;
	uint32_t link_ports; /* of a switch */
	uint32_t *peers; /* [switches * link_ports]: the switches cabled to them so far */
	uint32_t *used; /* link ports taken, of every switch */
	uint32_t *open; /* switches with a free port, in no order */
	uint32_t open_count;
	struct link *links;
	uint32_t link_count;
};

static uint32_t draw_open(struct wiring *wiring)
{
	return (uint32_t)hd_random_below(&wiring->random, wiring->open_count);
}

static uint32_t *peers_of(const struct wiring *wiring, uint32_t sw)
{
	return wiring->peers + (size_t)sw * wiring->link_ports;
}

static bool linked(const struct wiring *wiring, uint32_t a, uint32_t b)
{
	const uint32_t *peers = peers_of(wiring, a);

	for (uint32_t i = 0; i < wiring->used[a]; i++)
		if (peers[i] == b)
			return true;
	return false;
}

static void replace_peer(struct wiring *wiring, uint32_t sw, uint32_t before, uint32_t after)
{
	uint32_t *peer = peers_of(wiring, sw);

	while (*peer != before)
		peer++;
	*peer = after;
}

/* Takes a port of the switch at open[place]. */
static void take_port(struct wiring *wiring, uint32_t place, uint32_t peer)
{
	uint32_t sw = wiring->open[place];

	peers_of(wiring, sw)[wiring->used[sw]++] = peer;
	if (wiring->used[sw] == wiring->link_ports)
		wiring->open[place] = wiring->open[--wiring->open_count];
}

static void add_link(struct wiring *wiring, uint32_t place_a, uint32_t place_b)
{
	uint32_t high = place_a > place_b ? place_a : place_b;
	uint32_t low = place_a > place_b ? place_b : place_a;
	uint32_t a = wiring->open[high], b = wiring->open[low];

	wiring->links[wiring->link_count++] = (struct link){a, b};
	take_port(wiring, high, b); /* the higher place first: the other keeps its place */
	take_port(wiring, low, a);
}

static void grow_tree(struct wiring *wiring)
{
	wiring->open[wiring->open_count++] = 0;
	for (uint32_t sw = 1; sw < wiring->switches; sw++) {
		uint32_t parent = draw_open(wiring);
		wiring->open[wiring->open_count] = sw;
		add_link(wiring, parent, wiring->open_count++);
	}
}

/*
 * Puts the only switch with free ports into the middle of a link between two others. Such a link
 * exists: the others have no free port, and not all their ports can lead to this switch.
 */
static void open_a_link(struct wiring *wiring)
{
	uint32_t sw = wiring->open[0];
	uint32_t chosen = (uint32_t)hd_random_below(&wiring->random, wiring->link_count);

	while (wiring->links[chosen].a == sw || wiring->links[chosen].b == sw)
		chosen = (chosen + 1) % wiring->link_count;
	struct link *link = &wiring->links[chosen];
	uint32_t a = link->a, b = link->b;
	replace_peer(wiring, a, b, sw);
	replace_peer(wiring, b, a, sw);
	link->b = sw;
	wiring->links[wiring->link_count++] = (struct link){sw, b};
	take_port(wiring, 0, a);
	take_port(wiring, 0, b);
}

static void close_cycle(struct wiring *wiring)
{
	assert(wiring->open_count);
	if (wiring->open_count == 1) {
		open_a_link(wiring);
		return;
	}
	uint32_t a = 0, b = 0;
	for (unsigned tries = 0; tries < DISTINCT_TRIES; tries++) {
		a = draw_open(wiring);
		b = (uint32_t)hd_random_below(&wiring->random, wiring->open_count - 1);
		b += b >= a;
		if (!linked(wiring, wiring->open[a], wiring->open[b]))
			break;
	}
	add_link(wiring, a, b);
}

static void cable(struct wiring *wiring, struct generation *generation)
{
	for (uint32_t sw = 0; sw < wiring->switches; sw++)
		generate_switch(generation, wiring->radix, "S_%u", sw);
	for (uint32_t sw = 0; sw < wiring->switches; sw++) {
		for (uint32_t host = 0; host < wiring->hosts; host++)
			generate_link(generation, sw, host + 1,
				      generate_host(generation, "H_%u_%u", sw, host), 1);
		wiring->used[sw] = wiring->hosts; /* from now on: cabled ports */
	}
	for (uint32_t i = 0; i < wiring->link_count; i++) {
		uint32_t a = wiring->links[i].a, b = wiring->links[i].b;
		generate_link(generation, a, ++wiring->used[a], b, ++wiring->used[b]);
	}
}

/* Links beyond a spanning tree that the free ports allow. */
static int64_t most_cycles(const struct wiring *wiring)
{
	int64_t ends = (int64_t)wiring->switches * wiring->link_ports;

	return wiring->switches > 1 ? ends / 2 - (wiring->switches - 1) : 0;
}

static int check_wiring(const struct wiring *wiring, int64_t cycles, struct hd_error *err)
{
	uint32_t needed = wiring->switches > 2 ? 2 : wiring->switches - 1;

	if (wiring->hosts + needed > wiring->radix)
		return hd_error_set(
		    err, -EINVAL,
		    "%u hosts and at least %u links on every switch need more ports "
		    "than the radix %u",
		    wiring->hosts, needed, wiring->radix);
	int64_t most = most_cycles(wiring);
	if (cycles > most)
		return hd_error_set(err, -EINVAL,
				    "option 'cycles': %" PRId64
				    " links beyond a spanning tree do not fit; "
				    "the free ports allow %" PRId64,
				    cycles, most);
	return 0;
}

static uint32_t default_cycles(const struct wiring *wiring)
{
	uint32_t half = wiring->radix / 2;
	uint32_t ends = wiring->link_ports < half ? wiring->link_ports : half;
	int64_t cycles = (int64_t)wiring->switches * ends / 2 - (wiring->switches - 1);

	return cycles > 0 && wiring->switches > 1 ? (uint32_t)cycles : 0;
}

static int wire(struct wiring *wiring, struct hd_error *err)
{
	size_t count = wiring->switches;

	wiring->links = calloc(count + wiring->cycles, sizeof(*wiring->links));
	wiring->peers = calloc(count * wiring->link_ports + 1, sizeof(*wiring->peers));
	wiring->used = calloc(count, sizeof(*wiring->used));
	wiring->open = calloc(count, sizeof(*wiring->open));
	if (!wiring->links || !wiring->peers || !wiring->used || !wiring->open)
		return hd_error_no_memory(err);
	grow_tree(wiring);
	for (uint32_t cycle = 0; cycle < wiring->cycles; cycle++)
		close_cycle(wiring);
	return 0;
}

static int generate_wiring(struct wiring *wiring, struct hd_fabric **out, struct hd_error *err)
{
	struct generation generation;
	struct generate_size size = {.switches = wiring->switches,
				     .hosts = (uint64_t)wiring->switches * wiring->hosts,
				     .radix = wiring->radix};
	int rc = generate_begin(&generation, &size, err);

	if (rc)
		return rc;
	generation.rc = wire(wiring, err);
	if (!generation.rc)
		cable(wiring, &generation);
	free(wiring->open);
	free(wiring->used);
	free(wiring->peers);
	free(wiring->links);
	return generate_end(&generation, out);
}

static int irregular(const struct hd_options *options, struct hd_fabric **out, struct hd_error *err)
{
	int rc = hd_options_complete(options, err);

	if (rc)
		return rc;
	int64_t hosts = hd_options_get(options, "hosts")->number;
	int64_t cycles = hd_options_get(options, "cycles")->number;
	struct wiring wiring = {.switches = generate_number(options, "switches"),
				.radix = generate_number(options, "radix"),
				.random = (uint64_t)hd_options_get(options, "seed")->number};
	wiring.hosts = hosts < 0 ? wiring.radix / 2 : (uint32_t)hosts;
	wiring.link_ports = wiring.radix > wiring.hosts ? wiring.radix - wiring.hosts : 0;
	rc = check_wiring(&wiring, cycles, err);
	if (rc)
		return rc;
	wiring.cycles = cycles < 0 ? default_cycles(&wiring) : (uint32_t)cycles;
	return generate_wiring(&wiring, out, err);
}

const struct hd_generator generate_irregular = {
    .name = "irregular",
    .summary = "random connected fabric: a spanning tree and links that close cycles",
    .options = irregular_options,
    .option_count = GENERATE_OPTION_COUNT(irregular_options),
    .generate = irregular,
};
