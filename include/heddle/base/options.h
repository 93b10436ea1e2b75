/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Typed options by name: the options that an engine or a generator takes, and the values that a
 * user gave. The command line, heddle.conf and the man pages all read the same descriptions.
 */
#ifndef HEDDLE_BASE_OPTIONS_H
#define HEDDLE_BASE_OPTIONS_H

#include <heddle/base/error.h>
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define HD_OPTION_LIST_MAX 16

enum hd_option_type {
	HD_OPTION_INT, /* minimum .. maximum */
	HD_OPTION_BOOL, /* yes|no, true|false, on|off, 1|0 */
	HD_OPTION_CHOICE, /* one of `choices`, "a|b|c" */
	HD_OPTION_INT_LIST, /* "4,4,4", each minimum .. maximum, at most HD_OPTION_LIST_MAX */
	HD_OPTION_STRING /* any text */
};

struct hd_option {
	const char *name; /* as typed: "passes" */
	const char *summary; /* half a sentence for --help and the man page */
	enum hd_option_type type;
	const char *fallback; /* default, as text; NULL = must be given */
	int64_t minimum, maximum;
	const char *choices;
	/* STRING: checks the form of a text; 0, or a negative errno with a reason. May be NULL */
	int (*validate)(const char *text, struct hd_error *err);
};

struct hd_option_value {
	const char *text; /* as given, or the default; NULL if a required option is missing */
	int64_t number; /* INT; BOOL 0/1; CHOICE index from 0 */
	unsigned count; /* INT_LIST */
	int64_t list[HD_OPTION_LIST_MAX];
	bool given;
};

/* The values of one option table; owns the text. */
struct hd_options;

/* The defaults of `table` ([count], must outlive the result), to be freed with hd_options_free().
 * NULL: no memory. */
struct hd_options *hd_options_new(const struct hd_option *table, unsigned count);

/* NULL is allowed. */
void hd_options_free(struct hd_options *options);

/* Whether two names are one: - and _ are the same, because options of commands have the first and keys of files the
 * second. */
bool hd_option_same_name(const char *a, const char *b);

/* Sets an option by its name and the text of its value, which is copied. Errors: -ENOENT no such
 * option (suggests the nearest or lists all), -EINVAL or -ERANGE a bad value (says what is
 * allowed), what validate() returned, -ENOMEM. A failed set changes nothing. */
int hd_options_set(struct hd_options *options, const char *name, const char *text,
		   struct hd_error *err);

/* The same from "name=value". Errors: also -EINVAL no name or no =. */
int hd_options_set_pair(struct hd_options *options, const char *pair, struct hd_error *err);

/*
 * The same from "name=value,name=value". A piece without '=' belongs to the value before it, so
 * that a value can be a list: "grid=4,4,periodic=no". The function changes `pairs`; NULL sets
 * nothing. Errors: also -EINVAL for a name that is given twice.
 */
int hd_options_set_pairs(struct hd_options *options, char *pairs, struct hd_error *err);

/* 0 if all required options were given. Else -EINVAL, with the name of the first that is
 * missing. */
int hd_options_complete(const struct hd_options *options, struct hd_error *err);

/* Value by name; the name must be in the table. Valid until the next set or free. */
const struct hd_option_value *hd_options_get(const struct hd_options *options, const char *name);

/* The given options as "name=value name=value" into buffer; always terminated. */
void hd_options_print(const struct hd_options *options, char *buffer, int size);

#ifdef __cplusplus
}
#endif

#endif
