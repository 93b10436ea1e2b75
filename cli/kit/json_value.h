/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* JSON values that are complete, or NULL when memory is short. */
#ifndef CLI_JSON_VALUE_H
#define CLI_JSON_VALUE_H

#include <jansson.h>
#include <stdint.h>

/*
 * Prints to stdout and releases `value`. Returns `status`, or STATUS_BAD after a message if value
 * is NULL (no memory) or cannot be written completely.
 */
int json_value_print(json_t *value, int status);

/*
 * A list with one more value, an object with one more entry; both take over what they are given.
 * If either is NULL or memory is short, they release everything and return NULL, because a value
 * with a part missing would be wrong.
 */
json_t *json_value_append(json_t *list, json_t *value);
json_t *json_value_set(json_t *object, const char *key, json_t *value);

/* A string. A text that is not UTF-8 takes its plain form, see heddle/base/plain.h. */
json_t *json_value_text(const char *text);

/* "0x0002c90300001234" */
json_t *json_value_guid(uint64_t guid);

#endif
