/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What belongs to a struct hd_fabric: its memory and the index of port GUIDs. */
#ifndef FABRIC_GRAPH_HOLDER_H
#define FABRIC_GRAPH_HOLDER_H

#include <heddle/base/arena.h>
#include <heddle/fabric/graph.h>

struct fabric_holder {
	struct hd_fabric fabric; /* first: a fabric's address is its holder's */
	struct hd_arena arena; /* holds the holder too */
	const uint64_t *guid_sorted;
	const uint32_t *guid_port;
	uint32_t guid_count;
};

#endif
