/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Any 64 bytes as each attribute of adaptive routing: what is decoded and encoded again is a part
 * of the bytes, and stays the same from then on. The first byte of the input chooses the attribute.
 */
#include "fuzzing.h"

#include <heddle/ar_manager.h>

/* Decodes and encodes once more. */
typedef void trip_fn(const uint8_t *data, uint8_t *again);

#define TRIP(name, type, decode, encode)                                                           \
	static void name(const uint8_t *data, uint8_t *again)                                      \
	{                                                                                          \
		type value;                                                                        \
                                                                                                   \
		memcpy(again, data, HD_AR_DATA);                                                   \
		decode(data, &value);                                                              \
		encode(&value, again);                                                             \
	}

#define TRIP_ARRAY(name, type, count, decode, encode)                                              \
	static void name(const uint8_t *data, uint8_t *again)                                      \
	{                                                                                          \
		type value[count];                                                                 \
                                                                                                   \
		decode(data, value);                                                               \
		encode(value, again);                                                              \
	}

TRIP(mask, struct hd_ar_capability_mask, hd_ar_capability_mask_decode, hd_ar_capability_mask_encode)
TRIP(info, struct hd_ar_info, hd_ar_info_decode, hd_ar_info_encode)
TRIP(private_info, struct hd_ar_private_info, hd_ar_private_info_decode, hd_ar_private_info_encode)
TRIP(private_map, struct hd_ar_private_map, hd_ar_private_map_decode, hd_ar_private_map_encode)
TRIP(sl_map, struct hd_ar_port_sl_map, hd_ar_port_sl_map_decode, hd_ar_port_sl_map_encode)
TRIP(ext_port, struct hd_ar_ext_port_info, hd_ar_ext_port_info_decode, hd_ar_ext_port_info_encode)
TRIP(pfrn, struct hd_ar_pfrn_config, hd_ar_pfrn_config_decode, hd_ar_pfrn_config_encode)
TRIP_ARRAY(groups, struct hd_port_set, HD_AR_GROUP_BLOCK, hd_ar_group_block_decode,
	   hd_ar_group_block_encode)
TRIP_ARRAY(rev1, struct hd_ar_entry, HD_AR_REV1_BLOCK, hd_ar_rev1_decode, hd_ar_rev1_encode)
TRIP_ARRAY(old, struct hd_ar_entry, HD_AR_OLD_BLOCK, hd_ar_old_decode, hd_ar_old_encode)
TRIP_ARRAY(copy, struct hd_ar_copy_range, HD_AR_COPY_RANGES, hd_ar_group_copy_decode,
	   hd_ar_group_copy_encode)
TRIP_ARRAY(private_def, struct hd_ar_private_bank, HD_AR_PRIVATE_BANKS, hd_ar_private_def_decode,
	   hd_ar_private_def_encode)

static trip_fn *const trips[] = {mask,	 info, private_info, private_map, sl_map,      ext_port,
				 groups, rev1, old,	     copy,	  private_def, pfrn};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t bytes[HD_AR_DATA] = {0}, once[HD_AR_DATA], twice[HD_AR_DATA];

	if (!size)
		return 0;
	trip_fn *trip = trips[data[0] % (sizeof(trips) / sizeof(trips[0]))];
	memcpy(bytes, data + 1, size - 1 < HD_AR_DATA ? size - 1 : HD_AR_DATA);
	trip(bytes, once);
	for (unsigned i = 0; i < HD_AR_DATA; i++)
		demand(!(once[i] & ~bytes[i]));
	trip(once, twice);
	demand(!memcmp(once, twice, HD_AR_DATA));
	return 0;
}
