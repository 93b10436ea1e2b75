/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sim_view.h"
#include "status.h"

#include <errno.h>
#include <heddle/fabric.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

int sim_view_make(const struct sim_runs *job, struct sim_view *view, struct hd_error *err)
{
	uint32_t points = job->runs->point_count;

	view->job = job;
	view->runs = job->runs;
	view->title = *job->runs->title ? job->runs->title : job->title;
	view->figures = calloc(points, sizeof(struct hd_scenario_figure *));
	view->figure_count = calloc(points, sizeof(*view->figure_count));
	int rc = view->figures && view->figure_count ? 0 : hd_error_no_memory(err);
	for (uint32_t i = 0; !rc && i < points; i++)
		rc = hd_scenario_figures(job->runs, job->records, i, &view->figures[i],
					 &view->figure_count[i], err);
	if (!rc)
		rc = hd_scenario_judge(job->runs, job->records, &view->expectations,
				       &view->expectation_count, err);
	return rc;
}

void sim_view_release(struct sim_view *view)
{
	for (uint32_t i = 0; view->figures && i < view->runs->point_count; i++)
		free(view->figures[i]);
	free(view->figures);
	free(view->figure_count);
	free(view->expectations);
	view->figures = NULL;
}

const struct hd_scenario_figure *sim_view_find(const struct sim_view *view, uint32_t point,
					       const char *name)
{
	for (uint32_t i = 0; i < view->figure_count[point]; i++)
		if (!strcmp(view->figures[point][i].name, name))
			return &view->figures[point][i];
	return NULL;
}

static int by_share(const void *left, const void *right)
{
	const struct sim_view_link *a = left, *b = right;

	if (a->share != b->share)
		return a->share > b->share ? -1 : 1;
	return a->link < b->link ? -1 : a->link > b->link;
}

struct sim_view_link *sim_view_hottest(const struct sim_view *view, uint32_t point, uint32_t *count)
{
	const struct hd_record *record = view->job->records[point * view->runs->seed_count];
	const struct hd_record_item *item = record ? hd_record_find(record, "links.0") : NULL;

	*count = 0;
	if (!item || !item->count)
		return NULL;
	struct sim_view_link *links = calloc(item->count, sizeof(*links));
	if (!links)
		return NULL;
	for (uint32_t i = 0; i < item->count; i++)
		links[i] = (struct sim_view_link){i, item->values[i]};
	qsort(links, item->count, sizeof(*links), by_share);
	*count = item->count < view->hot ? item->count : view->hot;
	while (*count && !(links[*count - 1].share > 0))
		(*count)--;
	return links;
}

const char *sim_view_link_name(const struct hd_fabric *fabric, uint32_t link, char *buffer,
			       size_t size)
{
	snprintf(buffer, size, "%s[%u] -> %s[%u]", fabric->node_name[hd_isl_from(fabric, link)],
		 fabric->isl_port[link], fabric->node_name[fabric->isl_to[link]],
		 fabric->isl_port[fabric->isl_reverse[link]]);
	return buffer;
}

/* ---- values for people ---- */

struct scale {
	double from;
	const char *name;
};

/* NULL: values of the unit have no scales. */
static const struct scale *scales_of(const char *unit)
{
	static const struct scale seconds[] = {
	    {1, "s"}, {1e-3, "ms"}, {1e-6, "us"}, {1e-9, "ns"}, {0, NULL}};
	static const struct scale bits[] = {{1e12, "Tb/s"}, {1e9, "Gb/s"}, {1e6, "Mb/s"},
					    {1e3, "kb/s"},  {1, "b/s"},	   {0, NULL}};
	static const struct scale rate[] = {
	    {1e9, "GB/s"}, {1e6, "MB/s"}, {1e3, "kB/s"}, {1, "B/s"}, {0, NULL}};
	static const struct scale bytes[] = {
	    {1e9, "GB"}, {1e6, "MB"}, {1e3, "kB"}, {1, "B"}, {0, NULL}};

	static const struct {
		const char *unit;
		const struct scale *scales;
	} units[] = {{"s", seconds}, {"bit/s", bits}, {"B/s", rate}, {"B", bytes}};

	for (unsigned i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (!strcmp(unit, units[i].unit))
			return units[i].scales;
	return NULL;
}

double sim_view_scale(double value, const char *unit, const char **name)
{
	const struct scale *scales = scales_of(unit);

	*name = !strcmp(unit, "1") || !strcmp(unit, "-") ? "" : unit;
	if (!scales)
		return 1;
	while (scales[1].name && fabs(value) < scales->from * 0.9995)
		scales++;
	*name = scales->name;
	return scales->from;
}

const char *sim_view_value(double value, const char *unit, char *buffer, size_t size)
{
	const char *name;
	double from = sim_view_scale(value, unit, &name);

	if (scales_of(unit) && value == 0)
		return "0";
	if (scales_of(unit)) {
		int length = snprintf(buffer, size, "%#.4g", value / from);
		length -= length > 0 && buffer[length - 1] == '.';
		snprintf(buffer + length, size - (size_t)length, " %s", name);
	} else if (!strcmp(unit, "1"))
		snprintf(buffer, size, "%.4f", value);
	else
		snprintf(buffer, size,
			 value == floor(value) || fabs(value) >= 1000 ? "%.0f" : "%.4g", value);
	return buffer;
}

/* ---- judgement ---- */

bool sim_view_deadlocked(const struct sim_view *view, uint32_t point)
{
	const struct hd_scenario_figure *figure = sim_view_find(view, point, "run.deadlock");

	return figure && figure->greatest > 0;
}

const char *sim_view_verdict(enum hd_verdict verdict)
{
	static const char *const names[] = {"within", "outside", "open"};

	return names[verdict];
}

const char *sim_view_expected(const struct hd_expectation *row, char *buffer, size_t size)
{
	snprintf(buffer, size, "%s%.4g",
		 row->judge == HD_JUDGE_BELOW	? "< "
		 : row->judge == HD_JUDGE_ABOVE ? "> "
						: "",
		 row->expected);
	return buffer;
}

const char *sim_view_tolerance(const struct hd_expectation *row, char *buffer, size_t size)
{
	if (row->judge == HD_JUDGE_WITHIN)
		snprintf(buffer, size, "%.3g%%", 100 * row->tolerance);
	else
		snprintf(buffer, size, "%s", row->judge == HD_JUDGE_SIGN ? "sign" : "-");
	return buffer;
}

bool sim_view_outside(const struct sim_view *view)
{
	for (uint32_t i = 0; i < view->expectation_count; i++)
		if (view->expectations[i].verdict != HD_VERDICT_WITHIN)
			return true;
	return false;
}

int sim_view_status(const struct sim_view *view)
{
	for (uint32_t i = 0; i < view->runs->point_count; i++)
		if (sim_view_deadlocked(view, i))
			return STATUS_FAULTS;
	return view->job->finished < view->runs->count ? STATUS_FAULTS : STATUS_CLEAN;
}
