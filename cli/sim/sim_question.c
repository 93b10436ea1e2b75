/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sim_question.h"
#include "message.h"
#include "need.h"
#include "sim_view.h"

#include <errno.h>
#include <heddle/analysis/pattern.h>
#include <heddle/base/suggest.h>
#include <heddle/keyd/key_pattern.h>
#include <heddle/sim/workload.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <heddle/analysis/pattern.h>
#include <heddle/base/suggest.h>
#include <heddle/keyd/key_pattern.h>
#include <heddle/sim/workload.h>
#include <stddef.h>
#include <unistd.h>

#define SIM_QUESTION_LABEL 4096 /* bytes of a column's label */

const char *sim_question_scenario(const struct sim_question *question)
{
	return question->trace ? "questions/trace" : "question";
}

bool sim_question_asked(const struct sim_question *question, const struct operands *operands)
{
	return question->fabric || (question->engines.count && operands->count);
}

int sim_question_take_operands(struct sim_question *question, const struct operands *operands)
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

int sim_question_refuse(const struct sim_question *question)
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

/* The points: engines, then tables, then the first of them with adaptive routing */
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

/* KEY=VALUE; `option` is the one that was typed for it. */
static int set(struct hd_scenario *scenario, const char *option, const char *key, const char *value,
	       struct hd_error *err)
{
	if (!value)
		return 0;
	char *text = need_format("%s=%s", key, value);
	int rc = hd_scenario_set_by(scenario, option, text, err);
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
	for (unsigned i = 0; !rc && i < sizeof(lines) / sizeof(lines[0]); i++) {
		/* A line of the sweep: "a | b | c". */
		const char *option = lines[i].option;
		const char *key = lines[i].key;
		size_t member = lines[i].member;
		const char *adaptive = lines[i].adaptive;
		char *text = NULL;
		size_t size;
		FILE *stream = need(open_memstream(&text, &size));
		for (uint32_t k = 0; k < column_count(question); k++) {
			const struct column column = column_of(question, k);
			const char *value;
			memcpy(&value, (const char *)&column + member, sizeof(value));
			fprintf(stream, "%s%s", k ? " | " : "", value);
		}
		if (question->adaptive || question->plan)
			fprintf(stream, " | %s", adaptive);
		need_close(stream);
		rc = set(scenario, option, key, text, err);
		free(text);
	}
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
	struct hd_suggestion suggestion = hd_suggestion_for(pattern);
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
				    pattern, suggestion.nearest);
	snprintf(list, sizeof(list), "%s", operations());
	for (unsigned i = 0; i < count; i++) {
		size_t used = strlen(list);
		snprintf(list + used, sizeof(list) - used, "|%s", kinds[i].name);
	}
	return hd_error_set(err, -EINVAL, "--pattern %s: no such pattern; there are %s", pattern,
			    list);
}

/* A Chakra trace has one file a rank, so its name alone is none. */
static bool is_chakra(const char *prefix)
{
	if (!access(prefix, F_OK))
		return false;
	char *first = need_format("%s.0.et", prefix);
	bool found = !access(first, F_OK);
	free(first);
	return found;
}

static int set_trace(const struct sim_question *question, struct hd_scenario *scenario,
		     struct hd_error *err)
{
	static const char option[] = "--trace";
	bool chakra = is_chakra(question->trace);
	char *path = need_format("file:%s", question->trace);
	int rc = 0;

	if (chakra)
		rc = set(scenario, option, "traffic.goal.active", "no", err);
	if (!rc && chakra)
		rc = set(scenario, option, "traffic.chakra.active", "yes", err);
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

int sim_question_apply(const struct sim_question *question, struct hd_scenario *scenario,
		       struct hd_error *err)
{
	char *hosts = question->hosts ? need_format("file:%s", question->hosts) : NULL;
	int rc = check(question, err);

	if (!rc)
		rc = set_tables(question, scenario, err);
	if (!rc)
		rc = set(scenario, "--fabric", "fabric.file", question->fabric, err);
	if (!rc)
		rc = set(scenario, "--hosts", "traffic.hosts", hosts, err);
	if (!rc)
		rc = question->trace ? set_trace(question, scenario, err)
				     : set_pattern(question, scenario, err);
	if (!rc)
		rc = set(scenario, "--size", "traffic.size", question->size, err);
	free(hosts);
	return rc;
}

static bool is_active(const struct hd_scenario *scenario, const char *key)
{
	const char *value = hd_scenario_value(scenario, key);

	return value && !strcmp(value, "yes");
}

const char *sim_question_title(const struct sim_question *question,
			       const struct hd_scenario *scenario,
			       const struct hd_scenario_runs *runs, char *buffer, size_t size)
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

void sim_question_release(struct sim_question *question)
{
	free(question->engines.items);
	free(question->tables.items);
}
