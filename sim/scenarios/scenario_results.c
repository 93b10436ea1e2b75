/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The figures of a point over its seeds. */
#include <heddle/sim/scenario.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Item `index` is nearly always at the same place in all records. */
static const struct hd_record_item *item_of(const struct hd_record *record, uint32_t index,
					    const char *name)
{
	if (index < record->count && !strcmp(record->items[index].name, name))
		return &record->items[index];
	return hd_record_find(record, name);
}

static void add(struct hd_scenario_figure *figure, double value, double *squares)
{
	double before = value - figure->mean;

	figure->count++;
	figure->mean += before / figure->count;
	*squares += before * (value - figure->mean);
	figure->least = figure->count > 1 ? fmin(figure->least, value) : value;
	figure->greatest = figure->count > 1 ? fmax(figure->greatest, value) : value;
}

int hd_scenario_figures(const struct hd_scenario_runs *runs, struct hd_record *const *records,
			uint32_t point, struct hd_scenario_figure **figures, uint32_t *count,
			struct hd_error *err)
{
	struct hd_record *const *seeds = records + (size_t)point * runs->seed_count;
	const struct hd_record *first = NULL;

	for (uint32_t i = 0; i < runs->seed_count && !first; i++)
		first = seeds[i];
	struct hd_scenario_figure *rows = calloc((first ? first->count : 0) + 1u, sizeof(*rows));
	if (!rows)
		return hd_error_no_memory(err);
	*count = 0;
	for (uint32_t k = 0; first && k < first->count; k++) {
		const struct hd_record_item *like = &first->items[k];
		struct hd_scenario_figure *row = &rows[*count];
		double squares = 0;
		if (like->count != 1 || !strncmp(like->name, "series.", 7))
			continue;
		(*count)++;
		row->name = like->name;
		row->unit = like->unit;
		for (uint32_t i = 0; i < runs->seed_count; i++) {
			const struct hd_record_item *item =
			    seeds[i] ? item_of(seeds[i], k, like->name) : NULL;
			if (item && item->count == 1)
				add(row, item->values[0], &squares);
		}
		row->deviation = row->count > 1 ? sqrt(squares / (row->count - 1)) : 0;
	}
	*figures = rows;
	return 0;
}
