/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "kept_work.h"
#include "need.h"

#include <errno.h>
#include <fcntl.h>
#include <heddle/base/place.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#define LARGEST ((size_t)1 << 30) /* bytes of a file */

struct reading {
	const char *head;
	kept_work_take_fn *take;
	void *context;
};

static char *path_of(const char *path, uint32_t part)
{
	return part ? need_format("%s.%" PRIu32, path, part) : need_format("%s", path);
}

/* Reads one file; *length bytes of it are whole. */
static int read_file(const char *path, const struct reading *reading, size_t *length,
		     struct hd_error *err)
{
	const size_t size = strlen(reading->head);
	struct hd_text text;
	int rc = hd_text_open_regular(path, LARGEST, &text, err);

	*length = 0;
	if (rc)
		return rc;
	/* A process may have ended while it wrote the head: then nothing is kept yet. */
	bool begun = text.length >= size;
	if (memcmp(text.bytes, reading->head, begun ? size : text.length) != 0)
		rc = hd_error_set(err, -ESTALE,
				  "%s keeps work on other input, or with other options or seeds; "
				  "remove it, or name another file",
				  path);
	if (!rc && begun) {
		struct hd_text rest = {
		    .bytes = text.bytes + size, .length = text.length - size, .name = path};
		rc = rest.length ? reading->take(reading->context, &rest, length, err) : 0;
		*length += size;
	}
	hd_text_close(&text);
	return rc;
}

static int read_all(const char *path, const struct reading *reading,
		    const struct processes *processes, size_t *own_length, struct hd_error *err)
{
	int rc = 0;

	*own_length = 0;
	for (uint32_t part = 0; !rc; part++) {
		char *name = path_of(path, part);
		size_t length;
		rc = read_file(name, reading, &length, err);
		free(name);
		if (part == processes->part)
			*own_length = length;
		if (rc == -ENOENT && part < processes->parts)
			rc = 0;
	}
	return rc == -ENOENT ? 0 : rc;
}

/* Opens a file to go on with: a new one, or one of the caller's own with one name, so that no other user chose it. */
static int open_to_append(const char *path, int *file, struct hd_error *err)
{
	struct hd_place place;
	struct stat facts;
	int rc = hd_place_find(path, HD_PLACE_LINKS, &place, err);

	if (rc)
		return hd_error_prefix(err, rc, "cannot write %s", path);
	const bool other = place.exists && !S_ISREG(place.facts.st_mode);
	*file =
	    other ? -1
		  : openat(place.folder, place.name,
			   O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0666);
	if (!other && (*file < 0 || fstat(*file, &facts)))
		rc = hd_error_set(err, -errno, "cannot write %s: %s", path, strerror(errno));
	else if (other || !S_ISREG(facts.st_mode) || facts.st_uid != geteuid() ||
		 facts.st_nlink != 1)
		rc = hd_error_set(
		    err, -EPERM,
		    "cannot write %s: it is not a regular file of your own with one name", path);
	if (rc && *file >= 0)
		close(*file);
	hd_place_close(&place);
	return rc;
}

/* Goes on behind the last whole entry. */
static int open_own(struct kept_work *state, size_t length, const char *head, struct hd_error *err)
{
	int file, rc = open_to_append(state->path, &file, err);

	if (rc)
		return rc;
	state->stream = fdopen(file, "a");
	if (!state->stream)
		close(file);
	else if (flock(file, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK)
		return hd_error_set(err, -EBUSY, "%s: another heddle keeps its work there",
				    state->path);
	if (!state->stream || ftruncate(file, (off_t)length) ||
	    (!length && fputs(head, state->stream) < 0) || fflush(state->stream))
		return hd_error_set(err, -errno, "cannot write %s: %s", state->path,
				    strerror(errno));
	return 0;
}

int kept_work_open(struct kept_work *state, const char *path, const char *head,
		   const struct processes *processes, kept_work_take_fn *take, void *context,
		   struct hd_error *err)
{
	const struct reading reading = {head, take, context};
	size_t length = 0;

	*state = (struct kept_work){.stream = NULL};
	if (!path)
		return 0;
	state->path = path_of(path, processes->part);
	int rc = read_all(path, &reading, processes, &length, err);
	/* Nobody may write before all have read. */
	rc = processes_agree(processes, rc, err);
	if (!rc)
		rc = open_own(state, length, head, err);
	if (!rc)
		processes_keep(path);
	return rc;
}

int kept_work_flush(struct kept_work *state, struct hd_error *err)
{
	if (!fflush(state->stream) && !ferror(state->stream))
		return 0;
	return hd_error_set(err, -errno, "cannot write %s: %s; it keeps what was finished before",
			    state->path, strerror(errno));
}

void kept_work_close(struct kept_work *state)
{
	if (state->stream)
		fclose(state->stream);
	free(state->path);
	*state = (struct kept_work){.stream = NULL};
}
