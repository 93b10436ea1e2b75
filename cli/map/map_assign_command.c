/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* heddle map issr, heddle map isfr: the maps of all subnets from their fabrics. */
#include "commands.h"
#include "json_value.h"
#include "message.h"
#include "need.h"
#include "output.h"
#include "shared_arguments.h"
#include "subnets.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct assign_job {
	struct subnets subnets;
	bool isfr, by_prefix, no_defaults, json, verbose;
	uint32_t backups;
	const char *output, *keep;
	struct hd_isfr_report *reports; /* [subnet] */
};

static const struct argument arguments[] = {
    /* the first row is of issr only */
    {0, "by-prefix", NULL, "give each subnet one router port, as OpenSM without Heddle, to compare",
     ARGUMENT_FLAG(struct assign_job, by_prefix)},
    SUBNETS_ARGUMENT(struct assign_job, subnets),
    {'o', "output", "FOLDER", "write the maps into FOLDER, one file for each subnet",
     ARGUMENT_TEXT(struct assign_job, output)},
    {'k', "keep", "FOLDER", "keep the lines of the maps in FOLDER; assign only new destinations",
     ARGUMENT_TEXT(struct assign_job, keep)},
    {'b', "backups", "N", "give each destination N backup ports (0..15, default 2)",
     ARGUMENT_NUMBER(struct assign_job, backups, 0, HD_MAP_PORTS_MAX - 1)},
    {0, "no-defaults", NULL, "write no * lines, so that only known destinations are reached",
     ARGUMENT_FLAG(struct assign_job, no_defaults)},
    SUBNETS_NAMES(struct assign_job, subnets),
    SHARED_JSON(struct assign_job, json),
    SHARED_VERBOSE(struct assign_job, verbose),
};

static int read_previous(const char *folder, uint64_t prefix, struct hd_map **out,
			 struct hd_error *err)
{
	struct hd_error reason;

	if (!folder)
		return 0;
	char *path = subnets_map_path(folder, prefix);
	int rc = hd_map_read(path, out, &reason);
	free(path);
	if (rc && rc != -ENOENT)
		return hd_error_set(err, rc, "%s", reason.text);
	return 0; /* a subnet that is new has no map yet */
}

static int assign_all(struct assign_job *job, struct hd_error *err)
{
	struct hd_log log = message_log(job->verbose);
	int rc = subnets_load(&job->subnets, 0, &log, err);

	if (!rc && job->subnets.count == 1)
		hd_log(
		    &log, HD_LOG_WARNING,
		    "only one subnet is given, so the map has no destinations: give the others by "
		    "--subnet, too");
	if (!rc && job->isfr)
		rc = hd_isfr_plan_new(job->subnets.interconnect, &job->subnets.plan, err);
	if (!rc && job->keep && access(job->keep, R_OK | X_OK))
		rc = hd_error_set(err, -errno, "--keep %s: %s", job->keep, strerror(errno));
	if (!rc && job->output)
		rc = output_make_folder(job->output, err);
	if (!rc) {
		job->reports = need(calloc(job->subnets.count, sizeof(*job->reports)));
	}
	for (uint32_t i = 0; !rc && i < job->subnets.count; i++) {
		const struct hd_interconnect *interconnect = job->subnets.interconnect;
		uint64_t prefix = interconnect->subnets[i].prefix;
		struct hd_map *map = NULL, *previous = NULL;
		rc = read_previous(job->keep, prefix, &previous, err);
		const struct hd_map_options options = {job->backups, job->no_defaults, previous};
		struct hd_isfr_report *report = &job->reports[i];
		if (!rc && job->by_prefix)
			rc = hd_prefix_map(interconnect, i, &map, err);
		else if (!rc)
			rc = job->isfr
				 ? hd_isfr_map(job->subnets.plan, i, &options, &map, report, err)
				 : hd_issr_map(interconnect, i, &options, &map, &report->assigned,
					       err);
		if (!rc && job->output) {
			const char *folder = job->output;
			char *path = subnets_map_path(folder, prefix);
			struct output output;
			rc = output_open(&output, path, err);
			if (!rc)
				rc = output_close(&output, hd_map_write(map, output.stream, err),
						  err);
			free(path);
		}
		hd_map_free(previous);
		hd_map_free(map);
	}
	return rc;
}

static json_t *subnet_json(const struct assign_job *job, uint32_t i)
{
	const struct hd_assign_report *assigned = &job->reports[i].assigned;
	const uint32_t *ordered = job->subnets.interconnect->ordered_base;
	json_t *value = json_pack(
	    "{s:o, s:o, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "prefix",
	    json_value_guid(job->subnets.interconnect->subnets[i].prefix), "fabric",
	    json_value_text(job->subnets.interconnect->subnets[i].name), "router_ports",
	    (json_int_t)(ordered[i + 1] - ordered[i]), "router_ports_used",
	    (json_int_t)assigned->ports, "destinations", (json_int_t)assigned->destinations,
	    "fewest", (json_int_t)assigned->fewest, "most", (json_int_t)assigned->most, "kept",
	    (json_int_t)assigned->kept, "unreachable", (json_int_t)assigned->unreachable);

	if (!job->isfr)
		return value;
	json_t *reasons = json_object();
	for (int reason = 0; reason < HD_ISFR_REASON_COUNT; reason++)
		reasons = json_value_set(reasons, hd_isfr_reason_name((enum hd_isfr_reason)reason),
					 json_integer(job->reports[i].by_reason[reason]));
	return json_value_set(value, "isfr", reasons);
}

static void print_subnet(const struct assign_job *job, uint32_t i)
{
	const struct hd_isfr_report *report = &job->reports[i];
	const struct hd_assign_report *assigned = &report->assigned;
	const uint32_t *ordered = job->subnets.interconnect->ordered_base;

	if (job->by_prefix) {
		printf("0x%016" PRIx64 "  one router port for each other subnet\n",
		       job->subnets.interconnect->subnets[i].prefix);
		return;
	}
	printf("0x%016" PRIx64 "  %" PRIu32 " destinations over %" PRIu32 " of %" PRIu32
	       " router ports, %" PRIu32 "..%" PRIu32 " each",
	       job->subnets.interconnect->subnets[i].prefix, assigned->destinations,
	       assigned->ports, ordered[i + 1] - ordered[i], assigned->fewest, assigned->most);
	if (assigned->kept)
		printf(", %" PRIu32 " kept", assigned->kept);
	if (assigned->unreachable)
		printf(", %" PRIu32 " unreachable", assigned->unreachable);
	putchar('\n');
	for (int reason = HD_ISFR_USED + 1; reason < HD_ISFR_REASON_COUNT; reason++)
		if (report->by_reason[reason])
			printf("                    %" PRIu32 " fall back to ISSR: %s\n",
			       report->by_reason[reason],
			       hd_isfr_reason_name((enum hd_isfr_reason)reason));
}

static int show(const struct assign_job *job)
{
	json_t *list = json_array();

	if (!job->json) {
		json_decref(list);
		for (uint32_t i = 0; i < job->subnets.count; i++)
			print_subnet(job, i);
		return STATUS_CLEAN;
	}
	for (uint32_t i = 0; i < job->subnets.count; i++)
		list = json_value_append(list, subnet_json(job, i));
	return json_value_print(json_pack("{s:s, s:o}", "algorithm",
					  job->by_prefix ? "by-prefix"
					  : job->isfr	 ? "isfr"
							 : "issr",
					  "subnets", list),
				STATUS_CLEAN);
}

static int run(void *context, const struct operands *operands)
{
	struct assign_job *job = context;
	struct hd_error err = {""};

	if (operands->count)
		return message_error("'%s' is one argument too many", operands->items[0]);
	return assign_all(job, &err) ? message_fail(&err) : show(job);
}

static int assign(bool isfr, int argc, char **argv)
{
	struct assign_job job = {.isfr = isfr, .backups = HD_ASSIGN_BACKUPS};
	const struct usage usage = {
	    .synopsis = isfr ? "heddle map isfr --subnet PREFIX=FABRIC... [OPTION]... [-o FOLDER]"
			     : "heddle map issr --subnet PREFIX=FABRIC... [OPTION]... [-o FOLDER]",
	    .summary = isfr
			   ? "Makes the maps of subnets that, with their routers, form one fat "
			     "tree (ISFR).\nDestinations for which that is not so are spread as by "
			     "'heddle map issr'."
			   : "Makes the maps of subnets: equal numbers of destinations for each "
			     "router port (ISSR).",
	    .arguments = arguments + isfr,
	    .count = sizeof(arguments) / sizeof(arguments[0]) - isfr,
	    .notes = "PREFIX: 0xfec0000000000001 or fec0:0:0:1::. FABRIC: output of ibnetdiscover "
		     "in that subnet.\nRouters are found by their node GUIDs. TABLES are not used. "
		     "The file of a subnet is FOLDER/PREFIX.map.",
	    .statuses = {"the maps were made", NULL, "bad input or usage"},
	};
	int status = arguments_run(&usage, argc, argv, &job, run);

	free(job.reports);
	subnets_release(&job.subnets);
	return status;
}

int map_issr(int argc, char **argv)
{
	return assign(false, argc, argv);
}

int map_isfr(int argc, char **argv)
{
	return assign(true, argc, argv);
}
