/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "oracle_recovery.h"

#include <stdlib.h>
#include <string.h>

static const struct hd_ar_switch *planned(const struct hd_ar_recovery_request *request, uint32_t sw)
{
	for (uint32_t i = 0; i < request->plan->switch_count; i++)
		if (request->plan->switches[i].guid == request->fabric->node_guid[sw])
			return &request->plan->switches[i];
	return NULL;
}

static bool is_adaptive(const struct hd_ar_recovery_request *request, uint32_t sw, uint32_t lid)
{
	const struct hd_ar_switch *plan = planned(request, sw);

	return plan && plan->lid_group[0][lid] != HD_AR_NO_GROUP;
}

/* Whether the entry has the port. */
static bool has(const struct hd_ar_recovery_request *request, uint32_t sw, uint32_t lid,
		uint32_t port)
{
	const struct hd_ar_switch *plan = planned(request, sw);

	if (hd_routes_port(request->routes, sw, lid) == port)
		return true;
	if (!is_adaptive(request, sw, lid))
		return false;
	const struct hd_ar_group *group = &plan->groups[plan->lid_group[0][lid]];
	return hd_port_set_has(&group->ports[0], port) || hd_port_set_has(&group->ports[1], port);
}

/* The switch to which a port leads, HD_NONE: another node, or none. */
static uint32_t leads_to(const struct hd_fabric *fabric, uint32_t sw, uint32_t port)
{
	uint32_t peer = fabric->peer[hd_port_index(fabric, sw, port)];

	return peer == HD_NONE || !hd_is_switch(fabric, fabric->port_node[peer])
		   ? HD_NONE
		   : fabric->port_node[peer];
}

/* Whether an adapter is cabled to it. */
static bool sends(const struct hd_fabric *fabric, uint32_t sw)
{
	for (uint32_t port = 1; port <= hd_node_ports(fabric, sw); port++) {
		uint32_t peer = fabric->peer[hd_port_index(fabric, sw, port)];
		if (peer != HD_NONE && !hd_is_switch(fabric, fabric->port_node[peer]))
			return true;
	}
	return false;
}

/* ---- delivery ---- */

struct packets {
	const struct oracle_recovery *recovery;
	uint32_t lid, to;
	bool *told; /* by switch */
	int *arrives; /* by switch: -1 not known */
};

static unsigned level_of(const struct packets *packets, uint32_t sw)
{
	const struct hd_ar_recovery_request *request = packets->recovery->request;
	const struct hd_ar_switch *plan = planned(request, sw);
	unsigned level = (unsigned)packets->recovery->level;

	if (!plan || plan->form == HD_AR_FORM_NONE)
		return HD_AR_RECOVERY_OFF;
	return request->able && request->able[sw] < level ? request->able[sw] : level;
}

static bool hears(const struct packets *packets, uint32_t sw)
{
	const struct hd_ar_recovery_request *request = packets->recovery->request;

	return level_of(packets, sw) == HD_AR_RECOVERY_NOTICES &&
	       (!request->silent_statics || is_adaptive(request, sw, packets->lid));
}

static bool is_dead(const struct packets *packets, uint32_t sw, uint32_t port)
{
	const struct hd_fabric *fabric = packets->recovery->request->fabric;

	return packets->recovery->dead[hd_port_index(fabric, sw, port)];
}

static bool was_told(const struct packets *packets, uint32_t sw, uint32_t port)
{
	uint32_t far = leads_to(packets->recovery->request->fabric, sw, port);

	return hears(packets, sw) && far != HD_NONE && packets->told[far];
}

/* Whether no port of the entry is left. */
static bool is_empty(const struct packets *packets, uint32_t sw)
{
	const struct hd_ar_recovery_request *request = packets->recovery->request;
	bool any = false;

	for (uint32_t port = 1; port <= hd_node_ports(request->fabric, sw); port++) {
		if (!has(request, sw, packets->lid, port))
			continue;
		any = true;
		if (!is_dead(packets, sw, port) && !was_told(packets, sw, port))
			return false;
	}
	return any;
}

static void tell(struct packets *packets)
{
	const uint32_t switches = packets->recovery->request->fabric->switch_count;
	bool changed = true;

	memset(packets->told, 0, switches * sizeof(bool));
	while (changed) {
		changed = false;
		for (uint32_t sw = 0; sw < switches; sw++)
			if (sw != packets->to && !packets->told[sw] && hears(packets, sw) &&
			    is_empty(packets, sw))
				packets->told[sw] = changed = true;
	}
}

static bool arrives(struct packets *packets, uint32_t sw);

/* Whether a packet that is sent by the port arrives. */
static bool port_arrives(struct packets *packets, uint32_t sw, uint32_t port)
{
	uint32_t far = leads_to(packets->recovery->request->fabric, sw, port);

	return !is_dead(packets, sw, port) && far != HD_NONE && arrives(packets, far);
}

static bool choices_arrive(struct packets *packets, uint32_t sw)
{
	const struct hd_ar_recovery_request *request = packets->recovery->request;
	bool any = false;

	for (uint32_t port = 1; port <= hd_node_ports(request->fabric, sw); port++) {
		if (!has(request, sw, packets->lid, port) || was_told(packets, sw, port))
			continue;
		if (level_of(packets, sw) != HD_AR_RECOVERY_OFF && is_dead(packets, sw, port))
			continue;
		any = true;
		if (!port_arrives(packets, sw, port))
			return false;
	}
	return any;
}

static bool arrives(struct packets *packets, uint32_t sw)
{
	if (sw == packets->to)
		return true;
	if (packets->arrives[sw] < 0) {
		packets->arrives[sw] = 0; /* on the way: one that comes back does not arrive */
		packets->arrives[sw] = choices_arrive(packets, sw);
	}
	return packets->arrives[sw];
}

/* A LID of an adapter that the switch to which it is cabled hands out. */
static bool is_handed(const struct hd_ar_recovery_request *request, uint32_t lid, uint32_t *to)
{
	uint8_t last;

	return hd_fabric_lid_destination(request->fabric, lid, to, &last) && last &&
	       hd_routes_port(request->routes, *to, lid) == last && !is_adaptive(request, *to, lid);
}

uint64_t oracle_recovery_pairs(const struct oracle_recovery *recovery, const bool *before,
			       bool *delivered)
{
	const struct hd_fabric *fabric = recovery->request->fabric;
	const uint32_t switches = fabric->switch_count;
	struct packets packets = {.recovery = recovery,
				  .told = calloc(switches, sizeof(bool)),
				  .arrives = calloc(switches, sizeof(int))};
	uint64_t pairs = 0;

	if (!packets.told || !packets.arrives)
		abort();
	for (packets.lid = 1; packets.lid < fabric->lid_count; packets.lid++) {
		if (!is_handed(recovery->request, packets.lid, &packets.to))
			continue;
		tell(&packets);
		for (uint32_t sw = 0; sw < switches; sw++)
			packets.arrives[sw] = -1;
		for (uint32_t sw = 0; sw < switches; sw++) {
			size_t at = (size_t)sw * fabric->lid_count + packets.lid;
			bool counts = sw != packets.to && sends(fabric, sw) &&
				      (!before || before[at]) && arrives(&packets, sw);
			pairs += counts;
			if (delivered)
				delivered[at] = counts;
		}
	}
	free(packets.told);
	free(packets.arrives);
	return pairs;
}

/* ---- circles ---- */

struct walk {
	const struct hd_ar_recovery_request *request;
	const bool *masked;
	enum oracle_fallback fallback;
	uint32_t lid, to;
	bool *on_way, *seen; /* by switch */
	struct oracle_dependencies *graph; /* NULL: not of this lane */
	bool circle;
};

static bool all_masked(const struct walk *walk, uint32_t sw)
{
	const struct hd_fabric *fabric = walk->request->fabric;

	for (uint32_t port = 1; port <= hd_node_ports(fabric, sw); port++)
		if (has(walk->request, sw, walk->lid, port) &&
		    !walk->masked[hd_port_index(fabric, sw, port)])
			return false;
	return true;
}

static bool may_take(const struct walk *walk, uint32_t sw, uint32_t port)
{
	if (!has(walk->request, sw, walk->lid, port))
		return false;
	if (!walk->masked[hd_port_index(walk->request->fabric, sw, port)])
		return true;
	return all_masked(walk, sw) &&
	       (walk->fallback == ORACLE_ANY_PORT ||
		(walk->fallback == ORACLE_STATIC_PORT &&
		 hd_routes_port(walk->request->routes, sw, walk->lid) == port));
}

static void follow(struct walk *walk, uint32_t sw)
{
	const struct hd_fabric *fabric = walk->request->fabric;

	walk->circle |= walk->on_way[sw];
	if (walk->seen[sw])
		return;
	walk->seen[sw] = walk->on_way[sw] = true;
	for (uint32_t link = fabric->isl_base[sw]; link < fabric->isl_base[sw + 1]; link++) {
		uint32_t to = fabric->isl_to[link];
		if (!may_take(walk, sw, fabric->isl_port[link]))
			continue;
		for (uint32_t next = fabric->isl_base[to];
		     walk->graph && next < fabric->isl_base[to + 1]; next++)
			if (may_take(walk, to, fabric->isl_port[next]))
				oracle_dependencies_collect(walk->graph, link, next);
		follow(walk, to);
	}
	walk->on_way[sw] = false;
}

/* From one switch, or from all. */
static void begin(struct walk *walk, uint32_t first, uint32_t end)
{
	const uint32_t switches = walk->request->fabric->switch_count;

	memset(walk->seen, 0, switches * sizeof(bool));
	for (uint32_t sw = first; sw < end; sw++)
		follow(walk, sw);
}

uint32_t oracle_recovery_circle(const struct hd_ar_recovery_request *request, const bool *masked,
				enum oracle_fallback fallback, unsigned lane,
				struct oracle_dependencies *graph)
{
	const struct hd_fabric *fabric = request->fabric;
	const uint32_t switches = fabric->switch_count;
	struct walk walk = {.request = request,
			    .masked = masked,
			    .fallback = fallback,
			    .on_way = calloc(switches, sizeof(bool)),
			    .seen = calloc(switches, sizeof(bool))};
	uint32_t circle = 0;
	uint8_t last;

	if (!walk.on_way || !walk.seen || !oracle_dependencies_init(graph, fabric->isl_count))
		abort();
	for (walk.lid = 1; walk.lid < fabric->lid_count; walk.lid++) {
		if (!hd_fabric_lid_destination(fabric, walk.lid, &walk.to, &last) || !last)
			continue;
		walk.circle = false;
		walk.graph = NULL;
		begin(&walk, 0, switches);
		if (walk.circle && !circle)
			circle = walk.lid;
		walk.graph = graph;
		for (uint32_t sw = 0; sw < switches; sw++)
			if (sends(fabric, sw) &&
			    hd_routes_vl(request->routes, sw, walk.lid) == lane)
				begin(&walk, sw, sw + 1);
	}
	free(walk.on_way);
	free(walk.seen);
	return circle;
}
