/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Jellyfish: a random regular graph. Two switches that are no neighbours and have free ports are
 * drawn and cabled, until no such two are left. Then a random link is replaced: of the free ports at
 * x and y (or two at x), the link from u to v becomes one from x to u and one from y to v.
 *
 * With n switches of k links and 2 k < n, such a link always exists: u and v must not be neighbours
 * of x and y, and those have too few links to be the far ends of all others. If k is larger, the
 * graph of all pairs that are not linked is drawn instead, with n - 1 - k links a switch.
 *
 * In the rare case that the graph falls apart, two links that lie on cycles of different parts
 * exchange their ends. Hosts have the first ports; links follow in the order in which they came.
 * Source: Singla, Hong, Popa, Godfrey, "Jellyfish: networking data centers randomly", 2012, section
 * 3 (there one port stays free if n k is odd; here such numbers are refused).
 */
#include "generate_internal.h"
#include "generate_wiring.h"

#include <errno.h>
#include <heddle/base/random.h>
#include <stdlib.h>

/* Draws before all pairs are looked at. */
#define PAIR_TRIES 8

static const struct hd_option jellyfish_options[] = {
    {.name = "switches",
     .summary = "number of switches",
     .type = HD_OPTION_INT,
     .minimum = 1,
     .maximum = HD_LID_LAST},
    {.name = "degree",
     .summary = "links of every switch to other switches",
     .type = HD_OPTION_INT,
     .minimum = 0,
     .maximum = HD_PORTS_MAX},
    {.name = "hosts",
     .summary = "hosts on every switch",
     .type = HD_OPTION_INT,
     .fallback = "1",
     .minimum = 0,
     .maximum = HD_PORTS_MAX},
    {.name = "seed",
     .summary = "seed of the random choices",
     .type = HD_OPTION_INT,
     .fallback = "1",
     .minimum = 0,
     .maximum = INT64_MAX},
};

struct drawing {
	struct generate_wiring wiring; /* of the graph that is drawn */
	uint32_t *part; /* [switches]: towards a switch that stands for its part of the graph */
};

/* The same switch counts as a neighbour, too. */
static bool close_by(const struct generate_wiring *wiring, uint32_t a, uint32_t b)
{
	return a == b || generate_wiring_has(wiring, a, b);
}

/* ---- links ---- */

static void add_link(struct generate_wiring *wiring, uint32_t place_a, uint32_t place_b)
{
	uint32_t high = place_a > place_b ? place_a : place_b;
	uint32_t low = place_a > place_b ? place_b : place_a;
	uint32_t a = wiring->open[low], b = wiring->open[high];

	wiring->links[wiring->link_count++] = (struct generate_wiring_link){a, b};
	generate_wiring_add_peer(wiring, a, b);
	generate_wiring_add_peer(wiring, b, a);
	generate_wiring_close_full(wiring,
				   high); /* the higher place first: the other keeps its place */
	generate_wiring_close_full(wiring, low);
}

/* Looks at all pairs of switches with free ports. More than `degree` of them always have a pair that
 * is not linked, so the search is short. */
static bool link_any_pair(struct generate_wiring *wiring)
{
	for (uint32_t a = 0; a < wiring->open_count; a++)
		for (uint32_t b = a + 1; b < wiring->open_count; b++)
			if (!close_by(wiring, wiring->open[a], wiring->open[b])) {
				add_link(wiring, a, b);
				return true;
			}
	return false;
}

static bool link_random_pair(struct generate_wiring *wiring)
{
	for (unsigned tries = 0; tries < PAIR_TRIES && wiring->open_count; tries++) {
		uint32_t a = (uint32_t)hd_random_below(&wiring->random, wiring->open_count);
		uint32_t b = (uint32_t)hd_random_below(&wiring->random, wiring->open_count);
		if (!close_by(wiring, wiring->open[a], wiring->open[b])) {
			add_link(wiring, a, b);
			return true;
		}
	}
	return link_any_pair(wiring);
}

/* Can links from x to its end a and from y to its end b replace this link? */
static bool fits_between(const struct generate_wiring *wiring, struct generate_wiring_link link,
			 uint32_t x, uint32_t y)
{
	return !close_by(wiring, x, link.a) && !close_by(wiring, y, link.b);
}

/* Uses up two free ports, of two switches or of one, when no pair is left. */
static void open_a_link(struct generate_wiring *wiring)
{
	uint32_t x = wiring->open[0], last = wiring->open_count - 1;
	uint32_t y = wiring->used[x] + 2 <= wiring->ports ? x : wiring->open[last];
	uint32_t at = (uint32_t)hd_random_below(&wiring->random, wiring->link_count);

	for (;; at = (at + 1) % wiring->link_count) {
		struct generate_wiring_link *link = &wiring->links[at], turned = {link->b, link->a};
		if (!fits_between(wiring, *link, x, y) && fits_between(wiring, turned, x, y))
			*link = turned;
		if (fits_between(wiring, *link, x, y))
			break;
	}
	struct generate_wiring_link *link = &wiring->links[at];
	uint32_t u = link->a, v = link->b;
	generate_wiring_replace_peer(wiring, u, v, x);
	generate_wiring_replace_peer(wiring, v, u, y);
	*link = (struct generate_wiring_link){x, u};
	wiring->links[wiring->link_count++] = (struct generate_wiring_link){y, v};
	generate_wiring_add_peer(wiring, x, u);
	generate_wiring_add_peer(wiring, y, v);
	if (x != y)
		generate_wiring_close_full(wiring, last);
	generate_wiring_close_full(wiring, 0);
}

/* ---- one part ---- */

static uint32_t part_of(struct drawing *drawing, uint32_t sw)
{
	while (drawing->part[sw] != sw)
		sw = drawing->part[sw] = drawing->part[drawing->part[sw]];
	return sw;
}

/* Joins parts by their links, and finds a link of each part that closes a cycle: of the part that
 * switch s stands for, cycle[s]. Every part has cycles, since all switches have two links or more. */
static void find_parts(struct drawing *drawing, uint32_t *cycle)
{
	for (uint32_t sw = 0; sw < drawing->wiring.switches; sw++)
		drawing->part[sw] = sw;
	for (uint32_t i = 0; i < drawing->wiring.link_count; i++) {
		uint32_t a = part_of(drawing, drawing->wiring.links[i].a);
		uint32_t b = part_of(drawing, drawing->wiring.links[i].b);
		drawing->part[a > b ? a : b] = a > b ? b : a;
		if (a == b)
			cycle[a] = i;
		else if (cycle[a > b ? b : a] == HD_NONE)
			cycle[a > b ? b : a] = cycle[a > b ? a : b];
	}
}

/* Two links that are no bridges of their parts: their parts become one, and both lie on a cycle. */
static void exchange_ends(struct generate_wiring *wiring, struct generate_wiring_link *first,
			  struct generate_wiring_link *second)
{
	uint32_t a = first->a, b = first->b, c = second->a, d = second->b;

	generate_wiring_replace_peer(wiring, a, b, c);
	generate_wiring_replace_peer(wiring, b, a, d);
	generate_wiring_replace_peer(wiring, c, d, a);
	generate_wiring_replace_peer(wiring, d, c, b);
	*first = (struct generate_wiring_link){a, c};
	*second = (struct generate_wiring_link){b, d};
}

static int join_parts(struct drawing *drawing, struct hd_error *err)
{
	uint32_t *cycle = malloc(drawing->wiring.switches * sizeof(*cycle));

	if (!cycle)
		return hd_error_no_memory(err);
	for (uint32_t sw = 0; sw < drawing->wiring.switches; sw++)
		cycle[sw] = HD_NONE;
	find_parts(drawing, cycle);
	for (uint32_t sw = 1; sw < drawing->wiring.switches; sw++)
		if (drawing->part[sw] == sw)
			exchange_ends(&drawing->wiring, &drawing->wiring.links[cycle[0]],
				      &drawing->wiring.links[cycle[sw]]);
	free(cycle);
	return 0;
}

/* ---- the graph ---- */

static void draw_links(struct generate_wiring *wiring)
{
	for (uint32_t sw = 0; wiring->ports && sw < wiring->switches; sw++)
		wiring->open[wiring->open_count++] = sw;
	while (wiring->open_count)
		if (!link_random_pair(wiring))
			open_a_link(wiring);
}

static int draw_graph(struct drawing *drawing, struct hd_error *err)
{
	struct generate_wiring *wiring = &drawing->wiring;

	drawing->part = malloc(wiring->switches * sizeof(*drawing->part));
	if (generate_wiring_begin(wiring, (size_t)wiring->switches * wiring->ports / 2) ||
	    !drawing->part)
		return hd_error_no_memory(err);
	draw_links(wiring);
	return 0;
}

static void drawing_free(struct drawing *drawing)
{
	free(drawing->part);
	generate_wiring_release(&drawing->wiring);
}

/* ---- the fabric ---- */

struct jellyfish {
	uint32_t switches, degree, hosts;
	uint64_t seed;
};

static void add_switches(struct generation *generation, const struct jellyfish *shape,
			 uint32_t radix)
{
	for (uint32_t sw = 0; sw < shape->switches; sw++)
		generate_switch(generation, radix, "S_%u", sw);
	for (uint32_t sw = 0; sw < shape->switches; sw++)
		for (uint32_t host = 0; host < shape->hosts; host++)
			generate_link(generation, sw, host + 1,
				      generate_host(generation, "H_%u_%u", sw, host), 1);
}

static void add_cable(struct generation *generation, const struct jellyfish *shape, uint32_t *used,
		      struct generate_wiring_link link)
{
	generate_link(generation, link.a, shape->hosts + ++used[link.a], link.b,
		      shape->hosts + ++used[link.b]);
}

/* Cables the links, or all pairs but them. From now on `used` counts cabled ports. */
static void cable(struct generation *generation, const struct jellyfish *shape,
		  const struct drawing *drawing, bool others)
{
	uint32_t *used = drawing->part;

	for (uint32_t sw = 0; sw < shape->switches; sw++)
		used[sw] = 0;
	for (uint32_t i = 0; !others && i < drawing->wiring.link_count; i++)
		add_cable(generation, shape, used, drawing->wiring.links[i]);
	for (uint32_t a = 0; others && a < shape->switches; a++)
		for (uint32_t b = a + 1; b < shape->switches; b++)
			if (!close_by(&drawing->wiring, a, b))
				add_cable(generation, shape, used,
					  (struct generate_wiring_link){a, b});
}

static int check_degree(const struct jellyfish *shape, struct hd_error *err)
{
	if (shape->degree >= shape->switches)
		return hd_error_set(err, -EINVAL,
				    "option 'degree': %u switches have at most %u neighbours each",
				    shape->switches, shape->switches - 1);
	if (shape->switches > 1 && shape->degree < (shape->switches > 2 ? 2 : 1))
		return hd_error_set(err, -EINVAL,
				    "option 'degree': %u links of each of %u switches do not "
				    "connect them all",
				    shape->degree, shape->switches);
	if (shape->switches % 2 && shape->degree % 2)
		return hd_error_set(err, -EINVAL,
				    "option 'degree': the links of %u switches have %u x %u ends, "
				    "an odd number",
				    shape->switches, shape->switches, shape->degree);
	return 0;
}

static int generate_graph(const struct jellyfish *shape, struct hd_fabric **out,
			  struct hd_error *err)
{
	struct generation generation;
	bool others = 2 * shape->degree >= shape->switches;
	uint32_t radix = shape->hosts + shape->degree;
	struct drawing drawing = {
	    .wiring = {.switches = shape->switches,
		       .ports = others ? shape->switches - 1 - shape->degree : shape->degree,
		       .random = shape->seed}};
	struct generate_size size = {.switches = shape->switches,
				     .hosts = (uint64_t)shape->switches * shape->hosts,
				     .radix = radix};
	int rc = generate_begin(&generation, &size, err);

	if (rc)
		return rc;
	generation.rc = draw_graph(&drawing, err);
	if (!generation.rc && !others)
		generation.rc = join_parts(&drawing, err);
	if (!generation.rc) {
		add_switches(&generation, shape, radix ? radix : 1);
		cable(&generation, shape, &drawing, others);
	}
	drawing_free(&drawing);
	return generate_end(&generation, out);
}

static int jellyfish(const struct hd_options *options, struct hd_fabric **out, struct hd_error *err)
{
	int rc = hd_options_complete(options, err);

	if (rc)
		return rc;
	struct jellyfish shape = {.switches = generate_number(options, "switches"),
				  .degree = generate_number(options, "degree"),
				  .hosts = generate_number(options, "hosts"),
				  .seed = (uint64_t)hd_options_get(options, "seed")->number};
	rc = check_degree(&shape, err);
	return rc ? rc : generate_graph(&shape, out, err);
}

const struct hd_generator generate_jellyfish = {
    .name = "jellyfish",
    .summary = "Jellyfish: a random regular graph of switches",
    .options = jellyfish_options,
    .option_count = GENERATE_OPTION_COUNT(jellyfish_options),
    .generate = jellyfish,
};
