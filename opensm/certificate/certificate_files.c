/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "certificate_files.h"
#include "routing.h"

#include <errno.h>
#include <fcntl.h>
#include <heddle/ar_manager/certify.h>
#include <heddle/ar_manager/pins.h>
#include <heddle/ar_manager/plan_files.h>
#include <heddle/base/replacement.h>
#include <heddle/fabric/write.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define RIGHTS 0644 /* whatever the umask is: others verify them */

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

static bool has_plan(const struct writing *writing)
{
	return writing->plan != NULL;
}

/* In the order in which they come to their places. */
static const struct file {
	const char *suffix;
	bool of_tables; /* only if the tables are wanted, too */
	bool (*exists)(const struct writing *writing); /* NULL: always */
	int (*write)(const struct writing *writing, FILE *stream, struct hd_error *err);
} files[] = {{".topo", true, NULL, write_fabric},
	     {".lfts", true, NULL, write_tables},
	     {".sls", false, has_levels, write_levels},
	     {".far", true, has_plan, write_plan},
	     {"", false, NULL, write_proof}};

#define FILE_COUNT CERTIFICATE_FILES

_Static_assert(sizeof(files) / sizeof(*files) == FILE_COUNT, "the header has their number");

/* What stands at the places of other files is not touched. */
static bool is_wanted(const struct writing *writing, const struct file *file)
{
	return writing->request->tables || !file->of_tables;
}

static bool is_written(const struct writing *writing, const struct file *file)
{
	return is_wanted(writing, file) && (!file->exists || file->exists(writing));
}

/* ---- one file ---- */

struct sink {
	FILE *file;
	const struct hd_go_on *go_on;
};

/* Tables can be a gigabyte, and OpenSM may end meanwhile. */
static ssize_t sink_write(void *cookie, const char *bytes, size_t size)
{
	const struct sink *sink = cookie;

	if (hd_go_on_ask(sink->go_on))
		return fwrite(bytes, 1, size, sink->file) == size ? (ssize_t)size : -1;
	errno = ECANCELED;
	return -1;
}

struct filling {
	const struct writing *writing;
	const struct file *file;
};

/* The disk has the file then. */
static int fill(const void *context, FILE *file, struct hd_error *err)
{
	const struct filling *filling = context;
	struct sink sink = {.file = file, .go_on = &filling->writing->request->go_on};
	FILE *stream = fopencookie(&sink, "w", (cookie_io_functions_t){.write = sink_write});

	if (!stream)
		return hd_error_no_memory(err);
	setvbuf(stream, NULL, _IOFBF, 1 << 16);
	int rc = filling->file->write(filling->writing, stream, err);
	if (fclose(stream) && !rc)
		rc = hd_error_set(err, -errno, "%s", strerror(errno));
	if (!rc && (fflush(file) || fchmod(fileno(file), RIGHTS) || fsync(fileno(file))))
		rc = hd_error_set(err, -errno, "%s", strerror(errno));
	return rc;
}

/* ---- all files ---- */

static int name_files(const struct certificate_request *request, char names[FILE_COUNT][PATH_MAX],
		      struct hd_error *err)
{
	for (unsigned i = 0; i < FILE_COUNT; i++)
		if (snprintf(names[i], PATH_MAX, "%s%s", request->path, files[i].suffix) >=
		    PATH_MAX)
			return hd_error_set(err, -ENAMETOOLONG, "%s: the path is too long",
					    request->path);
	return 0;
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

static int place(const struct writing *writing, struct hd_replacement made[FILE_COUNT],
		 const char names[FILE_COUNT][PATH_MAX], struct hd_error *err)
{
	int rc = 0;

	for (unsigned i = 0; !rc && i < FILE_COUNT; i++) {
		if (is_written(writing, &files[i])) {
			rc = hd_replacement_commit(&made[i], err);
			if (rc)
				hd_error_prefix(err, rc, "%s", names[i]);
		} else if (is_wanted(writing, &files[i])) {
			rc = hd_replace_by_nothing(names[i], err);
		}
	}
	return rc ? rc : sync_folder(writing->request->path, err);
}

static int write_files(const struct writing *writing, struct hd_error *err)
{
	struct hd_replacement made[FILE_COUNT] = {0};
	char names[FILE_COUNT][PATH_MAX];
	int rc = name_files(writing->request, names, err);

	for (unsigned i = 0; !rc && i < FILE_COUNT; i++)
		if (is_written(writing, &files[i]))
			rc = hd_replacement_write(&made[i], names[i], RIGHTS, fill,
						  &(struct filling){writing, &files[i]}, err);
	if (!rc)
		rc = place(writing, made, names, err);
	for (unsigned i = 0; i < FILE_COUNT; i++)
		hd_replacement_drop(&made[i]);
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

void certificate_mark(const struct certificate_request *request, struct certificate_placed *out)
{
	const struct writing writing = {.request = request};
	char names[FILE_COUNT][PATH_MAX];

	*out = (struct certificate_placed){.path = ""};
	if (name_files(request, names, NULL))
		return;
	snprintf(out->path, sizeof(out->path), "%s", request->path);
	for (unsigned i = 0; i < FILE_COUNT; i++)
		if (is_wanted(&writing, &files[i]))
			out->files[i] = file_mark(names[i]);
}

unsigned certificate_remove(const struct certificate_placed *placed)
{
	const struct certificate_request request = {.path = placed->path};
	char names[FILE_COUNT][PATH_MAX];
	unsigned removed = 0;

	if (!*placed->path || name_files(&request, names, NULL))
		return 0;
	for (unsigned i = 0; i < FILE_COUNT; i++)
		removed += file_mark_remove(names[i], &placed->files[i]);
	return removed;
}
