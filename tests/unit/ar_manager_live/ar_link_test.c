/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A program on an SMP queue: switches that answer, that are silent for a while, and a port that
 * breaks. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "simulated_port.h"

#include <heddle/ar_manager/link.h>
#include <heddle/mad/queue.h>

#define SWITCHES 40u

struct scene {
	struct simulated_port port;
	struct hd_ar_link *link;
	struct hd_ar_info infos[SWITCHES];
	uint32_t calls; /* of go_on */
};

static uint16_t answer(void *context, uint32_t node, const struct hd_smp *smp, uint8_t *data)
{
	struct scene *scene = context;
	const struct hd_ar_capability_mask mask = {.words = {1u << HD_AR_CAN_REV1}};

	if (smp->attribute == HD_AR_GENERAL_INFO) {
		hd_ar_capability_mask_encode(&mask, data);
		return 0;
	}
	if (smp->attribute != HD_AR_INFO)
		return 0x0C;
	if (smp->method == HD_SMP_SET)
		hd_ar_info_decode(smp->data, &scene->infos[node]);
	hd_ar_info_encode(&scene->infos[node], data);
	return 0;
}

static void begin(struct scene *scene)
{
	const struct hd_smp_limits limits = HD_SMP_LIMITS_DEFAULT;
	struct hd_smp_address addresses[SWITCHES];
	uint64_t guids[SWITCHES];

	memset(scene, 0, sizeof(*scene));
	assert_true(simulated_port_start(&scene->port, SWITCHES, 1));
	scene->port.answer = answer;
	scene->port.context = scene;
	for (uint32_t i = 0; i < SWITCHES; i++) {
		addresses[i] = simulated_address(i);
		guids[i] = 100 + i;
		scene->infos[i] = (struct hd_ar_info){.group_cap = 10, .enabled = 1};
	}
	scene->link = hd_ar_link_new(&scene->port.port, &limits);
	assert_non_null(scene->link);
	assert_int_equal(hd_ar_link_aim(scene->link, guids, addresses, SWITCHES), 0);
}

static void end(struct scene *scene)
{
	hd_ar_link_free(scene->link);
	simulated_port_end(&scene->port);
}

/* Property: all switches are asked with two SMPs each, and switched off with one. */
static void works(void **state)
{
	struct scene scene;

	(void)state;
	begin(&scene);
	hd_ar_program_detect(hd_ar_link_program(scene.link));
	assert_int_equal(hd_ar_link_run(scene.link, NULL, NULL), 0);
	assert_int_equal(hd_ar_link_sent(scene.link), 2 * SWITCHES);
	hd_ar_program_disable(hd_ar_link_program(scene.link), false);
	assert_int_equal(hd_ar_link_run(scene.link, NULL, NULL), 0);
	assert_int_equal(hd_ar_link_sent(scene.link), 3 * SWITCHES);
	for (uint32_t i = 0; i < SWITCHES; i++)
		assert_int_equal(scene.infos[i].enabled, 0);
	end(&scene);
}

/* Property: a switch that is silent is reported, and asked again by the next detection. */
static void asks_a_silent_switch_again(void **state)
{
	struct scene scene;
	struct hd_ar_program *program;

	(void)state;
	begin(&scene);
	program = hd_ar_link_program(scene.link);
	scene.port.nodes[7].silent = SIMULATED_FOREVER;
	hd_ar_program_detect(program);
	assert_int_equal(hd_ar_link_run(scene.link, NULL, NULL), 0);
	assert_int_equal(hd_ar_program_report(program, 7).standing, HD_AR_SILENT);
	assert_int_equal(hd_ar_program_report(program, 8).standing, HD_AR_ABLE);
	scene.port.nodes[7].silent = 0;
	hd_ar_program_detect(program);
	assert_int_equal(hd_ar_link_run(scene.link, NULL, NULL), 0);
	assert_int_equal(hd_ar_program_report(program, 7).standing, HD_AR_ABLE);
	end(&scene);
}

/* Property: one of a vendor that never had the attributes has no adaptive routing then, and is asked no more. */
static void takes_silence_of_other_vendors_for_no(void **state)
{
	static const uint32_t known[] = {0, 0x2c9, 0x8f1, 0x119f};
	uint32_t vendors[SWITCHES] = {0};
	struct scene scene;
	struct hd_ar_program *program;

	(void)state;
	begin(&scene);
	program = hd_ar_link_program(scene.link);
	memcpy(vendors, known, sizeof(known));
	vendors[7] = vendors[8] = 0x66a; /* the second answers */
	hd_ar_program_set_vendors(program, vendors);
	for (uint32_t i = 0; i < 4; i++)
		scene.port.nodes[i].silent = SIMULATED_FOREVER;
	scene.port.nodes[7].silent = SIMULATED_FOREVER;
	hd_ar_program_detect(program);
	assert_int_equal(hd_ar_link_run(scene.link, NULL, NULL), 0);
	for (uint32_t i = 0; i < 4; i++)
		assert_int_equal(hd_ar_program_report(program, i).standing, HD_AR_SILENT);
	assert_int_equal(hd_ar_program_report(program, 7).standing, HD_AR_UNABLE);
	assert_int_equal(hd_ar_program_report(program, 8).standing, HD_AR_ABLE);
	end(&scene);
}

/* For ten simulated minutes. */
static bool not_for_ever(void *context)
{
	struct scene *scene = context;

	return scene->port.port.now(scene->port.port.context) < 600000;
}

/* Property: with default settings, a switch that becomes silent ends an operation within some
 * seconds, and is left. The others are switched off. */
static void leaves_a_switch_that_becomes_silent(void **state)
{
	struct scene scene;
	struct hd_ar_program *program;
	uint64_t begun;

	(void)state;
	begin(&scene);
	program = hd_ar_link_program(scene.link);
	hd_ar_program_detect(program);
	assert_int_equal(hd_ar_link_run(scene.link, NULL, NULL), 0);
	scene.port.nodes[7].silent = SIMULATED_FOREVER;
	begun = scene.port.port.now(scene.port.port.context);
	hd_ar_program_disable(program, false);
	assert_int_equal(hd_ar_link_run(scene.link, not_for_ever, &scene), 0);
	assert_true(scene.port.port.now(scene.port.port.context) - begun < 10000);
	assert_int_equal(hd_ar_program_report(program, 7).standing, HD_AR_LEFT);
	assert_true(hd_ar_program_report(program, 7).uncertain);
	assert_false(scene.infos[8].enabled);
	end(&scene);
}

static bool only_twice(void *context)
{
	return ++((struct scene *)context)->calls <= 2;
}

/* Property: a stop ends what is under way, and the link works again afterwards. */
static void stops(void **state)
{
	struct scene scene;
	struct hd_ar_program *program;

	(void)state;
	begin(&scene);
	program = hd_ar_link_program(scene.link);
	for (uint32_t i = 0; i < SWITCHES; i++)
		scene.port.nodes[i].delay_ms = 100;
	hd_ar_program_detect(program);
	assert_int_equal(hd_ar_link_run(scene.link, only_twice, &scene), -ECANCELED);
	assert_int_equal(hd_ar_program_busy(program), 0);
	assert_int_equal(hd_ar_program_report(program, 0).standing, HD_AR_UNASKED);
	hd_ar_program_detect(program);
	assert_int_equal(hd_ar_link_run(scene.link, NULL, NULL), 0);
	for (uint32_t i = 0; i < SWITCHES; i++)
		assert_int_equal(hd_ar_program_report(program, i).standing, HD_AR_ABLE);
	end(&scene);
}

/* Property: a port that breaks ends the operation with its error. */
static void reports_a_broken_port(void **state)
{
	struct scene scene;

	(void)state;
	begin(&scene);
	scene.port.broken = -EIO;
	hd_ar_program_detect(hd_ar_link_program(scene.link));
	assert_int_equal(hd_ar_link_run(scene.link, NULL, NULL), -EIO);
	assert_int_equal(hd_ar_program_busy(hd_ar_link_program(scene.link)), 0);
	end(&scene);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(works),
	    cmocka_unit_test(asks_a_silent_switch_again),
	    cmocka_unit_test(takes_silence_of_other_vendors_for_no),
	    cmocka_unit_test(leaves_a_switch_that_becomes_silent),
	    cmocka_unit_test(stops),
	    cmocka_unit_test(reports_a_broken_port),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
