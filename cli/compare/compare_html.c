/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "compare_report.h"
#include "html.h"

#include <inttypes.h>

/* Tables that lose routes are never better, and neither is a difference within its interval. */
static const char *difference_class(const struct compare_view *view, unsigned i)
{
	const struct hd_difference *difference = &view->sides[i].difference;
	bool whole =
	    !ebb_broken_total(&view->sides[0].broken) && !ebb_broken_total(&view->sides[i].broken);

	if (difference->mean < -difference->half_width)
		return "worse";
	return whole && difference->mean > difference->half_width ? "better" : "even";
}

static void summary_row(FILE *page, const struct compare_view *view, unsigned i)
{
	const struct compare_side *side = &view->sides[i];
	const struct hd_congestion_report *report = side->report;
	const struct hd_difference *difference = &side->difference;

	fputs("<tr><td>", page);
	html_text(page, side->name);
	fprintf(page, "</td><td>%.4f &plusmn; %.4f</td><td>%.4f</td><td>%.4f</td><td>%.4f</td>",
		report->mean, report->half_width, report->minimum, report->sum_max,
		report->sum_avg);
	if (i)
		fprintf(page, "<td class=\"%s\">%+.4f &plusmn; %.4f</td>",
			difference_class(view, i), difference->mean, difference->half_width);
	else
		fputs("<td></td>", page);
	fprintf(page, "<td>%" PRIu64 "</td></tr>\n", ebb_broken_total(&side->broken));
}

static void summary(FILE *page, const struct compare_view *view)
{
	const struct hd_fabric *fabric = view->on->ranks->fabric;

	fputs("<h1>Bandwidth of the tables</h1>\n<p>", page);
	html_text(page, view->fabric_path);
	fprintf(page,
		": %" PRIu32 " hosts, %" PRIu32 " switches, %" PRIu32
		" cables between them. Pattern ",
		fabric->host_count, fabric->switch_count, fabric->isl_count / 2);
	html_text(page, view->workload->pattern_text);
	fprintf(page, ", %" PRIu64 " times among %" PRIu32 " ranks, map ",
		view->sides[0].report->patterns, view->on->ranks->count);
	html_text(page, workload_map_name(view->workload));
	fprintf(page, ", seed %" PRIu64 "%s.</p>\n", view->workload->seed,
		workload_lids_remark(view->workload));
	fputs("<table id=\"summary\"><tr><th>tables</th><th>bandwidth (99%)</th><th>worst "
	      "pattern</th><th>&pi; sum max</th><th>&pi; sum avg</th><th>difference to the "
	      "first</th><th>broken routes</th></tr>\n",
	      page);
	for (unsigned i = 0; i < view->count; i++)
		summary_row(page, view, i);
	fputs("</table>\n<p class=\"note\">Bandwidth is the mean of ", page);
	html_text(page, workload_share_name(view->workload));
	fputs(" over all routes that are not broken; pi is the most flows on any link of a "
	      "route.</p>\n",
	      page);
}

/* ---- histograms ---- */

static void common_range(const struct compare_view *view, uint32_t *first, uint32_t *end)
{
	*first = HD_PATTERN_BINS;
	*end = 0;
	for (unsigned i = 0; i < view->count; i++)
		for (uint32_t bin = 0; bin <= HD_PATTERN_BINS; bin++) {
			if (!view->sides[i].report->bins[bin])
				continue;
			*first = bin < *first ? bin : *first;
			*end = bin + 1 > *end ? bin + 1 : *end;
		}
	*first = *first > 10 ? *first - 10 : 0;
	*end = *end < HD_PATTERN_BINS - 10 ? *end + 10 : HD_PATTERN_BINS + 1;
}

static void histograms(FILE *page, const struct compare_view *view)
{
	uint32_t first, end;

	common_range(view, &first, &end);
	fputs("<h2>Patterns by their bandwidth</h2>\n", page);
	for (unsigned i = 0; i < view->count; i++) {
		fputs("<h3>", page);
		html_text(page, view->sides[i].name);
		fputs("</h3>\n", page);
		html_histogram(page, view->sides[i].report, first, end);
	}
}

static void congestion_table(FILE *page, const struct compare_view *view)
{
	uint32_t size = 0;

	fprintf(page,
		"<h2>Routes by their congestion%s</h2>\n"
		"<table id=\"congestion\"><tr><th>&pi;</th>",
		workload_pi_remark(view->workload));
	for (unsigned i = 0; i < view->count; i++) {
		const struct compare_side *side = &view->sides[i];
		size = side->report->histogram_size > size ? side->report->histogram_size : size;
		fputs("<th>", page);
		html_text(page, side->name);
		fputs("</th>", page);
	}
	fputs("</tr>\n", page);
	for (uint32_t pi = 1; pi < size; pi++) {
		uint64_t any = 0;
		for (unsigned i = 0; i < view->count; i++)
			if (pi < view->sides[i].report->histogram_size)
				any |= view->sides[i].report->histogram[pi];
		if (!any)
			continue;
		fprintf(page, "<tr><td>%" PRIu32 "</td>", pi);
		for (unsigned i = 0; i < view->count; i++) {
			const struct hd_congestion_report *report = view->sides[i].report;
			uint64_t routes = pi < report->histogram_size ? report->histogram[pi] : 0;
			fprintf(page, "<td>%.2f%%</td>",
				100.0 * (double)routes / (double)report->routes);
		}
		fputs("</tr>\n", page);
	}
	fputs("</table>\n", page);
}

/* ---- links ---- */

static double hottest_of_all(const struct compare_view *view)
{
	double hottest = 0;
	uint32_t links = view->on->ranks->fabric->isl_count;

	for (unsigned i = 0; i < view->count; i++)
		for (uint32_t link = 0; link < links; link++) {
			double flows = compare_flows(&view->sides[i], link);
			hottest = flows > hottest ? flows : hottest;
		}
	return hottest;
}

static int maps(FILE *page, const struct compare_view *view)
{
	double hottest = hottest_of_all(view);

	fprintf(page,
		"<h2>Load of the links</h2>\n<p>Switches are in rows, those with hosts at the "
		"bottom. Each line is a pair of switches with cables. Its colour shows the busier "
		"direction, from light (0) to dark (%.3f flows a round).</p>\n",
		hottest);
	for (unsigned i = 0; i < view->count; i++) {
		fputs("<h3>", page);
		html_text(page, view->sides[i].name);
		fputs("</h3>\n", page);
		int rc =
		    html_link_map(page, view->on->ranks->fabric, view->sides[i].report, hottest);
		if (rc)
			return rc;
	}
	return 0;
}

static void worse_links(FILE *page, const struct compare_view *view, unsigned i)
{
	const struct compare_side *side = &view->sides[i];
	char text[EBB_LINK_TEXT];

	if (!side->worse_count)
		return;
	fputs("<h3>Links that get worse with ", page);
	html_text(page, side->name);
	fputs("</h3>\n<table><tr><th>link</th><th>flows a round before</th><th>now</th></tr>\n",
	      page);
	for (uint32_t k = 0; k < side->worse_count; k++) {
		uint32_t link = side->worse[k];
		fputs("<tr><td>", page);
		html_text(page, ebb_link_text(view->on->ranks->fabric, link, text, sizeof(text)));
		fprintf(page, "</td><td>%.3f</td><td>%.3f</td></tr>\n",
			compare_flows(&view->sides[0], link), compare_flows(side, link));
	}
	fputs("</table>\n", page);
}

int compare_html(const struct compare_view *view, FILE *page)
{
	int rc;

	html_begin(page, "heddle compare");
	summary(page, view);
	histograms(page, view);
	congestion_table(page, view);
	rc = maps(page, view);
	for (unsigned i = 1; i < view->count; i++)
		worse_links(page, view, i);
	html_end(page);
	return rc;
}
