/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "chart.h"
#include "compare_report.h"
#include "html.h"
#include "load_picture.h"

#include <inttypes.h>

#define SIDES_MOST 16
#define ROWS_MOST 100u /* of a table of links */
#define SINGLE_ROWS 16u /* after these, a row of the congestion table has several congestions */

/* Tables that are the same are shown once. */
struct page {
	FILE *file;
	const struct compare_view *view;
	const struct hd_fabric *fabric;
	const struct compare_side *sides[SIDES_MOST];
	unsigned count;
};

static void side_name(const struct page *page, unsigned number)
{
	chart_swatch(page->file, number);
	fputc(' ', page->file);
	html_name(page->file, page->sides[number]->name);
}

/* Their name, and the names of those that are the same. */
static void side_names(const struct page *page, unsigned number)
{
	bool same = false;

	side_name(page, number);
	for (unsigned i = 0; i < page->view->count; i++) {
		const struct compare_side *side = &page->view->sides[i];
		if (side->same_as != page->sides[number])
			continue;
		same = true;
		fputs(", ", page->file);
		html_name(page->file, side->name);
	}
	fputs(same ? " (the same tables)" : "", page->file);
}

static void port_name(const struct page *page, uint32_t sw, uint8_t port)
{
	html_name(page->file, page->fabric->node_name[sw]);
	fprintf(page->file, "[%u]", port);
}

static void link_name(const struct page *page, uint32_t link)
{
	const struct hd_fabric *fabric = page->fabric;

	port_name(page, hd_isl_from(fabric, link), fabric->isl_port[link]);
	fputs(" &#8594; ", page->file);
	port_name(page, fabric->isl_to[link], fabric->isl_port[fabric->isl_reverse[link]]);
}

static void begin_figure(const struct page *page, const char *caption)
{
	fprintf(page->file, "<figure><figcaption>%s</figcaption>\n", caption);
	fputs("<ul class=\"key\">", page->file);
	for (unsigned i = 0; i < page->count; i++) {
		fputs("<li>", page->file);
		side_name(page, i);
		fputs("</li>", page->file);
	}
	fputs("</ul>\n", page->file);
}

static void end_figure(const struct page *page)
{
	fputs("</figure>\n", page->file);
}

static void verdict(const struct page *page)
{
	static const char *const classes[] = {[COMPARE_KEEP] = "verdict",
					      [COMPARE_CHANGE] = "verdict better",
					      [COMPARE_REPAIR] = "verdict worse"};
	struct compare_verdict verdict;

	compare_verdict_make(page->view, &verdict);
	fprintf(page->file, "<div class=\"%s\" id=\"verdict\"><p>", classes[verdict.outcome]);
	html_text(page->file, verdict.finding);
	fputs("</p><p>", page->file);
	html_text(page->file, verdict.advice);
	fputs("</p></div>\n", page->file);
	compare_verdict_release(&verdict);
}

static void workload(const struct page *page)
{
	const struct compare_view *view = page->view;
	FILE *file = page->file;

	fputs("<p>Fabric ", file);
	html_name(file, view->fabric_path);
	fprintf(file,
		": %" PRIu32 " hosts, %" PRIu32 " switches, %" PRIu32
		" cables between them. Pattern ",
		page->fabric->host_count, page->fabric->switch_count, page->fabric->isl_count / 2);
	html_name(file, view->workload->pattern_text);
	fprintf(file, ", %" PRIu64 " times among %" PRIu32 " ranks, map ",
		view->sides[0].report->patterns, view->on->ranks->count);
	html_name(file, workload_map_name(view->workload));
	fprintf(file, ", seed %" PRIu64 "%s.</p>\n", view->workload->seed,
		workload_lids_remark(view->workload));
}

/* Tables that lose routes are never better, and neither is a difference within its interval. */
static const char *difference_class(const struct page *page, const struct compare_side *side)
{
	const struct hd_difference *difference = &side->difference;
	bool intact =
	    !ebb_broken_total(&page->sides[0]->broken) && !ebb_broken_total(&side->broken);

	if (difference->mean < -difference->half_width)
		return "worse";
	return intact && difference->mean > difference->half_width ? "better" : "even";
}

/* A single pattern has no interval. */
static void measured(const struct page *page, const char *class, bool sign, double mean,
		     double half_width)
{
	fprintf(page->file, sign ? "<td class=\"%s\">%+.4f" : "<td class=\"%s\">%.4f", class, mean);
	if (page->sides[0]->report->patterns > 1)
		fprintf(page->file, " <span>&#177; %.4f</span>", half_width);
	fputs("</td>", page->file);
}

static void summary(const struct page *page)
{
	FILE *file = page->file;

	fputs(
	    "<div class=\"wide\"><table id=\"summary\"><caption>Bandwidth of the tables, and its "
	    "99% confidence</caption><thead><tr><th scope=\"col\">tables</th><th scope=\"col\">"
	    "bandwidth</th><th scope=\"col\">difference to the first</th><th scope=\"col\">broken "
	    "routes</th></tr></thead><tbody>\n",
	    file);
	for (unsigned i = 0; i < page->count; i++) {
		const struct compare_side *side = page->sides[i];
		uint64_t broken = ebb_broken_total(&side->broken);
		fputs("<tr><th scope=\"row\">", page->file);
		side_names(page, i);
		fputs("</th>", page->file);
		measured(page, "plain", false, side->report->mean, side->report->half_width);
		if (i)
			measured(page, difference_class(page, side), true, side->difference.mean,
				 side->difference.half_width);
		else
			fputs("<td>&#8211;</td>", page->file);
		fprintf(page->file, "<td%s>%" PRIu64 "</td></tr>\n",
			broken ? " class=\"worse\"" : "", broken);
	}
	fputs("</tbody></table></div>\n<p class=\"note\">Bandwidth is the mean of ", file);
	html_text(file, workload_share_name(page->view->workload));
	fputs(" over all routes that are not broken; pi, the congestion, is the most flows on any "
	      "link of a route.</p>\n",
	      file);
}

static void details(const struct page *page)
{
	FILE *file = page->file;

	fputs("<details><summary>More figures</summary>\n<div class=\"wide\"><table id=\"figures\">"
	      "<caption>More figures of the tables</caption><thead><tr><th scope=\"col\">tables"
	      "</th><th scope=\"col\">worst pattern</th><th scope=\"col\">&#960; sum max</th>"
	      "<th scope=\"col\">&#960; sum avg</th></tr></thead><tbody>\n",
	      file);
	for (unsigned i = 0; i < page->count; i++) {
		const struct hd_congestion_report *report = page->sides[i]->report;
		fputs("<tr><th scope=\"row\">", file);
		side_name(page, i);
		fprintf(file, "</th><td>%.4f</td><td>%.4f</td><td>%.4f</td></tr>\n",
			report->minimum, report->sum_max, report->sum_avg);
	}
	fputs("</tbody></table></div></details>\n", file);
}

static uint64_t routes_between(const struct hd_congestion_report *report, uint32_t first,
			       uint32_t last)
{
	uint64_t routes = 0;

	for (uint32_t pi = first; pi <= last && pi < report->histogram_size; pi++)
		routes += report->histogram[pi];
	return routes;
}

static void congestion_row(const struct page *page, uint32_t first, uint32_t last)
{
	uint64_t any = 0;

	for (unsigned i = 0; i < page->count; i++)
		any |= routes_between(page->sides[i]->report, first, last);
	if (!any)
		return;
	fprintf(page->file, "<tr><th scope=\"row\">%" PRIu32, first);
	if (last > first)
		fprintf(page->file, "&#8211;%" PRIu32, last);
	fputs("</th>", page->file);
	for (unsigned i = 0; i < page->count; i++) {
		const struct hd_congestion_report *report = page->sides[i]->report;
		fprintf(page->file, "<td>%.2f%%</td>",
			100.0 * (double)routes_between(report, first, last) /
			    (double)report->routes);
	}
	fputs("</tr>\n", page->file);
}

static void congestion_table(const struct page *page)
{
	uint32_t size = 0;

	for (unsigned i = 0; i < page->count; i++)
		if (page->sides[i]->report->histogram_size > size)
			size = page->sides[i]->report->histogram_size;
	uint32_t most = size ? size - 1 : 0;

	fputs("<details><summary>The same in numbers</summary>\n<div class=\"wide\" tabindex=\"0\" "
	      "role=\"region\" aria-label=\"Routes by their congestion\"><table id=\"congestion\">"
	      "<caption>Share of the routes by their congestion</caption><thead><tr>"
	      "<th scope=\"col\">&#960;</th>",
	      page->file);
	for (unsigned i = 0; i < page->count; i++) {
		fputs("<th scope=\"col\">", page->file);
		chart_swatch(page->file, i);
		fputs("</th>", page->file);
	}
	fputs("</tr></thead><tbody>\n", page->file);
	for (uint32_t first = 1, last; first <= most; first = last + 1) {
		last = first <= SINGLE_ROWS ? first : 2 * (first - 1);
		congestion_row(page, first, last < most ? last : most);
	}
	fputs("</tbody></table></div></details>\n", page->file);
}

static uint32_t hottest_link(const struct page *page, const struct compare_side *side)
{
	uint32_t hottest = 0;

	for (uint32_t link = 1; link < page->fabric->isl_count; link++)
		if (side->report->link_flows[link] > side->report->link_flows[hottest])
			hottest = link;
	return hottest;
}

static void worse_links(const struct page *page, unsigned number)
{
	const struct compare_side *side = page->sides[number];
	uint32_t rows = side->worse_count < ROWS_MOST ? side->worse_count : ROWS_MOST;

	fputs("<div class=\"wide\"><table class=\"worse-links\"><caption>", page->file);
	side_name(page, number);
	fprintf(page->file, ": flows a round with %c and with %c", chart_letter(0),
		chart_letter(number));
	if (rows < side->worse_count)
		fprintf(page->file, ", on the first %" PRIu32 " of %" PRIu32 " links", rows,
			side->worse_count);
	fprintf(page->file,
		"</caption><thead><tr><th scope=\"col\">link</th><th scope=\"col\">%c</th>"
		"<th scope=\"col\">%c</th></tr></thead><tbody>\n",
		chart_letter(0), chart_letter(number));
	for (uint32_t k = 0; k < rows; k++) {
		uint32_t link = side->worse[k];
		fputs("<tr><th scope=\"row\">", page->file);
		link_name(page, link);
		fprintf(page->file, "</th><td>%.3f</td><td>%.3f</td></tr>\n",
			compare_flows(page->sides[0], link), compare_flows(side, link));
	}
	fputs("</tbody></table></div>\n", page->file);
}

void compare_html(const struct compare_view *view, FILE *file)
{
	struct page page = {.file = file, .view = view, .fabric = view->on->ranks->fabric};

	for (unsigned i = 0; i < page.view->count; i++)
		if (!page.view->sides[i].same_as)
			page.sides[page.count++] = &page.view->sides[i];
	html_begin(file, "heddle compare: bandwidth of the tables");
	fputs("<h1>Bandwidth of the tables</h1>\n", file);
	verdict(&page);
	workload(&page);
	summary(&page);
	details(&page);
	fputs("<h2>Patterns by their bandwidth</h2>\n", page.file);
	begin_figure(&page, "Further right is better. A letter marks the mean of its tables.");
	compare_charts_patterns(page.file, page.sides, page.count);
	end_figure(&page);
	fprintf(page.file, "<h2>Routes by their congestion%s</h2>\n",
		workload_pi_remark(page.view->workload));
	begin_figure(&page, "Further left is better. A route with congestion 1 shares no link.");
	compare_charts_congestion(page.file, page.sides, page.count);
	end_figure(&page);
	congestion_table(&page);
	if (page.fabric->isl_count) {
		struct hd_arena arena = {0};
		struct load_picture picture;
		double hottest = 0;
		for (unsigned i = 0; i < page.count; i++) {
			double flows =
			    compare_flows(page.sides[i], hottest_link(&page, page.sides[i]));
			hottest = flows > hottest ? flows : hottest;
		}
		fputs("<h2>Loads of the links</h2>\n", page.file);
		begin_figure(&page,
			     "Flatter is better: a tall left end means that few links carry much.");
		compare_charts_loads(page.file, page.sides, page.count, page.fabric->isl_count);
		end_figure(&page);
		fputs("<h2>Where the load is</h2>\n", page.file);
		load_picture_prepare(page.fabric, page.count, hottest, &arena, &picture);
		char id[] = "links-A";
		load_picture_explain(page.file, &picture);
		html_heat_key(page.file, picture.hottest, "flows a round");
		fprintf(page.file, "<div class=\"maps%s\">\n", page.count == 1 ? " lone" : "");
		for (unsigned i = 0; i < page.count; i++) {
			char letter = id[sizeof(id) - 2] = chart_letter(i);
			fputs("<figure>", page.file);
			uint32_t link = hottest_link(&page, page.sides[i]);
			fputs("<figcaption>", page.file);
			side_name(&page, i);
			fprintf(page.file, "<br/>Largest load: %.3f flows a round, on ",
				compare_flows(page.sides[i], link));
			link_name(&page, link);
			fputs("</figcaption>\n", page.file);
			load_picture_draw(page.file, &picture, page.sides[i]->report, id, letter);
			end_figure(&page);
		}
		fputs("</div>\n", page.file);
		hd_arena_release(&arena);
	}
	bool begun = false;
	for (unsigned i = 1; i < page.count; i++) {
		if (!page.sides[i]->worse_count)
			continue;
		if (!begun)
			fputs("<h2>Links that get worse</h2>\n", page.file);
		begun = true;
		worse_links(&page, i);
	}
	html_end(file);
}
