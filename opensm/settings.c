/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "settings.h"
#include "hoq.h"

#include <string.h>

#define SECTION "heddle"
#define SAME_LIFETIME "same"
#define STATE_DEFAULT "default"
#define STATE_OFF "off"

static const struct hd_option_value *value_of(const struct hd_config *config, const char *name)
{
	return hd_options_get(hd_config_options(config, SECTION), name);
}

unsigned settings_threads(const struct hd_config *config)
{
	unsigned threads = (unsigned)value_of(config, "threads")->number;

	return threads ? threads : hd_parallel_cores();
}

enum hd_log_level settings_log_level(const struct hd_config *config)
{
	return (enum hd_log_level)value_of(config, "log")->number;
}

const char *settings_aggregation_file(const struct hd_config *config)
{
	const char *path = value_of(config, "aggregation_guid_file")->text;

	return *path ? path : NULL;
}

static int lifetime_of(const struct hd_config *config, const char *name)
{
	int value = -1;

	hd_value_lifetime(value_of(config, name)->text, &value, NULL);
	return value;
}

int settings_lifetime(const struct hd_config *config)
{
	return lifetime_of(config, "hoq_lifetime_us");
}

int settings_leaf_lifetime(const struct hd_config *config)
{
	const char *text = value_of(config, "leaf_hoq_lifetime_us")->text;

	return strcmp(text, SAME_LIFETIME) ? lifetime_of(config, "leaf_hoq_lifetime_us")
					   : settings_lifetime(config);
}

const char *settings_state(const struct hd_config *config)
{
	const char *text = value_of(config, "state")->text;

	if (!strcmp(text, STATE_OFF))
		return NULL;
	return strcmp(text, STATE_DEFAULT) ? text : "";
}

const char *settings_engine_path(const struct hd_config *config)
{
	return value_of(config, "engine_path")->text;
}

enum multicast_share settings_multicast_share(const struct hd_config *config)
{
	return (enum multicast_share)value_of(config, "multicast_share")->number;
}

unsigned settings_multicast_sl(const struct hd_config *config)
{
	return (unsigned)value_of(config, "multicast_sl")->number;
}

const struct hd_options *settings_engine(const struct hd_config *config,
					 const struct hd_engine *engine)
{
	return hd_config_options(config, engine->name);
}

enum hd_deadlock settings_deadlock(const struct hd_config *config, const struct hd_engine *engine)
{
	return (enum hd_deadlock)hd_options_get(settings_engine(config, engine), "deadlock")
	    ->number;
}

unsigned settings_vls(const struct hd_config *config, const struct hd_engine *engine)
{
	return (unsigned)hd_options_get(settings_engine(config, engine), "vls")->number;
}
