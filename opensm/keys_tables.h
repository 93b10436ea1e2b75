/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * OpenSM's own tables while keys are programmed between sweeps. Each switch has two: `lft`, which it
 * has acknowledged, and `new_lft`, which it is to have. A sweep sends the blocks in which they
 * differ. Call these functions with OpenSM's lock held exclusively.
 */
#ifndef OPENSM_KEYS_TABLES_H
#define OPENSM_KEYS_TABLES_H

#include "keys_program.h"

#include <heddle/base/error.h>
#include <heddle/fabric/graph.h>

struct osm_opensm;

/* Whether OpenSM has each switch and knows its old content. Errors: -EAGAIN it does not, with the
 * name of the switch. */
int keys_tables_check(struct osm_opensm *osm, const struct hd_fabric *fabric,
		      const struct keys_blocks *blocks, struct hd_error *err);

/* The switches hold the new content of all blocks. */
void keys_tables_take(struct osm_opensm *osm, const struct hd_fabric *fabric,
		      const struct keys_blocks *blocks);

/* It is not known what the switches hold: the next sweep sends these blocks. only_unknown: those
 * whose `held` says so. */
void keys_tables_forget(struct osm_opensm *osm, const struct hd_fabric *fabric,
			const struct keys_blocks *blocks, bool only_unknown);

#endif
