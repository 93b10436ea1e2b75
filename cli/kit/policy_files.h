/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The files by which an administrator tells of a fabric, as OpenSM's options of the same names. */
#ifndef CLI_POLICY_FILES_H
#define CLI_POLICY_FILES_H

#include <heddle/engines.h>

enum policy_file {
	POLICY_ROOTS,
	POLICY_COMPUTE_NODES,
	POLICY_IO_NODES,
	POLICY_ORDER,
	POLICY_HOP_WEIGHTS,
	POLICY_IGNORED_PORTS,
	POLICY_FILE_COUNT
};

/* Reads those of paths[POLICY_FILE_COUNT] that are not NULL into policy; what it points to is
 * malloc'ed. Errors as hd_guids_read(); then nothing is left allocated. */
int cli_policy_read(const char *const *paths, struct hd_policy *policy, struct hd_error *err);

void cli_policy_release(struct hd_policy *policy);

#endif
