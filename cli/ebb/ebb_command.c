/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* heddle ebb: effective bisection bandwidth, or that of any other pattern. */
#include "commands.h"
#include "ebb_report.h"
#include "gnuplot.h"
#include "interrupt.h"
#include "json_value.h"
#include "message.h"
#include "need.h"
#include "subnets.h"
#include "workload.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define HOT_MAX 1000000
#define PATTERNS_MOST UINT64_C(1000000000) /* until a precision is reached */

/* Paths across subnets. */
struct ebb_walks {
	struct hd_walker *walker;
	uint32_t *subnet, *host; /* [hosts of the joined fabric] where each is */
	struct hd_arena arena;
};

struct ebb_job {
	struct workload workload;
	struct table_source tables;
	double precision;
	uint32_t hot;
	const char *plot;
	struct ebb_application application;
	struct subnets subnets; /* in place of FABRIC and TABLES */
	bool isfr; /* what the routers between them do */

	struct ebb_walks walks;
	struct hd_fabric *fabric;
	struct hd_routes *routes;
	struct workload_on on;
	struct ebb_broken broken;
	struct hd_congestion_report *report;
	struct ebb_adaptive adaptive;
};

static int take_precision(const struct typed *typed, void *place)
{
	double *precision = place;
	char *end;

	*precision = strtod(typed->text, &end);
	if (end != typed->text && !*end && *precision > 0 && *precision < 1)
		return 0;
	return message_error("option '--precision': '%s' is not a number between 0 and 1",
			     typed->text);
}

static const struct argument arguments[] = {
    SHARED_ENGINE(struct ebb_job, tables),
    EBB_ADAPTIVE_ARGUMENTS(struct ebb_job, adaptive),
    {0, "precision", "H",
     "stop when the 99% confidence interval is +-H or less, or after -n patterns",
     ARGUMENT_BY(take_precision, struct ebb_job, precision)},
    {0, "hot", "K", "name the K links with the most flows",
     ARGUMENT_NUMBER(struct ebb_job, hot, 0, HOT_MAX)},
    {0, "plot", "FILE", "draw the histogram of patterns (.svg or .png, by gnuplot)",
     ARGUMENT_BY(gnuplot_take_path, struct ebb_job, plot)},
    {0, "application", "FILE",
     "say how fast an application would be with full bandwidth; lines of SHARE PATTERN [BANDWIDTH]",
     ARGUMENT_TEXT(struct ebb_job, application.path)},
    SUBNETS_ARGUMENT(struct ebb_job, subnets),
    SUBNETS_MAPS(struct ebb_job, subnets),
    {0, "routers", "issr|isfr", "how routers choose the port of a packet (default issr)",
     ARGUMENT_CHOICE(struct ebb_job, isfr)},
    WORKLOAD_ARGUMENTS(struct ebb_job, workload, "10000"),
};

static const struct usage usage = {
    .synopsis = "heddle ebb [OPTION]... FABRIC TABLES...\n"
		"   or: heddle ebb [OPTION]... -e NAME[:KEY=VALUE,...] FABRIC\n"
		"   or: heddle ebb [OPTION]... --subnet PREFIX=FABRIC[:TABLES]... --maps FOLDER\n"
		"   or: heddle ebb [OPTION]... --application FILE",
    .summary =
	"Measures the bandwidth that forwarding tables give: sends patterns along them, counts the "
	"flows on\nevery link, and shows the bandwidth that is left for each route.",
    .arguments = arguments,
    .count = sizeof(arguments) / sizeof(arguments[0]),
    .notes =
	"pi of a route is the largest number of flows on one of its links. `bandwidth` is the "
	"mean of\n1/pi over all routes. `pi sum avg` is the mean of pi, and 1 over it: the other "
	"definition in use,\nwhich is smaller where pi varies.\n\n"
	"TABLES: files, or folders of files. With --subnet, paths go through all subnets and "
	"the routers\nbetween them; -e (default dmodk) computes the tables of subnets without "
	"TABLES. With\n--application the patterns are those of FILE; without FABRIC their "
	"bandwidths, too.",
    .statuses = {"all routes between hosts arrive",
		 "some routes between hosts are broken, or the work was ended early (Ctrl-C)",
		 "bad input or usage, or the engine refuses the fabric"},
};

static int load(struct ebb_job *job, const char *path, struct hd_error *err)
{
	struct workload *workload = &job->workload;
	struct hd_log log = message_log(workload->verbose);
	int rc =
	    policy_arguments_load(&workload->policy, path, workload->lmc, &log, &job->fabric, err);

	const struct table_request request = {.fabric = job->fabric,
					      .policy = &workload->policy.policy,
					      .threads = workload->threads,
					      .log = &log};
	if (!rc)
		rc = table_source_make(&job->tables, &request, &job->routes, err);
	if (!rc)
		rc = workload_place(workload, job->fabric, &job->on, err);
	if (!rc && ebb_adaptive_wanted(&job->adaptive))
		rc = ebb_adaptive_load(&job->adaptive, job->on.ranks->fabric, job->routes,
				       workload->threads, &log, err);
	if (!rc)
		rc = hd_broken_routes(job->routes, job->on.ranks, workload->threads,
				      job->broken.routes, job->broken.list, EBB_BROKEN_SHOWN,
				      &job->broken.listed, err);
	return rc;
}

static int walk(void *context, uint32_t source, uint32_t destination, uint32_t *links,
		uint32_t room)
{
	const struct ebb_walks *walks = context;
	struct hd_journey journey;

	hd_walk(walks->walker, walks->subnet[source], walks->host[source],
		walks->subnet[destination], walks->host[destination], &journey);
	if (journey.end != HD_JOURNEY_ARRIVED)
		return -1;
	for (uint32_t i = 0; i < journey.link_count && i < room; i++)
		links[i] = journey.links[i];
	return (int)journey.link_count;
}

static int load_subnets(struct ebb_job *job, struct hd_error *err)
{
	struct hd_log log = message_log(job->workload.verbose);
	struct hd_relay relay;

	if (ebb_adaptive_wanted(&job->adaptive))
		return hd_error_set(err, -EINVAL,
				    "options --plan and --ar do not work with --subnet");
	job->subnets.tables = job->tables;
	job->tables.options = NULL; /* they belong to the subnets now */
	job->subnets.name_map = job->workload.policy.name_map;
	int rc = subnets_load(&job->subnets, SUBNETS_TABLES | SUBNETS_MAP, &log, err);
	if (!rc)
		rc = subnets_relay(&job->subnets, job->isfr, &relay, err);
	if (!rc)
		rc = hd_walker_new(job->subnets.interconnect, &relay, &job->walks.walker, err);
	if (rc)
		return rc;
	const struct hd_interconnect *interconnect = job->subnets.interconnect;
	struct ebb_walks *walks = &job->walks;
	uint32_t hosts = hd_walker_joined(walks->walker)->host_count;
	walks->subnet = need_of(&walks->arena, hosts, sizeof(uint32_t));
	walks->host = need_of(&walks->arena, hosts, sizeof(uint32_t));
	for (uint32_t subnet = 0; subnet < interconnect->subnet_count; subnet++)
		for (uint32_t host = 0; host < interconnect->subnets[subnet].fabric->host_count;
		     host++) {
			uint32_t joined = hd_walker_host(walks->walker, subnet, host);
			if (joined == HD_NONE)
				continue;
			walks->subnet[joined] = subnet;
			walks->host[joined] = host;
		}
	return workload_place(&job->workload, hd_walker_joined(job->walks.walker), &job->on, err);
}

static int count_flows(struct ebb_job *job, struct hd_error *err)
{
	struct hd_congestion_request request =
	    workload_request(&job->workload, &job->on, job->routes);

	if (job->subnets.count) {
		request.walk = walk;
		request.walk_context = &job->walks;
	}
	request.precision = job->precision;
	request.link_flows = job->hot > 0;
	return workload_run(&job->workload, &request, job->workload.pattern_text, &job->report,
			    err);
}

static int show(const struct ebb_job *job, const char *path)
{
	const struct ebb_view view = {.fabric_path = path,
				      .tables_name = job->tables.name,
				      .workload = &job->workload,
				      .on = &job->on,
				      .report = job->report,
				      .broken = &job->broken,
				      .adaptive = job->adaptive.report ? &job->adaptive : NULL,
				      .hot = job->hot};
	int status =
	    ebb_broken_total(&job->broken) || job->report->broken ? STATUS_FAULTS : STATUS_CLEAN;

	if (job->workload.partial)
		status = STATUS_FAULTS;
	if (job->workload.json)
		return json_value_print(ebb_json(&view), status);
	if (job->workload.csv)
		ebb_csv(&view);
	else
		ebb_print(&view);
	return status;
}

/* Measures one pattern of the application in the place of the workload's own. */
static int measure_part(struct ebb_job *job, uint32_t index, struct hd_error *err)
{
	struct workload *workload = &job->workload, own = *workload;
	const struct hd_application_part *part = &job->application.file->parts[index];
	const struct hd_fabric *fabric =
	    job->subnets.count ? hd_walker_joined(job->walks.walker) : job->fabric;

	workload_on_release(&job->on);
	job->on = (struct workload_on){.count = 0};
	workload->kind = part->kind;
	workload->options = part->options;
	snprintf(workload->pattern_text, sizeof(workload->pattern_text), "%s", part->text);
	int rc = workload_place(workload, fabric, &job->on, err);
	if (!rc)
		rc = count_flows(job, err);
	if (!rc && !workload->partial) {
		const struct hd_congestion_request request =
		    workload_request(workload, &job->on, job->routes);
		rc = ebb_application_note(&job->application, index, &request, job->report, err);
	}
	hd_congestion_report_free(job->report);
	job->report = NULL;
	workload->kind = own.kind;
	workload->options = own.options;
	return rc ? hd_error_prefix(err, rc, "%s:%u", job->application.path, part->line) : 0;
}

static int show_application(const struct ebb_job *job, const char *path)
{
	struct ebb_application_view view = {.application = &job->application,
					    .workload = &job->workload,
					    .fabric_path = path,
					    .tables_name = job->tables.name,
					    .ranks = job->on.ranks,
					    .broken_routes = ebb_broken_total(&job->broken)};

	/* across subnets only flows of the patterns are known to be broken */
	for (uint32_t i = 0; job->subnets.count && i < job->application.file->count; i++)
		view.broken_routes += job->application.parts[i].broken;
	return ebb_application_show(&view);
}

static int run_job(struct ebb_job *job, const char *path)
{
	const struct processes *processes = job->workload.processes;
	struct hd_error err = {""};
	int rc = job->application.path ? ebb_application_load(&job->application, true, &err) : 0;

	if (!rc)
		rc = job->subnets.count ? load_subnets(job, &err) : load(job, path, &err);
	if (processes_agree(processes, rc, &err)) {
		int status = message_fail(&err);
		if (rc == -ELOOP && job->routes && table_source_advice(job->routes))
			fprintf(stderr, "%s\n", table_source_advice(job->routes));
		return status;
	}
	if (job->application.path) {
		for (uint32_t i = 0;
		     !rc && !job->workload.partial && i < job->application.file->count; i++)
			rc = measure_part(job, i, &err);
		if (!rc && job->workload.partial) {
			message_error("%s: ended before all patterns were measured",
				      job->application.path);
			return STATUS_FAULTS;
		}
		return rc ? interrupt_fail(rc, &err) : show_application(job, path);
	}
	rc = count_flows(job, &err);
	if (!rc) {
		/* The same patterns with adaptive routing: as many as were needed without. */
		struct hd_congestion_request request =
		    workload_request(&job->workload, &job->on, job->routes);
		if (ebb_adaptive_wanted(&job->adaptive) && !job->workload.partial) {
			request.patterns = job->report->patterns;
			request.spread = &job->adaptive.spread;
			rc = workload_run(&job->workload, &request, job->workload.pattern_text,
					  &job->adaptive.report, &err);
		}
	}
	if (!rc && processes->part == 0) {
		char title[400];
		snprintf(title, sizeof(title), "%s: %s, %s", job->workload.pattern_text, path,
			 job->tables.name);
		rc = job->plot
			 ? gnuplot_histogram(job->plot, title, workload_share_name(&job->workload),
					     job->report, &err)
			 : 0;
	}
	return rc ? interrupt_fail(rc, &err) : show(job, path);
}

/* Options and operands of one kind of run that the other kind would ignore. */
static int refuse_mixed(const struct ebb_job *job, const struct operands *operands)
{
	if (!job->subnets.count)
		return job->subnets.maps || job->isfr
			   ? message_error("--maps and --routers need --subnet")
			   : 0;
	if (operands->count)
		return message_error("'%s': with --subnet there is no FABRIC", operands->items[0]);
	if (policy_arguments_given(&job->workload.policy) || job->workload.lmc != LMC_ANY)
		return message_error("--lmc and the options of the policy do not work with "
				     "--subnet; make the tables with heddle route, and name them "
				     "in --subnet PREFIX=FABRIC:TABLES");
	return 0;
}

/* Options that say nothing of an application. */
static int refuse_with_application(const struct ebb_job *job)
{
	const struct workload *workload = &job->workload;

	if (!job->application.path)
		return 0;
	if (workload->pattern_given)
		return message_error("options --application and --pattern do not work together: "
				     "the patterns are those of '%s'",
				     job->application.path);
	if (workload->fair || workload->rate_weights)
		return message_error("option --application counts 1/pi, and does not work with "
				     "--fair or --weights rate");
	if (job->hot || job->plot || ebb_adaptive_wanted(&job->adaptive))
		return message_error("options --hot, --plot, --plan and --ar do not work with "
				     "--application");
	return 0;
}

static int run(void *context, const struct operands *operands)
{
	struct ebb_job *job = context;
	struct workload *workload = &job->workload;
	int status = refuse_mixed(job, operands);

	if (!status)
		status = refuse_with_application(job);
	if (!status && job->application.path && !job->subnets.count && !operands->count &&
	    !job->tables.engine) {
		/* Without FABRIC: by the bandwidths of the file. */
		const struct ebb_application_view view = {.application = &job->application,
							  .workload = &job->workload};
		struct hd_error err = {""};
		int rc = ebb_application_load(&job->application, false, &err);
		if (processes_agree(job->workload.processes, rc, &err))
			return message_fail(&err);
		return ebb_application_show(&view);
	}
	if (!status && !job->subnets.count)
		status = table_source_take_operands(&job->tables, &usage, operands, 0,
						    "FABRIC and TABLES (with -e: FABRIC)");
	if (job->subnets.count)
		snprintf(job->tables.name, sizeof(job->tables.name), "maps of %s, routers %s",
			 job->subnets.maps ? job->subnets.maps : "?", job->isfr ? "isfr" : "issr");
	if (job->precision > 0 && !workload->count_given)
		workload->count = PATTERNS_MOST;
	if (!status)
		status = policy_arguments_refuse(&workload->policy, job->tables.engine);
	if (!status)
		status = workload_refuse_output(workload, "plot", job->plot, operands);
	return status ? status
		      : run_job(job, job->subnets.count ? "interconnect" : operands->items[0]);
}

static void release(void *context)
{
	struct ebb_job *job = context;

	ebb_application_release(&job->application);
	ebb_adaptive_release(&job->adaptive);
	hd_congestion_report_free(job->report);
	workload_on_release(&job->on);
	hd_routes_free(job->routes);
	hd_fabric_free(job->fabric);
	table_source_release(&job->tables);
	hd_walker_free(job->walks.walker);
	hd_arena_release(&job->walks.arena);
	subnets_release(&job->subnets);
}

int ebb_command(int argc, char **argv)
{
	static const struct workload_command command = {
	    .usage = &usage, .count = 10000, .run = run, .release = release};
	struct ebb_job job = {.hot = 0};

	return workload_frame_run(&command, &job, argc, argv);
}
