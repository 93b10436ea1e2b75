/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the files of heddle drain share: the prediction from files, its report, and the calls to a running OpenSM. */
#ifndef CLI_DRAIN_H
#define CLI_DRAIN_H

#include "json_value.h"
#include "plugin_answer.h"
#include "table_source.h"
#include "workload.h"

#include <heddle/ar_manager.h>
#include <heddle/fabric.h>

/* ---- pairs of hosts ---- */

#define DRAIN_PAIRS_NAMED 20u

/* Ordered pairs of different hosts, each with a LID. A pair counts once, whatever its number of LIDs. */
struct drain_pairs {
	uint64_t all;
	uint64_t hit; /* on their way are things that are pulled, for some LID */
	uint64_t cut; /* some LID that packets reached before is not reached after the repair */
	uint64_t dead; /* some LID is not reached by the tables of before */
	uint32_t named; /* of those that are cut off, the first ones */
	uint32_t from[DRAIN_PAIRS_NAMED], to[DRAIN_PAIRS_NAMED]; /* hosts */
};

/* What is pulled, and the tables before and after. */
struct drain_tables {
	const struct hd_fabric *fabric;
	const struct hd_routes *routes;
	const struct hd_fabric *rest; /* of hd_fabric_without() */
	const struct hd_routes
	    *repaired; /* NULL: nothing is repaired, and all that is hit is cut off */
};

/* Whether no cable is left to a host in the rest. */
bool drain_is_alone(const struct hd_fabric *fabric, const struct hd_fabric *rest, uint32_t host);

/* Follows all packets between hosts, in both tables. Cost: O(switches * LIDs of hosts). */
void drain_pairs_count(const struct drain_tables *tables, struct drain_pairs *out);

/* ---- the prediction ---- */

/* The order in which switches get the repaired tables, while all cables still work. */
struct drain_order {
	char refusal[HD_ERROR_TEXT]; /* why none could be looked for; "": one was */
	uint64_t entries, blocks;
	uint32_t switches, steps, parts;
	uint64_t loose; /* entries that are written without a proof against credit loops */
	uint64_t left; /* entries that have no order at all */
	bool looped; /* the tables in place have a credit loop already */
	uint32_t loop; /* a LID that can go in a circle meanwhile, 0: none */
};

/* The bandwidth of the hosts that are left, over the same number of patterns. */
struct drain_bandwidth {
	bool known; /* some flow arrives */
	double mean, minimum;
};

/* With --plan. */
struct drain_adaptive {
	bool wanted;
	char unbridged
	    [HD_ERROR_TEXT]; /* why nothing is known of bridging; "": the figures below count */
	uint64_t pairs; /* of a switch and a LID, before */
	struct hd_ar_bridged bridged; /* right after a pull without draining */
	char refusal
	    [HD_ERROR_TEXT]; /* why there is no plan for what is left; "": there is one, and it is proved */
	uint64_t adaptive_before, adaptive_after; /* entries that may choose */
};

struct drain_prediction {
	const char *const *texts; /* [count] as typed */
	struct hd_fabric_change *pulled; /* [count] */
	uint32_t count;
	struct hd_pull_cut cables; /* whom the cables that are left do not join */
	bool *cut_hosts; /* [host_count] of these */
	bool *lone_hosts; /* [host_count] no cable is left to the host */
	struct drain_pairs pairs; /* by the tables */
	char refusal[HD_ERROR_TEXT]; /* of the engine; "": it has tables for the rest */
	uint64_t credit_loops; /* lanes with one, in the repaired tables */
	struct drain_order order;
	struct drain_bandwidth before, after;
	struct drain_adaptive adaptive;
};

struct drain_job {
	struct workload workload;
	/* as typed */
	struct table_source engine;
	struct drain_paths {
		const char *path[16];
		size_t count;
	} tables;
	const char *fabric_path, *plan_path;
	bool apply, undo, list, all, unproved, reroute;
	struct plugin_address address;
	/* after they are read */
	struct hd_log log;
	struct hd_fabric *fabric, *rest;
	struct hd_routes *routes, *repaired;
	struct hd_ar_plan *plan;
	struct drain_prediction prediction;
};

/*
 * Predicts what happens if prediction.texts are pulled: fills in the prediction. Errors: those of the readers, names that
 * are not found, -ENOMEM. That an engine refuses, or pairs are cut off, is a result.
 */
int drain_predict(struct drain_job *job, struct hd_error *err);

/* Whether nobody is cut off, and each step to the repaired tables is proved. */
bool drain_is_safe(const struct drain_prediction *prediction);

void drain_print(const struct drain_job *job);

/* NULL: no memory. */
json_t *drain_json(const struct drain_job *job);

/* ---- a running OpenSM ---- */

/* Of a struct drain_job. */
#define DRAIN_ADDRESS_ARGUMENTS                                                                    \
	{'s', "socket", "PATH",                                                                    \
	 "the socket of [drain] in heddle.conf, or a pattern (default: " HD_DRAIN_SOCKET           \
	 ", else the only " HD_DRAIN_SOCKETS ")",                                                  \
	 ARGUMENT_TEXT(struct drain_job, address.socket)},                                         \
	{                                                                                          \
		0, "timeout", "MS",                                                                \
		    "wait at most so many milliseconds for the answer (1..3600000, default "       \
		    "600000)",                                                                     \
		    ARGUMENT_NUMBER(struct drain_job, address.timeout_ms, 1, 3600000)              \
	}

/* --apply, --undo and --list, and heddle reroute. The exit status. */
int drain_live(const struct drain_job *job, const char *const *names, uint32_t count);

#endif
