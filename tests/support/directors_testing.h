/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Directors: chassis of line chips and spine chips, each line chip cabled to each spine chip. Leaves are cabled to
 * line chips, in random places, and directors to each other by outside ports of their line chips. Include after
 * <cmocka.h>.
 */
#ifndef DIRECTORS_TESTING_H
#define DIRECTORS_TESTING_H

#include <heddle/base/random.h>
#include <heddle/fabric.h>
#include <stdio.h>

#define DIRECTORS_CHIPS_MOST 256u

struct directors {
	uint32_t count, lines, spines; /* directors, and chips of each */
	uint32_t trunks; /* cables from each director to the next */
	uint32_t leaves, uplinks, hosts; /* leaves, cables upwards and hosts of each */
	/* each leaf whose number is a multiple has cables to all directors in turn, any other to one;
	 * 0: all to one */
	uint32_t shared;
	uint32_t direct; /* hosts of each line chip */
	uint64_t seed; /* of the places of leaves */
};

struct directors_site {
	const struct directors *shape;
	struct hd_builder *builder;
	uint64_t random;
	uint32_t nodes;
	uint32_t used[DIRECTORS_CHIPS_MOST]; /* ports of each switch; switches are added first */
};

static inline void directors_add(struct directors_site *site, enum hd_node_type type,
				 const char *name, uint32_t number)
{
	char text[32];
	const struct hd_node_spec spec = {.type = type,
					  .guid = (type == HD_SWITCH ? 0x200000u : 0x100000u) +
						  16 * (uint64_t)site->nodes++,
					  .port_count = type == HD_SWITCH ? 100 : 1,
					  .name = text};
	uint32_t handle;

	snprintf(text, sizeof(text), "%s%u", name, number);
	assert_int_equal(hd_builder_add_node(site->builder, &spec, &handle, NULL), 0);
	assert_int_equal(handle, site->nodes - 1);
}

static inline void directors_cable(struct directors_site *site, uint32_t a, uint32_t b)
{
	assert_int_equal(hd_builder_link(site->builder, a, ++site->used[a], b, ++site->used[b], 4,
					 HD_SPEED_EDR, NULL),
			 0);
}

static inline void directors_host(struct directors_site *site, uint32_t sw)
{
	directors_add(site, HD_CA, "H", site->nodes);
	assert_int_equal(hd_builder_link(site->builder, site->nodes - 1, 1, sw, ++site->used[sw], 4,
					 HD_SPEED_EDR, NULL),
			 0);
}

/* Handles of chips: the spine chips of a director, then its line chips. */
static inline uint32_t directors_line(const struct directors *shape, uint32_t director,
				      uint32_t line)
{
	return director * (shape->spines + shape->lines) + shape->spines + line;
}

static inline void directors_cable_chassis(struct directors_site *site)
{
	const struct directors *shape = site->shape;

	for (uint32_t director = 0; director < shape->count; director++)
		for (uint32_t line = 0; line < shape->lines; line++)
			for (uint32_t spine = 0; spine < shape->spines; spine++)
				directors_cable(site, directors_line(shape, director, line),
						director * (shape->spines + shape->lines) + spine);
	for (uint32_t director = 0; director + 1 < shape->count; director++)
		for (uint32_t trunk = 0; trunk < shape->trunks; trunk++)
			directors_cable(site, directors_line(shape, director, trunk % shape->lines),
					directors_line(shape, director + 1, trunk % shape->lines));
}

static inline void directors_cable_leaf(struct directors_site *site, uint32_t leaf, uint32_t number)
{
	const struct directors *shape = site->shape;
	bool taken[DIRECTORS_CHIPS_MOST] = {false};

	for (uint32_t i = 0; i < shape->uplinks; i++) {
		bool all = shape->shared && number % shape->shared == 0;
		uint32_t director = (all ? number + i : number) % shape->count, line;
		do
			line =
			    directors_line(shape, director,
					   (uint32_t)hd_random_below(&site->random, shape->lines));
		while (taken[line]);
		taken[line] = true;
		directors_cable(site, leaf, line);
	}
}

static inline struct hd_fabric *directors_build(const struct directors *shape)
{
	struct directors_site site = {
	    .shape = shape, .builder = hd_builder_new(), .random = shape->seed};
	uint32_t chips = shape->count * (shape->spines + shape->lines);
	struct hd_fabric *fabric = NULL;

	assert_true(chips + shape->leaves <= DIRECTORS_CHIPS_MOST);
	for (uint32_t chip = 0; chip < chips; chip++) {
		uint32_t place = chip % (shape->spines + shape->lines);
		directors_add(&site, HD_SWITCH, place < shape->spines ? "spine" : "line", chip);
	}
	for (uint32_t leaf = 0; leaf < shape->leaves; leaf++)
		directors_add(&site, HD_SWITCH, "leaf", chips + leaf);
	directors_cable_chassis(&site);
	for (uint32_t leaf = 0; leaf < shape->leaves; leaf++)
		directors_cable_leaf(&site, chips + leaf, leaf);
	for (uint32_t leaf = 0; leaf < shape->leaves; leaf++)
		for (uint32_t host = 0; host < shape->hosts; host++)
			directors_host(&site, chips + leaf);
	for (uint32_t director = 0; director < shape->count; director++)
		for (uint32_t i = 0; i < shape->lines * shape->direct; i++)
			directors_host(&site, directors_line(shape, director, i % shape->lines));
	hd_builder_assign_lids(site.builder, 0);
	assert_int_equal(hd_builder_build(site.builder, &fabric, NULL), 0);
	hd_builder_free(site.builder);
	return fabric;
}

#endif
