/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Torus, mesh, hypercube and HyperX. The first ports are for hosts. Then each dimension has ports
 * towards the next coordinate and ports towards the one before, whether cabled or not. So a port
 * number means the same direction everywhere. A torus ring of two switches is one cable (times
 * `parallel`), not two. A hypercube has one port for each dimension.
 *
 * In a HyperX every two switches of a line are neighbours. A dimension of n switches has n - 1
 * ports (times `parallel`): the first ones lead to the next coordinate, the last ones to the one
 * before. Source: Ahn, Binkert, Davis, McLaren, Schreiber, "HyperX: topology, routing, and
 * packaging of efficient large-scale networks", 2009 (there L dimensions of S switches,
 * T = `hosts`, K = `parallel`).
 */
#include "generate_internal.h"

#include <stdio.h>

struct grid {
	unsigned dimensions;
	uint32_t size[HD_OPTION_LIST_MAX];
	uint32_t hosts, parallel;
	bool wraps;
};

#define GRID_HOSTS                                                                                 \
	{                                                                                          \
		.name = "hosts", .summary = "hosts on every switch", .type = HD_OPTION_INT,        \
		.fallback = "1", .minimum = 0, .maximum = HD_PORTS_MAX                             \
	}

static const struct hd_option grid_options[] = {
    {.name = "dims",
     .summary = "switches along every dimension",
     .type = HD_OPTION_INT_LIST,
     .minimum = 1,
     .maximum = HD_LID_LAST},
    GRID_HOSTS,
    {.name = "parallel",
     .summary = "parallel cables between two neighbours",
     .type = HD_OPTION_INT,
     .fallback = "1",
     .minimum = 1,
     .maximum = HD_PORTS_MAX},
};

static uint64_t grid_switches(const struct grid *grid)
{
	uint64_t switches = 1;

	for (unsigned d = 0; d < grid->dimensions; d++)
		switches = generate_product(switches, grid->size[d]);
	return switches;
}

static const char *coordinates_text(const struct grid *grid, uint32_t index, char *text)
{
	uint32_t coordinates[HD_OPTION_LIST_MAX];
	int used = 0;

	text[0] = '\0';
	for (unsigned d = grid->dimensions; d-- > 0; index /= grid->size[d])
		coordinates[d] = index % grid->size[d];
	for (unsigned d = 0; d < grid->dimensions && used < GENERATE_NAME_SIZE; d++)
		used += snprintf(text + used, (size_t)(GENERATE_NAME_SIZE - used), "_%u",
				 coordinates[d]);
	return text;
}

static void add_switches(struct generation *generation, const struct grid *grid, uint32_t switches,
			 uint32_t radix)
{
	char text[GENERATE_NAME_SIZE];

	for (uint32_t sw = 0; sw < switches; sw++)
		generate_switch(generation, radix, "S%s", coordinates_text(grid, sw, text));
	for (uint32_t sw = 0; sw < switches; sw++) {
		coordinates_text(grid, sw, text);
		for (uint32_t host = 0; host < grid->hosts; host++)
			generate_link(generation, sw, host + 1,
				      generate_host(generation, "H%s_%u", text, host), 1);
	}
}

/* Cables a switch to the next one along dimension d. Their indices differ by `stride`. */
static void link_forward(struct generation *generation, const struct grid *grid, uint32_t sw,
			 unsigned d, uint32_t stride)
{
	uint32_t coordinate = sw / stride % grid->size[d], next = sw + stride;

	if (coordinate + 1 == grid->size[d]) {
		if (!grid->wraps || grid->size[d] <= 2)
			return;
		next = sw - coordinate * stride;
	}
	uint32_t port = grid->hosts + 2 * d * grid->parallel + 1;
	for (uint32_t cable = 0; cable < grid->parallel; cable++)
		generate_link(generation, sw, port + cable, next, port + grid->parallel + cable);
}

static int generate_grid(const struct grid *grid, struct hd_fabric **out, struct hd_error *err)
{
	struct generation generation;
	struct generate_size size = {.switches = grid_switches(grid)};

	size.hosts = generate_product(size.switches, grid->hosts);
	size.radix = grid->hosts + 2u * grid->dimensions * grid->parallel;
	int rc = generate_begin(&generation, &size, err);
	if (rc)
		return rc;
	uint32_t switches = (uint32_t)size.switches, stride = switches;
	add_switches(&generation, grid, switches, (uint32_t)size.radix);
	for (unsigned d = 0; d < grid->dimensions; d++) {
		stride /= grid->size[d];
		for (uint32_t sw = 0; sw < switches; sw++)
			link_forward(&generation, grid, sw, d, stride);
	}
	return generate_end(&generation, out);
}

static int read_grid(const struct hd_options *options, struct grid *grid, struct hd_error *err)
{
	int rc = hd_options_complete(options, err);

	if (rc)
		return rc;
	const struct hd_option_value *dims = hd_options_get(options, "dims");
	*grid = (struct grid){.dimensions = dims->count,
			      .hosts = generate_number(options, "hosts"),
			      .parallel = generate_number(options, "parallel")};
	for (unsigned d = 0; d < grid->dimensions; d++)
		grid->size[d] = (uint32_t)dims->list[d];
	return 0;
}

static int grid_of(const struct hd_options *options, bool wraps, struct hd_fabric **out,
		   struct hd_error *err)
{
	struct grid grid;
	int rc = read_grid(options, &grid, err);

	grid.wraps = wraps;
	return rc ? rc : generate_grid(&grid, out, err);
}

static int torus(const struct hd_options *options, struct hd_fabric **out, struct hd_error *err)
{
	return grid_of(options, true, out, err);
}

static int mesh(const struct hd_options *options, struct hd_fabric **out, struct hd_error *err)
{
	return grid_of(options, false, out, err);
}

const struct hd_generator generate_torus = {
    .name = "torus",
    .summary = "torus of any number of dimensions",
    .options = grid_options,
    .option_count = GENERATE_OPTION_COUNT(grid_options),
    .generate = torus,
};

const struct hd_generator generate_mesh = {
    .name = "mesh",
    .summary = "mesh: a torus without the cables that close its rings",
    .options = grid_options,
    .option_count = GENERATE_OPTION_COUNT(grid_options),
    .generate = mesh,
};

static const struct hd_option hypercube_options[] = {
    {.name = "dimensions",
     .summary = "number of dimensions; a hypercube of N dimensions has 2^N switches",
     .type = HD_OPTION_INT,
     .minimum = 0,
     .maximum = HD_OPTION_LIST_MAX},
    GRID_HOSTS,
};

static int hypercube(const struct hd_options *options, struct hd_fabric **out, struct hd_error *err)
{
	int rc = hd_options_complete(options, err);

	if (rc)
		return rc;
	struct grid grid = {.dimensions = generate_number(options, "dimensions"),
			    .hosts = generate_number(options, "hosts")};
	for (unsigned d = 0; d < grid.dimensions; d++)
		grid.size[d] = 2;
	struct generation generation;
	uint32_t switches = 1u << grid.dimensions, radix = grid.hosts + grid.dimensions;
	struct generate_size size = {
	    .switches = switches, .hosts = (uint64_t)switches * grid.hosts, .radix = radix};
	rc = generate_begin(&generation, &size, err);
	if (rc)
		return rc;
	add_switches(&generation, &grid, switches, radix ? radix : 1);
	for (uint32_t sw = 0; sw < switches; sw++)
		for (unsigned d = 0; d < grid.dimensions; d++)
			if (!(sw >> d & 1))
				generate_link(&generation, sw, grid.hosts + d + 1, sw | 1u << d,
					      grid.hosts + d + 1);
	return generate_end(&generation, out);
}

const struct hd_generator generate_hypercube = {
    .name = "hypercube",
    .summary = "hypercube",
    .options = hypercube_options,
    .option_count = GENERATE_OPTION_COUNT(hypercube_options),
    .generate = hypercube,
};

/* Cables a switch to those behind it on its line along dimension d. `port` is the dimension's first
 * one, indices of neighbours on the line differ by `stride`. */
static void link_line(struct generation *generation, const struct grid *grid, uint32_t sw,
		      unsigned d, uint32_t stride, uint32_t port)
{
	uint32_t size = grid->size[d], coordinate = sw / stride % size;

	for (uint32_t step = 1; coordinate + step < size; step++)
		for (uint32_t cable = 0; cable < grid->parallel; cable++)
			generate_link(generation, sw, port + (step - 1) * grid->parallel + cable,
				      sw + step * stride,
				      port + (size - step - 1) * grid->parallel + cable);
}

static int generate_lines(const struct grid *grid, struct hd_fabric **out, struct hd_error *err)
{
	struct generation generation;
	struct generate_size size = {.switches = grid_switches(grid), .radix = grid->hosts};

	size.hosts = generate_product(size.switches, grid->hosts);
	for (unsigned d = 0; d < grid->dimensions; d++)
		size.radix += (uint64_t)(grid->size[d] - 1) * grid->parallel;
	int rc = generate_begin(&generation, &size, err);
	if (rc)
		return rc;
	uint32_t switches = (uint32_t)size.switches, stride = switches, port = grid->hosts + 1;
	add_switches(&generation, grid, switches, size.radix ? (uint32_t)size.radix : 1);
	for (unsigned d = 0; d < grid->dimensions; d++) {
		stride /= grid->size[d];
		for (uint32_t sw = 0; sw < switches; sw++)
			link_line(&generation, grid, sw, d, stride, port);
		port += (grid->size[d] - 1) * grid->parallel;
	}
	return generate_end(&generation, out);
}

static int hyperx(const struct hd_options *options, struct hd_fabric **out, struct hd_error *err)
{
	struct grid grid;
	int rc = read_grid(options, &grid, err);

	return rc ? rc : generate_lines(&grid, out, err);
}

const struct hd_generator generate_hyperx = {
    .name = "hyperx",
    .summary = "HyperX: a grid in which all switches of a line are neighbours",
    .options = grid_options,
    .option_count = GENERATE_OPTION_COUNT(grid_options),
    .generate = hyperx,
};
