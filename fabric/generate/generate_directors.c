/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Leaves below director switches. A director consists of line chips and spine chips, and each line
 * chip is cabled to each spine chip. Leaves fill the outside ports of the line chips in leaf order.
 * The defaults make a fabric like CHiC's: 44 leaves of 24 ports and two 288-port directors.
 */
#include "generate_internal.h"

#include <errno.h>
#include <inttypes.h>

struct directors {
	uint32_t leaves, hosts, directors, uplinks, lines, outside, spines;
};

#define COUNT_OPTION(option_name, option_summary, option_fallback, least, most)                    \
	{                                                                                          \
		.name = option_name, .summary = option_summary, .type = HD_OPTION_INT,             \
		.fallback = option_fallback, .minimum = least, .maximum = most                     \
	}

static const struct hd_option directors_options[] = {
    COUNT_OPTION("leaves", "leaf switches", "44", 1, HD_LID_LAST),
    COUNT_OPTION("hosts", "hosts on every leaf", "12", 0, HD_PORTS_MAX),
    COUNT_OPTION("directors", "director switches", "2", 1, HD_PORTS_MAX),
    COUNT_OPTION("uplinks", "cables from every leaf to every director", "6", 1, HD_PORTS_MAX),
    COUNT_OPTION("line-chips", "line chips of a director", "24", 1, HD_PORTS_MAX),
    COUNT_OPTION("outside", "outside ports of a line chip", "12", 1, HD_PORTS_MAX),
    COUNT_OPTION("spine-chips", "spine chips of a director", "12", 1, HD_PORTS_MAX),
};

static uint32_t line_chip(const struct directors *shape, uint32_t director, uint32_t line)
{
	return shape->leaves + director * (shape->lines + shape->spines) + line;
}

static uint32_t spine_chip(const struct directors *shape, uint32_t director, uint32_t spine)
{
	return line_chip(shape, director, shape->lines) + spine;
}

static void add_switches(struct generation *generation, const struct directors *shape)
{
	for (uint32_t leaf = 0; leaf < shape->leaves; leaf++)
		generate_switch(generation, shape->hosts + shape->directors * shape->uplinks,
				"S1_%u", leaf);
	for (uint32_t director = 0; director < shape->directors; director++) {
		for (uint32_t line = 0; line < shape->lines; line++)
			generate_switch(generation, shape->outside + shape->spines, "S2_%u_%u",
					director, line);
		for (uint32_t spine = 0; spine < shape->spines; spine++)
			generate_switch(generation, shape->lines, "S3_%u_%u", director, spine);
	}
}

static void link_leaf(struct generation *generation, const struct directors *shape, uint32_t leaf)
{
	for (uint32_t host = 0; host < shape->hosts; host++)
		generate_link(generation, leaf, host + 1,
			      generate_host(generation, "H_%u", leaf * shape->hosts + host), 1);
	for (uint32_t director = 0; director < shape->directors; director++) {
		for (uint32_t cable = 0; cable < shape->uplinks; cable++) {
			uint32_t socket = leaf * shape->uplinks + cable;
			generate_link(generation, leaf,
				      shape->hosts + director * shape->uplinks + cable + 1,
				      line_chip(shape, director, socket / shape->outside),
				      socket % shape->outside + 1);
		}
	}
}

static void link_director(struct generation *generation, const struct directors *shape,
			  uint32_t director)
{
	for (uint32_t line = 0; line < shape->lines; line++)
		for (uint32_t spine = 0; spine < shape->spines; spine++)
			generate_link(generation, line_chip(shape, director, line),
				      shape->outside + spine + 1,
				      spine_chip(shape, director, spine), line + 1);
}

static int check_sockets(const struct directors *shape, struct hd_error *err)
{
	uint64_t needed = (uint64_t)shape->leaves * shape->uplinks;
	uint64_t sockets = (uint64_t)shape->lines * shape->outside;

	if (needed <= sockets)
		return 0;
	return hd_error_set(err, -EINVAL,
			    "%u leaves with %u uplinks each need %" PRIu64
			    " outside ports of every director, but a director has only %" PRIu64,
			    shape->leaves, shape->uplinks, needed, sockets);
}

static struct generate_size size_of(const struct directors *shape)
{
	const uint64_t radix[] = {shape->hosts + shape->directors * shape->uplinks,
				  shape->outside + shape->spines, shape->lines};
	struct generate_size size = {.hosts = (uint64_t)shape->leaves * shape->hosts,
				     .switches = shape->leaves +
						 shape->directors * (shape->lines + shape->spines)};

	for (unsigned i = 0; i < sizeof(radix) / sizeof(radix[0]); i++)
		size.radix = radix[i] > size.radix ? radix[i] : size.radix;
	return size;
}

static int directors(const struct hd_options *options, struct hd_fabric **out, struct hd_error *err)
{
	struct directors shape = {.leaves = generate_number(options, "leaves"),
				  .hosts = generate_number(options, "hosts"),
				  .directors = generate_number(options, "directors"),
				  .uplinks = generate_number(options, "uplinks"),
				  .lines = generate_number(options, "line-chips"),
				  .outside = generate_number(options, "outside"),
				  .spines = generate_number(options, "spine-chips")};
	struct generation generation;
	struct generate_size size = size_of(&shape);
	int rc = check_sockets(&shape, err);

	if (!rc)
		rc = generate_begin(&generation, &size, err);
	if (rc)
		return rc;
	add_switches(&generation, &shape);
	for (uint32_t leaf = 0; leaf < shape.leaves; leaf++)
		link_leaf(&generation, &shape, leaf);
	for (uint32_t director = 0; director < shape.directors; director++)
		link_director(&generation, &shape, director);
	return generate_end(&generation, out);
}

const struct hd_generator generate_directors = {
    .name = "directors",
    .summary = "leaves below directors, which are fat trees inside",
    .options = directors_options,
    .option_count = GENERATE_OPTION_COUNT(directors_options),
    .generate = directors,
};
