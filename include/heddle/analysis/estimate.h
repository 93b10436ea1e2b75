/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Who sends how much to whom, estimated from counters of links: counters do not say it.
 *
 * The estimate begins with the matrix of largest entropy that gives each host what it has sent and received
 * (a gravity model: bytes sent by the source times bytes received by the destination). It is then scaled until the
 * paths of the tables give each link what it has carried, by the simultaneous multiplicative algebraic
 * reconstruction: each entry is multiplied by the geometric mean, over the links of its path, of measured bytes
 * divided by estimated ones. That converges to the matrix of least relative entropy to the first one, if any
 * matrix gives each link its bytes.
 * Sources: Zhang, Roughan, Duffield, Greenberg, "Fast accurate computation of large-scale IP traffic matrices from
 * link loads", 2003; Byrne, "Iterative image reconstruction algorithms based on cross-entropy minimization", 1993.
 *
 * Hosts of one leaf switch whose jobs are the same have the same paths, so all that links tell is how much they
 * send together: they are one source. The bytes of one of them are its share of what they have sent.
 */
#ifndef HEDDLE_ANALYSIS_ESTIMATE_H
#define HEDDLE_ANALYSIS_ESTIMATE_H

#include <heddle/analysis/allocation.h>
#include <heddle/analysis/congestion.h>
#include <heddle/analysis/counters.h>
#include <heddle/fabric/routes.h>

#ifdef __cplusplus
extern "C" {
#endif

struct hd_estimate_source {
	uint32_t sw, job; /* leaf switch; job of hd_allocation, HD_NONE without one */
	double bytes; /* that its hosts have sent */
	uint32_t hosts; /* that have sent anything */
};

/* An entry of the matrix: what a source sends to a LID. */
struct hd_estimate_cell {
	uint32_t source; /* of estimate->sources */
	uint32_t host; /* that receives */
	uint32_t path; /* of estimate->links: the first link between switches of its path */
	uint16_t hops; /* such links */
	uint16_t lid_offset;
	double bytes;
};

struct hd_estimate {
	const struct hd_measured *measured; /* must outlive the estimate */
	uint32_t source_count;
	struct hd_estimate_source *sources;
	uint32_t *host_source; /* [host_count] HD_NONE: it has sent nothing, or nobody knows */
	double *host_part; /* [host_count] of the bytes of its source, 0 .. 1 */
	uint32_t cell_count;
	struct hd_estimate_cell *cells; /* by source, then by host */
	uint32_t *links; /* of all paths, one path after the other */
	double *link_bytes; /* [link_count of measured] */
	double bytes; /* of all cells */
	/* The share of the bytes of links between switches that is explained: 1 - sum of |measured - estimated| /
	 * sum of measured; below 0 counts as 0. By the first matrix and by the last one. */
	double explained_first, explained;
	uint32_t rounds;
	uint32_t unknown_hosts; /* neither sent nor received bytes are known */
	double lost; /* bytes of the first matrix for which the tables have no path */
};

struct hd_estimate_request {
	const struct hd_measured *measured;
	const struct hd_routes *routes;
	const struct hd_allocation
	    *allocation; /* jobs do not send to other jobs; NULL: all may send to all */
	uint32_t rounds; /* at most; 0: 200 */
	/* Called after each round; not 0: stop with -ECANCELED. May be NULL. */
	int (*progress)(void *context, uint32_t round, uint32_t rounds);
	void *progress_context;
};

/*
 * *out is freed with hd_estimate_free(). Errors: -EINVAL tables that do not fit the fabric; -ENODATA no host with known
 * bytes, or none has sent; -EFBIG more than 2^32 - 2 entries; -ECANCELED; -ENOMEM. Cost: O(rounds * sources * LIDs of
 * hosts * hops); memory: 24 bytes an entry and 4 a hop.
 */
int hd_estimate_new(const struct hd_estimate_request *request, struct hd_estimate **out,
		    struct hd_error *err);

/* NULL is allowed. */
void hd_estimate_free(struct hd_estimate *estimate);

/* Whether an entry crosses a link between switches, or to a host. O(hops). */
bool hd_estimate_crosses(const struct hd_estimate *estimate, const struct hd_estimate_cell *cell,
			 uint32_t link);

/* ---- what uses a link ---- */

struct hd_estimate_flow {
	uint32_t source, destination; /* hosts */
	double bytes; /* on the link; an estimate */
};

struct hd_estimate_users {
	uint32_t sources,
	    destinations; /* hosts that use the link by the tables, whether they send or not */
	uint64_t routes; /* pairs of host and LID */
	double bytes; /* of the estimate */
	uint32_t flow_count; /* the largest flows, in descending order */
	struct hd_estimate_flow *flows;
	/* Bytes by the job of the source: [job_count of the allocation + 1], the last one of no job or several. NULL
	 * without an allocation. */
	double *job_bytes;
};

/* Finds who uses a link. `flows`: how many to list at most. *users is released with hd_estimate_users_release().
 * Errors: -ENOMEM. O(sources * hosts * hops). */
int hd_estimate_find_users(const struct hd_estimate *estimate, const struct hd_routes *routes,
			   const struct hd_allocation *allocation, uint32_t link, uint32_t flows,
			   struct hd_estimate_users *users, struct hd_error *err);
void hd_estimate_users_release(struct hd_estimate_users *users);

/* ---- the same traffic by other tables ---- */

struct hd_estimate_load {
	double *link_bytes; /* [link_count] */
	double lost; /* bytes for which the tables have no path */
};

struct hd_estimate_projection {
	const struct hd_fabric
	    *fabric; /* with the nodes and cables of the one that was measured, maybe other LIDs */
	const struct hd_routes *routes;
	const struct hd_spread *spread; /* NULL: the tables alone */
	uint32_t link; /* only what crosses this link by the tables of the estimate; HD_NONE: all */
};

/*
 * Sends the bytes of the estimate by other tables. What went to a LID goes to the LID of the same offset; if the host
 * has another number of LIDs, it is divided evenly over them. With `spread`, switches divide what they have for a LID
 * evenly over the preferred ports of its group. *out is released with hd_estimate_load_release(). Errors: -EINVAL
 * another fabric; -ENOMEM. Cost: O(entries * hops).
 */
int hd_estimate_project(const struct hd_estimate *estimate,
			const struct hd_estimate_projection *projection,
			struct hd_estimate_load *out, struct hd_error *err);
void hd_estimate_load_release(struct hd_estimate_load *load);

/* ---- bottlenecks ---- */

struct hd_bottleneck {
	uint32_t link;
	double hosts; /* how many hosts wait for it all the time */
	double score; /* the same; if no port waits, its share of the capacity */
	bool slow_host; /* a host that does not take its packets in time */
};

/*
 * Ranks links by how long hosts wait for them. A host waits because of the links that its packets meet: of its
 * entries of the estimate, those count that are held up, and there the first link that sends all the time and before
 * which senders wait. A link that waits itself is not the cause, but for the cable to a host. So the score of a link that n
 * flows of n hosts have to share is about n - 1. Of hosts that do not say how long they wait, it may be all the time in
 * which they did not send. Writes at most `room` links, in descending order; links that cause nothing are left out. Returns
 * their number, or -ENOMEM. `estimate` may be NULL: then the output ports of a switch share the blame for what waits
 * before it. O(entries * hops).
 */
int hd_bottlenecks_find(const struct hd_measured *measured, const struct hd_estimate *estimate,
			struct hd_bottleneck *list, uint32_t room);

#ifdef __cplusplus
}
#endif

#endif
