/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "section_tables.h"

#include <errno.h>
#include <heddle/base/parallel.h>
#include <heddle/config/section_values.h>
#include <string.h>

#define SAME_LIFETIME "same"
#define STATE_DEFAULT "default"
#define STATE_OFF "off"
#define SHARE_SAME 0 /* the first choice of multicast_share */

static int check_lifetime(const char *text, struct hd_error *err)
{
	int value;

	return hd_value_lifetime(text, &value, err);
}

static int check_leaf_lifetime(const char *text, struct hd_error *err)
{
	return strcmp(text, SAME_LIFETIME) ? check_lifetime(text, err) : 0;
}

static int check_state(const char *text, struct hd_error *err)
{
	if (text[0] == '/' || !strcmp(text, STATE_DEFAULT) || !strcmp(text, STATE_OFF))
		return 0;
	return hd_error_set(err, -EINVAL, "expected an absolute path, %s or %s", STATE_DEFAULT,
			    STATE_OFF);
}

static int check_engine_path(const char *text, struct hd_error *err)
{
	for (; *text; text += strcspn(text, ":")) {
		text += strspn(text, ":");
		if (*text && *text != '/')
			return hd_error_set(err, -EINVAL,
					    "expected absolute paths of folders, separated by "
					    "colons");
	}
	return 0;
}

static const struct hd_option options[] = {
    {.name = "threads",
     .summary = "threads to compute with; 0: one for each core",
     .type = HD_OPTION_INT,
     .fallback = "0",
     .minimum = 0,
     .maximum = HD_THREADS_MAX},
    /* In the order of enum hd_log_level. */
    {.name = "log",
     .summary = "the least important remarks of the engines that OpenSM's log shows by default",
     .type = HD_OPTION_CHOICE,
     .fallback = "info",
     .choices = "error|warning|info|debug"},
    {.name = "hoq_lifetime_us",
     .summary = "head-of-queue lifetime between switches; 0: as in opensm.conf",
     .type = HD_OPTION_STRING,
     .fallback = "0",
     .validate = check_lifetime},
    {.name = "leaf_hoq_lifetime_us",
     .summary = "head-of-queue lifetime from switches to hosts",
     .type = HD_OPTION_STRING,
     .fallback = SAME_LIFETIME,
     .validate = check_leaf_lifetime},
    {.name = "state",
     .summary = "file that tells a restarted OpenSM which tables the switches have, or off",
     .type = HD_OPTION_STRING,
     .fallback = STATE_DEFAULT,
     .validate = check_state},
    /* In the order of enum multicast_share of the plugin. */
    {.name = "multicast_share",
     .summary =
	 "bandwidth of multicast on its own virtual lane; same: it shares the lanes of unicast",
     .type = HD_OPTION_CHOICE,
     .fallback = "same",
     .choices = "same|equal|linear|log"},
    {.name = "multicast_sl",
     .summary = "service level of the multicast groups; 0: not given",
     .type = HD_OPTION_INT,
     .fallback = "0",
     .minimum = 0,
     .maximum = 15},
    {.name = "aggregation_guid_file",
     .summary = "file of GUIDs of adapters to route last, like aggregation nodes",
     .type = HD_OPTION_STRING,
     .fallback = ""},
    {.name = "engine_path",
     .summary = "folders with modules of other engines, separated by colons",
     .type = HD_OPTION_STRING,
     .fallback = "",
     .validate = check_engine_path},
};

static int check_share(const struct hd_options *values, const char **key, struct hd_error *err)
{
	const struct hd_option_value *share = hd_options_get(values, "multicast_share");

	if (share->number == SHARE_SAME || hd_options_get(values, "multicast_sl")->number)
		return 0;
	*key = "multicast_share";
	return hd_error_set(err, -EINVAL,
			    "multicast_share = %s needs multicast_sl, the service level 1..15 "
			    "that the groups have (sl= in OpenSM's partitions.conf)",
			    share->text);
}

const struct hd_config_section section_heddle = {.name = "heddle",
						 .kind = HD_CONFIG_ONE,
						 .options = options,
						 .option_count =
						     sizeof(options) / sizeof(options[0]),
						 .check = check_share};
