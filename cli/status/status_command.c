/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* heddle status: asks the plugin in a running OpenSM how it is. */
#include "commands.h"
#include "json_value.h"
#include "message.h"
#include "plugin_answer.h"
#include "shared_arguments.h"
#include "status_show.h"

#include <errno.h>
#include <stdlib.h>

struct status_job {
	struct plugin_address address;
	bool json, nagios;
};

static const struct argument arguments[] = {
    PLUGIN_ARGUMENTS(struct status_job, address),
    SHARED_JSON(struct status_job, json),
    {0, "nagios", NULL, "print one line for Nagios, and end with its statuses",
     ARGUMENT_FLAG(struct status_job, nagios)},
};

static const struct usage usage = {
    .synopsis = "heddle status [OPTION]...",
    .summary = "Asks the plugin in a running OpenSM how it is: which engine routes and why, the "
	       "last sweep, the largest load, what the fabric has lost, virtual lanes, adaptive "
	       "routing, the map to other subnets and routing keys.",
    .arguments = arguments,
    .count = sizeof(arguments) / sizeof(arguments[0]),
    .notes = "With --nagios the exit status is 0 OK, 1 WARNING, 2 CRITICAL or 3 UNKNOWN.",
    .statuses = {"all is well", "something is degraded", "bad usage, or no answer"},
};

/* Asks, and reads the answer into *out, to be released. */
static int ask(const struct status_job *job, json_t **out, struct hd_error *err)
{
	const char *path = job->address.socket ? job->address.socket : HD_STATUS_SOCKET;
	char *text;
	int rc = plugin_answer_get(&job->address, "status", &text, err);

	if (rc)
		return rc;
	json_t *answer = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
	free(text);
	if (status_show_understands(answer)) {
		*out = answer;
		return 0;
	}
	json_decref(answer);
	return hd_error_set(err, -EPROTO,
			    "%s: the answer is not one that this version of heddle understands",
			    path);
}

static int show(const struct status_job *job, json_t *answer)
{
	const int status = status_show_faults(answer) ? STATUS_FAULTS : STATUS_CLEAN;

	if (job->json)
		return json_value_print(json_incref(answer), status);
	if (job->nagios)
		return (int)status_show_nagios(answer);
	status_show_text(answer, time(NULL));
	return status;
}

static int ask_and_show(const struct status_job *job)
{
	struct hd_error err;
	json_t *answer = NULL;

	if (ask(job, &answer, &err))
		return job->nagios ? (int)nagios_unknown(err.text) : message_fail(&err);
	int status = show(job, answer);
	json_decref(answer);
	return status;
}

static int run(void *context, const struct operands *operands)
{
	const struct status_job *job = context;
	int status = arguments_expect(&usage, operands, "no operand", 0, 0);

	if (!status && job->nagios && job->json)
		status = message_error("--nagios cannot be used with --json");
	if (!status)
		return ask_and_show(job);
	return job->nagios ? (int)nagios_unknown("bad usage; standard error has the reason")
			   : status;
}

int status_command(int argc, char **argv)
{
	struct status_job job = {.json = false};

	return arguments_run(&usage, argc, argv, &job, run);
}
