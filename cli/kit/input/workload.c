/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "workload.h"
#include "catalogue.h"
#include "csv.h"
#include "interrupt.h"
#include "json_value.h"
#include "message.h"
#include "output.h"
#include "progress.h"

#include <errno.h>
#include <heddle/base/clock.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int choose_pattern(struct workload *workload, const char *text)
{
	struct catalogue_entry entry;
	struct hd_options *options;
	int status = catalogue_choose(&catalogue_patterns, text, &entry, &options);

	if (status)
		return status;
	hd_options_free(workload->options);
	workload->options = options;
	workload->kind = hd_pattern_find(entry.name);
	snprintf(workload->pattern_text, sizeof(workload->pattern_text), "%s", text);
	return 0;
}

int workload_take_pattern(const struct typed *typed, void *place)
{
	struct workload *workload = place;

	workload->pattern_given = true;
	return choose_pattern(workload, typed->text);
}

int workload_take_map(const struct typed *typed, void *place)
{
	struct workload *workload = place;
	bool random = !strcmp(typed->text, "random"), identity = !strcmp(typed->text, "identity");

	workload->mapping = random ? HD_MAP_RANDOM : HD_MAP_IDENTITY;
	workload->host_file = random || identity ? NULL : typed->text;
	return 0;
}

int workload_init(struct workload *workload, struct processes *processes)
{
	*workload = (struct workload){.mapping = HD_MAP_RANDOM,
				      .seed = 1,
				      .lmc = LMC_ANY,
				      .threads = processes->threads,
				      .processes = processes};
	return choose_pattern(workload, "bisect");
}

void workload_release(struct workload *workload)
{
	policy_arguments_release(&workload->policy);
	hd_options_free(workload->options);
}

int workload_refuse_output(const struct workload *workload, const char *option, const char *output,
			   const struct operands *operands)
{
	const struct hd_pattern_kind *kind = workload->kind;
	const char *const *inputs = (const char *const *)operands->items;
	int status = output_refuse(option, output, inputs, operands->count);

	if (!status)
		status = output_refuse(option, output, &workload->host_file, 1);
	if (!status)
		status = output_refuse(option, output, &workload->machines.file, 1);
	if (!status)
		status = output_refuse(option, output, &workload->policy.name_map, 1);
	if (!status)
		status = output_refuse(option, output, workload->policy.files, HD_POLICY_FILES);
	for (unsigned i = 0; !status && i < kind->option_count; i++) {
		const char *text = hd_options_get(workload->options, kind->options[i].name)->text;
		if (kind->options[i].type == HD_OPTION_STRING)
			status = output_refuse(option, output, &text, 1);
	}
	return status;
}

const char *workload_share_name(const struct workload *workload)
{
	return workload->fair		? "max-min fair share"
	       : workload->rate_weights ? "share by link rate"
					: "1/pi";
}

const char *workload_map_name(const struct workload *workload)
{
	if (workload->host_file)
		return workload->host_file;
	return workload->mapping == HD_MAP_RANDOM ? "random" : "identity";
}

const char *workload_lids_name(const struct workload *workload)
{
	static const char *const names[] = {
	    [HD_LIDS_BASE] = "base",	 [HD_LIDS_SOURCE] = "source",
	    [HD_LIDS_RANDOM] = "random", [HD_LIDS_ROTATE] = "rotate",
	    [HD_LIDS_SPREAD] = "spread", [HD_LIDS_PARALLEL] = "parallel"};

	return names[workload->lids];
}

const char *workload_members(const struct workload_on *on, char *text, size_t size)
{
	snprintf(text, size, "%" PRIu32 " %s", on->pattern->ranks,
		 on->pattern->adapters > 1 ? "machines" : "ranks");
	return text;
}

bool workload_machines(const struct workload_on *on, char *text, size_t size)
{
	const struct hd_ranks *ranks = on->ranks;
	int used;

	if (on->machines == HD_MACHINES_ALONE)
		return false;
	used = snprintf(text, size, "%" PRIu32 " of %" PRIu32 " adapter%s each, by %s",
			ranks->count / ranks->adapters, ranks->adapters,
			ranks->adapters == 1 ? "" : "s", hd_machines_source(on->machines));
	if (ranks->other_machines && used > 0 && (size_t)used < size)
		snprintf(text + used, size - (size_t)used,
			 "; %" PRIu32 " with another number left out", ranks->other_machines);
	return true;
}

const char *workload_lids_remark(const struct workload *workload)
{
	static const char *const remarks[] = {[HD_LIDS_BASE] = "",
					      [HD_LIDS_SOURCE] = ", LIDs by source",
					      [HD_LIDS_RANDOM] = ", LIDs at random",
					      [HD_LIDS_ROTATE] = ", LIDs round robin",
					      [HD_LIDS_SPREAD] = ", spread over all LIDs",
					      [HD_LIDS_PARALLEL] = ", over all LIDs in parallel"};

	return remarks[workload->lids];
}

const char *workload_pi_remark(const struct workload *workload)
{
	return hd_lids_divide(workload->lids) ? ", pi rounded up" : "";
}

#define FIRST_SHOWN 1.0 /* seconds */
#define SHOWN_EVERY 0.25

/* How many of `count` patterns with the same flows differ by the LIDs of their flows. */
static uint64_t different_lids(const struct workload *workload, const struct hd_fabric *fabric,
			       uint64_t count)
{
	if (workload->lids == HD_LIDS_RANDOM)
		return count;
	uint64_t turns =
	    workload->lids == HD_LIDS_ROTATE ? UINT64_C(1) << hd_fabric_largest_lmc(fabric) : 1;
	return turns < count ? turns : count;
}

/* Puts the ranks of machines together, for a pattern that is one of machines. */
static int place_machines(const struct workload *workload, struct workload_on *on,
			  struct hd_error *err)
{
	struct hd_machines *machines = NULL;
	int rc = machines_source_load(&workload->machines, on->ranks->fabric, &machines, err);

	if (!rc && workload->by_machine && machines->by == HD_MACHINES_ALONE)
		rc = hd_error_set(err, -ENODATA,
				  "option '--by-machine': no machine is known to have several "
				  "adapters (%s)",
				  machines->why);
	if (!rc)
		rc = hd_ranks_by_machine(on->ranks, machines, err);
	if (!rc)
		on->machines = machines->by;
	hd_machines_free(machines);
	return rc;
}

int workload_place(const struct workload *workload, const struct hd_fabric *fabric,
		   struct workload_on *out, struct hd_error *err)
{
	struct workload_on on = {.count = workload->count};
	int rc = workload->host_file
		     ? hd_ranks_read(fabric, workload->host_file, &on.ranks, err)
		     : hd_ranks_new(fabric, workload->aggregation_nodes, &on.ranks, err);

	if (!rc && (workload->by_machine || workload->kind->by_adapter))
		rc = place_machines(workload, &on, err);
	if (!rc)
		rc = hd_pattern_new(workload->kind, workload->options, on.ranks, &on.pattern, err);
	if (rc) {
		workload_on_release(&on);
		return rc;
	}
	if (!hd_pattern_varies(on.pattern, workload->mapping))
		on.count = different_lids(workload, fabric, on.count);
	*out = on;
	return 0;
}

void workload_on_release(struct workload_on *on)
{
	hd_pattern_free(on->pattern);
	hd_ranks_free(on->ranks);
}

struct hd_congestion_request workload_request(const struct workload *workload,
					      const struct workload_on *on,
					      const struct hd_routes *routes)
{
	return (struct hd_congestion_request){
	    .fabric = on->ranks->fabric,
	    .routes = routes,
	    .ranks = on->ranks,
	    .pattern = on->pattern,
	    .mapping = workload->mapping,
	    .lids = workload->lids,
	    .shares = workload->fair ? HD_SHARE_MAX_MIN : HD_SHARE_CONGESTION,
	    .rate_weights = workload->rate_weights,
	    .seed = workload->seed,
	    .patterns = on->count,
	    .threads = workload->threads,
	    .part = workload->processes->part,
	    .parts = workload->processes->parts,
	    .combine = processes_combine,
	};
}

/* A command may have many short runs: the line is about all of them. */
static double first_run, last_shown;

struct watch {
	const char *title;
	bool terminal;
	double begin;
	bool shown;
};

static int show_progress(void *context, const struct hd_congestion_progress *progress)
{
	struct watch *watch = context;
	double now = hd_clock_ms() / 1e3, passed = now - watch->begin;

	if (interrupt_came())
		return HD_CONGESTION_ENOUGH;
	if (!watch->terminal || now - first_run < FIRST_SHOWN || now - last_shown < SHOWN_EVERY)
		return 0;
	watch->shown = true;
	last_shown = now;
	progress_line(
	    "%s: %" PRIu64 " of %" PRIu64 " patterns, %.4f +- %.4f, %.0f s to go", watch->title,
	    progress->patterns, progress->wanted, progress->mean, progress->half_width,
	    passed * (double)(progress->wanted - progress->patterns) / (double)progress->patterns);
	return 0;
}

int workload_run(struct workload *workload, struct hd_congestion_request *request,
		 const char *title, struct hd_congestion_report **out, struct hd_error *err)
{
	struct watch watch = {
	    .title = title, .terminal = isatty(STDERR_FILENO), .begin = hd_clock_ms() / 1e3};

	if (workload->processes->parts <= 1)
		interrupt_catch();
	if (!first_run)
		first_run = watch.begin;
	request->progress = show_progress;
	request->progress_context = &watch;
	if (workload->processes->parts <= 1)
		request->go_on = interrupt_go_on;
	int rc = hd_congestion_run(request, out, err);
	if (watch.shown)
		progress_line("%s", "");
	workload->partial |= !rc && (*out)->partial;
	return rc;
}

void workload_print_partial(const struct workload *workload, const char *done)
{
	if (workload->partial)
		printf("\nPARTIAL: ended early, after %s\n", done);
}

static int list_patterns(bool json)
{
	if (json)
		return json_value_print(catalogue_json(&catalogue_patterns, NULL), STATUS_CLEAN);
	catalogue_print(&catalogue_patterns, NULL);
	return STATUS_CLEAN;
}

static int run_command(void *job, const struct operands *operands)
{
	struct workload *workload = job;

	if (csv_refuse(workload->csv, workload->json))
		return STATUS_BAD;
	if (workload->list)
		return list_patterns(workload->json);
	if (workload->machines.by != HD_MACHINES_ALONE && !workload->by_machine &&
	    !workload->kind->by_adapter)
		return message_error("option '--machines' needs --by-machine or a pattern of "
				     "machines, such as nccl-ring");
	workload->count_given = workload->count > 0;
	if (!workload->count_given)
		workload->count = workload->command->count;
	return workload->command->run(job, operands);
}

int workload_frame_run(const struct workload_command *command, void *job, int argc, char **argv)
{
	struct processes processes;
	struct workload *workload = job;

	if (!processes_begin(&processes))
		return STATUS_BAD;
	int status = workload_init(workload, &processes);
	if (!status) {
		workload->command = command;
		status = arguments_run(command->usage, argc, argv, job, run_command);
	}
	command->release(job);
	workload_release(workload);
	processes_end(&processes);
	return status;
}
