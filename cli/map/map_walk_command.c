/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* heddle map walk: the path of a packet across subnets. */
#include "commands.h"
#include "map_walk_report.h"
#include "message.h"
#include "progress.h"
#include "shared_arguments.h"

struct walk_job {
	struct subnets subnets;
	bool isfr; /* what the routers do */
	bool all, json, verbose;
	struct hd_walker *walker;
};

static const struct argument arguments[] = {
    SUBNETS_ARGUMENT(struct walk_job, subnets),
    SUBNETS_MAPS(struct walk_job, subnets),
    SUBNETS_ENGINE(struct walk_job, subnets),
    {'r', "routers", "issr|isfr", "how routers choose the port of a packet (default issr)",
     ARGUMENT_CHOICE(struct walk_job, isfr)},
    {'a', "all", NULL, "walk from all hosts to all others, and search for credit loops",
     ARGUMENT_FLAG(struct walk_job, all)},
    SUBNETS_NAMES(struct walk_job, subnets),
    SHARED_JSON(struct walk_job, json),
    SHARED_VERBOSE(struct walk_job, verbose),
};

static const struct usage usage = {
    .synopsis =
	"heddle map walk --subnet PREFIX=FABRIC[:TABLES]... --maps FOLDER [OPTION]... SOURCE "
	"DESTINATION\n"
	"   or: heddle map walk --subnet PREFIX=FABRIC[:TABLES]... --maps FOLDER [OPTION]... --all",
    .summary = "Follows packets through the tables of all subnets and through the routers.",
    .arguments = arguments,
    .count = sizeof(arguments) / sizeof(arguments[0]),
    .notes = "SOURCE, DESTINATION: a GID, a GUID or name that only one subnet has, or "
	     "PREFIX/NAME.\nThe maps are those that 'heddle map issr' or 'heddle map isfr' wrote.",
    .statuses = {"all packets arrive, without a credit loop",
		 "a packet does not arrive, or there is a credit loop", "bad input or usage"},
};

static int walk_one(struct walk_job *job, struct map_walk_view *view,
		    const struct operands *operands)
{
	struct hd_error err = {""};
	struct hd_journey journey;
	int rc =
	    subnets_resolve(&job->subnets, operands->items[0], &view->from, &view->source, &err);

	if (!rc)
		rc = subnets_resolve(&job->subnets, operands->items[1], &view->to,
				     &view->destination, &err);
	if (rc)
		return message_fail(&err);
	hd_walk(job->walker, view->from, view->source, view->to, view->destination, &journey);
	int status = journey.end == HD_JOURNEY_ARRIVED ? STATUS_CLEAN : STATUS_FAULTS;
	if (job->json)
		return json_value_print(map_walk_path_json(view, &journey), status);
	map_walk_print_path(view, &journey);
	return status;
}

static int walk_all(struct walk_job *job, const struct map_walk_view *view)
{
	struct hd_journey_report report;
	struct hd_error err = {""};

	progress_begin("walking");
	int rc = hd_walk_all(job->walker, &report, &err);
	progress_end();
	if (rc)
		return message_fail(&err);
	int status = report.by_end[HD_JOURNEY_ARRIVED] == report.pairs && !report.cycle_length
			 ? STATUS_CLEAN
			 : STATUS_FAULTS;
	if (job->json)
		status = json_value_print(map_walk_report_json(view, &report), status);
	else
		map_walk_print_report(view, &report);
	hd_journey_report_release(&report);
	return status;
}

static int run(void *context, const struct operands *operands)
{
	struct walk_job *job = context;
	struct hd_log log = message_log(job->verbose);
	struct hd_error err = {""};
	struct hd_relay relay;
	int status = job->all ? arguments_expect(&usage, operands, "no operands with --all", 0, 0)
			      : arguments_expect(&usage, operands, "SOURCE and DESTINATION", 2, 2);

	if (status)
		return status;
	int rc = subnets_load(&job->subnets, SUBNETS_TABLES | SUBNETS_MAP, &log, &err);
	if (!rc)
		rc = subnets_relay(&job->subnets, job->isfr, &relay, &err);
	if (!rc)
		rc = hd_walker_new(job->subnets.interconnect, &relay, &job->walker, &err);
	if (rc)
		return message_fail(&err);
	struct map_walk_view view = {.interconnect = job->subnets.interconnect,
				     .joined = hd_walker_joined(job->walker)};
	return job->all ? walk_all(job, &view) : walk_one(job, &view, operands);
}

int map_walk(int argc, char **argv)
{
	struct walk_job job = {.isfr = false};
	int status = arguments_run(&usage, argc, argv, &job, run);

	hd_walker_free(job.walker);
	subnets_release(&job.subnets);
	return status;
}
