/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* heddle why: what counters of ports say of a fabric and its tables. */
#include "commands.h"
#include "message.h"
#include "need.h"
#include "policy_arguments.h"
#include "progress.h"
#include "shared_arguments.h"
#include "why.h"

#include <errno.h>
#include <heddle/base/gzip.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define HOT_MAX 10000
#define TICK_MAX 1000000
#define FLOWS_SHOWN 5u
#define AS_LIKELY 0.95 /* of the score of the first */
#define PERIOD_MIN 1e-9
#define PERIOD_MAX 1e9 /* seconds */
#define OVERLOADED 1.05 /* of a link: more than the counters' own imprecision */
#define WAITING 0.1 /* of a port's time: a link that makes others wait for less is no bottleneck */

struct why_job {
	struct table_source tables;
	struct policy_arguments policy;
	struct why_tries tries;
	uint32_t hot, bound; /* percent */
	int lmc;
	unsigned threads;
	const char *before, *allocation_path;
	double period; /* seconds; 0: not given */
	uint32_t tick; /* bytes; 0: not given */
	bool json, verbose, live;
	struct plugin_address address;
	struct why_live answers;
	const char *fabric_path, *counters_path;
	/* what is made of them */
	struct hd_fabric *fabric;
	struct hd_routes *routes;
	struct hd_counters *counters;
	struct hd_measured *measured;
	struct hd_allocation *allocation;
	struct hd_estimate *estimate;
};

static int take_period(const struct typed *typed, void *place)
{
	double *seconds = place;
	char *end;

	*seconds = strtod(typed->text, &end);
	if (end != typed->text && !*end && *seconds >= PERIOD_MIN && *seconds <= PERIOD_MAX)
		return 0;
	return message_error("option '--period': '%s' is no number of seconds above 0 (%g to %g)",
			     typed->text, PERIOD_MIN, PERIOD_MAX);
}

static const struct argument arguments[] = {
    SHARED_ENGINE(struct why_job, tables),
    {0, "live", NULL, "ask the plugin in a running OpenSM, which has 'perfmgr TRUE'",
     ARGUMENT_FLAG(struct why_job, live)},
    PLUGIN_ARGUMENTS(struct why_job, address),
    {0, "before", "FILE", "counters that were read earlier: what counts is the difference",
     ARGUMENT_TEXT(struct why_job, before)},
    {0, "period", "SECONDS", "the time in which the counters counted, if the files do not say it",
     ARGUMENT_BY(take_period, struct why_job, period)},
    {0, "tick", "BYTES",
     "what a port could send in a tick of PortXmitWait (8 on NVIDIA Quantum switches)",
     ARGUMENT_NUMBER(struct why_job, tick, 1, TICK_MAX)},
    {0, "allocation", "FILE",
     "which jobs have which hosts: of squeue, scontrol show job, or lines of job and hosts",
     ARGUMENT_TEXT(struct why_job, allocation_path)},
    {0, "hot", "K", "show the K links that cause most waiting (default 5)",
     ARGUMENT_NUMBER(struct why_job, hot, 1, HOT_MAX)},
    {0, "bound", "PERCENT",
     "call a link hot from this share of its capacity on (1..100, default 80)",
     ARGUMENT_NUMBER(struct why_job, bound, 1, 100)},
    {0, "try", "NAME[:KEY=VALUE,...]",
     "what this engine would give; may be repeated (default: all, or auto)",
     ARGUMENT_BY(why_take_try, struct why_job, tries)},
    {0, "try-lmc", "N",
     "what the engines would give with 2^N LIDs a host (0..7, 0: not tried, default 2)",
     ARGUMENT_NUMBER(struct why_job, tries.lmc, 0, HD_LMC_INFINIBAND)},
    {0, "no-try", NULL, "do not compute what would help",
     ARGUMENT_FLAG(struct why_job, tries.none)},
    POLICY_ARGUMENTS(struct why_job, policy),
    SHARED_LMC(struct why_job, lmc),
    SHARED_THREADS(struct why_job, threads),
    SHARED_JSON(struct why_job, json),
    SHARED_VERBOSE(struct why_job, verbose),
};

static const struct usage usage = {
    .synopsis = "heddle why [OPTION]... FABRIC TABLES... COUNTERS\n"
		"   or: heddle why [OPTION]... -e NAME[:KEY=VALUE,...] FABRIC COUNTERS\n"
		"   or: heddle why [OPTION]... --live [TABLES...]",
    .summary = "Finds out from counters of ports which links slow a fabric down, who uses them, "
	       "and what\nwould help.",
    .arguments = arguments,
    .count = sizeof(arguments) / sizeof(arguments[0]),
    .notes = "TABLES: forwarding tables and service levels, in files or folders of files.\n"
	     "COUNTERS: what perfquery, ibqueryerrors, 'perfmgr dump_counters' of OpenSM, or "
	     "heddle sim\n"
	     "--counters have written.",
    .statuses = {"no bottleneck, and no port with errors",
		 "a bottleneck, or ports with errors, or the counters do not say whether there is "
		 "a bottleneck",
		 "bad input or usage, or the engine refuses the fabric"},
};

static int read_counters(const struct why_job *job, const char *path, const struct hd_log *log,
			 struct hd_counters **out, struct hd_error *err)
{
	const char *live = job->answers.counters;
	struct hd_text text = {.bytes = live, .length = live ? strlen(live) : 0, .name = path};
	int rc = live ? 0 : hd_gzip_open(arguments_path(path), &text, err);

	if (rc)
		return rc;
	rc = hd_counters_parse(&text, job->fabric, log, out, err);
	hd_text_close(&text);
	return rc;
}

/* Names of jobs' hosts are those of the file, so they are read before nodes with the same name get others. */
static int load_allocation(struct why_job *job, const struct hd_log *log, struct hd_error *err)
{
	struct hd_text text;
	int rc = job->allocation_path
		     ? hd_gzip_open(arguments_path(job->allocation_path), &text, err)
		     : 0;

	if (rc || !job->allocation_path)
		return rc;
	rc = hd_allocation_parse(&text, job->fabric, log, &job->allocation, err);
	hd_text_close(&text);
	return rc;
}

static int load(struct why_job *job, const struct hd_log *log, struct hd_error *err)
{
	int rc =
	    policy_arguments_load(&job->policy, job->fabric_path, job->lmc, log, &job->fabric, err);

	if (!rc)
		rc = load_allocation(job, log, err);
	if (!rc)
		rc = fabric_source_tell_apart(&job->fabric, err);
	if (!rc && !job->fabric->host_count)
		rc = hd_error_set(err, -ENODATA, "%s: the fabric has no hosts, so none waits",
				  job->fabric_path);
	if (rc)
		return rc;
	const struct table_request request = {.fabric = job->fabric,
					      .policy = &job->policy.policy,
					      .threads = job->threads,
					      .log = log};
	rc = table_source_make(&job->tables, &request, &job->routes, err);
	if (!rc) {
		struct hd_counters *before = NULL;
		rc = read_counters(job, job->counters_path, log, &job->counters, err);
		if (!rc && job->before)
			rc = read_counters(job, job->before, log, &before, err);
		if (!rc && before) {
			hd_counters_subtract(job->counters, before);
			if (!job->counters->ports_read)
				rc = hd_error_set(err, -ENODATA,
						  "%s and %s have no counter of the same port",
						  job->before, job->counters_path);
			else if (job->counters->ports_back)
				hd_log(log, HD_LOG_WARNING,
				       "counters of %u ports went back: they were reset, and what "
				       "they "
				       "have counted since counts",
				       job->counters->ports_back);
		}
		hd_counters_free(before);
		if (!rc && job->period > 0)
			job->counters->seconds = job->period;
		if (!rc)
			job->counters->wait_bytes = job->tick;
	}
	if (!rc)
		rc = hd_measured_new(job->fabric, job->counters, &job->measured, err);
	if (!rc) {
		/* No link can carry more than its rate in the time. */
		const struct hd_measured *measured = job->measured;
		char label[HD_LABEL_SIZE];
		uint32_t worst = 0;
		for (uint32_t link = 1; link < measured->link_count; link++)
			if (measured->links[link].share > measured->links[worst].share)
				worst = link;
		if (measured->timed && measured->links[worst].share > OVERLOADED) {
			hd_log(log, HD_LOG_WARNING,
			       "by the counters, %s has sent %.0f%% of what its link can carry: "
			       "the period is too "
			       "short, or the "
			       "rate of the link in %s is wrong",
			       hd_port_label(job->fabric,
					     hd_congestion_link_port(job->fabric, worst), label,
					     sizeof(label)),
			       100 * measured->links[worst].share, job->fabric_path);
		}
	}
	return rc;
}

static int show_round(void *context, uint32_t round, uint32_t rounds)
{
	(void)context;
	progress_update("estimating who sends to whom: round %u of at most %u", round + 1, rounds);
	return 0;
}

/* What the counters say of waiting. */
struct waiting {
	bool any; /* some port has waited */
	bool of_hosts; /* most of the hosts that have sent say how long they have waited */
};

/* Where hosts do not say that they have waited, a link is a bottleneck only if it is full, too. */
static bool is_bottleneck(const struct why_job *job, const struct waiting *waiting,
			  const struct hd_bottleneck *found)
{
	bool full = 100 * job->measured->links[found->link].share >= job->bound;

	if (found->score < WAITING)
		return false;
	if (waiting->of_hosts)
		return waiting->any;
	return job->measured->timed ? full : waiting->any;
}

static void find_hot(struct why_job *job, struct why_view *view)
{
	struct hd_bottleneck *list = need(calloc((size_t)job->hot + 1, sizeof(*list)));
	const uint32_t first = job->fabric->isl_count, end = first + job->fabric->host_count;
	struct waiting waiting = {false, false};
	uint32_t senders = 0, known = 0;

	for (uint32_t link = 0; link < job->measured->link_count; link++) {
		const struct hd_measured_link *row = &job->measured->links[link];
		waiting.any |= row->wait > 0;
		if (link >= first && link < end && row->bytes > 0) {
			senders++;
			known += row->wait >= 0;
		}
	}
	waiting.of_hosts = known > senders / 2;

	view->hot = need(calloc((size_t)job->hot + 1, sizeof(*view->hot)));
	int count = need_enough(hd_bottlenecks_find(job->measured, job->estimate, list, job->hot));
	for (int i = 0; i < count; i++) {
		struct why_hot *hot = &view->hot[view->hot_count++];
		*hot = (struct why_hot){.link = list[i].link,
					.score = list[i].score,
					.hosts = list[i].hosts,
					.slow_host = list[i].slow_host};
		hot->bottleneck = is_bottleneck(job, &waiting, &list[i]);
		hot->as_likely =
		    i > 0 && hot->bottleneck && hot->score >= AS_LIKELY * view->hot[0].score;
		if (job->estimate)
			need_enough(hd_estimate_find_users(job->estimate, job->routes,
							   job->allocation, hot->link, FLOWS_SHOWN,
							   &hot->users, NULL));
	}
	free(list);
}

static bool is_hot_port(const struct why_view *view, uint32_t port)
{
	for (uint32_t i = 0; i < view->hot_count; i++) {
		uint32_t own = hd_congestion_link_port(view->fabric, view->hot[i].link);
		if (port == own || port == view->fabric->peer[own])
			return true;
	}
	return false;
}

static int by_total(const void *one, const void *other)
{
	const struct why_error *a = one, *b = other;

	return a->total != b->total ? (a->total < b->total) - (a->total > b->total)
				    : (a->port > b->port) - (a->port < b->port);
}

static int show(const struct why_job *job, const struct why_view *view)
{
	int status = why_has_bottleneck(view) || *view->doubt || view->error_count ? STATUS_FAULTS
										   : STATUS_CLEAN;

	if (job->json)
		return json_value_print(why_json(view), status);
	why_print(view);
	return status;
}

/* Files: FABRIC, TABLES and COUNTERS. */
static int take_files(struct why_job *job, const struct operands *operands)
{
	int status = table_source_take_operands(
	    &job->tables, &usage, operands, 1,
	    "FABRIC, TABLES and COUNTERS (with -e: FABRIC and COUNTERS)");

	if (status)
		return status;
	job->fabric_path = operands->items[0];
	job->counters_path = operands->items[operands->count - 1];
	return 0;
}

/* Asks OpenSM, for the tables only if they are given in no other way. */
static int take_live(struct why_job *job, const struct operands *operands)
{
	const bool ask = !job->tables.engine && !operands->count;
	struct hd_error err;

	if (job->before)
		return message_error("options --live and --before do not work together: OpenSM "
				     "says what was counted between its last two readings");
	if (job->tables.engine && operands->count)
		return arguments_refuse(&usage, "expected no operand with --live and -e, got %u",
					operands->count);
	job->fabric_path = job->counters_path = WHY_LIVE_NAME;
	if (operands->count)
		table_source_set_paths(&job->tables, (const char *const *)operands->items,
				       operands->count);
	if (why_live_ask(&job->address, ask, &job->answers, &err))
		return message_fail(&err);
	job->policy.fabric_text = job->answers.fabric;
	job->tables.text = job->answers.tables;
	if (ask)
		snprintf(job->tables.name, sizeof(job->tables.name), "%s", WHY_LIVE_NAME);
	return 0;
}

static int run(void *context, const struct operands *operands)
{
	struct why_job *job = context;
	struct hd_log log = message_log(job->verbose);
	struct hd_error err = {""};

	/* Only one input can be standard input. */
	unsigned dashes = 0;
	for (unsigned i = 0; i < operands->count; i++)
		dashes += !strcmp(operands->items[i], "-");
	dashes += job->before && !strcmp(job->before, "-");
	dashes += job->allocation_path && !strcmp(job->allocation_path, "-");
	int status = dashes > 1 ? message_error("only one input can be standard input ('-')") : 0;

	if (!status && job->tries.none && job->tries.count)
		status = message_error("options --try and --no-try do not work together");
	if (!status)
		status = job->live ? take_live(job, operands) : take_files(job, operands);
	if (status)
		return status;
	struct why_view view = {.fabric_path = job->fabric_path,
				.counters_path = job->counters_path,
				.before_path = job->before,
				.allocation_path = job->allocation_path,
				.tables_name = job->tables.name};
	int rc = load(job, &log, &err);
	if (!rc) {
		const struct why_choosing choosing = {&job->tries, &job->policy.policy, &log,
						      job->threads};
		view.fabric = job->fabric;
		view.routes = job->routes;
		view.counters = job->counters;
		view.measured = job->measured;
		view.allocation = job->allocation;
		/* An estimate, or the reason why it cannot be made. */
		const struct hd_estimate_request request = {.measured = job->measured,
							    .routes = job->routes,
							    .allocation = job->allocation,
							    .progress = show_round};
		progress_begin("estimating who sends to whom");
		need_enough(hd_estimate_new(&request, &job->estimate, &view.no_estimate));
		progress_end();
		view.estimate = job->estimate;
		find_hot(job, &view);
		why_find_doubt(&view);
		view.errors =
		    need(calloc((size_t)view.fabric->port_count + 1, sizeof(*view.errors)));
		for (uint32_t port = 0; port < view.fabric->port_count; port++) {
			struct why_error row = {.port = port};
			for (unsigned i = HD_SYMBOL_ERRORS; i < HD_COUNTERS; i++)
				row.total += hd_counter_is_fault(i)
						 ? view.counters->ports[port].value[i]
						 : 0;
			row.hot = row.total && is_hot_port(&view, port);
			if (row.total)
				view.errors[view.error_count++] = row;
		}
		qsort(view.errors, view.error_count, sizeof(*view.errors), by_total);
		if (view.estimate)
			why_choose(&choosing, &view);
	}
	status = rc ? message_fail(&err) : show(job, &view);
	for (uint32_t i = 0; view.hot && i < view.hot_count; i++)
		hd_estimate_users_release(&view.hot[i].users);
	free(view.hot);
	free(view.errors);
	free(view.choices);
	hd_estimate_free(job->estimate);
	hd_measured_free(job->measured);
	hd_counters_free(job->counters);
	hd_allocation_free(job->allocation);
	hd_routes_free(job->routes);
	hd_fabric_free(job->fabric);
	return status;
}

int why_command(int argc, char **argv)
{
	struct why_job job = {.lmc = LMC_ANY,
			      .threads = hd_parallel_cores(),
			      .hot = 5,
			      .bound = 80,
			      .tries.lmc = 2,
			      .policy.keep_names = true};
	int status = arguments_run(&usage, argc, argv, &job, run);

	why_live_release(&job.answers);
	policy_arguments_release(&job.policy);
	table_source_release(&job.tables);
	for (uint32_t i = 0; i < job.tries.count; i++)
		table_source_release(&job.tries.engines[i]);
	return status;
}
