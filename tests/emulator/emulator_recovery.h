/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Fast recovery of switches: what each does with ports that are down, and the notices between switches.
 *
 * A switch with FLFR leaves its own dead ports out. One with notices that has no port left for a LID, be it of a group
 * or of a static entry, tells all its neighbours that it knows. They leave out the ports that lead to it for this LID,
 * which may leave them without a port, too. A notice goes to the LID of the record of the neighbour, and counts if the
 * neighbour has notices enabled and has a record of the sender with the same key. Notices travel at once. After some
 * time without any, which pFRNConfig says, a switch uses all ports again.
 */
#ifndef EMULATOR_RECOVERY_H
#define EMULATOR_RECOVERY_H

#include "emulator_nodes.h"
#include <stdio.h>

/* Does a Get or Set of the class N2N. `bytes`, the key of the manager and 224 bytes of data, are those of the request, and
 * afterwards those of the answer. False: the key is wrong, and the switch does not answer. */
bool recovery_n2n(struct ar_switch *sw, uint8_t method, uint16_t attribute, uint32_t modifier,
		  uint8_t *bytes, uint16_t *status);

/* A port goes down or comes up; then notices travel. */
void recovery_port(struct nodes *nodes, struct node *node, uint8_t port, bool down);

/* So many seconds pass. */
void recovery_pass(struct nodes *nodes, uint64_t seconds);

/* What differs from the tables: dead ports, and LIDs for which a port is left out. */
void recovery_put(FILE *out, const struct node *node);

/* The ports that a packet to the LID may take. */
void recovery_put_ports(FILE *out, const struct node *node, uint16_t lid);

/* The switch forgets what it was told. */
void recovery_forget(struct ar_switch *sw);

#endif
