/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <heddle/ar_manager/site.h>
#include <heddle/config.h>

#define LEGACY_LARGEST ((size_t)1 << 20) /* bytes */

int hd_ar_site_sections(struct hd_config_sections *sections, struct hd_error *err)
{
	const struct hd_config_section all[] = {
	    {.name = "ar", .options = hd_ar_options, .option_count = hd_ar_option_count},
	    {.name = "ar.switch",
	     .kind = HD_CONFIG_BY_GUID,
	     .options = hd_ar_switch_options,
	     .option_count = hd_ar_switch_option_count},
	    {.name = "ar.quirks",
	     .options = hd_ar_quirk_options,
	     .option_count = hd_ar_quirk_option_count},
	};
	int rc = 0;

	for (unsigned i = 0; !rc && i < sizeof(all) / sizeof(all[0]); i++)
		rc = hd_config_sections_add(sections, &all[i], err);
	return rc;
}

static int read_legacy(const char *path, const struct hd_log *log, struct hd_ar_config *config,
		       struct hd_error *err)
{
	struct hd_text text;
	int rc = hd_text_open_regular(path, LEGACY_LARGEST, &text, err);

	if (rc)
		return rc;
	text.name = path;
	rc = hd_ar_legacy_parse(&text, log, config, err);
	hd_text_close(&text);
	return rc;
}

int hd_ar_site_from(const struct hd_config *values, bool named, const struct hd_log *log,
		    struct hd_ar_site *out, struct hd_error *err)
{
	const struct hd_options *options = hd_config_options(values, "ar");
	const char *path = hd_options_get(options, "legacy_conf")->text;
	struct hd_ar_site site = {.config = hd_ar_config_from(options),
				  .quirks =
				      hd_ar_quirks_from(hd_config_options(values, "ar.quirks")),
				  .legacy = *path != '\0'};
	struct hd_ar_config *config = &site.config;
	struct hd_config_object object;
	int rc = 0;

	for (unsigned i = 0; !rc && hd_config_object_at(values, "ar.switch", i, &object); i++) {
		const struct hd_ar_switch_config sw =
		    hd_ar_switch_config_from(object.guid, object.options);
		rc = hd_ar_config_add_switch(config, &sw, err);
	}
	site.config.enable |= named;
	if (!rc && site.legacy)
		rc = read_legacy(path, log, &site.config, err);
	site.config.enable &= !site.config.foreign;
	if (rc)
		hd_ar_site_release(&site);
	else
		*out = site;
	return rc;
}

int hd_ar_site_read(const char *path, const struct hd_log *log, struct hd_ar_site *out,
		    struct hd_error *err)
{
	struct hd_config_sections *sections = hd_config_sections_new();
	struct hd_config *values = NULL;
	int rc = sections ? hd_ar_site_sections(sections, err) : hd_error_no_memory(err);

	if (!rc) {
		hd_config_sections_ignore_others(sections);
		rc = path ? hd_config_read(sections, path, true, &values, err)
			  : hd_config_defaults(sections, &values, err);
	}
	if (!rc)
		rc = hd_ar_site_from(values, true, log, out, err);
	hd_config_free(values);
	hd_config_sections_free(sections);
	return rc;
}

void hd_ar_site_release(struct hd_ar_site *site)
{
	hd_ar_config_release(&site->config);
}
