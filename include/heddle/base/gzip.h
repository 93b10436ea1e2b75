/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Files that gzip has compressed. This is the library heddle_base_gzip, the only part of base that
 * needs zlib; readers that take big files of users link it.
 */
#ifndef HEDDLE_BASE_GZIP_H
#define HEDDLE_BASE_GZIP_H

#include <heddle/base/text.h>
#include <stdio.h>

/*
 * Unpacks a text that begins as a gzip file does: one stream or several, one after the other. Any
 * other text stays as it is. After an error the text is as it was. Errors: -EFBIG more than `largest`
 * bytes, or more than 16 MiB and 64 times the packed ones; -EINVAL the data are damaged, end too early, or have something
 * else behind them; -ENOMEM.
 * Cost: O(bytes); memory: up to twice the unpacked bytes.
 */
int hd_gzip_unpack(struct hd_text *text, size_t largest, struct hd_error *err);

/* hd_text_open(), and hd_gzip_unpack() with hd_text_largest(). Errors: those of both. */
int hd_gzip_open(const char *path, struct hd_text *text, struct hd_error *err);

/*
 * A stream that packs what is written to it into a file, which it closes. NULL: errno says why, and the file is still open.
 * fclose() fails where the file could not be written in full.
 */
FILE *hd_gzip_write(int file);

#endif
