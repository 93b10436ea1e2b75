/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* heddle survive: what is left of a fabric after links between switches fail. */
#include "commands.h"
#include "fabric_source.h"
#include "interrupt.h"
#include "json_value.h"
#include "message.h"
#include "survive.h"
#include "table_source.h"
#include "workload.h"

#include <errno.h>
#include <heddle/base/digest.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TRIALS_MAX 100000
#define REPAIRS_MAX 100000

struct survive_job {
	struct workload workload;
	struct table_source tables;
	struct share_list {
		struct survive_share share[SURVIVE_SHARES_MAX];
		unsigned count;
	} shares;
	uint32_t trials;
	struct survive_repairs repairs;
	struct survive_recovery recovery;

	struct hd_log log;
	struct hd_fabric *fabric;
	struct hd_routes *routes;
	struct workload_on on;
	double intact; /* mean bandwidth before links are removed */
	const char *state;
	struct survive_trials outcome;
};

/* Shares: "5", "1,2,5", "1..10", "0..20/5", each with or without a percent sign */

/* The number ends at ".."; strtod() would take the first dot for a decimal point. */
static const char *take_percent(const char *text, double *percent)
{
	char number[32], *end;
	size_t length = strspn(text, "0123456789.");
	const char *dots = strstr(text, "..");

	if (dots && (size_t)(dots - text) < length)
		length = (size_t)(dots - text);
	if (!length || length >= sizeof(number))
		return NULL;
	memcpy(number, text, length);
	number[length] = '\0';
	*percent = strtod(number, &end);
	if (*end || *percent > 100)
		return NULL;
	return text[length] == '%' ? text + length + 1 : text + length;
}

static bool add_shares(struct share_list *shares, double first, double last, double step)
{
	if (!(step > 0) || last < first)
		return false;
	for (unsigned i = 0; first + i * step <= last + step * 1e-6; i++) {
		if (shares->count == SURVIVE_SHARES_MAX)
			return false;
		shares->share[shares->count++] =
		    (struct survive_share){.percent = first + i * step};
	}
	return true;
}

static const char *take_range(struct share_list *shares, const char *text)
{
	double first, last, step = 1;
	const char *at = take_percent(text, &first);

	last = first;
	if (at && !strncmp(at, "..", 2)) {
		at = take_percent(at + 2, &last);
		if (at && *at == '/')
			at = take_percent(at + 1, &step);
	}
	return at && add_shares(shares, first, last, step) ? at : NULL;
}

static int take_shares(const struct typed *typed, void *place)
{
	struct share_list *shares = place;
	const char *at = typed->text;

	shares->count = 0;
	do
		at = take_range(shares, at == typed->text ? at : at + 1);
	while (at && *at == ',');
	if (at && !*at)
		return 0;
	return message_error("option '--remove': '%s' is not a list of at most %d shares 0..100%%, "
			     "such as 1,2,5 or 1..10%%",
			     typed->text, SURVIVE_SHARES_MAX);
}

static const struct argument arguments[] = {
    {'e', "engine", "NAME[:KEY=VALUE,...]",
     "route the damaged fabrics with this engine (see heddle engines); required",
     ARGUMENT_BY(table_source_take_engine, struct survive_job, tables)},
    {'r', "remove", "SHARES",
     "percent of links to remove: 5, 1,2,5, 1..10 or 0..20/5 (default 1..10)",
     ARGUMENT_BY(take_shares, struct survive_job, shares)},
    {0, "trials", "T", "damage T fabrics for each share (default 10)",
     ARGUMENT_NUMBER(struct survive_job, trials, 1, TRIALS_MAX)},
    {0, "state", "FILE", "keep finished trials, and go on where a run before was ended",
     ARGUMENT_TEXT(struct survive_job, state)},
    {0, "ar", NULL, "show what adaptive routing delivers right after the loss by fast recovery",
     ARGUMENT_FLAG(struct survive_job, recovery.wanted)},
    {0, "repair", "T",
     "plan the repair of T lost cables and T lost switches, one at a time; shares only with -r",
     ARGUMENT_NUMBER(struct survive_job, repairs.each, 1, REPAIRS_MAX)},
    {0, "groups", "N", "with --repair: also repair the trees of N random multicast groups",
     ARGUMENT_NUMBER(struct survive_job, repairs.groups.random, 1, RANDOM_GROUPS_MAX)},
    {0, "size", "K", "put K hosts into each random group (default 8)",
     ARGUMENT_NUMBER(struct survive_job, repairs.groups.size, 2, RANDOM_GROUP_SIZE_MAX)},
    {0, "mcfdbs", "FILE", "with --repair: also repair the groups of these multicast tables",
     ARGUMENT_TEXT(struct survive_job, repairs.groups.tables_path)},
    WORKLOAD_ARGUMENTS(struct survive_job, workload, "1000"),
};

static const struct usage usage = {
    .synopsis = "heddle survive [OPTION]... -e NAME[:KEY=VALUE,...] FABRIC",
    .summary = "Removes links between switches at random and routes what is left, starting from "
	       "the tables\nbefore. Shows for each share of links how often that works and what "
	       "bandwidth is left.",
    .arguments = arguments,
    .count = sizeof(arguments) / sizeof(arguments[0]),
    .statuses =
	{"all damaged fabrics were routed, all LIDs arrive, and there are no credit loops",
	 "in some trial or repair the engine refused, a path did not arrive, multicast "
	 "missed a member, or there was a loop or a credit loop; or the work was ended early "
	 "(Ctrl-C)",
	 "bad input or usage, or the engine refuses the intact fabric"},
};

struct trial {
	struct hd_fabric *fabric;
	struct hd_routes *previous, *routes;
	struct workload_on on;
	struct hd_congestion_report *report;
};

static int check_tables(const struct survive_job *job, const struct trial *trial, bool *reachable,
			bool *deadlock_free, struct hd_error *err)
{
	const struct hd_check_options options = {.threads = job->workload.threads, .max_faults = 1};
	struct hd_check_report *report = NULL;
	int rc = hd_check(trial->fabric, trial->routes, &options, &report, err);

	if (rc)
		return rc;
	*reachable = !report->no_route && !report->dead_end && !report->loop;
	*deadlock_free = !report->credit_loops;
	hd_check_report_free(report);
	return 0;
}

/* Each process has its own trials, so this run is not divided among processes. */
static int measure(struct survive_job *job, const char *title, struct trial *trial,
		   struct hd_error *err)
{
	struct hd_congestion_request request =
	    workload_request(&job->workload, &trial->on, trial->routes);

	request.part = 0;
	request.parts = 1;
	return workload_run(&job->workload, &request, title, &trial->report, err);
}

/* Without tables, and without an error, if the engine refuses the damaged fabric. */
static int route_trial(struct survive_job *job, struct trial *trial, size_t number,
		       struct hd_error *err)
{
	struct hd_error refusal = {""};
	int rc = hd_routes_rebase(job->fabric, job->routes, trial->fabric, &trial->previous, err);

	if (rc)
		return rc;
	const struct table_request request = {.fabric = trial->fabric,
					      .previous = trial->previous,
					      .policy = &job->workload.policy.policy,
					      .threads = job->workload.threads,
					      .log = job->workload.verbose ? &job->log : NULL};
	rc = table_source_make(&job->tables, &request, &trial->routes, &refusal);
	if (rc == -ENOMEM || (rc == -ECANCELED && interrupt_came()))
		return hd_error_set(err, rc, "%s", refusal.text);
	if (rc)
		survive_trials_refused(&job->outcome, number, refusal.text);
	return 0;
}

static int judge_trial(struct survive_job *job, struct trial *trial, size_t number,
		       struct hd_error *err)
{
	struct survive_trial *outcome = &job->outcome.list[number];
	char title[80];
	bool reachable = false, deadlock_free = false;
	int rc = check_tables(job, trial, &reachable, &deadlock_free, err);

	if (rc || !reachable)
		return rc;
	outcome->changed = hd_routes_count_changes(trial->previous, trial->routes);
	outcome->routed = true;
	outcome->deadlock_free = deadlock_free;
	rc = workload_place(&job->workload, trial->fabric, &trial->on, err);
	snprintf(title, sizeof(title), "%g%% of the links removed, trial %zu of %" PRIu32,
		 job->shares.share[number / job->trials].percent, number % job->trials + 1,
		 job->trials);
	if (!rc)
		rc = measure(job, title, trial, err);
	if (!rc)
		outcome->mean.value = trial->report->mean;
	return rc;
}

static int load(struct survive_job *job, const char *path, struct hd_error *err)
{
	struct trial intact = {.fabric = NULL};

	job->log = message_log(job->workload.verbose);
	int rc = policy_arguments_load(&job->workload.policy, path, job->workload.lmc, &job->log,
				       &job->fabric, err);
	const struct table_request request = {.fabric = job->fabric,
					      .policy = &job->workload.policy.policy,
					      .threads = job->workload.threads,
					      .log = &job->log};
	if (!rc)
		rc = table_source_make(&job->tables, &request, &job->routes, err);
	if (!rc)
		rc = survive_recovery_begin(&job->recovery, job->fabric, job->routes,
					    job->workload.threads, &job->log, err);
	if (!rc)
		rc = workload_place(&job->workload, job->fabric, &job->on, err);
	if (!rc)
		rc = survive_groups_find(&job->repairs.groups, job->fabric, job->workload.seed,
					 &job->log, err);
	if (rc)
		return rc;
	intact.routes = job->routes;
	intact.on = job->on;
	rc = measure(job, "without a loss", &intact, err);
	if (rc)
		return rc;
	job->intact = intact.report->mean;
	hd_congestion_report_free(intact.report);
	return 0;
}

/* All that decides on the outcome of a trial with one share and number. */
static uint64_t digest(const struct survive_job *job)
{
	const struct workload *workload = &job->workload;
	const uint64_t choices[] = {workload->count,
				    workload->seed,
				    (uint64_t)workload->mapping,
				    (uint64_t)workload->lids,
				    workload->fair,
				    workload->rate_weights,
				    workload->aggregation_nodes,
				    workload->policy.max_reverse_hops,
				    job->recovery.wanted};
	uint64_t value = survive_trials_digest(job->fabric, job->routes);

	value = hd_digest_text(hd_digest_text(value, job->tables.name), workload->pattern_text);
	value = hd_digest_bytes(value, choices, sizeof(choices));
	value = hd_digest_bytes(value, &job->intact, sizeof(job->intact));
	value = hd_digest_file(value, workload->host_file);
	for (unsigned i = 0; i < HD_POLICY_FILES; i++)
		value = hd_digest_file(hd_digest_bytes(value, &i, sizeof(i)),
				       workload->policy.files[i]);
	return value;
}

static int run_own(struct survive_job *job, struct hd_error *err)
{
	/* Every process plans all repairs: there are few. */
	const struct table_request request = {.fabric = job->fabric,
					      .previous = job->routes,
					      .policy = &job->workload.policy.policy,
					      .threads = job->workload.threads,
					      .log = job->workload.verbose ? &job->log : NULL};
	int rc = job->repairs.each ? survive_repair_run(&job->tables, &request, job->workload.seed,
							&job->repairs, err)
				   : 0;

	for (size_t number = 0; !rc && number < job->outcome.count && !interrupt_came(); number++)
		if (survive_trials_is_own(&job->outcome, number)) {
			struct trial trial = {.fabric = NULL};
			struct survive_share *share = &job->shares.share[number / job->trials];
			struct survive_trial *outcome = &job->outcome.list[number];
			uint64_t seed = job->workload.seed * TRIALS_MAX + number % job->trials;
			rc = hd_fabric_remove_links(job->fabric, share->percent, seed,
						    &trial.fabric, err);
			if (!rc && job->recovery.wanted)
				rc = survive_recovery_try(&job->recovery, trial.fabric,
							  outcome->delivered, &outcome->pairs, err);
			if (!rc)
				rc = route_trial(job, &trial, number, err);
			if (!rc && trial.routes)
				rc = judge_trial(job, &trial, number, err);
			outcome->done = !rc && !(trial.report && trial.report->partial);
			if (outcome->done)
				rc = survive_trials_keep(&job->outcome, number, err);
			hd_congestion_report_free(trial.report);
			workload_on_release(&trial.on);
			hd_routes_free(trial.routes);
			hd_routes_free(trial.previous);
			hd_fabric_free(trial.fabric);
		}
	job->workload.partial |= interrupt_came();
	return rc == -ECANCELED && interrupt_came() ? 0 : rc;
}

static int run_job(struct survive_job *job, const char *path)
{
	struct hd_error err = {""};

	/* No process may begin a step before all have finished the step before. */
	const struct processes *processes = job->workload.processes;
	int rc = processes_agree(processes, load(job, path, &err), &err);
	if (!rc)
		rc = processes_agree(processes,
				     survive_trials_open(&job->outcome, job->shares.share,
							 job->shares.count, job->trials, job->state,
							 job->state ? digest(job) : 0,
							 job->workload.processes, &err),
				     &err);
	if (!rc)
		rc = processes_agree(processes, run_own(job, &err), &err);
	rc = rc ? rc : survive_trials_sum_up(&job->outcome, job->shares.share, &err);

	if (rc)
		return interrupt_fail(rc, &err);
	const struct survive_view view = {.fabric_path = path,
					  .engine = job->tables.name,
					  .workload = &job->workload,
					  .on = &job->on,
					  .intact = job->intact,
					  .shares = job->shares.share,
					  .count = job->shares.count,
					  .repairs = &job->repairs,
					  .trials = job->trials,
					  .recovery = job->recovery.wanted};
	int status = survive_repair_has_fault(&job->repairs) || job->workload.partial
			 ? STATUS_FAULTS
			 : STATUS_CLEAN;

	for (unsigned i = 0; i < job->shares.count; i++)
		if (job->shares.share[i].deadlock_free < job->shares.share[i].trials)
			status = STATUS_FAULTS;
	if (job->workload.json)
		return json_value_print(survive_json(&view), status);
	if (job->workload.csv)
		survive_csv(&view);
	else
		survive_print(&view);
	return status;
}

static int run(void *context, const struct operands *operands)
{
	struct survive_job *job = context;
	int status = STATUS_CLEAN;

	if (!job->tables.engine)
		return arguments_refuse(&usage, "no engine given");
	if (!job->shares.count && !job->repairs.each)
		add_shares(&job->shares, 1, 10, 1);
	status = survive_groups_refuse(&job->repairs.groups, job->repairs.each);
	if (!status && job->recovery.wanted && !job->shares.count)
		status = message_error("option '--ar' needs shares of links: --remove");
	if (!status && job->state && !job->shares.count)
		status = message_error("option '--state' needs shares of links: --remove");
	if (!status)
		status = arguments_expect(&usage, operands, "one FABRIC", 1, 1);
	if (!status)
		status = workload_refuse_output(&job->workload, "state", job->state, operands);
	return status ? status : run_job(job, operands->items[0]);
}

static void release(void *context)
{
	struct survive_job *job = context;

	survive_trials_release(&job->outcome);
	survive_repair_release(&job->repairs);
	survive_recovery_release(&job->recovery);
	workload_on_release(&job->on);
	hd_routes_free(job->routes);
	hd_fabric_free(job->fabric);
	table_source_release(&job->tables);
}

int survive_command(int argc, char **argv)
{
	static const struct workload_command command = {
	    .usage = &usage, .count = 1000, .run = run, .release = release};
	struct survive_job job = {.trials = 10};

	return workload_frame_run(&command, &job, argc, argv);
}
