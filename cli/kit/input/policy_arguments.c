/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "policy_arguments.h"
#include "fabric_source.h"
#include "message.h"
#include "need.h"

#include <stdlib.h>

int policy_arguments_load(struct policy_arguments *arguments, const char *path, int lmc,
			  const struct hd_log *log, struct hd_fabric **out, struct hd_error *err)
{
	const struct fabric_source source = {path, arguments->name_map, lmc,
					     arguments->fabric_text};
	struct hd_fabric *fabric = NULL;
	int rc = hd_policy_files_read(&arguments->contents, arguments->files, true, err);

	arguments->policy = hd_policy_files_view(&arguments->contents);
	arguments->policy.max_reverse_hops = arguments->max_reverse_hops;
	arguments->policy.connect_roots = arguments->connect_roots;

	if (!rc)
		rc = fabric_source_load(&source, log, &fabric, err);
	if (!rc && !arguments->keep_names)
		rc = fabric_source_tell_apart(&fabric, err);
	if (!rc && arguments->policy.aggregation_count) {
		bool *aside = need(hd_fabric_listed_aside(fabric, &arguments->policy, log));
		rc = hd_fabric_set_aside(fabric, aside, err);
		free(aside);
		arguments->policy.aggregation_count = 0; /* no engine has to do it again */
	}
	if (rc)
		hd_fabric_free(fabric);
	else
		*out = fabric;
	return rc;
}

void policy_arguments_release(struct policy_arguments *arguments)
{
	hd_policy_files_release(&arguments->contents);
}

static bool needs_engine(const struct policy_arguments *arguments)
{
	for (unsigned file = 0; file < HD_POLICY_FILES; file++)
		if (arguments->files[file] && file != HD_POLICY_AGGREGATION)
			return true;
	return arguments->max_reverse_hops || arguments->connect_roots;
}

bool policy_arguments_given(const struct policy_arguments *arguments)
{
	return needs_engine(arguments) || arguments->files[HD_POLICY_AGGREGATION];
}

int policy_arguments_refuse(const struct policy_arguments *arguments, bool engine)
{
	if (engine || !needs_engine(arguments))
		return 0;
	return message_error(
	    "--root-guid-file and the other options of the policy are for an engine, but "
	    "there is no -e");
}
