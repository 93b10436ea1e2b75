/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the administrator says about the fabric in opensm.conf (root_guid_file and so on). The files
 * are read again for each routing, so that edited files take effect.
 */
#ifndef OPENSM_POLICY_OPTIONS_H
#define OPENSM_POLICY_OPTIONS_H

#include "log.h"

#include <heddle/config/policy_files.h>
#include <stdint.h>

struct osm_subn_opt;

/*
 * Reads the files that `options` name. A file that cannot be read is said in the log and keeps
 * what it said when it last could (at first: nothing), as OpenSM's own engines go on.
 */
void policy_options_read(struct hd_policy_files *files, const struct osm_subn_opt *options,
			 const struct opensm_log *log);

/* The policy for an engine; points into `files`. */
struct hd_policy policy_options_view(const struct hd_policy_files *files,
				     const struct osm_subn_opt *options);

/* A number that changes when the policy does. */
uint64_t policy_options_fingerprint(const struct hd_policy *policy);

/*
 * Writes one line to the log for each option that is set and that all our engines ignore, unless
 * its bit is in *said already; sets the bits. (An engine itself remarks on what it ignores and
 * another engine uses.)
 */
void policy_options_say_unused(const struct osm_subn_opt *options, const struct opensm_log *log,
			       uint32_t *said);

#endif
