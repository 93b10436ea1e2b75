/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What ebb, compare and survive ask alike: the pattern, how many, who runs it where. */
#ifndef CLI_WORKLOAD_H
#define CLI_WORKLOAD_H

#include "arguments.h"
#include "processes.h"

#include <heddle/analysis.h>

/* The first rows of such a command's table; its own begin at WORKLOAD_ROWS. `patterns` is how
 * many it draws when nobody says. */
#define WORKLOAD_ARGUMENTS(patterns)                                                               \
	{'p', "pattern", "NAME[:KEY=VALUE]...",                                                    \
	 "what the hosts send (default bisect; see --patterns)"},                                  \
	    {'n', "count", "N", "patterns to draw (default " patterns ")"},                        \
	    {'s', "seed", "S", "of what is drawn (default 1)"},                                    \
	    {0, "map", "random|identity|FILE",                                                     \
	     "ranks to hosts: at random for each pattern (the default), in the fabric's order, "   \
	     "or in that of a host file"},                                                         \
	    {0, "lids", "base|source|random|rotate|spread",                                        \
	     "which of a port's 2^LMC LIDs: the base (the default), by source, drawn, in "         \
	     "turn, or all at once"},                                                              \
	    {0, "weights", "none|rate", "rate: shares in units of the fastest host link"},         \
	    {0, "fair", NULL, "max-min fair shares in place of 1/pi"},                             \
	    {0, "aggregation-nodes", NULL, "let the switches' aggregation nodes take part"},       \
	    {'t', "threads", "T", "threads (1..64); default: one a processor"},                    \
	    {0, "lmc", "N", "2^N LIDs a host (0..7), where the fabric has another LMC"},           \
	    {0, "json", NULL, "print JSON"},                                                       \
	    {'v', "verbose", NULL, "show what readers and engines remark"},                        \
	{                                                                                          \
		0, "patterns", NULL, "list the patterns and their options, and end"                \
	}

enum workload_row {
	WORKLOAD_PATTERN,
	WORKLOAD_COUNT,
	WORKLOAD_SEED,
	WORKLOAD_MAP,
	WORKLOAD_LIDS,
	WORKLOAD_WEIGHTS,
	WORKLOAD_FAIR,
	WORKLOAD_AGGREGATION,
	WORKLOAD_THREADS,
	WORKLOAD_LMC,
	WORKLOAD_JSON,
	WORKLOAD_VERBOSE,
	WORKLOAD_LIST,
	WORKLOAD_ROWS
};

struct workload {
	const struct hd_pattern_kind *kind;
	struct hd_options *options; /* of the kind */
	char pattern_text[160]; /* "neighbours:grid=4,4" as typed */
	const char *host_file;
	enum hd_mapping mapping;
	enum hd_lid_choice lids;
	enum hd_share_model shares;
	bool rate_weights, aggregation_nodes, list, count_given;
	uint64_t count, seed;
	unsigned threads;
	int lmc; /* for fabric_source_load() */
	bool json, verbose;
	struct processes *processes;
};

/* Defaults. -ENOMEM as a message: false. */
bool workload_init(struct workload *workload, struct processes *processes);

void workload_release(struct workload *workload);

/* A row of WORKLOAD_ARGUMENTS; 0, or not 0 after a message. */
int workload_take(struct workload *workload, const struct argument *argument, unsigned row,
		  const char *value);

/*
 * Refuses an output that would take the place of one of the operands or of the workload's files;
 * see output_refuse().
 */
int workload_refuse_output(const struct workload *workload, const struct argument *argument,
			   const char *output, char **operands, int count);

/* Prints all patterns, as text or as JSON; the exit status. */
int workload_list(bool json);

/* The workload on one fabric. */
struct workload_on {
	struct hd_ranks *ranks;
	struct hd_pattern *pattern;
	uint64_t count; /* patterns to draw: no more than there are different ones */
};

int workload_place(const struct workload *workload, const struct hd_fabric *fabric,
		   struct workload_on *out, struct hd_error *err);
void workload_on_release(struct workload_on *on);

/* A request for those tables. */
struct hd_congestion_request workload_request(const struct workload *workload,
					      const struct workload_on *on,
					      const struct hd_routes *routes);

/* hd_congestion_run() with a line of progress on a terminal, from one second on. */
int workload_run(struct hd_congestion_request *request, const char *title,
		 struct hd_congestion_report **out, struct hd_error *err);

/* What a route's bandwidth is the mean of: "1/pi", "max-min fair share" ... */
const char *workload_share_name(const struct workload *workload);

/* "identity", "random" or the host file. */
const char *workload_map_name(const struct workload *workload);
const char *workload_lids_name(const struct workload *workload);

/* For the end of a line: ", LIDs in turn"; nothing for base LIDs. */
const char *workload_lids_remark(const struct workload *workload);

/* For the head of a table of routes by pi: ", pi rounded up" where it is counted in parts. */
const char *workload_pi_remark(const struct workload *workload);

#endif
