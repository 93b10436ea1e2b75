/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The workload of ebb, compare and survive: which traffic to send, how much of it, and between
 * which hosts. */
#ifndef CLI_WORKLOAD_H
#define CLI_WORKLOAD_H

#include "machines_source.h"
#include "policy_arguments.h"
#include "processes.h"
#include "shared_arguments.h"

#include <heddle/analysis.h>

/* ---- the workload ---- */

/* Rows of such a command's table; `member` is a struct workload. `patterns`, a string: how many it
 * draws by default. */
#define WORKLOAD_ARGUMENTS(type, member, patterns)                                                 \
	{'p', "pattern", "NAME[:KEY=VALUE,...]",                                                   \
	 "which hosts send to which (default bisect, see --patterns)",                             \
	 ARGUMENT_BY(workload_take_pattern, type, member)},                                        \
	    {0, "patterns", NULL, "list the patterns and their options, and end",                  \
	     ARGUMENT_FLAG(type, member.list)},                                                    \
	    {'n', "count", "N", "draw N patterns (default " patterns ")",                          \
	     ARGUMENT_NUMBER(type, member.count, 1, WORKLOAD_COUNT_MAX)},                          \
	    {'s', "seed", "S", "seed of all random choices (default 1)",                           \
	     ARGUMENT_NUMBER(type, member.seed, 0, INT64_MAX)},                                    \
	    {0, "map", "random|identity|FILE",                                                     \
	     "which host runs which rank: drawn for each pattern (default), in the fabric's "      \
	     "order, or in that of a host file",                                                   \
	     ARGUMENT_BY(workload_take_map, type, member)},                                        \
	    {0, "by-machine", NULL,                                                                \
	     "the pattern is one of machines with several adapters, of which all send: rail to "   \
	     "rail",                                                                               \
	     ARGUMENT_FLAG(type, member.by_machine)},                                              \
	    MACHINES_ARGUMENT(type, member.machines),                                              \
	    {0, "lids", "base|source|random|rotate|spread|parallel",                               \
	     "which of a port's 2^LMC LIDs a flow goes to: the base LID (default), by source, "    \
	     "drawn, round robin, or all at once",                                                 \
	     ARGUMENT_CHOICE(type, member.lids)},                                                  \
	    {0, "weights", "none|rate", "rate: shares in units of the fastest host link",          \
	     ARGUMENT_CHOICE(type, member.rate_weights)},                                          \
	    {0, "fair", NULL, "measure max-min fair shares, not 1/pi",                             \
	     ARGUMENT_FLAG(type, member.fair)},                                                    \
	    {0, "aggregation-nodes", NULL, "let aggregation nodes in switches take part",          \
	     ARGUMENT_FLAG(type, member.aggregation_nodes)},                                       \
	    POLICY_ARGUMENTS(type, member.policy), SHARED_LMC(type, member.lmc),                   \
	    SHARED_THREADS(type, member.threads), SHARED_JSON(type, member.json),                  \
	    SHARED_CSV(type, member.csv), SHARED_VERBOSE(type, member.verbose)

#define WORKLOAD_COUNT_MAX INT64_C(4294967295) /* what hd_congestion_run() takes */

struct workload_command; /* see below */

struct workload {
	const struct workload_command *command;
	const struct hd_pattern_kind *kind;
	struct hd_options *options; /* of the kind */
	char pattern_text[160]; /* "neighbours:grid=4,4" as typed */
	bool pattern_given; /* it was typed, and is no default */
	const char *host_file;
	bool by_machine;
	struct machines_source machines;
	enum hd_mapping mapping;
	enum hd_lid_choice lids;
	bool fair, rate_weights, aggregation_nodes, list;
	uint64_t count; /* as typed, or the command's default */
	bool count_given;
	uint64_t seed;
	struct policy_arguments policy;
	unsigned threads;
	int lmc; /* for fabric_source_load() */
	bool json, csv, verbose;
	bool partial; /* the work was ended early: workload_run(), or the command's own */
	struct processes *processes;
};

/* The places are struct workload. */
arguments_take_fn workload_take_pattern, workload_take_map;

/* Defaults. 0, or STATUS_BAD after a message: no memory. */
int workload_init(struct workload *workload, struct processes *processes);

void workload_release(struct workload *workload);

/*
 * Refuses an output that would replace one of the operands or of the workload's files; see
 * output_refuse().
 */
int workload_refuse_output(const struct workload *workload, const char *option, const char *output,
			   const struct operands *operands);

/* The workload on one fabric. */
struct workload_on {
	struct hd_ranks *ranks;
	struct hd_pattern *pattern;
	uint64_t count; /* patterns to draw: at most as many as differ */
	enum hd_machines_by machines; /* how they were found; HD_MACHINES_ALONE: hosts send */
};

int workload_place(const struct workload *workload, const struct hd_fabric *fabric,
		   struct workload_on *out, struct hd_error *err);
void workload_on_release(struct workload_on *on);

/* A request for those tables. */
struct hd_congestion_request workload_request(const struct workload *workload,
					      const struct workload_on *on,
					      const struct hd_routes *routes);

/*
 * hd_congestion_run() with a line of progress on a terminal, after one second. The first SIGINT or SIGTERM ends the run
 * early, and this and the workload say so (partial); the second one ends the process. Of several processes each is ended
 * by the first.
 */
int workload_run(struct workload *workload, struct hd_congestion_request *request,
		 const char *title, struct hd_congestion_report **out, struct hd_error *err);

/* The last line of a report of work that was ended early, or nothing; `done`: "3 of 10 trials". */
void workload_print_partial(const struct workload *workload, const char *done);

/* What a route's bandwidth is the mean of: "1/pi", "max-min fair share" ... */
const char *workload_share_name(const struct workload *workload);

/* "identity", "random" or the host file. */
const char *workload_map_name(const struct workload *workload);
const char *workload_lids_name(const struct workload *workload);

/* "256 ranks", or "32 machines". */
#define WORKLOAD_MEMBERS_TEXT 40
const char *workload_members(const struct workload_on *on, char *text, size_t size);

/* A line about machines if these send: "32 of 8 adapters each, by names"; false: they do not. */
#define WORKLOAD_MACHINES_TEXT 160
bool workload_machines(const struct workload_on *on, char *text, size_t size);

/* For the end of a line: ", LIDs round robin"; nothing for base LIDs. */
const char *workload_lids_remark(const struct workload *workload);

/* For the head of a table of routes by pi: ", pi rounded up" if flows are divided. */
const char *workload_pi_remark(const struct workload *workload);

/* ---- the frame of the commands ---- */

/* The frame of the commands that send a workload: ebb, compare and survive. */

/* What differs between the commands. A command's job begins with a struct workload, to which `job`
 * points. */
struct workload_command {
	const struct usage *usage;
	uint64_t count; /* patterns to draw by default */
	arguments_run_fn *run;
	void (*release)(void *job); /* releases everything but the workload */
};

/* Begins as one of several processes, reads the command line, runs and ends. The exit status. */
int workload_frame_run(const struct workload_command *command, void *job, int argc, char **argv);

#endif
