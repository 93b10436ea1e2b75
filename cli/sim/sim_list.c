/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sim_list.h"
#include "catalogue.h"
#include "json_value.h"
#include "status.h"

#include <heddle/sim/scenario.h>
#include <heddle/sim/workload.h>

#include <stdio.h>

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
	return (struct catalogue_entry){section.name, "", section.keys, section.count};
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

int sim_list_print(bool json)
{
	if (json)
		return json_value_print(json_pack("{s:o, s:o}", "sections",
						  catalogue_json(&sections, NULL), "kinds",
						  catalogue_json(&kinds, NULL)),
					STATUS_CLEAN);
	puts("Sections of a scenario and their keys:");
	catalogue_print(&sections, NULL);
	puts("\nKinds of traffic, and the keys of a section [traffic NAME] of that kind:");
	catalogue_print(&kinds, NULL);
	return STATUS_CLEAN;
}
