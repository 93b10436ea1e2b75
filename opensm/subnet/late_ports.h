/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Remembers from sweep to sweep which ports got their virtual lanes only after their tables, and
 * decides whether to request one more sweep.
 */
#ifndef OPENSM_LATE_PORTS_H
#define OPENSM_LATE_PORTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct late_port {
	uint64_t node; /* any number that identifies the node */
	uint32_t number;
};

/* A set of ports. Zero-initialise before use. */
struct late_ports {
	struct late_port *items; /* ascending */
	uint32_t count, room;
};

/* Adds a port that sorts after all others. Returns false if memory is short; nothing changes then.
 */
bool late_ports_add(struct late_ports *ports, uint64_t node, uint32_t number);

void late_ports_release(struct late_ports *ports);

/*
 * Moves the ports that are late in this sweep from `now` into `known`. Returns true if one of them
 * is new: then request one more sweep. In that case `known` keeps its other ports too: so a series
 * of requested sweeps finds each port new only once, and ends. If none is new, `known` has only the
 * ports of `now`: a port that was not late for a sweep is new again later. If memory is short,
 * `known` always has only the ports of `now`. Cost: O(known + now).
 */
bool late_ports_note(struct late_ports *known, struct late_ports *now);

#endif
