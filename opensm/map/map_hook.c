/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * OpenSM's dispatcher knows one handler for each kind of request. The SA keeps what the dispatcher
 * returned for it, so that it can take its handlers back at the end. So the new handlers are
 * registered in the name of the SA, and the SA takes them back before it frees the plugin.
 */
#include "map_hook.h"
#include "map_foreign.h"
#include "map_multipath.h"
#include "map_table.h"
#include "opensm_headers.h"

#include <complib/cl_passivelock.h>
#include <errno.h>
#include <opensm/osm_helper.h>
#include <stdbool.h>

/* ---- paths ---- */

/* Answers PathRecord requests for GIDs of other subnets. */

struct osm_madw;

struct osm_sa;

enum outcome { LEFT_TO_OPENSM, ANSWERED, CONTRADICTORY };

/* One request. The pointers to ports are valid only under OpenSM's lock. */
struct request {
	osm_sa_t *sa;
	const ib_sa_mad_t *mad;
	const ib_path_rec_t *record;
	const osm_port_t *requester;
	const osm_alias_guid_t *source; /* by its GID; NULL: not given */
	const osm_port_t *source_port; /* by its LID; NULL: not given */
	const ib_gid_t *source_gid;
	const osm_alias_guid_t *router;
	cl_qlist_t *records;
};

static bool has(const ib_sa_mad_t *mad, ib_net64_t components)
{
	return (mad->comp_mask & components) == components;
}

/* OpenSM refuses all others with its own messages. */
static bool is_well_formed(const ib_sa_mad_t *mad, const ib_path_rec_t *record)
{
	const ib_net64_t service = mad->comp_mask & IB_PR_COMPMASK_SERVICEID;

	if (mad->method != IB_MAD_METHOD_GET && mad->method != IB_MAD_METHOD_GETTABLE)
		return false;
	if (has(mad, IB_PR_COMPMASK_RATESELEC | IB_PR_COMPMASK_RATE) &&
	    !ib_rate_is_valid(ib_path_rec_rate(record)))
		return false;
	if (has(mad, IB_PR_COMPMASK_MTUSELEC | IB_PR_COMPMASK_MTU) &&
	    !ib_mtu_is_valid(ib_path_rec_mtu(record)))
		return false;
	return !service || service == IB_PR_COMPMASK_SERVICEID;
}

static void add_pair(const struct request *request, const osm_alias_guid_t *source)
{
	osm_pr_process_pair(request->sa, request->mad, request->requester, source, request->router,
			    request->source_gid, &request->record->dgid, request->records);
}

/* A port has a GID for each alias of its GUID. */
static void add_port(const struct request *request)
{
	cl_qmap_t *aliases = &request->sa->p_subn->alias_port_guid_tbl;

	MAP_FOREACH(osm_alias_guid_t, alias, aliases)
	{
		if (alias->p_base_port != request->source_port)
			continue;
		add_pair(request, alias);
		if (request->mad->method == IB_MAD_METHOD_GET &&
		    cl_qlist_count(request->records) > 0)
			return;
	}
}

static void add_records(const struct request *request)
{
	if (request->source)
		add_pair(request, request->source);
	else if (request->source_port)
		add_port(request);
	else
		osm_pr_process_half(request->sa, request->mad, request->requester, NULL,
				    request->router, request->source_gid, &request->record->dgid,
				    request->records);
}

/* Finds source and destination LID as OpenSM does. The destination GID is left out, because OpenSM
 * knows no port with it. */
static enum outcome find_ends(struct request *request)
{
	ib_sa_mad_t rest = *request->mad;
	const osm_alias_guid_t *no_destination;
	const osm_port_t *destination_port;
	const ib_gid_t *source_gid = NULL, *no_gid = NULL;

	rest.comp_mask &= ~IB_PR_COMPMASK_DGID;
	if (osm_pr_get_end_points(request->sa, &rest, &request->source, &no_destination,
				  &request->source_port, &destination_port, &source_gid,
				  &no_gid) != IB_SA_MAD_STATUS_SUCCESS)
		return ANSWERED; /* without records */
	request->source_gid = source_gid ? &request->record->sgid : NULL;
	if (request->source && request->source_port &&
	    request->source->p_base_port != request->source_port)
		return CONTRADICTORY;
	if (destination_port && destination_port != request->router->p_base_port)
		return CONTRADICTORY;
	add_records(request);
	return ANSWERED;
}

static enum outcome answer(struct request *request, const struct map_table *table,
			   osm_madw_t *wrapper)
{
	const osm_subn_t *subn = request->sa->p_subn;

	request->router = map_foreign_router(subn, table, &request->record->dgid);
	if (!request->router)
		return LEFT_TO_OPENSM;
	request->requester =
	    osm_get_port_by_mad_addr(request->sa->p_log, subn, osm_madw_get_mad_addr_ptr(wrapper));
	return request->requester ? find_ends(request) : LEFT_TO_OPENSM;
}

/*
 * Answers the request as OpenSM answers one for the router port, with the GID that was asked for and
 * HopLimit 255. Returns false, and does nothing, if OpenSM must handle the request: it is malformed,
 * or it is not for a GID of another subnet that the map leads to a router port. For a thread of
 * OpenSM's dispatcher, without OpenSM's lock.
 */
static bool map_path_answer(struct osm_sa *sa, const struct map_table *table,
			    struct osm_madw *wrapper)
{
	cl_qlist_t records;
	struct request request = {
	    .sa = sa, .mad = osm_madw_get_sa_mad_ptr(wrapper), .records = &records};
	enum outcome outcome;

	request.record = ib_sa_mad_get_payload_ptr(request.mad);
	if (!has(request.mad, IB_PR_COMPMASK_DGID) ||
	    !map_foreign_is(sa->p_subn, &request.record->dgid) ||
	    !is_well_formed(request.mad, request.record))
		return false;
	cl_qlist_init(&records);
	cl_plock_acquire(sa->p_lock);
	outcome = answer(&request, table, wrapper);
	cl_plock_release(sa->p_lock);
	if (outcome == CONTRADICTORY)
		osm_sa_send_error(sa, wrapper, IB_SA_MAD_STATUS_REQ_INVALID);
	else if (outcome == ANSWERED)
		osm_sa_respond(sa, wrapper, sizeof(ib_path_rec_t), &records);
	return outcome != LEFT_TO_OPENSM;
}

/* ---- the hook ---- */

/* OpenSM's own handlers. No header declares them. */
extern void osm_pr_rcv_process(void *context, void *data);

extern void osm_mpr_rcv_process(void *context, void *data);

static void answer_path(void *context, void *data)
{
	const struct map_hook *hook = context;

	if (!map_path_answer(hook->sa, hook->table, data))
		osm_pr_rcv_process(hook->sa, data);
}

static void answer_multipath(void *context, void *data)
{
	const struct map_hook *hook = context;

	if (!map_multipath_answer(hook->sa, hook->table, data))
		osm_mpr_rcv_process(hook->sa, data);
}

static bool replace(struct osm_sa *sa, cl_disp_reg_handle_t *handle, cl_disp_msgid_t request,
		    cl_pfn_msgrcv_cb_t handler, void *context)
{
	cl_disp_unregister(*handle);
	*handle = cl_disp_register(sa->p_disp, request, handler, context);
	return *handle != CL_DISP_INVALID_HANDLE;
}

static void restore(struct osm_sa *sa)
{
	replace(sa, &sa->pr_disp_h, OSM_MSG_MAD_PATH_RECORD, osm_pr_rcv_process, sa);
	replace(sa, &sa->mpr_disp_h, OSM_MSG_MAD_MULTIPATH_RECORD, osm_mpr_rcv_process, sa);
}

int map_hook_set(struct map_hook *hook, struct osm_opensm *osm, const struct map_table *table,
		 struct hd_error *err)
{
	struct osm_sa *sa = &osm->sa;

	*hook = (struct map_hook){.sa = sa, .table = table};
	if (replace(sa, &sa->pr_disp_h, OSM_MSG_MAD_PATH_RECORD, answer_path, hook) &&
	    replace(sa, &sa->mpr_disp_h, OSM_MSG_MAD_MULTIPATH_RECORD, answer_multipath, hook))
		return 0;
	restore(sa);
	return hd_error_no_memory(err);
}
