/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sim_question.h"
#include "message.h"

#include <errno.h>
#include <heddle/sim/workload.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool sim_question_asked(const struct sim_question *question)
{
	return question->fabric;
}

int sim_question_take_operands(struct sim_question *question, const struct operands *operands)
{
	for (unsigned i = 0; i < operands->count; i++) {
		const struct typed typed = {.text = operands->items[i]};
		int status = sim_arguments_take_word(&typed, &question->tables);
		if (status)
			return status;
	}
	return 0;
}

int sim_question_refuse(const struct sim_question *question)
{
	if (question->fabric)
		return 0;
	if (question->engines.count || question->hosts || question->pattern || question->size ||
	    question->adaptive)
		return message_error("-e, --ar, --hosts, --pattern and --size need --fabric; a "
				     "scenario has keys for them (-O routing.engine=NAME)");
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

/* "sweep.tables.KEY=a | b | c" */
static char *line(const struct sim_question *question, const char *key, size_t member,
		  const char *adaptive)
{
	char *text = NULL;
	size_t size;
	FILE *stream = open_memstream(&text, &size);

	if (!stream)
		return NULL;
	fprintf(stream, "sweep.tables.%s=", key);
	for (uint32_t i = 0; i < column_count(question); i++) {
		const struct column column = column_of(question, i);
		const char *value;
		memcpy(&value, (const char *)&column + member, sizeof(value));
		fprintf(stream, "%s%s", i ? " | " : "", value);
	}
	if (question->adaptive)
		fprintf(stream, " | %s", adaptive);
	return fclose(stream) ? NULL : text;
}

static int own(struct sim_question *question, char *text, struct hd_error *err)
{
	const struct typed typed = {.text = text};

	if (text && !sim_arguments_take_word(&typed, &question->owned))
		return 0;
	free(text);
	return hd_error_no_memory(err);
}

static int own_pair(struct sim_question *question, const char *key, const char *value,
		    struct hd_error *err)
{
	char *text = NULL;

	if (!value)
		return 0;
	return own(question, asprintf(&text, "%s=%s", key, value) < 0 ? NULL : text, err);
}

/* Whether a kind of traffic has this operation: one of the choices "a|b|c" of its option. */
static bool is_operation(const char *name)
{
	const struct hd_traffic_kind *kind = hd_traffic_find("collective");
	size_t length = strlen(name);

	for (unsigned i = 0; kind && i < kind->option_count; i++) {
		const char *at = kind->options[i].choices;
		while (at && !strcmp(kind->options[i].name, "operation")) {
			if (!strncmp(at, name, length) && (!at[length] || at[length] == '|'))
				return true;
			at = strchr(at, '|');
			at += at != NULL;
		}
	}
	return false;
}

/* A collective operation, or else a pattern of phases. */
static int choose_pattern(struct sim_question *question, struct hd_error *err)
{
	int rc;

	if (!question->pattern)
		return 0;
	if (is_operation(question->pattern))
		return own_pair(question, "traffic.collective.operation", question->pattern, err);
	rc = own_pair(question, "traffic.collective.active", "no", err);
	if (!rc)
		rc = own_pair(question, "traffic.phases.active", "yes", err);
	return rc ? rc : own_pair(question, "traffic.phases.pattern", question->pattern, err);
}

static int check(const struct sim_question *question, struct hd_error *err)
{
	for (uint32_t i = 0; i < column_count(question); i++)
		if (strchr(column_of(question, i).label, '|'))
			return hd_error_set(err, -EINVAL, "'%s' has a '|', which separates values",
					    column_of(question, i).label);
	return 0;
}

static int make_lines(struct sim_question *question, struct hd_error *err)
{
	const struct column first = column_of(question, 0);
	char *label = NULL, *hosts = NULL;
	int rc = check(question, err);

	if (!rc && (asprintf(&label, "%s with AR", first.label) < 0 ||
		    (question->hosts && asprintf(&hosts, "file:%s", question->hosts) < 0)))
		rc = hd_error_no_memory(err);
	if (!rc)
		rc = own(question, line(question, "labels", offsetof(struct column, label), label),
			 err);
	if (!rc)
		rc = own(
		    question,
		    line(question, "routing.engine", offsetof(struct column, engine), first.engine),
		    err);
	if (!rc)
		rc = own(
		    question,
		    line(question, "routing.tables", offsetof(struct column, tables), first.tables),
		    err);
	if (!rc)
		rc = own(question,
			 line(question, "routing.ar", offsetof(struct column, ar), "auto"), err);
	if (!rc)
		rc = own_pair(question, "fabric.file", question->fabric, err);
	if (!rc)
		rc = own_pair(question, "traffic.hosts", hosts, err);
	if (!rc)
		rc = choose_pattern(question, err);
	if (!rc)
		rc = own_pair(question, "traffic.size", question->size, err);
	free(label);
	free(hosts);
	return rc;
}

int sim_question_assign(struct sim_question *question, struct sim_words *assignments,
			struct hd_error *err)
{
	int rc = make_lines(question, err);
	uint32_t more = question->owned.count;
	const char **items;

	if (rc)
		return rc;
	items = realloc(assignments->items, (assignments->count + more) * sizeof(*items));
	if (!items)
		return hd_error_no_memory(err);
	memmove(items + more, items, assignments->count * sizeof(*items));
	memcpy(items, question->owned.items, more * sizeof(*items));
	assignments->items = items;
	assignments->count += more;
	return 0;
}

void sim_question_release(struct sim_question *question)
{
	for (uint32_t i = 0; i < question->owned.count; i++)
		free((char *)(uintptr_t)question->owned.items[i]);
	free(question->owned.items);
	free(question->engines.items);
	free(question->tables.items);
}
