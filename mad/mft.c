/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <heddle/mad/mft.h>

#define POSITION_SHIFT 28

int hd_mft_set(struct hd_smp_queue *queue, uint32_t destination, uint32_t block, uint32_t position,
	       const uint16_t masks[HD_MFT_MASKS], hd_smp_done *done, void *cookie)
{
	struct hd_smp smp = {.method = HD_SMP_SET,
			     .attribute = HD_SMP_MFT,
			     .modifier = block | position << POSITION_SHIFT};

	for (uint32_t i = 0; i < HD_MFT_MASKS; i++) {
		smp.data[2 * i] = (uint8_t)(masks[i] >> 8);
		smp.data[2 * i + 1] = (uint8_t)masks[i];
	}
	return hd_smp_queue_submit(queue, destination, &smp, done, cookie);
}
