/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The registry of kinds, and the figures of all traffics. */
#include "traffic.h"

#include <heddle/base/grow.h>

static const struct hd_traffic_kind *const kinds[] = {
    &traffic_flows, &traffic_constant, &traffic_poisson, &traffic_on_off,     &traffic_control,
    &traffic_video, &traffic_ring,     &traffic_phases,	 &traffic_collective, &traffic_trace,
};

const struct hd_traffic_kind *const *hd_traffic_kinds(unsigned *count)
{
	*count = TRAFFIC_COUNT(kinds);
	return kinds;
}

const struct hd_traffic_kind *hd_traffic_find(const char *name)
{
	for (unsigned i = 0; i < TRAFFIC_COUNT(kinds); i++)
		if (!strcmp(kinds[i]->name, name))
			return kinds[i];
	return NULL;
}

struct hd_traffic_report {
	struct hd_traffic *traffic;
	const struct hd_traffic_part *part;
	bool failed;
};

void traffic_report(struct hd_traffic_report *report, const struct traffic_value *value)
{
	struct hd_traffic *traffic = report->traffic;
	struct hd_traffic_figure *figures = hd_grow(traffic->figures, traffic->figure_count, 1,
						    &traffic->figure_room, sizeof(*figures));

	if (!figures) {
		report->failed = true;
		return;
	}
	traffic->figures = figures;
	figures[traffic->figure_count++] =
	    (struct hd_traffic_figure){.traffic = report->part->name,
				       .name = value->name,
				       .summary = value->summary,
				       .item = value->item ? value->item : "",
				       .index = value->index,
				       .unit = value->unit,
				       .value = value->value};
}

const struct hd_traffic_figure *hd_traffic_figures(struct hd_traffic *traffic, uint32_t *count)
{
	static const struct hd_traffic_figure none;
	struct hd_traffic_report report = {.traffic = traffic};

	traffic->figure_count = 0;
	for (uint32_t i = 0; i < traffic->part_count; i++) {
		report.part = &traffic->parts[i];
		if (report.part->kind->figures)
			report.part->kind->figures(report.part, &report);
	}
	*count = traffic->figure_count;
	if (report.failed)
		return NULL;
	return traffic->figures ? traffic->figures : &none;
}

const char *hd_traffic_unit_name(enum hd_traffic_unit unit)
{
	static const char *const names[] = {"", "", "s", "B", "B/s"};

	return names[unit];
}
