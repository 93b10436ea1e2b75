/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The program draws to its standard output, which is memory. So a file name is never part of a
 * command or a script, and a disk that is full is noticed: gnuplot does not look.
 */
#include "drawing.h"
#include "need.h"
#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define NO_PROGRAM 127

bool drawing_ends_in(const char *path, const char *ending)
{
	size_t length = strlen(path), end = strlen(ending);

	return length > end && !strcmp(path + length - end, ending);
}

static int not_installed(const struct drawing_program *program, struct hd_error *err)
{
	return hd_error_set(err, -ENOPKG, "cannot draw: %s is not installed; install %s",
			    program->command[0], program->package);
}

int drawing_check(const struct drawing_program *program, struct hd_error *err)
{
	const char *folders = getenv("PATH");
	char path[4096];

	while (folders && *folders) {
		int length = (int)strcspn(folders, ":");
		snprintf(path, sizeof(path), "%.*s/%s", length, folders, program->command[0]);
		if (!access(path, X_OK))
			return 0;
		folders += length + (folders[length] == ':');
	}
	return not_installed(program, err);
}

static int wait_for(pid_t child, const struct drawing_program *program, struct hd_error *err)
{
	const char *name = program->command[0];
	int status;

	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			return hd_error_set(err, -errno, "%s: %s", name, strerror(errno));
	if (WIFEXITED(status) && !WEXITSTATUS(status))
		return 0;
	if (WIFEXITED(status) && WEXITSTATUS(status) == NO_PROGRAM)
		return not_installed(program, err);
	return hd_error_set(err, -EIO, "%s failed", name);
}

/* Starts the program with a pipe as its input and `output` as its output. */
static int start(char *const *command, int output, FILE **script, pid_t *child,
		 struct hd_error *err)
{
	int ends[2], rc = 0;

	if (pipe2(ends, O_CLOEXEC))
		return hd_error_set(err, -errno, "pipe: %s", strerror(errno));
	/* The stream comes first, because without it there must be no child. */
	*script = need(fdopen(ends[1], "w"));
	if ((*child = fork()) < 0) {
		rc = hd_error_set(err, -errno, "fork: %s", strerror(errno));
		fclose(*script);
	} else if (!*child) {
		signal(SIGXFSZ, SIG_DFL);
		if (dup2(ends[0], STDIN_FILENO) >= 0 && dup2(output, STDOUT_FILENO) >= 0)
			execvp(command[0], command);
		_exit(NO_PROGRAM);
	}
	close(ends[0]);
	return rc;
}

static int copy(int picture, const char *path, FILE *stream, struct hd_error *err)
{
	char bytes[4096];
	ssize_t count;

	for (off_t at = 0; (count = pread(picture, bytes, sizeof(bytes), at)) > 0; at += count)
		if (fwrite(bytes, 1, (size_t)count, stream) != (size_t)count)
			return hd_error_set(err, -errno, "cannot write %s: %s", path,
					    strerror(errno));
	return count < 0 ? hd_error_set(err, -errno, "%s: %s", path, strerror(errno)) : 0;
}

/* Lets the program draw into `picture`. */
static int draw(const struct drawing_program *program, int picture, drawing_fn *write,
		const void *context, struct hd_error *err)
{
	FILE *script = NULL;
	pid_t child = 0;

	/* If the program ends early, its exit status says so. The signal of the pipe is no help. */
	void (*kept)(int) = signal(SIGPIPE, SIG_IGN);
	int rc = start(program->command, picture, &script, &child, err);

	if (!rc) {
		write(script, context);
		fclose(script);
		rc = wait_for(child, program, err);
	}
	signal(SIGPIPE, kept);
	return rc;
}

int drawing_make(const struct drawing_program *program, const char *path, drawing_fn *write,
		 const void *context, struct hd_error *err)
{
	struct output output;
	int rc = output_open(&output, path, err);

	if (rc)
		return rc;
	int picture = memfd_create("picture", MFD_CLOEXEC);
	rc = picture < 0 ? hd_error_set(err, -errno, "%s: %s", path, strerror(errno))
			 : draw(program, picture, write, context, err);
	if (!rc)
		rc = copy(picture, path, output.stream, err);
	if (picture >= 0)
		close(picture);
	if (rc == -EIO)
		hd_error_prefix(err, rc, "cannot draw %s", path);
	/* If one of these failed, err has that reason already. */
	return output_close(&output, rc, rc ? NULL : err);
}
