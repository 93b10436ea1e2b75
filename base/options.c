/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "options_layout.h"
#include <heddle/base/suggest.h>

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static int bad_value(const struct hd_option *option, const char *text, int rc, struct hd_error *err)
{
	switch (option->type) {
	case HD_OPTION_BOOL:
		return hd_error_set(err, rc, "option '%s': '%s' is neither yes nor no",
				    option->name, text);
	case HD_OPTION_CHOICE:
		return hd_error_set(err, rc, "option '%s': '%s' is not one of %s", option->name,
				    text, option->choices);
	case HD_OPTION_INT_LIST:
		return hd_error_set(err, rc,
				    "option '%s': '%s' is not a list of at most %d whole numbers "
				    "%" PRId64 "..%" PRId64 ", such as 4,4,4",
				    option->name, text, HD_OPTION_LIST_MAX, option->minimum,
				    option->maximum);
	default:
		return hd_error_set(err, rc,
				    "option '%s': '%s' is not a whole number %" PRId64 "..%" PRId64,
				    option->name, text, option->minimum, option->maximum);
	}
}

static int parse_number(const struct hd_option *option, const char *text, char stop,
			const char **end, int64_t *number)
{
	char *after;

	errno = 0;
	long long parsed = strtoll(text, &after, 10);
	if (after == text || errno || (*after && *after != stop))
		return -EINVAL;
	if (parsed < option->minimum || parsed > option->maximum)
		return -ERANGE;
	*end = after;
	*number = parsed;
	return 0;
}

static int parse_list(const struct hd_option *option, const char *text,
		      struct hd_option_value *value)
{
	for (value->count = 0; value->count < HD_OPTION_LIST_MAX;) {
		const char *end;
		int rc = parse_number(option, text, ',', &end, &value->list[value->count]);
		if (rc)
			return rc;
		value->count++;
		if (!*end)
			return 0;
		text = end + 1;
	}
	return -ERANGE;
}

static int parse_bool(const char *text, int64_t *number)
{
	static const char *const words[] = {"no", "yes", "false", "true", "off", "on", "0", "1"};

	for (unsigned i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (!strcasecmp(text, words[i])) {
			*number = i & 1;
			return 0;
		}
	}
	return -EINVAL;
}

static int parse_choice(const struct hd_option *option, const char *text, int64_t *number)
{
	size_t length = strlen(text);
	const char *choice = option->choices;

	for (int64_t index = 0; choice; index++) {
		const char *bar = strchr(choice, '|');
		size_t choice_length = bar ? (size_t)(bar - choice) : strlen(choice);
		if (choice_length == length && !memcmp(choice, text, length)) {
			*number = index;
			return 0;
		}
		choice = bar ? bar + 1 : NULL;
	}
	return -EINVAL;
}

static int parse_value(const struct hd_option *option, const char *text,
		       struct hd_option_value *value)
{
	const char *end;

	switch (option->type) {
	case HD_OPTION_INT:
		return parse_number(option, text, '\0', &end, &value->number);
	case HD_OPTION_BOOL:
		return parse_bool(text, &value->number);
	case HD_OPTION_CHOICE:
		return parse_choice(option, text, &value->number);
	case HD_OPTION_INT_LIST:
		return parse_list(option, text, value);
	case HD_OPTION_STRING:
		break;
	}
	return 0;
}

struct hd_options *hd_options_new(const struct hd_option *table, unsigned count)
{
	struct hd_options *options = calloc(1, sizeof(*options));

	if (!options)
		return NULL;
	options->table = table;
	options->count = count;
	options->values = calloc(count + 1u, sizeof(*options->values));
	options->owned = calloc(count + 1u, sizeof(*options->owned));
	if (!options->values || !options->owned) {
		hd_options_free(options);
		return NULL;
	}
	for (unsigned i = 0; i < count; i++) {
		options->values[i].text = table[i].fallback;
		if (table[i].fallback) {
			int rc = parse_value(&table[i], table[i].fallback, &options->values[i]);
			assert(rc == 0);
			(void)rc;
		}
	}
	return options;
}

void hd_options_free(struct hd_options *options)
{
	if (!options)
		return;
	for (unsigned i = 0; options->owned && i < options->count; i++)
		free(options->owned[i]);
	free(options->owned);
	free(options->values);
	free(options);
}

static int unknown_option(const struct hd_options *options, const char *name, struct hd_error *err)
{
	struct hd_suggestion suggestion = hd_suggestion_for(name);
	char known[HD_ERROR_TEXT / 2] = "";
	size_t used = 0;

	for (unsigned i = 0; i < options->count; i++) {
		hd_suggestion_offer(&suggestion, options->table[i].name);
		if (used < sizeof(known))
			used += (size_t)snprintf(known + used, sizeof(known) - used, "%s%s",
						 i ? ", " : "", options->table[i].name);
	}
	if (!options->count)
		return hd_error_set(err, -ENOENT, "unknown option '%s': there are no options",
				    name);
	if (suggestion.nearest)
		return hd_error_set(err, -ENOENT, "unknown option '%s'; did you mean '%s'?", name,
				    suggestion.nearest);
	return hd_error_set(err, -ENOENT, "unknown option '%s'; there are: %s", name, known);
}

static char dashed(char letter)
{
	return letter == '_' ? '-' : letter;
}

/* The first `length` letters. */
static bool same_letters(const char *a, const char *b, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if (!a[i] || dashed(a[i]) != dashed(b[i]))
			return false;
	return true;
}

bool hd_option_same_name(const char *a, const char *b)
{
	const size_t length = strlen(b);

	return strlen(a) == length && same_letters(a, b, length);
}

static unsigned find_option(const struct hd_options *options, const char *name)
{
	unsigned i = 0;

	while (i < options->count && !hd_option_same_name(options->table[i].name, name))
		i++;
	return i;
}

int hd_options_set(struct hd_options *options, const char *name, const char *text,
		   struct hd_error *err)
{
	unsigned i = find_option(options, name);

	if (i == options->count)
		return unknown_option(options, name, err);
	struct hd_option_value value = {.given = true};
	const struct hd_option *option = &options->table[i];
	int rc = parse_value(option, text, &value);
	if (rc)
		return bad_value(option, text, rc, err);
	if (option->validate && (rc = option->validate(text, err)))
		return hd_error_prefix(err, rc, "option '%s'", name);
	char *copy = strdup(text);
	if (!copy)
		return hd_error_no_memory(err);
	free(options->owned[i]);
	options->owned[i] = copy;
	value.text = copy;
	options->values[i] = value;
	return 0;
}

int hd_options_set_pair(struct hd_options *options, const char *pair, struct hd_error *err)
{
	const char *equals = strchr(pair, '=');

	if (!equals || equals == pair)
		return hd_error_set(err, -EINVAL, "'%s' is not of the form KEY=VALUE", pair);
	char *name = strndup(pair, (size_t)(equals - pair));
	if (!name)
		return hd_error_no_memory(err);
	int rc = hd_options_set(options, name, equals + 1, err);
	free(name);
	return rc;
}

/* Whether a name is that of one of the pairs begin .. end, which '\0' separates. */
static bool is_named(const char *begin, const char *end, const char *name, size_t length)
{
	for (; begin < end; begin += strlen(begin) + 1)
		if (same_letters(begin, name, length) && begin[length] == '=')
			return true;
	return false;
}

int hd_options_set_pairs(struct hd_options *options, char *pairs, struct hd_error *err)
{
	const char *first = pairs;

	while (pairs) {
		char *end = strchr(pairs, ',');
		while (end && !memchr(end + 1, '=', strcspn(end + 1, ",")))
			end = strchr(end + 1, ',');
		if (end)
			*end = '\0';
		size_t length = strcspn(pairs, "=");
		if (is_named(first, pairs, pairs, length))
			return hd_error_set(err, -EINVAL, "option '%.*s' is given twice",
					    (int)length, pairs);
		int rc = hd_options_set_pair(options, pairs, err);
		if (rc)
			return rc;
		pairs = end ? end + 1 : NULL;
	}
	return 0;
}

int hd_options_complete(const struct hd_options *options, struct hd_error *err)
{
	for (unsigned i = 0; i < options->count; i++)
		if (!options->values[i].text)
			return hd_error_set(err, -EINVAL, "option '%s' is missing: %s",
					    options->table[i].name, options->table[i].summary);
	return 0;
}

const struct hd_option_value *hd_options_get(const struct hd_options *options, const char *name)
{
	unsigned i = find_option(options, name);

	assert(i < options->count);
	return &options->values[i];
}

void hd_options_print(const struct hd_options *options, char *buffer, int size)
{
	size_t used = 0, room = size > 0 ? (size_t)size : 0;

	if (room)
		buffer[0] = '\0';
	for (unsigned i = 0; i < options->count && used < room; i++)
		if (options->values[i].given)
			used +=
			    (size_t)snprintf(buffer + used, room - used, "%s%s=%s", used ? " " : "",
					     options->table[i].name, options->values[i].text);
}
