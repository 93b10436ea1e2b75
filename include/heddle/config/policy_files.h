/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reads the files of a policy, which opensm.conf or the command line names. */
#ifndef HEDDLE_CONFIG_POLICY_FILES_H
#define HEDDLE_CONFIG_POLICY_FILES_H

#include <heddle/base/error.h>
#include <heddle/fabric/policy.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HD_POLICY_FILE_LARGEST ((size_t)16 << 20) /* bytes */

struct hd_policy_file_kind {
	const char *option; /* of opensm.conf: "root_guid_file" */
	const char *holds; /* "GUIDs" or "ports", for messages */
};

/* The constant facts about a file. */
const struct hd_policy_file_kind *hd_policy_file_kind(enum hd_policy_file file);

/* The content of one file. */
struct hd_policy_list {
	uint64_t *guids; /* NULL in a file of ports */
	struct hd_port_ref *ports; /* NULL in a file of GUIDs */
	uint32_t count;
	bool was_read; /* from a file; false: no file is given, or none could be read yet */
};

/* The contents of all files. Zero-initialise before use. */
struct hd_policy_files {
	struct hd_policy_list lists[HD_POLICY_FILES];
};

/*
 * Reads one file and replaces its list. A NULL path empties the list. On an error the list stays as
 * it is. With `wait` the file may be a pipe, as on a command line. Without `wait` it must be a
 * regular file of at most HD_POLICY_FILE_LARGEST bytes, so the call never blocks. Errors: as
 * hd_guids_read() and hd_text_open_regular(). Cost: O(bytes).
 */
int hd_policy_file_read(struct hd_policy_files *files, enum hd_policy_file file, const char *path,
			bool wait, struct hd_error *err);

/* Reads each of paths[HD_POLICY_FILES] that is not NULL into `files`, which is empty before.
 * Errors: as above; then `files` stays empty. */
int hd_policy_files_read(struct hd_policy_files *files, const char *const *paths, bool wait,
			 struct hd_error *err);

void hd_policy_files_release(struct hd_policy_files *files);

/* The policy of these files. It has no max_reverse_hops and connect_roots, and points into `files`.
 */
struct hd_policy hd_policy_files_view(const struct hd_policy_files *files);

#endif
