/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* heddle topo convert: a fabric in another format. */
#include "arguments.h"
#include "commands.h"
#include "fabric_output.h"
#include "fabric_source.h"
#include "message.h"
#include "output.h"
#include "status.h"

static const struct argument arguments[] = {
    {'o', "output", "FILE", "where to write; -: standard output (the default)"},
    {0, "format", "FORMAT", "netlist (the default) or dot"},
    {0, "lmc", "N", "give LIDs where there are none or hosts have another LMC (0..7)"},
    {'v', "verbose", NULL, "show what the reader remarks"},
};

enum { OUTPUT, FORMAT, LMC, VERBOSE };

static const struct usage usage = {
    .synopsis = "heddle topo convert [OPTION]... FABRIC",
    .summary = "Reads a fabric and writes it in another format.",
    .arguments = arguments,
    .count = sizeof(arguments) / sizeof(arguments[0]),
};

struct convert_job {
	const char *output;
	const struct fabric_output_format *format;
	int lmc;
	bool verbose;
};

static int take(void *context, unsigned row, const char *value)
{
	struct convert_job *job = context;
	int64_t number;

	switch (row) {
	case OUTPUT:
		job->output = value;
		return 0;
	case FORMAT:
		job->format = fabric_output_format(value);
		return !job->format;
	case LMC:
		if (!arguments_number(&arguments[LMC], value, 0, HD_LMC_INFINIBAND, &number))
			return STATUS_BAD;
		job->lmc = (int)number;
		return 0;
	default:
		job->verbose = true;
		return 0;
	}
}

int topo_convert(int argc, char **argv)
{
	struct convert_job job = {.format = fabric_output_format("netlist"), .lmc = LMC_KEEP};
	struct hd_fabric *fabric = NULL;
	struct hd_error err;
	int operands;
	enum arguments_parsed parsed = arguments_parse(&usage, argc, argv, take, &job, &operands);

	if (parsed != ARGUMENTS_PARSED)
		return parsed == ARGUMENTS_REFUSED ? STATUS_BAD : STATUS_CLEAN;
	if (argc - operands != 1)
		return message_error("expected one FABRIC, got %d; usage: %s", argc - operands,
				     usage.synopsis);
	const char *path = argv[operands];
	if (output_refuse(arguments[OUTPUT].name, job.output, &path, 1))
		return STATUS_BAD;
	struct hd_log log = message_log(job.verbose);
	if (fabric_source_load(path, job.lmc, &log, &fabric, &err))
		return message_fail(&err);
	int status = fabric_output_save(fabric, job.format, job.output);
	hd_fabric_free(fabric);
	return status;
}
