/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Hosts get the SL mask, while each allocation fails in turn. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "host_masks_testing.h"
#include "short_memory.h"

static int tell(void *context, struct hd_error *err)
{
	const struct hd_smp_limits limits = HD_SMP_LIMITS_DEFAULT;
	struct hosts *hosts = context;
	enum hd_ar_host_state states[HOSTS];
	const struct hd_ar_hosts list = hosts_list(hosts, HOST_SILENT);

	memset(hosts->records[HOST_UNTOLD], 0, HD_AR_DATA);
	return hd_ar_host_masks_set(&hosts->port.port, &limits, &list, 0x0F, NULL, NULL, states,
				    err);
}

static void settle(void *context, int rc)
{
	struct hosts *hosts = context;

	if (!rc)
		assert_int_equal(hosts->records[HOST_UNTOLD][55], 0x0F);
}

/* Property: without memory the error says so, and nothing leaks. */
static void hosts_get_the_mask(void **state)
{
	struct hosts hosts;
	struct short_memory_case tried = {"hosts get the mask", &hosts, tell, settle, 0};

	(void)state;
	hosts_begin(&hosts, 0x0F);
	/* the simulated port keeps its own lists: they have grown after the first call */
	assert_int_equal(tell(&hosts, NULL), 0);
	assert_true(short_memory_try(&tried) > 2);
	simulated_port_end(&hosts.port);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(hosts_get_the_mask),
	};

	return cmocka_run_group_tests_name("host_masks_memory", tests, NULL, NULL);
}
