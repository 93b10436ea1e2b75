/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* heddle-router: see heddle-router(8). */
#include "agent.h"
#include "agent_show.h"
#include "agent_tables.h"

#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EXIT_USAGE = 2 };

struct arguments {
	const char *config, *control;
	bool check, json, verbose;
};

static void usage(FILE *out)
{
	const char *name, *summary;

	fprintf(out,
		"Usage: heddle-router [--config FILE] [--check] [--verbose]\n"
		"       heddle-router show TABLE [--json] [--config FILE | --control SOCKET]\n\n"
		"The first form runs the agent of an IB-IB router; the second shows its tables:\n");
	for (unsigned i = 0; agent_tables_at(i, &name, &summary); i++)
		fprintf(out, "  %-10s %s\n", name, summary);
	fprintf(out, "\n  --config FILE     instead of " HD_CONFIG_PATH "\n"
		     "  --check           only read the configuration\n"
		     "  --verbose         log more\n"
		     "  --json            print the table as JSON\n"
		     "  --control SOCKET  ask the agent that listens there\n");
}

static void write_line(void *context, enum hd_log_level level, const char *line)
{
	static const char *const names[] = {"error: ", "warning: ", "", ""};
	const struct arguments *arguments = context;

	if (level < HD_LOG_DEBUG || arguments->verbose)
		fprintf(stderr, "heddle-router: %s%s\n", names[level], line);
}

static int fail(const struct hd_error *err)
{
	fprintf(stderr, "heddle-router: %s\n", err->text);
	return EXIT_FAILURE;
}

static int run(struct arguments *arguments)
{
	const struct hd_log log = {write_line, arguments};
	struct agent_config config;
	struct agent *agent;
	struct hd_error err = {""};

	if (agent_config_read(arguments->config, &config, &err))
		return fail(&err);
	signal(SIGPIPE, SIG_IGN);
	if (!arguments->check) {
		if (agent_new(&config, &log, &agent, &err)) {
			agent_config_release(&config);
			return fail(&err);
		}
		agent_run(agent);
		agent_free(agent);
	}
	agent_config_release(&config);
	return EXIT_SUCCESS;
}

static int show(const struct arguments *arguments, const char *table)
{
	struct agent_config config = {0};
	struct hd_error err = {""};
	const char *control = arguments->control;
	int rc = 0;

	if (!control) {
		rc = agent_config_read(arguments->config, &config, &err);
		control = config.control;
	}
	if (!rc)
		rc = agent_show(control, table, arguments->json, stdout, &err);
	agent_config_release(&config);
	return rc ? fail(&err) : EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
	    {"config", required_argument, NULL, 'c'}, {"control", required_argument, NULL, 's'},
	    {"check", no_argument, NULL, 'k'},	      {"json", no_argument, NULL, 'j'},
	    {"verbose", no_argument, NULL, 'v'},      {"help", no_argument, NULL, 'h'},
	    {"version", no_argument, NULL, 'V'},      {NULL, 0, NULL, 0}};
	struct arguments arguments = {.config = HD_CONFIG_PATH};
	int option;

	while ((option = getopt_long(argc, argv, "c:h", options, NULL)) != -1) {
		switch (option) {
		case 'c':
			arguments.config = optarg;
			break;
		case 's':
			arguments.control = optarg;
			break;
		case 'k':
			arguments.check = true;
			break;
		case 'j':
			arguments.json = true;
			break;
		case 'v':
			arguments.verbose = true;
			break;
		case 'V':
			puts("heddle-router " HEDDLE_VERSION);
			return EXIT_SUCCESS;
		case 'h':
			usage(stdout);
			return EXIT_SUCCESS;
		default:
			usage(stderr);
			return EXIT_USAGE;
		}
	}
	if (optind == argc)
		return run(&arguments);
	if (optind + 2 == argc && !strcmp(argv[optind], "show"))
		return show(&arguments, argv[optind + 1]);
	usage(stderr);
	return EXIT_USAGE;
}
