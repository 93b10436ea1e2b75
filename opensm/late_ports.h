/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Ports whose virtual lanes are set up only after their tables are written, from one sweep to the
 * next: whether one more sweep is worth asking for.
 */
#ifndef OPENSM_LATE_PORTS_H
#define OPENSM_LATE_PORTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct late_port {
	uint64_t node; /* any number that tells nodes apart */
	uint32_t number;
};

/* A set of ports. Zero-initialise before use. */
struct late_ports {
	struct late_port *items; /* ascending */
	uint32_t count, room;
};

/* Adds a port that comes after all that are there. False: no memory, nothing is added. */
bool late_ports_add(struct late_ports *ports, uint64_t node, uint32_t number);

void late_ports_release(struct late_ports *ports);

/*
 * Takes over the ports that are late in this sweep into what is known, and empties `now`. True:
 * one of them is new, and one more sweep is to be asked for. All of them stay known then, so that
 * sweeps that are asked for in a row find each port new once and come to an end; where none is
 * new only those of now stay known, so that a port that was well in between is new again.
 * If memory is too short to know all of them, only those of now stay known too. Cost: O(known +
 * now).
 */
bool late_ports_note(struct late_ports *known, struct late_ports *now);

#endif
