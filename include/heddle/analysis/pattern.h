/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Communication patterns. A pattern is a list of rounds, and a round is a list of flows between
 * ranks. A kind of pattern is one constant table. The command and its man page find it in the
 * registry.
 */
#ifndef HEDDLE_ANALYSIS_PATTERN_H
#define HEDDLE_ANALYSIS_PATTERN_H

#include <heddle/base/error.h>
#include <heddle/base/options.h>
#include <heddle/fabric/graph.h>
#include <heddle/fabric/machines.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- ranks ---- */

/* The hosts that take part in a pattern, in order: rank 0, 1, 2 ... */

struct hd_ranks {
	/* The fabric given, which must outlive the ranks, or `view`: hosts are numbered as here. */
	const struct hd_fabric *fabric;
	struct hd_fabric *view; /* the same fabric with aggregation nodes as hosts, or NULL */
	uint32_t count;
	uint32_t *host; /* [count]: index of the host that runs a rank; each host at most once */
	uint32_t aggregation_nodes; /* left out */
	uint32_t without_lid; /* left out, because no table has an entry for them */
	/* 1: each rank is a host of its own. More: rank r is adapter (rail) r % adapters of machine r / adapters. */
	uint32_t adapters;
	uint32_t other_machines; /* left out, because they have another number of adapters */
};

/*
 * All hosts in the fabric's order, leaf by leaf. Adapters that are set aside, such as aggregation
 * nodes (heddle/fabric/aside.h), take part only with `aggregation_nodes`.
 * Errors: -ENODATA nobody is left, -ENOMEM.
 */
int hd_ranks_new(const struct hd_fabric *fabric, bool aggregation_nodes, struct hd_ranks **out,
		 struct hd_error *err);

/*
 * Ranks from the text of a host file: one host a line, in rank order. hd_words_next_name() defines
 * the form of lines, and hd_fabric_resolve() that of hosts; adapters
 * that are set aside may be among them. `name` stands for the file in messages.
 * Errors: -EINVAL an unknown, ambiguous or repeated host, or one without a LID (names the line);
 * -ENODATA no host in the file; -ENOMEM. Cost: O(lines * nodes).
 */
int hd_ranks_parse(const struct hd_fabric *fabric, const char *text, size_t length,
		   const char *name, struct hd_ranks **out, struct hd_error *err);

/* The same from a file. Errors: also errno of open and read. */
int hd_ranks_read(const struct hd_fabric *fabric, const char *path, struct hd_ranks **out,
		  struct hd_error *err);

/*
 * Puts the ranks into the order of machines: those of one machine one after another, in the order
 * of its rails, machines in the order of their first ranks. `machines` are those of ranks->fabric.
 * Only machines of one number of ranks stay, the number that the most ranks have (the larger of two
 * such numbers); it becomes ranks->adapters. Errors: -ENOMEM, the ranks stay as they were. Cost:
 * O(hosts).
 */
int hd_ranks_by_machine(struct hd_ranks *ranks, const struct hd_machines *machines,
			struct hd_error *err);

void hd_ranks_free(struct hd_ranks *ranks);

/* ---- patterns ---- */

struct hd_flow {
	uint32_t source, destination; /* never the same */
};

struct hd_pattern;
struct hd_draw; /* random numbers and scratch memory to draw one pattern */

struct hd_pattern_kind {
	const char *name; /* "bisect" */
	const char *summary;
	const struct hd_option *options;
	unsigned option_count;
	bool random; /* the flows are drawn; patterns of other kinds differ only by their mapping */
	bool fixed_hosts; /* the flows name hosts, so no mapping applies */
	/* The flows are between adapters: rail a of machine m has number m * adapters + a. With other
	 * kinds they are between ranks, or between machines: then each is one of every rail. */
	bool by_adapter;
	/* Fills in the pattern for pattern->ranks. Errors: -EINVAL, with what is expected. */
	int (*prepare)(struct hd_pattern *pattern, const struct hd_options *options,
		       const struct hd_ranks *ranks, struct hd_error *err);
	/* Writes the flows of a round. Returns their number, at most pattern->round_max. */
	uint32_t (*round)(const struct hd_pattern *pattern, uint32_t round, struct hd_draw *draw,
			  struct hd_flow *flows);
};

struct hd_pattern {
	const struct hd_pattern_kind *kind;
	uint32_t ranks; /* or machines, if they have several adapters */
	uint32_t adapters; /* of a machine; 1: the ranks are hosts */
	uint32_t rounds;
	uint32_t round_max; /* most flows in a round */
	bool single; /* in a round, no host sends twice or receives twice */
	uint32_t number[4]; /* the kind's own parameters */
	uint32_t *list_base; /* [rounds + 1], for kinds that are read from a file */
	struct hd_flow *list;
};

/*
 * hd_ranks_by_machine() with the machines that HD_MACHINES_AUTO finds, if `kind` is by_adapter; else
 * does nothing. Errors: -ENOMEM. Cost: O(hosts * log hosts).
 */
int hd_ranks_for_pattern(struct hd_ranks *ranks, const struct hd_pattern_kind *kind,
			 struct hd_error *err);

/* All kinds in the order of the documentation; *count of them. */
const struct hd_pattern_kind *const *hd_pattern_kinds(unsigned *count);

/* The kind with that name, or NULL. */
const struct hd_pattern_kind *hd_pattern_find(const char *name);

/*
 * Makes a pattern among these ranks. If these are adapters of machines, the pattern is one of
 * machines, and all adapters of a machine send: each flow goes from every rail to the same rail.
 * Kinds with by_adapter say themselves which adapter sends to which. options NULL: defaults.
 * Errors: -EINVAL too few ranks or an option that does not fit them, machines with a kind that names
 * hosts, those of the readers of files, -ENOMEM.
 */
int hd_pattern_new(const struct hd_pattern_kind *kind, const struct hd_options *options,
		   const struct hd_ranks *ranks, struct hd_pattern **out, struct hd_error *err);

void hd_pattern_free(struct hd_pattern *pattern);

enum hd_mapping {
	HD_MAP_IDENTITY, /* rank r runs on ranks->host[r] */
	HD_MAP_RANDOM /* a new random permutation of them, or of machines, for each pattern */
};

/* False if all patterns are the same under that mapping. Then one pattern is enough. */
bool hd_pattern_varies(const struct hd_pattern *pattern, enum hd_mapping mapping);

/*
 * Gives the flows of round `round` of pattern number `index`, as host indices: exactly those that
 * hd_congestion_run() counts. `flows` has room for pattern->round_max. Errors: -ENOMEM. Cost:
 * O(ranks + flows).
 */
int hd_pattern_draw(const struct hd_pattern *pattern, const struct hd_ranks *ranks,
		    enum hd_mapping mapping, uint64_t seed, uint64_t index, uint32_t round,
		    struct hd_flow *flows, uint32_t *count, struct hd_error *err);

#ifdef __cplusplus
}
#endif

#endif
