/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The order of multicast entries, and searches in it. */
#include <heddle/fabric/mfts.h>

#include <stdlib.h>

int hd_mfts_compare(const void *left, const void *right)
{
	const struct hd_mft_entry *a = left, *b = right;

	if (a->mlid != b->mlid)
		return a->mlid < b->mlid ? -1 : 1;
	return a->sw < b->sw ? -1 : a->sw > b->sw;
}

void hd_mfts_sort(struct hd_mfts *mfts)
{
	if (mfts->count)
		qsort(mfts->entries, mfts->count, sizeof(*mfts->entries), hd_mfts_compare);
}

const struct hd_mft_entry *hd_mfts_find(const struct hd_mfts *mfts, uint32_t mlid, uint32_t sw)
{
	const struct hd_mft_entry key = {.mlid = mlid, .sw = sw};

	return mfts->count ? bsearch(&key, mfts->entries, mfts->count, sizeof(key), hd_mfts_compare)
			   : NULL;
}

const struct hd_mft_entry *hd_mfts_group(const struct hd_mfts *mfts, uint32_t mlid, uint32_t *count)
{
	uint32_t first = 0;

	while (first < mfts->count && mfts->entries[first].mlid < mlid)
		first++;
	for (*count = 0;
	     first + *count < mfts->count && mfts->entries[first + *count].mlid == mlid;)
		(*count)++;
	return mfts->entries + first;
}
