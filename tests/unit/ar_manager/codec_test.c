/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The attributes for adaptive routing: known vectors, and each field by itself. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <heddle/ar_manager.h>
#include <heddle/base/random.h>

static void all_bytes(uint8_t data[HD_AR_DATA], uint8_t value)
{
	memset(data, value, HD_AR_DATA);
}

static void is_zero_but(const uint8_t data[HD_AR_DATA], unsigned first, unsigned count)
{
	for (unsigned i = 0; i < HD_AR_DATA; i++)
		if (i < first || i >= first + count)
			assert_int_equal(data[i], 0);
}

/* Property: a switch that has only the new form of AR has capability 2 and begins 00 00 00 04. */
static void capabilities(void **state)
{
	struct hd_ar_capability_mask mask = {{0}}, back;
	uint8_t data[HD_AR_DATA];
	const uint8_t rev1[] = {0, 0, 0, 4};

	(void)state;
	mask.words[0] = 1u << HD_AR_CAN_REV1;
	hd_ar_capability_mask_encode(&mask, data);
	assert_memory_equal(data, rev1, sizeof(rev1));
	for (unsigned bit = 0; bit < 128; bit++) {
		all_bytes(data, 0);
		/* dword bit / 32, counted from its low end */
		data[bit / 32 * 4 + 3 - bit % 32 / 8] = (uint8_t)(1u << bit % 8);
		hd_ar_capability_mask_decode(data, &back);
		for (unsigned other = 0; other < 128; other++)
			assert_int_equal(hd_ar_capability_mask_has(&back, other), other == bit);
	}
}

/* Where each field is, in other words than those of the codec's table: byte, and value of the field
 * there when only its lowest bit is set. */
struct place {
	const char *name;
	unsigned byte;
	unsigned lowest; /* value of that byte */
	unsigned bits;
};

static const struct place places[] = {
    {"dyn_cap_calc_sup", 0, 0x40, 1},
    {"by_transp_cap", 0, 0x20, 1},
    {"by_sl_en", 0, 0x10, 1},
    {"by_sl_cap", 0, 0x08, 1},
    {"glb_groups", 0, 0x04, 1},
    {"is4_mode", 0, 0x02, 1},
    {"no_fallback", 0, 0x01, 1},
    {"direction_num_sup", 1, 0x01, 8},
    {"group_table_copy_sup", 2, 0x10, 4},
    {"sub_grps_active", 2, 0x01, 4},
    {"rn_xmit_enabled", 3, 0x20, 1},
    {"fr_enabled", 3, 0x10, 1},
    {"is_fr_sup", 3, 0x08, 1},
    {"is_frn_sup", 3, 0x04, 1},
    {"is_arn_sup", 3, 0x02, 1},
    {"enabled", 3, 0x01, 1},
    {"string_width_cap", 4, 0x10, 4},
    {"group_table_cap", 4, 0x01, 4},
    {"group_top", 6, 0x10, 12},
    {"group_cap", 7, 0x01, 12},
    {"enable_by_sl_mask", 9, 0x01, 16},
    {"sub_grps_supported", 10, 0x01, 8},
    {"rn_version_cap", 11, 0x10, 4},
    {"ar_version_cap", 11, 0x01, 4},
    {"by_transport_disable", 15, 0x01, 4},
    {"ageing_time_value", 19, 0x01, 32},
    {"hbf_sup", 20, 0x80, 1},
    {"whbf_sup", 20, 0x40, 1},
    {"symmetric_hash_sup", 20, 0x20, 1},
    {"dceth_hash_sup", 20, 0x10, 1},
    {"bth_dqp_hash_sup", 20, 0x08, 1},
    {"pfrn_sup", 20, 0x02, 1},
    {"by_sl_hbf_en", 22, 0x80, 1},
    {"whbf_en", 22, 0x40, 1},
    {"by_vl_en", 22, 0x20, 1},
    {"pfrn_enabled", 22, 0x10, 1},
    {"whbf_granularity", 24, 0x20, 3},
    {"enable_by_sl_mask_hbf", 27, 0x01, 16},
};

static uint32_t *member(struct hd_ar_info *info, const struct hd_ar_field *field)
{
	return (uint32_t *)((char *)info + field->offset);
}

/* Property: the lowest bit of each field is where the format has it, the field is as wide as there,
 * and it is the only one that a bit changes. */
static void info_fields(void **state)
{
	unsigned count;
	const struct hd_ar_field *fields = hd_ar_info_fields(&count);

	(void)state;
	assert_int_equal(count, sizeof(places) / sizeof(places[0]));
	assert_int_equal(count, sizeof(struct hd_ar_info) / sizeof(uint32_t));
	for (unsigned i = 0; i < count; i++) {
		struct hd_ar_info info = {0}, back;
		uint8_t data[HD_AR_DATA];
		uint64_t highest = UINT64_C(1) << (places[i].bits - 1);
		assert_string_equal(fields[i].name, places[i].name);
		*member(&info, &fields[i]) = 1;
		hd_ar_info_encode(&info, data);
		assert_int_equal(data[places[i].byte], places[i].lowest);
		is_zero_but(data, places[i].byte, 1);
		*member(&info, &fields[i]) = (uint32_t)highest;
		hd_ar_info_encode(&info, data);
		hd_ar_info_decode(data, &back);
		assert_memory_equal(&back, &info, sizeof(info));
		*member(&info, &fields[i]) = (uint32_t)(2 * highest);
		hd_ar_info_encode(&info, data);
		is_zero_but(data, 0, 0);
	}
}

/* Property: reserved bits are ignored when read and 0 when written; all others survive. */
static void info_round_trip(void **state)
{
	uint64_t random = 7;

	(void)state;
	for (unsigned trial = 0; trial < 200; trial++) {
		uint8_t data[HD_AR_DATA], once[HD_AR_DATA], twice[HD_AR_DATA];
		struct hd_ar_info info, back;
		for (unsigned i = 0; i < HD_AR_DATA; i++)
			data[i] = (uint8_t)hd_random_next(&random);
		hd_ar_info_decode(data, &info);
		hd_ar_info_encode(&info, once);
		for (unsigned i = 0; i < HD_AR_DATA; i++)
			assert_int_equal(once[i] & ~data[i], 0);
		hd_ar_info_decode(once, &back);
		assert_memory_equal(&back, &info, sizeof(info));
		hd_ar_info_encode(&back, twice);
		assert_memory_equal(twice, once, sizeof(once));
		assert_int_equal(once[0] & 0x80, 0);
		is_zero_but(once, 0, 28);
	}
}

/* Property: port p is bit p mod 8 of byte 31 - p/8 of its half. */
static void groups(void **state)
{
	(void)state;
	for (unsigned half = 0; half < HD_AR_GROUP_BLOCK; half++)
		for (uint32_t port = 0; port < HD_PORT_SET_SIZE; port++) {
			struct hd_port_set elements[HD_AR_GROUP_BLOCK] = {{{0}}}, back[2];
			uint8_t data[HD_AR_DATA];
			hd_port_set_add(&elements[half], port);
			all_bytes(data, 0xFF);
			hd_ar_group_block_encode(elements, data);
			assert_int_equal(data[32 * half + 31 - port / 8], 1u << port % 8);
			is_zero_but(data, 32 * half + 31 - port / 8, 1);
			hd_ar_group_block_decode(data, back);
			assert_memory_equal(back, elements, sizeof(back));
		}
	assert_int_equal(hd_ar_group_modifier(&hd_ar_quirks_default, 2, 3, 0x155), 0x02030155);
	assert_int_equal(hd_ar_lft_modifier(1, 3071), 0x01000BFF);
}

/* Property: the new form of the AR LFT, by the vectors that are known. */
static void rev1_vectors(void **state)
{
	struct hd_ar_entry entries[HD_AR_REV1_BLOCK] = {
	    {HD_AR_FREE, 0, 7, 0x12}, {HD_AR_STATIC, 0, 3, 0}, {HD_AR_BOUNDED, 2, 1, 5}};
	const uint8_t expected[] = {0x40, 7, 0, 0x12, 0x80, 3, 0, 0, 2, 1, 0, 5, 0, 0, 0, 0};
	struct hd_ar_entry back[HD_AR_REV1_BLOCK];
	uint8_t data[HD_AR_DATA];

	(void)state;
	entries[15] = (struct hd_ar_entry){HD_AR_HASH_BASED, 15, 0xFF, 0xFFF};
	all_bytes(data, 0xFF);
	hd_ar_rev1_encode(entries, data);
	assert_memory_equal(data, expected, sizeof(expected));
	const uint8_t last[] = {0xCF, 0xFF, 0x0F, 0xFF};
	assert_memory_equal(data + 60, last, sizeof(last));
	data[0] |= 0x30;
	data[2] |= 0xF0;
	hd_ar_rev1_decode(data, back);
	assert_memory_equal(back, entries, sizeof(entries));
}

/* Property: the old form has the port or the group, by the state. */
static void old_form(void **state)
{
	struct hd_ar_entry entries[HD_AR_OLD_BLOCK] = {
	    {HD_AR_FREE, 0, 0, 0x12}, {HD_AR_STATIC, 0, 3, 0}, {HD_AR_BOUNDED, 2, 0, 5}};
	const uint8_t expected[] = {0x40, 0x12, 0x80, 3, 2, 5, 0, 0};
	struct hd_ar_entry back[HD_AR_OLD_BLOCK];
	uint8_t data[HD_AR_DATA];

	(void)state;
	all_bytes(data, 0xFF);
	hd_ar_old_encode(entries, data);
	assert_memory_equal(data, expected, sizeof(expected));
	hd_ar_old_decode(data, back);
	assert_memory_equal(back, entries, sizeof(entries));
	entries[0].port = 9; /* the old form has no place for it */
	hd_ar_old_encode(entries, data);
	assert_memory_equal(data, expected, sizeof(expected));
}

/* Property: any bytes of an AR LFT are the same after decoding and encoding, reserved bits aside.
 */
static void tables_round_trip(void **state)
{
	uint64_t random = 11;

	(void)state;
	for (unsigned trial = 0; trial < 200; trial++) {
		uint8_t data[HD_AR_DATA], once[HD_AR_DATA];
		struct hd_ar_entry entries[HD_AR_OLD_BLOCK];
		struct hd_ar_copy_range ranges[HD_AR_COPY_RANGES];
		for (unsigned i = 0; i < HD_AR_DATA; i++)
			data[i] = (uint8_t)hd_random_next(&random);
		hd_ar_rev1_decode(data, entries);
		hd_ar_rev1_encode(entries, once);
		for (unsigned i = 0; i < HD_AR_DATA; i++)
			assert_int_equal(once[i], data[i] & (i % 4 == 0	  ? 0xCF
							     : i % 4 == 2 ? 0x0F
									  : 0xFF));
		hd_ar_old_decode(data, entries);
		hd_ar_old_encode(entries, once);
		for (unsigned i = 0; i < HD_AR_DATA; i++)
			assert_int_equal(once[i], data[i] & (i % 2 ? 0xFF : 0xCF));
		hd_ar_group_copy_decode(data, ranges);
		hd_ar_group_copy_encode(ranges, once);
		for (unsigned i = 0; i < HD_AR_DATA; i++)
			assert_int_equal(once[i], data[i] & (i % 2 ? 0xFF : 0x0F));
	}
}

/* Property: a copy names the last group before the first. */
static void group_copy(void **state)
{
	struct hd_ar_copy_range ranges[HD_AR_COPY_RANGES] = {{.first = 0x123, .last = 0x456}};
	const uint8_t expected[] = {4, 0x56, 1, 0x23, 0, 0, 0, 0};
	uint8_t data[HD_AR_DATA];

	(void)state;
	hd_ar_group_copy_encode(ranges, data);
	assert_memory_equal(data, expected, sizeof(expected));
}

/* Property: the records of private forwarding tables. */
static void private_tables(void **state)
{
	struct hd_ar_private_info info = {.table_count = 36, .mode_cap = 2, .active_mode = 1}, seen;
	struct hd_ar_private_bank banks[HD_AR_PRIVATE_BANKS] = {{5, 96, 3}}, seen_banks[16];
	struct hd_ar_private_map map = {.top_enabled = true, .top = 0xBFFF}, seen_map;
	struct hd_ar_port_sl_map sls = {{{0}}}, seen_sls;
	uint8_t data[HD_AR_DATA];
	const uint8_t info_bytes[] = {0, 36, 2, 1, 48, 3, 0, 0}, bank_bytes[] = {5, 96, 0, 3, 0};
	const uint8_t map_bytes[] = {0, 0, 0, 2};

	(void)state;
	info.modes[0].bank_kilolids = 48;
	info.modes[0].banks = 3;
	hd_ar_private_info_encode(&info, data);
	assert_memory_equal(data, info_bytes, sizeof(info_bytes));
	hd_ar_private_info_decode(data, &seen);
	assert_memory_equal(&seen, &info, sizeof(info));
	hd_ar_private_def_encode(banks, data);
	assert_memory_equal(data, bank_bytes, sizeof(bank_bytes));
	hd_ar_private_def_decode(data, seen_banks);
	assert_memory_equal(seen_banks, banks, sizeof(banks));
	hd_port_set_add(&map.ports, 36);
	hd_ar_private_map_encode(&map, data);
	assert_memory_equal(data, map_bytes, sizeof(map_bytes));
	assert_int_equal(data[4 + 31 - 4], 1u << 4);
	assert_int_equal(data[38], 0xBF);
	assert_int_equal(data[39], 0xFF);
	hd_ar_private_map_decode(data, &seen_map);
	assert_int_equal(seen_map.top, map.top);
	assert_true(seen_map.top_enabled && !seen_map.port_mask_enabled);
	assert_true(hd_port_set_equal(&seen_map.ports, &map.ports));
	sls.table[2][5] = 1;
	hd_ar_port_sl_map_encode(&sls, data);
	assert_int_equal(data[2 * 16 + 5], 1);
	hd_ar_port_sl_map_decode(data, &seen_sls);
	assert_memory_equal(&seen_sls, &sls, sizeof(sls));
}

/* Property: only the two masks of MlnxExtPortInfo change. */
static void ext_port_info(void **state)
{
	struct hd_ar_ext_port_info info = {0x1234, 0xABCD}, back;
	uint8_t data[HD_AR_DATA];

	(void)state;
	all_bytes(data, 0x5A);
	hd_ar_ext_port_info_encode(&info, data);
	for (unsigned i = 0; i < HD_AR_DATA; i++)
		if (i < 52 || i > 55)
			assert_int_equal(data[i], 0x5A);
	const uint8_t masks[] = {0x12, 0x34, 0xAB, 0xCD};
	assert_memory_equal(data + 52, masks, sizeof(masks));
	hd_ar_ext_port_info_decode(data, &back);
	assert_memory_equal(&back, &info, sizeof(info));
}

/* Property: pFRNConfig has its fields where the table of the format has them, times of 11 bits, and nothing else. */
static void pfrn_config(void **state)
{
	const struct hd_ar_pfrn_config config = {.policy_sup = 1,
						 .sl = 5,
						 .policy = HD_AR_PFRN_DFP,
						 .mask_force_clear_s = 0x3FE,
						 .mask_clear_s = 100};
	const uint8_t bytes[16] = {0, 0, 0, 1, 0, 0, 0, 0, 0x50, 0, 0, 1, 0x03, 0xFE, 0, 100};
	struct hd_ar_pfrn_config back;
	uint8_t data[HD_AR_DATA];

	(void)state;
	hd_ar_pfrn_config_encode(&config, data);
	assert_memory_equal(data, bytes, sizeof(bytes));
	is_zero_but(data, 0, sizeof(bytes));
	hd_ar_pfrn_config_decode(data, &back);
	assert_memory_equal(&back, &config, sizeof(back));
	all_bytes(data, 0xFF);
	hd_ar_pfrn_config_decode(data, &back);
	assert_int_equal(back.mask_force_clear_s, 0x7FF);
	assert_int_equal(back.mask_clear_s, 0x7FF);
}

/* Property: a record of NeighborsInfo takes 16 bytes, in the order of ports; only its own change with it. A switch has
 * as many blocks as its ports take. */
static void neighbours(void **state)
{
	struct hd_n2n_neighbour records[HD_N2N_NEIGHBOURS] = {{0}}, back;
	struct hd_n2n_neighbour all[HD_N2N_NEIGHBOURS];
	const uint8_t bytes[16] = {0x40, 0, 0x12, 0x34, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8};
	struct hd_ar_quirks quirks = hd_ar_quirks_default;
	uint8_t data[HD_N2N_DATA];

	(void)state;
	for (unsigned i = 0; i < HD_N2N_NEIGHBOURS; i++) {
		records[i] = (struct hd_n2n_neighbour){2, 0x1234, 0x0102030405060708};
		hd_n2n_neighbours_encode(records, data);
		for (unsigned at = 0; at < HD_N2N_DATA; at++)
			assert_int_equal(data[at], at / 16 == i ? bytes[at % 16] : 0);
		hd_n2n_neighbours_decode(data, all);
		back = all[i];
		assert_int_equal(back.node_type, 2);
		assert_int_equal(back.lid, 0x1234);
		assert_int_equal(back.key, 0x0102030405060708);
		records[i] = (struct hd_n2n_neighbour){0, 0, 0};
	}
	assert_int_equal(hd_n2n_blocks(13, &quirks), 1);
	assert_int_equal(hd_n2n_blocks(14, &quirks), 2);
	quirks.first_neighbour = 1;
	assert_int_equal(hd_n2n_blocks(14, &quirks), 1);
	assert_int_equal(hd_n2n_blocks(15, &quirks), 2);
}

/* Property: KeyInfo has its fields one after the other; the protection is the highest bit of its two bytes. */
static void key_info(void **state)
{
	const struct hd_n2n_key_info info = {0x1112131415161718, true, 0x2122, 0x3132, 0x4142};
	const uint8_t bytes[16] = {0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18,
				   0x80, 0,    0x21, 0x22, 0x31, 0x32, 0x41, 0x42};
	struct hd_n2n_key_info back;
	uint8_t data[HD_N2N_DATA];

	(void)state;
	hd_n2n_key_info_encode(&info, data);
	assert_memory_equal(data, bytes, sizeof(bytes));
	for (unsigned at = sizeof(bytes); at < HD_N2N_DATA; at++)
		assert_int_equal(data[at], 0);
	hd_n2n_key_info_decode(data, &back);
	assert_int_equal(back.manager_key, info.manager_key);
	assert_true(back.protect);
	assert_int_equal(back.lease_s, info.lease_s);
	assert_int_equal(back.violations, info.violations);
	assert_int_equal(back.node_violations, info.node_violations);
}

/* Property: a switch that knows both forms uses the new one; without room for groups it has no AR.
 */
static void capability_of_answers(void **state)
{
	struct hd_ar_capability_mask mask = {{1u << HD_AR_CAN_OLD | 1u << HD_AR_CAN_REV1}};
	struct hd_ar_info info = {.group_cap = 100, .sub_grps_supported = 2};

	(void)state;
	struct hd_ar_capability can = hd_ar_capability_of(&mask, &info);
	assert_int_equal(can.form, HD_AR_FORM_REV1);
	assert_int_equal(can.group_cap, 100);
	assert_int_equal(can.sub_groups, 2);
	assert_false(can.private_tables);
	mask.words[0] = 1u << HD_AR_CAN_OLD | 1u << HD_AR_CAN_PRIVATE_LFT;
	can = hd_ar_capability_of(&mask, &info);
	assert_int_equal(can.form, HD_AR_FORM_OLD);
	assert_true(can.private_tables);
	info.group_cap = 0;
	assert_int_equal(hd_ar_capability_of(&mask, &info).form, HD_AR_FORM_NONE);
	assert_int_equal(hd_ar_capability_of(&mask, NULL).form, HD_AR_FORM_NONE);
	mask.words[0] = 0;
	info.group_cap = 100;
	assert_int_equal(hd_ar_capability_of(&mask, &info).form, HD_AR_FORM_NONE);
}

/* Property: the options of the quirks have the defaults of the constant. */
static void quirks(void **state)
{
	struct hd_options *options = hd_options_new(hd_ar_quirk_options, hd_ar_quirk_option_count);

	(void)state;
	struct hd_ar_quirks quirks = hd_ar_quirks_from(options);
	assert_int_equal(quirks.old_block_lids, hd_ar_quirks_default.old_block_lids);
	assert_int_equal(quirks.active_minus_one, hd_ar_quirks_default.active_minus_one);
	assert_int_equal(quirks.table_shift, hd_ar_quirks_default.table_shift);
	assert_int_equal(quirks.sub_group_major, hd_ar_quirks_default.sub_group_major);
	assert_int_equal(quirks.unreachable_port, hd_ar_quirks_default.unreachable_port);
	assert_int_equal(quirks.group_copy, hd_ar_quirks_default.group_copy);
	assert_int_equal(quirks.first_neighbour, hd_ar_quirks_default.first_neighbour);
	assert_int_equal(hd_options_set(options, "active_sub_groups", "less-one", NULL), 0);
	assert_true(hd_ar_quirks_from(options).active_minus_one);
	hd_options_free(options);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(capabilities),
	    cmocka_unit_test(info_fields),
	    cmocka_unit_test(info_round_trip),
	    cmocka_unit_test(groups),
	    cmocka_unit_test(rev1_vectors),
	    cmocka_unit_test(old_form),
	    cmocka_unit_test(tables_round_trip),
	    cmocka_unit_test(group_copy),
	    cmocka_unit_test(private_tables),
	    cmocka_unit_test(ext_port_info),
	    cmocka_unit_test(capability_of_answers),
	    cmocka_unit_test(quirks),
	    cmocka_unit_test(pfrn_config),
	    cmocka_unit_test(neighbours),
	    cmocka_unit_test(key_info),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
