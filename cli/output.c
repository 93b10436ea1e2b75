/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The file to remove when a signal ends the program; one output is open at a time. */
static char *volatile unfinished;

static void remove_unfinished(int number)
{
	if (unfinished)
		unlink(unfinished);
	signal(number, SIG_DFL);
	raise(number);
}

static void catch_signals(void)
{
	static const int numbers[] = {SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		struct sigaction before;
		struct sigaction action = {.sa_handler = remove_unfinished};
		if (!sigaction(numbers[i], NULL, &before) && before.sa_handler == SIG_DFL)
			sigaction(numbers[i], &action, NULL);
	}
}

static int cannot_write(const char *path, int code, struct hd_error *err)
{
	return hd_error_set(err, code, "cannot write %s: %s", path ? path : "standard output",
			    strerror(-code));
}

/* What a new file may be read by, or what the old one could. */
static mode_t mode_for(const char *path)
{
	struct stat status;
	if (!stat(path, &status))
		return status.st_mode & 07777;
	mode_t mask = umask(0);
	umask(mask);
	return 0666 & ~mask;
}

static int open_temporary(struct cli_output *output)
{
	if (asprintf(&output->temporary, "%s.XXXXXX", output->path) < 0) {
		output->temporary = NULL;
		return -ENOMEM;
	}
	int file = mkostemp(output->temporary, O_CLOEXEC);
	if (file < 0)
		return -errno;
	unfinished = output->temporary;
	catch_signals();
	if (fchmod(file, mode_for(output->path)) || !(output->stream = fdopen(file, "w"))) {
		int code = -errno;
		close(file);
		unlink(output->temporary);
		return code;
	}
	return 0;
}

static int open_in_place(struct cli_output *output)
{
	output->stream = fopen(output->path, "we");
	return output->stream ? 0 : -errno;
}

static void forget(struct cli_output *output)
{
	unfinished = NULL;
	free(output->temporary);
	free(output->path);
	*output = (struct cli_output){.stream = NULL};
}

int cli_output_open(struct cli_output *output, const char *path, struct hd_error *err)
{
	struct stat status;
	*output = (struct cli_output){.stream = stdout};
	if (!path || !strcmp(path, "-"))
		return 0;
	bool exists = !stat(path, &status);
	output->path = exists ? realpath(path, NULL) : strdup(path);
	if (!output->path)
		return cannot_write(path, -errno, err);
	int code =
	    exists && !S_ISREG(status.st_mode) ? open_in_place(output) : open_temporary(output);
	if (code)
		forget(output);
	return code ? cannot_write(path, code, err) : 0;
}

/* Flushes and closes; standard output stays open. */
static int close_stream(struct cli_output *output)
{
	errno = 0;
	bool failed = fflush(output->stream) || ferror(output->stream);
	int code = failed ? (errno ? -errno : -EIO) : 0;
	if (output->path && fclose(output->stream) && !code)
		code = -errno;
	return code;
}

int cli_output_close(struct cli_output *output, int code, struct hd_error *err)
{
	int closed = close_stream(output);
	if (!code && !closed && output->temporary && rename(output->temporary, output->path))
		closed = -errno;
	if (!code)
		code = closed;
	if (code)
		cannot_write(output->path, code, err);
	if (code && output->temporary)
		unlink(output->temporary);
	forget(output);
	return code;
}

/* A file that is not there yet, by the one name of its folder. */
static char *place_of_new(const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	char *place = NULL;
	char *folder = slash ? strndup(path, (size_t)(name - path)) : strdup(".");
	char *real = folder ? realpath(folder, NULL) : NULL;
	if (real && asprintf(&place, "%s/%s", real, name) < 0)
		place = NULL;
	free(real);
	free(folder);
	return place;
}

/* An ordinary file's one name; NULL for all else, and where memory is short. */
static char *place_of(const char *path)
{
	struct stat status;
	if (!strcmp(path, "-"))
		return NULL;
	if (stat(path, &status))
		return place_of_new(path);
	return S_ISREG(status.st_mode) ? realpath(path, NULL) : NULL;
}

bool cli_output_same(const char *left, const char *right)
{
	char *one = place_of(left), *other = place_of(right);
	bool same = one && other && !strcmp(one, other);
	free(one);
	free(other);
	return same;
}
