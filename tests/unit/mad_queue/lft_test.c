/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Forwarding tables read back from many switches, and set block by block. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <heddle/base/random.h>
#include <heddle/mad/queue.h>
#include <simulated_port.h>
#include <string.h>

#define SWITCHES 40u
#define TOP 1000u

static const struct hd_smp_limits limits = HD_SMP_LIMITS_DEFAULT;
static struct simulated_port port;
static struct hd_smp_queue *queue;
static struct hd_lft_row rows[SWITCHES];
static uint8_t tables[SWITCHES][SIMULATED_LIDS];

static int start(void **state)
{
	uint64_t random = 3;

	(void)state;
	assert_true(simulated_port_start(&port, SWITCHES, 1));
	queue = hd_smp_queue_new(&port.port, &limits, SWITCHES);
	assert_non_null(queue);
	for (uint32_t i = 0; i < SWITCHES; i++) {
		struct hd_smp_address address = {.hop_count = 1, .path = {0, (uint8_t)(i + 1)}};

		for (uint32_t lid = 0; lid < SIMULATED_LIDS; lid++)
			port.nodes[i].lft[lid] = (uint8_t)hd_random_next(&random);
		memset(tables[i], 0xEE, sizeof(tables[i]));
		hd_smp_queue_aim(queue, i, &address);
		rows[i] = (struct hd_lft_row){.destination = i, .top_lid = TOP, .ports = tables[i]};
	}
	return 0;
}

static int stop(void **state)
{
	(void)state;
	hd_smp_queue_free(queue);
	simulated_port_end(&port);
	return 0;
}

static void read_all(void)
{
	for (uint32_t i = 0; i < SWITCHES; i++)
		assert_int_equal(hd_lft_read(queue, &rows[i]), 0);
	assert_int_equal(hd_smp_queue_run(queue), 0);
	for (uint32_t i = 0; i < SWITCHES; i++)
		assert_int_equal(rows[i].left, 0);
}

/* All tables are read to the end of the last block, with one SMP a block, some of them lost. */
static void tables_are_read_back(void **state)
{
	(void)state;
	assert_int_equal(hd_lft_size(TOP), 1024);
	assert_int_equal(hd_lft_size(63), 64);
	assert_int_equal(hd_lft_size(64), 128);
	for (uint32_t i = 0; i < SWITCHES; i += 4)
		port.nodes[i].lose = 50;
	read_all();
	for (uint32_t i = 0; i < SWITCHES; i++) {
		assert_int_equal(rows[i].rc, 0);
		assert_memory_equal(tables[i], port.nodes[i].lft, 1024);
	}
	assert_int_equal(port.sent_count, SWITCHES * 16 + hd_smp_queue_counts(queue)->repeated);
}

/* A switch that cannot be read says why, and its row is left alone; others are read. */
static void failures_stay_in_their_row(void **state)
{
	(void)state;
	port.nodes[3].silent = SIMULATED_FOREVER;
	port.nodes[5].refuse = 0x0C;
	read_all();
	assert_int_equal(rows[3].rc, -ETIMEDOUT);
	assert_int_equal(rows[5].rc, -EREMOTEIO);
	assert_int_equal(tables[3][0], 0xEE);
	assert_int_equal(tables[5][1023], 0xEE);
	assert_int_equal(rows[4].rc, 0);
	assert_memory_equal(tables[4], port.nodes[4].lft, 1024);
}

static void count_ends(void *cookie, const struct hd_smp_result *result)
{
	*(uint32_t *)cookie += result->rc == 0;
}

/* A block that is set is the switch's, and no other one. */
static void blocks_are_set(void **state)
{
	uint8_t block[HD_LFT_BLOCK], before[SIMULATED_LIDS];
	uint32_t done = 0;

	(void)state;
	memset(block, 7, sizeof(block));
	memcpy(before, port.nodes[2].lft, sizeof(before));
	memset(before + 192, 7, 64);
	assert_int_equal(hd_lft_set(queue, 2, 3, block, count_ends, &done), 0);
	hd_smp_queue_run(queue);
	assert_int_equal(done, 1);
	assert_memory_equal(port.nodes[2].lft, before, sizeof(before));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(tables_are_read_back, start, stop),
	    cmocka_unit_test_setup_teardown(failures_stay_in_their_row, start, stop),
	    cmocka_unit_test_setup_teardown(blocks_are_set, start, stop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
