/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "option_json.h"
#include "json_value.h"

static const char *type_name(enum hd_option_type type)
{
	static const char *const names[] = {[HD_OPTION_INT] = "integer",
					    [HD_OPTION_BOOL] = "boolean",
					    [HD_OPTION_CHOICE] = "choice",
					    [HD_OPTION_INT_LIST] = "integer list",
					    [HD_OPTION_STRING] = "string"};

	return names[type];
}

static json_t *option_json(const struct hd_option *option)
{
	json_t *value =
	    json_pack("{s:s, s:s, s:s, s:s?}", "name", option->name, "summary", option->summary,
		      "type", type_name(option->type), "default", option->fallback);

	if (option->type == HD_OPTION_INT || option->type == HD_OPTION_INT_LIST) {
		value = json_value_set(value, "minimum", json_integer(option->minimum));
		value = json_value_set(value, "maximum", json_integer(option->maximum));
	}
	if (option->type == HD_OPTION_CHOICE)
		value = json_value_set(value, "choices", json_string(option->choices));
	return value;
}

json_t *option_json_described(const char *name, const char *summary,
			      const struct hd_option *options, unsigned count)
{
	json_t *list = json_array();

	for (unsigned i = 0; i < count; i++)
		list = json_value_append(list, option_json(&options[i]));
	return json_pack("{s:s, s:s, s:o}", "name", name, "summary", summary, "options", list);
}
