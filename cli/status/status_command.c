/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* heddle status: asks the plugin in a running OpenSM how it is. */
#include "commands.h"
#include "json_value.h"
#include "message.h"
#include "need.h"
#include "plugin_answer.h"
#include "shared_arguments.h"

#include <errno.h>
#include <heddle/base/plain.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* What `heddle status` prints of the plugin's answer. */

#define FORMAT 1
#define COLUMN 10 /* width of the names of parts, at least */

/* The parts that come first. The others follow in the order of the plugin. */
static const char *const first_parts[] = {"subnet", "engines", "fabric", "load", "balance"};

#define FIRST_COUNT (sizeof(first_parts) / sizeof(first_parts[0]))

static const char *text_of(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? text : "";
}

static json_int_t number_of(const json_t *object, const char *key)
{
	return json_integer_value(json_object_get(object, key));
}

static const json_t *part_of(const json_t *answer, const char *name)
{
	return json_object_get(json_object_get(answer, "parts"), name);
}

/* Whether the answer is one that this command understands: status_show_*() rely on that. */
static bool status_show_understands(const json_t *answer)
{
	return number_of(answer, "format") == FORMAT && json_is_object(part_of(answer, "subnet")) &&
	       json_is_object(part_of(answer, "engines")) &&
	       json_is_integer(json_object_get(answer, "fault_count"));
}

/* The number of faults that it lists. */
static json_int_t status_show_faults(const json_t *answer)
{
	return number_of(answer, "fault_count");
}

static void print_duration(json_int_t seconds)
{
	static const struct {
		json_int_t seconds;
		const char *name;
	} units[] = {{86400, "day"}, {3600, "hour"}, {60, "minute"}, {1, "second"}};
	unsigned unit = 0;

	if (seconds < 0)
		seconds = 0;
	while (unit < 3 && seconds < 2 * units[unit].seconds)
		unit++;
	json_int_t count = seconds / units[unit].seconds;
	printf("%" JSON_INTEGER_FORMAT " %s%s", count, units[unit].name, count == 1 ? "" : "s");
}

static void print_since(json_int_t time, time_t now)
{
	if (!time)
		return;
	printf(", ");
	print_duration((json_int_t)now - time);
	printf(" ago");
}

/* A list of the part, each thing on a line below that of the part. all: how many there are. */
static void print_list(const json_t *part, const char *name, json_int_t all, int column)
{
	const json_t *list = json_object_get(part, name);
	const json_int_t more = all - (json_int_t)json_array_size(list);

	for (size_t i = 0; i < json_array_size(list); i++) {
		printf("%-*s%s: ", column, "", name);
		hd_plain_print(text_of(json_array_get(list, i), "text"), stdout);
		putchar('\n');
	}
	if (more > 0)
		printf("%-*s%s: %" JSON_INTEGER_FORMAT " more\n", column, "", name, more);
}

/* What the fabric has lost, what is drained, and what counters say. */
static void print_lists(const json_t *part, int column)
{
	print_list(part, "lost", number_of(part, "lost_switches") + number_of(part, "lost_cables"),
		   column);
	if (json_is_array(json_object_get(part, "drained")))
		print_list(part, "drained", number_of(part, "count"), column);
	print_list(part, "busy", number_of(part, "busy_links"), column);
	if (json_is_array(json_object_get(part, "errors")))
		print_list(part, "errors", number_of(part, "ports_with_errors"), column);
}

static void print_part(const char *name, const json_t *part, int column, time_t now)
{
	char plain[2 * COLUMN];

	printf("%-*s ", column - 1, hd_plain(name, plain, sizeof(plain)));
	hd_plain_print(text_of(part, "summary"), stdout);
	print_since(number_of(part, "last_sweep"), now);
	print_since(number_of(part, "written"), now);
	putchar('\n');
	/* The line of OpenSM's log on the last tables. */
	const char *line = text_of(part, "line");
	if (*line) {
		printf("%-*s", column, "");
		hd_plain_print(line, stdout);
		print_since(number_of(part, "time"), now);
		putchar('\n');
	}
	print_lists(part, column);
}

/* Wide enough for the longest name. */
static int column_of(json_t *parts)
{
	int column = COLUMN;
	const char *name;
	json_t *part;

	json_object_foreach(parts, name, part)
	{
		const int width = (int)strnlen(name, 2 * COLUMN) + 1;
		column = width > column ? width : column;
	}
	return column;
}

static bool is_first(const char *name)
{
	for (unsigned i = 0; i < FIRST_COUNT; i++)
		if (!strcmp(name, first_parts[i]))
			return true;
	return false;
}

static void print_verdict(const json_t *answer)
{
	json_t *parts = json_object_get(answer, "parts"), *part;
	const char *name;

	if (strcmp(text_of(part_of(answer, "subnet"), "state"), "master") != 0) {
		puts("\nThis OpenSM is not the master of the subnet: its figures may be old.");
		return;
	}
	if (!status_show_faults(answer)) {
		puts("\nAll is well.");
		return;
	}
	puts("\nDegraded:");
	json_object_foreach(parts, name, part)
	{
		const json_t *faults = json_object_get(part, "faults");
		for (size_t i = 0; i < json_array_size(faults); i++) {
			const char *text = json_string_value(json_array_get(faults, i));
			printf("  ");
			hd_plain_print(name, stdout);
			printf(": ");
			hd_plain_print(text ? text : "", stdout);
			putchar('\n');
		}
	}
}

static const char *first_fault(const json_t *answer)
{
	json_t *parts = json_object_get(answer, "parts"), *part;
	const char *name;

	json_object_foreach(parts, name, part)
	{
		const json_t *fault = json_array_get(json_object_get(part, "faults"), 0);
		if (fault)
			return json_string_value(fault);
	}
	return NULL;
}

static enum nagios_status nagios_status_of(const json_t *answer)
{
	if (json_array_size(json_object_get(part_of(answer, "engines"), "faults")))
		return NAGIOS_CRITICAL;
	return status_show_faults(answer) ? NAGIOS_WARNING : NAGIOS_OK;
}

/* One line. Critical: not the first engine of routing_engine routes; a warning: any other fault. */
static enum nagios_status status_show_nagios(const json_t *answer)
{
	const json_t *subnet = part_of(answer, "subnet"), *fabric = part_of(answer, "fabric");
	const enum nagios_status status = nagios_status_of(answer);
	const char *fault = first_fault(answer);

	message_nagios_begin(status);
	message_nagios_text(text_of(subnet, "state"));
	printf(", ");
	message_nagios_text(text_of(part_of(answer, "engines"), "summary"));
	if (fault) {
		printf("; ");
		message_nagios_text(fault);
	}
	/* LABEL=VALUE;WARNING;CRITICAL;LEAST: a limit of 0 says that any larger value is one. */
	printf(" | faults=%" JSON_INTEGER_FORMAT ";0;;0 lost_switches=%" JSON_INTEGER_FORMAT
	       ";0;;0 lost_cables=%" JSON_INTEGER_FORMAT ";0;;0 switches=%" JSON_INTEGER_FORMAT
	       ";;;0 hosts=%" JSON_INTEGER_FORMAT ";;;0 largest_load=%" JSON_INTEGER_FORMAT
	       ";;;0 heavy_sweeps=%" JSON_INTEGER_FORMAT "c;;;0\n",
	       status_show_faults(answer), number_of(fabric, "lost_switches"),
	       number_of(fabric, "lost_cables"), number_of(fabric, "switches"),
	       number_of(fabric, "hosts"), number_of(part_of(answer, "load"), "largest"),
	       number_of(subnet, "heavy_sweeps"));
	return status;
}

struct status_job {
	struct plugin_address address;
	bool json, nagios;
};

static const struct argument arguments[] = {
    PLUGIN_ARGUMENTS(struct status_job, address),
    SHARED_JSON(struct status_job, json),
    {0, "nagios", NULL, "print one line for Nagios, and end with its statuses",
     ARGUMENT_FLAG(struct status_job, nagios)},
};

static const struct usage usage = {
    .synopsis = "heddle status [OPTION]...",
    .summary = "Asks the plugin in a running OpenSM how it is: which engine routes and why, the "
	       "last sweep, the largest load, what the fabric has lost, virtual lanes, adaptive "
	       "routing, the map to other subnets and routing keys.",
    .arguments = arguments,
    .count = sizeof(arguments) / sizeof(arguments[0]),
    .notes = "With --nagios the exit status is 0 OK, 1 WARNING, 2 CRITICAL or 3 UNKNOWN.",
    .statuses = {"all is well", "something is degraded", "bad usage, or no answer"},
};

/* Asks, and reads the answer into *out, to be released. */
static int ask(const struct status_job *job, json_t **out, struct hd_error *err)
{
	const char *path = job->address.socket ? job->address.socket : HD_STATUS_SOCKET;
	char *text;
	int rc = plugin_answer_get(&job->address, "status", &text, err);

	if (rc)
		return rc;
	json_t *answer = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
	free(text);
	if (status_show_understands(answer)) {
		*out = answer;
		return 0;
	}
	json_decref(answer);
	return hd_error_set(err, -EPROTO,
			    "%s: the answer is not one that this version of heddle understands",
			    path);
}

static int show(const struct status_job *job, json_t *answer)
{
	const int status = status_show_faults(answer) ? STATUS_FAULTS : STATUS_CLEAN;

	if (job->json)
		return json_value_print(json_incref(answer), status);
	if (job->nagios)
		return (int)status_show_nagios(answer);
	/* A line for each part, and the faults. `now` is Unix time. */
	time_t now = time(NULL);
	json_t *parts = json_object_get(answer, "parts"), *part;
	const int column = column_of(parts);
	const char *name;
	const json_t *subnet = part_of(answer, "subnet");
	printf("OpenSM ");
	hd_plain_print(text_of(subnet, "opensm"), stdout);
	printf(" with Heddle ");
	hd_plain_print(text_of(subnet, "heddle"), stdout);
	printf(", process %" JSON_INTEGER_FORMAT ", running for ", number_of(subnet, "pid"));
	print_duration((json_int_t)now - number_of(subnet, "started"));
	printf("\n\n");
	for (unsigned i = 0; i < FIRST_COUNT; i++)
		if (part_of(answer, first_parts[i]))
			print_part(first_parts[i], part_of(answer, first_parts[i]), column, now);
	json_object_foreach(parts, name, part)
	{
		if (!is_first(name))
			print_part(name, part, column, now);
	}
	print_verdict(answer);
	return status;
}

static int run(void *context, const struct operands *operands)
{
	const struct status_job *job = context;
	int status = arguments_expect(&usage, operands, "no operand", 0, 0);

	if (job->nagios)
		need_end = message_nagios_no_memory;
	if (!status && job->nagios && job->json)
		status = message_error("--nagios cannot be used with --json");
	if (!status) {
		struct hd_error err;
		json_t *answer = NULL;
		if (ask(job, &answer, &err))
			return job->nagios ? (int)message_nagios_unknown(err.text)
					   : message_fail(&err);
		status = show(job, answer);
		json_decref(answer);
		return status;
	}
	return job->nagios ? (int)message_nagios_unknown("bad usage; standard error has the reason")
			   : status;
}

int status_command(int argc, char **argv)
{
	struct status_job job = {.json = false};

	return arguments_run(&usage, argc, argv, &job, run);
}
