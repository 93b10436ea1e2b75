/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Hosts learn on which service levels packets may come out of order. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "host_masks_testing.h"

#define MASK 0x00F0u

static int tell(struct hosts *hosts, enum hd_ar_host_state *states)
{
	const struct hd_smp_limits limits = HD_SMP_LIMITS_DEFAULT;
	const struct hd_ar_hosts list = hosts_list(hosts, HOSTS);
	struct hd_error err = {""};

	return hd_ar_host_masks_set(&hosts->port.port, &limits, &list, MASK, hosts_go_on, hosts,
				    states, &err);
}

/* Property: one Set for each host that has the attribute and another mask, which changes the mask
 * alone; every other host ends in the state that says why it got none. */
static void each_host_ends_in_its_state(void **state)
{
	static const enum hd_ar_host_state expected[HOSTS] = {
	    HD_AR_HOST_HELD,	HD_AR_HOST_CHANGED, HD_AR_HOST_WITHOUT,
	    HD_AR_HOST_WITHOUT, HD_AR_HOST_REFUSED, HD_AR_HOST_SILENT};
	enum hd_ar_host_state states[HOSTS];
	struct hosts hosts;

	(void)state;
	hosts_begin(&hosts, MASK);
	assert_int_equal(tell(&hosts, states), 0);
	assert_memory_equal(states, expected, sizeof(states));
	assert_int_equal(hosts.sets, 2);
	for (unsigned i = 0; i < HD_AR_DATA; i++)
		assert_int_equal(hosts.records[HOST_UNTOLD][i], i == 54	  ? MASK >> 8
								: i == 55 ? MASK & 0xFF
									  : 0x5A);
	assert_int_equal(tell(&hosts, states), 0);
	assert_int_equal(states[HOST_UNTOLD], HD_AR_HOST_HELD);
	simulated_port_end(&hosts.port);
}

/* Property: when there is no more time, nothing more is sent, and the hosts count as not asked. */
static void it_ends_when_it_is_stopped(void **state)
{
	enum hd_ar_host_state states[HOSTS];
	struct hosts hosts;

	(void)state;
	hosts_begin(&hosts, MASK);
	hosts.going = false;
	assert_int_equal(tell(&hosts, states), -ECANCELED);
	assert_int_equal(hosts.sets, 0);
	assert_int_equal(states[HOST_SILENT], HD_AR_HOST_UNASKED);
	simulated_port_end(&hosts.port);
}

/* Property: a port that breaks is an error. */
static void a_broken_port_is_an_error(void **state)
{
	enum hd_ar_host_state states[HOSTS];
	struct hosts hosts;

	(void)state;
	hosts_begin(&hosts, MASK);
	hosts.port.broken = -EIO;
	assert_int_equal(tell(&hosts, states), -EIO);
	simulated_port_end(&hosts.port);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(each_host_ends_in_its_state),
	    cmocka_unit_test(it_ends_when_it_is_stopped),
	    cmocka_unit_test(a_broken_port_is_an_error),
	};

	return cmocka_run_group_tests_name("host_masks", tests, NULL, NULL);
}
