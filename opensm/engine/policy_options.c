/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "policy_options.h"
#include "opensm_headers.h"

#include <errno.h>

/* Short memory is an error if there is no good content yet: the engine would ignore the file. */
static int read_file(struct hd_policy_files *files, enum hd_policy_file file, const char *path,
		     const struct opensm_log *log, struct hd_error *err)
{
	const struct hd_policy_file_kind *kind = hd_policy_file_kind(file);
	const struct hd_policy_list *list = &files->lists[file];
	int rc = hd_policy_file_read(files, file, path, false, err);

	if (rc == -ENOMEM && !list->was_read)
		return hd_error_prefix(err, rc, "%s", kind->option);
	if (rc && log)
		log_error(log, LOG_ERROR_POLICY, "%s: %s; going on with the %u %s known before",
			  kind->option, err->text, list->count, kind->holds);
	return 0;
}

int policy_options_read(struct hd_policy_files *files, const struct osm_subn_opt *options,
			const char *aggregation, const struct opensm_log *log, struct hd_error *err)
{
	int rc = 0;

	const char *const paths[HD_POLICY_FILES] = {
	    [HD_POLICY_ROOTS] = options->root_guid_file,
	    [HD_POLICY_COMPUTE_NODES] = options->cn_guid_file,
	    [HD_POLICY_IO_NODES] = options->io_guid_file,
	    [HD_POLICY_ORDER] = options->guid_routing_order_file,
	    [HD_POLICY_HOP_WEIGHTS] = options->hop_weights_file,
	    [HD_POLICY_IGNORED_PORTS] = options->port_prof_ignore_file,
	    [HD_POLICY_AGGREGATION] = aggregation};

	for (unsigned file = 0; !rc && file < HD_POLICY_FILES; file++)
		rc = read_file(files, file, paths[file], log, err);
	return rc;
}

struct hd_policy policy_options_view(const struct hd_policy_files *files,
				     const struct osm_subn_opt *options)
{
	struct hd_policy policy = hd_policy_files_view(files);

	policy.max_reverse_hops = options->max_reverse_hops;
	policy.connect_roots = options->connect_roots;
	return policy;
}

/* FNV-1a over whole words. */
static uint64_t mix(uint64_t hash, uint64_t word)
{
	return (hash ^ word) * UINT64_C(0x100000001b3);
}

static uint64_t mix_guids(uint64_t hash, const uint64_t *guids, uint32_t count)
{
	hash = mix(hash, count);
	for (uint32_t i = 0; i < count; i++)
		hash = mix(hash, guids[i]);
	return hash;
}

static uint64_t mix_ports(uint64_t hash, const struct hd_port_ref *ports, uint32_t count)
{
	hash = mix(hash, count);
	for (uint32_t i = 0; i < count; i++) {
		hash = mix(hash, ports[i].node_guid);
		hash = mix(hash, (uint64_t)ports[i].port << 32 | ports[i].value);
	}
	return hash;
}

uint64_t policy_options_fingerprint(const struct hd_policy *policy)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	hash = mix_guids(hash, policy->root_guids, policy->root_count);
	hash = mix_guids(hash, policy->cn_guids, policy->cn_count);
	hash = mix_guids(hash, policy->io_guids, policy->io_count);
	hash = mix_guids(hash, policy->order_guids, policy->order_count);
	hash = mix_ports(hash, policy->hop_weights, policy->hop_weight_count);
	hash = mix_ports(hash, policy->ignored_ports, policy->ignored_port_count);
	hash = mix_guids(hash, policy->aggregation_guids, policy->aggregation_count);
	return mix(hash, (uint64_t)policy->max_reverse_hops << 1 | policy->connect_roots);
}

void policy_options_say_unused(const struct osm_subn_opt *options, const struct opensm_log *log,
			       uint32_t *said)
{
	const struct {
		const char *name;
		bool set;
		const char *instead;
	} unused[] = {
	    {"ids_guid_file", options->ids_guid_file, "they order switches and hosts by GUID"},
	    {"port_search_ordering_file", options->port_search_ordering_file,
	     "it is for dor and torus-2QoS"},
	    {"lid_matrix_dump_file", options->lid_matrix_dump_file, "it is for the engine file"},
	    {"lfts_file", options->lfts_file, "it is for the engine file"},
	    {"scatter_ports", options->scatter_ports, "they choose links by load, not at random"},
	    {"port_shifting", options->port_shifting,
	     "they balance links by the paths that cross them"},
	    {"port_profile_switch_nodes", options->port_profile_switch_nodes,
	     "paths to the LIDs of switches never count in their balance"},
	    {"avoid_throttled_links", options->avoid_throttled_links,
	     "give slow links a weight in hop_weights_file"},
	    {"quasi_ftree_indexing", options->quasi_ftree_indexing, "it is for ftree"},
	};

	for (uint32_t i = 0; i < sizeof(unused) / sizeof(unused[0]); i++) {
		if (!unused[i].set || *said & 1u << i)
			continue;
		*said |= 1u << i;
		log_info(log, "%s has no effect on Heddle's engines: %s", unused[i].name,
			 unused[i].instead);
	}
}
