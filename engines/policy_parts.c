/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "policy_parts.h"

enum {
	ROOTS,
	COMPUTE_NODES,
	IO_NODES,
	REVERSE_HOPS,
	ORDER,
	IGNORED_PORTS,
	HOP_WEIGHTS,
	AGGREGATION,
	OPTIONS
};

static const struct hd_policy_option options[OPTIONS] = {
    [ROOTS] = {"root_guid_file", "the switches at the top of the tree", HD_POLICY_ROOTS},
    [COMPUTE_NODES] = {"cn_guid_file",
		       "the compute nodes: balanced first; they mark a tree's leaves",
		       HD_POLICY_COMPUTE_NODES},
    [IO_NODES] = {"io_guid_file", "the I/O nodes: paths to them may take steps against the tree",
		  HD_POLICY_IO_NODES},
    [REVERSE_HOPS] = {"max_reverse_hops",
		      "how many steps against the tree a path to an I/O node may take",
		      HD_POLICY_IO_NODES},
    [ORDER] = {"guid_routing_order_file", "the hosts to be balanced first, in this order",
	       HD_POLICY_ORDER},
    [IGNORED_PORTS] = {"port_prof_ignore_file", "ports that do not count in the balance",
		       HD_POLICY_IGNORED_PORTS},
    [HOP_WEIGHTS] = {"hop_weights_file", "the cost of a link", HD_POLICY_HOP_WEIGHTS},
    [AGGREGATION] = {"aggregation_guid_file", "in heddle.conf: adapters to be routed last",
		     HD_POLICY_AGGREGATION},
};

const struct hd_policy_option *hd_policy_options(unsigned *count)
{
	*count = OPTIONS;
	return options;
}

void policy_parts_remark(const struct hd_engine *engine, const struct hd_route_request *request)
{
	const struct hd_policy *policy = request->policy;

	if (!policy)
		return;
	const bool is_set[OPTIONS] = {[ROOTS] = policy->root_count > 0,
				      [COMPUTE_NODES] = policy->cn_count > 0,
				      [IO_NODES] = policy->io_count > 0,
				      [REVERSE_HOPS] = policy->max_reverse_hops > 0,
				      [ORDER] = policy->order_count > 0,
				      [IGNORED_PORTS] = policy->ignored_port_count > 0,
				      [HOP_WEIGHTS] = policy->hop_weight_count > 0,
				      [AGGREGATION] = policy->aggregation_count > 0};
	for (unsigned i = 0; i < OPTIONS; i++)
		if (is_set[i] && !(engine->policies & HD_POLICY_BIT(options[i].file)))
			hd_log(request->log, HD_LOG_INFO, "%s ignores %s", engine->name,
			       options[i].name);
	if (policy->connect_roots)
		hd_log(request->log, HD_LOG_INFO,
		       "%s ignores connect_roots: roots are always connected", engine->name);
}
