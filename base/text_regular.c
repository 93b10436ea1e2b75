/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <heddle/base/text.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ROOM_FIRST 4096

static int failed(const char *path, const char *what, int rc, struct hd_error *err)
{
	return hd_error_set(err, -rc, "%s: %s: %s", path, what, strerror(rc));
}

static int too_large(const struct hd_text *text, size_t largest, struct hd_error *err)
{
	return hd_error_set(err, -EFBIG,
			    "%s: cannot read: the file is larger than %zu bytes, the most allowed",
			    text->name, largest);
}

/* Reads what there is, whatever fstat() said: files in /proc have no size, and files grow. */
static int read_bytes(int file, size_t largest, struct hd_text *text, struct hd_error *err)
{
	char *bytes = NULL;
	size_t room = 0, length = 0;
	ssize_t got;

	do {
		if (length == room) {
			size_t wanted = room ? room * 2 : ROOM_FIRST;
			char *more = realloc(bytes, wanted);

			if (!more) {
				free(bytes);
				return hd_error_no_memory(err);
			}
			bytes = more;
			room = wanted;
		}
		got = read(file, bytes + length, room - length);
		length += got > 0 ? (size_t)got : 0;
	} while ((got > 0 && length <= largest) || (got < 0 && errno == EINTR));
	text->bytes = text->mapping = bytes;
	text->length = length;
	if (got < 0)
		return failed(text->name, "cannot read", errno, err);
	return length > largest ? too_large(text, largest, err) : 0;
}

static int take_in(int file, size_t largest, struct hd_text *text, struct hd_error *err)
{
	struct stat status;

	if (fstat(file, &status))
		return failed(text->name, "cannot read", errno, err);
	if (!S_ISREG(status.st_mode))
		return hd_error_set(err, -EINVAL, "%s: cannot read: not a regular file",
				    text->name);
	if ((uintmax_t)status.st_size > largest)
		return too_large(text, largest, err);
	return read_bytes(file, largest, text, err);
}

int hd_text_open_regular(const char *path, size_t largest, struct hd_text *text,
			 struct hd_error *err)
{
	int file = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	int rc;

	*text = (struct hd_text){.name = path};
	if (file < 0)
		return failed(path, "cannot open", errno, err);
	rc = take_in(file, largest, text, err);
	close(file);
	if (rc)
		hd_text_close(text);
	return rc;
}
