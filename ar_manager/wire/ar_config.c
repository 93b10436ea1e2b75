/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <heddle/ar_manager/ar_config.h>

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static int parse_mask(const char *text, uint32_t most, uint32_t *mask, struct hd_error *err)
{
	char *end;
	unsigned long value = strtoul(text, &end, 0);

	if (end == text || *end || *text == '-')
		return hd_error_set(err, -EINVAL, "'%s' is not a mask, such as 0x%X", text, most);
	if (value > most)
		return hd_error_set(err, -ERANGE, "'%s' is more than 0x%X", text, most);
	*mask = (uint32_t)value;
	return 0;
}

static int validate_sl_mask(const char *text, struct hd_error *err)
{
	uint32_t mask;

	return parse_mask(text, 0xFFFF, &mask, err);
}

static int validate_transport_mask(const char *text, struct hd_error *err)
{
	uint32_t mask;

	return parse_mask(text, 0xF, &mask, err);
}

static int parse_key(const char *text, uint64_t *key, struct hd_error *err)
{
	char *end;

	errno = 0;
	*key = strtoull(text, &end, 0);
	if (end == text || *end || *text == '-' || errno)
		return hd_error_set(err, -EINVAL, "this is not a key, such as 0x0123456789ABCDEF");
	return 0;
}

static int validate_key(const char *text, struct hd_error *err)
{
	uint64_t key;

	return parse_key(text, &key, err);
}

const struct hd_option hd_ar_options[] = {
    {.name = "enable",
     .summary = "program adaptive routing into switches that have it",
     .type = HD_OPTION_BOOL,
     .fallback = "no"},
    {.name = "foreign",
     .summary =
	 "another manager has adaptive routing: neither read nor change it, whatever else is said",
     .type = HD_OPTION_BOOL,
     .fallback = "no"},
    {.name = "algorithm",
     .summary = "how groups are formed",
     .type = HD_OPTION_CHOICE,
     .fallback = "auto",
     .choices = "auto|lag|tree|dfp"},
    {.name = "mode",
     .summary = "when a flow may change its port: after a pause, or with each packet",
     .type = HD_OPTION_CHOICE,
     .fallback = "bounded",
     .choices = "bounded|free"},
    {.name = "ageing_time_us",
     .summary = "the pause after which a flow may change its port, in microseconds",
     .type = HD_OPTION_INT,
     .fallback = "30",
     .minimum = 1,
     .maximum = UINT32_MAX},
    {.name = "sl_mask",
     .summary = "service levels with adaptive routing, bit n for SL n",
     .type = HD_OPTION_STRING,
     .fallback = "0xFFFF",
     .validate = validate_sl_mask},
    {.name = "transport_mask",
     .summary = "transports with adaptive routing: 1 UD, 2 RC, 4 UC, 8 DC, added up",
     .type = HD_OPTION_STRING,
     .fallback = "0xF",
     .validate = validate_transport_mask},
    {.name = "group_cap",
     .summary = "most groups that a switch gets; 0: as many as it has",
     .type = HD_OPTION_INT,
     .fallback = "0",
     .minimum = 0,
     .maximum = HD_AR_GROUPS_MAX},
    {.name = "max_errors",
     .summary = "errors after which a switch is left static",
     .type = HD_OPTION_INT,
     .fallback = "10",
     .minimum = 0,
     .maximum = UINT32_MAX},
    {.name = "error_window_s",
     .summary = "time in which these errors count, in seconds",
     .type = HD_OPTION_INT,
     .fallback = "5",
     .minimum = 0,
     .maximum = UINT32_MAX},
    {.name = "order",
     .summary = "which table a switch without adaptive routing gets first",
     .type = HD_OPTION_CHOICE,
     .fallback = "groups",
     .choices = "groups|lft"},
    {.name = "tell_hosts",
     .summary =
	 "set ooo_sl_mask of hosts that have it, so that UCX finds SLs with adaptive routing",
     .type = HD_OPTION_BOOL,
     .fallback = "yes"},
    {.name = "fast_recovery",
     .summary = "what switches do by themselves when a port is lost: nothing, send by the other "
		"ports of the group, "
		"or also tell their neighbours",
     .type = HD_OPTION_CHOICE,
     .fallback = "off",
     .choices = "off|local|notices"},
    {.name = "notice_sl",
     .summary = "service level of notices between switches",
     .type = HD_OPTION_INT,
     .fallback = "0",
     .minimum = 0,
     .maximum = 15},
    {.name = "notice_clear_s",
     .summary = "seconds after the last notice until a switch uses all ports again",
     .type = HD_OPTION_INT,
     .fallback = "180",
     .minimum = 1,
     .maximum = HD_AR_PFRN_SECONDS_MAX},
    {.name = "notice_force_clear_s",
     .summary = "the same, however often notices come",
     .type = HD_OPTION_INT,
     .fallback = "720",
     .minimum = 1,
     .maximum = HD_AR_PFRN_SECONDS_MAX},
    {.name = "notice_manager_key",
     .summary = "key that switches ask of who sets up notices; 0: none",
     .type = HD_OPTION_STRING,
     .fallback = "0",
     .validate = validate_key},
    {.name = "notice_node_key",
     .summary = "key of notices between switches",
     .type = HD_OPTION_STRING,
     .fallback = "0",
     .validate = validate_key},
    {.name = "legacy_conf",
     .summary = "file of the vendor's AR manager, whose values replace those of this section",
     .type = HD_OPTION_STRING,
     .fallback = ""},
};

const unsigned hd_ar_option_count = sizeof(hd_ar_options) / sizeof(hd_ar_options[0]);

const struct hd_option hd_ar_switch_options[] = {
    {.name = "enable",
     .summary = "program adaptive routing into this switch",
     .type = HD_OPTION_BOOL,
     .fallback = "yes"},
    {.name = "foreign",
     .summary =
	 "neither ask this switch for adaptive routing nor change it: another manager has it, or "
	 "the switch has none and does not answer",
     .type = HD_OPTION_BOOL,
     .fallback = "no"},
    {.name = "ageing_time_us",
     .summary = "as in section [ar], for this switch; 0: the value there",
     .type = HD_OPTION_INT,
     .fallback = "0",
     .minimum = 0,
     .maximum = UINT32_MAX},
};

const unsigned hd_ar_switch_option_count =
    sizeof(hd_ar_switch_options) / sizeof(hd_ar_switch_options[0]);

static uint32_t number(const struct hd_options *options, const char *name)
{
	return (uint32_t)hd_options_get(options, name)->number;
}

/* The text was validated when the option was set. */
static uint32_t mask(const struct hd_options *options, const char *name)
{
	return (uint32_t)strtoul(hd_options_get(options, name)->text, NULL, 0);
}

static uint64_t key(const struct hd_options *options, const char *name)
{
	return strtoull(hd_options_get(options, name)->text, NULL, 0);
}

static struct hd_ar_notices notices(const struct hd_options *options)
{
	return (struct hd_ar_notices){.sl = number(options, "notice_sl"),
				      .clear_s = number(options, "notice_clear_s"),
				      .force_clear_s = number(options, "notice_force_clear_s"),
				      .manager_key = key(options, "notice_manager_key"),
				      .node_key = key(options, "notice_node_key")};
}

struct hd_ar_config hd_ar_config_from(const struct hd_options *options)
{
	struct hd_ar_config config = {
	    .enable = number(options, "enable"),
	    .foreign = number(options, "foreign"),
	    .mode = (enum hd_ar_state)number(options, "mode"),
	    .settings = {.sl_mask = mask(options, "sl_mask"),
			 .transport_disable = ~mask(options, "transport_mask") & 0xF,
			 .ageing_time_us = number(options, "ageing_time_us"),
			 .recovery = (enum hd_ar_recovery)number(options, "fast_recovery")},
	    .group_cap = number(options, "group_cap"),
	    .max_errors = number(options, "max_errors"),
	    .error_window_s = number(options, "error_window_s"),
	    .order = (enum hd_ar_order)number(options, "order"),
	    .tell_hosts = number(options, "tell_hosts"),
	    .notices = notices(options),
	};

	hd_ar_algorithm_find(hd_options_get(options, "algorithm")->text, &config.algorithm);
	return config;
}

struct hd_ar_switch_config hd_ar_switch_config_from(uint64_t guid, const struct hd_options *options)
{
	return (struct hd_ar_switch_config){.guid = guid,
					    .enable = number(options, "enable"),
					    .foreign = number(options, "foreign"),
					    .ageing_time_us = number(options, "ageing_time_us")};
}

static const struct hd_ar_switch_config *find(const struct hd_ar_config *config, uint64_t guid)
{
	for (uint32_t i = 0; i < config->switch_count; i++)
		if (config->switches[i].guid == guid)
			return &config->switches[i];
	return NULL;
}

int hd_ar_config_add_switch(struct hd_ar_config *config, const struct hd_ar_switch_config *sw,
			    struct hd_error *err)
{
	if (find(config, sw->guid))
		return hd_error_set(err, -EEXIST, "switch 0x%016" PRIx64 " is given twice",
				    sw->guid);
	struct hd_ar_switch_config *longer =
	    realloc(config->switches, (config->switch_count + 1) * sizeof(*longer));
	if (!longer)
		return hd_error_no_memory(err);
	longer[config->switch_count++] = *sw;
	config->switches = longer;
	return 0;
}

struct hd_ar_settings hd_ar_config_settings(const struct hd_ar_config *config, uint64_t guid)
{
	const struct hd_ar_switch_config *sw = find(config, guid);
	struct hd_ar_settings settings = config->settings;

	if (sw && sw->ageing_time_us)
		settings.ageing_time_us = sw->ageing_time_us;
	return settings;
}

bool hd_ar_config_enabled(const struct hd_ar_config *config, uint64_t guid)
{
	const struct hd_ar_switch_config *sw = find(config, guid);

	return config->enable && (!sw || sw->enable);
}

bool hd_ar_config_foreign(const struct hd_ar_config *config, uint64_t guid)
{
	const struct hd_ar_switch_config *sw = find(config, guid);

	return sw && sw->foreign;
}

void hd_ar_config_release(struct hd_ar_config *config)
{
	free(config->switches);
	config->switches = NULL;
	config->switch_count = 0;
}
