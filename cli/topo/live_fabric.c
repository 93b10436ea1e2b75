/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "live_fabric.h"
#include "fabric_source.h"
#include "need.h"
#include "progress.h"

#include <errno.h>
#include <heddle/base/text.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define PROGRAM "ibnetdiscover"

extern char **environ;

static const char *const names[] = {
    [LIVE_NONE] = "", [LIVE_OPENSM] = "opensm", [LIVE_IBNETDISCOVER] = PROGRAM};

const char *live_fabric_name(enum live_source source)
{
	return names[source];
}

int live_fabric_take(const struct typed *typed, void *place)
{
	enum live_source *source = place;

	for (enum live_source one = LIVE_OPENSM; one <= LIVE_IBNETDISCOVER; one++)
		if (!strcmp(typed->text, names[one])) {
			*source = one;
			return 0;
		}
	return message_error("option '--live': '%s' is not one of %s", typed->text,
			     typed->argument->value);
}

int live_fabric_ask(const struct plugin_address *address, char **text, struct hd_error *err)
{
	int rc = plugin_answer_get(address, "fabric", text, err);

	/* The plugin closes the connection where it has no answer. */
	if (rc == -EPROTO)
		return hd_error_set(err, -ENODATA,
				    "OpenSM's plugin gives no fabric: it has read none yet, or is "
				    "of an older version");
	return rc;
}

/* Starts the program with `output` as its output. */
static int start(int output, pid_t *child, struct hd_error *err)
{
	static char program[] = PROGRAM;
	char *const command[] = {program, NULL};
	posix_spawn_file_actions_t actions;

	if (posix_spawn_file_actions_init(&actions))
		need(NULL);
	int rc = posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
	if (!rc)
		rc = posix_spawnp(child, PROGRAM, &actions, NULL, command, environ);
	posix_spawn_file_actions_destroy(&actions);
	if (rc == ENOENT)
		return hd_error_set(err, -ENOENT,
				    PROGRAM " is not installed (Debian: infiniband-diags)");
	return rc ? hd_error_set(err, -rc, PROGRAM ": %s", strerror(rc)) : 0;
}

static int wait_for(pid_t child, struct hd_error *err)
{
	int status;

	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			return hd_error_set(err, -errno, PROGRAM ": %s", strerror(errno));
	if (WIFEXITED(status) && !WEXITSTATUS(status))
		return 0;
	return hd_error_set(
	    err, -EIO, PROGRAM " failed; it needs a port of InfiniBand and the rights to use it");
}

static int run_program(char **text, struct hd_error *err)
{
	FILE *file = tmpfile();
	pid_t child = 0;

	if (!file)
		return hd_error_set(err, -errno, "no temporary file: %s", strerror(errno));
	int rc = start(fileno(file), &child, err);
	if (!rc)
		rc = wait_for(child, err);
	if (!rc) {
		/* Reads all that was written to a file. */
		long size = fseek(file, 0, SEEK_END) ? -1 : ftell(file);
		if (size < 0)
			rc = hd_error_set(err, -errno, PROGRAM ": %s", strerror(errno));
		else {
			char *bytes = need(malloc((size_t)size + 1));
			rewind(file);
			bytes[fread(bytes, 1, (size_t)size, file)] = '\0';
			*text = bytes;
			rc = 0;
		}
	}
	fclose(file);
	return rc;
}

int live_fabric_load(enum live_source source, const struct plugin_address *address,
		     const char *name_map, const struct hd_log *log, struct hd_fabric **out,
		     struct hd_error *err)
{
	char *text = NULL;

	progress_begin(source == LIVE_OPENSM ? "asking OpenSM" : "running " PROGRAM);
	int rc =
	    source == LIVE_OPENSM ? live_fabric_ask(address, &text, err) : run_program(&text, err);
	progress_end();
	const struct fabric_source read = {names[source], name_map, LMC_KEEP, text};
	if (!rc)
		rc = fabric_source_load(&read, log, out, err);
	free(text);
	return rc;
}
