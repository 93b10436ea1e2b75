/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "gnuplot.h"
#include "drawing.h"
#include "message.h"

#define BARS_MOST 40u

int gnuplot_take_path(const struct typed *typed, void *place)
{
	if (drawing_ends_in(typed->text, ".svg") || drawing_ends_in(typed->text, ".png"))
		return arguments_take_text(typed, place);
	return message_error("option '--%s': '%s' ends neither in .svg nor in .png",
			     typed->argument->name, typed->text);
}

/* Bins with patterns: first and one past the last. */
static void used_bins(const struct hd_congestion_report *report, uint32_t *first, uint32_t *end)
{
	*first = HD_PATTERN_BINS + 1;
	*end = 0;
	for (uint32_t i = 0; i <= HD_PATTERN_BINS; i++) {
		if (!report->bins[i])
			continue;
		*first = i < *first ? i : *first;
		*end = i + 1;
	}
}

static void write_bars(FILE *script, const struct hd_congestion_report *report)
{
	uint32_t first, end;

	used_bins(report, &first, &end);
	uint32_t width = (end - first + BARS_MOST - 1) / BARS_MOST;
	fprintf(script, "set boxwidth %g\n$bars << EOD\n", (double)width / HD_PATTERN_BINS);
	for (uint32_t i = first; i < end; i += width) {
		uint64_t patterns = 0;
		for (uint32_t bin = i; bin < i + width && bin <= HD_PATTERN_BINS; bin++)
			patterns += report->bins[bin];
		fprintf(script, "%g %g\n", (i + width / 2.0) / HD_PATTERN_BINS,
			(double)patterns / (double)report->patterns);
	}
	fprintf(script, "EOD\n");
}

/* In gnuplot's single-quoted strings a quote is written twice. */
void gnuplot_quote(FILE *script, const char *text)
{
	fputc('\'', script);
	for (; *text; text++) {
		if (*text == '\'')
			fputc('\'', script);
		fputc((unsigned char)*text < ' ' ? ' ' : *text, script);
	}
	fputc('\'', script);
}

static void write_script(FILE *script, bool svg, const char *title, const char *share,
			 const struct hd_congestion_report *report)
{
	fprintf(script, "set terminal %s size 800,480\n",
		svg ? "svg background rgb 'white'" : "pngcairo");
	fputs("set title ", script);
	gnuplot_quote(script, title);
	fprintf(script,
		" noenhanced\nset xlabel 'effective bandwidth of a pattern (mean of %s)'\n"
		"set ylabel 'share of patterns'\n"
		"set style fill solid 0.7 noborder\nset yrange [0:*]\nset grid ytics\n",
		share);
	write_bars(script, report);
	fprintf(script,
		"set arrow from first %.6f, graph 0 to first %.6f, graph 1 nohead front lw 2\n",
		report->mean, report->mean);
	fprintf(script,
		"plot $bars with boxes notitle, NaN with lines lw 2 lc rgb 'black' "
		"title sprintf('mean %%.4f', %.6f)\n",
		report->mean);
}

struct histogram {
	bool svg;
	const char *title, *share;
	const struct hd_congestion_report *report;
};

static void write_histogram(FILE *script, const void *context)
{
	const struct histogram *histogram = context;

	write_script(script, histogram->svg, histogram->title, histogram->share, histogram->report);
}

static char *const command[] = {"gnuplot", "-", NULL};
const struct drawing_program gnuplot_program = {"gnuplot", command};

int gnuplot_check(struct hd_error *err)
{
	return drawing_check(&gnuplot_program, err);
}

int gnuplot_histogram(const char *path, const char *title, const char *share,
		      const struct hd_congestion_report *report, struct hd_error *err)
{
	const struct histogram histogram = {drawing_ends_in(path, ".svg"), title, share, report};

	return drawing_make(&gnuplot_program, path, write_histogram, &histogram, err);
}
