/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Congestion. The flows of a pattern follow the tables and are counted on every directed link,
 * including the hosts' own cables. The congestion pi of a route is the largest count on its links,
 * and its share of the bandwidth is 1/pi. Links are full-duplex: two directions never collide.
 * Source: Hoefler, Schneider, Lumsdaine, "Multistage switches are not crossbars: effects of static
 * routing in high-performance networks", 2008, section 3.
 *
 * No result depends on the number of threads or processes. Pattern i has a random stream of its
 * own, and all sums are sums of whole numbers.
 */
#ifndef HEDDLE_ANALYSIS_CONGESTION_H
#define HEDDLE_ANALYSIS_CONGESTION_H

#include <heddle/analysis/pattern.h>
#include <heddle/base/go_on.h>
#include <heddle/base/port_set.h>
#include <heddle/fabric/routes.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum hd_lid_choice {
	HD_LIDS_BASE, /* every flow to the base LID */
	HD_LIDS_SOURCE, /* LID offset = source host modulo 2^LMC of the destination */
	HD_LIDS_RANDOM, /* LID offset drawn for each flow */
	/* Each source uses the LID offsets round robin, flow after flow, for all its destinations.
	 * Its flow number n (from 0, over all rounds of a pattern) in pattern number i goes to LID
	 * offset (source host + i + n) modulo 2^LMC of the destination. */
	HD_LIDS_ROTATE,
	/* A flow goes to all LIDs at once, in equal parts, like a message in stripes. Its slowest
	 * part sets its pace. A flow is broken if any part does not arrive. */
	HD_LIDS_SPREAD,
	/* The same parts, but none waits for another, like many messages at a time, each to the next LID. The share of a
	 * flow is the mean of those of its parts; its congestion is that of the slowest part. */
	HD_LIDS_PARALLEL
};

/* Whether flows go to all LIDs at once. */
static inline bool hd_lids_divide(enum hd_lid_choice lids)
{
	return lids == HD_LIDS_SPREAD || lids == HD_LIDS_PARALLEL;
}

enum hd_share_model {
	HD_SHARE_CONGESTION, /* 1/pi: the flows of the worst link share it equally */
	HD_SHARE_MAX_MIN /* max-min fair: bandwidth that some flows cannot use goes to others */
};

#define HD_SPREAD_TABLES 2u
#define HD_SPREAD_NO_GROUP 0xFFFFu /* an entry with one port, that of the tables */

/* Ports among which a switch may choose. */
struct hd_spread_group {
	struct hd_port_set first; /* those that it prefers, among which it spreads evenly */
	struct hd_port_set all; /* also those that it takes when the first ones are loaded */
};

/* What one switch does. */
struct hd_spread_switch {
	/* Packets that come by these ports use table 0. All others, and all if there is only one
	 * table, use the last table. */
	struct hd_port_set above;
	uint32_t group_count;
	const struct hd_spread_group *groups; /* [group_count] */
	const uint16_t *group[HD_SPREAD_TABLES]; /* [lid_count]; NULL: no entry has a group */
	const uint8_t *port[HD_SPREAD_TABLES]; /* [lid_count]; NULL: the port of the routes */
};

/*
 * Adaptive routing beside the tables. Two figures say what it is worth:
 *
 * - Even spreading. At each switch a flow divides evenly over the ports of its group, whatever
 *   else happens there. The congestion of a flow is the largest load on any link that carries a
 *   part of it, so its slowest part sets its pace, as with HD_LIDS_SPREAD.
 * - The bound. No division of the flows among ports of the groups, however clever and however
 *   unequal, gives the routes of a round more bandwidth together. The bound is the smallest of
 *   four sums: over all hosts that send, and over all that receive, 1 for each; over all switches,
 *   the flows that leave hosts there, but no more than ports of their groups; and over all
 *   switches, the flows that arrive there, but no more than links to the switch. The last two
 *   count flows within one switch in full.
 *
 * What a switch reaches that looks at its queues lies between the two where queues are balanced
 * better than evenly, and below the first where it reacts too late.
 */
struct hd_spread {
	uint32_t tables; /* 1 or HD_SPREAD_TABLES */
	const struct hd_spread_switch *switches; /* [switch_count], as in the fabric */
};

struct hd_congestion_progress {
	/* Patterns that are done, and the largest number of patterns to run. */
	uint64_t patterns, wanted;
	double mean, half_width; /* so far */
};

#define HD_CONGESTION_ENOUGH 1

struct hd_congestion_request {
	const struct hd_fabric *fabric;
	const struct hd_routes *routes; /* NULL with `walk` */
	/*
	 * For paths that do not follow from tables by destination, as across subnets; else NULL.
	 * Writes the inter-switch links from host `source` to host `destination`, at most `room`,
	 * and returns their number, or a negative number if the flow does not arrive. It is called
	 * twice for each pair of hosts, by one thread; the table of paths must fit. HD_LIDS_BASE
	 * only.
	 */
	int (*walk)(void *context, uint32_t source, uint32_t destination, uint32_t *links,
		    uint32_t room);
	void *walk_context;
	const struct hd_ranks *ranks;
	const struct hd_pattern *pattern;
	enum hd_mapping mapping;
	enum hd_lid_choice lids;
	enum hd_share_model shares; /* where LIDs divide: congestion, and no rate_weights */
	/* NULL: the tables alone. With base LIDs and shares of 1/pi only. */
	const struct hd_spread *spread;
	/* Shares are in units of the fastest host link, not of each link's own rate. A link of
	 * unknown rate counts as the fastest host link. */
	bool rate_weights;
	uint64_t seed;
	/* Patterns to run: at most UINT32_MAX, so that no sum overflows. If `precision` is greater
	 * than 0, the run stops earlier: after the first batch where the 99% confidence interval is
	 * +- precision or less. */
	uint64_t patterns;
	double precision;
	unsigned threads; /* 0 = 1 */
	/* The largest table of paths. If it needs more, flows walk the tables. 0 = 1 GiB. */
	size_t table_bytes;
	/* [patterns] mean share of each pattern in units of 1 / HD_SHARE_ONE, to compare runs
	 * pattern by pattern. Each of `parts` gets all of them. Belongs to the caller; NULL: not
	 * wanted. */
	uint64_t *means;
	bool link_flows; /* fill in report->link_flows and link_worst */
	/* Called after each batch. Below 0: the run stops with -ECANCELED. HD_CONGESTION_ENOUGH: it ends there, and the
	 * report is of the patterns so far. May be NULL. */
	int (*progress)(void *context, const struct hd_congestion_progress *progress);
	void *progress_context;
	/* Asked for each round. After "no" the run ends behind the last whole batch, or with -ECANCELED before the first.
	 * With several parts: never stop. */
	struct hd_go_on go_on;
	/*
	 * The run is part number `part` of `parts` equal parts, each in a process of its own; parts
	 * 0: it is the only one. combine() adds up `sums` and takes the minima of `minima` over all
	 * parts, in place, so that each part has the result. It returns 0 or a negative errno.
	 * `minima` may be NULL. Each part calls combine() equally often, also if one of them fails:
	 * then all fail. If `progress` stops the run, it has to stop it in all parts.
	 */
	uint32_t part, parts;
	int (*combine)(void *context, uint64_t *sums, size_t sum_count, uint64_t *minima,
		       size_t minimum_count);
	void *combine_context;
};

#define HD_SHARE_ONE (UINT64_C(1) << 31)
#define HD_PATTERN_BINS 1000 /* bin i holds means in [i, i+1) / 1000, the last one 1 as well */

struct hd_congestion_report {
	uint64_t patterns; /* run */
	bool partial; /* `progress` has ended the run early */
	uint64_t rounds;
	uint64_t routes; /* flows that arrive; all figures are over these */
	uint64_t broken; /* flows that do not arrive */

	double mean; /* share, mean over all routes of all patterns: the headline */
	/* Half width of the 99% confidence interval of the mean of patterns' means; 0 with a single
	 * pattern. There each pattern counts alike, and in `mean` each route does. The two means
	 * differ a little if patterns have different numbers of routes, as with tables that have
	 * holes. */
	double half_width;
	/* With request->spread: the mean share that no division of flows can exceed; else 0. */
	double bound;
	/* If machines have several adapters: a transfer from one machine to another, in which each of
	 * its adapters has a flow, is as fast as the slowest of them. The number of transfers, their
	 * mean share, and half of its 99% confidence interval. Else 0. */
	uint64_t machine_routes;
	double machine_mean, machine_half_width;
	double minimum; /* mean of the worst pattern */
	double deviation; /* standard deviation of patterns' means */
	double sum_max; /* mean over patterns of (1/r) sum over rounds of the largest pi */
	double sum_avg; /* mean over patterns of (1/r) sum over rounds of the mean pi */

	/* Routes by congestion: histogram[pi], pi below histogram_size; rounded up where flows
	 * divide. */
	uint32_t histogram_size;
	const uint64_t *histogram;
	/* Patterns by their mean share; the last entry counts those of exactly 1. */
	const uint64_t *bins; /* [HD_PATTERN_BINS + 1] */

	/* Directed links: first isl_count inter-switch links, then for each host the link from host
	 * to switch, then for each host the link from switch to host. NULL unless the request has
	 * link_flows. Where flows divide rounded up to whole flows. */
	uint32_t link_count;
	const uint64_t *link_flows; /* over all rounds of all patterns */
	const uint64_t *link_worst; /* most in one round */
};

/*
 * Runs the patterns. *out is freed with hd_congestion_report_free(). Errors: -EINVAL the tables,
 * ranks or pattern do not fit the fabric, patterns is 0 or above UINT32_MAX, no flow ever arrives,
 * LIDs that divide with other shares than 1/pi, `spread` with these, or `spread` or `walk` with other
 * LIDs than base LIDs, or both; -EFBIG the table of paths that `walk` needs is too large;
 * -ECANCELED `progress` stopped the run; what
 * combine() returned; -ENOMEM, also if another part failed. Cost: O(leaf switches * hosts * hops)
 * for the table of paths, then O(patterns * flows * hops). Memory: the table of paths (2 bytes a
 * hop, 4 above 65,534 links), and for each thread 4 bytes a link and 16 a flow. With `spread` there
 * is no table, and the second term is O(patterns * flows * links that a flow can take).
 */
int hd_congestion_run(const struct hd_congestion_request *request,
		      struct hd_congestion_report **out, struct hd_error *err);

/*
 * Writes the `count` links with the most flows to `links`, in descending order; ties go by number.
 * Links without flows are left out. Returns how many it wrote. Needs report->link_flows. Cost:
 * O(links * count).
 */
uint32_t hd_congestion_hottest(const struct hd_congestion_report *report, uint32_t *links,
			       uint32_t count);

/* The port that sends on a link; links are numbered as in the report. O(log switches). */
uint32_t hd_congestion_link_port(const struct hd_fabric *fabric, uint32_t link);

void hd_congestion_report_free(struct hd_congestion_report *report);

/* The mean share below which `percent` of all patterns are, rounded down to 1/HD_PATTERN_BINS but
 * not below the worst pattern's. */
double hd_congestion_percentile(const struct hd_congestion_report *report, double percent);

/* ---- differences ---- */

/*
 * Compares two runs of the same patterns, pattern by pattern. The influence of the drawn patterns
 * drops out, so far smaller differences show than between the two means.
 */

struct hd_difference {
	/* Mean of (share in the second run - share in the first), over patterns; each counts
	 * alike. */
	double mean;
	double half_width; /* 99% confidence; 0 with a single pattern */
	uint64_t better, worse,
	    same; /* patterns in which the second share is larger, smaller, equal */
};

/* Compares means[count] of two requests (hd_congestion_request); count > 0. O(count). */
struct hd_difference hd_difference_of(const uint64_t *first, const uint64_t *second,
				      uint64_t count);

/* ---- broken routes ---- */

/* Broken routes: the tables do not bring packets from the one host to the other. */

enum hd_broken_kind {
	HD_BROKEN_NO_ENTRY, /* a switch has no entry */
	HD_BROKEN_DEAD_END, /* an entry leads nowhere, or to another host */
	HD_BROKEN_LOOP,
	HD_BROKEN_KINDS
};

struct hd_broken_route {
	uint32_t source; /* switch to which the sending hosts are cabled */
	uint32_t host, lid; /* which they cannot reach */
	enum hd_broken_kind kind;
};

/*
 * Walks from every switch with ranks to every LID of every rank's host. routes[kind] counts the
 * pairs of sending host and LID that fail. The first `room` pairs of switch and LID go to list, by
 * switch and rank; *listed is their number. threads: 0 = 1; their number does not change the
 * result. Errors: -EINVAL the tables do not fit the fabric, -ENOMEM. Cost: O(leaf switches * LIDs *
 * hops).
 */
int hd_broken_routes(const struct hd_routes *tables, const struct hd_ranks *ranks, unsigned threads,
		     uint64_t routes[HD_BROKEN_KINDS], struct hd_broken_route *list, uint32_t room,
		     uint32_t *listed, struct hd_error *err);

#ifdef __cplusplus
}
#endif

#endif
