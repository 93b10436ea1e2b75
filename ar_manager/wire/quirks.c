/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What is inferred or unknown of the format, as options. */
#include <heddle/ar_manager/neighbours.h>

const struct hd_option hd_ar_quirk_options[] = {
    {.name = "old_block_lids",
     .summary = "LIDs in a block of the old AR LFT; inferred",
     .type = HD_OPTION_INT,
     .fallback = "32",
     .minimum = 16,
     .maximum = HD_AR_OLD_BLOCK},
    {.name = "active_sub_groups",
     .summary = "what the field sub_grps_active holds: the count, or the count less one; unknown",
     .type = HD_OPTION_CHOICE,
     .fallback = "count",
     .choices = "count|less-one"},
    {.name = "table_shift",
     .summary = "lowest bit of the group table in the modifier of ARGroupTable; inferred",
     .type = HD_OPTION_INT,
     .fallback = "16",
     .minimum = 12,
     .maximum = 20},
    {.name = "element_order",
     .summary = "order of elements in ARGroupTable; inferred",
     .type = HD_OPTION_CHOICE,
     .fallback = "group-major",
     .choices = "group-major|sub-group-major"},
    {.name = "unreachable_port",
     .summary = "static port of a LID that has no route; inferred",
     .type = HD_OPTION_INT,
     .fallback = "255",
     .minimum = 0,
     .maximum = 255},
    {.name = "group_copy",
     .summary = "use ARGroupTableCopy where a switch has it; its unused entries are inferred",
     .type = HD_OPTION_BOOL,
     .fallback = "no"},
    {.name = "first_neighbour",
     .summary = "port of the first record of NeighborsInfo; unknown",
     .type = HD_OPTION_INT,
     .fallback = "0",
     .minimum = 0,
     .maximum = 1},
};

const unsigned hd_ar_quirk_option_count =
    sizeof(hd_ar_quirk_options) / sizeof(hd_ar_quirk_options[0]);

const struct hd_ar_quirks hd_ar_quirks_default = {
    .old_block_lids = 32, .table_shift = 16, .unreachable_port = 0xFF};

struct hd_ar_quirks hd_ar_quirks_from(const struct hd_options *options)
{
	return (struct hd_ar_quirks){
	    .old_block_lids = (uint32_t)hd_options_get(options, "old_block_lids")->number,
	    .active_minus_one = hd_options_get(options, "active_sub_groups")->number,
	    .table_shift = (uint32_t)hd_options_get(options, "table_shift")->number,
	    .sub_group_major = hd_options_get(options, "element_order")->number,
	    .unreachable_port = (uint8_t)hd_options_get(options, "unreachable_port")->number,
	    .group_copy = hd_options_get(options, "group_copy")->number,
	    .first_neighbour = (uint32_t)hd_options_get(options, "first_neighbour")->number,
	};
}

const char *hd_ar_attribute_name(uint32_t attribute)
{
	switch (attribute) {
	case HD_AR_PRIVATE_LFT_INFO:
		return "PrivateLFTInfo";
	case HD_AR_PRIVATE_LFT_DEF:
		return "PrivateLFTDef";
	case HD_AR_PRIVATE_LFT_MAP:
		return "PrivateLFTMap";
	case HD_AR_PORT_SL_TO_PRIVATE_LFT:
		return "PortSLToPrivateLFTMap";
	case HD_AR_GENERAL_INFO:
		return "GeneralInfo";
	case HD_AR_INFO:
		return "AdaptiveRoutingInfo";
	case HD_AR_GROUP_TABLE:
		return "ARGroupTable";
	case HD_AR_LFT_OLD:
	case HD_AR_LFT_REV1:
		return "ARLinearForwardingTable";
	case HD_AR_PFRN_CONFIG:
		return "pFRNConfig";
	case HD_N2N_KEY_INFO:
		return "KeyInfo of the class N2N";
	case HD_N2N_NEIGHBORS_INFO:
		return "NeighborsInfo";
	case HD_AR_EXT_PORT_INFO:
		return "MlnxExtPortInfo";
	case HD_AR_GROUP_COPY:
		return "ARGroupTableCopy";
	default:
		return "unknown attribute";
	}
}
