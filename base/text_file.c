/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* How a file gets into memory. */
#include <heddle/base/text.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define ROOM_FIRST                                                                                 \
	4096 /* beyond what fstat() says: files in /proc have no size, and files grow              \
	      */

/*
 * If a file is cut short while it is mapped, the process that reads it dies. So files that are read
 * inside OpenSM are copied. Only the tables of huge fabrics are mapped.
 */
#define MAPPED_SMALLEST ((off_t)64 << 20)

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
	char *more = realloc(text->mapping, wanted);

	if (!more)
		return hd_error_no_memory(err);
	text->bytes = text->mapping = more;
	*room = wanted;
	return 0;
}

/* Copies the rest of the file: `expected` bytes, or any other number. */
static int copy(int file, size_t expected, size_t largest, struct hd_text *text,
		struct hd_error *err)
{
	size_t room = expected + ROOM_FIRST;
	ssize_t got;

	text->bytes = text->mapping = malloc(room);
	if (!text->mapping)
		return hd_error_no_memory(err);
	do {
		int rc = text->length == room ? grow(text, &room, largest, err) : 0;
		if (rc)
			return rc;
		got = read(file, (char *)text->mapping + text->length, room - text->length);
		text->length += got > 0 ? (size_t)got : 0;
	} while ((got > 0 && text->length <= largest) || (got < 0 && errno == EINTR));
	if (got < 0)
		return failed(text, "cannot read", errno, err);
	return text->length > largest ? too_large(text, largest, err) : 0;
}

static int map(int file, size_t length, struct hd_text *text, struct hd_error *err)
{
	void *mapping = mmap(NULL, length, PROT_READ, MAP_PRIVATE, file, 0);

	if (mapping == MAP_FAILED)
		return failed(text, "cannot map", errno, err);
	text->bytes = text->mapping = mapping;
	text->length = length;
	text->mapped = true;
	return 0;
}

typedef int load_function(int file, const struct stat *status, size_t largest, struct hd_text *text,
			  struct hd_error *err);

static int load_any(int file, const struct stat *status, size_t largest, struct hd_text *text,
		    struct hd_error *err)
{
	bool regular = S_ISREG(status->st_mode) && status->st_size > 0;

	if (S_ISDIR(status->st_mode))
		return failed(text, "cannot read", EISDIR, err);
	if (regular && status->st_size >= MAPPED_SMALLEST)
		return map(file, (size_t)status->st_size, text, err);
	return copy(file, regular ? (size_t)status->st_size : 0, largest, text, err);
}

static int load_regular(int file, const struct stat *status, size_t largest, struct hd_text *text,
			struct hd_error *err)
{
	if (!S_ISREG(status->st_mode))
		return hd_error_set(err, -EINVAL, "%s: cannot read: not a regular file",
				    text->name);
	if ((uintmax_t)status->st_size > largest)
		return too_large(text, largest, err);
	return copy(file, (size_t)status->st_size, largest, text, err);
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
	if (text->mapped)
		munmap(text->mapping, text->length);
	else
		free(text->mapping);
	*text = (struct hd_text){.name = text->name};
}
