/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Congestion: flows of a pattern are sent along the tables and counted on every directed link,
 * the hosts' own cables included. The congestion pi of a route is the largest count on it, its
 * share of the bandwidth 1/pi. Links are full-duplex: two directions never collide. Source:
 * Hoefler, Schneider, Lumsdaine, "Multistage switches are not crossbars: effects of static
 * routing in high-performance networks", 2008, section 3.
 *
 * Nothing here depends on the number of threads or processes: pattern i is drawn from a stream
 * of its own, and all sums are of whole numbers.
 */
#ifndef HEDDLE_ANALYSIS_CONGESTION_H
#define HEDDLE_ANALYSIS_CONGESTION_H

#include <heddle/analysis/pattern.h>
#include <heddle/fabric/routes.h>

enum hd_lid_choice {
	HD_LIDS_BASE, /* every flow to the base LID */
	HD_LIDS_SOURCE, /* LID offset = source host modulo 2^LMC of the destination */
	HD_LIDS_RANDOM, /* LID offset drawn for each flow */
	/* A source takes the LIDs in turn, flow after flow, whoever the destination is: its flow
	 * number n (from 0, over all rounds of a pattern) in pattern number i goes to LID offset
	 * source host + i + n modulo 2^LMC of the destination. */
	HD_LIDS_ROTATE,
	/* A flow goes to all LIDs at once, in equal parts, and its slowest part sets the pace: a
	 * message in stripes. A flow some part of which does not arrive is broken. */
	HD_LIDS_SPREAD
};

enum hd_share_model {
	HD_SHARE_CONGESTION, /* 1/pi: the worst link divided by all flows on it */
	HD_SHARE_MAX_MIN /* max-min fair: what others cannot use is given to those who can */
};

struct hd_congestion_progress {
	uint64_t patterns, wanted; /* done, and at most to be done */
	double mean, half_width; /* so far */
};

struct hd_congestion_request {
	const struct hd_fabric *fabric;
	const struct hd_routes *routes;
	const struct hd_ranks *ranks;
	const struct hd_pattern *pattern;
	enum hd_mapping mapping;
	enum hd_lid_choice lids;
	enum hd_share_model shares; /* with HD_LIDS_SPREAD: congestion, and no rate_weights */
	/* Shares count in units of the fastest host link instead of each link's own rate; links
	 * of unknown rate count as that fastest. */
	bool rate_weights;
	uint64_t seed;
	/* Patterns to run, at most UINT32_MAX, so that no sum overflows; with `precision` > 0 at
	 * most so many: it stops at the first batch after which the 99% confidence interval is no
	 * wider than +- precision. */
	uint64_t patterns;
	double precision;
	unsigned threads; /* 0 = 1 */
	size_t table_bytes; /* the table of paths may take, else tables are walked; 0 = 1 GiB */
	/* [patterns] mean share of each pattern in units of 1 / HD_SHARE_ONE, for comparing one
	 * by one; with `parts`, complete in each. Belongs to the caller; NULL: not wanted. */
	uint64_t *means;
	bool link_flows; /* fill in report->link_flows and link_worst */
	/* After each batch; not 0 stops the run with -ECANCELED. NULL: none. */
	int (*progress)(void *context, const struct hd_congestion_progress *progress);
	void *progress_context;
	/*
	 * The run as one of `parts` equal ones (0: the only one), each in a process of its own.
	 * combine() adds up `sums` and takes the minima of `minima` over all of them, in place,
	 * and leaves the result with each; it returns 0 or a negative errno. Where there are none,
	 * `minima` is NULL. It is called equally often in each part, even where one of them fails:
	 * then all fail. A `progress` that stops the run has to stop it in all.
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
	uint64_t rounds;
	uint64_t routes; /* flows that arrive: all figures are over these */
	uint64_t broken; /* flows that the tables do not carry to their destination */

	double mean; /* share, mean over all routes of all patterns: the headline */
	/* 99% confidence of the mean of patterns' means, where each pattern counts alike; 0 with a
	 * single one. In `mean` each route does: the two part a little where patterns have unlike
	 * numbers of routes, as with tables that have holes. */
	double half_width;
	double minimum; /* mean of the worst pattern */
	double deviation; /* standard deviation of patterns' means */
	double sum_max; /* mean over patterns of (1/r) sum over rounds of the largest pi */
	double sum_avg; /* mean over patterns of (1/r) sum over rounds of the mean pi */

	/* Routes by congestion: histogram[pi], pi below histogram_size; with HD_LIDS_SPREAD
	 * rounded up. */
	uint32_t histogram_size;
	const uint64_t *histogram;
	/* Patterns by their mean share; the last entry counts those of exactly 1. */
	const uint64_t *bins; /* [HD_PATTERN_BINS + 1] */

	/* Directed links: first isl_count inter-switch links, then for each host its cable into
	 * the fabric, then for each host the one out of it. NULL unless asked for. With
	 * HD_LIDS_SPREAD rounded up to whole flows. */
	uint32_t link_count;
	const uint64_t *link_flows; /* over all rounds of all patterns */
	const uint64_t *link_worst; /* most in one round */
};

/*
 * Runs the patterns. Errors: -EINVAL shapes that do not match, patterns 0 or above UINT32_MAX, a
 * pattern that never has a route that arrives, HD_LIDS_SPREAD with other shares than 1/pi;
 * -ECANCELED; what combine() returned; -ENOMEM, also where another part failed. The report is freed
 * with hd_congestion_report_free(). Cost: O(patterns
 * * flows * hops) after O(leaf switches * hosts * hops) for the table of paths; memory: that table
 * (2 bytes a hop), and per thread 4 bytes a link and 16 a flow.
 */
int hd_congestion_run(const struct hd_congestion_request *request,
		      struct hd_congestion_report **out, struct hd_error *err);

/*
 * The `count` links with the most flows, in that order (ties by number), into links; fewer
 * where there are fewer with any flow: returns how many. Needs report->link_flows. O(links *
 * count).
 */
uint32_t hd_congestion_hottest(const struct hd_congestion_report *report, uint32_t *links,
			       uint32_t count);

/* Port that sends on a link numbered as in the report. O(log switches). */
uint32_t hd_congestion_link_port(const struct hd_fabric *fabric, uint32_t link);

void hd_congestion_report_free(struct hd_congestion_report *report);

/* Mean share of the pattern below which `percent` of all patterns are, to 1/HD_PATTERN_BINS. */
double hd_congestion_percentile(const struct hd_congestion_report *report, double percent);

#endif
