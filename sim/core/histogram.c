/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <heddle/sim/simulation.h>

#define STEPS 64u /* bins of values between a power of 2 and the next */

static uint32_t bin_of(uint64_t value)
{
	uint32_t shift;

	if (value < 2 * STEPS)
		return (uint32_t)value;
	if (value >> 63)
		return HD_SIM_HISTOGRAM_BINS - 1;
	shift = 57u - (uint32_t)__builtin_clzll(value);
	return shift * STEPS + (uint32_t)(value >> shift);
}

/* The greatest value of a bin. */
static uint64_t top_of(uint32_t bin)
{
	uint32_t shift;

	if (bin < 2 * STEPS)
		return bin;
	shift = bin / STEPS - 1;
	return ((uint64_t)(bin % STEPS + STEPS + 1) << shift) - 1;
}

static void clear_if_empty(struct hd_sim_histogram *histogram)
{
	if (!histogram->count) {
		histogram->least = UINT64_MAX;
		histogram->greatest = 0;
	}
}

void hd_sim_histogram_add(struct hd_sim_histogram *histogram, uint64_t value)
{
	double difference = (double)value - histogram->mean;

	clear_if_empty(histogram);
	histogram->count++;
	histogram->mean += difference / (double)histogram->count;
	histogram->square += difference * ((double)value - histogram->mean);
	if (value < histogram->least)
		histogram->least = value;
	if (value > histogram->greatest)
		histogram->greatest = value;
	histogram->bins[bin_of(value)]++;
}

void hd_sim_histogram_merge(struct hd_sim_histogram *histogram,
			    const struct hd_sim_histogram *other)
{
	double both = (double)histogram->count + (double)other->count;
	double difference = other->mean - histogram->mean;

	if (!other->count)
		return;
	clear_if_empty(histogram);
	histogram->mean += difference * (double)other->count / both;
	histogram->square += other->square + difference * difference * (double)histogram->count *
						 (double)other->count / both;
	histogram->count += other->count;
	if (other->least < histogram->least)
		histogram->least = other->least;
	if (other->greatest > histogram->greatest)
		histogram->greatest = other->greatest;
	for (uint32_t bin = 0; bin < HD_SIM_HISTOGRAM_BINS; bin++)
		histogram->bins[bin] += other->bins[bin];
}

uint64_t hd_sim_histogram_quantile(const struct hd_sim_histogram *histogram, double share)
{
	double wanted = share * (double)histogram->count;
	uint64_t seen = 0;

	if (!histogram->count)
		return 0;
	for (uint32_t bin = 0; bin < HD_SIM_HISTOGRAM_BINS; bin++) {
		seen += histogram->bins[bin];
		if (seen && (double)seen >= wanted)
			return top_of(bin) < histogram->greatest ? top_of(bin)
								 : histogram->greatest;
	}
	return histogram->greatest;
}
