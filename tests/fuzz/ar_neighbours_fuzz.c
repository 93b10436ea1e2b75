/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Any 224 bytes as NeighborsInfo and as KeyInfo: what is decoded and encoded again is a part of the bytes, and stays the
 * same from then on. The first byte of the input chooses the attribute.
 */
#include "fuzzing.h"

#include <heddle/ar_manager/neighbours.h>

static void again(bool key, const uint8_t *data, uint8_t *out)
{
	struct hd_n2n_neighbour records[HD_N2N_NEIGHBOURS];
	struct hd_n2n_key_info info;

	if (key) {
		hd_n2n_key_info_decode(data, &info);
		hd_n2n_key_info_encode(&info, out);
	} else {
		hd_n2n_neighbours_decode(data, records);
		hd_n2n_neighbours_encode(records, out);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t bytes[HD_N2N_DATA] = {0}, once[HD_N2N_DATA], twice[HD_N2N_DATA];

	if (!size)
		return 0;
	memcpy(bytes, data + 1, size - 1 < HD_N2N_DATA ? size - 1 : HD_N2N_DATA);
	again(data[0] & 1, bytes, once);
	for (unsigned i = 0; i < HD_N2N_DATA; i++)
		demand(!(once[i] & ~bytes[i]));
	again(data[0] & 1, once, twice);
	demand(!memcmp(once, twice, HD_N2N_DATA));
	return 0;
}
