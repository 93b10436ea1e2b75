/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * heddle drain --apply, --undo and --list, and heddle reroute: asks the plugin in a running OpenSM. doc/guide/drain.md
 * describes the socket: a request is a word, the names, each on a line, and an empty line. The answer is a line with the
 * exit status, and lines for people.
 */
#include "drain.h"
#include "message.h"
#include "need.h"
#include "progress.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TIMEOUT_MS 600000u
#define REQUEST_MOST 65536u /* what the plugin reads */

static const char *word_of(const struct drain_job *job)
{
	if (job->reroute)
		return job->unproved ? "reroute-any" : "reroute";
	if (job->apply)
		return job->unproved ? "apply-any" : "apply";
	return job->list ? "list" : job->all ? "undo-all" : "undo";
}

/* What is waited for; on a terminal with the seconds, else a line for each new text. */
static void show_wait(const char *text)
{
	if (isatty(STDERR_FILENO))
		progress_update("waiting: %s", text);
	else
		message_error("waiting: %s", text);
}

static int make_request(const struct drain_job *job, const char *const *names, uint32_t count,
			char **out, struct hd_error *err)
{
	size_t size = 0;
	FILE *stream = need(open_memstream(out, &size));

	fprintf(stream, "%s%s\n", job->list ? "" : "progress\n", word_of(job));
	for (uint32_t i = 0; i < count; i++)
		fprintf(stream, "%s\n", names[i]);
	need_close(stream);
	for (uint32_t i = 0; i < count; i++)
		if (!*names[i] || strchr(names[i], '\n'))
			return hd_error_set(err, -EINVAL, "'%.64s' is no name of a switch or cable",
					    names[i]);
	return size < REQUEST_MOST
		   ? 0
		   : hd_error_set(err, -E2BIG, "the names take more than %u bytes", REQUEST_MOST);
}

/* The lines of a text, which is changed. */
static json_t *lines_json(char *text)
{
	json_t *list = json_array();
	char *rest = NULL;

	for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
		list = json_value_append(list, json_value_text(line));
	return list;
}

static int show(const struct drain_job *job, char *answer)
{
	const int status = *answer - '0';
	char *text = answer + 2;

	if (status < STATUS_CLEAN || status > STATUS_BAD || answer[1] != '\n')
		return message_error(
		    "the answer is not one that this version of heddle understands");
	if (job->workload.json && status != STATUS_BAD)
		return json_value_print(json_pack("{s:s, s:b, s:o}", "request", word_of(job),
						  "done", status == STATUS_CLEAN, "lines",
						  lines_json(text)),
					status);
	if (status == STATUS_CLEAN) {
		fputs(text, stdout);
		return status;
	}
	char *rest = NULL;
	for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
		message_error("%s", line);
	return status;
}

int drain_live(const struct drain_job *job, const char *const *names, uint32_t count)
{
	struct plugin_address address = job->address;
	char *request = NULL, *answer = NULL;
	struct hd_error err;
	int rc = make_request(job, names, count, &request, &err);

	address.of = &plugin_socket_drain;
	if (!address.timeout_ms)
		address.timeout_ms = TIMEOUT_MS;
	address.waits = show_wait;
	progress_begin("waiting: OpenSM has not answered yet");
	if (!rc)
		rc = plugin_answer_get(&address, request, &answer, &err);
	/* a plugin of an older version, which runs until OpenSM is restarted, knows no progress */
	if (!rc && !strncmp(answer, "2\nthis is no request", 20) && !job->list) {
		free(answer);
		answer = NULL;
		rc = plugin_answer_get(&address, request + strlen("progress\n"), &answer, &err);
	}
	progress_end();
	int status = rc ? message_fail(&err) : show(job, answer);
	free(request);
	free(answer);
	return status;
}
