/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the administrator says of the fabric in opensm.conf (root_guid_file and so on), read
 * anew for each routing so that edited files take effect, as an hd_policy for the engines.
 */
#ifndef OPENSM_POLICY_OPTIONS_H
#define OPENSM_POLICY_OPTIONS_H

#include "log.h"

#include <heddle/engines.h>

struct osm_subn_opt;

enum policy_list { POLICY_ROOTS, POLICY_COMPUTE, POLICY_IO, POLICY_ORDER, POLICY_LISTS };
enum policy_ports { POLICY_HOP_WEIGHTS, POLICY_IGNORED_PORTS, POLICY_PORT_LISTS };

/* The contents of the files; zero-initialise before use. */
struct policy_files {
	uint64_t *guids[POLICY_LISTS];
	uint32_t guid_count[POLICY_LISTS];
	struct hd_port_ref *ports[POLICY_PORT_LISTS];
	uint32_t port_count[POLICY_PORT_LISTS];
};

/*
 * Reads the files that `options` name. A file that cannot be read is said in the log and keeps
 * what it said when it last could (at first: nothing), like the host's own engines go on.
 */
void policy_read(struct policy_files *files, const struct osm_subn_opt *options,
		 const struct host_log *log);

void policy_files_release(struct policy_files *files);

/* The policy for an engine; points into `files`. */
struct hd_policy policy_view(const struct policy_files *files, const struct osm_subn_opt *options);

/* A number that changes when the policy does. */
uint64_t policy_fingerprint(const struct hd_policy *policy);

/*
 * One line in the log for each option that is set and that none of our engines gives a meaning
 * to, unless its bit is in *said already; sets the bits. (What one engine passes over and
 * another uses, engines remark on themselves.)
 */
void policy_say_unused(const struct osm_subn_opt *options, const struct host_log *log,
		       uint32_t *said);

#endif
