/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* How a file gets into memory. */
#include <heddle/base/text.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ROOM_FIRST                                                                                 \
	4096 /* beyond what fstat() says: files in /proc have no size, and files grow              \
	      */

#define PART ((size_t)1 << 20) /* read at a time: faster than a whole that no cache has room for */

#define STREAM_LEAST ((size_t)1 << 30)

size_t hd_text_largest(void)
{
	const long pages = sysconf(_SC_PHYS_PAGES), bytes = sysconf(_SC_PAGESIZE);
	const size_t half = pages > 0 && bytes > 0 ? (size_t)pages / 2 * (size_t)bytes : 0;

	return half > STREAM_LEAST ? half : STREAM_LEAST;
}

static int failed(const struct hd_text *text, const char *what, int rc, struct hd_error *err)
{
	return hd_error_set(err, -rc, "%s: %s: %s", text->name, what, strerror(rc));
}

static int too_large(const struct hd_text *text, size_t largest, struct hd_error *err)
{
	return hd_error_set(err, -EFBIG,
			    "%s: cannot read: the file is larger than %zu bytes, the most allowed",
			    text->name, largest);
}

/* Doubles the room, up to one byte more than the largest file. */
static int grow(struct hd_text *text, size_t *room, size_t largest, struct hd_error *err)
{
	size_t wanted = *room > largest / 2 ? largest + 1 : *room * 2;
	char *more = realloc(text->owned, wanted);

	if (!more)
		return hd_error_no_memory(err);
	text->bytes = text->owned = more;
	*room = wanted;
	return 0;
}

/* Copies the rest of the file: `expected` bytes, or any other number. */
static int copy(int file, size_t expected, size_t largest, struct hd_text *text,
		struct hd_error *err)
{
	size_t room = expected + ROOM_FIRST;
	ssize_t got;

	text->bytes = text->owned = malloc(room);
	if (!text->owned)
		return hd_error_no_memory(err);
	do {
		int rc = text->length == room ? grow(text, &room, largest, err) : 0;
		if (rc)
			return rc;
		const size_t left = room - text->length;
		got = read(file, (char *)text->owned + text->length, left < PART ? left : PART);
		text->length += got > 0 ? (size_t)got : 0;
	} while ((got > 0 && text->length <= largest) || (got < 0 && errno == EINTR));
	if (got < 0)
		return failed(text, "cannot read", errno, err);
	return text->length > largest ? too_large(text, largest, err) : 0;
}

/* Copies a regular file. A part of it would pass for the whole, so one that becomes shorter meanwhile is refused; in /sys
 * files are shorter than they say. A file that is mapped would end the process then. */
static int copy_regular(int file, const struct stat *status, size_t largest, struct hd_text *text,
			struct hd_error *err)
{
	struct stat now;
	int rc = copy(file, (size_t)status->st_size, largest, text, err);

	if (!rc && fstat(file, &now))
		rc = failed(text, "cannot read", errno, err);
	if (!rc && text->length < (size_t)status->st_size && now.st_size < status->st_size)
		rc = hd_error_set(err, -EIO, "%s: cannot read: it became shorter meanwhile",
				  text->name);
	return rc;
}

typedef int load_function(int file, const struct stat *status, size_t largest, struct hd_text *text,
			  struct hd_error *err);

static int load_any(int file, const struct stat *status, size_t largest, struct hd_text *text,
		    struct hd_error *err)
{
	if (S_ISDIR(status->st_mode))
		return failed(text, "cannot read", EISDIR, err);
	if (!S_ISREG(status->st_mode))
		return copy(file, 0, largest, text, err);
	if ((uintmax_t)status->st_size > largest)
		largest = (size_t)status->st_size;
	return copy_regular(file, status, largest, text, err);
}

static int load_regular(int file, const struct stat *status, size_t largest, struct hd_text *text,
			struct hd_error *err)
{
	if (!S_ISREG(status->st_mode))
		return hd_error_set(err, -EINVAL, "%s: cannot read: not a regular file",
				    text->name);
	if ((uintmax_t)status->st_size > largest)
		return too_large(text, largest, err);
	return copy_regular(file, status, largest, text, err);
}

static int open_text(const char *path, int flags, load_function *load, size_t largest,
		     struct hd_text *text, struct hd_error *err)
{
	struct stat status;
	int file = open(path, O_RDONLY | O_CLOEXEC | flags);

	*text = (struct hd_text){.name = path};
	if (file < 0)
		return failed(text, "cannot open", errno, err);
	int rc = fstat(file, &status) ? failed(text, "cannot read", errno, err)
				      : load(file, &status, largest, text, err);
	close(file);
	if (rc)
		hd_text_close(text);
	return rc;
}

int hd_text_open(const char *path, struct hd_text *text, struct hd_error *err)
{
	return open_text(path, 0, load_any, hd_text_largest(), text, err);
}

int hd_text_open_regular(const char *path, size_t largest, struct hd_text *text,
			 struct hd_error *err)
{
	return open_text(path, O_NONBLOCK | O_NOCTTY, load_regular, largest, text, err);
}

void hd_text_close(struct hd_text *text)
{
	free(text->owned);
	*text = (struct hd_text){.name = text->name};
}
