/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The file of the vendor's AR manager. */
#include <heddle/ar_manager/ar_config.h>

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

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

static int take_ageing_time(struct legacy *legacy, const struct value *value)
{
	return take_number(legacy, value, UINT32_MAX,
			   legacy->in_switch ? &legacy->sw.ageing_time_us
					     : &legacy->config.settings.ageing_time_us);
}

static int take_max_errors(struct legacy *legacy, const struct value *value)
{
	return take_number(legacy, value, UINT32_MAX, &legacy->config.max_errors);
}

static int take_error_window(struct legacy *legacy, const struct value *value)
{
	return take_number(legacy, value, UINT32_MAX, &legacy->config.error_window_s);
}

static int take_sl_mask(struct legacy *legacy, const struct value *value)
{
	return take_number(legacy, value, 0xFFFF, &legacy->config.settings.sl_mask);
}

static int ignore(struct legacy *legacy, const struct value *value)
{
	(void)value;
	hd_log(legacy->log, HD_LOG_INFO, "%s:%u: ignored: Heddle writes to OpenSM's log",
	       legacy->lines.name, legacy->lines.number);
	return 0;
}

struct key {
	const char *name;
	take_fn *take;
	bool of_switch; /* may stand in SWITCH too */
};

/* A key and its other name follow each other and count as one. */
static const struct key keys[] = {
    {"ENABLE", take_enable, true},
    {"AR_ENABLE", take_enable, false},
    {"AR_ALGORITHM", take_algorithm, false},
    {"AR_MODE", take_mode, false},
    {"AGEING_TIME", take_ageing_time, true},
    {"MAX_ERRORS", take_max_errors, false},
    {"ERROR_WINDOW", take_error_window, false},
    {"EN_SL_MASK", take_sl_mask, false},
    {"LOG_FILE", ignore, false},
    {"LOG_SIZE", ignore, false},
};

#define KEYS (sizeof(keys) / sizeof(keys[0]))

/* Names for the same thing have the same bit. */
static uint32_t bit_of(size_t key)
{
	return keys[key].take == take_enable ? 1 : 1u << key;
}

static int store(struct legacy *legacy, const struct hd_cursor *key, const struct value *value)
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
		return keys[i].take(legacy, value);
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
	return store(legacy, &key, &value);
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
