/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "status_report.h"

#include <errno.h>
#include <heddle/base/plain.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_SIZE 2048

static int open_text(struct status_text *text)
{
	text->stream = open_memstream(&text->text, &text->length);
	return text->stream ? 0 : -ENOMEM;
}

/* False: memory was short. The text is to be freed in any case. */
static bool close_text(struct status_text *text)
{
	bool complete = text->stream && !ferror(text->stream);

	if (text->stream && fclose(text->stream))
		complete = false;
	text->stream = NULL;
	return complete;
}

/* In plain form between quotes, as JSON and Prometheus both read it. */
static void print_quoted(FILE *stream, const char *text)
{
	char piece[HD_PLAIN_PIECE];

	fputc('"', stream);
	for (const char *end = text + strlen(text); text < end;) {
		hd_plain_next(&text, end, piece);
		for (const char *at = piece; *at; at++) {
			if (*at == '"' || *at == '\\')
				fputc('\\', stream);
			fputc(*at, stream);
		}
	}
	fputc('"', stream);
}

static void separate(struct status_report *report)
{
	if (report->comma)
		fputc(',', report->json.stream);
	report->comma = true;
}

static void print_key(struct status_report *report, const char *key)
{
	separate(report);
	fprintf(report->json.stream, "\"%s\":", key);
}

static void open_with(struct status_report *report, char bracket)
{
	fputc(bracket, report->json.stream);
	report->comma = false;
}

static void close_with(struct status_report *report, char bracket)
{
	fputc(bracket, report->json.stream);
	report->comma = true;
}

int status_report_begin(struct status_report *report, struct hd_error *err)
{
	*report = (struct status_report){0};
	if (open_text(&report->json) || open_text(&report->metrics) || open_text(&report->faults)) {
		status_report_end(report, NULL, NULL);
		return hd_error_no_memory(err);
	}
	fputs("{\"format\":1,\"parts\":", report->json.stream);
	open_with(report, '{');
	return 0;
}

static void end_section(struct status_report *report)
{
	if (!report->section)
		return;
	print_key(report, "faults");
	fflush(report->faults.stream);
	fprintf(report->json.stream, "[%.*s]", report->any_fault ? (int)report->faults.length : 0,
		report->faults.text);
	rewind(report->faults.stream);
	report->any_fault = false;
	report->section = NULL;
	close_with(report, '}');
}

static void complete(struct status_report *report)
{
	static const struct status_metric metric = {
	    "heddle_faults", "gauge", "Faults that heddle status lists; 0: all is well"};

	end_section(report);
	close_with(report, '}');
	print_key(report, "fault_count");
	fprintf(report->json.stream, "%u}\n", report->fault_count);
	status_report_metric(report, &metric, report->fault_count);
	fputs("# EOF\n", report->metrics.stream);
}

int status_report_end(struct status_report *report, struct status_answer *out, struct hd_error *err)
{
	if (out)
		complete(report);
	const bool faults = close_text(&report->faults);
	const bool json = close_text(&report->json);
	const bool metrics = close_text(&report->metrics);

	free(report->faults.text);
	if (out && faults && json && metrics) {
		*out = (struct status_answer){.json = report->json.text,
					      .metrics = report->metrics.text,
					      .json_length = report->json.length,
					      .metrics_length = report->metrics.length};
		return 0;
	}
	free(report->json.text);
	free(report->metrics.text);
	return hd_error_no_memory(err);
}

void status_report_section(struct status_report *report, const char *name)
{
	end_section(report);
	print_key(report, name);
	open_with(report, '{');
	report->section = name;
}

void status_report_text(struct status_report *report, const char *key, const char *format, ...)
{
	char text[TEXT_SIZE];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	print_key(report, key);
	print_quoted(report->json.stream, text);
}

void status_report_number(struct status_report *report, const char *key, uint64_t value)
{
	print_key(report, key);
	fprintf(report->json.stream, "%" PRIu64, value);
}

void status_report_real(struct status_report *report, const char *key, double value)
{
	print_key(report, key);
	fprintf(report->json.stream, "%.6f", value);
}

void status_report_flag(struct status_report *report, const char *key, bool value)
{
	print_key(report, key);
	fputs(value ? "true" : "false", report->json.stream);
}

void status_report_list(struct status_report *report, const char *key)
{
	print_key(report, key);
	open_with(report, '[');
}

void status_report_item(struct status_report *report)
{
	separate(report);
	open_with(report, '{');
}

void status_report_item_end(struct status_report *report)
{
	close_with(report, '}');
}

void status_report_list_end(struct status_report *report)
{
	close_with(report, ']');
}

void status_report_fault(struct status_report *report, const char *format, ...)
{
	char text[TEXT_SIZE];
	va_list arguments;

	if (report->is_quiet)
		return;
	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	if (report->any_fault)
		fputc(',', report->faults.stream);
	print_quoted(report->faults.stream, text);
	report->any_fault = true;
	report->fault_count++;
}

static void print_family(struct status_report *report, const struct status_metric *metric)
{
	if (report->family && !strcmp(report->family, metric->name))
		return;
	report->family = metric->name;
	fprintf(report->metrics.stream, "# HELP %s %s\n# TYPE %s %s\n", metric->name, metric->help,
		metric->name, metric->type);
}

void status_report_metric(struct status_report *report, const struct status_metric *metric,
			  double value)
{
	print_family(report, metric);
	fprintf(report->metrics.stream, "%s %.15g\n", metric->name, value);
}

void status_report_metric_with(struct status_report *report, const struct status_metric *metric,
			       const char *label, const char *text, double value)
{
	print_family(report, metric);
	fprintf(report->metrics.stream, "%s{%s=", metric->name, label);
	print_quoted(report->metrics.stream, text);
	fprintf(report->metrics.stream, "} %.15g\n", value);
}
