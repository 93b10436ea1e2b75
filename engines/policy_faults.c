/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "policy_faults.h"
#include "dag.h"
#include "ranking.h"
#include "resolved_policy.h"

#include <errno.h>
#include <inttypes.h>

/* A switch whose hosts have no path to a host. */
struct gap {
	uint32_t from, host;
};

static bool find_gap(const struct hd_fabric *fabric, const struct hd_routes *routes,
		     const uint32_t *component, struct gap *gap)
{
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
		if (fabric->host_base[sw] == fabric->host_base[sw + 1])
			continue;
		for (uint32_t host = 0; host < fabric->host_count; host++) {
			uint32_t lid = fabric->lid[fabric->host_port[host]];
			if (!lid || component[sw] != component[fabric->host_switch[host]] ||
			    hd_routes_port(routes, sw, lid) != HD_NO_PORT)
				continue;
			*gap = (struct gap){sw, host};
			return true;
		}
	}
	return false;
}

/* Switches with hosts that reach the destination by climbing, then descending. */
static uint32_t count_reached(const struct ranking *ranking, struct dag *dag, uint32_t destination)
{
	const struct hd_fabric *fabric = ranking->fabric;
	const struct dag_paths paths = {.fabric = fabric, .up = ranking->up};
	uint32_t count = 0;

	dag_build(dag, &paths, destination);
	for (uint32_t i = 0; i < dag->reached; i++)
		count += fabric->host_base[dag->order[i]] < fabric->host_base[dag->order[i] + 1];
	return count;
}

/* The root without which the most switches reach the host; HD_NONE: all are as good as without. */
static uint32_t find_wrong_root(struct ranking *ranking, struct dag *dag, const struct gap *gap)
{
	const struct hd_fabric *fabric = ranking->fabric;
	uint32_t to = fabric->host_switch[gap->host], wrong = HD_NONE;
	bool *is_root = ranking->policy.is_root;

	ranking_from_roots(ranking, is_root);
	uint32_t most = count_reached(ranking, dag, to);
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
		if (!is_root[sw])
			continue;
		is_root[sw] = false;
		ranking_from_roots(ranking, is_root);
		uint32_t count = count_reached(ranking, dag, to);
		is_root[sw] = true;
		if (count > most) {
			most = count;
			wrong = sw;
		}
	}
	return wrong;
}

static int name_fault(struct ranking *ranking, struct dag *dag, const struct gap *gap,
		      struct hd_error *err)
{
	const struct hd_fabric *fabric = ranking->fabric;
	uint32_t port = fabric->host_port[gap->host];
	uint32_t wrong = ranking->policy.is_root ? find_wrong_root(ranking, dag, gap) : HD_NONE;
	char from[HD_LABEL_SIZE], to[HD_LABEL_SIZE];

	hd_port_label(fabric, fabric->port_base[gap->from], from, sizeof(from));
	hd_port_label(fabric, port, to, sizeof(to));
	if (wrong != HD_NONE)
		return hd_error_set(err, -ENOTSUP,
				    "hosts at %s would have no path to %s: 0x%016" PRIx64
				    " ('%s') in root_guid_file is no root",
				    from, to, fabric->node_guid[wrong], fabric->node_name[wrong]);
	if (!ranking->policy.is_io)
		return hd_error_set(err, -ENOTSUP,
				    "hosts at %s would have no path to %s: a root is missing in "
				    "root_guid_file",
				    from, to);
	return hd_error_set(err, -ENOTSUP,
			    "hosts at %s would have no path to %s: io_guid_file %s 0x%016" PRIx64
			    "%s",
			    from, to, ranking->policy.is_io[gap->host] ? "lists" : "must list",
			    fabric->port_guid[port] ? fabric->port_guid[port]
						    : fabric->node_guid[fabric->port_node[port]],
			    ranking->policy.is_io[gap->host] ? ", but max_reverse_hops is too small"
							     : " too, or be left out");
}

static int explain(const struct hd_route_request *request, const struct gap *gap,
		   struct hd_error *err)
{
	struct hd_route_request quiet = *request;
	struct ranking ranking = {.fabric = request->fabric, .request = &quiet};
	struct dag dag;

	quiet.log = NULL;
	int rc = resolved_policy_make(&quiet, &ranking.policy, err);
	if (rc)
		return rc;
	if (ranking_allocate(&ranking) || dag_allocate(&dag, request->fabric, &ranking.arena))
		rc = hd_error_no_memory(err);
	else
		rc = name_fault(&ranking, &dag, gap, err);
	hd_arena_release(&ranking.arena);
	resolved_policy_release(&ranking.policy);
	return rc;
}

int policy_faults_check(const struct hd_route_request *request, const struct hd_routes *routes,
			struct hd_error *err)
{
	const struct hd_policy *policy = request->policy;
	struct hd_arena arena = {0};
	struct gap gap;
	int rc = 0;

	if (!policy || (!policy->root_count && !policy->io_count))
		return 0;
	uint32_t *component =
	    hd_arena_alloc(&arena, request->fabric->switch_count, sizeof(*component));
	if (!component || hd_tree_components(request->fabric, component))
		rc = hd_error_no_memory(err);
	else if (find_gap(request->fabric, routes, component, &gap))
		rc = explain(request, &gap, err);
	hd_arena_release(&arena);
	return rc;
}
