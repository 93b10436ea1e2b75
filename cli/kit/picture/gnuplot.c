/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "gnuplot.h"
#include "drawing.h"
#include "message.h"

#include <heddle/base/plain.h>
#include <string.h>

#define BARS_MOST 40u

int gnuplot_take_path(const struct typed *typed, void *place)
{
	if (drawing_ends_in(typed->text, ".svg") || drawing_ends_in(typed->text, ".png"))
		return arguments_take_text(typed, place);
	return message_error("option '--%s': '%s' ends neither in .svg nor in .png",
			     typed->argument->name, typed->text);
}

/* In gnuplot's single-quoted strings a quote is written twice. */
static void gnuplot_quote(FILE *script, const char *text)
{
	fputc('\'', script);
	for (const char *end = text + strlen(text); text < end;) {
		char piece[HD_PLAIN_PIECE];
		hd_plain_next(&text, end, piece);
		fprintf(script, "%s%s", *piece == '\'' ? "'" : "", piece);
	}
	fputc('\'', script);
}

struct histogram {
	bool svg;
	const char *title, *share;
	const struct hd_congestion_report *report;
};

static void write_histogram(FILE *script, const void *context)
{
	const struct histogram *histogram = context;

	fprintf(script, "set terminal %s size 800,480\n",
		histogram->svg ? "svg background rgb 'white'" : "pngcairo");
	fputs("set title ", script);
	gnuplot_quote(script, histogram->title);
	fprintf(script,
		" noenhanced\nset xlabel 'effective bandwidth of a pattern (mean of %s)'\n"
		"set ylabel 'share of patterns'\n"
		"set style fill solid 0.7 noborder\nset yrange [0:*]\nset grid ytics\n",
		histogram->share);
	uint32_t first, end;
	/* Bins with patterns: first and one past the last. */
	first = HD_PATTERN_BINS + 1;
	end = 0;
	for (uint32_t i = 0; i <= HD_PATTERN_BINS; i++) {
		if (!histogram->report->bins[i])
			continue;
		first = i < first ? i : first;
		end = i + 1;
	}
	uint32_t width = (end - first + BARS_MOST - 1) / BARS_MOST;
	fprintf(script, "set boxwidth %g\n$bars << EOD\n", (double)width / HD_PATTERN_BINS);
	for (uint32_t i = first; i < end; i += width) {
		uint64_t patterns = 0;
		for (uint32_t bin = i; bin < i + width && bin <= HD_PATTERN_BINS; bin++)
			patterns += histogram->report->bins[bin];
		fprintf(script, "%g %g\n", (i + width / 2.0) / HD_PATTERN_BINS,
			(double)patterns / (double)histogram->report->patterns);
	}
	fprintf(script, "EOD\n");
	fprintf(script,
		"set arrow from first %.6f, graph 0 to first %.6f, graph 1 nohead front lw 2\n",
		histogram->report->mean, histogram->report->mean);
	fprintf(script,
		"plot $bars with boxes notitle, NaN with lines lw 2 lc rgb 'black' "
		"title sprintf('mean %%.4f', %.6f)\n",
		histogram->report->mean);
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

#define WIDTH 900u
#define HEIGHT 540u
#define NAME_WIDTH 18u /* of a name that stands upright, in pixels */
#define LETTER_WIDTH 7u
#define BARS 0.8 /* of the room that a name has */

struct job {
	const struct gnuplot_chart *chart;
	bool svg;
};

/* Colours that people with any colour vision can tell apart (Okabe and Ito). */
static const char *const colours[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
				      "#e69f00", "#56b4e9", "#000000", "#999999"};

#define COLOURS (sizeof(colours) / sizeof(colours[0]))

static void write_label(FILE *script, const char *what, const char *text)
{
	fprintf(script, "set %s ", what);
	gnuplot_quote(script, text);
	fputs(" noenhanced\n", script);
}

static uint32_t bar_count(const struct gnuplot_chart *chart)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < chart->count; i++)
		count += !chart->lines[i].marks;
	return count ? count : 1;
}

/* Marks stand on the bars of the line of that name, or in the middle. */
static uint32_t bar_of(const struct gnuplot_chart *chart, uint32_t line, bool *found)
{
	uint32_t bar = 0;

	*found = true;
	for (uint32_t i = 0; i < chart->count; i++) {
		if (chart->lines[i].marks)
			continue;
		if (i == line || !strcmp(chart->lines[i].name, chart->lines[line].name))
			return bar;
		bar++;
	}
	*found = false;
	return 0;
}

static double shift_of(const struct gnuplot_chart *chart, uint32_t line)
{
	uint32_t bars = bar_count(chart);
	bool found;
	uint32_t bar = bar_of(chart, line, &found);

	if (!chart->name_count || !found)
		return 0;
	return BARS * ((bar + 0.5) / bars - 0.5);
}

static bool has_spread(const struct gnuplot_line *line)
{
	for (uint32_t i = 0; i < line->count; i++)
		if (line->points[i].greatest > line->points[i].least)
			return true;
	return false;
}

static unsigned longest_name(const struct gnuplot_chart *chart)
{
	size_t longest = 0;

	for (uint32_t i = 0; i < chart->name_count; i++) {
		size_t length = strlen(chart->names[i]);
		longest = length > longest ? length : longest;
	}
	return (unsigned)longest;
}

static bool names_fit(const struct gnuplot_chart *chart)
{
	return chart->name_count * (longest_name(chart) + 1) * LETTER_WIDTH < WIDTH * 5 / 6;
}

/* In names of tics, % begins a format. */
static void write_name(FILE *script, const char *name)
{
	char text[1024];
	size_t used = 0;

	for (; *name && used + 2 < sizeof(text); name++) {
		if (*name == '%')
			text[used++] = '%';
		text[used++] = *name;
	}
	text[used] = '\0';
	gnuplot_quote(script, text);
}

static void write_chart(FILE *script, const void *context)
{
	const struct job *job = context;
	const struct gnuplot_chart *chart = job->chart;

	/* Room for names that stand upright below the bars. */
	unsigned width = chart->name_count * NAME_WIDTH + WIDTH / 4;
	unsigned height = HEIGHT + (names_fit(chart) ? 0 : longest_name(chart) * LETTER_WIDTH);
	fprintf(script, "set terminal %s size %u,%u\n",
		job->svg ? "svg background rgb 'white'" : "pngcairo", width > WIDTH ? width : WIDTH,
		height);
	write_label(script, "title", chart->title);
	write_label(script, "xlabel", chart->x_title);
	write_label(script, "ylabel", chart->y_title);
	fputs("set yrange [0:*]\nset offsets 0, 0, graph 0.05, 0\nset grid ytics\n"
	      "set style fill solid 0.7 noborder\n",
	      script);
	fputs(chart->count > 1 ? "set key above\n" : "set key off\n", script);
	if (chart->rule > 0)
		fprintf(script, "set arrow from graph 0, first %g to graph 1, first %g nohead\n",
			chart->rule, chart->rule);
	if (chart->logarithmic)
		fputs("set logscale x\n", script);
	if (chart->name_count) {
		fprintf(script, "set xtics noenhanced %s(",
			names_fit(chart) ? "" : "rotate by 90 right ");
		for (uint32_t i = 0; i < chart->name_count; i++) {
			fputs(i ? ", " : "", script);
			write_name(script, chart->names[i]);
			fprintf(script, " %u", i);
		}
		fprintf(script, ")\nset xrange [-0.6:%g]\nset boxwidth %g\n",
			chart->name_count - 0.4, 0.94 * BARS / bar_count(chart));
	}
	for (uint32_t i = 0; i < chart->count; i++) {
		const struct gnuplot_line *line = &chart->lines[i];
		fprintf(script, "$line%u << EOD\n", i);
		for (uint32_t k = 0; k < line->count; k++)
			fprintf(script, "%.9g %.9g %.9g %.9g\n",
				line->points[k].x + shift_of(chart, i), line->points[k].y,
				line->points[k].least, line->points[k].greatest);
		fputs("EOD\n", script);
	}
	const char *style = chart->name_count ? "boxes" : "linespoints lw 2 pt 7 ps 0.6";
	fputs("plot ", script);
	for (uint32_t i = 0, bars = 0; i < chart->count; i++) {
		const struct gnuplot_line *line = &chart->lines[i];
		bool on_bar;
		uint32_t bar = bar_of(chart, i, &on_bar);
		const char *ink = colours[(line->marks && on_bar ? bar : bars) % COLOURS];
		fprintf(script, "%s$line%u using 1:2 with %s lc rgb '%s' title ", i ? ", " : "", i,
			line->marks ? "points pt 2 ps 1.6 lw 2" : style,
			line->marks && on_bar && chart->name_count ? "#000000" : ink);
		gnuplot_quote(script, line->title ? line->title : line->name);
		fputs(" noenhanced", script);
		if (has_spread(line))
			fprintf(script,
				", $line%u using 1:2:3:4 with yerrorbars pt 0 lc rgb '%s' notitle",
				i, chart->name_count && !line->marks ? "#000000" : ink);
		bars += !line->marks || !on_bar;
	}
	fputc('\n', script);
}

int gnuplot_draw(const char *path, const struct gnuplot_chart *chart, struct hd_error *err)
{
	const struct job job = {chart, drawing_ends_in(path, ".svg")};

	return drawing_make(&gnuplot_program, path, write_chart, &job, err);
}
