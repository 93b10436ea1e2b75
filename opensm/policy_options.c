/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "policy_options.h"
#include "host.h"

#include <stdlib.h>
#include <string.h>

static void read_guids(struct policy_files *files, enum policy_list list, const char *option,
		       const char *path, const struct host_log *log)
{
	struct hd_error err;
	uint64_t *guids = NULL;
	uint32_t count = 0;

	if (path && hd_guids_read(path, &guids, &count, &err)) {
		log_error(log, LOG_ERROR_POLICY, "%s: %s; going on with the %u GUIDs known before",
			  option, err.text, files->guid_count[list]);
		return;
	}
	free(files->guids[list]);
	files->guids[list] = guids;
	files->guid_count[list] = count;
}

static void read_ports(struct policy_files *files, enum policy_ports list, const char *option,
		       const char *path, const struct host_log *log)
{
	struct hd_error err;
	struct hd_port_ref *ports = NULL;
	uint32_t count = 0;

	if (path && hd_port_refs_read(path, list == POLICY_HOP_WEIGHTS, &ports, &count, &err)) {
		log_error(log, LOG_ERROR_POLICY, "%s: %s; going on with the %u ports known before",
			  option, err.text, files->port_count[list]);
		return;
	}
	free(files->ports[list]);
	files->ports[list] = ports;
	files->port_count[list] = count;
}

void policy_read(struct policy_files *files, const struct osm_subn_opt *options,
		 const struct host_log *log)
{
	read_guids(files, POLICY_ROOTS, "root_guid_file", options->root_guid_file, log);
	read_guids(files, POLICY_COMPUTE, "cn_guid_file", options->cn_guid_file, log);
	read_guids(files, POLICY_IO, "io_guid_file", options->io_guid_file, log);
	read_guids(files, POLICY_ORDER, "guid_routing_order_file", options->guid_routing_order_file,
		   log);
	read_ports(files, POLICY_HOP_WEIGHTS, "hop_weights_file", options->hop_weights_file, log);
	read_ports(files, POLICY_IGNORED_PORTS, "port_prof_ignore_file",
		   options->port_prof_ignore_file, log);
}

void policy_files_release(struct policy_files *files)
{
	for (unsigned i = 0; i < POLICY_LISTS; i++)
		free(files->guids[i]);
	for (unsigned i = 0; i < POLICY_PORT_LISTS; i++)
		free(files->ports[i]);
	*files = (struct policy_files){0};
}

struct hd_policy policy_view(const struct policy_files *files, const struct osm_subn_opt *options)
{
	return (struct hd_policy){
	    .root_guids = files->guids[POLICY_ROOTS],
	    .root_count = files->guid_count[POLICY_ROOTS],
	    .cn_guids = files->guids[POLICY_COMPUTE],
	    .cn_count = files->guid_count[POLICY_COMPUTE],
	    .io_guids = files->guids[POLICY_IO],
	    .io_count = files->guid_count[POLICY_IO],
	    .order_guids = files->guids[POLICY_ORDER],
	    .order_count = files->guid_count[POLICY_ORDER],
	    .hop_weights = files->ports[POLICY_HOP_WEIGHTS],
	    .hop_weight_count = files->port_count[POLICY_HOP_WEIGHTS],
	    .ignored_ports = files->ports[POLICY_IGNORED_PORTS],
	    .ignored_port_count = files->port_count[POLICY_IGNORED_PORTS],
	    .max_reverse_hops = options->max_reverse_hops,
	    .connect_roots = options->connect_roots,
	};
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

uint64_t policy_fingerprint(const struct hd_policy *policy)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	hash = mix_guids(hash, policy->root_guids, policy->root_count);
	hash = mix_guids(hash, policy->cn_guids, policy->cn_count);
	hash = mix_guids(hash, policy->io_guids, policy->io_count);
	hash = mix_guids(hash, policy->order_guids, policy->order_count);
	hash = mix_ports(hash, policy->hop_weights, policy->hop_weight_count);
	hash = mix_ports(hash, policy->ignored_ports, policy->ignored_port_count);
	return mix(hash, (uint64_t)policy->max_reverse_hops << 1 | policy->connect_roots);
}

void policy_say_unused(const struct osm_subn_opt *options, const struct host_log *log,
		       uint32_t *said)
{
	const struct {
		const char *name;
		bool set;
		const char *instead;
	} unused[] = {
	    {"ids_guid_file", options->ids_guid_file, "canonical order goes by GUIDs"},
	    {"port_search_ordering_file", options->port_search_ordering_file,
	     "it belongs to dor and torus-2QoS"},
	    {"lid_matrix_dump_file", options->lid_matrix_dump_file, "it belongs to file"},
	    {"lfts_file", options->lfts_file, "it belongs to file"},
	    {"scatter_ports", options->scatter_ports, "links are balanced, never drawn"},
	    {"port_shifting", options->port_shifting, "links are balanced by count"},
	    {"port_profile_switch_nodes", options->port_profile_switch_nodes,
	     "switches' own LIDs never count in the balance"},
	    {"avoid_throttled_links", options->avoid_throttled_links,
	     "give slow links a weight in hop_weights_file"},
	    {"quasi_ftree_indexing", options->quasi_ftree_indexing, "it belongs to ftree"},
	};

	for (uint32_t i = 0; i < sizeof(unused) / sizeof(unused[0]); i++) {
		if (!unused[i].set || *said & 1u << i)
			continue;
		*said |= 1u << i;
		log_info(log, "%s is set and has no meaning for our engines: %s", unused[i].name,
			 unused[i].instead);
	}
}
