/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The hosts that take part in a pattern, in order: rank 0, 1, 2 ... */
#ifndef HEDDLE_ANALYSIS_RANKS_H
#define HEDDLE_ANALYSIS_RANKS_H

#include <heddle/base/error.h>
#include <heddle/fabric/graph.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

struct hd_ranks {
	/* The fabric given, which must outlive the ranks, or `view`: hosts are numbered as here. */
	const struct hd_fabric *fabric;
	struct hd_fabric *view; /* the same fabric with aggregation nodes as hosts, or NULL */
	uint32_t count;
	uint32_t *host; /* [count]: index of the host that runs a rank; each host at most once */
	uint32_t aggregation_nodes; /* left out */
	uint32_t without_lid; /* left out, because no table has an entry for them */
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

void hd_ranks_free(struct hd_ranks *ranks);

#ifdef __cplusplus
}
#endif

#endif
