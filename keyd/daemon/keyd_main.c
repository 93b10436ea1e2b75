/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* heddle-keyd: see heddle-keyd(8). */
#include "keyd_hosts.h"
#include "keyd_run.h"

#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

enum { EXIT_USAGE = 2 };

static void usage(FILE *out)
{
	fputs("Usage: heddle-keyd [--config FILE] [--check] [--verbose]\n\n"
	      "Serves routing keys to applications and job schedulers.\n\n"
	      "  --config FILE  instead of " HD_CONFIG_PATH "\n"
	      "  --check        only read the configuration and hosts_file\n"
	      "  --verbose      log more\n"
	      "  --version      print the version\n"
	      "  --help         print this text\n",
	      out);
}

static void write_line(void *context, enum hd_log_level level, const char *line)
{
	static const char *const names[] = {"error: ", "warning: ", "", ""};
	const bool *verbose = context;

	if (level < HD_LOG_DEBUG || *verbose)
		fprintf(stderr, "heddle-keyd: %s%s\n", names[level], line);
}

static int fail(const struct hd_error *err)
{
	fprintf(stderr, "heddle-keyd: %s\n", err->text);
	return EXIT_FAILURE;
}

static int check(const struct keyd_config *config)
{
	struct keyd_hosts *hosts;
	struct hd_error err = {""};

	if (keyd_hosts_read(config->hosts_file, &hosts, &err))
		return fail(&err);
	keyd_hosts_free(hosts);
	return EXIT_SUCCESS;
}

static int run(const char *path, bool must_exist, bool only_check, bool verbose)
{
	const struct hd_log log = {write_line, &verbose};
	struct keyd_config config;
	struct hd_error err = {""};
	int status = EXIT_SUCCESS;

	if (keyd_config_read(path, must_exist, &config, &err))
		return fail(&err);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN); /* a full disk is an error of write() */
	if (only_check)
		status = check(&config);
	else if (keyd_run(&config, path, &log, &err))
		status = fail(&err);
	keyd_config_release(&config);
	return status;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
	    {"config", required_argument, NULL, 'c'}, {"check", no_argument, NULL, 'k'},
	    {"verbose", no_argument, NULL, 'v'},      {"help", no_argument, NULL, 'h'},
	    {"version", no_argument, NULL, 'V'},      {NULL, 0, NULL, 0}};
	const char *path = HD_CONFIG_PATH;
	bool only_check = false, verbose = false, must_exist = false;
	int option;

	while ((option = getopt_long(argc, argv, "c:h", options, NULL)) != -1) {
		switch (option) {
		case 'c':
			path = optarg;
			must_exist = true;
			break;
		case 'k':
			only_check = true;
			break;
		case 'v':
			verbose = true;
			break;
		case 'V':
			puts("heddle-keyd " HEDDLE_VERSION);
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
		return run(path, must_exist, only_check, verbose);
	usage(stderr);
	return EXIT_USAGE;
}
