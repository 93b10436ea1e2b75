/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "ar_settings.h"

#include <errno.h>
#include <heddle/config.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void say_once(struct ar_settings *settings, const struct hd_error *err,
		     const char *consequence, const struct opensm_log *log)
{
	if (strcmp(settings->fault, err->text))
		log_error(log, LOG_ERROR_AR, "%s; %s", err->text, consequence);
	snprintf(settings->fault, sizeof(settings->fault), "%s", err->text);
}

/* The last good values stay; without any, AR is off. Without memory nothing changes. */
static void refuse(struct ar_settings *settings, const struct hd_error *err, int rc,
		   const struct opensm_log *log)
{
	if (rc == -ENOMEM) {
		say_once(settings, err, "the settings of adaptive routing stay as they are", log);
		return;
	}
	if (settings->legacy) {
		say_once(settings, err, "the last good values stay in force", log);
		return;
	}
	say_once(settings, err,
		 settings->config.enable ? "adaptive routing is switched off"
					 : "adaptive routing stays off",
		 log);
	settings->config.enable = false;
}

void ar_settings_read(struct ar_settings *settings, const struct hd_config *values, bool named,
		      struct opensm_log *log)
{
	const struct hd_log remarks = log_sink(log);
	struct hd_ar_site site;
	struct hd_error err = {""};
	int rc = hd_ar_site_from(values, named, &remarks, &site, &err);

	if (rc != -ENOMEM)
		settings->quirks = hd_ar_quirks_from(hd_config_options(values, "ar.quirks"));
	if (rc) {
		refuse(settings, &err, rc, log);
		return;
	}
	hd_ar_config_release(&settings->config);
	settings->config = site.config;
	settings->legacy = site.legacy;
	settings->fault[0] = '\0';
}

bool ar_settings_may_enable(const struct hd_config *values, bool named)
{
	struct hd_ar_site site;

	if (hd_ar_site_from(values, named, NULL, &site, NULL))
		return true;
	bool enabled = site.config.enable;
	hd_ar_site_release(&site);
	return enabled;
}

bool ar_settings_may_be_private(const struct hd_config *values, bool named)
{
	struct hd_ar_site site;

	if (hd_ar_site_from(values, named, NULL, &site, NULL))
		return false;
	const bool private = site.config.enable && site.config.algorithm == HD_AR_DFP;
	hd_ar_site_release(&site);
	return private;
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
