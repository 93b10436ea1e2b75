/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What switches hold: forwarding tables, and tables and groups of adaptive routing, changed by Sets. */
#ifndef REPLAY_TABLES_H
#define REPLAY_TABLES_H

#include "replay_fabric.h"

#define NO_PORT 255u
#define STATIC_ENTRY UINT16_MAX

struct element_list {
	uint64_t *ports; /* [count] sets, by group * sub-groups + sub-group */
	uint32_t count;
};

/* Entries of a switch begin at sw * lids. */
struct tables {
	uint32_t lids;
	bool
	    own; /* a switch with adaptive routing sends by its AR table alone; else by its forwarding table, too */
	uint8_t *lft;
	uint8_t *port; /* of AR tables */
	uint16_t *group; /* of AR tables; STATIC_ENTRY: none */
	struct element_list *elements; /* [switches] */
	bool *enabled; /* [switches] */
	uint8_t *subgroups; /* [switches] */
};

/* A Set, as a switch has done it. */
struct set {
	uint64_t when; /* ns since 1970 */
	uint32_t sw;
	uint32_t attribute, modifier;
	uint8_t data[64];
};

enum { ATTRIBUTE_LFT = 0x19, AR_INFO = 0xFF20, AR_GROUPS = 0xFF21, AR_LFT = 0xFF23 };

void tables_make(struct tables *tables, const struct fabric *fabric, bool own);

/* The LIDs that a Set may concern: *first to *end - 1. False: none, and the Set changes nothing. */
bool tables_range(const struct tables *tables, const struct set *set, uint32_t *first,
		  uint32_t *end);

void tables_take(struct tables *tables, const struct set *set);

/* The ports by which a switch may send packets to a LID. Port 0 stands for those that no switch has, too. */
uint64_t tables_ports(const struct tables *tables, uint32_t sw, uint32_t lid);

/* The same without groups. */
uint64_t tables_static(const struct tables *tables, uint32_t sw, uint32_t lid);

#endif
