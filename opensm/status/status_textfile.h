/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The file from which the textfile collector of Prometheus's node exporter reads the metrics. */
#ifndef OPENSM_STATUS_TEXTFILE_H
#define OPENSM_STATUS_TEXTFILE_H

#include <heddle/base/error.h>
#include <stddef.h>

/*
 * Replaces the file at an absolute path: readers see the old one or the new one, complete. Its folder
 * must exist; all users may read it. On an error the old file stays. Does not wait for the disk. Errors:
 * of the system, with the path.
 */
int status_textfile_write(const char *path, const char *text, size_t length, struct hd_error *err);

#endif
