/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* OpenSM's copy of the tables. The test is the OpenSM. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "opensm_headers.h"
#include "writer_tables.h"

#include <heddle/fabric/routes.h>
#include <string.h>

#define BLOCKS 2u
#define SIZE (BLOCKS * HD_LFT_BLOCK)

static const uint64_t guids[] = {0x10, 0x20};
static const struct hd_fabric fabric = {.switch_count = 2, .node_guid = (uint64_t *)guids};
static uint8_t held[SIZE], wanted[SIZE];
static osm_switch_t known; /* the first switch; OpenSM does not have the other */
static osm_opensm_t osm;

osm_switch_t *osm_get_switch_by_guid(const osm_subn_t *subnet, uint64_t guid)
{
	assert_ptr_equal(subnet, &osm.subn);
	return guid == cl_hton64(guids[0]) ? &known : NULL;
}

static int setup(void **state)
{
	(void)state;
	memset(held, 7, SIZE);
	memset(wanted, 7, SIZE);
	known = (osm_switch_t){.lft = held, .new_lft = wanted, .lft_size = SIZE};
	return 0;
}

/* What a table says of LID 0 does not count; every other entry does. */
static void test_lid_0_does_not_count(void **state)
{
	(void)state;
	for (uint32_t block = 0; block < BLOCKS; block++)
		for (uint32_t i = 0; i < HD_LFT_BLOCK; i++) {
			uint8_t ports[HD_LFT_BLOCK];
			memset(ports, 7, sizeof(ports));
			assert_true(writer_tables_holds(&osm, &fabric, 0, block, ports));
			ports[i] = 8;
			assert_int_equal(writer_tables_holds(&osm, &fabric, 0, block, ports),
					 !block && !i);
		}
}

static void test_taken_blocks_are_in_both_tables(void **state)
{
	(void)state;
	uint8_t ports[HD_LFT_BLOCK];
	memset(ports, 9, sizeof(ports));
	writer_tables_take(&osm, &fabric, 0, 1, ports);
	assert_memory_equal(held + HD_LFT_BLOCK, ports, HD_LFT_BLOCK);
	assert_memory_equal(wanted + HD_LFT_BLOCK, ports, HD_LFT_BLOCK);
	assert_int_equal(held[HD_LFT_BLOCK - 1], 7);
	assert_int_equal(wanted[HD_LFT_BLOCK - 1], 7);
}

/* A forgotten block is neither the old one nor the new one, so a sweep sends it whichever it wants. */
static void test_forgotten_blocks_are_sent_again(void **state)
{
	(void)state;
	uint8_t before[HD_LFT_BLOCK], ports[HD_LFT_BLOCK];
	memset(before, 7, sizeof(before));
	memset(ports, 7, sizeof(ports));
	ports[0] = ports[5] = 9;
	writer_tables_forget(&osm, &fabric, 0, 0, ports);
	assert_memory_not_equal(held, before, HD_LFT_BLOCK);
	assert_memory_not_equal(held, ports, HD_LFT_BLOCK);
	for (uint32_t i = 0; i < SIZE; i++) {
		assert_int_equal(held[i], i == 5 ? 0 : 7);
		assert_int_equal(wanted[i], 7);
	}
}

static void test_unknown_switches_and_blocks_are_left_alone(void **state)
{
	(void)state;
	static const struct {
		uint32_t sw, block;
	} cases[] = {{1, 0}, {0, BLOCKS}};
	uint8_t ports[HD_LFT_BLOCK] = {0};
	for (unsigned i = 0; i < 2; i++) {
		assert_false(
		    writer_tables_holds(&osm, &fabric, cases[i].sw, cases[i].block, ports));
		writer_tables_take(&osm, &fabric, cases[i].sw, cases[i].block, ports);
		writer_tables_forget(&osm, &fabric, cases[i].sw, cases[i].block, ports);
	}
	known.new_lft = NULL; /* OpenSM has not routed it yet */
	assert_false(writer_tables_holds(&osm, &fabric, 0, 0, ports));
	writer_tables_take(&osm, &fabric, 0, 0, ports);
	for (uint32_t i = 0; i < SIZE; i++)
		assert_true(held[i] == 7 && wanted[i] == 7);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup(test_lid_0_does_not_count, setup),
	    cmocka_unit_test_setup(test_taken_blocks_are_in_both_tables, setup),
	    cmocka_unit_test_setup(test_forgotten_blocks_are_sent_again, setup),
	    cmocka_unit_test_setup(test_unknown_switches_and_blocks_are_left_alone, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
