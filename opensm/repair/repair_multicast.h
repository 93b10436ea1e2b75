/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Repairs multicast trees after the unicast tables. All trees are computed on what is left of the
 * fabric, as the part multicast computes them in the sweep that follows: one MLID after the other, with
 * the loads of those before. heddle/change/repair_mfts.h says in which order the blocks are written. The
 * sweep then finds the same trees. OpenSM sends all multicast blocks in each sweep, without comparing,
 * but no entry in a switch changes.
 */
#ifndef OPENSM_REPAIR_MULTICAST_H
#define OPENSM_REPAIR_MULTICAST_H

#include "repair_shared.h"

#define REPAIR_MULTICAST_TEXT (HD_ERROR_TEXT + 64) /* bytes */

struct repair_multicast {
	struct repair_shared *shared;
	uint64_t turn;
	struct hd_go_on go_on; /* until the turn is lost */
	const struct repair_start *start;
	const struct hd_fabric *damaged; /* what is left of the fabric of the last sweep */
	struct hd_smp_queue *queue; /* destination s is switch s of the fabric of the last sweep */
};

/*
 * Repairs the trees, and adds to the figures. Writes into text[REPAIR_MULTICAST_TEXT] what the log says
 * about it: "" if no tree changes. If memory is short, a group changes at the same time, a tree cannot be
 * proved, or a switch does not answer, the text has the reason, and the sweep does it. If a switch does
 * not answer while ports are taken away, the others get them back.
 */
void repair_multicast_run(const struct repair_multicast *multicast, char *text);

#endif
