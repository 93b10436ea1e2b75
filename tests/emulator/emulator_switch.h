/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What an adaptive-routing switch has and holds: its capabilities, and the tables that a manager
 * programs. The tables come and go with a reset, the capabilities stay.
 */
#ifndef EMULATOR_SWITCH_H
#define EMULATOR_SWITCH_H

#include <stdbool.h>
#include <stdint.h>

#define SWITCH_LIDS 0xC000u
#define SWITCH_BLOCK_LIDS 16u
#define SWITCH_BLOCKS (SWITCH_LIDS / SWITCH_BLOCK_LIDS)
#define SWITCH_RECORD 64u /* bytes of an attribute */
#define SWITCH_N2N_DATA 224u
#define SWITCH_N2N_BLOCKS 19u
#define SWITCH_PLFTS_MAX 36u
#define SWITCH_GROUP_TABLES 16u
#define SWITCH_PORT_BLOCKS 64u /* of four ports */

/* Bits of the capability mask. */
enum {
	CAPABILITY_PRIVATE_LFT = 0,
	CAPABILITY_AR_OLD = 1,
	CAPABILITY_AR_REV1 = 2,
	CAPABILITY_EXTENDED_PORT_INFO = 9,
	CAPABILITY_SL_TO_PRIVATE_LFT = 12,
	CAPABILITY_FAST_RECOVERY = 52
};

/* What a switch can do. A test may change it at any time; the tables stay until the next reset. */
struct capabilities {
	uint32_t mask[4]; /* capability N is bit N % 32 of mask[N / 32] */
	uint16_t group_cap; /* 0 .. 4095 */
	uint8_t subgroups; /* supported: 1 .. 15 */
	uint8_t plfts; /* private LFTs, 1 .. SWITCH_PLFTS_MAX */
	uint8_t modes; /* highest mode of the private LFTs */
	bool active_minus_one; /* sub_grps_active holds the count - 1 */
	uint32_t ageing_time; /* at power-on, microseconds */
	uint8_t record[SWITCH_RECORD]; /* further bits of AdaptiveRoutingInfo at power-on */
};

/* An entry of the AR LFT. */
struct ar_entry {
	uint8_t state, table, port;
	uint16_t group;
};

enum { STATE_BOUNDED, STATE_FREE, STATE_STATIC, STATE_HASH };

struct ar_block {
	struct ar_entry entries[SWITCH_BLOCK_LIDS];
};

struct group_table {
	uint8_t (*masks)[32]; /* [groups] as they travel; NULL: never set */
};

struct ar_switch {
	uint8_t ports; /* without port 0 */
	struct capabilities can;
	uint8_t info[SWITCH_RECORD]; /* AdaptiveRoutingInfo */
	struct group_table groups[SWITCH_PLFTS_MAX][SWITCH_GROUP_TABLES];
	struct ar_block **lft[SWITCH_PLFTS_MAX]; /* [SWITCH_BLOCKS] each, or NULL */
	uint8_t plft_info[SWITCH_RECORD];
	uint8_t plft_definition[3][SWITCH_RECORD];
	uint8_t plft_map[SWITCH_PLFTS_MAX][SWITCH_RECORD];
	uint8_t sl_to_plft[SWITCH_PORT_BLOCKS][SWITCH_RECORD];
	/* ---- notices ---- */
	uint8_t pfrn[SWITCH_RECORD]; /* pFRNConfig */
	uint8_t key_info[16]; /* KeyInfo */
	uint8_t neighbours[SWITCH_N2N_BLOCKS]
			  [SWITCH_N2N_DATA]; /* NeighborsInfo; the first record: port 0 */
	uint8_t *told[256]; /* by port: bits of the LIDs for which it is left out; NULL: none */
	bool any_told;
	uint64_t told_at,
	    cleared_at; /* seconds: the last notice, and the first one since there was none */
};

/* The capabilities of a switch with the Rev1 form, 1024 groups of 2 sub-groups. */
void switch_default(struct capabilities *can);

/* A switch after power-on, to be freed with switch_free(). NULL: no memory. */
struct ar_switch *switch_new(const struct capabilities *can, uint8_t ports);

/* Forgets all tables, as a power cycle does. */
void switch_reset(struct ar_switch *sw);

/* NULL is allowed. */
void switch_free(struct ar_switch *sw);

/* Whether the capability mask has that bit. */
bool switch_can(const struct ar_switch *sw, unsigned capability);

/* Number of elements of a group table: groups times sub-groups. */
uint32_t switch_group_count(const struct ar_switch *sw);

/* Sub-groups in use, by AdaptiveRoutingInfo. */
uint8_t switch_subgroups(const struct ar_switch *sw);

/* A block of the AR LFT. `make`: allocates it if it was never set, filled with unreachable LIDs;
 * otherwise NULL. plft < SWITCH_PLFTS_MAX, block < SWITCH_BLOCKS. */
struct ar_block *switch_block(struct ar_switch *sw, uint32_t plft, uint32_t block, bool make);

/* The same for the port masks of a group table. */
uint8_t (*switch_groups(struct ar_switch *sw, uint32_t plft, uint32_t table, bool make))[32];

#endif
