/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * OpenSM's own multicast tables while a repair is under way. OpenSM has one table for each switch: it
 * builds the entries there, and a sweep sends all blocks of it, whether they have changed or not. So the
 * table is what a switch holds only when a sweep is complete, and until a group changes. Call take() with
 * OpenSM's lock held exclusively, the others with the lock held at least shared.
 */
#ifndef OPENSM_WRITER_MFT_H
#define OPENSM_WRITER_MFT_H

#include <heddle/base/error.h>
#include <heddle/change/repair_mfts.h>
#include <stdbool.h>

struct osm_opensm;

/* The entries of a switch for `count` MLIDs from HD_MLID_FIRST + first on. They are empty if it has none. */
void writer_mft_read(struct osm_opensm *osm, uint64_t guid, uint32_t first, uint32_t count,
		     struct hd_port_set *ports);

/* Whether a switch does multicast. */
bool writer_mft_forwards(struct osm_opensm *osm, uint64_t guid);

/*
 * Whether OpenSM has the block as it was before the write. `top`: OpenSM sets how many MLIDs a switch
 * looks at. Errors: -EAGAIN it has another one, or no room for it; -ERANGE the switch does not look at
 * these MLIDs; with a reason.
 */
int writer_mft_check(struct osm_opensm *osm, const struct hd_fabric *fabric,
		     const struct hd_mft_write *write, bool top, struct hd_error *err);

/* The switch has acknowledged the block: `after`, or `before` when a step is undone. A block that OpenSM
 * has changed meanwhile stays as OpenSM wants it. */
void writer_mft_take(struct osm_opensm *osm, const struct hd_fabric *fabric,
		     const struct hd_mft_write *write, bool undo);

#endif
