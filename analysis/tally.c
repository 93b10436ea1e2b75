/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Sums of what a thread has counted: plain 64-bit words, so that tallies of threads and processes are added word by
 * word in any order, with the same result.
 *
 * Each thread of congestion.c has a tally. tally_add_pattern() takes a pattern into it; tally_merge() adds the tallies
 * up after each batch. Sums that need 128 bits are in two words, low and high halves. The other functions read means,
 * deviations and half widths of 95% from a total. No function fails, except tally_init() without memory.
 */
#include "tally.h"

#include <errno.h>
#include <heddle/analysis/congestion.h>
#include <math.h>
#include <string.h>

__extension__ typedef unsigned __int128 wide;

int tally_init(struct tally *tally, uint32_t histogram_size, uint32_t link_count,
	       struct hd_arena *arena)
{
	*tally = (struct tally){.histogram_size = histogram_size, .link_count = link_count};
	tally->sum_count = (size_t)TALLY_WORDS + histogram_size + HD_PATTERN_BINS + 1 + link_count;
	tally->minimum_count = 1 + (size_t)link_count;
	tally->sums = hd_arena_alloc(arena, tally->sum_count, sizeof(uint64_t));
	tally->minima = hd_arena_alloc(arena, tally->minimum_count, sizeof(uint64_t));
	if (hd_arena_check(arena))
		return -ENOMEM;
	tally->histogram = tally->sums + TALLY_WORDS;
	tally->bins = tally->histogram + histogram_size;
	tally->link_flows = tally->bins + HD_PATTERN_BINS + 1;
	tally->link_least = tally->minima + 1;
	tally_clear(tally);
	return 0;
}

void tally_clear(struct tally *tally)
{
	memset(tally->sums, 0, tally->sum_count * sizeof(*tally->sums));
	memset(tally->minima, 0xFF, tally->minimum_count * sizeof(*tally->minima));
}

void tally_merge(struct tally *tally, const struct tally *from)
{
	for (size_t i = 0; i < tally->sum_count; i++)
		tally->sums[i] += from->sums[i];
	for (size_t i = 0; i < tally->minimum_count; i++)
		if (from->minima[i] < tally->minima[i])
			tally->minima[i] = from->minima[i];
}

static void add_split(uint64_t *low_high, uint64_t value)
{
	low_high[0] += value & UINT32_MAX;
	low_high[1] += value >> 32;
}

static void add_machine_routes(uint64_t *sums, const struct tally_pattern *pattern)
{
	if (!pattern->machine_routes)
		return;
	uint64_t mean =
	    (pattern->machine_share + pattern->machine_routes / 2) / pattern->machine_routes;
	sums[TALLY_MACHINE_ROUTES] += pattern->machine_routes;
	add_split(&sums[TALLY_MACHINE_SHARE_LOW], pattern->machine_share);
	sums[TALLY_MACHINE_MEAN] += mean;
	add_split(&sums[TALLY_MACHINE_SQUARE_LOW], mean * mean);
}

uint64_t tally_add_pattern(struct tally *tally, const struct tally_pattern *pattern)
{
	uint64_t *sums = tally->sums;

	sums[TALLY_PATTERNS]++;
	sums[TALLY_ROUNDS] += pattern->rounds;
	sums[TALLY_ROUTES] += pattern->routes;
	sums[TALLY_BROKEN] += pattern->broken;
	sums[TALLY_BOUND] += pattern->bound;
	if (!pattern->routes)
		return 0;
	uint64_t mean = (pattern->share + pattern->routes / 2) / pattern->routes;
	sums[TALLY_MEASURED]++;
	add_split(&sums[TALLY_SHARE_LOW], pattern->share);
	sums[TALLY_MEAN] += mean;
	add_split(&sums[TALLY_SQUARE_LOW], mean * mean);
	add_split(&sums[TALLY_SUM_MAX_LOW], pattern->sum_max / pattern->rounds);
	add_split(&sums[TALLY_SUM_AVG_LOW], pattern->sum_avg / pattern->rounds);
	add_machine_routes(sums, pattern);
	uint64_t bin = mean * HD_PATTERN_BINS / TALLY_ONE;
	tally->bins[bin < HD_PATTERN_BINS ? bin : HD_PATTERN_BINS]++;
	if (mean < tally->minima[0])
		tally->minima[0] = mean;
	return mean;
}

static wide joined(const struct tally *tally, enum tally_word low)
{
	return ((wide)tally->sums[low + 1] << 32) + tally->sums[low];
}

double tally_sum(const struct tally *tally, enum tally_word low)
{
	return (double)joined(tally, low);
}

double tally_mean(const struct tally *tally, bool reciprocal)
{
	double sum = 0, routes = (double)tally->sums[TALLY_ROUTES];

	if (!tally->sums[TALLY_ROUTES])
		return 0;
	if (!reciprocal)
		return tally_sum(tally, TALLY_SHARE_LOW) / (double)TALLY_ONE / routes;
	for (uint32_t congestion = tally->histogram_size - 1; congestion > 0; congestion--)
		sum += (double)tally->histogram[congestion] / congestion;
	return sum / routes;
}

/* Of patterns' means. Long doubles, because this is a difference of nearly equal numbers. */
static double deviation(const struct tally *tally, enum tally_word mean_word,
			enum tally_word square_low)
{
	const uint64_t *sums = tally->sums;
	uint64_t count = sums[TALLY_MEASURED];

	if (count < 2)
		return 0;
	long double squares = (long double)joined(tally, square_low);
	long double mean = (long double)sums[mean_word] / (long double)count;
	long double spread = squares - mean * (long double)sums[mean_word];
	if (spread < 0)
		return 0;
	return (double)(sqrtl(spread / (long double)(count - 1)) / (long double)TALLY_ONE);
}

static double half_width(const struct tally *tally, double spread)
{
	uint64_t count = tally->sums[TALLY_MEASURED];

	return count < 2 ? 0 : NORMAL_QUANTILE_99 * spread / sqrt((double)count);
}

double tally_deviation(const struct tally *tally)
{
	return deviation(tally, TALLY_MEAN, TALLY_SQUARE_LOW);
}

double tally_half_width(const struct tally *tally)
{
	return half_width(tally, tally_deviation(tally));
}

double tally_machine_mean(const struct tally *tally)
{
	uint64_t routes = tally->sums[TALLY_MACHINE_ROUTES];

	return routes
		   ? tally_sum(tally, TALLY_MACHINE_SHARE_LOW) / (double)TALLY_ONE / (double)routes
		   : 0;
}

double tally_machine_half_width(const struct tally *tally)
{
	return half_width(tally, deviation(tally, TALLY_MACHINE_MEAN, TALLY_MACHINE_SQUARE_LOW));
}

/* ---- differences ---- */

static double gain(const uint64_t *first, const uint64_t *second, uint64_t pattern)
{
	return ((double)second[pattern] - (double)first[pattern]) / (double)HD_SHARE_ONE;
}

/* Goes through the patterns twice. A difference of sums of squares would lose all digits if the
 * differences are nearly equal. */
struct hd_difference hd_difference_of(const uint64_t *first, const uint64_t *second, uint64_t count)
{
	struct hd_difference found = {0};
	double sum = 0, squares = 0;

	for (uint64_t i = 0; i < count; i++) {
		found.better += second[i] > first[i];
		found.worse += second[i] < first[i];
		found.same += second[i] == first[i];
		sum += gain(first, second, i);
	}
	found.mean = sum / (double)count;
	for (uint64_t i = 0; i < count; i++) {
		double off = gain(first, second, i) - found.mean;
		squares += off * off;
	}
	if (count > 1)
		found.half_width =
		    NORMAL_QUANTILE_99 * sqrt(squares / (double)(count - 1) / (double)count);
	return found;
}
