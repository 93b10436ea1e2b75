/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sim_list.h"
#include "catalogue.h"
#include "json_value.h"
#include "status.h"

#include <heddle/sim/scenario.h>
#include <heddle/sim/workload.h>

static unsigned section_count(void)
{
	struct hd_scenario_section section;
	unsigned count = 0;

	while (hd_scenario_section(count, &section))
		count++;
	return count;
}

static struct catalogue_entry section_entry(unsigned index)
{
	struct hd_scenario_section section = {.count = 0};

	hd_scenario_section(index, &section);
	return (struct catalogue_entry){section.name, section.summary, section.keys, section.count};
}

static unsigned kind_count(void)
{
	unsigned count;

	hd_traffic_kinds(&count);
	return count;
}

static struct catalogue_entry kind_entry(unsigned index)
{
	unsigned count;
	const struct hd_traffic_kind *kind = hd_traffic_kinds(&count)[index];

	return (struct catalogue_entry){kind->name, kind->summary, kind->options,
					kind->option_count};
}

static const struct catalogue sections = {"section", section_count, section_entry};
static const struct catalogue kinds = {"kind of traffic", kind_count, kind_entry};

static int print(const struct catalogue *catalogue, bool json)
{
	if (json)
		return json_value_print(catalogue_json(catalogue, NULL), STATUS_CLEAN);
	catalogue_print(catalogue, NULL);
	return STATUS_CLEAN;
}

int sim_list_keys(bool json)
{
	return print(&sections, json);
}

int sim_list_kinds(bool json)
{
	return print(&kinds, json);
}
