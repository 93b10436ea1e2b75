/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The nodes that MADs have addressed so far, by GUID: whether each is an adaptive-routing switch,
 * its tables, the MADs that it has seen, and its faults. A node is known from its first MAD on, or
 * from the first command that names it.
 */
#ifndef EMULATOR_NODES_H
#define EMULATOR_NODES_H

#include "emulator_host.h"
#include "emulator_switch.h"
#include <stdbool.h>
#include <stdint.h>

/* MADs of one attribute and method. */
struct mad_count {
	uint16_t attribute;
	uint8_t method;
	uint64_t seen; /* all that reached the node, those lost or refused by a fault as well */
};

struct mad_counts {
	struct mad_count *counts; /* [count], by first appearance */
	uint32_t count, capacity;
};

enum fault_kind {
	FAULT_NONE,
	FAULT_SILENT, /* no answer, nothing done */
	FAULT_REFUSE, /* answered with `value` as status, nothing done */
	FAULT_SLOW, /* done and answered `value` ms later */
	FAULT_LOSE /* `value` of 1000 MADs are lost, half of them after the switch did them */
};

struct fault {
	enum fault_kind kind;
	uint32_t value;
	uint16_t first, last; /* attributes */
	uint8_t method; /* 0: Get and Set */
};

#define NODE_FAULTS 8u

struct faults {
	struct fault list[NODE_FAULTS]; /* [count]; the first that fits counts */
	uint32_t count;
};

struct node {
	uint64_t guid;
	uint8_t type; /* as in NodeInfo; 0: not seen yet */
	uint8_t ports;
	int8_t ar; /* 1 adaptive routing, 0 none, -1 as the default says */
	int8_t states; /* the same for the table of port states */
	bool own_capabilities; /* not the default ones */
	struct capabilities can;
	struct ar_switch *sw; /* NULL until a vendor attribute addresses it */
	uint8_t (*records)[HOST_RECORD]; /* of a channel adapter; NULL until one is addressed */
	struct mad_counts counts;
	struct faults faults;
	uint64_t random; /* of lost MADs */
	uint16_t lid; /* of a switch to which a MAD of the class N2N has come; 0: not known */
	uint8_t *lft; /* [SWITCH_LIDS] blocks that were set since `lfts on`; NULL: none */
	uint64_t down[4]; /* bits of ports that are down */
};

/* Which switches have adaptive routing: those of a list have `ar` set themselves. */
struct nodes {
	struct node **list; /* [count], by first appearance */
	uint32_t count, capacity;
	uint32_t *slots; /* [size] index + 1 by hash; 0: free */
	uint32_t size;
	struct capabilities can; /* of switches without own ones */
	struct faults faults; /* of all switches without own ones */
	uint32_t share; /* of 1000 switches have adaptive routing */
	uint32_t states_share; /* of 1000 switches have the table of port states */
	uint64_t seed;
	bool hosts; /* channel adapters have MlnxExtPortInfo; otherwise ibsim answers it */
	bool silent; /* switches without adaptive routing do not answer; otherwise they refuse */
	struct mad_counts counts; /* of all nodes together */
	uint32_t top_lid; /* highest LID of which a forwarding table has been set */
	uint64_t now; /* seconds, by the command `pass` */
};

/* Adaptive routing in all switches, no faults. */
void nodes_start(struct nodes *nodes, uint64_t seed);
void nodes_free(struct nodes *nodes);

/* The node with that GUID, new if need be. NULL: no memory. */
struct node *nodes_get(struct nodes *nodes, uint64_t guid);

/* Whether a node is a switch with adaptive routing. */
bool nodes_have_ar(const struct nodes *nodes, const struct node *node);

/* Whether it is one with a table of port states. */
bool nodes_have_states(const struct nodes *nodes, const struct node *node);

/* Whether there may be one. */
bool nodes_any_states(const struct nodes *nodes);

/* The tables of a switch with adaptive routing. NULL: no memory. */
struct ar_switch *nodes_switch(struct nodes *nodes, struct node *node);

/* Whether the emulator answers an attribute of channel adapters, which have it. */
bool nodes_are_hosts(const struct nodes *nodes, const struct node *node);

/* The records of such an adapter. NULL: no memory. */
uint8_t (*nodes_records(struct node *node))[HOST_RECORD];

/* Counts a MAD. NULL: no memory. */
struct mad_count *nodes_count(struct mad_counts *counts, uint16_t attribute, uint8_t method);

/* What befalls a MAD for this node; for a lossy one this draws the lot. The result is FAULT_NONE or
 * has `kind` and `value`; FAULT_LOSE with value 1: lost after the switch did it. */
struct fault nodes_fault(struct nodes *nodes, struct node *node, uint16_t attribute,
			 uint8_t method);

/* Whether standard attributes have faults somewhere. */
bool nodes_standard_faults(const struct nodes *nodes);

/* Adds a fault before the others. False: the list is full. */
bool nodes_add_fault(struct faults *faults, const struct fault *fault);

#endif
