/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "doctor_site.h"
#include "json_value.h"
#include "need.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const char *const severity_names[DOCTOR_SEVERITIES] = {"note", "warning", "error"};

/* Appends to a list that is made when it is first needed. */
static void append(json_t **list, json_t *value)
{
	if (!*list)
		*list = need(json_array());
	need(*list = json_value_append(*list, value));
}

void doctor_report_begin(struct doctor_report *report, const char *check)
{
	report->check = check;
	report->made++;
	append(&report->checks, json_pack("{s:s, s:b}", "name", check, "made", 1));
}

void doctor_report_skip(struct doctor_report *report, const char *format, ...)
{
	json_t *check = json_array_get(report->checks, json_array_size(report->checks) - 1);
	char reason[HD_ERROR_TEXT];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(reason, sizeof(reason), format, arguments);
	va_end(arguments);
	report->made--;
	report->unmade++;
	json_object_set_new(check, "made", json_false());
	json_object_set_new(check, "reason", need(json_value_text(reason)));
}

void doctor_report_add(struct doctor_report *report, enum doctor_severity severity,
		       const char *where, const char *mend, const char *format, ...)
{
	json_t *finding =
	    json_pack("{s:s, s:s}", "severity", severity_names[severity], "check", report->check);
	char text[HD_ERROR_TEXT];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	finding = json_value_set(finding, "where", json_value_text(where));
	finding = json_value_set(finding, "text", json_value_text(text));
	finding = json_value_set(finding, "mend", json_value_text(mend));
	append(&report->findings, finding);
	report->counts[severity]++;
}

static const char *text_of(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? text : "";
}

static bool is_of(const json_t *finding, enum doctor_severity severity)
{
	return !strcmp(text_of(finding, "severity"), severity_names[severity]);
}

/* Those of one severity; of each check not all. */
static void print_findings(const struct doctor_report *report, enum doctor_severity severity)
{
	const char *check = "";
	unsigned shown = 0, left = 0;

	for (size_t i = 0; i <= json_array_size(report->findings); i++) {
		const json_t *finding = json_array_get(report->findings, i);
		if (finding && !is_of(finding, severity))
			continue;
		if (!finding || strcmp(check, text_of(finding, "check")) != 0) {
			if (left)
				printf("%-8s %s: %u more; --json lists all\n",
				       severity_names[severity], check, left);
			check = text_of(finding, "check");
			shown = left = 0;
		}
		if (!finding)
			break;
		if (shown++ < DOCTOR_SHOWN) {
			const char *where = text_of(finding, "where"),
				   *mend = text_of(finding, "mend");
			printf("%-8s %s%s%s\n", text_of(finding, "severity"), where,
			       *where ? ": " : "", text_of(finding, "text"));
			if (*mend)
				printf("         mend: %s\n", mend);
		} else
			left++;
	}
}

static const char *plural_end(unsigned count)
{
	return count == 1 ? "" : "s";
}

void doctor_report_print(const struct doctor_report *report)
{
	json_t *check;
	size_t i;

	for (unsigned severity = DOCTOR_SEVERITIES; severity-- > 0;)
		print_findings(report, severity);
	json_array_foreach(report->checks, i, check)
	{
		if (!json_is_true(json_object_get(check, "made")))
			printf("not made %s: %s\n", text_of(check, "name"),
			       text_of(check, "reason"));
	}
	const unsigned errors = report->counts[DOCTOR_ERROR];
	const unsigned warnings = report->counts[DOCTOR_WARNING];
	printf("%u error%s, %u warning%s; %u check%s made, %u not made\n", errors,
	       plural_end(errors), warnings, plural_end(warnings), report->made,
	       plural_end(report->made), report->unmade);
}

static json_t *list_of(json_t *list)
{
	return list ? json_incref(list) : json_array();
}

json_t *doctor_report_json(const struct doctor_report *report)
{
	return json_pack("{s:i, s:i, s:o, s:o}", "errors", (int)report->counts[DOCTOR_ERROR],
			 "warnings", (int)report->counts[DOCTOR_WARNING], "findings",
			 list_of(report->findings), "checks", list_of(report->checks));
}

const char *doctor_report_first(const struct doctor_report *report, enum doctor_severity severity)
{
	json_t *finding;
	size_t i;

	json_array_foreach(report->findings, i, finding)
	{
		if (is_of(finding, severity))
			return text_of(finding, "text");
	}
	return NULL;
}

void doctor_report_release(struct doctor_report *report)
{
	json_decref(report->findings);
	json_decref(report->checks);
	*report = (struct doctor_report){.check = NULL};
}
