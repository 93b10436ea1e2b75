/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Fields of standard attributes, by the byte offsets of the InfiniBand specification. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <heddle/mad/smp.h>
#include <string.h>

/* Each byte has a value of its own: a field at a wrong place has a wrong value. */
static void fill(uint8_t *data)
{
	for (uint32_t i = 0; i < HD_SMP_DATA; i++)
		data[i] = (uint8_t)(0x40 + i);
}

static void node_info(void **state)
{
	uint8_t data[HD_SMP_DATA];
	struct hd_node_info info;

	(void)state;
	fill(data);
	data[2] = 2;
	hd_node_info_decode(data, &info);
	assert_true(info.is_switch);
	assert_int_equal(info.port_count, 0x43);
	assert_true(info.system_guid == UINT64_C(0x4445464748494a4b));
	assert_true(info.guid == UINT64_C(0x4c4d4e4f50515253));
	assert_true(info.port_guid == UINT64_C(0x5455565758595a5b));
	assert_int_equal(info.device, 0x5e5f);
	assert_int_equal(info.local_port, 0x64);
	assert_int_equal(info.vendor, 0x656667);
	data[2] = 1;
	hd_node_info_decode(data, &info);
	assert_false(info.is_switch);
}

static void switch_info(void **state)
{
	uint8_t data[HD_SMP_DATA];
	struct hd_switch_info info;

	(void)state;
	fill(data);
	hd_switch_info_decode(data, &info);
	assert_int_equal(info.linear_cap, 0x4041);
	assert_int_equal(info.linear_top, 0x4647);
}

static void port_info(void **state)
{
	uint8_t data[HD_SMP_DATA];
	struct hd_port_info info;

	(void)state;
	fill(data);
	data[32] = 0x24; /* supported speeds, state */
	data[33] = 0x52; /* physical state, default state when down */
	data[34] = 0x83; /* protection, LMC */
	hd_port_info_decode(data, &info);
	assert_int_equal(info.lid, 0x5051);
	assert_int_equal(info.sm_lid, 0x5253);
	assert_int_equal(info.state, 4);
	assert_int_equal(info.physical_state, 5);
	assert_int_equal(info.lmc, 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(node_info),
	    cmocka_unit_test(switch_info),
	    cmocka_unit_test(port_info),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
