/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Hosts for a job, and the host of each rank: how a proposal is asked for, written and shown, wherever it comes from. */
#ifndef CLI_KEY_PROPOSAL_H
#define CLI_KEY_PROPOSAL_H

#include "arguments.h"
#include "key_hosts.h"

#include <heddle/base/error.h>
#include <heddle/keyd/key_choose.h>
#include <heddle/keyd/key_pattern.h>
#include <jansson.h>

struct key_proposal {
	uint32_t free, hosts, ranks, phases; /* free: hosts of the list */
	struct hd_key_worth listed, proposed;
	const char **host_of; /* [ranks] as the list has it */
};

/* The hosts that the job may have: `count` of those in one file, or all in the other. */
struct key_proposal_hosts {
	uint32_t count; /* 0: not asked */
	const char *free, *reorder; /* paths, "-": standard input; one of them is NULL */
};

#define KEY_PROPOSAL_HOSTS(type, member)                                                           \
	{0, "choose", "N", "propose N of the hosts of --free, and the host of each rank",          \
	 ARGUMENT_NUMBER(type, member.count, 1, HD_KEY_RANKS_MAX)},                                \
	    {0, "free", "FILE",                                                                    \
	     "the hosts that are free, with a host or list on each line; -: standard input",       \
	     ARGUMENT_TEXT(type, member.free)},                                                    \
	{                                                                                          \
		0, "reorder", "FILE",                                                              \
		    "propose the host of each rank for a job that has all hosts of FILE",          \
		    ARGUMENT_TEXT(type, member.reorder)                                            \
	}

/* Refuses what does not go together, or no pattern. 0, or STATUS_BAD after a message. */
int key_proposal_check_hosts(const struct key_proposal_hosts *hosts, const char *pattern);

/* The file with the hosts. */
const char *key_proposal_path(const struct key_proposal_hosts *hosts);

/* Reads it. Errors: those of key_hosts_read(), -EINVAL no host. */
int key_proposal_read_hosts(const struct key_proposal_hosts *hosts, struct key_hosts *out,
			    struct hd_error *err);

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

/* Errors: those of writing. */
int key_proposal_write(const struct key_proposal *proposal, const struct key_proposal_files *files,
		       struct hd_error *err);

/* Tables for people. hosts: also the host of each rank. */
void key_proposal_print(const struct key_proposal *proposal, bool hosts);

/* The hosts, each once, by their lowest rank and between commas, as --nodelist takes them. */
void key_proposal_print_list(const struct key_proposal *proposal);

/* An object; NULL: no memory. */
json_t *key_proposal_json(const struct key_proposal *proposal);

#endif
