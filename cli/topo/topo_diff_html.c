/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "html.h"
#include "need.h"
#include "topo_diff_report.h"

#include <inttypes.h>
#include <stdlib.h>

#define ROWS_MOST 5000u

typedef void say_fn(const struct topo_diff_view *view,
		    const struct hd_fabric_difference *difference, FILE *stream);

static void say_summary(const struct topo_diff_view *view,
			const struct hd_fabric_difference *difference, FILE *stream)
{
	(void)difference;
	topo_diff_summary(view, stream);
}

/* Writes what say() writes, with markup escaped. */
static void write_said(FILE *page, say_fn *say, const struct topo_diff_view *view,
		       const struct hd_fabric_difference *difference)
{
	char *text = NULL;
	size_t size;
	FILE *stream = need(open_memstream(&text, &size));

	say(view, difference, stream);
	need_close(stream);
	html_text(page, text);
	free(text);
}

void topo_diff_html(const struct topo_diff_view *view, FILE *page)
{
	const struct hd_comparison *comparison = view->comparison;

	html_begin(page, "heddle topo diff: the fabric and its plan");
	fputs("<h1>The fabric and its plan</h1>\n", page);
	fprintf(page, "<div class=\"verdict %s\" id=\"verdict\"><p>",
		comparison->count ? "worse" : "better");
	write_said(page, say_summary, view, NULL);
	fputs(".</p></div>\n<p>Plan ", page);
	html_name(page, view->expected_name);
	fprintf(page, ": %" PRIu32 " switches, %" PRIu32 " hosts. Fabric ",
		view->expected->switch_count, view->expected->host_count);
	html_name(page, view->live_name);
	fprintf(page, ": %" PRIu32 " switches, %" PRIu32 " hosts.</p>\n", view->live->switch_count,
		view->live->host_count);
	if (comparison->match == HD_MATCH_SHAPE)
		fputs("<p class=\"note\">Names in brackets are those of the plan. Ports of the "
		      "plan are not known by "
		      "shape, and hosts are not told apart.</p>\n",
		      page);
	if (comparison->count) {
		fputs("<div class=\"wide\" tabindex=\"0\" role=\"region\" "
		      "aria-label=\"Differences\"><table id=\"differences\">"
		      "<caption>Differences",
		      page);
		if (view->comparison->count > ROWS_MOST)
			fprintf(page, ", the first %u of %" PRIu32, ROWS_MOST,
				view->comparison->count);
		fputs("</caption><thead><tr><th scope=\"col\">kind</th><th scope=\"col\" "
		      "class=\"name\">what</th></tr></thead><tbody>\n",
		      page);
		for (uint32_t i = 0; i < comparison->count && i < ROWS_MOST; i++) {
			const struct hd_fabric_difference *one = &comparison->differences[i];
			fprintf(page, "<tr><td>%s</td><th scope=\"row\" class=\"name\">",
				topo_diff_kind(one->kind));
			write_said(page, topo_diff_sentence, view, one);
			fputs("</th></tr>\n", page);
		}
		fputs("</tbody></table></div>\n", page);
	}
	html_end(page);
}
