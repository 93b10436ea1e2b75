/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "check_nagios.h"

#include <inttypes.h>
#include <stdio.h>

static enum nagios_status status_of(const struct check_view *view)
{
	if (!hd_check_clean(view->report) || (view->adaptive && !view->adaptive->clean))
		return NAGIOS_CRITICAL;
	return view->defects->count ? NAGIOS_WARNING : NAGIOS_OK;
}

static void print_number(uint64_t count, const char *one, const char *many)
{
	if (count)
		printf(", %" PRIu64 " %s", count, count == 1 ? one : many);
}

static void print_findings(const struct check_view *view)
{
	const struct hd_check_report *report = view->report;

	print_number(report->no_route, "path without route", "paths without route");
	print_number(report->dead_end, "dead end", "dead ends");
	print_number(report->loop, "loop", "loops");
	print_number(report->credit_loops, "lane with a credit loop", "lanes with credit loops");
	print_number(view->defects->count, "defect of the files", "defects of the files");
	if (view->adaptive && !view->adaptive->clean)
		fputs(", the plan of adaptive routing is wrong", stdout);
}

/* LABEL=VALUE;WARNING;CRITICAL;LEAST: a limit of 0 says that any larger value is one. */
static void print_data(const struct check_view *view)
{
	const struct hd_check_report *report = view->report;

	printf(" | no_route=%" PRIu64 ";;0;0 dead_ends=%" PRIu64 ";;0;0 loops=%" PRIu64
	       ";;0;0 credit_loops=%" PRIu32 ";;0;0 defects=%" PRIu64 ";0;;0",
	       report->no_route, report->dead_end, report->loop, report->credit_loops,
	       view->defects->count);
	printf(" paths=%" PRIu64 ";;;0 hosts=%" PRIu32 ";;;0 switches=%" PRIu32
	       ";;;0 largest_load=%" PRIu64 ";;;0 longest_path=%" PRIu32 ";;;0\n",
	       report->paths, view->fabric->host_count, view->fabric->switch_count,
	       report->flows_max, report->max_hops);
}

enum nagios_status check_nagios_print(const struct check_view *view)
{
	enum nagios_status status = status_of(view);

	nagios_begin(status);
	nagios_print_text(view->fabric_path);
	printf(": %" PRIu64 " paths checked", view->report->paths);
	print_findings(view);
	print_data(view);
	return status;
}
