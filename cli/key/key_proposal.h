/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Hosts for a job, and the host of each rank: how a proposal is written and shown, wherever it comes from. */
#ifndef CLI_KEY_PROPOSAL_H
#define CLI_KEY_PROPOSAL_H

#include "arguments.h"

#include <heddle/base/error.h>
#include <heddle/keyd/key_choose.h>
#include <jansson.h>

struct key_proposal {
	uint32_t free, hosts, ranks, phases; /* free: hosts of the list */
	struct hd_key_worth listed, proposed;
	const char **host_of; /* [ranks] as the list has it */
};

/* Where to write it. "-": standard output, for one of them. */
struct key_proposal_files {
	const char *host_file, *rank_file; /* NULL: no such file */
};

#define KEY_PROPOSAL_FILES(type, member)                                                           \
	{0, "host-file", "FILE",                                                                   \
	 "write the host of each rank, one a line, for Slurm and Open MPI (-: standard output)",   \
	 ARGUMENT_TEXT(type, member.host_file)},                                                   \
	{                                                                                          \
		0, "rankfile", "FILE", "write a rank file of Open MPI",                            \
		    ARGUMENT_TEXT(type, member.rank_file)                                          \
	}

/* Refuses files that are inputs, too, or that both go to standard output, and with json one that does. 0, or
 * STATUS_BAD after a message. */
int key_proposal_check(const struct key_proposal_files *files, const char *const *inputs,
		       unsigned input_count, bool json);

/* Whether standard output is one of them. */
bool key_proposal_takes_output(const struct key_proposal_files *files);

/* Errors: those of writing, -ENOMEM. */
int key_proposal_write(const struct key_proposal *proposal, const struct key_proposal_files *files,
		       struct hd_error *err);

/* Tables for people. hosts: also the host of each rank. */
void key_proposal_print(const struct key_proposal *proposal, bool hosts);

/* The hosts, each once, by their lowest rank and between commas, as --nodelist takes them. -ENOMEM. */
int key_proposal_print_list(const struct key_proposal *proposal);

/* An object; NULL: no memory. */
json_t *key_proposal_json(const struct key_proposal *proposal);

#endif
