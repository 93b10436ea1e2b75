/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* heddle mcast: trees of multicast groups, planned or in the switches. */
#include "arguments.h"
#include "commands.h"
#include "fabric_source.h"
#include "graphviz.h"
#include "mcast_job.h"
#include "message.h"
#include "output.h"
#include "status.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#define GROUPS_MAX 16383
#define SIZE_DEFAULT 8
#define SIZE_MAX_MEMBERS 65535

static const struct argument arguments[] = {
    {0, "members", "FILE", "further members, one a line; # begins a comment"},
    {0, "source", "NODE", "the one that sends, member or not; the default is all members"},
    {0, "groups", "N", "plan N random groups, one after the other, and show how they spread"},
    {0, "size", "K", "hosts in each random group (default 8)"},
    {0, "seed", "S", "seed of the random groups (default 1)"},
    {0, "mcfdbs", "FILE", "show and check the trees that are in these tables"},
    {0, "mlid", "MLID", "the group to show of them (0xC000..0xFFFE); default: a line for each"},
    {0, "json", NULL, "print JSON"},
    {0, "graph", "FILE", "draw the tree (" GRAPHVIZ_ENDINGS "; needs Graphviz)"},
    {'v', "verbose", NULL, "show what the readers remark"},
};

enum { MEMBERS, SOURCE, GROUPS, SIZE, SEED, MCFDBS, MLID, JSON, GRAPH, VERBOSE };

static const struct usage usage = {
    .synopsis = "heddle mcast [OPTION]... FABRIC [MEMBER]...",
    .summary = "Plans the tree of a multicast group, or shows and checks those in the switches.",
    .arguments = arguments,
    .count = sizeof(arguments) / sizeof(arguments[0]),
    .notes = "MEMBER, NODE: a LID, a GUID with 0x, or a description; of hosts or switches.\n"
	     "Exit status: 0 right, 1 somebody is not reached or reached twice, 2 bad input.",
};

static int take_mlid(struct mcast_job *job, const char *value)
{
	char *end;

	errno = 0;
	unsigned long number = strtoul(value, &end, 0);
	if (end == value || *end || errno || number < HD_MLID_FIRST || number > HD_MLID_LAST)
		return message_error("option '--mlid': '%s' is not a multicast LID 0xC000..0xFFFE",
				     value);
	job->mlid = (uint32_t)number;
	return 0;
}

static int take_number(struct mcast_job *job, unsigned row, const char *value)
{
	int64_t *const numbers[] = {
	    [GROUPS] = &job->groups, [SIZE] = &job->size, [SEED] = &job->seed};
	static const int64_t least[] = {[GROUPS] = 1, [SIZE] = 2, [SEED] = 0};
	static const int64_t most[] = {
	    [GROUPS] = GROUPS_MAX, [SIZE] = SIZE_MAX_MEMBERS, [SEED] = INT64_MAX};

	return arguments_number(&arguments[row], value, least[row], most[row], numbers[row])
		   ? 0
		   : STATUS_BAD;
}

static int take(void *context, unsigned row, const char *value)
{
	struct mcast_job *job = context;

	switch (row) {
	case MEMBERS:
		job->members_path = value;
		return 0;
	case SOURCE:
		job->source_name = value;
		return 0;
	case MCFDBS:
		job->tables_path = value;
		return 0;
	case MLID:
		return take_mlid(job, value);
	case JSON:
		job->json = true;
		return 0;
	case GRAPH:
		job->graph = value;
		return !graphviz_can_draw(value);
	case VERBOSE:
		job->verbose = true;
		return 0;
	default:
		return take_number(job, row, value);
	}
}

/* Options that mean nothing together, so that nobody takes a figure for what it is not. */
static int refuse_mixtures(const struct mcast_job *job)
{
	bool named = job->name_count || job->members_path;

	if (!named && !job->groups && !job->tables_path)
		return message_error("no member given; usage: %s", usage.synopsis);
	if (job->groups && (named || job->source_name || job->tables_path))
		return message_error("--groups draws its members: give it no MEMBER, --members, "
				     "--source or --mcfdbs");
	if (job->groups && job->graph)
		return message_error("--graph draws one tree, not those of --groups");
	if (!job->groups && (job->size || job->seed >= 0))
		return message_error("--size and --seed are for --groups");
	if (job->mlid && !job->tables_path)
		return message_error("--mlid is for --mcfdbs");
	if (job->tables_path && !job->mlid && (named || job->source_name || job->graph))
		return message_error("members, --source and --graph are of one group: give --mlid");
	return 0;
}

static int run_job(struct mcast_job *job)
{
	struct hd_error err = {""};
	int status;

	job->log = message_log(job->verbose);
	int rc = fabric_source_load(job->fabric_path, LMC_ANY, &job->log, &job->fabric, &err);
	if (!rc)
		rc = mcast_members_find(job, &err);
	if (rc)
		status = message_fail(&err);
	else if (job->tables_path)
		status = mcast_tables(job);
	else
		status = job->groups ? mcast_plan_random(job) : mcast_plan(job);
	free(job->members);
	hd_fabric_free(job->fabric);
	return status;
}

int mcast_command(int argc, char **argv)
{
	struct mcast_job job = {.seed = -1, .source = HD_NONE};
	int operands;
	enum arguments_parsed parsed = arguments_parse(&usage, argc, argv, take, &job, &operands);

	if (parsed != ARGUMENTS_PARSED)
		return parsed == ARGUMENTS_REFUSED ? STATUS_BAD : STATUS_CLEAN;
	if (argc == operands)
		return message_error("expected a FABRIC; usage: %s", usage.synopsis);
	job.fabric_path = argv[operands];
	job.names = argv + operands + 1;
	job.name_count = argc - operands - 1;
	const char *const inputs[] = {job.fabric_path, job.members_path, job.tables_path};
	int status = refuse_mixtures(&job);
	if (!status)
		status = output_refuse(arguments[GRAPH].name, job.graph, inputs, 3);
	if (status)
		return status;
	job.size = job.size ? job.size : SIZE_DEFAULT;
	job.seed = job.seed >= 0 ? job.seed : 1;
	return run_job(&job);
}
