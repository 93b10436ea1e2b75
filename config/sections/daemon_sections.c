/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a daemon registers. Nothing here needs an engine, so that daemons have none in them. */
#include "section_tables.h"

#include <heddle/config/sections.h>

static int add_others(struct hd_config_sections *sections, struct hd_error *err)
{
	static const struct hd_config_section others = {.name = HD_CONFIG_ANY_OTHER,
							.kind = HD_CONFIG_OTHER_PROGRAM};

	return hd_config_sections_add(sections, &others, err);
}

int hd_config_sections_add_keyd(struct hd_config_sections *sections, struct hd_error *err)
{
	int rc = hd_config_sections_add(sections, &section_keyd, err);

	return rc ? rc : add_others(sections, err);
}

int hd_config_sections_add_router(struct hd_config_sections *sections, struct hd_error *err)
{
	int rc = hd_config_sections_add(sections, &section_router, err);

	if (!rc)
		rc = hd_config_sections_add(sections, &section_router_subnet, err);
	if (!rc)
		rc = hd_config_sections_add(sections, &section_router_prefix, err);
	return rc ? rc : add_others(sections, err);
}
