/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The agent's tables for people and programs: heddle-router show NAME. */
#ifndef AGENT_TABLES_H
#define AGENT_TABLES_H

#include "agent_link.h"

#include <jansson.h>
#include <router.h>

/* What they show. */
struct agent_state {
	struct hd_router *router;
	const struct agent_link *links; /* [link_count], by the index of the subnet in the router */
	uint32_t link_count;
};

/* Name and summary of table number `index`; false: there are not so many. */
bool agent_tables_at(unsigned index, const char **name, const char **summary);

/* The table of that name, an array of objects; {"error": ...} if no table has the name. NULL: no
 * memory. */
json_t *agent_tables_make(const struct agent_state *state, const char *name);

#endif
