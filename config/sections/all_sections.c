/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "section_tables.h"

#include <heddle/ar_manager/site.h>
#include <heddle/config/sections.h>
#include <heddle/engines.h>

static const struct hd_config_section *const plugin[] = {
    &section_heddle, &section_map,    &section_keys,	&section_certificate, &section_repair,
    &section_sweep,  &section_status, &section_metrics, &section_drain};
static const struct hd_config_section *const daemons[] = {
    &section_keyd, &section_router, &section_router_subnet, &section_router_prefix};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

int hd_config_sections_add_heddle(struct hd_config_sections *sections, struct hd_error *err)
{
	return hd_config_sections_add(sections, &section_heddle, err);
}

int hd_config_sections_add_engine(struct hd_config_sections *sections,
				  const struct hd_engine *engine, struct hd_error *err)
{
	return hd_config_sections_add(
	    sections,
	    &(struct hd_config_section){.name = engine->name,
					.options = engine->options,
					.option_count = engine->option_count},
	    err);
}

static int add_engines(struct hd_config_sections *sections, struct hd_error *err)
{
	unsigned count;
	const struct hd_engine *const *engines = hd_engines(&count);
	int rc = 0;

	for (unsigned i = 0; !rc && i < count; i++)
		rc = hd_config_sections_add_engine(sections, engines[i], err);
	return rc;
}

int hd_config_sections_add_all(struct hd_config_sections *sections, enum hd_config_reader reader,
			       struct hd_error *err)
{
	int rc = 0;

	for (unsigned i = 0; !rc && i < COUNT(plugin); i++)
		rc = hd_config_sections_add(sections, plugin[i], err);
	if (!rc)
		rc = hd_ar_site_sections(sections, err);
	if (!rc)
		rc = add_engines(sections, err);
	for (unsigned i = 0; !rc && i < COUNT(daemons); i++) {
		struct hd_config_section section = *daemons[i];

		if (reader == HD_CONFIG_PLUGIN)
			section.kind = HD_CONFIG_OTHER_PROGRAM;
		rc = hd_config_sections_add(sections, &section, err);
	}
	return rc;
}
