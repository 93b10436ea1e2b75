/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "ar_settings.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LEGACY_LARGEST ((size_t)1 << 20)

int ar_settings_sections(struct hd_config_sections *sections, struct hd_error *err)
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

static int read_switches(const struct hd_config *values, struct hd_ar_config *config,
			 struct hd_error *err)
{
	struct hd_config_object object;
	int rc = 0;

	for (unsigned i = 0; !rc && hd_config_object_at(values, "ar.switch", i, &object); i++) {
		const struct hd_ar_switch_config sw =
		    hd_ar_switch_config_from(object.guid, object.options);
		rc = hd_ar_config_add_switch(config, &sw, err);
	}
	return rc;
}

static int read_legacy(const char *path, struct opensm_log *log, struct hd_ar_config *config,
		       struct hd_error *err)
{
	struct hd_text text;
	struct hd_log remarks = log_sink(log);
	int rc = hd_text_open_regular(path, LEGACY_LARGEST, &text, err);

	if (rc)
		return rc;
	text.name = path;
	rc = hd_ar_legacy_parse(&text, &remarks, config, err);
	hd_text_close(&text);
	return rc;
}

/* The last good values stay; without any, AR is off. Says so once. */
static void refuse_legacy(struct ar_settings *settings, const struct hd_error *err,
			  const struct opensm_log *log)
{
	if (strcmp(settings->fault, err->text))
		log_error(log, LOG_ERROR_AR, "%s; %s", err->text,
			  settings->legacy ? "the last good values stay in force"
					   : "adaptive routing stays off");
	snprintf(settings->fault, sizeof(settings->fault), "%s", err->text);
	if (!settings->legacy)
		settings->config.enable = false;
}

void ar_settings_read(struct ar_settings *settings, const struct hd_config *values, bool named,
		      struct opensm_log *log)
{
	const struct hd_options *options = hd_config_options(values, "ar");
	const char *path = hd_options_get(options, "legacy_conf")->text;
	struct hd_ar_config config = hd_ar_config_from(options);
	struct hd_error err = {""};
	int rc = read_switches(values, &config, &err);

	settings->quirks = hd_ar_quirks_from(hd_config_options(values, "ar.quirks"));
	config.enable |= named;
	if (!rc && *path)
		rc = read_legacy(path, log, &config, &err);
	if (rc) {
		hd_ar_config_release(&config);
		refuse_legacy(settings, &err, log);
		return;
	}
	hd_ar_config_release(&settings->config);
	settings->config = config;
	settings->legacy = *path != '\0';
	settings->fault[0] = '\0';
}

int ar_settings_copy(const struct ar_settings *settings, struct ar_settings *out)
{
	struct ar_settings copy = *settings;
	const size_t count = copy.config.switch_count;

	copy.config.switches = calloc(count + 1, sizeof(*copy.config.switches));
	if (!copy.config.switches)
		return -ENOMEM;
	if (count)
		memcpy(copy.config.switches, settings->config.switches,
		       count * sizeof(*copy.config.switches));
	*out = copy;
	return 0;
}

void ar_settings_release(struct ar_settings *settings)
{
	hd_ar_config_release(&settings->config);
}
