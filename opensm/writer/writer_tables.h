/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * OpenSM's copy of the forwarding tables, while others than its sweep change them. OpenSM has two tables
 * for each switch: `lft`, which the switch has acknowledged, and `new_lft`, which it is to have. A sweep
 * sends the blocks in which they differ. LID 0 has no entry, so what a block says of it does not count.
 * Blocks are those of HD_LFT_BLOCK entries; switches are those of `fabric`. Call these functions with
 * OpenSM's lock held exclusively.
 */
#ifndef OPENSM_WRITER_TABLES_H
#define OPENSM_WRITER_TABLES_H

#include <heddle/fabric/graph.h>
#include <stdbool.h>
#include <stdint.h>

struct osm_opensm;
struct osm_switch;

/* Whether OpenSM has the switch, and knows that it holds these ports in the block. */
bool writer_tables_holds(struct osm_opensm *osm, const struct hd_fabric *fabric, uint32_t sw,
			 uint32_t block, const uint8_t *ports);

/* The switch has acknowledged these ports, and is to have them. */
void writer_tables_take(struct osm_opensm *osm, const struct hd_fabric *fabric, uint32_t sw,
			uint32_t block, const uint8_t *ports);

/* The switch holds these ports. What it is to have is another matter. */
void writer_tables_note(struct osm_opensm *osm, const struct hd_fabric *fabric, uint32_t sw,
			uint32_t block, const uint8_t *ports);

/* These ports were sent in place of those in `lft`, and it is not known which of them the switch holds:
 * the next sweep sends the block. */
void writer_tables_forget(struct osm_opensm *osm, const struct hd_fabric *fabric, uint32_t sw,
			  uint32_t block, const uint8_t *ports);

/* OpenSM is to send the switch nothing: `new_lft` becomes what it takes the switch to hold. */
void writer_tables_keep(struct osm_switch *sw);

#endif
