/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* heddle ar status and heddle ar diff: what the switches really hold. */
#include "ar_job.h"
#include "commands.h"
#include "json_value.h"
#include "message.h"
#include "output.h"

#include <errno.h>
#include <heddle/config.h>
#include <inttypes.h>
#include <stdio.h>

/* What the switches hold, as a file for other commands. */

/* A switch while it is written. */
struct writing {
	const struct ar_live *live;
	FILE *stream;
	struct hd_error *err;
	uint32_t sw, tables; /* tables: of each switch in the file */
	struct hd_ar_switch_report report;
	bool on; /* it has adaptive routing */
};

static bool is_on(const struct hd_ar_switch_report *report)
{
	return report->standing >= HD_AR_ABLE && report->info.enabled;
}

static void write_ports(FILE *stream, uint32_t group, uint32_t sub, const struct hd_port_set *ports)
{
	fprintf(stream, "%u - %u :", group, sub);
	HD_PORT_SET_FOREACH(port, ports)
		fprintf(stream, " %u,", port);
	fputc('\n', stream);
}

static int refuse(const struct writing *writing, uint32_t lid, int rc, const char *why)
{
	return hd_error_set(writing->err, rc, "switch 0x%016" PRIx64 ", LID %u: %s",
			    writing->report.guid, lid, why);
}

static void write_static(FILE *stream, uint32_t lid, uint8_t port)
{
	fprintf(stream, "0x%04x : %u : static : -\n", lid, port);
}

/* An entry of a switch that has adaptive routing. `port` is that of the forwarding table. */
static int write_held_plan(const struct writing *writing, uint32_t table, uint32_t lid,
			   uint8_t port)
{
	const struct hd_ar_image *held = writing->report.held;
	const struct ar_effect effect = ar_differences_held(&writing->report, table, lid);

	if (!effect.known)
		return port == HD_NO_PORT ? 0
					  : refuse(writing, lid, -ENODATA,
						   "its entry for adaptive routing was not read");
	if (effect.state == HD_AR_HASH_BASED)
		return refuse(writing, lid, -ENOTSUP,
			      "a hash chooses its port, and a plan cannot express that");
	if (effect.state != HD_AR_STATIC)
		fprintf(writing->stream, "0x%04x : %u : %s : %u\n", lid,
			held->form == HD_AR_FORM_OLD ? port : effect.port,
			hd_ar_state_name(effect.state), effect.group);
	else if (effect.port != held->quirks.unreachable_port)
		write_static(writing->stream, lid, effect.port);
	return 0;
}

static int write_switch(struct writing *writing)
{
	const struct hd_fabric *fabric = writing->live->job.fabric;
	int rc = 0;

	writing->report = ar_live_report(writing->live, writing->sw);
	writing->on = is_on(&writing->report);
	if (writing->on && !writing->report.held)
		return hd_error_set(writing->err, -ENODATA,
				    "switch 0x%016" PRIx64
				    " has adaptive routing, but the plan has none for it, so its "
				    "tables were not read",
				    writing->report.guid);
	for (uint32_t table = 0; !rc && table < writing->tables; table++) {
		fprintf(writing->stream, "Switch 0x%016" PRIx64 " ('%s') table %u\n",
			writing->report.guid, fabric->node_name[writing->sw], table);
		/* Without private tables all sub-groups count as one, as in plans. */
		const struct hd_ar_switch_report *report = &writing->report;
		fputs("(Group - Sub-group) : Ports\n", writing->stream);
		for (uint32_t group = 0; writing->on && group <= report->info.group_top; group++) {
			struct hd_port_set ports = ar_differences_group(report, table, group);
			if (hd_port_set_is_empty(&ports))
				continue;
			if (writing->tables == 1) {
				write_ports(writing->stream, group, 0, &ports);
				continue;
			}
			for (uint32_t sub = 0; sub < HD_AR_SUB_GROUPS; sub++) {
				ports = ar_differences_sub_group(report, table, group, sub);
				write_ports(writing->stream, group, sub, &ports);
			}
		}
		const struct hd_routes *routes = writing->live->job.routes;
		fputs("LID : Static port : State : Group\n", writing->stream);
		for (uint32_t lid = 0; !rc && lid < routes->lid_count; lid++) {
			uint8_t port = routes->lft[(size_t)writing->sw * routes->stride + lid];
			if (writing->on)
				rc = write_held_plan(writing, table, lid, port);
			else if (port != HD_NO_PORT)
				write_static(writing->stream, lid, port);
		}
		fputc('\n', writing->stream);
	}
	return rc;
}

/* A file must have all switches. */
static int check_read(const struct ar_live *live, struct hd_error *err)
{
	if (!live->job.plan)
		return hd_error_set(err, -ENODATA, "no plan says what to read: %s",
				    live->job.refusal.text);
	for (uint32_t sw = 0; sw < live->job.fabric->switch_count; sw++)
		if (ar_status_report_is_unread(live, sw))
			return hd_error_set(
			    err, -ENODATA,
			    "switch 0x%016" PRIx64 " could not be read (unread switches: %u)",
			    ar_live_report(live, sw).guid, ar_status_report_unread(live));
	return 0;
}

/*
 * Writes a .far file of what was read, as hd_ar_write_far() writes a plan. Switches whose adaptive
 * routing is off have the entries of the forwarding tables that the command was given. Errors:
 * -ENODATA a switch could not be read, or no plan says what to read; -ENOTSUP an entry in a state
 * that no plan has; the errno of the stream.
 */
static int ar_held_plan_write(const struct ar_live *live, FILE *stream, struct hd_error *err)
{
	struct writing writing = {.live = live, .stream = stream, .err = err};
	int rc = check_read(live, err);

	if (rc)
		return rc;
	/* Tables of a switch with private ones; 1: no switch has any. */
	uint32_t tables = 1;
	for (uint32_t sw = 0; sw < live->job.fabric->switch_count; sw++) {
		const struct hd_ar_switch_report report = ar_live_report(live, sw);
		if (is_on(&report) && report.held && report.held->table_count > tables)
			tables = report.held->table_count;
	}
	writing.tables = tables;
	for (; !rc && writing.sw < live->job.fabric->switch_count; writing.sw++)
		rc = write_switch(&writing);
	return rc;
}

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
