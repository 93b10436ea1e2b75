/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "json_value.h"
#include "message.h"

#include <errno.h>
#include <heddle/base/plain.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int json_value_print(json_t *value, int status)
{
	if (!value)
		return message_no_memory();
	errno = 0;
	int rc = json_dumpf(value, stdout, JSON_INDENT(2));
	json_decref(value);
	if (rc)
		return message_error("cannot write standard output: %s",
				     strerror(errno ? errno : ENOMEM));
	putchar('\n');
	return status;
}

json_t *json_value_append(json_t *list, json_t *value)
{
	if (!json_array_append_new(list, value))
		return list;
	json_decref(list);
	return NULL;
}

json_t *json_value_set(json_t *object, const char *key, json_t *value)
{
	if (!json_object_set_new(object, key, value))
		return object;
	json_decref(object);
	return NULL;
}

json_t *json_value_text(const char *text)
{
	json_t *value = json_string(text);

	if (value)
		return value;
	char *plain = hd_plain_copy(text);
	value = plain ? json_string(plain) : NULL;
	free(plain);
	return value;
}

json_t *json_value_guid(uint64_t guid)
{
	char text[20];

	snprintf(text, sizeof(text), "0x%016" PRIx64, guid);
	return json_string(text);
}
