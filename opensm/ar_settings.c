/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "ar_settings.h"

#include <errno.h>
#include <heddle/config/values.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
	const struct hd_log remarks = log_sink(log);
	struct hd_ar_site site;
	struct hd_error err = {""};

	settings->quirks = hd_ar_quirks_from(hd_config_options(values, "ar.quirks"));
	if (hd_ar_site_from(values, named, &remarks, &site, &err)) {
		refuse_legacy(settings, &err, log);
		return;
	}
	hd_ar_config_release(&settings->config);
	settings->config = site.config;
	settings->legacy = site.legacy;
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
