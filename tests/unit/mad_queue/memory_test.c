/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The queue of SMPs when memory is short. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "short_memory.h"

#include <heddle/mad/queue.h>
#include <simulated_port.h>

#define TOP (SIMULATED_LIDS - 1)

static struct simulated_port port;

struct reading {
	struct hd_smp_queue *queue;
	uint32_t ended;
	uint8_t ports[SIMULATED_LIDS];
	struct hd_lft_row rows[40];
};

static int call(void *context, struct hd_error *err)
{
	const struct hd_smp_limits limits = HD_SMP_LIMITS_DEFAULT;
	struct reading *reading = context;

	reading->queue = hd_smp_queue_new(&port.port, &limits, 40);
	if (!reading->queue)
		return hd_error_no_memory(err);
	for (uint32_t i = 0; i < 40; i++) {
		reading->rows[i] =
		    (struct hd_lft_row){.destination = i, .top_lid = TOP, .ports = reading->ports};
		if (hd_lft_read(reading->queue, &reading->rows[i]))
			return hd_error_no_memory(err);
	}
	return 0;
}

/* What was queued before memory ran short is done. */
static void settle(void *context, int rc)
{
	struct reading *reading = context;
	uint32_t queued = reading->queue ? hd_smp_queue_pending(reading->queue) : 0;

	assert_true(rc || queued == 40 * 16);
	if (reading->queue) {
		for (uint32_t i = 0; i < 40; i++) {
			struct hd_smp_address address = simulated_address(i);

			hd_smp_queue_aim(reading->queue, i, &address);
		}
		assert_int_equal(hd_smp_queue_run(reading->queue), 0);
		assert_int_equal(hd_smp_queue_counts(reading->queue)->done, queued);
	}
	hd_smp_queue_free(reading->queue);
}

static void a_queue_fails_cleanly(void **state)
{
	static struct reading reading;
	struct short_memory_case tried = {"queue", &reading, call, settle, 0};

	(void)state;
	assert_true(simulated_port_start(&port, 40, 1));
	assert_in_range(short_memory_try(&tried), 3, 1000);
	simulated_port_end(&port);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_queue_fails_cleanly),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
