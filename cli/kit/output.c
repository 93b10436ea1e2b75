/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Outputs of commands. output_open() begins a replacement (heddle/base/replacement.h) and a stream to it, packed if the
 * file's name ends in .gz; NULL and "-" are standard output. output_close() flushes and closes it, and gives it its name
 * if all went well. Of several outputs none gets its name before all are closed. Where the program ends before, by a
 * signal or without memory, what has no name yet is removed. output_refuse() keeps a command from replacing what it reads.
 */
#include "output.h"
#include "message.h"
#include "need.h"

#include <assert.h>
#include <errno.h>
#include <heddle/base/gzip.h>
#include <heddle/base/plain.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The files to remove when the program ends before they have their names. */
static struct hd_replacement *volatile unfinished[OUTPUTS_MAX];

static void remove_unfinished(void)
{
	for (size_t i = 0; i < OUTPUTS_MAX; i++)
		if (unfinished[i] && *unfinished[i]->temporary)
			unlinkat(unfinished[i]->folder, unfinished[i]->temporary, 0);
}

static void end_by_signal(int number)
{
	remove_unfinished();
	signal(number, SIG_DFL);
	raise(number);
}

static void replace_unfinished(const struct hd_replacement *before, struct hd_replacement *after)
{
	size_t i = 0;

	while (i < OUTPUTS_MAX && unfinished[i] != before)
		i++;
	if (i < OUTPUTS_MAX)
		unfinished[i] = after;
}

static int cannot_write(const char *path, int rc, struct hd_error *err)
{
	return hd_error_set(err, rc, "cannot write %s: %s", path ? path : "standard output",
			    strerror(-rc));
}

static bool ends_in(const char *path, const char *ending)
{
	const size_t length = strlen(path), end = strlen(ending);

	return length > end && !strcmp(path + length - end, ending);
}

static void forget(struct output *output)
{
	if (output->replacement) {
		hd_replacement_drop(output->replacement);
		replace_unfinished(output->replacement, NULL);
	}
	free(output->replacement);
	free(output->path);
	*output = (struct output){.stream = NULL};
}

static int begin(struct output *output, struct hd_error *err)
{
	int file = -1, rc = hd_replacement_begin(output->replacement, output->path,
						 HD_REPLACEMENT_COMMAND, &file, err);

	if (rc)
		return hd_error_prefix(err, rc, "cannot write %s", output->path);
	replace_unfinished(NULL, output->replacement);
	need_clean = remove_unfinished;
	static const int numbers[] = {SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		struct sigaction before;
		struct sigaction action = {.sa_handler = end_by_signal};
		if (!sigaction(numbers[i], NULL, &before) && before.sa_handler == SIG_DFL)
			sigaction(numbers[i], &action, NULL);
	}
	/* All files have plain text but pictures. Those whose name ends in .gz are packed. */
	const char *path = *output->replacement->name ? output->replacement->name : output->path;
	FILE *stream = ends_in(path, ".gz") ? hd_gzip_write(file) : fdopen(file, "w");
	FILE *plain = ends_in(path, ".png") ? stream : hd_plain_stream(stream);
	const int error = errno;
	if (!stream)
		close(file);
	else if (!plain)
		fclose(stream);
	errno = error;
	output->stream = plain;
	if (output->stream)
		return 0;
	return cannot_write(output->path, -errno, err);
}

int output_open(struct output *output, const char *path, struct hd_error *err)
{
	*output = (struct output){.stream = stdout};
	if (!path || !strcmp(path, "-"))
		return 0;
	output->path = need(strdup(path));
	output->replacement = need(calloc(1, sizeof(*output->replacement)));
	int rc = begin(output, err);
	if (rc)
		forget(output);
	return rc;
}

int output_flush(struct output *output, int rc, struct hd_error *err)
{
	if (!rc) {
		errno = 0;
		bool failed = fflush(output->stream) || ferror(output->stream);
		rc = failed ? (errno ? -errno : -EIO) : 0;
	}
	return rc ? cannot_write(output->path, rc, err) : 0;
}

int output_open_all(struct output *outputs, const char *const *paths, size_t count,
		    struct hd_error *err)
{
	assert(count <= OUTPUTS_MAX);
	for (size_t i = 0; i < count; i++) {
		int rc = output_open(&outputs[i], paths[i], err);
		if (rc)
			return output_close_all(outputs, i, rc, NULL);
	}
	return 0;
}

/* Standard output stays open. */
static int close_streams(struct output *outputs, size_t count, int rc, struct hd_error *err)
{
	for (size_t i = 0; i < count; i++)
		if (outputs[i].path && fclose(outputs[i].stream) && !rc)
			rc = cannot_write(outputs[i].path, -errno, err);
	return rc;
}

int output_close_all(struct output *outputs, size_t count, int rc, struct hd_error *err)
{
	for (size_t i = 0; !rc && i < count; i++)
		rc = output_flush(&outputs[i], 0, err);
	rc = close_streams(outputs, count, rc, err);
	for (size_t i = 0; i < count; i++) {
		if (!rc && outputs[i].replacement &&
		    (rc = hd_replacement_commit(outputs[i].replacement, err)))
			hd_error_prefix(err, rc, "cannot write %s", outputs[i].path);
		forget(&outputs[i]);
	}
	return rc;
}

int output_close(struct output *output, int rc, struct hd_error *err)
{
	return output_close_all(output, 1, output_flush(output, rc, err), err);
}

/* NULL: there is no such place. */
static char *absolute(const char *path)
{
	char *real = realpath(path, NULL);

	return real || errno != ENOMEM ? real : need(NULL);
}

/* The absolute name of an ordinary file, or of one that does not exist yet in a folder that does; NULL for anything
 * else. */
static char *place_of(const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	struct stat status;

	if (!strcmp(path, "-"))
		return NULL;
	if (!stat(path, &status))
		return S_ISREG(status.st_mode) ? absolute(path) : NULL;
	char *folder = slash ? need_format("%.*s", (int)(name - path), path) : NULL;
	char *real = absolute(folder ? folder : "."), *place = NULL;
	if (real)
		place = need_format("%s/%s", real, name);
	free(real);
	free(folder);
	return place;
}

bool output_same(const char *left, const char *right)
{
	char *one = place_of(left), *other = place_of(right);
	const bool same = one && other && !strcmp(one, other);

	free(one);
	free(other);
	return same;
}

int output_refuse(const char *option, const char *output, const char *const *inputs, size_t count)
{
	for (size_t i = 0; output && i < count; i++)
		if (inputs[i] && output_same(inputs[i], output))
			return message_error("option '--%s' would replace %s, which is an input: "
					     "give another file",
					     option, output);
	return 0;
}

int output_make_folder(const char *folder, struct hd_error *err)
{
	if (mkdir(folder, 0777) && errno != EEXIST)
		return hd_error_set(err, -errno, "folder '%s': %s", folder, strerror(errno));
	return 0;
}

typedef int write_fn(const struct hd_fabric *fabric, FILE *stream, struct hd_error *err);

static write_fn *const writers[] = {
    [FABRIC_OUTPUT_NETLIST] = hd_fabric_write_netlist,
    [FABRIC_OUTPUT_DOT] = hd_fabric_write_dot,
    [FABRIC_OUTPUT_SLURM] = hd_fabric_write_slurm,
    [FABRIC_OUTPUT_SLURM_WEIGHTS] = hd_fabric_write_slurm_weights,
    [FABRIC_OUTPUT_SLURM_BLOCKS] = hd_fabric_write_slurm_blocks,
    [FABRIC_OUTPUT_SLURM_YAML] = hd_fabric_write_slurm_yaml,
    [FABRIC_OUTPUT_GRAPHML] = hd_fabric_write_graphml,
};

int output_save_fabric(const struct hd_fabric *fabric, enum fabric_output_format format,
		       const char *path)
{
	struct hd_error err = {""};
	struct output output;
	int rc = output_open(&output, path, &err);

	if (!rc) {
		int written = writers[format](fabric, output.stream, &err);
		/* Reasons that lie in the fabric stay as they are. */
		rc = ferror(output.stream) ? output_close(&output, written, &err)
					   : output_close_all(&output, 1, written, &err);
	}
	return rc ? message_fail(&err) : STATUS_CLEAN;
}
