/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Hosts for a job, or the order of its ranks, proposed offline. */
#ifndef CLI_KEY_PROPOSE_H
#define CLI_KEY_PROPOSE_H

#include "arguments.h"
#include "key_proposal.h"
#include "shared_arguments.h"
#include "table_source.h"

#include <heddle/keyd/key_choose.h>

/* What the user asks for. */
struct key_propose {
	struct key_proposal_hosts hosts;
	struct key_proposal_files files;
	const char *name_map;
	uint32_t tries;
	struct table_source tables;
};

#define KEY_PROPOSE_DEFAULT                                                                        \
	{                                                                                          \
		.tries = HD_KEY_CHOOSE_TRIES                                                       \
	}

#define KEY_PROPOSE_ARGUMENTS(type, member)                                                        \
	KEY_PROPOSAL_HOSTS(type, member.hosts), KEY_PROPOSAL_FILES(type, member.files),            \
	    {0, "tries", "N", "try N changes to the best proposal, at most (default 2000)",        \
	     ARGUMENT_NUMBER(type, member.tries, 0, 1000000)},                                     \
	    SHARED_ENGINE(type, member.tables), SHARED_NAME_MAP(type, member.name_map)

/* Whether --choose or --reorder is given. */
bool key_propose_asked(const struct key_propose *choose);

/*
 * Reads fabric, tables and hosts, and prints or writes what is proposed. ranks 0: one for each host.
 * The operands are FABRIC and files of tables; without tables and engine they are those of dmodk. The
 * exit status.
 */
int key_propose_run(struct key_propose *choose, const char *pattern, uint32_t ranks, bool json,
		    const struct operands *operands);

void key_propose_release(struct key_propose *choose);

#endif
