/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "certificate_files.h"
#include "routing.h"

#include <errno.h>
#include <fcntl.h>
#include <heddle/ar_manager/certify.h>
#include <heddle/ar_manager/pins.h>
#include <heddle/ar_manager/plan_files.h>
#include <heddle/fabric/write.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct writing {
	const struct certificate_request *request;
	const struct hd_ar_plan *plan; /* with the entries of keys; NULL: none */
	struct hd_certificate *certificate;
};

/* ---- what is in the files ---- */

static int write_levels(const struct writing *writing, FILE *stream, struct hd_error *err)
{
	const struct routing *routing = writing->request->routing;

	return hd_routes_write_levels(routing->fabric, routing->routes, stream, err);
}

static int write_fabric(const struct writing *writing, FILE *stream, struct hd_error *err)
{
	return hd_fabric_write_netlist(writing->request->routing->fabric, stream, err);
}

static int write_tables(const struct writing *writing, FILE *stream, struct hd_error *err)
{
	const struct routing *routing = writing->request->routing;

	return hd_routes_write_dump(routing->fabric, routing->routes, stream, err);
}

static int write_plan(const struct writing *writing, FILE *stream, struct hd_error *err)
{
	return hd_ar_write_far(writing->plan, writing->request->routing->fabric, stream, err);
}

static int write_proof(const struct writing *writing, FILE *stream, struct hd_error *err)
{
	return hd_certificate_write(writing->certificate, writing->request->routing->fabric, stream,
				    err);
}

static bool has_levels(const struct writing *writing)
{
	return writing->request->routing->routes->sl != NULL;
}

static bool wants_tables(const struct writing *writing)
{
	return writing->request->tables;
}

static bool wants_plan(const struct writing *writing)
{
	return writing->request->tables && writing->plan;
}

static bool always(const struct writing *writing)
{
	(void)writing;
	return true;
}

/* In the order in which they come to their places. */
static const struct file {
	const char *suffix;
	bool (*wanted)(const struct writing *writing);
	int (*write)(const struct writing *writing, FILE *stream, struct hd_error *err);
} files[] = {{".topo", wants_tables, write_fabric},
	     {".lfts", wants_tables, write_tables},
	     {".sls", has_levels, write_levels},
	     {".far", wants_plan, write_plan},
	     {"", always, write_proof}};

#define FILE_COUNT (sizeof(files) / sizeof(*files))

/* ---- one file ---- */

struct sink {
	int file;
	const struct hd_go_on *go_on;
};

/* Tables can be a gigabyte, and OpenSM may end meanwhile. */
static ssize_t sink_write(void *cookie, const char *bytes, size_t size)
{
	const struct sink *sink = cookie;

	if (hd_go_on_ask(sink->go_on))
		return write(sink->file, bytes, size);
	errno = ECANCELED;
	return -1;
}

static int fill(const struct writing *writing, const struct file *file, int descriptor,
		struct hd_error *err)
{
	struct sink sink = {.file = descriptor, .go_on = &writing->request->go_on};
	FILE *stream = fopencookie(&sink, "w", (cookie_io_functions_t){.write = sink_write});
	int rc;

	if (!stream)
		return hd_error_no_memory(err);
	setvbuf(stream, NULL, _IOFBF, 1 << 16);
	rc = file->write(writing, stream, err);
	if (fclose(stream) && !rc)
		rc = hd_error_set(err, -errno, "%s", strerror(errno));
	return rc;
}

/* A file that another user may have put there is not followed. */
static int write_new(const struct writing *writing, const struct file *file, const char *path,
		     struct hd_error *err)
{
	unlink(path);
	int descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);

	if (descriptor < 0)
		return hd_error_set(err, -errno, "%s: %s", path, strerror(errno));
	int rc = fill(writing, file, descriptor, err);
	if (!rc && (fchmod(descriptor, 0644) || fsync(descriptor)))
		rc = hd_error_set(err, -errno, "%s", strerror(errno));
	if (close(descriptor) && !rc)
		rc = hd_error_set(err, -errno, "%s", strerror(errno));
	return rc ? hd_error_prefix(err, rc, "%s", path) : 0;
}

/* ---- all files ---- */

static int name_files(const struct certificate_request *request, char names[FILE_COUNT][PATH_MAX],
		      struct hd_error *err)
{
	for (unsigned i = 0; i < FILE_COUNT; i++)
		if (snprintf(names[i], PATH_MAX, "%s%s", request->path, files[i].suffix) >=
		    PATH_MAX - 5)
			return hd_error_set(err, -ENAMETOOLONG, "%s: the path is too long",
					    request->path);
	return 0;
}

static char *beside(const char *name, char path[PATH_MAX])
{
	snprintf(path, PATH_MAX, "%.*s.new", PATH_MAX - 5, name);
	return path;
}

static int sync_folder(const char *path, struct hd_error *err)
{
	char copy[PATH_MAX];

	snprintf(copy, sizeof(copy), "%s", path);
	int folder = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int rc = folder < 0 || fsync(folder)
		     ? hd_error_set(err, -errno, "%s: %s", copy, strerror(errno))
		     : 0;
	if (folder >= 0)
		close(folder);
	return rc;
}

static int place(const struct writing *writing, char names[FILE_COUNT][PATH_MAX],
		 struct hd_error *err)
{
	char path[PATH_MAX];

	for (unsigned i = 0; i < FILE_COUNT; i++) {
		int failed = files[i].wanted(writing) ? rename(beside(names[i], path), names[i])
						      : unlink(names[i]);
		if (failed && (files[i].wanted(writing) || errno != ENOENT))
			return hd_error_set(err, -errno, "%s: %s", names[i], strerror(errno));
	}
	return sync_folder(writing->request->path, err);
}

static int write_files(const struct writing *writing, struct hd_error *err)
{
	char names[FILE_COUNT][PATH_MAX], path[PATH_MAX];
	int rc = name_files(writing->request, names, err);

	if (rc)
		return rc;
	for (unsigned i = 0; !rc && i < FILE_COUNT; i++)
		if (files[i].wanted(writing))
			rc = write_new(writing, &files[i], beside(names[i], path), err);
	if (!rc)
		rc = place(writing, names, err);
	for (unsigned i = 0; rc && i < FILE_COUNT; i++)
		unlink(beside(names[i], path));
	return rc;
}

int certificate_write(const struct certificate_request *request, struct hd_error *err)
{
	const struct routing *routing = request->routing;
	struct writing writing = {.request = request};
	struct hd_ar_plan *pinned = NULL;
	int rc = 0;

	if (request->plan)
		rc = hd_ar_plan_pinned(request->plan, routing->fabric, routing->routes,
				       &routing->pins, &pinned, err);
	writing.plan = pinned;
	if (!rc)
		rc = hd_ar_certify(routing->fabric, routing->routes, pinned, &request->go_on,
				   &writing.certificate, err);
	if (!rc) {
		snprintf(writing.certificate->made, sizeof(writing.certificate->made), "%s",
			 request->made);
		rc = write_files(&writing, err);
	}
	hd_certificate_free(writing.certificate);
	hd_ar_plan_free(pinned);
	return rc;
}
