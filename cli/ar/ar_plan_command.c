/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* heddle ar plan: what the switches would be told about adaptive routing. */
#include "ar_job.h"
#include "commands.h"
#include "json_value.h"
#include "message.h"
#include "need.h"
#include "output.h"

#include <inttypes.h>

/* Each with what would help on a line of its own. */
static void print_notes(const struct ar_job *job)
{
	for (uint32_t i = 0; i < job->notes.count; i++) {
		struct hd_ar_note note = job->notes.list[i];
		char text[HD_AR_NOTE_TEXT], remedy[HD_AR_REMEDY_TEXT];
		snprintf(remedy, sizeof(remedy), "%s", note.remedy);
		note.remedy[0] = '\0';
		printf("%s  %s\n", i ? "              " : "why not more  ",
		       hd_ar_note_text(&note, text, sizeof(text)));
		if (*remedy)
			printf("                what would allow it: %s\n", remedy);
	}
}

void ar_plan_report_print(const struct ar_job *job)
{
	const struct hd_ar_plan *plan = job->plan;
	uint32_t switches = 0, groups = 0, most = 0;

	if (!plan) {
		printf("plan            refused: %s\n", job->refusal.text);
		for (uint32_t i = 0; i < job->loop->length; i++) {
			uint32_t link = job->loop->links[i], far = job->fabric->isl_reverse[link];
			char from[HD_LABEL_SIZE], to[HD_LABEL_SIZE];
			hd_port_label(job->fabric,
				      hd_port_index(job->fabric, hd_isl_from(job->fabric, link),
						    job->fabric->isl_port[link]),
				      from, sizeof(from));
			hd_port_label(job->fabric,
				      hd_port_index(job->fabric, job->fabric->isl_to[link],
						    job->fabric->isl_port[far]),
				      to, sizeof(to));
			printf("                %s -> %s\n", from, to);
		}
		print_notes(job);
		if (!job->tables.engine && table_source_advice(job->routes))
			puts(table_source_advice(job->routes));
		return;
	}
	for (uint32_t sw = 0; sw < plan->switch_count; sw++) {
		uint32_t used = plan->switches[sw].used;
		switches += used > 0;
		groups += used;
		most = used > most ? used : most;
	}
	printf("algorithm       %s, entries %s\n", hd_ar_algorithm_name(plan->algorithm),
	       hd_ar_state_name(plan->mode));
	printf("switches        %u of %u have groups\n", switches, plan->switch_count);
	printf("groups          %u, at most %u in one switch\n", groups, most);
	printf("entries         %" PRIu64 ", adaptive %" PRIu64 " (%.2f%%), possible %.2f%%\n",
	       plan->entries, plan->adaptive, 100 * hd_ar_plan_share(plan),
	       100 * hd_ar_plan_possible_share(plan));
	if (plan->full)
		printf("too few groups  %u switches\n", plan->full);
	printf("proof           no credit loop: %" PRIu64 " dependencies on %u lane%s, over all "
	       "ports of all groups\n",
	       plan->proof.dependencies, plan->proof.lanes, plan->proof.lanes == 1 ? "" : "s");
	print_notes(job);
	ar_recovery_print(&job->recovery);
}

static json_t *ports_json(const struct hd_port_set *ports)
{
	json_t *list = json_array();

	HD_PORT_SET_FOREACH(port, ports)
		list = json_value_append(list, json_integer(port));
	return list;
}

static json_t *group_json(const struct hd_ar_switch *sw, uint32_t number)
{
	const struct hd_ar_group *group = &sw->groups[number];
	struct hd_port_set all = group->ports[0];
	json_t *sub_groups = json_array();

	hd_port_set_unite(&all, &group->ports[1]);
	for (uint32_t sub = 0; sub < sw->sub_groups; sub++)
		sub_groups = json_value_append(sub_groups, ports_json(&group->ports[sub]));
	return json_pack("{s:I, s:o, s:o}", "number", (json_int_t)number, "ports", ports_json(&all),
			 "subgroups", sub_groups);
}

static json_t *lids_json(const struct hd_ar_plan *plan, uint32_t sw, uint32_t table)
{
	json_t *list = json_array();

	for (uint32_t lid = 0; lid < plan->lid_count; lid++) {
		uint8_t port = plan->switches[sw].lid_port[table][lid];
		uint32_t group = hd_ar_plan_group(plan, sw, table, lid);
		if (port == HD_NO_PORT)
			continue;
		list = json_value_append(
		    list, json_pack("{s:I, s:s, s:i, s:o}", "lid", (json_int_t)lid, "state",
				    hd_ar_state_name(hd_ar_plan_state(plan, sw, table, lid)),
				    "port", (int)port, "group",
				    group == HD_AR_NO_GROUP ? json_null() : json_integer(group)));
	}
	return list;
}

/* With private tables, "lids" is the first of them, and "tables" has all. */
static json_t *switch_json(const struct hd_ar_plan *plan, uint32_t sw)
{
	const struct hd_ar_switch *planned = &plan->switches[sw];
	json_t *list = json_array();

	for (uint32_t number = 0; number < planned->group_count; number++)
		if (!hd_ar_group_is_empty(&planned->groups[number]))
			list = json_value_append(list, group_json(planned, number));
	json_t *value =
	    json_pack("{s:o, s:I, s:o, s:o}", "guid", json_value_guid(planned->guid), "group_count",
		      (json_int_t)planned->used, "groups", list, "lids", lids_json(plan, sw, 0));
	json_t *tables = json_array();

	if (plan->table_count == 1) {
		json_decref(tables);
		return value;
	}
	for (uint32_t table = 0; table < plan->table_count; table++)
		tables = json_value_append(tables, lids_json(plan, sw, table));
	return json_value_set(value, "tables", tables);
}

static json_t *end_json(const struct hd_fabric *fabric, uint32_t sw, uint32_t port)
{
	return json_pack("{s:o, s:o, s:I}", "name", json_value_text(fabric->node_name[sw]), "guid",
			 json_value_guid(fabric->node_guid[sw]), "port", (json_int_t)port);
}

static json_t *notes_json(const struct ar_job *job)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < job->notes.count; i++) {
		const struct hd_ar_note *note = &job->notes.list[i];
		list = json_value_append(
		    list,
		    json_pack("{s:s, s:s, s:I, s:o, s:o}", "kind", hd_ar_note_kind_name(note->kind),
			      "algorithm", hd_ar_algorithm_name(note->algorithm), "entries",
			      (json_int_t)note->entries, "cause", json_value_text(note->cause),
			      "remedy", json_value_text(note->remedy)));
	}
	return list;
}

json_t *ar_plan_report_json(const struct ar_job *job)
{
	const struct hd_ar_plan *plan = job->plan;
	json_t *switches = json_array();

	if (!plan) {
		json_decref(switches);
		const struct hd_fabric *fabric = job->fabric;
		json_t *links = json_array();
		for (uint32_t i = 0; i < job->loop->length; i++) {
			uint32_t link = job->loop->links[i], far = fabric->isl_reverse[link];
			links = json_value_append(
			    links,
			    json_pack(
				"{s:o, s:o}", "from",
				end_json(fabric, hd_isl_from(fabric, link), fabric->isl_port[link]),
				"to",
				end_json(fabric, fabric->isl_to[link], fabric->isl_port[far])));
		}
		return json_pack("{s:s, s:[], s:f, s:o, s:{s:b, s:o, s:o}}", "algorithm",
				 hd_ar_algorithm_name(job->site.config.algorithm), "switches",
				 "adaptive_share", 0.0, "notes", notes_json(job), "proof", "clean",
				 0, "reason", json_value_text(job->refusal.text), "loop",
				 json_pack("{s:i, s:o}", "vl", (int)job->loop->vl, "links", links));
	}
	for (uint32_t sw = 0; sw < plan->switch_count; sw++)
		switches = json_value_append(switches, switch_json(plan, sw));
	return json_pack(
	    "{s:s, s:s, s:o, s:f, s:f, s:o, s:{s:b, s:I, s:I}, s:o}", "algorithm",
	    hd_ar_algorithm_name(plan->algorithm), "mode", hd_ar_state_name(plan->mode), "switches",
	    switches, "adaptive_share", hd_ar_plan_share(plan), "possible_share",
	    hd_ar_plan_possible_share(plan), "notes", notes_json(job), "proof", "clean", 1, "lanes",
	    (json_int_t)plan->proof.lanes, "dependencies", (json_int_t)plan->proof.dependencies,
	    "fast_recovery", ar_recovery_json(&job->recovery));
}

static int write_info(const struct ar_job *job, FILE *stream, struct hd_error *err)
{
	const struct hd_ar_info able = {.group_cap = hd_ar_capability_full.group_cap,
					.sub_grps_supported = hd_ar_capability_full.sub_groups};
	int rc = hd_ar_write_info_begin(stream, err);

	for (uint32_t sw = 0; !rc && sw < job->plan->switch_count; sw++) {
		struct hd_ar_image *image = NULL;
		if (hd_ar_image_of_plan(job->plan, sw, &hd_ar_settings_default,
					&hd_ar_quirks_default, &able, &image))
			need(NULL);
		rc = hd_ar_write_info_row(job->plan->switches[sw].guid, &image->info, stream, err);
		hd_ar_image_free(image);
	}
	return rc ? rc : hd_ar_write_info_end(stream, err);
}

/* Writes heddle.far and heddle-ar-info.csv into a folder, which must exist. Errors: errno of the
 * files. */
static int ar_plan_report_write(const struct ar_job *job, struct hd_error *err)
{
	static const char *const names[] = {"heddle.far", "heddle-ar-info.csv"};
	char text[2][4096];
	const char *const paths[] = {text[0], text[1]};
	struct output outputs[2];

	for (unsigned i = 0; i < 2; i++)
		snprintf(text[i], sizeof(text[i]), "%s/%s", job->folder, names[i]);
	int rc = output_make_folder(job->folder, err);
	if (!rc)
		rc = output_open_all(outputs, paths, 2, err);
	if (rc)
		return rc;
	rc = output_flush(&outputs[0],
			  hd_ar_write_far(job->plan, job->fabric, outputs[0].stream, err), err);
	if (!rc)
		rc = output_flush(&outputs[1], write_info(job, outputs[1].stream, err), err);
	return output_close_all(outputs, 2, rc, err);
}

static const struct argument arguments[] = {
    AR_JOB_ARGUMENTS,
    {0, "mode", "bounded|free",
     "when a flow may change its port (default: as FILE says, else bounded)",
     ARGUMENT_CHOICE(struct ar_job, mode)},
    {'o', "output", "FOLDER", "write heddle.far and heddle-ar-info.csv into FOLDER",
     ARGUMENT_TEXT(struct ar_job, folder)},
    {0, "losses", "N", "lose two cables at random N times (0..100000, default 1000)",
     ARGUMENT_NUMBER(struct ar_job, recovery.sampled, 0, AR_RECOVERY_SAMPLED_MAX)},
    {'s', "seed", "S", "seed of all random choices (default 1)",
     ARGUMENT_NUMBER(struct ar_job, recovery.seed, 0, INT64_MAX)},
    {0, "silent-statics", NULL, "let no switch send notices for static entries",
     ARGUMENT_FLAG(struct ar_job, recovery.silent_statics)},
    SHARED_NAME_MAP(struct ar_job, name_map),
    SHARED_LMC(struct ar_job, lmc),
    SHARED_THREADS(struct ar_job, threads),
    SHARED_JSON(struct ar_job, json),
    SHARED_VERBOSE(struct ar_job, verbose),
};

static const struct usage usage = {
    .synopsis = "heddle ar plan [OPTION]... FABRIC TABLES...\n"
		"   or: heddle ar plan [OPTION]... -e NAME[:KEY=VALUE,...] FABRIC",
    .summary =
	"Plans adaptive routing for forwarding tables, and proves that it cannot deadlock. Says\n"
	"what share of paths lives on right after the loss of a cable, by fast recovery alone.",
    .arguments = arguments,
    .count = sizeof(arguments) / sizeof(arguments[0]),
    .notes = "TABLES: forwarding tables and service levels, in files or folders of files.\n"
	     "All switches are taken for such that have adaptive routing, but for those that the\n"
	     "configuration excludes.",
    .statuses = {"there is a plan without a credit loop",
		 "the plan is refused: the tables or its groups have a credit loop",
		 "bad input or usage, or the engine or algorithm refuses the fabric"},
};

static int run(void *context, const struct operands *operands)
{
	struct ar_job *job = context;
	struct hd_error err = {""};
	int status = table_source_take_operands(&job->tables, &usage, operands, 0,
						"FABRIC and TABLES (with -e: FABRIC)");

	if (status)
		return status;
	job->fabric_path = operands->items[0];
	if (ar_job_make(job, &err))
		return message_fail(&err);
	if (job->plan) {
		const struct hd_ar_recovery_request request = {.fabric = job->fabric,
							       .routes = job->routes,
							       .plan = job->plan,
							       .silent_statics =
								   job->recovery.silent_statics,
							       .threads = job->threads};
		ar_recovery_make(&job->recovery, &request);
	}
	status = job->plan ? STATUS_CLEAN : STATUS_FAULTS;
	if (job->plan && job->folder && ar_plan_report_write(job, &err))
		return message_fail(&err);
	/* No fault, but hardly what was wanted. */
	const struct hd_log log = message_log(false);
	char text[HD_AR_NOTE_TEXT];
	if (job->plan && !job->plan->adaptive) {
		if (!job->notes.count)
			hd_log(&log, HD_LOG_WARNING, "no entry is adaptive");
		else if (job->notes.list[0].kind == HD_AR_NOTE_NOTHING)
			hd_log(&log, HD_LOG_WARNING, "%s",
			       hd_ar_note_text(&job->notes.list[0], text, sizeof(text)));
		else
			hd_log(&log, HD_LOG_WARNING, "no entry is adaptive: %s",
			       hd_ar_note_text(&job->notes.list[0], text, sizeof(text)));
	}
	if (job->json)
		return json_value_print(ar_plan_report_json(job), status);
	ar_plan_report_print(job);
	return status;
}

int ar_plan(int argc, char **argv)
{
	struct ar_job job = AR_JOB_DEFAULTS;
	int status = arguments_run(&usage, argc, argv, &job, run);

	ar_job_release(&job);
	return status;
}
