/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "load_picture.h"
#include "html.h"
#include "load_lines.h"

#include <inttypes.h>
#include <stdlib.h>

#define DRAWN_SWITCHES 48u
#define DRAWN_PAIRS 320u /* of one picture */
#define PAIRS_MOST 1600u /* of all pictures */
#define CELLS_MOST 6000u /* of all pictures */
#define GROUPS_MOST 40u
#define GROUPS_LEAST 12u
#define NUMBERED 20u /* with more groups only each fifth has a number */

/* ---- which picture ---- */

/* A small tree: no cable joins two switches of one level. */
static bool is_small_tree(const struct hd_fabric *fabric, const uint32_t *level, uint32_t levels,
			  uint32_t pictures)
{
	uint32_t pairs = fabric->isl_count / 2;

	if (levels < 2 || fabric->switch_count > DRAWN_SWITCHES || pairs > DRAWN_PAIRS ||
	    pairs > PAIRS_MOST / pictures)
		return false;
	for (uint32_t link = 0; link < fabric->isl_count; link++)
		if (level[hd_isl_from(fabric, link)] == level[fabric->isl_to[link]])
			return false;
	return true;
}

static uint32_t groups_for(uint32_t pictures)
{
	uint32_t groups = GROUPS_MOST;

	while (groups > GROUPS_LEAST && groups * groups > CELLS_MOST / pictures)
		groups--;
	return groups;
}

int load_picture_prepare(const struct hd_fabric *fabric, uint32_t pictures, double hottest,
			 struct hd_arena *arena, struct load_picture *out, struct hd_error *err)
{
	uint32_t levels = 0;
	int rc;

	*out = (struct load_picture){.fabric = fabric, .hottest = hottest};
	out->level = switch_groups_levels(fabric, arena, &levels);
	if (!out->level)
		return hd_error_no_memory(err);
	rc = switch_groups_make(fabric, groups_for(pictures), arena, &out->groups, err);
	out->drawn = !rc && is_small_tree(fabric, out->level, levels, pictures);
	return rc;
}

/* ---- the matrix ---- */

#define EMPTY (-1.0)

struct matrix {
	const struct load_picture *picture;
	const struct hd_congestion_report *report;
	uint32_t size;
	double *load; /* [size * size], by row; EMPTY: no link */
	double largest;
};

/* A row is where links come from, a column where they go to. */
static void fill_matrix(struct matrix *matrix)
{
	const struct hd_fabric *fabric = matrix->picture->fabric;
	const uint32_t *of = matrix->picture->groups.of;

	for (uint32_t cell = 0; cell < matrix->size * matrix->size; cell++)
		matrix->load[cell] = EMPTY;
	for (uint32_t link = 0; link < fabric->isl_count; link++) {
		uint32_t row = of[hd_isl_from(fabric, link)], column = of[fabric->isl_to[link]];
		double *cell = &matrix->load[row * matrix->size + column];
		double flows =
		    (double)matrix->report->link_flows[link] / (double)matrix->report->rounds;
		*cell = flows > *cell ? flows : *cell;
		matrix->largest = flows > matrix->largest ? flows : matrix->largest;
	}
}

/* One path for each colour; neighbours in a row that have it share a box. */
static void draw_cells(FILE *page, const struct matrix *matrix, unsigned heat)
{
	bool begun = false;

	for (uint32_t row = 0; row < matrix->size; row++) {
		const double *load = &matrix->load[row * matrix->size];
		for (uint32_t i = 0, end; i < matrix->size; i = end) {
			for (end = i; end < matrix->size && load[end] > EMPTY &&
				      html_heat(load[end], matrix->picture->hottest) == heat;)
				end++;
			if (end > i)
				fprintf(page,
					"%sM%" PRIu32 " %" PRIu32 "h%" PRIu32 "v1H%" PRIu32 "z",
					begun ? "" : "<path d=\"", i, row, end - i, i);
			begun = begun || end > i;
			end += end == i;
		}
	}
	if (begun)
		fprintf(page, "\" class=\"h%u\"/>\n", heat);
}

static void draw_number(FILE *page, double place, uint32_t group)
{
	fprintf(page,
		"<text x=\"%.2f%%\" y=\"-5\" text-anchor=\"middle\">%" PRIu32 "</text>"
		"<text x=\"-5\" y=\"%.2f%%\" dy=\"4\" text-anchor=\"end\">%" PRIu32 "</text>\n",
		place, group, place, group);
}

/* Lines between the levels, and their numbers below. */
static void draw_levels(FILE *page, const struct matrix *matrix)
{
	const struct switch_groups *groups = &matrix->picture->groups;
	double unit = 100.0 / matrix->size;

	fputs("<text x=\"-8\" y=\"100%\" dy=\"17\" text-anchor=\"end\">level</text>\n", page);
	for (uint32_t i = 0, end; i < groups->count; i = end) {
		uint32_t level = groups->groups[i].level;
		for (end = i; end < groups->count && groups->groups[end].level == level;)
			end++;
		fprintf(page,
			"<text x=\"%.2f%%\" y=\"100%%\" dy=\"17\" text-anchor=\"middle\">%" PRIu32
			"</text>\n",
			unit * (i + end) / 2, level);
		if (i)
			fprintf(page,
				"<line x1=\"%.2f%%\" x2=\"%.2f%%\" y1=\"0\" y2=\"100%%\"/>"
				"<line y1=\"%.2f%%\" y2=\"%.2f%%\" x1=\"0\" x2=\"100%%\"/>\n",
				unit * i, unit * i, unit * i, unit * i);
	}
}

static void draw_frame(FILE *page, const struct matrix *matrix)
{
	const struct switch_groups *groups = &matrix->picture->groups;
	double unit = 100.0 / matrix->size;

	fputs("<rect class=\"frame\" width=\"100%\" height=\"100%\"/>\n"
	      "<text x=\"-8\" y=\"-22\">from the group of the row to that of the column</text>\n",
	      page);
	for (uint32_t i = 0; i < groups->count; i++) {
		if (matrix->size <= NUMBERED || (i + 1) % 5 == 0 || i == 0)
			draw_number(page, unit * (i + 0.5), i + 1);
	}
}

static void draw_matrix(FILE *page, const struct matrix *matrix, const char *id, char letter)
{
	fprintf(page,
		"<svg class=\"matrix\" id=\"%s\" role=\"img\" aria-labelledby=\"%s-title\" "
		"aria-describedby=\"%s-desc\">\n<title id=\"%s-title\">Loads of the links of "
		"tables %c, group by group</title><desc id=\"%s-desc\">%" PRIu32
		" rows and columns. The largest load is %.3f flows a round.</desc>\n"
		"<svg width=\"100%%\" height=\"100%%\" viewBox=\"0 0 %" PRIu32 " %" PRIu32
		"\" preserveAspectRatio=\"none\" shape-rendering=\"crispEdges\">\n",
		id, id, id, id, letter, id, matrix->size, matrix->largest, matrix->size,
		matrix->size);
	for (unsigned heat = 0; heat <= HTML_HEATS; heat++)
		draw_cells(page, matrix, heat);
	fputs("</svg>\n", page);
	draw_frame(page, matrix);
	draw_levels(page, matrix);
	fputs("</svg>\n", page);
}

int load_picture_draw(FILE *page, const struct load_picture *picture,
		      const struct hd_congestion_report *report, const char *id, char letter)
{
	struct matrix matrix = {
	    .picture = picture, .report = report, .size = picture->groups.count};

	if (picture->drawn)
		return load_lines_draw(page, picture, report, id, letter);
	matrix.load = calloc((size_t)matrix.size * matrix.size, sizeof(*matrix.load));
	if (!matrix.load)
		return -ENOMEM;
	fill_matrix(&matrix);
	draw_matrix(page, &matrix, id, letter);
	free(matrix.load);
	return 0;
}

/* ---- what it shows ---- */

static void group_row(FILE *page, const struct load_picture *picture, uint32_t i)
{
	const struct switch_group *group = &picture->groups.groups[i];
	const char *const *names = picture->fabric->node_name;

	fprintf(page,
		"<tr><th scope=\"row\">%" PRIu32 "</th><td>%" PRIu32 "</td><td>%" PRIu32
		"</td><td class=\"name\">",
		i + 1, group->level, group->switches);
	html_name(page, names[group->first]);
	if (group->switches > 1) {
		fputs(" to ", page);
		html_name(page, names[group->last]);
	}
	fputs("</td></tr>\n", page);
}

void load_picture_explain(FILE *page, const struct load_picture *picture)
{
	if (picture->drawn) {
		fputs("<p>Each row is a level of the tree; the leaves are at the bottom. A line is "
		      "a pair of switches with cables, in the colour of its busiest link.</p>\n",
		      page);
		return;
	}
	fputs(
	    "<p>Rows and columns are groups of switches. A box stands for all links from the group "
	    "of its row to the group of its column, in the colour of the busiest of them. Where "
	    "there is no box, no cable joins the groups.</p>\n<details><summary>Which switches "
	    "are in which group</summary>\n<div class=\"wide\"><table id=\"groups\">"
	    "<caption>Groups of switches; level 0 has the hosts</caption><thead><tr>"
	    "<th scope=\"col\">group</th><th scope=\"col\">level</th><th scope=\"col\">switches"
	    "</th><th scope=\"col\" class=\"name\">names</th></tr></thead><tbody>\n",
	    page);
	for (uint32_t i = 0; i < picture->groups.count; i++)
		group_row(page, picture, i);
	fputs("</tbody></table></div></details>\n", page);
}
