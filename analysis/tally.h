/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The figures that a run keeps of its patterns. They are whole numbers, so that the sums do not
 * depend on how threads and processes shared the patterns.
 */
#ifndef ANALYSIS_TALLY_H
#define ANALYSIS_TALLY_H

#include <heddle/analysis/congestion.h>
#include <heddle/base/arena.h>

/* Shares are kept in units of 2^-31: the square of one fits a word with room for its carry. */
#define TALLY_ONE HD_SHARE_ONE
/* Congestion is kept in units of 2^-20. */
#define TALLY_CONGESTION_ONE (UINT64_C(1) << 20)

/* The half width of a 99% confidence interval, in standard errors. */
#define NORMAL_QUANTILE_99 2.5758293035489004 /* the quantile of 0.995 */

/* Words of tally->sums before the arrays. _LOW sums the low 32 bits of each term and _HIGH the
 * rest. So neither overflows with fewer than 2^32 patterns. */
enum tally_word {
	TALLY_PATTERNS,
	TALLY_MEASURED, /* patterns with a route that arrives */
	TALLY_ROUNDS,
	TALLY_ROUTES,
	TALLY_BROKEN,
	TALLY_SHARE_LOW, /* of all routes */
	TALLY_SHARE_HIGH,
	TALLY_MEAN, /* of patterns' mean shares */
	TALLY_SQUARE_LOW, /* of their squares */
	TALLY_SQUARE_HIGH,
	TALLY_SUM_MAX_LOW,
	TALLY_SUM_MAX_HIGH,
	TALLY_SUM_AVG_LOW,
	TALLY_SUM_AVG_HIGH,
	TALLY_BOUND, /* whole flows, over all routes */
	TALLY_MACHINE_ROUTES, /* transfers between machines with a route that arrives */
	TALLY_MACHINE_SHARE_LOW, /* of all of these */
	TALLY_MACHINE_SHARE_HIGH,
	TALLY_MACHINE_MEAN, /* of patterns' mean shares of transfers */
	TALLY_MACHINE_SQUARE_LOW,
	TALLY_MACHINE_SQUARE_HIGH,
	TALLY_WORDS
};

struct tally {
	size_t sum_count, minimum_count;
	uint64_t *sums; /* one block: the words, then the arrays below */
	uint64_t *minima; /* smallest mean of a pattern, then for each link ~(most flows) */
	uint32_t histogram_size;
	uint64_t *histogram; /* [histogram_size] routes by congestion */
	uint64_t *bins; /* [HD_PATTERN_BINS + 1] */
	uint32_t link_count; /* 0 if flows of links are not kept */
	uint64_t *link_flows; /* [link_count] */
	uint64_t *link_least; /* [link_count] in minima */
};

/* The sums of one pattern. */
struct tally_pattern {
	uint64_t routes, broken, rounds;
	uint64_t share; /* sum over routes */
	uint64_t sum_max, sum_avg; /* sums over rounds */
	uint64_t bound; /* whole flows; 0 without adaptive routing */
	uint64_t machine_routes,
	    machine_share; /* sums over transfers between machines; 0: hosts alone */
};

int tally_init(struct tally *tally, uint32_t histogram_size, uint32_t link_count,
	       struct hd_arena *arena);

/* Empties it. */
void tally_clear(struct tally *tally);

/* Adds `from` to `tally`; both have the same shape. */
void tally_merge(struct tally *tally, const struct tally *from);

/* Returns the pattern's mean share; 0 if no route arrives. */
uint64_t tally_add_pattern(struct tally *tally, const struct tally_pattern *pattern);

/* A sum of two words: `low` is the index of the first. */
double tally_sum(const struct tally *tally, enum tally_word low);

/* Mean share over all routes. `reciprocal`: from the histogram, because each share is 1/pi. */
double tally_mean(const struct tally *tally, bool reciprocal);

/* Standard deviation of patterns' means, and half of their 99% confidence interval; both 0
 * with fewer than two patterns. */
double tally_deviation(const struct tally *tally);
double tally_half_width(const struct tally *tally);

/* The same for transfers between machines; 0 without such. */
double tally_machine_mean(const struct tally *tally);
double tally_machine_half_width(const struct tally *tally);

#endif
