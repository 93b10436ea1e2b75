/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "policy_arguments.h"
#include "message.h"

int policy_arguments_read(struct policy_arguments *arguments, struct hd_error *err)
{
	int rc = hd_policy_files_read(&arguments->contents, arguments->files, true, err);

	arguments->policy = hd_policy_files_view(&arguments->contents);
	arguments->policy.max_reverse_hops = arguments->max_reverse_hops;
	arguments->policy.connect_roots = arguments->connect_roots;
	return rc;
}

void policy_arguments_release(struct policy_arguments *arguments)
{
	hd_policy_files_release(&arguments->contents);
}

bool policy_arguments_given(const struct policy_arguments *arguments)
{
	for (unsigned file = 0; file < HD_POLICY_FILES; file++)
		if (arguments->files[file])
			return true;
	return arguments->max_reverse_hops || arguments->connect_roots;
}

int policy_arguments_refuse(const struct policy_arguments *arguments, bool engine)
{
	if (engine || !policy_arguments_given(arguments))
		return 0;
	return message_error(
	    "--root-guid-file and the other options of the policy are for an engine, but "
	    "there is no -e");
}
