/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <heddle/base/gzip.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#define ZLIB_CONST
#include <unistd.h>
#include <zlib.h>

#define ROOM_FIRST 65536
/* What is unpacked: so many bytes, or so many times the packed ones. gzip can reach 1,030 times; the tables of 11,664 hosts
 * have 8. */
#define UNPACKED_SMALL ((size_t)16 << 20)
#define RATIO_MOST 64
#define HEADER_LENGTH 2 /* bytes that tell a gzip file from text */
#define GZIP_WINDOW (15 + 16) /* zlib: the largest window, and a gzip header */

struct unpacking {
	z_stream stream;
	const struct hd_text *packed;
	struct hd_error *err;
	size_t largest, taken; /* bytes of the packed text that zlib has */
	char *bytes;
	size_t length, room;
};

static bool is_packed(const struct hd_text *text, size_t at)
{
	return text->length - at >= HEADER_LENGTH && (unsigned char)text->bytes[at] == 0x1f &&
	       (unsigned char)text->bytes[at + 1] == 0x8b;
}

static int refuse(const struct unpacking *unpacking, const char *reason)
{
	return hd_error_set(unpacking->err, -EINVAL, "%s: cannot unpack: %s",
			    unpacking->packed->name, reason);
}

/* Makes room for at least one more byte: at most one byte more than allowed. */
static int grow(struct unpacking *unpacking)
{
	size_t most = unpacking->largest + 1;
	size_t wanted = unpacking->room > most / 2 ? most : unpacking->room * 2;

	wanted = wanted ? wanted : ROOM_FIRST < most ? ROOM_FIRST : most;
	if (unpacking->length < unpacking->room)
		return 0;
	char *more = realloc(unpacking->bytes, wanted);
	if (!more)
		return hd_error_no_memory(unpacking->err);
	unpacking->bytes = more;
	unpacking->room = wanted;
	return 0;
}

/* zlib counts bytes in unsigned. */
static unsigned portion(size_t bytes)
{
	return bytes < UINT_MAX ? (unsigned)bytes : UINT_MAX;
}

/* Unpacks until zlib has to be called again. *done: the stream has ended. */
static int step(struct unpacking *unpacking, bool *done)
{
	z_stream *stream = &unpacking->stream;
	int rc = grow(unpacking);

	if (rc)
		return rc;
	unsigned in = portion(unpacking->packed->length - unpacking->taken);
	unsigned out = portion(unpacking->room - unpacking->length);
	stream->next_in = (const Bytef *)unpacking->packed->bytes + unpacking->taken;
	stream->avail_in = in;
	stream->next_out = (Bytef *)unpacking->bytes + unpacking->length;
	stream->avail_out = out;
	int result = inflate(stream, Z_NO_FLUSH);
	unpacking->taken += in - stream->avail_in;
	unpacking->length += out - stream->avail_out;
	*done = result == Z_STREAM_END;
	if (unpacking->length > unpacking->largest)
		return hd_error_set(unpacking->err, -EFBIG,
				    "%s: cannot unpack: the file has more than %zu bytes when it "
				    "is unpacked, the most allowed for %zu; if that is right, "
				    "unpack it with gunzip first",
				    unpacking->packed->name, unpacking->largest,
				    unpacking->packed->length);
	if (result == Z_MEM_ERROR)
		return hd_error_no_memory(unpacking->err);
	if (result == Z_BUF_ERROR)
		return refuse(unpacking,
			      "the compressed data end too early; is the file complete?");
	if (result != Z_OK && result != Z_STREAM_END)
		return refuse(unpacking, "the compressed data are damaged");
	return 0;
}

static int unpack_stream(struct unpacking *unpacking)
{
	bool done = false;
	int rc = inflateReset(&unpacking->stream) == Z_OK ? 0 : -EINVAL;

	while (!rc && !done)
		rc = step(unpacking, &done);
	return rc;
}

static int unpack_all(struct unpacking *unpacking)
{
	const struct hd_text *packed = unpacking->packed;
	int rc = 0;

	while (!rc && is_packed(packed, unpacking->taken))
		rc = unpack_stream(unpacking);
	if (!rc && unpacking->taken < packed->length)
		rc = refuse(unpacking, "other data follow the compressed data");
	return rc;
}

int hd_gzip_unpack(struct hd_text *text, size_t largest, struct hd_error *err)
{
	struct unpacking unpacking = {.packed = text, .err = err, .largest = UNPACKED_SMALL};

	if (text->length > UNPACKED_SMALL / RATIO_MOST)
		unpacking.largest =
		    text->length > largest / RATIO_MOST ? largest : text->length * RATIO_MOST;
	if (unpacking.largest > largest)
		unpacking.largest = largest;
	if (!is_packed(text, 0))
		return 0;
	if (inflateInit2(&unpacking.stream, GZIP_WINDOW) != Z_OK)
		return hd_error_no_memory(err);
	int rc = unpack_all(&unpacking);
	inflateEnd(&unpacking.stream);
	if (rc) {
		free(unpacking.bytes);
		return rc;
	}
	const char *name = text->name;
	hd_text_close(text);
	*text = (struct hd_text){.bytes = unpacking.bytes,
				 .length = unpacking.length,
				 .name = name,
				 .owned = unpacking.bytes};
	return 0;
}

int hd_gzip_open(const char *path, struct hd_text *text, struct hd_error *err)
{
	int rc = hd_text_open(path, text, err);

	if (rc)
		return rc;
	rc = hd_gzip_unpack(text, hd_text_largest(), err);
	if (rc)
		hd_text_close(text);
	return rc;
}

static ssize_t pack(void *cookie, const char *bytes, size_t length)
{
	const int taken = gzwrite(cookie, bytes, portion(length < INT_MAX ? length : INT_MAX));

	if (taken <= 0)
		errno = errno ? errno : EIO;
	return taken > 0 ? taken : 0; /* 0: an error */
}

static int end(void *cookie)
{
	errno = 0;
	if (gzclose(cookie) == Z_OK)
		return 0;
	errno = errno ? errno : EIO;
	return -1;
}

FILE *hd_gzip_write(int file)
{
	const cookie_io_functions_t functions = {.write = pack, .close = end};
	const int own = fcntl(file, F_DUPFD_CLOEXEC, 0); /* an error leaves the caller's open */
	gzFile packed = own < 0 ? NULL : gzdopen(own, "wb");
	FILE *stream = packed ? fopencookie(packed, "w", functions) : NULL;

	if (stream) {
		close(file);
		return stream;
	}
	if (packed)
		gzclose(packed);
	else if (own >= 0)
		close(own);
	errno = errno ? errno : ENOMEM;
	return NULL;
}
