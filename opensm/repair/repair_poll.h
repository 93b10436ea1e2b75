/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Asks all switches of a fabric for the states of their ports, round after round, some SMPs at a time: a switch that
 * has the table of all port states is asked for it, any other for each of its ports that has a cable. If a port is
 * down by the table, PortInfo decides; where the two differ, the switch counts as one without a table. A switch that
 * does not answer is not asked again in the same round, and counts as no loss.
 */
#ifndef OPENSM_REPAIR_POLL_H
#define OPENSM_REPAIR_POLL_H

#include "repair_paths.h"

#include <heddle/mad/queue.h>
#include <stdbool.h>

/* Where a round is: at a question of a switch. */
struct repair_poll_place {
	uint32_t sw, question;
};

struct repair_poll {
	const struct hd_fabric *fabric;
	const bool *cut; /* [port_count] the cable at the port is lost, and known to be */
	uint64_t m_key;
	struct hd_smp_queue
	    *queue; /* its destinations are the switches; it repeats nothing. NULL: to be set */
	struct repair_paths paths;
	bool *tables; /* [switch_count] the switch has the table */
	bool *losing; /* [switch_count] it has told of a loss since repair_poll_send() */
	struct repair_poll_place next;
	/* ---- of the round so far ---- */
	uint32_t silent; /* switches */
	/* ---- since the last repair_poll_send() ---- */
	struct repair_poll_place begun;
	uint32_t again; /* SMPs that ask for ports which a table says are down */
	uint32_t found; /* ports that are down, and were not known to be */
	uint32_t found_port; /* one of them */
};

/* `port_states` [switch_count]: which switches have the table; NULL: none. `cut` may change between calls. Errors:
 * -ENOMEM; -EINVAL our own port is not in the fabric. To be released in any case. */
int repair_poll_init(struct repair_poll *poll, const struct hd_fabric *fabric, uint64_t own_port,
		     const bool *port_states, const bool *cut);
void repair_poll_release(struct repair_poll *poll);

/* SMPs of a round, if all switches answer. */
uint32_t repair_poll_cost(const struct repair_poll *poll);

/* Begins a round. Cost: O(links). */
void repair_poll_begin(struct repair_poll *poll);

/* Submits the next SMPs, at most so many. *sent: how many. The caller works on the queue until none is pending. Errors:
 * -ENOMEM. */
int repair_poll_send(struct repair_poll *poll, uint32_t most, uint32_t *sent);

/* The answers to what was submitted last are not known: the next call submits it again. */
void repair_poll_repeat(struct repair_poll *poll);

/* All of the round has been submitted. */
bool repair_poll_is_over(const struct repair_poll *poll);

#endif
