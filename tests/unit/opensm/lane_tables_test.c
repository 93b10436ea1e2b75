/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tables of all kinds of ports: every lane in use has a weight, and multicast has its own lane. */
#include <heddle/config/sections.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lane_tables.h"
#include "opensm_headers.h"
#include "settings.h"

#define BLOCKS 4 /* two of low priority, two of high */
#define BLOCK IB_NUM_VL_ARB_ELEMENTS_IN_BLOCK
#define DROP_LANE 15
#define ROUNDS 200000

/* A port, and its tables by opensm.conf. */
struct scene {
	struct lane_tables tables;
	osm_physp_t port;
	unsigned low_entries, high_entries, bits;
	ib_slvl_table_t levels;
	ib_vl_arb_table_t blocks[BLOCKS];
};

static unsigned draw(unsigned least, unsigned most)
{
	return least + (unsigned)rand() % (most - least + 1);
}

/* OpenSM's default tables have an entry for each lane, and lane 0 has high priority. Tables of an
 * administrator may contain anything. */
static void draw_arbitration(struct scene *scene)
{
	bool own_low = draw(0, 1);

	for (unsigned i = 0; i < BLOCKS * BLOCK; i++) {
		ib_vl_arb_element_t *entry = &scene->blocks[i / BLOCK].vl_entry[i % BLOCK];
		bool high = i >= 2 * BLOCK;
		unsigned lane = i % (2 * BLOCK);

		if (high ? scene->tables.clears_high : !own_low)
			*entry = lane < 15 ? (ib_vl_arb_element_t){(uint8_t)lane,
								   (lane == 0) == high ? 4 : 0}
					   : (ib_vl_arb_element_t){0, 0};
		else
			*entry = (ib_vl_arb_element_t){(uint8_t)draw(0, 14), (uint8_t)draw(0, 8)};
	}
}

static void draw_tables(struct lane_tables *tables)
{
	unsigned lanes = draw(2, 15);
	unsigned unicast = draw(1, lanes - 1);

	*tables = (struct lane_tables){.levels = draw(0, 1) ? unicast : 0,
				       .multicast = true,
				       .multicast_sl = (uint8_t)draw(unicast, 15),
				       .multicast_lane = (uint8_t)(lanes - 1),
				       .lanes = lanes,
				       .unicast_lanes = unicast,
				       .clears_high = draw(0, 1),
				       .weights = {7, 200}};
	tables->maps = tables->levels && draw(0, 1);
	for (unsigned level = 0; level < 16; level++)
		tables->sl2vl[level] = (uint8_t)(level < unicast ? level : 0);
}

static void draw_scene(struct scene *scene)
{
	unsigned rc = draw(1, 5);
	bool own_levels = draw(0, 1);

	memset(scene, 0, sizeof(*scene));
	draw_tables(&scene->tables);
	scene->low_entries = draw(0, 3) ? draw(1, 16) : draw(1, 64);
	scene->high_entries = draw(0, 64);
	scene->bits = (1u << (rc - 1)) - 1;
	ib_port_info_set_op_vls(&scene->port.port_info, (uint8_t)rc);
	scene->port.port_info.vl_arb_low_cap = (uint8_t)scene->low_entries;
	scene->port.port_info.vl_arb_high_cap = (uint8_t)scene->high_entries;
	for (uint8_t level = 0; level < 16; level++)
		ib_slvl_table_set(&scene->levels, level,
				  (uint8_t)(own_levels	 ? draw(0, 15)
					    : level < 15 ? level
							 : 7));
	draw_arbitration(scene);
}

static unsigned entries_in(const struct scene *scene, unsigned block)
{
	unsigned entries = block < 2 ? scene->low_entries : scene->high_entries;

	if (block % 2)
		return entries > BLOCK ? entries % BLOCK : 0;
	return entries < BLOCK ? entries : BLOCK;
}

/* Does what OpenSM does: asks the engine, then keeps only the bits of operational lanes. */
static void set_up(struct scene *scene)
{
	lane_tables_map(&scene->tables, NULL, &scene->port, &scene->levels);
	for (uint8_t level = 0; level < 16; level++) {
		uint8_t lane = ib_slvl_table_get(&scene->levels, level);

		if (lane != DROP_LANE)
			ib_slvl_table_set(&scene->levels, level, (uint8_t)(lane & scene->bits));
	}
	for (unsigned block = 0; block < BLOCKS; block++) {
		unsigned entries = entries_in(scene, block);

		if (entries)
			lane_tables_arbitrate(&scene->tables, &scene->port, &scene->blocks[block],
					      entries, block);
		for (unsigned i = 0; i < entries; i++)
			scene->blocks[block].vl_entry[i].vl &= (uint8_t)scene->bits;
	}
}

static unsigned weight_of(const struct scene *scene, unsigned lane)
{
	unsigned weight = 0;

	for (unsigned block = 0; block < BLOCKS; block++)
		for (unsigned i = 0; i < entries_in(scene, block); i++)
			if (scene->blocks[block].vl_entry[i].vl == lane)
				weight += scene->blocks[block].vl_entry[i].weight;
	return weight;
}

/* No service level is on a lane that never sends, except levels that are dropped. */
static void every_lane_has_a_turn(void **state)
{
	struct scene scene;

	(void)state;
	srand(1);
	for (unsigned round = 0; round < ROUNDS; round++) {
		draw_scene(&scene);
		set_up(&scene);
		for (uint8_t level = 0; level < 16; level++) {
			uint8_t lane = ib_slvl_table_get(&scene.levels, level);

			assert_true(lane == DROP_LANE || weight_of(&scene, lane) > 0);
		}
	}
}

static bool has_all_lanes(const struct scene *scene)
{
	unsigned present = scene->bits < 15 ? scene->bits + 1 : 15;

	return scene->tables.lanes <= present && present <= scene->low_entries;
}

/* If a port has enough lanes, multicast has its own, and each level of the routes has its lane. */
static void lanes_are_as_planned(void **state)
{
	struct scene scene;

	(void)state;
	srand(2);
	for (unsigned round = 0; round < ROUNDS; round++) {
		draw_scene(&scene);
		set_up(&scene);
		for (uint8_t level = 0; has_all_lanes(&scene) && level < 16; level++) {
			uint8_t lane = ib_slvl_table_get(&scene.levels, level);

			assert_int_equal(lane == scene.tables.multicast_lane,
					 level == scene.tables.multicast_sl);
			if (scene.tables.maps && level < scene.tables.levels)
				assert_int_equal(lane, level);
		}
	}
}

/* If a port has enough lanes and high priority does not interfere, each lane has its own weight. */
static void weights_are_as_planned(void **state)
{
	struct scene scene;

	(void)state;
	srand(3);
	for (unsigned round = 0; round < ROUNDS; round++) {
		draw_scene(&scene);
		set_up(&scene);
		if (!has_all_lanes(&scene) || !scene.tables.clears_high)
			continue;
		for (unsigned lane = 0; lane < scene.tables.lanes; lane++)
			assert_int_equal(weight_of(&scene, lane),
					 lane == scene.tables.multicast_lane ? 200 : 7);
	}
}

/* OpenSM's entries stay if multicast has no lane, or the port has no low-priority table. */
static void what_is_left_alone(void **state)
{
	struct scene scene, before;

	(void)state;
	srand(4);
	for (unsigned round = 0; round < ROUNDS / 10; round++) {
		draw_scene(&scene);
		if (draw(0, 1))
			scene.tables.multicast = false;
		else
			scene.low_entries = scene.port.port_info.vl_arb_low_cap = 0;
		scene.bits = 15;
		before = scene;
		set_up(&scene);
		assert_memory_equal(scene.blocks, before.blocks, sizeof(scene.blocks));
	}
}

/* A heddle.conf with this text in [heddle]. */
static struct hd_config *configure(struct hd_config_sections *sections, const char *share,
				   unsigned level)
{
	char file[128];
	struct hd_text text = {.bytes = file, .name = "heddle.conf"};
	struct hd_config *config = NULL;
	struct hd_error err;

	text.length =
	    (size_t)snprintf(file, sizeof(file),
			     "[heddle]\nmulticast_share = %s\nmulticast_sl = %u\n", share, level);
	assert_int_equal(hd_config_parse(sections, &text, &config, &err), 0);
	return config;
}

static unsigned for_unicast(struct hd_config_sections *sections, const char *share, unsigned level,
			    unsigned lanes)
{
	struct hd_config *config = configure(sections, share, level);
	unsigned unicast = lane_tables_for_unicast(config, lanes);

	hd_config_free(config);
	return unicast;
}

/* Routes may use all lanes, except one for multicast, and only below its service level. */
static void lanes_for_unicast(void **state)
{
	struct hd_config_sections *sections = hd_config_sections_new();

	(void)state;
	assert_int_equal(hd_config_sections_add_heddle(sections, NULL), 0);
	for (unsigned lanes = 1; lanes <= 15; lanes++) {
		assert_int_equal(for_unicast(sections, "same", 0, lanes), lanes);
		for (unsigned level = 1; level <= 15; level++) {
			unsigned unicast = for_unicast(sections, "log", level, lanes);

			assert_true(unicast >= 1);
			if (lanes == 1)
				continue;
			assert_true(unicast < lanes && unicast <= level);
			assert_true(unicast == lanes - 1 || unicast == level);
		}
	}
	hd_config_sections_free(sections);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(every_lane_has_a_turn),  cmocka_unit_test(lanes_are_as_planned),
	    cmocka_unit_test(weights_are_as_planned), cmocka_unit_test(what_is_left_alone),
	    cmocka_unit_test(lanes_for_unicast),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
