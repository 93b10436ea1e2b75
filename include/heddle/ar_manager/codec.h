/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The vendor's SMP attributes for adaptive routing: between the 64 bytes of SMP data and structs in
 * host byte order.
 *
 * Reserved bits are written as 0 and ignored when read. To change a writable field of a switch, get
 * its record, change the field, and set the whole record. What is not known for certain of the
 * format is in struct hd_ar_quirks; nothing here was checked on hardware.
 *
 * All functions take constant time. Decoders accept any bytes.
 */
#ifndef HEDDLE_AR_MANAGER_CODEC_H
#define HEDDLE_AR_MANAGER_CODEC_H

#include <heddle/ar_manager/plan.h>
#include <heddle/base/options.h>
#include <heddle/base/port_set.h>
#include <stdbool.h>
#include <stdint.h>

#define HD_AR_DATA 64u /* bytes of SMP data */

enum hd_ar_attribute {
	HD_AR_PRIVATE_LFT_INFO = 0xFF10,
	HD_AR_PRIVATE_LFT_DEF = 0xFF11,
	HD_AR_PRIVATE_LFT_MAP = 0xFF12,
	HD_AR_PORT_SL_TO_PRIVATE_LFT = 0xFF14,
	HD_AR_GENERAL_INFO = 0xFF17,
	HD_AR_INFO = 0xFF20,
	HD_AR_GROUP_TABLE = 0xFF21,
	HD_AR_LFT_OLD = 0xFF22,
	HD_AR_LFT_REV1 = 0xFF23,
	HD_AR_PFRN_CONFIG = 0xFF61,
	HD_AR_EXT_PORT_INFO = 0xFF90,
	HD_AR_GROUP_COPY = 0xFFBD
};

/* "AdaptiveRoutingInfo" and the like; "unknown attribute" for any other number. */
const char *hd_ar_attribute_name(uint32_t attribute);

/* ---- what is inferred or unknown ---- */

struct hd_ar_quirks {
	uint32_t old_block_lids; /* LIDs of a block of the old form: 32 */
	bool active_minus_one; /* sub_grps_active holds the count less one; else the count */
	uint32_t table_shift; /* lowest bit of the group table in the modifier of FF21: 16 */
	bool
	    sub_group_major; /* element sub-group * groups + group; else group * sub-groups + ... */
	uint8_t unreachable_port; /* static port of a LID without a route: 0xFF */
	bool group_copy; /* use ARGroupTableCopy where a switch has it */
	uint32_t first_neighbour; /* port of the first record of NeighborsInfo: 0, or 1 */
};

/* The options of `quirks`, with their defaults. */
extern const struct hd_option hd_ar_quirk_options[];
extern const unsigned hd_ar_quirk_option_count;

/* All defaults. */
extern const struct hd_ar_quirks hd_ar_quirks_default;

/* The quirks that options made from that table say. */
struct hd_ar_quirks hd_ar_quirks_from(const struct hd_options *options);

/* ---- GeneralInfo, modifier 4 ---- */

#define HD_AR_GENERAL_INFO_CAPABILITIES 4u /* the modifier */

enum hd_ar_capability_bit {
	HD_AR_CAN_PRIVATE_LFT = 0,
	HD_AR_CAN_OLD = 1,
	HD_AR_CAN_REV1 = 2,
	HD_AR_CAN_EXT_PORT_INFO = 9,
	HD_AR_CAN_PORT_SL_TO_PRIVATE_LFT = 12,
	HD_AR_CAN_GLOBAL_OUT_OF_ORDER = 30,
	HD_AR_CAN_FAST_RECOVERY = 52
};

struct hd_ar_capability_mask {
	uint32_t words[4]; /* capability n is bit n % 32 of words[n / 32] */
};

void hd_ar_capability_mask_encode(const struct hd_ar_capability_mask *mask,
				  uint8_t data[HD_AR_DATA]);
void hd_ar_capability_mask_decode(const uint8_t data[HD_AR_DATA],
				  struct hd_ar_capability_mask *mask);

/* bit < 128 */
static inline bool hd_ar_capability_mask_has(const struct hd_ar_capability_mask *mask, unsigned bit)
{
	return mask->words[bit / 32] >> bit % 32 & 1;
}

/* ---- AdaptiveRoutingInfo ---- */

/* Fields by the names that tools print. RW: the manager may set it; the others are the switch's. */
struct hd_ar_info {
	uint32_t dyn_cap_calc_sup, by_transp_cap;
	uint32_t by_sl_en; /* RW: enable_by_sl_mask counts */
	uint32_t by_sl_cap, glb_groups, is4_mode;
	uint32_t no_fallback; /* RW */
	uint32_t direction_num_sup;
	uint32_t group_table_copy_sup; /* 0: no ARGroupTableCopy */
	uint32_t sub_grps_active; /* RW: see hd_ar_quirks.active_minus_one */
	uint32_t rn_xmit_enabled;
	uint32_t fr_enabled; /* RW: goes round dead ports of a group */
	uint32_t is_fr_sup, is_frn_sup, is_arn_sup;
	uint32_t enabled; /* RW: "e" */
	uint32_t string_width_cap, group_table_cap;
	uint32_t group_top; /* RW */
	uint32_t group_cap; /* 0: no AR */
	uint32_t enable_by_sl_mask; /* RW: bit n = SL n */
	uint32_t sub_grps_supported;
	uint32_t rn_version_cap, ar_version_cap;
	uint32_t by_transport_disable; /* RW: HD_AR_TRANSPORT_..., 1 = not adaptive */
	uint32_t ageing_time_value; /* RW: microseconds */
	uint32_t hbf_sup, whbf_sup, symmetric_hash_sup, dceth_hash_sup, bth_dqp_hash_sup,
	    pfrn_sup; /* pfrn: notices between switches */
	uint32_t by_sl_hbf_en, whbf_en, by_vl_en, pfrn_enabled; /* RW */
	uint32_t whbf_granularity;
	uint32_t enable_by_sl_mask_hbf; /* RW */
};

#define HD_AR_TRANSPORTS 4u

/* "UD", "RC", "UC", "DC": of bit 0 to 3. */
const char *hd_ar_transport_name(uint32_t bit);

enum hd_ar_transport {
	HD_AR_TRANSPORT_UD = 1,
	HD_AR_TRANSPORT_RC = 2,
	HD_AR_TRANSPORT_UC = 4,
	HD_AR_TRANSPORT_DC = 8
};

void hd_ar_info_encode(const struct hd_ar_info *info, uint8_t data[HD_AR_DATA]);
void hd_ar_info_decode(const uint8_t data[HD_AR_DATA], struct hd_ar_info *info);

/* A field of a record, for those who print or compare all of them. */
struct hd_ar_field {
	const char *name;
	uint16_t first_bit; /* from the highest bit of byte 0 */
	uint8_t bits;
	bool writable;
	uint16_t offset; /* of its uint32_t in the struct */
};

/* The fields of AdaptiveRoutingInfo in the order of the record; *count of them. */
const struct hd_ar_field *hd_ar_info_fields(unsigned *count);

/* What a switch with these answers can do; info NULL: it did not answer. */
struct hd_ar_capability hd_ar_capability_of(const struct hd_ar_capability_mask *mask,
					    const struct hd_ar_info *info);

/* ---- ARGroupTable ---- */

#define HD_AR_GROUP_BLOCK 2u /* port sets of a block */

/* The ports of two elements of the table; element = group * sub-groups + sub-group. */
void hd_ar_group_block_encode(const struct hd_port_set elements[HD_AR_GROUP_BLOCK],
			      uint8_t data[HD_AR_DATA]);
void hd_ar_group_block_decode(const uint8_t data[HD_AR_DATA],
			      struct hd_port_set elements[HD_AR_GROUP_BLOCK]);

/* Attribute modifier of a block. */
uint32_t hd_ar_group_modifier(const struct hd_ar_quirks *quirks, uint32_t private_lft,
			      uint32_t group_table, uint32_t block);

/* ---- AR LFT, both forms ---- */

#define HD_AR_REV1_BLOCK 16u /* LIDs of a block */
#define HD_AR_OLD_BLOCK 32u /* entries that fit a block of the old form */

struct hd_ar_entry {
	enum hd_ar_state state;
	uint8_t table; /* group table, 0 .. 15 */
	uint8_t port; /* static port; in the old form only where the state is STATIC, else 0 */
	uint16_t group; /* 12 bits, in the old form 8; in the old form 0 where STATIC */
};

void hd_ar_rev1_encode(const struct hd_ar_entry entries[HD_AR_REV1_BLOCK],
		       uint8_t data[HD_AR_DATA]);
void hd_ar_rev1_decode(const uint8_t data[HD_AR_DATA],
		       struct hd_ar_entry entries[HD_AR_REV1_BLOCK]);
void hd_ar_old_encode(const struct hd_ar_entry entries[HD_AR_OLD_BLOCK], uint8_t data[HD_AR_DATA]);
void hd_ar_old_decode(const uint8_t data[HD_AR_DATA], struct hd_ar_entry entries[HD_AR_OLD_BLOCK]);

/* Attribute modifier of a block, of either form. */
uint32_t hd_ar_lft_modifier(uint32_t private_lft, uint32_t block);

/* ---- ARGroupTableCopy ---- */

#define HD_AR_COPY_RANGES 16u

/* Groups first .. last become copies of the source, whose number is the modifier. */
struct hd_ar_copy_range {
	uint16_t first, last; /* 12 bits; both the source: not used */
};

void hd_ar_group_copy_encode(const struct hd_ar_copy_range ranges[HD_AR_COPY_RANGES],
			     uint8_t data[HD_AR_DATA]);
void hd_ar_group_copy_decode(const uint8_t data[HD_AR_DATA],
			     struct hd_ar_copy_range ranges[HD_AR_COPY_RANGES]);

/* ---- private forwarding tables ---- */

#define HD_AR_PRIVATE_MODES 7u
#define HD_AR_PRIVATE_BANKS 16u /* of a PrivateLFTDef block */
#define HD_AR_SLS 16u
#define HD_AR_MAP_PORTS 4u /* of a PortSLToPrivateLFTMap block */

struct hd_ar_private_info {
	uint32_t table_count; /* as written: 0 means 36 */
	uint32_t mode_cap; /* highest mode */
	uint32_t active_mode; /* 0: off */
	struct {
		uint32_t bank_kilolids; /* size of a bank, in 1024 LIDs */
		uint32_t banks;
	} modes[HD_AR_PRIVATE_MODES]; /* mode m is modes[m - 1] */
};

struct hd_ar_private_bank {
	uint32_t bank; /* 4 bits */
	uint32_t lid_space; /* in 512 LIDs, 1 .. 96 */
	uint32_t lid_offset; /* in 512 LIDs */
};

struct hd_ar_private_map {
	bool port_mask_enabled, top_enabled;
	struct hd_port_set ports;
	uint32_t top; /* highest LID */
};

struct hd_ar_port_sl_map {
	uint8_t table[HD_AR_MAP_PORTS][HD_AR_SLS]; /* private LFT for each SL of a port */
};

void hd_ar_private_info_encode(const struct hd_ar_private_info *info, uint8_t data[HD_AR_DATA]);
void hd_ar_private_info_decode(const uint8_t data[HD_AR_DATA], struct hd_ar_private_info *info);
void hd_ar_private_def_encode(const struct hd_ar_private_bank banks[HD_AR_PRIVATE_BANKS],
			      uint8_t data[HD_AR_DATA]);
void hd_ar_private_def_decode(const uint8_t data[HD_AR_DATA],
			      struct hd_ar_private_bank banks[HD_AR_PRIVATE_BANKS]);
void hd_ar_private_map_encode(const struct hd_ar_private_map *map, uint8_t data[HD_AR_DATA]);
void hd_ar_private_map_decode(const uint8_t data[HD_AR_DATA], struct hd_ar_private_map *map);
void hd_ar_port_sl_map_encode(const struct hd_ar_port_sl_map *map, uint8_t data[HD_AR_DATA]);
void hd_ar_port_sl_map_decode(const uint8_t data[HD_AR_DATA], struct hd_ar_port_sl_map *map);

/* ---- pFRNConfig ---- */

#define HD_AR_PFRN_SECONDS_MAX 0x3FFu /* of both times: what fits either reading of the format */

enum hd_ar_pfrn_policy {
	HD_AR_PFRN_TREE = 0, /* notices for sub-group 0 only */
	HD_AR_PFRN_DFP = 1 /* for sub-groups 0 and 1 */
};

/* How a switch deals with notices of other switches that have lost all ports to some destinations. */
struct hd_ar_pfrn_config {
	uint32_t policy_sup; /* the switch has the field `policy` */
	uint32_t sl; /* RW: on which notices travel */
	uint32_t policy; /* RW: enum hd_ar_pfrn_policy */
	uint32_t
	    mask_force_clear_s; /* RW: seconds after the last clearing until ports are used again in any case */
	uint32_t mask_clear_s; /* RW: seconds after the last notice until ports are used again */
};

void hd_ar_pfrn_config_encode(const struct hd_ar_pfrn_config *config, uint8_t data[HD_AR_DATA]);
void hd_ar_pfrn_config_decode(const uint8_t data[HD_AR_DATA], struct hd_ar_pfrn_config *config);

/* ---- MlnxExtPortInfo ---- */

struct hd_ar_ext_port_info {
	uint32_t adaptive_timeout_sl_mask;
	uint32_t ooo_sl_mask; /* SLs on which packets may come out of order */
};

/* Changes these fields in a record that was read; its other bytes stay. */
void hd_ar_ext_port_info_encode(const struct hd_ar_ext_port_info *info, uint8_t data[HD_AR_DATA]);
void hd_ar_ext_port_info_decode(const uint8_t data[HD_AR_DATA], struct hd_ar_ext_port_info *info);

#endif
