/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "drain_complete.h"
#include "adaptive_state.h"
#include "opensm_headers.h"
#include "part.h"
#include "routing.h"
#include "switch_tables.h"
#include "writer_mft.h"

#include <complib/cl_passivelock.h>
#include <errno.h>
#include <heddle/ar_manager/plan.h>
#include <inttypes.h>
#include <stdlib.h>

#define ROWS 64u /* of multicast tables that are read together */

/* A port of a switch that leads to what is drained. */
struct lead {
	uint64_t guid;
	uint8_t port;
};

struct leads {
	struct lead *list; /* [count] from malloc() */
	uint32_t count;
};

/* The end of a cable at a switch that stays. */
static void add_lead(struct leads *leads, const struct hd_fabric *fabric, uint32_t port)
{
	const uint32_t node = fabric->port_node[port];

	if (hd_is_switch(fabric, node))
		leads->list[leads->count++] =
		    (struct lead){fabric->node_guid[node], (uint8_t)hd_port_number(fabric, port)};
}

static void add_leads(struct leads *leads, const struct hd_fabric *fabric,
		      const struct hd_fabric_change *change)
{
	if (change->cable) {
		add_lead(leads, fabric, change->index);
		add_lead(leads, fabric, fabric->peer[change->index]);
		return;
	}
	for (uint32_t i = 1; i <= hd_node_ports(fabric, change->index); i++) {
		const uint32_t peer = fabric->peer[hd_port_index(fabric, change->index, i)];
		if (peer != HD_NONE)
			add_lead(leads, fabric, peer);
	}
}

/* In the subnet as the sweep has found it: what is not there leads nowhere. */
static int list_leads(const struct hd_fabric *fabric, const struct drained_set *out,
		      struct leads *leads)
{
	struct hd_fabric_change *changes = calloc(out->count + 1u, sizeof(*changes));

	leads->count = 0;
	leads->list = calloc(fabric->port_count + 2u * out->count + 1u, sizeof(*leads->list));
	if (changes && leads->list) {
		const uint32_t count = drained_set_locate(out, fabric, changes);
		for (uint32_t i = 0; i < count; i++)
			add_leads(leads, fabric, &changes[i]);
	}
	const bool made = changes && leads->list;
	free(changes);
	return made ? 0 : -ENOMEM;
}

static osm_switch_t *find_switch(struct osm_opensm *osm, uint64_t guid)
{
	return (osm_switch_t *)osm_get_switch_by_guid(&osm->subn, cl_hton64(guid));
}

static int say_lead(const struct lead *lead, const char *what, uint32_t number,
		    struct hd_error *err)
{
	return hd_error_set(err, -EAGAIN,
			    "switch 0x%016" PRIx64 " still sends %s %" PRIu32 " by port %u",
			    lead->guid, what, number, lead->port);
}

static int check_groups(struct osm_opensm *osm, const osm_switch_t *sw, const struct lead *lead,
			struct hd_error *err)
{
	struct hd_port_set rows[ROWS];

	for (uint32_t first = 0; first < sw->mcast_tbl.mft_depth; first += ROWS) {
		const uint32_t left = sw->mcast_tbl.mft_depth - first;
		const uint32_t count = left < ROWS ? left : ROWS;
		writer_mft_read(osm, lead->guid, first, count, rows);
		for (uint32_t i = 0; i < count; i++)
			if (hd_port_set_has(&rows[i], lead->port))
				return say_lead(lead, "the group of MLID",
						HD_MLID_FIRST + first + i, err);
	}
	return 0;
}

static int check_lead(struct osm_opensm *osm, const struct lead *lead, struct hd_error *err)
{
	const osm_switch_t *sw = find_switch(osm, lead->guid);

	for (uint32_t lid = 1; sw && sw->lft && lid < sw->lft_size; lid++)
		if (sw->lft[lid] == lead->port)
			return say_lead(lead, "LID", lid, err);
	return sw ? check_groups(osm, sw, lead, err) : 0;
}

static int check_tables(const struct part_context *context, const struct drained_set *out,
			struct hd_error *err)
{
	struct osm_opensm *osm = context->osm;
	const struct routing *routing = context->published;
	struct leads leads = {0};

	if (!routing)
		return hd_error_set(err, -EAGAIN, "the tables in force are not Heddle's");
	const osm_switch_t *late = switch_tables_incomplete(routing, osm);
	if (late)
		return hd_error_set(err, -EAGAIN,
				    "switch 0x%016" PRIx64 " has not got its forwarding table",
				    cl_ntoh64(osm_node_get_node_guid(late->p_node)));
	if (osm->subn.subnet_initialization_error)
		return hd_error_set(err, -EAGAIN, "OpenSM's sweep had errors");
	int rc = list_leads(routing_found(routing), out, &leads) ? hd_error_no_memory(err) : 0;
	for (uint32_t i = 0; !rc && i < leads.count; i++)
		rc = check_lead(osm, &leads.list[i], err);
	free(leads.list);
	return rc;
}

int drain_complete_check(const struct part_context *context, const struct drained_set *out,
			 struct hd_error *err)
{
	cl_plock_acquire(&context->osm->lock);
	int rc = check_tables(context, out, err);
	cl_plock_release(&context->osm->lock);
	return rc;
}

static bool plan_leads(const struct hd_ar_plan *plan, const struct lead *lead)
{
	for (uint32_t sw = 0; sw < plan->switch_count; sw++) {
		const struct hd_ar_switch *at = &plan->switches[sw];
		if (at->guid != lead->guid || at->form == HD_AR_FORM_NONE)
			continue;
		for (uint32_t group = 0; group < at->group_count; group++)
			for (uint32_t part = 0; part < HD_AR_SUB_GROUPS; part++)
				if (hd_port_set_has(&at->groups[group].ports[part], lead->port))
					return true;
	}
	return false;
}

static int check_plan(const struct hd_fabric *found, const struct hd_ar_plan *plan,
		      const struct drained_set *out, struct hd_error *err)
{
	struct leads leads = {0};
	int rc = list_leads(found, out, &leads) ? hd_error_no_memory(err) : 0;

	for (uint32_t i = 0; !rc && i < leads.count; i++)
		if (plan_leads(plan, &leads.list[i]))
			rc = hd_error_set(err, -EAGAIN,
					  "a group of switch 0x%016" PRIx64 " has port %u",
					  leads.list[i].guid, leads.list[i].port);
	free(leads.list);
	return rc;
}

const char *drain_complete_doubt(const struct part_context *context)
{
	return adaptive_state_now(context->adaptive) == ADAPTIVE_UNKNOWN
		   ? "it is not known what the switches hold of adaptive routing; heddle status "
		     "names them"
		   : "";
}

int drain_complete_adaptive(const struct part_context *context, const struct drained_set *out,
			    struct hd_error *err)
{
	struct adaptive_view view = {0};
	struct routing *routing;
	int rc = 0;

	adaptive_look(context->adaptive, &view);
	if (view.state == ADAPTIVE_CHANGING)
		rc = hd_error_set(err, -EINPROGRESS, "adaptive routing is being programmed");
	if (view.state == ADAPTIVE_UNKNOWN)
		rc = hd_error_set(err, -EAGAIN, "%s", drain_complete_doubt(context));
	cl_plock_acquire(&context->osm->lock);
	routing = context->published ? routing_hold(context->published) : NULL;
	cl_plock_release(&context->osm->lock);
	if (!rc && view.state == ADAPTIVE_ON && view.plan && routing)
		rc = check_plan(routing_found(routing), view.plan, out, err);
	routing_release(routing);
	adaptive_view_release(&view);
	return rc;
}
