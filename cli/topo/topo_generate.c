/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* heddle topo generate: the options of a kind are the rows of its generator's table. */
#include "arguments.h"
#include "commands.h"
#include "fabric_output.h"
#include "json_value.h"
#include "message.h"
#include "option_json.h"
#include "progress.h"
#include "status.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SEED "seed"
#define SYNOPSIS "heddle topo generate KIND --OPTION VALUE... [-o FILE]"

static const struct argument own_arguments[] = {
    {0, "remove-links", "P%", "take away that share of the links between switches"},
    {'o', "output", "FILE", "where to write; -: standard output (the default)"},
    {0, "format", "FORMAT", "netlist (the default) or dot"},
    {0, "names", NULL, "only name the options of the kind, for scripts"},
    {0, SEED, "N", "seed of what --remove-links takes away (default 1)"},
};

enum { REMOVE_LINKS, OUTPUT, FORMAT, NAMES, OWN_SEED, OWN_COUNT };

struct generate_job {
	const struct hd_generator *generator;
	struct hd_options *options;
	struct argument *arguments; /* the generator's rows, then our own */
	double remove_percent;
	uint64_t seed;
	const char *output;
	const struct fabric_output_format *format;
	bool names;
};

static int take_percent(struct generate_job *job, const char *text)
{
	char *end;

	job->remove_percent = strtod(text, &end);
	if (end != text && *end == '%')
		end++;
	if (end != text && !*end && job->remove_percent >= 0 && job->remove_percent <= 100)
		return 0;
	return message_error("option '--remove-links': '%s' is not a share 0%%..100%%", text);
}

static int take_own(struct generate_job *job, unsigned row, const char *value)
{
	int64_t number;

	switch (row) {
	case REMOVE_LINKS:
		return take_percent(job, value);
	case OUTPUT:
		job->output = value;
		return 0;
	case FORMAT:
		job->format = fabric_output_format(value);
		return !job->format;
	case NAMES:
		job->names = true;
		return 0;
	default:
		if (!arguments_number(&own_arguments[OWN_SEED], value, 0, INT64_MAX, &number))
			return STATUS_BAD;
		job->seed = (uint64_t)number;
		return 0;
	}
}

static int take(void *context, unsigned row, const char *value)
{
	struct generate_job *job = context;
	struct hd_error err;
	unsigned theirs = job->generator->option_count;

	if (row >= theirs)
		return take_own(job, row - theirs, value);
	const char *name = job->generator->options[row].name;
	if (hd_options_set(job->options, name, value, &err))
		return message_fail(&err);
	if (!strcmp(name, SEED))
		job->seed = (uint64_t)hd_options_get(job->options, name)->number;
	return 0;
}

/* A kind that has a seed of its own gives it to --remove-links too. */
static unsigned merge_arguments(struct generate_job *job)
{
	unsigned count = 0, own = OWN_COUNT;

	for (; count < job->generator->option_count; count++) {
		const struct hd_option *option = &job->generator->options[count];
		bool list = option->type == HD_OPTION_INT_LIST;
		job->arguments[count] = (struct argument){.name = option->name,
							  .value = list ? "N,N..." : "N",
							  .summary = option->summary};
		if (!strcmp(option->name, SEED))
			own = OWN_SEED;
	}
	memcpy(&job->arguments[count], own_arguments, own * sizeof(*own_arguments));
	return count + own;
}

static int run_job(const struct generate_job *job)
{
	struct hd_fabric *fabric = NULL, *less = NULL;
	struct hd_error err;

	progress_begin("generating %s", job->generator->name);
	int rc = job->generator->generate(job->options, &fabric, &err);
	if (!rc && job->remove_percent > 0) {
		rc = hd_fabric_remove_links(fabric, job->remove_percent, job->seed, &less, &err);
		hd_fabric_free(fabric);
		fabric = less;
	}
	progress_end();
	if (rc)
		return message_error("%s: %s", job->generator->name, err.text);
	int status = fabric_output_save(fabric, job->format, job->output);
	hd_fabric_free(fabric);
	return status;
}

static void print_option_names(const struct hd_generator *generator)
{
	for (unsigned i = 0; i < generator->option_count; i++)
		puts(generator->options[i].name);
}

static char *option_notes(const struct hd_generator *generator)
{
	char *text = NULL;
	size_t size;
	FILE *stream = open_memstream(&text, &size);

	if (!stream)
		return NULL;
	fputs("Values:", stream);
	for (unsigned i = 0; i < generator->option_count; i++) {
		char range[160];
		fprintf(stream, "\n  --%-16s%s", generator->options[i].name,
			arguments_option_range(&generator->options[i], range, sizeof(range)));
	}
	fclose(stream);
	return text;
}

static int parse_and_run(struct generate_job *job, int argc, char **argv)
{
	char synopsis[128];
	char *notes = option_notes(job->generator);

	snprintf(synopsis, sizeof(synopsis), "heddle topo generate %s [OPTION]... [-o FILE]",
		 job->generator->name);
	const struct usage usage = {.synopsis = synopsis,
				    .summary = job->generator->summary,
				    .arguments = job->arguments,
				    .count = merge_arguments(job),
				    .notes = notes};
	int operands, status = STATUS_CLEAN;
	enum arguments_parsed parsed = arguments_parse(&usage, argc, argv, take, job, &operands);
	if (parsed == ARGUMENTS_REFUSED)
		status = STATUS_BAD;
	else if (parsed == ARGUMENTS_PARSED && operands < argc)
		status = message_error("'%s' is one argument too many", argv[operands]);
	else if (parsed == ARGUMENTS_PARSED && job->names)
		print_option_names(job->generator);
	else if (parsed == ARGUMENTS_PARSED)
		status = run_job(job);
	free(notes);
	return status;
}

static int generate_kind(const struct hd_generator *generator, int argc, char **argv)
{
	struct generate_job job = {.generator = generator, .seed = 1};

	job.format = fabric_output_format("netlist");
	job.options = hd_options_new(generator->options, generator->option_count);
	job.arguments = calloc(generator->option_count + OWN_COUNT, sizeof(*job.arguments));
	int status =
	    job.options && job.arguments ? parse_and_run(&job, argc, argv) : message_no_memory();
	free(job.arguments);
	hd_options_free(job.options);
	return status;
}

static void print_kinds(FILE *stream)
{
	unsigned count;

	const struct hd_generator *const *all = hd_generators(&count);
	for (unsigned i = 0; i < count; i++)
		fprintf(stream, "  %-18s%s\n", all[i]->name, all[i]->summary);
}

static int print_help(void)
{
	puts("Usage: " SYNOPSIS "\nMakes a fabric of a kind and writes it.\n\nKinds:");
	print_kinds(stdout);
	puts("\n'heddle topo generate KIND --help' lists the options of a kind;"
	     "\n'heddle topo generate --names' only names the kinds, for scripts;"
	     "\n'heddle topo generate --json' prints kinds and options as JSON.");
	return STATUS_CLEAN;
}

static int print_names(void)
{
	unsigned count;

	const struct hd_generator *const *all = hd_generators(&count);
	for (unsigned i = 0; i < count; i++)
		puts(all[i]->name);
	return STATUS_CLEAN;
}

static int print_json(void)
{
	unsigned count;

	const struct hd_generator *const *all = hd_generators(&count);
	json_t *list = json_array();
	for (unsigned i = 0; i < count; i++)
		list = json_value_append(list, option_json_described(all[i]->name, all[i]->summary,
								     all[i]->options,
								     all[i]->option_count));
	return json_value_print(list, STATUS_CLEAN);
}

int topo_generate(int argc, char **argv)
{
	const char *kind = argc > 1 ? argv[1] : "";

	if (!strcmp(kind, "--help") || !strcmp(kind, "-h"))
		return print_help();
	if (!strcmp(kind, "--names"))
		return print_names();
	if (!strcmp(kind, "--json"))
		return print_json();
	const struct hd_generator *generator = hd_generator_find(kind);
	if (generator)
		return generate_kind(generator, argc - 1, argv + 1);
	if (*kind)
		message_error("unknown kind of fabric '%s'; there are:", kind);
	else
		message_error("which kind of fabric? There are:");
	print_kinds(stderr);
	return STATUS_BAD;
}
