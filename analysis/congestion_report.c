/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "congestion_report.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct report {
	struct hd_congestion_report shown;
	struct hd_arena arena;
};

static uint32_t used_histogram(const struct tally *tally)
{
	uint32_t size = tally->histogram_size;

	while (size > 1 && !tally->histogram[size - 1])
		size--;
	return size;
}

static uint64_t *copied(const uint64_t *from, size_t count, struct hd_arena *arena)
{
	uint64_t *copy = hd_arena_alloc(arena, count, sizeof(*copy));

	if (copy)
		memcpy(copy, from, count * sizeof(*copy));
	return copy;
}

static int copy_links(const struct tally *total, struct report *report, uint32_t parts)
{
	struct hd_congestion_report *shown = &report->shown;
	uint64_t *flows = copied(total->link_flows, total->link_count, &report->arena);
	uint64_t *worst = copied(total->link_least, total->link_count, &report->arena);

	shown->link_count = total->link_count;
	shown->link_flows = flows;
	shown->link_worst = worst;
	if (hd_arena_check(&report->arena))
		return -ENOMEM;
	for (uint32_t link = 0; link < total->link_count; link++) {
		flows[link] = (flows[link] + parts - 1) / parts;
		worst[link] = (~worst[link] + parts - 1) / parts;
	}
	return 0;
}

static int copy_arrays(const struct tally *total, struct report *report, uint32_t parts)
{
	struct hd_congestion_report *shown = &report->shown;

	shown->histogram_size = used_histogram(total);
	shown->histogram = copied(total->histogram, shown->histogram_size, &report->arena);
	shown->bins = copied(total->bins, HD_PATTERN_BINS + 1, &report->arena);
	return total->link_count ? copy_links(total, report, parts)
				 : hd_arena_check(&report->arena);
}

struct hd_congestion_report *congestion_report_new(const struct tally *total, bool reciprocal,
						   uint32_t parts)
{
	const uint64_t *sums = total->sums;
	double measured = (double)sums[TALLY_MEASURED];
	struct report *report = calloc(1, sizeof(*report));

	if (!report)
		return NULL;
	report->shown = (struct hd_congestion_report){
	    .patterns = sums[TALLY_PATTERNS],
	    .rounds = sums[TALLY_ROUNDS],
	    .routes = sums[TALLY_ROUTES],
	    .broken = sums[TALLY_BROKEN],
	    .mean = tally_mean(total, reciprocal),
	    .half_width = tally_half_width(total),
	    .bound =
		sums[TALLY_ROUTES] ? (double)sums[TALLY_BOUND] / (double)sums[TALLY_ROUTES] : 0,
	    .minimum = (double)total->minima[0] / (double)TALLY_ONE,
	    .deviation = tally_deviation(total),
	    .sum_max =
		tally_sum(total, TALLY_SUM_MAX_LOW) / (double)TALLY_CONGESTION_ONE / measured,
	    .sum_avg =
		tally_sum(total, TALLY_SUM_AVG_LOW) / (double)TALLY_CONGESTION_ONE / measured,
	};
	if (!copy_arrays(total, report, parts))
		return &report->shown;
	hd_congestion_report_free(&report->shown);
	return NULL;
}

void hd_congestion_report_free(struct hd_congestion_report *shown)
{
	struct report *report = (struct report *)shown;

	if (!report)
		return;
	hd_arena_release(&report->arena);
	free(report);
}

double hd_congestion_percentile(const struct hd_congestion_report *report, double percent)
{
	uint64_t count = 0, below = 0;
	uint32_t bin = 0;

	for (uint32_t i = 0; i <= HD_PATTERN_BINS; i++)
		count += report->bins[i];
	for (; bin < HD_PATTERN_BINS; bin++) {
		below += report->bins[bin];
		if ((double)below >= percent / 100 * (double)count && below)
			break;
	}
	double value = bin / (double)HD_PATTERN_BINS;
	return value < report->minimum ? report->minimum : value;
}

static bool hotter(const struct hd_congestion_report *report, uint32_t a, uint32_t b)
{
	uint64_t flows_a = report->link_flows[a], flows_b = report->link_flows[b];

	return flows_a > flows_b || (flows_a == flows_b && a < b);
}

uint32_t hd_congestion_hottest(const struct hd_congestion_report *report, uint32_t *links,
			       uint32_t count)
{
	uint32_t found = 0;

	for (uint32_t link = 0; count && link < report->link_count; link++) {
		if (!report->link_flows[link] ||
		    (found == count && !hotter(report, link, links[count - 1])))
			continue;
		uint32_t place = found < count ? found++ : count - 1;
		for (; place > 0 && hotter(report, link, links[place - 1]); place--)
			links[place] = links[place - 1];
		links[place] = link;
	}
	return found;
}

static uint32_t switch_of_isl(const struct hd_fabric *fabric, uint32_t link)
{
	uint32_t low = 0, high = fabric->switch_count;

	while (high - low > 1) {
		uint32_t middle = low + (high - low) / 2;
		*(fabric->isl_base[middle] <= link ? &low : &high) = middle;
	}
	return low;
}

uint32_t hd_congestion_link_port(const struct hd_fabric *fabric, uint32_t link)
{
	if (link < fabric->isl_count)
		return hd_port_index(fabric, switch_of_isl(fabric, link), fabric->isl_port[link]);
	link -= fabric->isl_count;
	return link < fabric->host_count
		   ? fabric->host_port[link]
		   : fabric->peer[fabric->host_port[link - fabric->host_count]];
}
