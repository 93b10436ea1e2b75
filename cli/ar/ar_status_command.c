/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* heddle ar status and heddle ar diff: what the switches really hold. */
#include "ar_held_plan.h"
#include "ar_status_report.h"
#include "commands.h"
#include "json_value.h"
#include "message.h"
#include "output.h"
#include "status.h"

#include <heddle/config/values.h>

#define ENDINGS                                                                                    \
	{                                                                                          \
		"all switches hold the plan",                                                      \
		    "entries differ, a switch could not be read, or the plan is refused",          \
		    "bad input or usage, or no adapter can be opened"                              \
	}
#define NOTES                                                                                      \
	"FABRIC: the output of ibnetdiscover, with the LIDs of the switches.\n"                    \
	"TABLES: forwarding tables and service levels, in files or folders of files.\n"            \
	"The switches are asked by MADs, which needs the rights of root.\n"                        \
	"If heddle.conf changes adaptive routing, give it, too: --config " HD_CONFIG_PATH

static const struct argument status_arguments[] = {
    AR_LIVE_ARGUMENTS,
    {0, "raw", NULL, "print the attributes of each switch as they travel, too",
     ARGUMENT_FLAG(struct ar_live, raw)},
    {'o', "output", "FILE", "write what the switches hold, as a plan for other commands",
     ARGUMENT_TEXT(struct ar_live, output)},
    SHARED_NAME_MAP(struct ar_live, job.name_map),
    SHARED_THREADS(struct ar_live, job.threads),
    SHARED_JSON(struct ar_live, job.json),
    SHARED_VERBOSE(struct ar_live, job.verbose),
};

static const struct usage status_usage = {
    .synopsis = "heddle ar status [OPTION]... FABRIC TABLES...\n"
		"   or: heddle ar status [OPTION]... -e NAME[:KEY=VALUE,...] FABRIC",
    .summary = "Asks the switches which adaptive routing they have, and compares with the plan.",
    .arguments = status_arguments,
    .count = sizeof(status_arguments) / sizeof(status_arguments[0]),
    .notes = NOTES,
    .statuses = ENDINGS,
};

static const struct argument diff_arguments[] = {
    AR_LIVE_ARGUMENTS,
    SHARED_NAME_MAP(struct ar_live, job.name_map),
    SHARED_THREADS(struct ar_live, job.threads),
    SHARED_JSON(struct ar_live, job.json),
    SHARED_VERBOSE(struct ar_live, job.verbose),
};

static const struct usage diff_usage = {
    .synopsis = "heddle ar diff [OPTION]... FABRIC TABLES...\n"
		"   or: heddle ar diff [OPTION]... -e NAME[:KEY=VALUE,...] FABRIC",
    .summary = "Asks the switches which adaptive routing they have, and lists each entry that "
	       "differs\nfrom the plan.",
    .arguments = diff_arguments,
    .count = sizeof(diff_arguments) / sizeof(diff_arguments[0]),
    .notes = NOTES,
    .statuses = ENDINGS,
};

/* Reads the switches; STATUS_BAD after a message, else whether they differ. */
static int read_switches(struct ar_live *live, const struct usage *usage,
			 const struct operands *operands)
{
	struct hd_error err = {""};
	int status = table_source_take_operands(&live->job.tables, usage, operands, 0,
						"FABRIC and TABLES (with -e: FABRIC)");

	if (status)
		return status;
	live->job.fabric_path = operands->items[0];
	if (ar_live_read(live, &err))
		return message_fail(&err);
	if (!live->job.plan || ar_status_report_unread(live))
		return STATUS_FAULTS;
	return ar_status_report_differences(live) ? STATUS_FAULTS : STATUS_CLEAN;
}

static int write_held(const struct ar_live *live)
{
	struct output output;
	struct hd_error err;
	int rc = output_open(&output, live->output, &err);

	if (!rc) {
		rc = ar_held_plan_write(live, output.stream, &err);
		rc = output_close_all(&output, 1, rc, &err);
	}
	return rc ? message_fail(&err) : 0;
}

static int run_status(void *context, const struct operands *operands)
{
	struct ar_live *live = context;
	int status = output_refuse("output", live->output, (const char *const *)operands->items,
				   operands->count);

	if (!status)
		status = read_switches(live, &status_usage, operands);
	if (status == STATUS_BAD || (live->output && write_held(live)))
		return STATUS_BAD;
	if (live->job.json)
		return json_value_print(ar_status_report_json(live), status);
	ar_status_report_print(live);
	return status;
}

static int run_diff(void *context, const struct operands *operands)
{
	struct ar_live *live = context;
	int status = read_switches(live, &diff_usage, operands);

	if (status == STATUS_BAD)
		return status;
	if (live->job.json)
		return json_value_print(ar_status_report_differences_json(live), status);
	if (!live->job.plan)
		message_error("there is no plan: %s", live->job.refusal.text);
	ar_status_report_print_differences(live);
	if (ar_status_report_unread(live))
		message_error("%u switches could not be read", ar_status_report_unread(live));
	return status;
}

int ar_status(int argc, char **argv)
{
	struct ar_live live = AR_LIVE_DEFAULTS;
	int status = arguments_run(&status_usage, argc, argv, &live, run_status);

	ar_live_release(&live);
	return status;
}

int ar_diff(int argc, char **argv)
{
	struct ar_live live = AR_LIVE_DEFAULTS;
	int status = arguments_run(&diff_usage, argc, argv, &live, run_diff);

	ar_live_release(&live);
	return status;
}
