/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What is asked and set over the queue. */
#include <errno.h>
#include <heddle/mad/queue.h>
#include <string.h>

static void on_block(void *cookie, const struct hd_smp_result *result)
{
	struct hd_lft_row *row = cookie;

	row->left--;
	if (!result->rc)
		memcpy(row->ports + (size_t)result->smp->modifier * HD_LFT_BLOCK, result->data,
		       HD_LFT_BLOCK);
	else if (!row->rc)
		row->rc = result->rc;
}

int hd_lft_read(struct hd_smp_queue *queue, struct hd_lft_row *row)
{
	struct hd_smp smp = {.method = HD_SMP_GET, .attribute = HD_SMP_LFT};

	row->left = 0;
	row->rc = 0;
	for (; smp.modifier * HD_LFT_BLOCK < hd_lft_size(row->top_lid); smp.modifier++) {
		int rc = hd_smp_queue_submit(queue, row->destination, &smp, on_block, row);

		if (rc)
			return rc;
		row->left++;
	}
	return 0;
}

int hd_lft_set(struct hd_smp_queue *queue, uint32_t destination, uint32_t block,
	       const uint8_t ports[HD_LFT_BLOCK], hd_smp_done *done, void *cookie)
{
	struct hd_smp smp = {.method = HD_SMP_SET, .attribute = HD_SMP_LFT, .modifier = block};

	memcpy(smp.data, ports, HD_LFT_BLOCK);
	return hd_smp_queue_submit(queue, destination, &smp, done, cookie);
}

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
