/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "catalogue.h"
#include "ebb_report.h"
#include "message.h"
#include "need.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A name without a folder that is not here may be that of an example. */
static int read_file(struct ebb_application *application, struct hd_error *err)
{
	char name[NAME_MAX + sizeof("examples/")], example[PATH_MAX];

	if (!strchr(application->path, '/') && access(application->path, F_OK)) {
		snprintf(name, sizeof(name), "examples/%s", application->path);
		catalogue_shipped_path(name, example, sizeof(example));
		if (!access(example, F_OK))
			return hd_application_read(example, &application->file, err);
	}
	return hd_application_read(application->path, &application->file, err);
}

int ebb_application_load(struct ebb_application *application, bool measured, struct hd_error *err)
{
	int rc = read_file(application, err);

	if (rc)
		return rc;
	uint32_t count = application->file->count;
	application->bandwidth = need(calloc(count, sizeof(*application->bandwidth)));
	if (!measured) {
		const struct hd_application *file = application->file;
		for (uint32_t i = 0; i < file->count; i++) {
			if (file->parts[i].bandwidth == 0)
				return hd_error_set(
				    err, -EINVAL,
				    "%s:%u: pattern %s has no bandwidth; without FABRIC each "
				    "line needs one",
				    application->path, file->parts[i].line, file->parts[i].text);
			application->bandwidth[i] = file->parts[i].bandwidth;
		}
		return 0;
	}
	application->parts = need(calloc(count, sizeof(*application->parts)));
	return 0;
}

int ebb_application_note(struct ebb_application *application, uint32_t index,
			 const struct hd_congestion_request *request,
			 const struct hd_congestion_report *report, struct hd_error *err)
{
	struct ebb_part *part = &application->parts[index];
	int rc = hd_pattern_crossbar(request->pattern, request->ranks, request->mapping,
				     request->seed, report->patterns, &part->crossbar, err);

	if (rc)
		return rc;
	part->mean = report->mean;
	part->half_width = report->half_width;
	part->patterns = report->patterns;
	part->broken = report->broken;
	/* without the routes that are broken the others may have more than on a crossbar */
	double bandwidth = part->mean / part->crossbar;
	application->bandwidth[index] = bandwidth < 1 ? bandwidth : 1;
	return 0;
}

void ebb_application_release(struct ebb_application *application)
{
	free(application->bandwidth);
	free(application->parts);
	hd_application_free(application->file);
}

static double saved_by(const struct ebb_application *application, uint32_t index)
{
	return application->file->parts[index].share * (1 - application->bandwidth[index]);
}

static void print_setting(const struct ebb_application_view *view)
{
	const struct hd_application *file = view->application->file;
	const struct workload *workload = view->workload;

	printf("application %s: %" PRIu32 " pattern%s, %.2f%% of the run time\n",
	       view->application->path, file->count, file->count == 1 ? "" : "s",
	       100 * file->communication);
	if (!view->fabric_path) {
		printf("bandwidth   as the file says\n");
		return;
	}
	printf("fabric      %s: %" PRIu32 " hosts, %" PRIu32 " ranks, map %s, seed %" PRIu64 "%s\n",
	       view->fabric_path, view->ranks->fabric->host_count, view->ranks->count,
	       workload_map_name(workload), workload->seed, workload_lids_remark(workload));
	printf("tables      %s\n", view->tables_name);
	printf("bandwidth   mean of 1/pi, against that of one crossbar for all hosts\n");
}

static json_t *part_json(const struct ebb_application *application, uint32_t index)
{
	const struct hd_application_part *part = &application->file->parts[index];
	json_t *value = json_pack(
	    "{s:f, s:o, s:f, s:f}", "share", part->share, "pattern", json_value_text(part->text),
	    "bandwidth", application->bandwidth[index], "time_saved", saved_by(application, index));

	if (part->bandwidth > 0)
		value = json_value_set(value, "bandwidth_in_file", json_real(part->bandwidth));
	if (!application->parts)
		return value;
	const struct ebb_part *measured = &application->parts[index];
	value = json_value_set(value, "mean", json_real(measured->mean));
	value = json_value_set(value, "half_width_99", json_real(measured->half_width));
	value = json_value_set(value, "crossbar", json_real(measured->crossbar));
	value = json_value_set(value, "patterns", json_integer((json_int_t)measured->patterns));
	return json_value_set(value, "broken", json_integer((json_int_t)measured->broken));
}

static json_t *view_json(const struct ebb_application_view *view)
{
	const struct ebb_application *application = view->application;
	double left = hd_application_time_left(application->file, application->bandwidth);
	json_t *parts = json_array();

	for (uint32_t i = 0; i < application->file->count; i++)
		parts = json_value_append(parts, part_json(application, i));
	json_t *all = json_pack("{s:o, s:f, s:f, s:f, s:o}", "application",
				json_value_text(application->path), "communication",
				application->file->communication, "time_left", left, "speedup",
				1 / left, "parts", parts);
	if (!view->fabric_path)
		return all;
	all = json_value_set(all, "fabric", json_value_text(view->fabric_path));
	all = json_value_set(all, "tables", json_value_text(view->tables_name));
	all =
	    json_value_set(all, "hosts", json_integer((json_int_t)view->ranks->fabric->host_count));
	all = json_value_set(all, "ranks", json_integer((json_int_t)view->ranks->count));
	all = json_value_set(all, "map", json_value_text(workload_map_name(view->workload)));
	all = json_value_set(all, "lids", json_value_text(workload_lids_name(view->workload)));
	all = json_value_set(all, "seed", json_integer((json_int_t)view->workload->seed));
	return json_value_set(all, "broken_routes", json_integer((json_int_t)view->broken_routes));
}

static void print_csv(const struct ebb_application_view *view)
{
	const struct ebb_application *application = view->application;
	struct csv csv = csv_begin(
	    stdout,
	    "application,fabric,tables,seed,pattern,share,bandwidth,half_width_99,time_left");

	for (uint32_t i = 0; i < application->file->count; i++) {
		csv_text(&csv, application->path);
		if (application->parts) {
			csv_text(&csv, view->fabric_path);
			csv_text(&csv, view->tables_name);
			csv_number(&csv, view->workload->seed);
		} else {
			csv_empty(&csv);
			csv_empty(&csv);
			csv_empty(&csv);
		}
		csv_text(&csv, application->file->parts[i].text);
		csv_real(&csv, application->file->parts[i].share);
		csv_real(&csv, application->bandwidth[i]);
		if (application->parts)
			csv_real(&csv, application->parts[i].half_width);
		else
			csv_empty(&csv);
		csv_real(&csv, hd_application_time_left(application->file, application->bandwidth));
		csv_end_row(&csv);
	}
}

int ebb_application_show(const struct ebb_application_view *view)
{
	int status = view->broken_routes ? STATUS_FAULTS : STATUS_CLEAN;

	if (view->workload->json)
		return json_value_print(view_json(view), status);
	if (view->workload->csv)
		print_csv(view);
	else {
		const struct ebb_application *application = view->application;
		double left = hd_application_time_left(application->file, application->bandwidth);
		print_setting(view);
		printf("\n   share  bandwidth     saved%s  pattern\n",
		       application->parts ? "   the file" : "");
		for (uint32_t i = 0; i < application->file->count; i++) {
			const struct hd_application_part *part = &application->file->parts[i];
			printf("%7.2f%%  %9.4f  %7.2f%%", 100 * part->share,
			       application->bandwidth[i], 100 * saved_by(application, i));
			if (application->parts && part->bandwidth > 0)
				printf("  %9.4f", part->bandwidth);
			else if (application->parts)
				printf("  %9s", "-");
			printf("  %s\n", part->text);
		}
		printf("\ntime left   %.2f%% of today's if all patterns had full bandwidth: %.3f "
		       "times as "
		       "fast\n",
		       100 * left, 1 / left);
		if (view->broken_routes)
			printf("\n%" PRIu64
			       " routes between hosts are broken; all figures are for the others "
			       "(`heddle ebb` without --application lists them)\n",
			       view->broken_routes);
	}
	return status;
}
