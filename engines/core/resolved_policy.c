/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "resolved_policy.h"

#include <errno.h>
#include <inttypes.h>

struct resolver {
	const struct hd_fabric *fabric;
	const struct hd_log *log;
	uint32_t *host_of_port; /* port index -> host index, HD_NONE for all others */
};

static void unknown_guid(const struct resolver *resolver, uint64_t guid, const char *list)
{
	hd_log(resolver->log, HD_LOG_INFO, "%s: GUID 0x%016" PRIx64 " is not in the fabric", list,
	       guid);
}

/*
 * Calls mark for the host with that port GUID, which is what OpenSM's files list, or else for all
 * ports of the node with that GUID. Logs a GUID of anything else.
 */
static void each_host(const struct resolver *resolver, uint64_t guid, const char *list,
		      void (*mark)(void *context, uint32_t host), void *context)
{
	const struct hd_fabric *fabric = resolver->fabric;
	uint32_t begin = hd_fabric_find_port(fabric, guid), end = begin + 1;

	if (begin == HD_NONE) {
		unknown_guid(resolver, guid, list);
		return;
	}
	if (fabric->port_guid[begin] != guid) {
		uint32_t node = fabric->port_node[begin];
		begin = fabric->port_base[node];
		end = fabric->port_base[node + 1];
	}
	bool found = false;
	for (uint32_t at = begin; at < end; at++) {
		if (resolver->host_of_port[at] != HD_NONE) {
			mark(context, resolver->host_of_port[at]);
			found = true;
		}
	}
	if (!found)
		hd_log(resolver->log, HD_LOG_INFO,
		       "%s: GUID 0x%016" PRIx64 " is not a host that is cabled to a switch", list,
		       guid);
}

static void set_flag(void *context, uint32_t host)
{
	((bool *)context)[host] = true;
}

static bool *flag_hosts(const struct resolver *resolver, struct hd_arena *arena,
			const uint64_t *guids, uint32_t count, const char *list)
{
	bool *flags = hd_arena_alloc(arena, resolver->fabric->host_count, sizeof(*flags));

	for (uint32_t i = 0; flags && i < count; i++)
		each_host(resolver, guids[i], list, set_flag, flags);
	return flags;
}

struct order {
	uint32_t *hosts;
	uint32_t count;
	bool *listed;
};

static void list_host(void *context, uint32_t host)
{
	struct order *order = context;

	if (!order->listed[host]) {
		order->listed[host] = true;
		order->hosts[order->count++] = host;
	}
}

static int order_hosts(const struct resolver *resolver, const struct hd_policy *given,
		       struct resolved_policy *policy)
{
	uint32_t hosts = resolver->fabric->host_count;
	struct order order = {.hosts = hd_arena_alloc(&policy->arena, hosts, sizeof(uint32_t)),
			      .listed = hd_arena_alloc(&policy->arena, hosts, sizeof(bool))};

	if (hd_arena_check(&policy->arena))
		return -ENOMEM;
	for (uint32_t i = 0; given && i < given->order_count; i++)
		each_host(resolver, given->order_guids[i], "guid_routing_order_file", list_host,
			  &order);
	for (uint32_t host = 0; policy->is_compute && host < hosts; host++)
		if (policy->is_compute[host])
			list_host(&order, host);
	for (uint32_t host = 0; host < hosts; host++)
		list_host(&order, host);
	policy->host_order = order.hosts;
	return 0;
}

static int flag_roots(const struct resolver *resolver, const struct hd_policy *given,
		      struct resolved_policy *policy)
{
	const struct hd_fabric *fabric = resolver->fabric;
	bool *roots = hd_arena_alloc(&policy->arena, fabric->switch_count, sizeof(*roots));

	if (!roots)
		return -ENOMEM;
	for (uint32_t i = 0; i < given->root_count; i++) {
		uint32_t port = hd_fabric_find_port(fabric, given->root_guids[i]);
		if (port == HD_NONE || !hd_is_switch(fabric, fabric->port_node[port])) {
			unknown_guid(resolver, given->root_guids[i], "root_guid_file");
			continue;
		}
		roots[fabric->port_node[port]] = true;
		policy->is_root = roots;
	}
	if (!policy->is_root)
		hd_log(resolver->log, HD_LOG_WARNING,
		       "root_guid_file: none of its %u GUIDs is a switch of the fabric; the engine "
		       "chooses roots as without the file",
		       given->root_count);
	return 0;
}

static uint32_t referred_link(const struct resolver *resolver, const struct hd_port_ref *ref,
			      const char *list)
{
	uint32_t node = hd_fabric_find_node(resolver->fabric, ref->node_guid);

	if (node == HD_NONE || !hd_is_switch(resolver->fabric, node)) {
		unknown_guid(resolver, ref->node_guid, list);
		return HD_NONE;
	}
	return hd_fabric_find_isl(resolver->fabric, node, ref->port);
}

static int weigh_links(const struct resolver *resolver, const struct hd_policy *given,
		       struct resolved_policy *policy, struct hd_error *err)
{
	uint32_t links = resolver->fabric->isl_count;
	uint8_t *weight = hd_arena_alloc(&policy->arena, links, sizeof(*weight));

	if (!weight)
		return hd_error_no_memory(err);
	memset(weight, 1, links);
	for (uint32_t i = 0; i < given->hop_weight_count; i++) {
		const struct hd_port_ref *ref = &given->hop_weights[i];
		if (ref->value < 1 || ref->value > 255)
			return hd_error_set(err, -EINVAL,
					    "hop_weights_file: weight %u of 0x%016" PRIx64
					    " port %u, expected 1..255",
					    ref->value, ref->node_guid, ref->port);
		uint32_t link = referred_link(resolver, ref, "hop_weights_file");
		if (link != HD_NONE)
			weight[link] = (uint8_t)ref->value;
	}
	policy->link_weight = weight;
	return 0;
}

static int ignore_links(const struct resolver *resolver, const struct hd_policy *given,
			struct resolved_policy *policy)
{
	bool *uncounted =
	    hd_arena_alloc(&policy->arena, resolver->fabric->isl_count, sizeof(*uncounted));

	if (!uncounted)
		return -ENOMEM;
	for (uint32_t i = 0; i < given->ignored_port_count; i++) {
		uint32_t link =
		    referred_link(resolver, &given->ignored_ports[i], "port_prof_ignore_file");
		if (link != HD_NONE)
			uncounted[link] = true;
	}
	policy->uncounted = uncounted;
	return 0;
}

static int resolve(struct resolver *resolver, const struct hd_policy *given,
		   struct resolved_policy *policy, struct hd_error *err)
{
	const struct hd_fabric *fabric = resolver->fabric;

	resolver->host_of_port =
	    hd_arena_alloc(&policy->arena, fabric->port_count, sizeof(uint32_t));
	if (!resolver->host_of_port)
		return hd_error_no_memory(err);
	memset(resolver->host_of_port, 0xFF, fabric->port_count * sizeof(uint32_t));
	for (uint32_t host = 0; host < fabric->host_count; host++)
		resolver->host_of_port[fabric->host_port[host]] = host;
	if (given && given->cn_count) {
		policy->is_compute = flag_hosts(resolver, &policy->arena, given->cn_guids,
						given->cn_count, "cn_guid_file");
		if (!policy->is_compute)
			return hd_error_no_memory(err);
	}
	if (given && given->io_count) {
		policy->max_reverse_hops = given->max_reverse_hops;
		policy->is_io = flag_hosts(resolver, &policy->arena, given->io_guids,
					   given->io_count, "io_guid_file");
		if (!policy->is_io)
			return hd_error_no_memory(err);
	}
	if (given && given->root_count && flag_roots(resolver, given, policy))
		return hd_error_no_memory(err);
	if (given && given->ignored_port_count && ignore_links(resolver, given, policy))
		return hd_error_no_memory(err);
	if (given && given->hop_weight_count) {
		int rc = weigh_links(resolver, given, policy, err);
		if (rc)
			return rc;
	}
	return order_hosts(resolver, given, policy) ? hd_error_no_memory(err) : 0;
}

int resolved_policy_make(const struct hd_route_request *request, struct resolved_policy *out,
			 struct hd_error *err)
{
	struct resolver resolver = {.fabric = request->fabric, .log = request->log};
	struct resolved_policy policy = {.arena = {0}};
	int rc = resolve(&resolver, request->policy, &policy, err);

	if (rc) {
		resolved_policy_release(&policy);
		return rc;
	}
	*out = policy;
	return 0;
}

int resolved_policy_part_io(const struct hd_route_request *request, struct resolved_policy *policy)
{
	const struct hd_fabric *fabric = request->fabric;
	uint32_t *order, count = 0, io_nodes = 0;

	for (uint32_t host = 0; policy->is_io && host < fabric->host_count; host++)
		io_nodes += policy->is_io[host];
	if (!io_nodes || policy->is_compute || request->policy->order_count)
		return 0;
	order = hd_arena_alloc(&policy->arena, fabric->host_count, sizeof(*order));
	if (!order)
		return -ENOMEM;
	for (int io = 0; io <= 1; io++)
		for (uint32_t i = 0; i < fabric->host_count; i++)
			if (policy->is_io[policy->host_order[i]] == io)
				order[count++] = policy->host_order[i];
	policy->host_order = order;
	policy->parts_io = true;
	return 0;
}

void resolved_policy_release(struct resolved_policy *policy)
{
	hd_arena_release(&policy->arena);
}
