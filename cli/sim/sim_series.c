/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sim_series.h"
#include "need.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

const struct sim_words_ending sim_words_endings[SIM_WORDS_ENDINGS] = {
    {"throughput", "throughput"},	    {"latency.mean", "mean latency"},
    {"latency.median", "median latency"},   {"latency.p99", "99th percentile of latency"},
    {"latency.max", "largest latency"},	    {"delivered", "messages delivered"},
    {"packets_dropped", "packets dropped"},
};

static const struct sim_words_ending more_endings[] = {
    {"sent", "messages sent"},
    {"lost", "messages lost"},
    {"packet_latency.mean", "mean latency of packets"},
    {"packet_latency.median", "median latency of packets"},
    {"packet_latency.p99", "99th percentile of the latency of packets"},
    {"packet_latency.max", "largest latency of packets"},
};

static const struct sim_words_ending whole[] = {
    {"run.time", "time"},
    {"run.hops", "hops of packets"},
    {"run.events", "events of the simulation"},
    {"run.deadlock", "share of runs with a deadlock"},
    {"packets.made", "packets made"},
    {"packets.arrived", "packets arrived"},
    {"packets.in_flight", "packets in flight at the end"},
    {"packets.dropped", "packets dropped"},
    {"packets.dropped_head", "packets dropped at the head of a queue"},
    {"packets.dropped_switch", "packets dropped after their time in a switch"},
    {"packets.dropped_route", "packets dropped without a route"},
    {"links.most", "utilisation of the busiest link"},
    {"links.mean", "mean utilisation of links"},
};

static const char *find(const struct sim_words_ending *list, size_t count, const char *text)
{
	for (size_t i = 0; i < count; i++)
		if (!strcmp(list[i].ending, text))
			return list[i].words;
	return NULL;
}

static void copy_words(char *buffer, size_t size, const char *text)
{
	size_t used = strlen(buffer);

	for (; *text && used + 1 < size; text++)
		buffer[used++] = strchr("._-@", *text) ? ' ' : *text;
	buffer[used] = '\0';
}

/* "class.NAME.ENDING" */
static bool of_class(const char *name, char *buffer, size_t size)
{
	const char *begin = name + strlen("class."), *dot;

	if (strncmp(name, "class.", strlen("class.")) != 0 || !(dot = strchr(begin, '.')))
		return false;
	const char *words = find(sim_words_endings, SIM_WORDS_ENDINGS, dot + 1);
	if (!words)
		words = find(more_endings, COUNT(more_endings), dot + 1);
	if (!words)
		return false;
	snprintf(buffer, size, "%s of %.*s", words, (int)(dot - begin), begin);
	return true;
}

/* "flow.NAME.share", "ebb.NAME.mean", and "NAME.what" of a kind of traffic. */
static void of_thing(const char *name, char *buffer, size_t size)
{
	bool flow = !strncmp(name, "flow.", strlen("flow."));
	bool pattern = !strncmp(name, "ebb.", strlen("ebb."));
	const char *thing = flow || pattern ? strchr(name, '.') + 1 : name;
	const char *last = flow || pattern ? strrchr(thing, '.') : strchr(thing, '.');

	*buffer = '\0';
	if (!last) {
		copy_words(buffer, size, name);
		return;
	}
	if (pattern && !strcmp(last, ".mean"))
		snprintf(buffer, size, "mean bandwidth");
	else
		copy_words(buffer, size, last + 1);
	size_t used = strlen(buffer);
	snprintf(buffer + used, size - used, " of %s%s%.*s", flow ? "flow " : "",
		 pattern ? "pattern " : "", (int)(last - thing), thing);
}

const char *sim_words_figure(const char *name, char *buffer, size_t size)
{
	const char *words = find(whole, COUNT(whole), name);

	if (words)
		snprintf(buffer, size, "%s", words);
	else if (!of_class(name, buffer, size))
		of_thing(name, buffer, size);
	return buffer;
}

#define SIM_SERIES_POINTS 2000u /* of more, only the first */

#define NAME_SIZE 400

static uint32_t point_count(const struct hd_scenario_runs *runs)
{
	return runs->point_count < SIM_SERIES_POINTS ? runs->point_count : SIM_SERIES_POINTS;
}

static uint32_t add_label(struct sim_series *series, const char *label)
{
	for (uint32_t i = 0; i < series->label_count; i++)
		if (!strcmp(series->labels[i], label))
			return i;
	series->labels[series->label_count] = label;
	return series->label_count++;
}

static void collect(const struct hd_scenario_runs *runs, uint32_t axis, struct sim_series *series)
{
	series->label_count = 0;
	for (uint32_t i = 0; i < point_count(runs); i++)
		series->place[i] = add_label(series, axis < runs->points[i].label_count
							 ? runs->points[i].labels[axis]
							 : "all");
}

/* Ascending numbers, all with the same unit. */
static bool find_numbers(struct sim_series *series)
{
	char *unit;

	for (uint32_t i = 0; i < series->label_count; i++) {
		series->numbers[i] = strtod(series->labels[i], &unit);
		if (unit == series->labels[i] || (i && strcmp(unit, series->unit) != 0) ||
		    (i && series->numbers[i] <= series->numbers[i - 1]))
			return false;
		series->unit = unit;
	}
	return series->label_count > 1;
}

/* Collects the labels of the sweep that is chosen. */
static uint32_t choose_axis(const struct hd_scenario_runs *runs, struct sim_series *series)
{
	uint32_t count = runs->points[0].label_count;

	for (uint32_t axis = count; axis-- > 0;) {
		collect(runs, axis, series);
		series->numeric = find_numbers(series);
		if (series->numeric)
			return axis;
	}
	series->unit = "";
	collect(runs, count ? count - 1 : 0, series);
	return count ? count - 1 : 0;
}

static const char *line_name(const struct hd_scenario_point *point, uint32_t axis,
			     struct hd_arena *arena)
{
	char name[NAME_SIZE] = "";

	for (uint32_t i = 0; i < point->label_count; i++) {
		size_t used = strlen(name);
		if (i != axis)
			snprintf(name + used, sizeof(name) - used, "%s%s", used ? ", " : "",
				 point->labels[i]);
	}
	return need(hd_arena_strdup(arena, name));
}

static struct sim_series_line *find_line(struct sim_series *series, const char *name,
					 struct hd_arena *arena)
{
	for (uint32_t i = 0; i < series->line_count; i++)
		if (!strcmp(series->lines[i].name, name))
			return &series->lines[i];
	struct sim_series_line *line = &series->lines[series->line_count];
	line->name = name;
	line->points = need_of(arena, series->label_count, sizeof(*line->points));
	series->line_count++;
	return line;
}

void sim_series_make(const struct hd_scenario_runs *runs, struct hd_arena *arena,
		     struct sim_series *out)
{
	uint32_t points = point_count(runs);
	struct sim_series series = {
	    .title = "",
	    .unit = "",
	    .labels = need_of(arena, points, sizeof(char *)),
	    .numbers = need_of(arena, points, sizeof(double)),
	    .place = need_of(arena, points, sizeof(uint32_t)),
	    .lines = need_of(arena, points, sizeof(struct sim_series_line)),
	};

	uint32_t axis = choose_axis(runs, &series);
	if (axis < runs->sweep_count)
		series.title = runs->sweeps[axis];
	*out = series;
	for (uint32_t i = 0; i < point_count(runs); i++) {
		const char *name = line_name(&runs->points[i], axis, arena);
		struct sim_series_line *line = find_line(out, name, arena);
		if (line->count < out->label_count)
			line->points[line->count++] = i;
	}
}
