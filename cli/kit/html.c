/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "html.h"

#include <heddle/base/arena.h>

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#define WIDTH 1000.0
#define HISTOGRAM_HEIGHT 180.0
#define HISTOGRAM_BARS 100u
#define ROW_HEIGHT 150.0
#define MARGIN 30.0
#define LINES_MOST 4000u

void html_begin(FILE *page, const char *title)
{
	fputs("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>", page);
	html_text(page, title);
	fputs("</title>\n<style>\n"
	      "body{font:15px/1.5 sans-serif;max-width:1040px;margin:2em auto;padding:0 1em;"
	      "color:#222}\n"
	      "table{border-collapse:collapse;margin:1em 0}\n"
	      "th,td{padding:.25em .8em;border-bottom:1px solid #ccc;text-align:right}\n"
	      "th:first-child,td:first-child{text-align:left}\n"
	      "svg{display:block;width:100%;height:auto;background:#fafafa;border:1px solid "
	      "#ddd}\n"
	      "rect.bar{fill:#4a6fa5}line.mean{stroke:#c0392b;stroke-width:2}"
	      "line.scale{stroke:#ddd}\n"
	      "text{font:12px sans-serif;fill:#444}rect.switch{fill:#333}\n"
	      "p.note{color:#666}.worse{color:#c0392b}.better{color:#1e7e34}\n"
	      "</style></head><body>\n",
	      page);
}

void html_end(FILE *page)
{
	fputs("</body></html>\n", page);
}

void html_text(FILE *page, const char *text)
{
	for (; *text; text++) {
		switch (*text) {
		case '<':
			fputs("&lt;", page);
			break;
		case '>':
			fputs("&gt;", page);
			break;
		case '&':
			fputs("&amp;", page);
			break;
		case '"':
			fputs("&quot;", page);
			break;
		default:
			fputc(*text, page);
		}
	}
}

/* ---- histogram ---- */

static uint64_t in_bar(const struct hd_congestion_report *report, uint32_t begin, uint32_t width)
{
	uint64_t patterns = 0;

	for (uint32_t bin = begin; bin < begin + width && bin <= HD_PATTERN_BINS; bin++)
		patterns += report->bins[bin];
	return patterns;
}

static double place_of(double share, uint32_t first, uint32_t end)
{
	return MARGIN + (share * HD_PATTERN_BINS - first) / (end - first) * (WIDTH - 2 * MARGIN);
}

/* Two to five lines, whatever the height of the largest bar. */
static double scale_step(double most)
{
	double power = pow(10, floor(log10(most)));

	return most >= 4 * power ? 2 * power : most >= 2 * power ? power : power / 2;
}

/* Each picture has its own scale: its largest bar is as high as the picture. */
static void draw_scale(FILE *page, double most)
{
	double step = scale_step(most);

	fputs("<text x=\"2\" y=\"14\">share of patterns</text>\n", page);
	for (unsigned i = 0; i * step <= most; i++) {
		double y = MARGIN + HISTOGRAM_HEIGHT * (1 - i * step / most);
		fprintf(page,
			"<line class=\"scale\" x1=\"%g\" x2=\"%g\" y1=\"%.1f\" y2=\"%.1f\"/>"
			"<text x=\"2\" y=\"%.1f\">%.3g%%</text>\n",
			MARGIN, WIDTH - MARGIN, y, y, y + 4, i * step * 100);
	}
}

void html_histogram(FILE *page, const struct hd_congestion_report *report, uint32_t first_bin,
		    uint32_t end_bin)
{
	uint32_t width = (end_bin - first_bin + HISTOGRAM_BARS - 1) / HISTOGRAM_BARS;
	uint64_t most = 1;

	for (uint32_t bin = first_bin; bin < end_bin; bin += width)
		most = in_bar(report, bin, width) > most ? in_bar(report, bin, width) : most;
	fprintf(page, "<svg class=\"histogram\" viewBox=\"0 0 %g %g\">\n", WIDTH,
		HISTOGRAM_HEIGHT + 2 * MARGIN);
	draw_scale(page, (double)most / (double)report->patterns);
	for (uint32_t bin = first_bin; bin < end_bin; bin += width) {
		double share = (double)in_bar(report, bin, width) / (double)most;
		double x = place_of((double)bin / HD_PATTERN_BINS, first_bin, end_bin);
		double next = place_of((double)(bin + width) / HD_PATTERN_BINS, first_bin, end_bin);
		if (share > 0)
			fprintf(page,
				"<rect class=\"bar\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" "
				"height=\"%.1f\"/>\n",
				x, MARGIN + HISTOGRAM_HEIGHT * (1 - share), next - x,
				HISTOGRAM_HEIGHT * share);
	}
	double mean = place_of(report->mean, first_bin, end_bin);
	fprintf(page,
		"<line class=\"mean\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%g\" y2=\"%g\"/>"
		"<text x=\"%.1f\" y=\"%g\" text-anchor=\"middle\">mean %.4f</text>\n",
		mean, mean, MARGIN, MARGIN + HISTOGRAM_HEIGHT, mean, MARGIN - 8, report->mean);
	for (unsigned i = 0; i <= 5; i++) {
		double share = (first_bin + (end_bin - first_bin) * i / 5.0) / HD_PATTERN_BINS;
		fprintf(page, "<text x=\"%.1f\" y=\"%g\" text-anchor=\"middle\">%.3f</text>\n",
			place_of(share, first_bin, end_bin), HISTOGRAM_HEIGHT + MARGIN + 18, share);
	}
	fputs("</svg>\n", page);
}

/* ---- map of links ---- */

struct line {
	uint32_t from, to; /* switches, from < to */
	double flows;
};

struct map {
	const struct hd_fabric *fabric;
	const struct hd_congestion_report *report;
	uint32_t *level, *queue, *place, *width; /* of each switch; width: of each level */
	uint32_t levels;
	struct line *lines;
	uint32_t line_count;
};

/* Hops from the nearest switch with hosts; a switch that none reaches counts as one. */
static void find_levels(struct map *map)
{
	const struct hd_fabric *fabric = map->fabric;
	uint32_t tail = 0;

	for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
		bool leaf = fabric->host_base[sw + 1] > fabric->host_base[sw];
		map->level[sw] = leaf ? 0 : HD_NONE;
		if (leaf)
			map->queue[tail++] = sw;
	}
	for (uint32_t head = 0; head < tail; head++) {
		uint32_t sw = map->queue[head];
		for (uint32_t i = fabric->isl_base[sw]; i < fabric->isl_base[sw + 1]; i++) {
			uint32_t far = fabric->isl_to[i];
			if (map->level[far] != HD_NONE)
				continue;
			map->level[far] = map->level[sw] + 1;
			map->queue[tail++] = far;
		}
	}
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
		uint32_t level = map->level[sw] == HD_NONE ? 0 : map->level[sw];
		map->level[sw] = level;
		map->place[sw] = map->width[level]++;
		map->levels = level + 1 > map->levels ? level + 1 : map->levels;
	}
}

static double x_of(const struct map *map, uint32_t sw)
{
	return MARGIN + (map->place[sw] + 0.5) / map->width[map->level[sw]] * (WIDTH - 2 * MARGIN);
}

static double y_of(const struct map *map, uint32_t sw)
{
	return MARGIN + ROW_HEIGHT * (map->levels - 1 - map->level[sw]);
}

static double flows_of(const struct map *map, uint32_t link)
{
	return (double)map->report->link_flows[link] / (double)map->report->rounds;
}

static int by_switches(const void *a, const void *b)
{
	const struct line *x = a, *y = b;

	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	return x->to < y->to ? -1 : x->to > y->to;
}

static int by_flows(const void *a, const void *b)
{
	const struct line *x = a, *y = b;

	if (x->flows != y->flows)
		return x->flows < y->flows ? -1 : 1;
	return by_switches(a, b);
}

/* One line for each pair of switches, by its busiest cable and direction; coolest first. */
static void find_lines(struct map *map)
{
	const struct hd_fabric *fabric = map->fabric;
	uint32_t count = 0, kept = 0;

	for (uint32_t link = 0; link < fabric->isl_count; link++) {
		uint32_t from = hd_isl_from(fabric, link), to = fabric->isl_to[link];
		map->lines[count++] = (struct line){from < to ? from : to, from < to ? to : from,
						    flows_of(map, link)};
	}
	qsort(map->lines, count, sizeof(*map->lines), by_switches);
	for (uint32_t i = 0; i < count; i++) {
		if (kept && !by_switches(&map->lines[kept - 1], &map->lines[i]))
			map->lines[kept - 1].flows =
			    fmax(map->lines[kept - 1].flows, map->lines[i].flows);
		else
			map->lines[kept++] = map->lines[i];
	}
	qsort(map->lines, kept, sizeof(*map->lines), by_flows);
	map->line_count = kept;
}

/* From yellow through red to near black. */
static void print_color(FILE *page, double heat)
{
	heat = heat < 0 ? 0 : heat > 1 ? 1 : heat;
	fprintf(page, "rgb(%d,%d,%d)", (int)(250 - 130 * heat * heat), (int)(215 - 205 * heat),
		(int)(130 - 110 * heat));
}

static void draw_lines(const struct map *map, FILE *page, double hottest)
{
	uint32_t skipped = map->line_count > LINES_MOST ? map->line_count - LINES_MOST : 0;

	for (uint32_t i = skipped; i < map->line_count; i++) {
		const struct line *line = &map->lines[i];
		double heat = hottest > 0 ? line->flows / hottest : 0;
		bool level = map->level[line->from] == map->level[line->to];
		double middle = (x_of(map, line->from) + x_of(map, line->to)) / 2;
		double bow = level ? 40 : 0;
		fprintf(page,
			"<path class=\"link\" d=\"M%.1f %.1f Q%.1f %.1f %.1f %.1f\" fill=\"none\" "
			"stroke-width=\"%.1f\" stroke=\"",
			x_of(map, line->from), y_of(map, line->from), middle,
			(y_of(map, line->from) + y_of(map, line->to)) / 2 - bow,
			x_of(map, line->to), y_of(map, line->to), 0.5 + 2 * heat);
		print_color(page, heat);
		fputs("\"><title>", page);
		html_text(page, map->fabric->node_name[line->from]);
		fputs(" - ", page);
		html_text(page, map->fabric->node_name[line->to]);
		fprintf(page, ": %.3f flows a round</title></path>\n", line->flows);
	}
}

static void draw_switches(const struct map *map, FILE *page)
{
	for (uint32_t sw = 0; sw < map->fabric->switch_count; sw++) {
		double room = (WIDTH - 2 * MARGIN) / map->width[map->level[sw]];
		double width = fmin(16, fmax(0.5, room * 0.7));
		fprintf(page,
			"<rect class=\"switch\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" "
			"height=\"8\"><title>",
			x_of(map, sw) - width / 2, y_of(map, sw) - 4, width);
		html_text(page, map->fabric->node_name[sw]);
		fputs("</title></rect>\n", page);
	}
}

static void draw_map(const struct map *map, FILE *page, double hottest)
{
	if (map->line_count > LINES_MOST)
		fprintf(page,
			"<p class=\"note\">The hottest %u of %" PRIu32
			" pairs of switches are drawn.</p>\n",
			LINES_MOST, map->line_count);
	fprintf(page, "<svg class=\"links\" viewBox=\"0 0 %g %g\">\n", WIDTH,
		2 * MARGIN + ROW_HEIGHT * (map->levels - 1) + (map->levels == 1 ? 20 : 0));
	draw_lines(map, page, hottest);
	draw_switches(map, page);
	fputs("</svg>\n", page);
}

int html_link_map(FILE *page, const struct hd_fabric *fabric,
		  const struct hd_congestion_report *report, double hottest)
{
	struct hd_arena arena = {0};
	uint32_t switches = fabric->switch_count;
	struct map map = {.fabric = fabric, .report = report};

	map.level = hd_arena_alloc(&arena, switches, sizeof(uint32_t));
	map.queue = hd_arena_alloc(&arena, switches, sizeof(uint32_t));
	map.place = hd_arena_alloc(&arena, switches, sizeof(uint32_t));
	map.width = hd_arena_alloc(&arena, switches, sizeof(uint32_t));
	map.lines = hd_arena_alloc(&arena, fabric->isl_count, sizeof(*map.lines));
	int rc = hd_arena_check(&arena);
	if (!rc) {
		find_levels(&map);
		find_lines(&map);
		draw_map(&map, page, hottest);
	}
	hd_arena_release(&arena);
	return rc;
}
