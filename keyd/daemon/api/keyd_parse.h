/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Bodies of placements and layouts are parsed here: short ones at once, long ones by a worker, because the event
 * thread would need up to 70 ms for one. */
#ifndef KEYD_PARSE_H
#define KEYD_PARSE_H

#include "keyd_call.h"
#include "keyd_request.h"

struct keyd_parsing {
	struct keyd_task task; /* first */
	struct keyd_call *call;
	const char *body; /* of the call */
	size_t length;
	int (*parse)(struct keyd_parsing *parsing); /* as keyd_request_place() */
	void (*go_on)(struct keyd_parsing *parsing);
	int rc;
	struct keyd_problem problem;
	/* what was parsed; go_on() takes the arena of the one that it uses */
	struct keyd_place_request placement;
	struct keyd_layout_request layout;
	uint32_t owner; /* for the caller */
};

/*
 * Calls parse() in this or in another thread, and then go_on() in this one, also if other calls have come meanwhile.
 * If the body is wrong, answers so instead. owner: see above.
 */
void keyd_parse(struct keyd_call *call, int (*parse)(struct keyd_parsing *parsing),
		void (*go_on)(struct keyd_parsing *parsing), uint32_t owner);

#endif
