/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Irregular fabrics: a random spanning tree, and further links between random switches, each of
 * which closes a cycle. If the last free ports are all on one switch, a link between two other
 * switches is removed and both of its ends are cabled to that switch instead.
 */
#include "generate_internal.h"
#include "generate_wiring.h"

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

struct irregular {
	uint32_t radix, hosts; /* of a switch */
	uint32_t cycles;
	struct generate_wiring wiring;
};

static uint32_t draw_open(struct generate_wiring *wiring)
{
	return (uint32_t)hd_random_below(&wiring->random, wiring->open_count);
}

/* Takes a port of the switch at open[place]. */
static void take_port(struct generate_wiring *wiring, uint32_t place, uint32_t peer)
{
	generate_wiring_add_peer(wiring, wiring->open[place], peer);
	generate_wiring_close_full(wiring, place);
}

static void add_link(struct generate_wiring *wiring, uint32_t place_a, uint32_t place_b)
{
	uint32_t high = place_a > place_b ? place_a : place_b;
	uint32_t low = place_a > place_b ? place_b : place_a;
	uint32_t a = wiring->open[high], b = wiring->open[low];

	wiring->links[wiring->link_count++] = (struct generate_wiring_link){a, b};
	take_port(wiring, high, b); /* the higher place first: the other keeps its place */
	take_port(wiring, low, a);
}

static void grow_tree(struct generate_wiring *wiring)
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
static void open_a_link(struct generate_wiring *wiring)
{
	uint32_t sw = wiring->open[0];
	uint32_t chosen = (uint32_t)hd_random_below(&wiring->random, wiring->link_count);

	while (wiring->links[chosen].a == sw || wiring->links[chosen].b == sw)
		chosen = (chosen + 1) % wiring->link_count;
	struct generate_wiring_link *link = &wiring->links[chosen];
	uint32_t a = link->a, b = link->b;
	generate_wiring_replace_peer(wiring, a, b, sw);
	generate_wiring_replace_peer(wiring, b, a, sw);
	link->b = sw;
	wiring->links[wiring->link_count++] = (struct generate_wiring_link){sw, b};
	take_port(wiring, 0, a);
	take_port(wiring, 0, b);
}

static void close_cycle(struct generate_wiring *wiring)
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
		if (!generate_wiring_has(wiring, wiring->open[a], wiring->open[b]))
			break;
	}
	add_link(wiring, a, b);
}

static void cable(struct irregular *shape, struct generation *generation)
{
	struct generate_wiring *wiring = &shape->wiring;

	for (uint32_t sw = 0; sw < wiring->switches; sw++)
		generate_switch(generation, shape->radix, "S_%u", sw);
	for (uint32_t sw = 0; sw < wiring->switches; sw++) {
		for (uint32_t host = 0; host < shape->hosts; host++)
			generate_link(generation, sw, host + 1,
				      generate_host(generation, "H_%u_%u", sw, host), 1);
		wiring->used[sw] = shape->hosts; /* from now on: cabled ports */
	}
	for (uint32_t i = 0; i < wiring->link_count; i++) {
		uint32_t a = wiring->links[i].a, b = wiring->links[i].b;
		generate_link(generation, a, ++wiring->used[a], b, ++wiring->used[b]);
	}
}

/* Links beyond a spanning tree that the free ports allow. */
static int64_t most_cycles(const struct irregular *shape)
{
	int64_t ends = (int64_t)shape->wiring.switches * shape->wiring.ports;

	return shape->wiring.switches > 1 ? ends / 2 - (shape->wiring.switches - 1) : 0;
}

static int check_shape(const struct irregular *shape, int64_t cycles, struct hd_error *err)
{
	uint32_t needed = shape->wiring.switches > 2 ? 2 : shape->wiring.switches - 1;

	if (shape->hosts + needed > shape->radix)
		return hd_error_set(
		    err, -EINVAL,
		    "%u hosts and at least %u links on every switch need more ports "
		    "than the radix %u",
		    shape->hosts, needed, shape->radix);
	int64_t most = most_cycles(shape);
	if (cycles > most)
		return hd_error_set(err, -EINVAL,
				    "option 'cycles': %" PRId64
				    " links beyond a spanning tree do not fit; "
				    "the free ports allow %" PRId64,
				    cycles, most);
	return 0;
}

static uint32_t default_cycles(const struct irregular *shape)
{
	uint32_t half = shape->radix / 2;
	uint32_t ends = shape->wiring.ports < half ? shape->wiring.ports : half;
	int64_t cycles = (int64_t)shape->wiring.switches * ends / 2 - (shape->wiring.switches - 1);

	return cycles > 0 && shape->wiring.switches > 1 ? (uint32_t)cycles : 0;
}

static int wire(struct irregular *shape, struct hd_error *err)
{
	if (generate_wiring_begin(&shape->wiring, (size_t)shape->wiring.switches + shape->cycles))
		return hd_error_no_memory(err);
	grow_tree(&shape->wiring);
	for (uint32_t cycle = 0; cycle < shape->cycles; cycle++)
		close_cycle(&shape->wiring);
	return 0;
}

static int generate_shape(struct irregular *shape, struct hd_fabric **out, struct hd_error *err)
{
	struct generation generation;
	struct generate_size size = {.switches = shape->wiring.switches,
				     .hosts = (uint64_t)shape->wiring.switches * shape->hosts,
				     .radix = shape->radix};
	int rc = generate_begin(&generation, &size, err);

	if (rc)
		return rc;
	generation.rc = wire(shape, err);
	if (!generation.rc)
		cable(shape, &generation);
	generate_wiring_release(&shape->wiring);
	return generate_end(&generation, out);
}

static int irregular(const struct hd_options *options, struct hd_fabric **out, struct hd_error *err)
{
	int rc = hd_options_complete(options, err);

	if (rc)
		return rc;
	int64_t hosts = hd_options_get(options, "hosts")->number;
	int64_t cycles = hd_options_get(options, "cycles")->number;
	struct irregular shape = {
	    .radix = generate_number(options, "radix"),
	    .wiring = {.switches = generate_number(options, "switches"),
		       .random = (uint64_t)hd_options_get(options, "seed")->number}};
	shape.hosts = hosts < 0 ? shape.radix / 2 : (uint32_t)hosts;
	shape.wiring.ports = shape.radix > shape.hosts ? shape.radix - shape.hosts : 0;
	rc = check_shape(&shape, cycles, err);
	if (rc)
		return rc;
	shape.cycles = cycles < 0 ? default_cycles(&shape) : (uint32_t)cycles;
	return generate_shape(&shape, out, err);
}

const struct hd_generator generate_irregular = {
    .name = "irregular",
    .summary = "random connected fabric: a spanning tree and links that close cycles",
    .options = irregular_options,
    .option_count = GENERATE_OPTION_COUNT(irregular_options),
    .generate = irregular,
};
