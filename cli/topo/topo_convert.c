/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* heddle topo convert: a fabric in another format. */
#include "commands.h"
#include "message.h"
#include "output.h"
#include "shared_arguments.h"

struct convert_job {
	const char *output, *name_map;
	enum fabric_output_format format;
	int lmc;
	bool verbose;
};

static const struct argument arguments[] = {
    SHARED_OUTPUT(struct convert_job, output),
    SHARED_FORMAT(struct convert_job, format),
    {0, "to", FABRIC_OUTPUT_FORMATS, "the same as --format",
     ARGUMENT_CHOICE(struct convert_job, format)},
    SHARED_NAME_MAP(struct convert_job, name_map),
    SHARED_LMC(struct convert_job, lmc),
    SHARED_VERBOSE(struct convert_job, verbose),
};

static const struct usage usage = {
    .synopsis = "heddle topo convert [OPTION]... FABRIC",
    .summary = "Reads a fabric and writes it in another format.",
    .arguments = arguments,
    .count = sizeof(arguments) / sizeof(arguments[0]),
    .statuses = {"the fabric was written", NULL, "bad input or usage"},
};

static int run(void *context, const struct operands *operands)
{
	const struct convert_job *job = context;
	struct hd_log log = message_log(job->verbose);
	struct hd_fabric *fabric = NULL;
	struct hd_error err;

	if (arguments_expect(&usage, operands, "one FABRIC", 1, 1))
		return STATUS_BAD;
	const char *path = operands->items[0], *const inputs[] = {path, job->name_map};
	if (output_refuse("output", job->output, inputs, 2))
		return STATUS_BAD;
	const struct fabric_source source = {path, job->name_map, job->lmc, NULL};
	if (fabric_source_load(&source, &log, &fabric, &err))
		return message_fail(&err);
	int status = output_save_fabric(fabric, job->format, job->output);
	hd_fabric_free(fabric);
	return status;
}

int topo_convert(int argc, char **argv)
{
	struct convert_job job = {.lmc = LMC_KEEP};

	return arguments_run(&usage, argc, argv, &job, run);
}
