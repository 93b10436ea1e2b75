/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* heddle topo convert: a fabric in another format. */
#include "arguments.h"
#include "command.h"
#include "common.h"
#include "fabric_output.h"
#include "output.h"

static const struct cli_argument arguments[] = {
    {'o', "output", "FILE", "where to write; -: standard output (the default)"},
    {0, "format", "FORMAT", "netlist (the default) or dot"},
    {0, "lmc", "N", "give LIDs where there are none or hosts have another LMC (0..7)"},
    {'v', "verbose", NULL, "show what the reader remarks"},
};

enum { OUTPUT, FORMAT, LMC, VERBOSE };

static const struct cli_usage usage = {
    .synopsis = "heddle topo convert [OPTION]... FABRIC",
    .summary = "Reads a fabric and writes it in another format.",
    .arguments = arguments,
    .count = sizeof(arguments) / sizeof(arguments[0]),
};

struct convert_job {
	const char *output;
	const struct cli_fabric_format *format;
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
		job->format = cli_fabric_format(value);
		return !job->format;
	case LMC:
		if (!cli_number(&arguments[LMC], value, 0, HD_LMC_INFINIBAND, &number))
			return CLI_BAD;
		job->lmc = (int)number;
		return 0;
	default:
		job->verbose = true;
		return 0;
	}
}

static int convert(int argc, char **argv)
{
	struct convert_job job = {.format = cli_fabric_format("netlist"), .lmc = CLI_LMC_KEEP};
	struct hd_fabric *fabric = NULL;
	struct hd_error err;
	int operands;
	enum cli_parsed parsed = cli_parse(&usage, argc, argv, take, &job, &operands);

	if (parsed != CLI_PARSED)
		return parsed == CLI_REFUSED ? CLI_BAD : CLI_CLEAN;
	if (argc - operands != 1)
		return cli_error("expected one FABRIC, got %d; usage: %s", argc - operands,
				 usage.synopsis);
	const char *path = argv[operands];
	if (cli_output_refuse(arguments[OUTPUT].name, job.output, &path, 1))
		return CLI_BAD;
	struct hd_log log = cli_log(job.verbose);
	if (cli_fabric_load(path, job.lmc, &log, &fabric, &err))
		return cli_fail(&err);
	int status = cli_fabric_save(fabric, job.format, job.output);
	hd_fabric_free(fabric);
	return status;
}

const struct cli_command cli_topo_convert = {
    .name = "convert",
    .summary = "write a fabric in another format",
    .run = convert,
};
