/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The administrator's policy for engines, by options named as those in opensm.conf, and the
 * other files that belong to a fabric. */
#ifndef CLI_POLICY_ARGUMENTS_H
#define CLI_POLICY_ARGUMENTS_H

#include "shared_arguments.h"

#include <heddle/config/policy_files.h>
#include <heddle/fabric.h>

#define POLICY_REVERSE_HOPS_MAX 63

struct policy_arguments {
	const char *files[HD_POLICY_FILES]; /* NULL: not given */
	const char *name_map, *fabric_text; /* for fabric_source_load() */
	bool keep_names; /* also where switches share one; else these get their GUIDs */
	unsigned max_reverse_hops;
	bool connect_roots;
	/* After policy_arguments_load(): */
	struct hd_policy_files contents;
	struct hd_policy policy; /* points into `contents` */
};

/* The rows of a command's table; `member` is a struct policy_arguments. */
#define POLICY_ARGUMENTS(type, member)                                                             \
	POLICY_FILE(type, member, HD_POLICY_ROOTS, "root-guid-file",                               \
		    "GUIDs of the root switches"),                                                 \
	    POLICY_FILE(type, member, HD_POLICY_COMPUTE_NODES, "cn-guid-file",                     \
			"GUIDs of the compute nodes"),                                             \
	    POLICY_FILE(type, member, HD_POLICY_IO_NODES, "io-guid-file",                          \
			"GUIDs of the I/O nodes"),                                                 \
	    {0, "max-reverse-hops", "N", "steps against the tree allowed to I/O nodes (0..63)",    \
	     ARGUMENT_NUMBER(type, member.max_reverse_hops, 0, POLICY_REVERSE_HOPS_MAX)},          \
	    POLICY_FILE(type, member, HD_POLICY_ORDER, "guid-routing-order-file",                  \
			"GUIDs to route first, in this order"),                                    \
	    POLICY_FILE(type, member, HD_POLICY_HOP_WEIGHTS, "hop-weights-file",                   \
			"lines of GUID PORT WEIGHT: cost of leaving by that port (spf)"),          \
	    POLICY_FILE(type, member, HD_POLICY_IGNORED_PORTS, "port-prof-ignore-file",            \
			"lines of GUID PORT: ports that do not count in the balance"),             \
	    POLICY_FILE(type, member, HD_POLICY_AGGREGATION, "aggregation-guid-file",              \
			"GUIDs of adapters that are no hosts, like aggregation nodes"),            \
	    {0, "connect-roots", NULL, "accepted; roots are always connected",                     \
	     ARGUMENT_FLAG(type, member.connect_roots)},                                           \
	    SHARED_NAME_MAP(type, member.name_map)

/* The rows of --aggregation-guid-file and --node-name-map alone, for commands without engines. */
#define POLICY_ASIDE(type, member)                                                                 \
	POLICY_FILE(type, member, HD_POLICY_AGGREGATION, "aggregation-guid-file",                  \
		    "GUIDs of adapters that are no hosts, like aggregation nodes"),                \
	    SHARED_NAME_MAP(type, member.name_map)

#define POLICY_FILE(type, member, file, name, summary)                                             \
	{                                                                                          \
		0, name, "FILE", summary, ARGUMENT_TEXT(type, member.files[file])                  \
	}

/*
 * Reads the files into the policy, and the fabric as fabric_source_load() does. What
 * --aggregation-guid-file lists is then set aside in the fabric, so that no part of the command
 * takes it for a host. Errors: those of the readers.
 */
int policy_arguments_load(struct policy_arguments *arguments, const char *path, int lmc,
			  const struct hd_log *log, struct hd_fabric **out, struct hd_error *err);
void policy_arguments_release(struct policy_arguments *arguments);

/* Whether any option of the policy was given. */
bool policy_arguments_given(const struct policy_arguments *arguments);

/* STATUS_BAD after a message if options for engines were given, but no engine. */
int policy_arguments_refuse(const struct policy_arguments *arguments, bool engine);

#endif
