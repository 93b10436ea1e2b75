/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* heddle-router: see heddle-router(8). */
#include "agent_parts.h"

#include <errno.h>
#include <getopt.h>
#include <heddle/base/error.h>
#include <heddle/base/plain.h>
#include <heddle/config/section_values.h>
#include <heddle/config/sections.h>
#include <inttypes.h>
#include <jansson.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* The client of the control socket. What answers there need not be heddle-router. */

#define COLUMNS_MAX 16u
#define CELL_SIZE 128u
#define ANSWER_MAX (64u << 20) /* bytes; 400,000 hosts have less */

static int connect_to(const char *path, int *out, struct hd_error *err)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), rc = 0;

	strncpy(address.sun_path, path, sizeof(address.sun_path) - 1);
	if (descriptor < 0 ||
	    connect(descriptor, (const struct sockaddr *)&address, sizeof(address)))
		rc = hd_error_set(err, -errno, "%s: %s; is heddle-router running?", path,
				  strerror(errno));
	if (rc && descriptor >= 0)
		close(descriptor);
	*out = descriptor;
	return rc;
}

/* Whether all rows are objects whose values are numbers and texts. */
static bool is_table(const json_t *answer)
{
	size_t index;
	json_t *row, *value;
	const char *key;

	json_array_foreach(answer, index, row)
	{
		if (!json_is_object(row))
			return false;
		json_object_foreach(row, key, value)
		{
			if (!json_is_integer(value) && !json_is_string(value))
				return false;
		}
	}
	return json_is_array(answer);
}

struct incoming {
	int descriptor;
	size_t left; /* of ANSWER_MAX */
};

/* For jansson: the next bytes. A longer answer fails as if it had been cut off. */
static size_t agent_receive(void *buffer, size_t size, void *context)
{
	struct incoming *in = context;
	ssize_t got = read(in->descriptor, buffer, size < in->left ? size : in->left);

	in->left -= got > 0 ? (size_t)got : 0;
	return got < 0 ? SIZE_MAX : (size_t)got;
}

static int agent_ask(int descriptor, const char *table, json_t **answer, struct hd_error *err)
{
	struct incoming in = {descriptor, ANSWER_MAX};
	json_error_t why;

	if (dprintf(descriptor, "%s\n", table) < 0)
		return hd_error_set(err, -errno, "cannot ask heddle-router: %s", strerror(errno));
	*answer = json_load_callback(agent_receive, &in, 0, &why);
	if (!in.left) {
		json_decref(*answer);
		return hd_error_set(err, -EFBIG,
				    "the answer has more than the %u MiB that a table can have",
				    ANSWER_MAX >> 20);
	}
	if (!*answer)
		return hd_error_set(err, -EINVAL, "heddle-router gives no answer: %s", why.text);
	if (!is_table(*answer)) {
		const char *text = json_string_value(json_object_get(*answer, "error"));

		hd_error_set(err, -EINVAL, "%s: '%s'", text ? text : "bad answer", table);
		json_decref(*answer);
		return -EINVAL;
	}
	return 0;
}

static const char *print_cell(const json_t *value, char cell[CELL_SIZE])
{
	if (json_is_integer(value))
		snprintf(cell, CELL_SIZE, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
	else
		hd_plain(json_string_value(value), cell, CELL_SIZE);
	return cell;
}

/* Prints one row, or widens the columns if `out` is NULL. */
static void print_row(json_t *row, size_t widths[COLUMNS_MAX], FILE *out)
{
	const char *key;
	json_t *value;
	char cell[CELL_SIZE];
	unsigned column = 0;

	json_object_foreach(row, key, value)
	{
		size_t length = strlen(print_cell(value, cell));

		if (column == COLUMNS_MAX)
			break;
		if (out)
			fprintf(out, "%s%*s", column ? "  " : "",
				json_is_integer(value) ? (int)widths[column] : -(int)widths[column],
				cell);
		else if (length > widths[column])
			widths[column] = length;
		column++;
	}
	if (out)
		fputc('\n', out);
}

static void print_heads(json_t *row, size_t widths[COLUMNS_MAX], FILE *out)
{
	const char *key;
	json_t *value;
	char cell[CELL_SIZE];
	unsigned column = 0;

	json_object_foreach(row, key, value)
	{
		if (column == COLUMNS_MAX)
			break;
		hd_plain(key, cell, CELL_SIZE);
		if (strlen(cell) > widths[column])
			widths[column] = strlen(cell);
		fprintf(out, "%s%*s", column ? "  " : "",
			json_is_integer(value) ? (int)widths[column] : -(int)widths[column], cell);
		column++;
	}
	fputc('\n', out);
}

/* Asks the running agent for a table, and prints it to `out`: aligned columns, or JSON. Errors:
 * errno of the connection, -EINVAL an answer that is not a table, with a reason. */
static int agent_show(const char *socket_path, const char *table, bool as_json, FILE *out,
		      struct hd_error *err)
{
	json_t *answer = NULL;
	int descriptor, rc = connect_to(socket_path, &descriptor, err);

	if (rc)
		return rc;
	rc = agent_ask(descriptor, table, &answer, err);
	close(descriptor);
	if (rc)
		return rc;
	if (as_json) {
		json_dumpf(answer, out, JSON_INDENT(1));
		fputc('\n', out);
	} else {
		size_t widths[COLUMNS_MAX] = {0}, index;
		json_t *row;

		json_array_foreach(answer, index, row) print_row(row, widths, NULL);
		if (json_array_size(answer))
			print_heads(json_array_get(answer, 0), widths, out);
		json_array_foreach(answer, index, row) print_row(row, widths, out);
	}
	json_decref(answer);
	return 0;
}

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

static int agent_fail(const struct hd_error *err)
{
	fprintf(stderr, "heddle-router: %s\n", err->text);
	return EXIT_FAILURE;
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

	if (hd_plain_stdio())
		return EXIT_FAILURE;
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
	if (optind == argc) {
		const struct hd_log log = {write_line, &arguments};
		struct agent_config config;
		struct agent *agent;
		struct hd_error err = {""};

		if (agent_config_read(arguments.config, &config, &err))
			return agent_fail(&err);
		signal(SIGPIPE, SIG_IGN);
		if (!arguments.check) {
			if (agent_new(&config, &log, &agent, &err)) {
				agent_config_release(&config);
				return agent_fail(&err);
			}
			agent_run(agent);
			agent_free(agent);
		}
		agent_config_release(&config);
		return EXIT_SUCCESS;
	}
	if (optind + 2 == argc && !strcmp(argv[optind], "show")) {
		const char *table = argv[optind + 1];
		struct agent_config config = {0};
		struct hd_error err = {""};
		const char *control = arguments.control;
		int rc = 0;
		if (!control) {
			rc = agent_config_read(arguments.config, &config, &err);
			control = config.control;
		}
		if (!rc)
			rc = agent_show(control, table, arguments.json, stdout, &err);
		agent_config_release(&config);
		return rc ? agent_fail(&err) : EXIT_SUCCESS;
	}
	usage(stderr);
	return EXIT_USAGE;
}
