/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* GeneralInfo, AdaptiveRoutingInfo, pFRNConfig and MlnxExtPortInfo. */
#include "bit_fields.h"

#include <heddle/ar_manager/diff.h>
#include <string.h>

#define READ(member, byte, bytes, high, low)                                                       \
	BIT_FIELDS_ROW(struct hd_ar_info, member, byte, bytes, high, low)
#define WRITE(member, byte, bytes, high, low)                                                      \
	BIT_FIELDS_WRITABLE(struct hd_ar_info, member, byte, bytes, high, low)

static const struct hd_ar_field info_fields[] = {
    READ(dyn_cap_calc_sup, 0, 1, 6, 6),
    READ(by_transp_cap, 0, 1, 5, 5),
    WRITE(by_sl_en, 0, 1, 4, 4),
    READ(by_sl_cap, 0, 1, 3, 3),
    READ(glb_groups, 0, 1, 2, 2),
    READ(is4_mode, 0, 1, 1, 1),
    WRITE(no_fallback, 0, 1, 0, 0),
    READ(direction_num_sup, 1, 1, 7, 0),
    READ(group_table_copy_sup, 2, 1, 7, 4),
    WRITE(sub_grps_active, 2, 1, 3, 0),
    READ(rn_xmit_enabled, 3, 1, 5, 5),
    WRITE(fr_enabled, 3, 1, 4, 4),
    READ(is_fr_sup, 3, 1, 3, 3),
    READ(is_frn_sup, 3, 1, 2, 2),
    READ(is_arn_sup, 3, 1, 1, 1),
    WRITE(enabled, 3, 1, 0, 0),
    READ(string_width_cap, 4, 4, 31, 28),
    READ(group_table_cap, 4, 4, 27, 24),
    WRITE(group_top, 4, 4, 23, 12),
    READ(group_cap, 4, 4, 11, 0),
    WRITE(enable_by_sl_mask, 8, 2, 15, 0),
    READ(sub_grps_supported, 10, 1, 7, 0),
    READ(rn_version_cap, 11, 1, 7, 4),
    READ(ar_version_cap, 11, 1, 3, 0),
    WRITE(by_transport_disable, 15, 1, 3, 0),
    WRITE(ageing_time_value, 16, 4, 31, 0),
    READ(hbf_sup, 20, 1, 7, 7),
    READ(whbf_sup, 20, 1, 6, 6),
    READ(symmetric_hash_sup, 20, 1, 5, 5),
    READ(dceth_hash_sup, 20, 1, 4, 4),
    READ(bth_dqp_hash_sup, 20, 1, 3, 3),
    READ(pfrn_sup, 20, 1, 1, 1),
    WRITE(by_sl_hbf_en, 22, 1, 7, 7),
    WRITE(whbf_en, 22, 1, 6, 6),
    WRITE(by_vl_en, 22, 1, 5, 5),
    WRITE(pfrn_enabled, 22, 1, 4, 4),
    READ(whbf_granularity, 24, 1, 7, 5),
    WRITE(enable_by_sl_mask_hbf, 26, 2, 15, 0),
};

#define INFO_FIELDS (sizeof(info_fields) / sizeof(info_fields[0]))

const struct hd_ar_field *hd_ar_info_fields(unsigned *count)
{
	*count = INFO_FIELDS;
	return info_fields;
}

void hd_ar_info_encode(const struct hd_ar_info *info, uint8_t data[HD_AR_DATA])
{
	memset(data, 0, HD_AR_DATA);
	bit_fields_encode(info_fields, INFO_FIELDS, info, data);
}

void hd_ar_info_decode(const uint8_t data[HD_AR_DATA], struct hd_ar_info *info)
{
	bit_fields_decode(info_fields, INFO_FIELDS, data, info);
}

static const struct hd_ar_field pfrn_fields[] = {
    BIT_FIELDS_ROW(struct hd_ar_pfrn_config, policy_sup, 0, 4, 0, 0),
    BIT_FIELDS_WRITABLE(struct hd_ar_pfrn_config, sl, 8, 1, 7, 4),
    BIT_FIELDS_WRITABLE(struct hd_ar_pfrn_config, policy, 11, 1, 3, 0),
    BIT_FIELDS_WRITABLE(struct hd_ar_pfrn_config, mask_force_clear_s, 12, 2, 10, 0),
    BIT_FIELDS_WRITABLE(struct hd_ar_pfrn_config, mask_clear_s, 14, 2, 10, 0),
};

#define PFRN_FIELDS (sizeof(pfrn_fields) / sizeof(pfrn_fields[0]))

void hd_ar_pfrn_config_encode(const struct hd_ar_pfrn_config *config, uint8_t data[HD_AR_DATA])
{
	memset(data, 0, HD_AR_DATA);
	bit_fields_encode(pfrn_fields, PFRN_FIELDS, config, data);
}

void hd_ar_pfrn_config_decode(const uint8_t data[HD_AR_DATA], struct hd_ar_pfrn_config *config)
{
	bit_fields_decode(pfrn_fields, PFRN_FIELDS, data, config);
}

static const struct hd_ar_field ext_port_fields[] = {
    BIT_FIELDS_WRITABLE(struct hd_ar_ext_port_info, adaptive_timeout_sl_mask, 52, 2, 15, 0),
    BIT_FIELDS_WRITABLE(struct hd_ar_ext_port_info, ooo_sl_mask, 54, 2, 15, 0),
};

#define EXT_PORT_FIELDS (sizeof(ext_port_fields) / sizeof(ext_port_fields[0]))

void hd_ar_ext_port_info_encode(const struct hd_ar_ext_port_info *info, uint8_t data[HD_AR_DATA])
{
	bit_fields_encode(ext_port_fields, EXT_PORT_FIELDS, info, data);
}

void hd_ar_ext_port_info_decode(const uint8_t data[HD_AR_DATA], struct hd_ar_ext_port_info *info)
{
	bit_fields_decode(ext_port_fields, EXT_PORT_FIELDS, data, info);
}

#define MASK_WORDS 4u

void hd_ar_capability_mask_encode(const struct hd_ar_capability_mask *mask,
				  uint8_t data[HD_AR_DATA])
{
	memset(data, 0, HD_AR_DATA);
	for (unsigned word = 0; word < MASK_WORDS; word++)
		bit_fields_put(data, 32 * word, 32, mask->words[word]);
}

void hd_ar_capability_mask_decode(const uint8_t data[HD_AR_DATA],
				  struct hd_ar_capability_mask *mask)
{
	for (unsigned word = 0; word < MASK_WORDS; word++)
		mask->words[word] = bit_fields_get(data, 32 * word, 32);
}

struct hd_ar_capability hd_ar_capability_of(const struct hd_ar_capability_mask *mask,
					    const struct hd_ar_info *info)
{
	struct hd_ar_capability can = {.form = HD_AR_FORM_NONE};

	if (!info || !info->group_cap)
		return can;
	if (hd_ar_capability_mask_has(mask, HD_AR_CAN_REV1))
		can.form = HD_AR_FORM_REV1;
	else if (hd_ar_capability_mask_has(mask, HD_AR_CAN_OLD))
		can.form = HD_AR_FORM_OLD;
	else
		return can;
	can.group_cap = info->group_cap;
	can.sub_groups = info->sub_grps_supported;
	can.private_tables = hd_ar_capability_mask_has(mask, HD_AR_CAN_PRIVATE_LFT);
	return can;
}

const char *hd_ar_transport_name(uint32_t bit)
{
	static const char *const names[HD_AR_TRANSPORTS] = {"UD", "RC", "UC", "DC"};

	return names[bit];
}

enum hd_ar_recovery hd_ar_recovery_of(const struct hd_ar_info *info)
{
	return info->pfrn_enabled ? HD_AR_RECOVERY_NOTICES
	       : info->fr_enabled ? HD_AR_RECOVERY_LOCAL
				  : HD_AR_RECOVERY_OFF;
}

enum hd_ar_recovery hd_ar_recovery_supported(const struct hd_ar_info *info)
{
	return info->pfrn_sup	 ? HD_AR_RECOVERY_NOTICES
	       : info->is_fr_sup ? HD_AR_RECOVERY_LOCAL
				 : HD_AR_RECOVERY_OFF;
}
