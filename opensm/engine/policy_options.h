/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The policy files that opensm.conf names (root_guid_file and so on). We read them again for each
 * routing, so that edited files take effect.
 */
#ifndef OPENSM_POLICY_OPTIONS_H
#define OPENSM_POLICY_OPTIONS_H

#include "log.h"

#include <heddle/config/policy_files.h>
#include <stdint.h>

struct osm_subn_opt;

/*
 * Reads the files that `options` name, and `aggregation`, the aggregation_guid_file of heddle.conf
 * (NULL: none). If a file cannot be read, the log (NULL: none) says why, and its last
 * good content stays in force; before the first good reading that is an empty list, as with
 * OpenSM's own engines. Errors: -ENOMEM memory ran short for a file that has no good content yet,
 * because an engine would then ignore the file; `files` is still valid.
 */
int policy_options_read(struct hd_policy_files *files, const struct osm_subn_opt *options,
			const char *aggregation, const struct opensm_log *log,
			struct hd_error *err);

/* The policy for an engine. It points into `files`. */
struct hd_policy policy_options_view(const struct hd_policy_files *files,
				     const struct osm_subn_opt *options);

/* A number that changes if the policy changes. */
uint64_t policy_options_fingerprint(const struct hd_policy *policy);

/*
 * Logs one line for each option that is set and that all our engines ignore. Skips options whose
 * bit in *said is set, and sets the bits of the others. (If only some engines ignore an option,
 * these engines log it themselves.)
 */
void policy_options_say_unused(const struct osm_subn_opt *options, const struct opensm_log *log,
			       uint32_t *said);

#endif
