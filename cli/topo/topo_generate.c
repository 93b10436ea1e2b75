/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* heddle topo generate: the options of a kind are the rows of its generator's table. */
#include "catalogue.h"
#include "commands.h"
#include "json_value.h"
#include "message.h"
#include "need.h"
#include "progress.h"
#include "shared_arguments.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SEED "seed"

struct generate_job {
	const struct hd_generator *generator;
	struct hd_options *options;
	struct argument *arguments; /* the generator's rows, then our own */
	double remove_percent;
	uint64_t seed;
	const char *output;
	enum fabric_output_format format;
	bool aggregation_nodes, names;
};

static int take_percent(const struct typed *typed, void *place)
{
	double *percent = place;
	char *end;

	*percent = strtod(typed->text, &end);
	if (end != typed->text && *end == '%')
		end++;
	if (end != typed->text && !*end && *percent >= 0 && *percent <= 100)
		return 0;
	return message_error("option '--remove-links': '%s' is not a share 0%%..100%%",
			     typed->text);
}

static const struct argument own_arguments[] = {
    {0, "remove-links", "P%", "remove P percent of the links between switches",
     ARGUMENT_BY(take_percent, struct generate_job, remove_percent)},
    {0, "aggregation-nodes", NULL, "put an aggregation node into every switch",
     ARGUMENT_FLAG(struct generate_job, aggregation_nodes)},
    SHARED_OUTPUT(struct generate_job, output),
    SHARED_FORMAT(struct generate_job, format),
    {0, "names", NULL, "print only the names of this kind's options, for scripts",
     ARGUMENT_FLAG(struct generate_job, names)},
    {0, SEED, "S", "seed of the links that --remove-links removes (default 1)",
     ARGUMENT_NUMBER(struct generate_job, seed, 0, INT64_MAX)},
};

enum { OWN_COUNT = sizeof(own_arguments) / sizeof(own_arguments[0]) };

static int take_option(const struct typed *typed, void *place)
{
	struct generate_job *job = place;
	struct hd_error err;
	int rc = hd_options_set(job->options, typed->argument->name, typed->text, &err);

	return rc ? message_fail(&err) : 0;
}

/* If a kind has a seed of its own, --remove-links uses it too. */
static bool has_seed(const struct hd_generator *generator)
{
	for (unsigned i = 0; i < generator->option_count; i++)
		if (!strcmp(generator->options[i].name, SEED))
			return true;
	return false;
}

static unsigned merge_arguments(struct generate_job *job)
{
	const struct hd_generator *generator = job->generator;
	unsigned count = generator->option_count, own = OWN_COUNT - has_seed(generator);

	for (unsigned i = 0; i < count; i++)
		job->arguments[i] =
		    (struct argument){.name = generator->options[i].name,
				      .value = catalogue_placeholder(&generator->options[i]),
				      .summary = generator->options[i].summary,
				      .take = take_option};
	memcpy(&job->arguments[count], own_arguments, own * sizeof(*own_arguments));
	return count + own;
}

/* Puts the fabric that a step made into the place of the one before. */
static void replace(struct hd_fabric **fabric, struct hd_fabric *changed)
{
	hd_fabric_free(*fabric);
	*fabric = changed;
}

static int make_fabric(const struct generate_job *job, struct hd_fabric **out, struct hd_error *err)
{
	struct hd_fabric *fabric = NULL, *changed = NULL;
	int rc = job->generator->generate(job->options, &fabric, err);

	if (!rc && job->aggregation_nodes) {
		rc = hd_fabric_add_aggregation(fabric, &changed, err);
		if (!rc)
			replace(&fabric, changed);
	}
	if (!rc && job->remove_percent > 0) {
		rc = hd_fabric_remove_links(fabric, job->remove_percent, job->seed, &changed, err);
		if (!rc)
			replace(&fabric, changed);
	}
	if (rc)
		hd_fabric_free(fabric);
	else
		*out = fabric;
	return rc;
}

static int run_job(void *context, const struct operands *operands)
{
	struct generate_job *job = context;
	struct hd_fabric *fabric = NULL;
	struct hd_error err;

	if (operands->count)
		return message_error("'%s' is one argument too many", operands->items[0]);
	if (job->names) {
		for (unsigned i = 0; i < job->generator->option_count; i++)
			puts(job->generator->options[i].name);
		return STATUS_CLEAN;
	}
	if (has_seed(job->generator))
		job->seed = (uint64_t)hd_options_get(job->options, SEED)->number;
	progress_begin("generating %s", job->generator->name);
	int rc = make_fabric(job, &fabric, &err);
	progress_end();
	if (rc)
		return message_error("%s: %s", job->generator->name, err.text);
	int status = output_save_fabric(fabric, job->format, job->output);
	hd_fabric_free(fabric);
	return status;
}

static char *option_notes(const struct hd_generator *generator)
{
	char *text = NULL;
	size_t size;
	FILE *stream = need(open_memstream(&text, &size));

	fputs("Values:", stream);
	for (unsigned i = 0; i < generator->option_count; i++) {
		char range[400];
		fprintf(stream, "\n  --%-16s%s", generator->options[i].name,
			catalogue_range(&generator->options[i], range, sizeof(range)));
	}
	need_close(stream);
	return text;
}

static int generate_kind(const struct hd_generator *generator, int argc, char **argv)
{
	struct generate_job job = {.generator = generator, .seed = 1};

	job.options = need(hd_options_new(generator->options, generator->option_count));
	job.arguments = need(calloc(generator->option_count + OWN_COUNT, sizeof(*job.arguments)));
	char synopsis[128];
	char *notes = option_notes(job.generator);
	snprintf(synopsis, sizeof(synopsis), "heddle topo generate %s [OPTION]... [-o FILE]",
		 job.generator->name);
	const struct usage usage = {
	    .synopsis = synopsis,
	    .summary = job.generator->summary,
	    .arguments = job.arguments,
	    .count = merge_arguments(&job),
	    .notes = notes,
	    .statuses = {"the fabric was written", NULL,
			 "bad usage, or sizes that a fabric of this kind cannot have"},
	};
	int status = arguments_run(&usage, argc, argv, &job, run_job);
	free(notes);
	free(job.arguments);
	hd_options_free(job.options);
	return status;
}

struct list_job {
	bool json, names;
};

static const struct argument list_arguments[] = {
    {0, "names", NULL, "print only the names of the kinds, for scripts",
     ARGUMENT_FLAG(struct list_job, names)},
    {0, "json", NULL, "print the kinds and their options as JSON",
     ARGUMENT_FLAG(struct list_job, json)},
};

static char *kind_notes(void)
{
	char *text = NULL;
	size_t size;
	FILE *stream = need(open_memstream(&text, &size));

	fputs("Kinds:", stream);
	for (unsigned i = 0; i < catalogue_fabrics.count(); i++) {
		struct catalogue_entry entry = catalogue_fabrics.entry(i);
		fprintf(stream, "\n  %-18s%s", entry.name, entry.summary);
	}
	fputs("\n\n'heddle topo generate KIND --help' shows the options of a kind.", stream);
	need_close(stream);
	return text;
}

static int run_list(void *context, const struct operands *operands)
{
	const struct list_job *job = context;

	if (job->json)
		return json_value_print(catalogue_json(&catalogue_fabrics, NULL), STATUS_CLEAN);
	if (job->names) {
		catalogue_print_names(&catalogue_fabrics, NULL);
		return STATUS_CLEAN;
	}
	if (operands->count)
		return message_error("give the kind '%s' before its options", operands->items[0]);
	return message_error("no kind of fabric given; 'heddle topo generate --help' lists them");
}

int topo_generate(int argc, char **argv)
{
	struct catalogue_entry entry;

	if (argc < 2 || argv[1][0] == '-') {
		struct list_job job = {.json = false};
		char *notes = kind_notes();
		const struct usage usage = {
		    .synopsis = "heddle topo generate KIND --OPTION VALUE... [-o FILE]\n"
				"   or: heddle topo generate {--names | --json}",
		    .summary = "Makes a fabric of a kind and writes it, or lists the kinds.",
		    .arguments = list_arguments,
		    .count = sizeof(list_arguments) / sizeof(list_arguments[0]),
		    .notes = notes,
		    .statuses = {"the fabric was written, or the kinds were listed", NULL,
				 "bad usage, or sizes that a fabric of the kind cannot have"},
		};
		int status = arguments_run(&usage, argc, argv, &job, run_list);
		free(notes);
		return status;
	}
	if (catalogue_find(&catalogue_fabrics, argv[1], &entry))
		return STATUS_BAD;
	return generate_kind(hd_generator_find(entry.name), argc - 1, argv + 1);
}
