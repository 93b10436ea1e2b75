/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The settings of adaptive routing: the options of [ar] in heddle.conf, and the file of the vendor's AR manager,
 * which is read once for a migration. Both fill struct hd_ar_config.
 *
 * Every line of the vendor's file is matched whole, and a key that is unknown is refused.
 */
#include <errno.h>
#include <heddle/ar_manager/ar_config.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- legacy conf ---- */

/* The file of the vendor's AR manager. */

struct legacy {
	struct hd_lines lines;
	const struct hd_log *log;
	struct hd_error *err;
	struct hd_ar_config config; /* as far as it was read */
	struct hd_ar_switch_config sw; /* the one between { and } */
	bool in_switch;
	unsigned switch_line;
	uint32_t seen, seen_in_switch; /* keys, as bits */
};

struct value {
	char text[256];
};

/* Stores the value of a key. 0, or a negative errno with a reason. */
typedef int take_fn(struct legacy *legacy, const struct value *value);

static int take_bool(struct legacy *legacy, const struct value *value, bool *out)
{
	static const char *const words[] = {"false", "true", "no", "yes", "off", "on", "0", "1"};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (!strcasecmp(value->text, words[i])) {
			*out = i % 2;
			return 0;
		}
	return hd_lines_error(&legacy->lines, legacy->err, "'%s' is neither true nor false",
			      value->text);
}

static int take_number(struct legacy *legacy, const struct value *value, uint32_t most,
		       uint32_t *out)
{
	char *end;

	errno = 0;
	unsigned long long number = strtoull(value->text, &end, 0);
	if (end == value->text || *end || value->text[0] == '-' || value->text[0] == '+')
		return hd_lines_error(&legacy->lines, legacy->err, "'%s' is not a number",
				      value->text);
	if (errno || number > most) {
		hd_lines_error(&legacy->lines, legacy->err, "'%s' is more than %" PRIu32,
			       value->text, most);
		return -ERANGE;
	}
	*out = (uint32_t)number;
	return 0;
}

static int take_enable(struct legacy *legacy, const struct value *value)
{
	return take_bool(legacy, value,
			 legacy->in_switch ? &legacy->sw.enable : &legacy->config.enable);
}

static int take_algorithm(struct legacy *legacy, const struct value *value)
{
	static const char *const names[] = {"LAG", "TREE", "DF_PLUS"};

	for (int i = 0; i < 3; i++)
		if (!strcasecmp(value->text, names[i])) {
			legacy->config.algorithm = (enum hd_ar_algorithm)(HD_AR_LAG + i);
			return 0;
		}
	return hd_lines_error(&legacy->lines, legacy->err, "'%s' is none of LAG, TREE, DF_PLUS",
			      value->text);
}

static int take_mode(struct legacy *legacy, const struct value *value)
{
	for (int mode = HD_AR_BOUNDED; mode <= HD_AR_FREE; mode++)
		if (!strcasecmp(value->text, hd_ar_state_name((enum hd_ar_state)mode))) {
			legacy->config.mode = (enum hd_ar_state)mode;
			return 0;
		}
	return hd_lines_error(&legacy->lines, legacy->err, "'%s' is neither bounded nor free",
			      value->text);
}

static int ignore(struct legacy *legacy, const struct value *value)
{
	(void)value;
	hd_log(legacy->log, HD_LOG_INFO, "%s:%u: ignored: Heddle writes to OpenSM's log",
	       legacy->lines.name, legacy->lines.number);
	return 0;
}

#define CONFIG(member) offsetof(struct hd_ar_config, member)

struct legacy_conf_key {
	const char *name;
	take_fn *take; /* NULL: a number, up to `most` */
	bool of_switch; /* may stand in SWITCH too */
	uint32_t most;
	size_t member; /* of struct hd_ar_config */
};

/* A key and its other name follow each other and count as one. */
static const struct legacy_conf_key keys[] = {
    {"ENABLE", take_enable, true, 0, 0},
    {"AR_ENABLE", take_enable, false, 0, 0},
    {"AR_ALGORITHM", take_algorithm, false, 0, 0},
    {"AR_MODE", take_mode, false, 0, 0},
    {"AGEING_TIME", NULL, true, UINT32_MAX, CONFIG(settings.ageing_time_us)},
    {"MAX_ERRORS", NULL, false, UINT32_MAX, CONFIG(max_errors)},
    {"ERROR_WINDOW", NULL, false, UINT32_MAX, CONFIG(error_window_s)},
    {"EN_SL_MASK", NULL, false, 0xFFFF, CONFIG(settings.sl_mask)},
    {"LOG_FILE", ignore, false, 0, 0},
    {"LOG_SIZE", ignore, false, 0, 0},
};

#define KEYS (sizeof(keys) / sizeof(keys[0]))

/* Names for the same thing have the same bit. */
static uint32_t bit_of(size_t key)
{
	return keys[key].take == take_enable ? 1 : 1u << key;
}

static int ar_config_store(struct legacy *legacy, const struct hd_cursor *key,
			   const struct value *value)
{
	uint32_t *seen = legacy->in_switch ? &legacy->seen_in_switch : &legacy->seen;
	char name[64];

	for (size_t i = 0; i < KEYS; i++) {
		if (!hd_cursor_is(key, keys[i].name))
			continue;
		if (legacy->in_switch && !keys[i].of_switch)
			return hd_lines_error(&legacy->lines, legacy->err,
					      "%s is not for a single switch", keys[i].name);
		if (*seen & bit_of(i))
			return hd_lines_error(&legacy->lines, legacy->err, "%s is given twice",
					      keys[i].name);
		*seen |= bit_of(i);
		if (keys[i].take)
			return keys[i].take(legacy, value);
		char *config = (char *)&legacy->config;
		return take_number(legacy, value, keys[i].most,
				   legacy->in_switch
				       ? &legacy->sw.ageing_time_us
				       : (uint32_t *)(void *)(config + keys[i].member));
	}
	return hd_lines_error(&legacy->lines, legacy->err, "unknown key '%s'",
			      hd_cursor_quote(key, name, sizeof(name)));
}

/* Takes `KEY: value` up to ; or } or the end of the line. */
static int take_pair(struct legacy *legacy, struct hd_cursor *line)
{
	struct hd_cursor key, text = *line;
	struct value value;

	while (text.at < text.end && *text.at != ';' && *text.at != '}')
		text.at++;
	struct hd_cursor pair = {line->at, text.at};
	*line = text;
	if (hd_cursor_peek(line) == ';')
		line->at++;
	if (!hd_take_until(&pair, ":", &key))
		return hd_lines_error(&legacy->lines, legacy->err, "expected 'KEY: value'");
	hd_cursor_trim(&key);
	hd_cursor_trim(&pair);
	size_t length = (size_t)(pair.end - pair.at);
	if (!length)
		return hd_lines_error(&legacy->lines, legacy->err, "a value is missing");
	if (length >= sizeof(value.text))
		return hd_lines_error(&legacy->lines, legacy->err, "the value is too long");
	memcpy(value.text, pair.at, length);
	value.text[length] = '\0';
	return ar_config_store(legacy, &key, &value);
}

static int open_switch(struct legacy *legacy, struct hd_cursor *line)
{
	uint64_t guid;

	if (legacy->in_switch)
		return hd_lines_error(&legacy->lines, legacy->err,
				      "the SWITCH of line %u is not closed", legacy->switch_line);
	hd_take_blanks(line);
	if (!hd_take_hex(line, &guid) || !guid)
		return hd_lines_error(&legacy->lines, legacy->err, "expected the GUID of a switch");
	hd_take_blanks(line);
	if (!hd_take_text(line, "{"))
		return hd_lines_error(&legacy->lines, legacy->err, "expected { after the GUID");
	legacy->sw = (struct hd_ar_switch_config){.guid = guid, .enable = true};
	legacy->in_switch = true;
	legacy->switch_line = legacy->lines.number;
	legacy->seen_in_switch = 0;
	return 0;
}

static int close_switch(struct legacy *legacy, struct hd_cursor *line)
{
	if (!legacy->in_switch)
		return hd_lines_error(&legacy->lines, legacy->err, "} without a SWITCH before it");
	line->at++;
	legacy->in_switch = false;
	int rc = hd_ar_config_add_switch(&legacy->config, &legacy->sw, legacy->err);
	return rc ? hd_lines_error_prefix(&legacy->lines, rc, legacy->err) : 0;
}

static int read_line(struct legacy *legacy)
{
	struct hd_cursor line = hd_lines_cursor(&legacy->lines);
	const char *comment = hd_cursor_find(&line, "#");
	int rc = 0;

	if (comment)
		line.end = comment;
	while (!rc) {
		hd_take_blanks(&line);
		if (hd_cursor_done(&line))
			return 0;
		if (hd_cursor_peek(&line) == ';')
			line.at++;
		else if (hd_cursor_peek(&line) == '}')
			rc = close_switch(legacy, &line);
		else if (hd_take_text(&line, "SWITCH"))
			rc = open_switch(legacy, &line);
		else
			rc = take_pair(legacy, &line);
	}
	return rc;
}

static int read_all(struct legacy *legacy)
{
	int more = hd_lines_next(&legacy->lines, legacy->err);

	while (more > 0) {
		int rc = read_line(legacy);
		if (rc)
			return rc;
		more = hd_lines_next(&legacy->lines, legacy->err);
	}
	if (more < 0)
		return more;
	if (legacy->in_switch)
		return hd_lines_error_at(&legacy->lines, legacy->switch_line, legacy->err,
					 "the SWITCH is not closed");
	return 0;
}

int hd_ar_legacy_parse(const struct hd_text *text, const struct hd_log *log,
		       struct hd_ar_config *config, struct hd_error *err)
{
	struct legacy legacy = {
	    .lines = hd_lines_of(text), .log = log, .err = err, .config = *config};
	int rc = text->length ? hd_text_check(text, err) : 0;

	legacy.config.switches = NULL;
	legacy.config.switch_count = 0;
	if (!rc)
		rc = read_all(&legacy);
	if (rc) {
		hd_ar_config_release(&legacy.config);
		return rc;
	}
	hd_ar_config_release(config);
	*config = legacy.config;
	return 0;
}

/* ---- ar config ---- */

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

static uint32_t ar_config_number(const struct hd_options *options, const char *name)
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
	return (struct hd_ar_notices){.sl = ar_config_number(options, "notice_sl"),
				      .clear_s = ar_config_number(options, "notice_clear_s"),
				      .force_clear_s =
					  ar_config_number(options, "notice_force_clear_s"),
				      .manager_key = key(options, "notice_manager_key"),
				      .node_key = key(options, "notice_node_key")};
}

struct hd_ar_config hd_ar_config_from(const struct hd_options *options)
{
	struct hd_ar_config config = {
	    .enable = ar_config_number(options, "enable"),
	    .foreign = ar_config_number(options, "foreign"),
	    .mode = (enum hd_ar_state)ar_config_number(options, "mode"),
	    .settings = {.sl_mask = mask(options, "sl_mask"),
			 .transport_disable = ~mask(options, "transport_mask") & 0xF,
			 .ageing_time_us = ar_config_number(options, "ageing_time_us"),
			 .recovery =
			     (enum hd_ar_recovery)ar_config_number(options, "fast_recovery")},
	    .group_cap = ar_config_number(options, "group_cap"),
	    .max_errors = ar_config_number(options, "max_errors"),
	    .error_window_s = ar_config_number(options, "error_window_s"),
	    .order = (enum hd_ar_order)ar_config_number(options, "order"),
	    .tell_hosts = ar_config_number(options, "tell_hosts"),
	    .notices = notices(options),
	};

	hd_ar_algorithm_find(hd_options_get(options, "algorithm")->text, &config.algorithm);
	return config;
}

struct hd_ar_switch_config hd_ar_switch_config_from(uint64_t guid, const struct hd_options *options)
{
	return (struct hd_ar_switch_config){.guid = guid,
					    .enable = ar_config_number(options, "enable"),
					    .foreign = ar_config_number(options, "foreign"),
					    .ageing_time_us =
						ar_config_number(options, "ageing_time_us")};
}

static const struct hd_ar_switch_config *ar_config_find(const struct hd_ar_config *config,
							uint64_t guid)
{
	for (uint32_t i = 0; i < config->switch_count; i++)
		if (config->switches[i].guid == guid)
			return &config->switches[i];
	return NULL;
}

int hd_ar_config_add_switch(struct hd_ar_config *config, const struct hd_ar_switch_config *sw,
			    struct hd_error *err)
{
	if (ar_config_find(config, sw->guid))
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
	const struct hd_ar_switch_config *sw = ar_config_find(config, guid);
	struct hd_ar_settings settings = config->settings;

	if (sw && sw->ageing_time_us)
		settings.ageing_time_us = sw->ageing_time_us;
	return settings;
}

bool hd_ar_config_enabled(const struct hd_ar_config *config, uint64_t guid)
{
	const struct hd_ar_switch_config *sw = ar_config_find(config, guid);

	return config->enable && (!sw || sw->enable);
}

bool hd_ar_config_foreign(const struct hd_ar_config *config, uint64_t guid)
{
	const struct hd_ar_switch_config *sw = ar_config_find(config, guid);

	return sw && sw->foreign;
}

void hd_ar_config_release(struct hd_ar_config *config)
{
	free(config->switches);
	config->switches = NULL;
	config->switch_count = 0;
}
