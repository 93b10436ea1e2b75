/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Switches are set when memory is short: then those before can still be asked. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "short_memory.h"
#include "simulated_port.h"

#include <heddle/ar_manager/link.h>
#include <heddle/mad/queue.h>

#define FEW 4u
#define MANY 40u

static uint16_t answer(void *context, uint32_t node, const struct hd_smp *smp, uint8_t *data)
{
	const struct hd_ar_capability_mask mask = {.words = {1u << HD_AR_CAN_REV1}};
	const struct hd_ar_info info = {.group_cap = 10};

	(void)context;
	(void)node;
	if (smp->attribute == HD_AR_GENERAL_INFO)
		hd_ar_capability_mask_encode(&mask, data);
	else
		hd_ar_info_encode(&info, data);
	return 0;
}

/* Property: whichever allocation fails, all switches that the link has then are reached. */
static void aims_or_stays(void **state)
{
	const struct hd_smp_limits limits = HD_SMP_LIMITS_DEFAULT;
	struct hd_smp_address addresses[MANY];
	uint64_t guids[MANY], failed = 1;

	(void)state;
	for (uint32_t i = 0; i < MANY; i++) {
		addresses[i] = simulated_address(i);
		guids[i] = 100 + i;
	}
	for (uint64_t nth = 1; failed; nth++) {
		struct simulated_port port;
		assert_true(simulated_port_start(&port, MANY, 1));
		port.answer = answer;
		struct hd_ar_link *link = hd_ar_link_new(&port.port, &limits);
		assert_non_null(link);
		assert_int_equal(hd_ar_link_aim(link, guids, addresses, FEW), 0);
		short_memory_begin(nth, SHORT_MEMORY_ONCE);
		int rc = hd_ar_link_aim(link, guids, addresses, MANY);
		failed = short_memory_end().failed;
		struct hd_ar_program *program = hd_ar_link_program(link);
		assert_int_equal(rc, failed ? -ENOMEM : 0);
		assert_int_equal(hd_ar_program_switch_count(program), failed ? FEW : MANY);
		hd_ar_program_detect(program);
		assert_int_equal(hd_ar_link_run(link, NULL, NULL), 0);
		for (uint32_t i = 0; i < hd_ar_program_switch_count(program); i++)
			assert_int_equal(hd_ar_program_report(program, i).standing, HD_AR_ABLE);
		hd_ar_link_free(link);
		simulated_port_end(&port);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(aims_or_stays)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
