/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a caller can do about requests that are late: other addresses, or no more tries. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "simulated_port.h"

#include <errno.h>
#include <heddle/mad/queue.h>
#include <string.h>

static struct simulated_port port;
static struct hd_smp_queue *queue;

/* What was called back. */
static struct {
	uint32_t late[8], tries[8], late_count;
	uint32_t most; /* tries */
	uint32_t detour; /* node to which a late request goes; HD_NONE: none */
	uint32_t ended, failed;
	int rc; /* of the last one */
	uint64_t when;
} seen;

static bool on_late(void *context, uint32_t destination, uint32_t tries)
{
	const struct hd_smp_address address = simulated_address(seen.detour);

	assert_ptr_equal(context, &seen);
	assert_true(seen.late_count < 8);
	seen.late[seen.late_count] = destination;
	seen.tries[seen.late_count++] = tries;
	if (seen.detour != UINT32_MAX)
		hd_smp_queue_aim(queue, destination, &address);
	return tries < seen.most;
}

static void on_end(void *cookie, const struct hd_smp_result *result)
{
	(void)cookie;
	seen.ended++;
	seen.failed += result->rc != 0;
	if (result->rc)
		seen.rc = result->rc;
	seen.when = port.now;
}

static void start(uint32_t most, uint32_t detour)
{
	const struct hd_smp_limits limits = HD_SMP_LIMITS_DEFAULT;

	memset(&seen, 0, sizeof(seen));
	seen.most = most;
	seen.detour = detour;
	assert_true(simulated_port_start(&port, 3, 1));
	queue = hd_smp_queue_new(&port.port, &limits, 2);
	assert_non_null(queue);
	for (uint32_t node = 0; node < 2; node++) {
		const struct hd_smp_address address = simulated_address(node);
		hd_smp_queue_aim(queue, node, &address);
	}
	hd_smp_queue_on_late(queue, on_late, &seen);
	port.nodes[0].silent = SIMULATED_FOREVER;
}

static void run(uint32_t requests)
{
	const struct hd_smp smp = {.method = HD_SMP_GET, .attribute = HD_SMP_LFT};
	const uint64_t begin = port.now;

	for (uint32_t i = 0; i < requests; i++)
		for (uint32_t node = 0; node < 2; node++)
			assert_int_equal(hd_smp_queue_submit(queue, node, &smp, on_end, NULL), 0);
	assert_int_equal(hd_smp_queue_run(queue), 0);
	assert_int_equal(seen.ended, 2 * requests);
	seen.when -= begin;
	hd_smp_queue_free(queue);
	simulated_port_end(&port);
}

/* The second try goes by the new address, and so does all that follows. */
static void another_address(void **state)
{
	(void)state;
	start(UINT32_MAX, 2);
	run(5);
	assert_int_equal(seen.failed, 0);
	assert_int_equal(seen.late_count, 1);
	assert_int_equal(seen.late[0], 0);
	assert_int_equal(seen.tries[0], 1);
}

/* The caller is asked before each further try, and not after the last one. */
static void all_tries(void **state)
{
	(void)state;
	start(UINT32_MAX, UINT32_MAX);
	run(1);
	assert_int_equal(seen.failed, 1);
	assert_int_equal(seen.rc, -ETIMEDOUT);
	assert_int_equal(seen.late_count, 3);
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(seen.tries[i], i + 1);
}

/* Without a further try the node is given up, as after the last one: so all ends sooner. */
static void no_more_tries(void **state)
{
	(void)state;
	start(2, UINT32_MAX);
	run(5);
	assert_int_equal(seen.failed, 5);
	assert_int_equal(seen.rc, -EHOSTDOWN);
	assert_int_equal(seen.late_count, 2);
	assert_int_equal(seen.when, 200 + 400);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(another_address),
					   cmocka_unit_test(all_tries),
					   cmocka_unit_test(no_more_tries)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
