/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The fabric of a replay: what ibnetdiscover printed while all was up, and which of its cables are dead at the moment.
 * No code of Heddle is used here.
 */
#ifndef REPLAY_FABRIC_H
#define REPLAY_FABRIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define NONE UINT32_MAX
#define PORTS 64u /* room for each node: ports 0 to 63 */
#define LIDS 49152u

/* What counts of a LID now. */
enum kind {
	KIND_NONE, /* its owner is gone */
	KIND_LOOSE, /* a switch, or an adapter whose own cable is dead: only loops */
	KIND_HOST,
	KIND_ASIDE /* an adapter inside a switch, such as an aggregation node */
};

/* Switches are the first nodes. An end is node * PORTS + port. */
/* Switches come first, and then GUIDs count. */
struct node_key {
	bool adapter;
	uint64_t guid;
};

struct fabric {
	uint32_t nodes, switches, ports; /* ports: above the highest one that has a cable */
	struct node_key *key; /* [nodes] in their order */
	uint64_t *system; /* [nodes] system image GUID */
	uint32_t *far; /* [nodes * PORTS] the other end of the cable; NONE: no cable */
	uint64_t *cables; /* [switches] ports with a cable to a switch, dead or alive */
	uint32_t lids; /* above the highest LID */
	uint32_t *owner; /* [LIDS] node; NONE: no such LID */
	uint32_t *place; /* [LIDS] the end at a switch to which the LID's port is cabled, or NONE */
	uint32_t home; /* node in which OpenSM runs */
	/* ---- now ---- */
	uint64_t *dead; /* [nodes] ports whose cable is dead */
	bool *seen; /* [nodes] by home */
	uint64_t *links; /* [switches] ports that lead to switches */
	bool *sends; /* [switches] an adapter is cabled to it */
	bool all_send; /* all switches that are seen do */
	uint8_t *kind; /* [LIDS] */
};

/* Exits with a message if memory is short. */
void *allocate(size_t count, size_t size);

/* Ends the program with status 2. */
_Noreturn void fail(const char *what, const char *name);

/* Reads what ibnetdiscover printed; `home` is a node of it, such as H-0000000000100000. */
void fabric_read(struct fabric *fabric, const char *path, const char *home);

/* A node by its name, such as S-0000000000200000; NONE: unknown. */
uint32_t fabric_node(const struct fabric *fabric, const char *name);

/* A switch by its GUID; NONE: unknown. */
uint32_t fabric_switch(const struct fabric *fabric, uint64_t guid);

/* Computes what is there now, from `dead`. */
void fabric_look(struct fabric *fabric);

/* The node to which a directed route of home leads now; NONE: it breaks. */
uint32_t fabric_follow(const struct fabric *fabric, const uint8_t *route, uint8_t hops);

/* The switch at the far end of a port of a switch that leads to one. */
static inline uint32_t fabric_next(const struct fabric *fabric, uint32_t sw, uint32_t port)
{
	return fabric->far[sw * PORTS + port] / PORTS;
}

#endif
