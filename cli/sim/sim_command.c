/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* heddle sim: packets through the tables. */
#include "catalogue.h"
#include "commands.h"
#include "csv.h"
#include "gnuplot.h"
#include "html.h"
#include "interrupt.h"
#include "json_value.h"
#include "message.h"
#include "output.h"
#include "sim_arguments.h"
#include "sim_view.h"

#include <errno.h>
#include <heddle/analysis/pattern.h>
#include <heddle/base/suggest.h>
#include <heddle/keyd/key_pattern.h>
#include <heddle/sim/scenario.h>
#include <heddle/sim/workload.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- what is asked ---- */

/* A planner's question: one kind of traffic between these hosts, under several tables. The answer is the
 * scenario `question` with values from the command line. */

#define SIM_QUESTION_SCENARIO "question"

struct sim_question {
	const char *fabric; /* NULL: no question is asked */
	struct sim_words engines; /* "NAME[:KEY=VALUE,...]" */
	struct sim_words tables; /* files or folders */
	const char *hosts; /* a file of hosts */
	const char *pattern; /* "alltoall" */
	const char *size; /* of a message */
	const char *trace; /* a GOAL trace, in place of pattern and size */
	bool adaptive; /* the first tables with a plan that is made now */
	const char *plan; /* or with that of a file; NULL: none */
};

#define SIM_QUESTION_ARGUMENTS(type, member)                                                       \
	{0, "fabric", "FILE",                                                                      \
	 "ask for this fabric, without a scenario; with -e the first operand",                     \
	 ARGUMENT_TEXT(type, member.fabric)},                                                      \
	    {'e', "engine", "NAME[:KEY=VALUE,...]",                                                \
	     "with --fabric: the tables of this engine; may be repeated",                          \
	     ARGUMENT_BY(sim_arguments_take_word, type, member.engines)},                          \
	    {0, "ar", NULL, "with --fabric: the first tables also with adaptive routing",          \
	     ARGUMENT_FLAG(type, member.adaptive)},                                                \
	    {0, "plan", "FILE", "the same with this plan (.far file, see heddle ar status -o)",    \
	     ARGUMENT_TEXT(type, member.plan)},                                                    \
	    {0, "hosts", "FILE", "with --fabric: the hosts that take part, one a line",            \
	     ARGUMENT_TEXT(type, member.hosts)},                                                   \
	    {0, "pattern", "NAME[:ARGUMENT]",                                                      \
	     "with --fabric: a collective operation, a pattern of phases, or one of heddle ebb "   \
	     "(default "                                                                           \
	     "all-to-all)",                                                                        \
	     ARGUMENT_TEXT(type, member.pattern)},                                                 \
	    {0, "size", "BYTES", "with --fabric: of each message (default 64 KiB)",                \
	     ARGUMENT_TEXT(type, member.size)},                                                    \
	{                                                                                          \
		0, "trace", "FILE",                                                                \
		    "with --fabric: what a GOAL trace says, or a Chakra trace (its PREFIX)",       \
		    ARGUMENT_TEXT(type, member.trace)                                              \
	}

/* "all-to-all of 64 KiB between 200 hosts of fabric.txt". Returns buffer. */
#define SIM_QUESTION_TITLE 400

#define SIM_QUESTION_LABEL 4096 /* bytes of a column's label */

/* As other commands, it takes FABRIC as an operand where engines are named: scenarios name their own. */
static bool sim_question_asked(const struct sim_question *question, const struct operands *operands)
{
	return question->fabric || (question->engines.count && operands->count);
}

/* Tables from the operands, and before them the fabric if no option has it. 0, or STATUS_BAD after a message. */
static int sim_question_take_operands(struct sim_question *question,
				      const struct operands *operands)
{
	unsigned first = 0;

	if (!question->fabric)
		question->fabric = operands->items[first++];
	for (unsigned i = first; i < operands->count; i++) {
		const struct typed typed = {.text = operands->items[i]};
		int status = sim_arguments_take_word(&typed, &question->tables);
		if (status)
			return status;
	}
	return 0;
}

/* STATUS_BAD after a message if options of the question come without --fabric. */
static int sim_question_refuse(const struct sim_question *question)
{
	if (question->adaptive && question->plan)
		return message_error("options --ar and --plan do not work together");
	if (question->trace && (question->pattern || question->size))
		return message_error(
		    "a --trace says what is sent: --pattern and --size do not go with it");
	if (question->fabric)
		return 0;
	if (question->engines.count || question->hosts || question->pattern || question->size ||
	    question->adaptive || question->plan || question->trace)
		return message_error("-e needs a FABRIC, --ar, --plan, --hosts, --pattern, --size "
				     "and --trace need --fabric; "
				     "a scenario has keys for them (-O routing.engine=NAME)");
	return 0;
}

/* ---- the points: engines, then tables, then the first of them with adaptive routing ---- */

struct column {
	const char *label, *engine, *tables, *ar;
};

static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* Tables go by the last part of their path, unless others have the same. */
static const char *label_of(const struct sim_question *question, const char *tables)
{
	const char *const own = last_part(tables);
	uint32_t same = 0;

	for (uint32_t i = 0; i < question->tables.count; i++)
		same += !strcmp(last_part(question->tables.items[i]), own);
	return *own && same == 1 ? own : tables;
}

static struct column column_of(const struct sim_question *question, uint32_t index)
{
	uint32_t engines = question->engines.count;

	if (!engines && !question->tables.count)
		return (struct column){"auto", "auto", "", "off"};
	if (index < engines)
		return (struct column){question->engines.items[index],
				       question->engines.items[index], "", "off"};
	const char *tables = question->tables.items[index - engines];
	return (struct column){label_of(question, tables), "auto", tables, "off"};
}

static uint32_t column_count(const struct sim_question *question)
{
	uint32_t given = question->engines.count + question->tables.count;

	return given ? given : 1;
}

/* ---- what is put over the scenario ---- */

/* KEY=VALUE; `option` is the one that was typed for it. */
static int set(struct hd_scenario *scenario, const char *option, const char *key, const char *value,
	       struct hd_error *err)
{
	char *text = NULL;

	if (!value)
		return 0;
	if (asprintf(&text, "%s=%s", key, value) < 0)
		return hd_error_no_memory(err);
	int rc = hd_scenario_set_by(scenario, option, text, err);
	free(text);
	return rc;
}

/* A line of the sweep: "a | b | c". */
static int set_line(const struct sim_question *question, struct hd_scenario *scenario,
		    const char *option, const char *key, size_t member, const char *adaptive,
		    struct hd_error *err)
{
	char *text = NULL;
	size_t size;
	FILE *stream = open_memstream(&text, &size);

	for (uint32_t i = 0; stream && i < column_count(question); i++) {
		const struct column column = column_of(question, i);
		const char *value;
		memcpy(&value, (const char *)&column + member, sizeof(value));
		fprintf(stream, "%s%s", i ? " | " : "", value);
	}
	if (stream && (question->adaptive || question->plan))
		fprintf(stream, " | %s", adaptive);
	int rc = stream && !fclose(stream) ? set(scenario, option, key, text, err)
					   : hd_error_no_memory(err);
	free(text);
	return rc;
}

static int set_tables(const struct sim_question *question, struct hd_scenario *scenario,
		      struct hd_error *err)
{
	const struct column first = column_of(question, 0);
	char label[SIM_QUESTION_LABEL], plan[SIM_QUESTION_LABEL];

	const struct {
		const char *option, *key;
		size_t member;
		const char *adaptive; /* of the last column */
	} lines[] = {
	    {NULL, "sweep.tables.labels", offsetof(struct column, label), label},
	    {question->engines.count ? "-e" : "", "sweep.tables.routing.engine",
	     offsetof(struct column, engine), first.engine},
	    {"", "sweep.tables.routing.tables", offsetof(struct column, tables), first.tables},
	    {question->plan ? "--plan" : "--ar", "sweep.tables.routing.ar",
	     offsetof(struct column, ar), plan},
	};
	int rc = 0;

	snprintf(label, sizeof(label), "%s" SIM_ANSWER_ADAPTIVE, first.label);
	snprintf(plan, sizeof(plan), "%s%s", question->plan ? "file:" : "auto",
		 question->plan ? question->plan : "");
	for (unsigned i = 0; !rc && i < sizeof(lines) / sizeof(lines[0]); i++)
		rc = set_line(question, scenario, lines[i].option, lines[i].key, lines[i].member,
			      lines[i].adaptive, err);
	return rc;
}

/* "a|b|c": the operations of collective traffic. */
static const char *operations(void)
{
	const struct hd_traffic_kind *kind = hd_traffic_find("collective");

	for (unsigned i = 0; kind && i < kind->option_count; i++)
		if (!strcmp(kind->options[i].name, "operation"))
			return kind->options[i].choices;
	return "";
}

static bool is_operation(const char *name)
{
	size_t length = strlen(name);

	for (const char *at = operations(); *at; at += *at == '|') {
		size_t choice = strcspn(at, "|");
		if (choice == length && !strncmp(at, name, length))
			return true;
		at += choice;
	}
	return false;
}

static bool is_phases(const char *name)
{
	size_t length = strcspn(name, ":");
	unsigned count;
	const struct hd_key_pattern_kind *kinds = hd_key_pattern_kinds(&count);

	for (unsigned i = 0; i < count; i++)
		if (strlen(kinds[i].name) == length && !strncmp(kinds[i].name, name, length))
			return true;
	return false;
}

/* A pattern of heddle ebb, in the form of scenarios: a comma in the place of the colon. False: it is
 * none. */
static bool is_rounds(const char *name, char *form, size_t size)
{
	size_t length = strcspn(name, ":");

	if (snprintf(form, size, "%.*s", (int)length, name) >= (int)size || !hd_pattern_find(form))
		return false;
	if (name[length])
		return snprintf(form + length, size - length, ",%s", name + length + 1) <
		       (int)(size - length);
	return true;
}

static int unknown_pattern(const char *name, struct hd_error *err)
{
	struct hd_suggestion suggestion = hd_suggestion_for(name);
	char list[400], *rest = NULL;
	unsigned count;
	const struct hd_key_pattern_kind *kinds = hd_key_pattern_kinds(&count);

	snprintf(list, sizeof(list), "%s", operations());
	for (char *word = strtok_r(list, "|", &rest); word; word = strtok_r(NULL, "|", &rest))
		hd_suggestion_offer(&suggestion, word);
	for (unsigned i = 0; i < count; i++)
		hd_suggestion_offer(&suggestion, kinds[i].name);
	if (suggestion.nearest)
		return hd_error_set(err, -EINVAL, "--pattern %s: no such pattern; did you mean %s?",
				    name, suggestion.nearest);
	snprintf(list, sizeof(list), "%s", operations());
	for (unsigned i = 0; i < count; i++) {
		size_t used = strlen(list);
		snprintf(list + used, sizeof(list) - used, "|%s", kinds[i].name);
	}
	return hd_error_set(err, -EINVAL, "--pattern %s: no such pattern; there are %s", name,
			    list);
}

/* Makes another traffic of the scenario active, with this pattern. */
static int set_traffic(struct hd_scenario *scenario, const char *traffic, const char *pattern,
		       struct hd_error *err)
{
	static const char option[] = "--pattern";
	char key[40];
	int rc = set(scenario, option, "traffic.collective.active", "no", err);

	snprintf(key, sizeof(key), "traffic.%s.active", traffic);
	if (!rc)
		rc = set(scenario, option, key, "yes", err);
	snprintf(key, sizeof(key), "traffic.%s.pattern", traffic);
	return rc ? rc : set(scenario, option, key, pattern, err);
}

/* A collective operation, or else a pattern of phases, or else one of heddle ebb. */
static int set_pattern(const struct sim_question *question, struct hd_scenario *scenario,
		       struct hd_error *err)
{
	const char *pattern = question->pattern;
	char rounds[160];

	if (!pattern)
		return 0;
	if (is_operation(pattern))
		return set(scenario, "--pattern", "traffic.collective.operation", pattern, err);
	if (is_phases(pattern))
		return set_traffic(scenario, "phases", pattern, err);
	if (is_rounds(pattern, rounds, sizeof(rounds)))
		return set_traffic(scenario, "rounds", rounds, err);
	return unknown_pattern(pattern, err);
}

/* A Chakra trace has one file a rank, so its name alone is none. */
static bool is_chakra(const char *prefix)
{
	char *first = NULL;

	if (!access(prefix, F_OK) || asprintf(&first, "%s.0.et", prefix) < 0)
		return false;
	bool found = !access(first, F_OK);
	free(first);
	return found;
}

static int set_trace(const struct sim_question *question, struct hd_scenario *scenario,
		     struct hd_error *err)
{
	static const char option[] = "--trace";
	char *path = NULL;
	int rc;

	if (!question->trace)
		return 0;
	if (asprintf(&path, "file:%s", question->trace) < 0)
		return hd_error_no_memory(err);
	bool chakra = is_chakra(question->trace);
	rc = set(scenario, option, "traffic.collective.active", "no", err);
	if (!rc)
		rc = set(scenario, option, chakra ? "traffic.chakra.active" : "traffic.goal.active",
			 "yes", err);
	if (!rc)
		rc = set(scenario, option, chakra ? "traffic.chakra.trace" : "traffic.goal.trace",
			 path, err);
	free(path);
	return rc;
}

static int check(const struct sim_question *question, struct hd_error *err)
{
	if (question->plan && (strchr(question->plan, '|') ||
			       strlen(question->plan) >= SIM_QUESTION_LABEL - strlen("file:")))
		return hd_error_set(err, -EINVAL,
				    "--plan %.40s: the path is too long, or has a '|'",
				    question->plan);
	for (uint32_t i = 0; i < column_count(question); i++) {
		const char *label = column_of(question, i).label;
		if (strchr(label, '|'))
			return hd_error_set(err, -EINVAL, "'%s' has a '|', which separates values",
					    label);
		if (strlen(label) >= SIM_QUESTION_LABEL - strlen(SIM_ANSWER_ADAPTIVE))
			return hd_error_set(err, -EINVAL, "'%.40s...' is too long", label);
	}
	return 0;
}

/* Puts what was typed over the scenario. Errors: -EINVAL, -ENOMEM. */
static int sim_question_apply(const struct sim_question *question, struct hd_scenario *scenario,
			      struct hd_error *err)
{
	char *hosts = NULL;
	int rc = check(question, err);

	if (!rc)
		rc = set_tables(question, scenario, err);
	if (!rc)
		rc = set(scenario, "--fabric", "fabric.file", question->fabric, err);
	if (!rc && question->hosts && asprintf(&hosts, "file:%s", question->hosts) < 0) {
		hosts = NULL;
		rc = hd_error_no_memory(err);
	}
	if (!rc)
		rc = set(scenario, "--hosts", "traffic.hosts", hosts, err);
	if (!rc)
		rc = set_pattern(question, scenario, err);
	if (!rc)
		rc = set_trace(question, scenario, err);
	if (!rc)
		rc = set(scenario, "--size", "traffic.collective.size", question->size, err);
	if (!rc)
		rc = set(scenario, "--size", "traffic.phases.size", question->size, err);
	free(hosts);
	return rc;
}

/* ---- its title ---- */

static bool is_active(const struct hd_scenario *scenario, const char *key)
{
	const char *value = hd_scenario_value(scenario, key);

	return value && !strcmp(value, "yes");
}

static const char *sim_question_title(const struct sim_question *question,
				      const struct hd_scenario *scenario,
				      const struct hd_scenario_runs *runs, char *buffer,
				      size_t size)
{
	bool phases = is_active(scenario, "traffic.phases.active");
	bool rounds = is_active(scenario, "traffic.rounds.active");
	const char *what = hd_scenario_value(scenario, phases	? "traffic.phases.pattern"
						       : rounds ? "traffic.rounds.pattern"
								: "traffic.collective.operation");
	const char *bytes = hd_scenario_value(scenario, phases	 ? "traffic.phases.size"
							: rounds ? "traffic.rounds.size"
								 : "traffic.collective.size");

	if (question->trace) {
		snprintf(buffer, size, "%s on %" PRIu32 " hosts of %s", last_part(question->trace),
			 hd_scenario_host_count(runs, 0), last_part(question->fabric));
		return buffer;
	}
	snprintf(buffer, size, "%s of %s between %" PRIu32 " hosts of %s", what ? what : "traffic",
		 bytes ? bytes : "messages", hd_scenario_host_count(runs, 0),
		 last_part(question->fabric));
	return buffer;
}

static void sim_question_release(struct sim_question *question)
{
	free(question->engines.items);
	free(question->tables.items);
}

/* ---- the list of scenarios ---- */

/* What a scenario may say. */

static unsigned section_count(void)
{
	struct hd_scenario_section section;
	unsigned count = 0;

	while (hd_scenario_section(count, &section))
		count++;
	return count;
}

static struct catalogue_entry section_entry(unsigned index)
{
	struct hd_scenario_section section = {.count = 0};

	hd_scenario_section(index, &section);
	return (struct catalogue_entry){section.name, section.summary, section.keys, section.count};
}

static unsigned kind_count(void)
{
	unsigned count;

	hd_traffic_kinds(&count);
	return count;
}

static struct catalogue_entry kind_entry(unsigned index)
{
	unsigned count;
	const struct hd_traffic_kind *kind = hd_traffic_kinds(&count)[index];

	return (struct catalogue_entry){kind->name, kind->summary, kind->options,
					kind->option_count};
}

static const struct catalogue sections = {"section", section_count, section_entry};

static const struct catalogue kinds = {"kind of traffic", kind_count, kind_entry};

static int print(const struct catalogue *catalogue, bool json)
{
	if (json)
		return json_value_print(catalogue_json(catalogue, NULL), STATUS_CLEAN);
	catalogue_print(catalogue, NULL);
	return STATUS_CLEAN;
}

/* Print sections and their keys, or kinds of traffic and their options. The exit status. */
static int sim_list_keys(bool json)
{
	return print(&sections, json);
}

static int sim_list_kinds(bool json)
{
	return print(&kinds, json);
}

/* ---- the command ---- */

#define HOT_MAX 100000

struct sim_job {
	struct sim_options options;
	struct sim_question question;
	struct sim_case one;
	uint32_t hot;
	const char *html, *plot, *figure;
	char title[SIM_QUESTION_TITLE];
	bool json, csv, all, keys, kinds;
};

static const struct argument arguments[] = {
    SIM_ARGUMENTS(struct sim_job, options),
    {0, "state", "FILE", "keep finished runs, and go on where a run before was ended",
     ARGUMENT_TEXT(struct sim_job, options.state)},
    {0, "counters", "FILE", "write the counters of all ports after the only run, for heddle why",
     ARGUMENT_TEXT(struct sim_job, options.counters)},
    {0, "html", "FILE", "write a report for a browser, one file",
     ARGUMENT_TEXT(struct sim_job, html)},
    {0, "plot", "FILE", "draw a figure against the sweeps (.svg or .png, by gnuplot)",
     ARGUMENT_BY(gnuplot_take_path, struct sim_job, plot)},
    {0, "figure", "NAME", "with --plot: this figure, by its name in --csv and --json",
     ARGUMENT_TEXT(struct sim_job, figure)},
    {0, "hot", "K", "name the K busiest links of each point (default 5)",
     ARGUMENT_NUMBER(struct sim_job, hot, 0, HOT_MAX)},
    {0, "all", NULL, "print the figures of each flow, ring and rank, too",
     ARGUMENT_FLAG(struct sim_job, all)},
    {0, "keys", NULL, "list the sections of scenarios and their keys, and end",
     ARGUMENT_FLAG(struct sim_job, keys)},
    {0, "kinds", NULL, "list the kinds of traffic and their keys, and end",
     ARGUMENT_FLAG(struct sim_job, kinds)},
    SIM_QUESTION_ARGUMENTS(struct sim_job, question),
    SHARED_JSON(struct sim_job, json),
    SHARED_CSV(struct sim_job, csv),
};

static const struct usage usage = {
    .synopsis =
	"heddle sim [OPTION]... SCENARIO\n"
	"   or: heddle sim [OPTION]... -e NAME[:KEY=VALUE,...] FABRIC [TABLES]...\n"
	"   or: heddle sim [OPTION]... --fabric FILE [-e NAME[:KEY=VALUE,...]]... [TABLES]...",
    .summary = "Sends packets through forwarding tables: simulates a scenario, or one kind of "
	       "traffic\nunder several tables.",
    .arguments = arguments,
    .count = sizeof(arguments) / sizeof(arguments[0]),
    .notes = "SCENARIO: a file, or the name of one that comes with heddle. TABLES: files or "
	     "folders of\ntables. SIGINT ends the runs; the report then says so.",
    .statuses = {"all runs are complete", "packets met a deadlock, or the runs were ended early",
		 "bad input or usage"},
};

static int write_html(const struct sim_job *job, struct hd_error *err)
{
	const char *title = job->one.view.title;
	struct output output;
	int rc = output_open(&output, job->html, err);

	if (rc)
		return rc;
	html_begin(output.stream, title);
	fputs("<h1>", output.stream);
	html_text(output.stream, title);
	fputs("</h1>\n", output.stream);
	rc = sim_html_section(&job->one.view, "sim", "h2", output.stream) ? hd_error_no_memory(err)
									  : 0;
	html_end(output.stream);
	return output_close(&output, rc, err);
}

/* STATUS_BAD after a message if a file could not be written; the report is printed all the same,
 * because the runs may have been long. */
static int write_files(const struct sim_job *job)
{
	struct hd_error err;
	int status = 0;

	if (job->options.processes->part != 0)
		return 0;
	if (job->html && write_html(job, &err))
		status = message_fail(&err);
	if (job->options.counters &&
	    sim_counters_write(&job->one.view, job->options.counters, &err))
		status = message_fail(&err);
	if (job->plot && sim_plot_figure(&job->one.view, job->figure, job->plot, &err))
		status = message_fail(&err);
	return status;
}

static int show(struct sim_job *job)
{
	struct sim_view *view = &job->one.view;
	int status = write_files(job);

	if (!status)
		status = sim_view_status(view);
	if (job->json)
		return json_value_print(sim_report_json(view, job->one.name), status);
	if (job->csv) {
		struct csv csv = csv_begin(stdout, SIM_REPORT_CSV_COLUMNS);
		sim_report_csv(view, job->one.name, &csv);
	} else {
		sim_report_print(view);
	}
	return status;
}

/* STATUS_BAD after a message if an output would replace a file that the scenario names. */
static int refuse_to_replace(void *context, const char *input)
{
	const struct sim_job *job = context;
	int status = output_refuse("html", job->html, &input, 1);

	if (!status)
		status = output_refuse("plot", job->plot, &input, 1);
	if (!status)
		status = output_refuse("counters", job->options.counters, &input, 1);
	return status ? status : output_refuse("state", job->options.state, &input, 1);
}

static int run_case(struct sim_job *job, const char *path, const char *name)
{
	struct hd_error err = {""};
	int rc;

	job->one.name = name;
	job->one.view.hot = job->hot;
	job->one.view.all = job->all;
	job->one.view.asked = job->question.fabric;
	rc = sim_case_read(&job->one, &job->options, path, &err);
	if (!rc && job->question.fabric)
		rc = sim_question_apply(&job->question, job->one.scenario, &err);
	if (!rc)
		rc = sim_case_assign(&job->one, &job->options, &err);
	int status = rc ? 0 : hd_scenario_visit_paths(job->one.scenario, refuse_to_replace, job);
	if (status < 0)
		status = message_no_memory();
	rc = processes_agree(job->options.processes, rc, &err);
	if (rc && !status)
		status = message_fail(&err);
	if (processes_ready(job->options.processes, !status)) {
		interrupt_catch();
		rc = sim_case_run(&job->one, &job->options, &err);
		if (!rc && job->question.fabric)
			job->one.view.title =
			    sim_question_title(&job->question, job->one.scenario, job->one.runs,
					       job->title, sizeof(job->title));
		status = rc ? message_fail(&err) : show(job);
	} else if (!status) {
		status = message_error("another process refuses its files");
	}
	sim_case_release(&job->one);
	return status;
}

static int run(void *context, const struct operands *operands)
{
	struct sim_job *job = context;
	struct hd_error err;
	bool asked = sim_question_asked(&job->question, operands);
	int status = csv_refuse(job->csv, job->json) ? STATUS_BAD : 0;

	if (job->keys || job->kinds)
		return job->keys ? sim_list_keys(job->json) : sim_list_kinds(job->json);
	if (!status && asked)
		status = sim_question_take_operands(&job->question, operands);
	else if (!status)
		status = arguments_expect(&usage, operands, "SCENARIO", 1, 1);
	if (!status)
		status = sim_question_refuse(&job->question);
	if (!status && job->figure && !job->plot)
		status = message_error("option '--figure' needs --plot");
	if (!status && job->options.counters && !strcmp(job->options.counters, "-"))
		status = message_error("option '--counters' needs a file, since the report goes to "
				       "standard output");
	if (status)
		return status;
	if (job->plot && gnuplot_check(&err))
		return message_fail(&err);
	const char *name = asked ? SIM_QUESTION_SCENARIO : operands->items[0];
	char *path;
	if (sim_folder_find(name, &path, &err))
		return message_fail(&err);
	status = refuse_to_replace(job, path);
	if (!status)
		status = run_case(job, path, name);
	free(path);
	return status;
}

int sim_command(int argc, char **argv)
{
	struct sim_job job = {.hot = 5};
	int status = sim_arguments_run(&usage, &job.options, argc, argv, &job, run);

	sim_question_release(&job.question);
	return status;
}
