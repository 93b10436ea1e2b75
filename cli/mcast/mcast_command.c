/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* heddle mcast: plans multicast trees, or checks those in the switches. */
#include "commands.h"
#include "fabric_source.h"
#include "mcast_report.h"
#include "message.h"
#include "need.h"
#include "output.h"
#include "shared_arguments.h"

#include <errno.h>
#include <heddle/base/grow.h>
#include <heddle/base/text.h>
#include <limits.h>
#include <stdlib.h>

static int add_member(struct mcast_job *job, const char *name, struct hd_error *err)
{
	uint32_t port = HD_NONE;
	int rc = hd_fabric_resolve(job->fabric, name, HD_RESOLVE_ANY, &port, err);

	if (rc)
		return rc;
	job->members = need(
	    hd_grow(job->members, job->member_count, 1, &job->member_room, sizeof(*job->members)));
	job->members[job->member_count++] = port;
	return 0;
}

static int add_lines(struct mcast_job *job, struct hd_words *words, struct hd_error *err)
{
	int rc = 0;

	while (!rc && (rc = hd_words_next_name(words, err)) > 0) {
		rc = add_member(job, words->word[0], err);
		if (rc)
			return hd_lines_error_prefix(&words->lines, rc, err);
	}
	return rc;
}

static int add_file(struct mcast_job *job, struct hd_error *err)
{
	struct hd_words words;
	struct hd_text text;
	int rc = hd_text_open(job->members_path, &text, err);

	if (rc)
		return rc;
	rc = hd_words_begin(&words, &text, err);
	if (!rc)
		rc = add_lines(job, &words, err);
	hd_text_close(&text);
	return rc;
}

static int take_mlid(const struct typed *typed, void *place)
{
	char *end;

	errno = 0;
	unsigned long number = strtoul(typed->text, &end, 0);
	if (end == typed->text || *end || errno || number < HD_MLID_FIRST || number > HD_MLID_LAST)
		return message_error("option '--mlid': '%s' is not a multicast LID 0xC000..0xFFFE",
				     typed->text);
	*(uint32_t *)place = (uint32_t)number;
	return 0;
}

static const struct argument arguments[] = {
    {0, "members", "FILE", "further members, one a line; # begins a comment",
     ARGUMENT_TEXT(struct mcast_job, members_path)},
    {0, "source", "NODE", "only NODE sends, member or not (default: all members send)",
     ARGUMENT_TEXT(struct mcast_job, source_name)},
    {0, "groups", "N", "plan N random groups, one after the other, and show how they spread",
     ARGUMENT_NUMBER(struct mcast_job, groups, 1, RANDOM_GROUPS_MAX)},
    {0, "size", "K", "put K hosts into each random group (default 8)",
     ARGUMENT_NUMBER(struct mcast_job, size, 2, RANDOM_GROUP_SIZE_MAX)},
    {0, "seed", "S", "seed of the random groups (default 1)",
     ARGUMENT_NUMBER(struct mcast_job, seed, 0, INT64_MAX)},
    {0, "mcfdbs", "FILE", "show and check the trees in these multicast tables",
     ARGUMENT_TEXT(struct mcast_job, tables_path)},
    {0, "mlid", "MLID", "the group to show of these (0xC000..0xFFFE; default: a line for each)",
     ARGUMENT_BY(take_mlid, struct mcast_job, mlid)},
    SHARED_GRAPH(struct mcast_job, graph),
    SHARED_NAME_MAP(struct mcast_job, name_map),
    SHARED_JSON(struct mcast_job, json),
    SHARED_VERBOSE(struct mcast_job, verbose),
};

static const struct usage usage = {
    .synopsis = "heddle mcast [OPTION]... FABRIC MEMBER...\n"
		"   or: heddle mcast [OPTION]... --groups N FABRIC\n"
		"   or: heddle mcast [OPTION]... --mcfdbs FILE [--mlid MLID] FABRIC [MEMBER]...",
    .summary = "Plans the tree of a multicast group, or shows and checks those in the switches.",
    .arguments = arguments,
    .count = sizeof(arguments) / sizeof(arguments[0]),
    .notes = "MEMBER, NODE: a LID, a GUID with 0x, or a description; of hosts or switches.",
    .statuses = {"every packet reaches all members of its group once, and nobody else",
		 "a tree has a fault, or a member of a random group cannot be reached",
		 "bad input or usage"},
};

/* Options that exclude one another. */
static int refuse_mixtures(const struct mcast_job *job)
{
	bool named = job->name_count || job->members_path;

	if (!named && !job->groups && !job->tables_path)
		return arguments_refuse(&usage, "no member given");
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
		return message_error(
		    "MEMBER, --members, --source and --graph are for one group: give --mlid");
	return 0;
}

static int run(void *context, const struct operands *operands)
{
	struct mcast_job *job = context;
	int status = arguments_expect(&usage, operands, "FABRIC and members", 1, UINT_MAX);

	if (status)
		return status;
	job->fabric_path = operands->items[0];
	job->names = operands->items + 1;
	job->name_count = (int)operands->count - 1;
	const char *const inputs[] = {job->fabric_path, job->members_path, job->tables_path,
				      job->name_map};
	status = refuse_mixtures(job);
	if (!status)
		status = output_refuse("graph", job->graph, inputs, 4);
	if (status)
		return status;
	job->size = job->size ? job->size : RANDOM_GROUP_SIZE;
	job->seed = job->seed >= 0 ? job->seed : 1;
	struct hd_error err = {""};
	job->log = message_log(job->verbose);
	const struct fabric_source source = {job->fabric_path, job->name_map, LMC_ANY, NULL};
	int rc = fabric_source_load(&source, &job->log, &job->fabric, &err);
	if (!rc) {
		/* The ports of the members and of the source. */
		job->source = HD_NONE;
		for (int i = 0; !rc && i < job->name_count; i++)
			rc = add_member(job, job->names[i], &err);
		if (!rc && job->members_path)
			rc = add_file(job, &err);
		if (!rc && job->source_name)
			rc = hd_fabric_resolve(job->fabric, job->source_name, HD_RESOLVE_ANY,
					       &job->source, &err);
		if (!rc && job->members_path && !job->member_count)
			rc = hd_error_set(&err, -ENODATA, "%s: the file has no member",
					  job->members_path);
	}
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

	return arguments_run(&usage, argc, argv, &job, run);
}
