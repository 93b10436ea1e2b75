/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <heddle/fabric/tree_labels.h>

#include <stdlib.h>

struct hd_tree_labels *hd_tree_labels_hold(struct hd_tree_labels *labels)
{
	if (labels)
		atomic_fetch_add(&labels->holders, 1);
	return labels;
}

void hd_tree_labels_release(struct hd_tree_labels *labels)
{
	if (!labels || atomic_fetch_sub(&labels->holders, 1) != 1)
		return;
	hd_arena_release(&labels->arena);
	free(labels);
}
