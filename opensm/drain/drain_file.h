/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The file in which a restarted OpenSM finds what is drained: a line of text for each cable and switch. Nothing in it is
 * believed: names that are too long, ports that no switch has, and other lines make it a bad file.
 */
#ifndef OPENSM_DRAIN_FILE_H
#define OPENSM_DRAIN_FILE_H

#include "drained.h"

/*
 * The path: `state` in the section [drain] of heddle.conf, or, if that is "", `heddle-drained` in the folder in which
 * OpenSM keeps guid2lid; with the GUID of the port that opensm.conf or -g names (0: none). To be freed with free().
 * NULL: there is to be no file (`state` is "none"), or memory is short.
 */
char *drain_file_path(const char *state, uint64_t guid);

/* Reads the text of a file; *out is empty before, and after an error. Errors: -EINVAL with the line, -ENOMEM. */
int drain_file_parse(const char *text, size_t length, struct drained_set *out,
		     struct hd_error *err);

/* Reads the file. *out is empty before, and after an error. Errors: -ENOENT no such file; those of
 * hd_text_open_regular() and of drain_file_parse(). */
int drain_file_read(const char *path, struct drained_set *out, struct hd_error *err);

/* Replaces the file, or removes it if the set is empty. On an error the old file stays. Errors: errno of the system's
 * calls, -ENOMEM. */
int drain_file_write(const char *path, const struct drained_set *set, struct hd_error *err);

#endif
