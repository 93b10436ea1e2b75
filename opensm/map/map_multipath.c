/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "map_multipath.h"
#include "map_foreign.h"

#include <complib/cl_passivelock.h>
#include <opensm/osm_helper.h>
#include <string.h>

#define PATHS_MOST 127u /* the field has 7 bits */

struct end {
	const ib_gid_t *gid; /* of another subnet; NULL: it is in this one */
	const osm_alias_guid_t *alias; /* of the port, or of the router port that leads there */
};

/* One request. The ends are valid only under OpenSM's lock. */
struct request {
	osm_sa_t *sa;
	const osm_port_t *requester;
	struct end ends[IB_MULTIPATH_MAX_GIDS]; /* sources, then destinations */
	unsigned source_count, destination_count;
	unsigned most; /* paths */
	ib_sa_mad_t mad; /* a PathRecord request with the same demands */
	cl_qlist_t *records;
};

static bool has(const ib_sa_mad_t *mad, ib_net64_t components)
{
	return (mad->comp_mask & components) == components;
}

/* OpenSM refuses all others with its own messages. */
static bool is_well_formed(const ib_sa_mad_t *mad, const ib_multipath_rec_t *record)
{
	const ib_net64_t service = mad->comp_mask & IB_MPR_COMPMASK_SERVICEID;

	if (mad->method != IB_MAD_METHOD_GETMULTI || !(mad->rmpp_flags & IB_RMPP_FLAG_ACTIVE) ||
	    !has(mad, IB_MPR_COMPMASK_SGIDCOUNT | IB_MPR_COMPMASK_DGIDCOUNT))
		return false;
	if (has(mad, IB_MPR_COMPMASK_RATESELEC | IB_MPR_COMPMASK_RATE) &&
	    !ib_rate_is_valid(ib_multipath_rec_rate(record)))
		return false;
	if (has(mad, IB_MPR_COMPMASK_MTUSELEC | IB_MPR_COMPMASK_MTU) &&
	    !ib_mtu_is_valid(ib_multipath_rec_mtu(record)))
		return false;
	return !service || service == IB_MPR_COMPMASK_SERVICEID;
}

/* ---- the PathRecord request ---- */

static ib_net64_t translate_components(ib_net64_t wanted)
{
	static const struct {
		ib_net64_t multipath, path;
	} components[] = {
	    {IB_MPR_COMPMASK_RAWTRAFFIC, IB_PR_COMPMASK_RAWTRAFFIC},
	    {IB_MPR_COMPMASK_FLOWLABEL, IB_PR_COMPMASK_FLOWLABEL},
	    {IB_MPR_COMPMASK_HOPLIMIT, IB_PR_COMPMASK_HOPLIMIT},
	    {IB_MPR_COMPMASK_TCLASS, IB_PR_COMPMASK_TCLASS},
	    {IB_MPR_COMPMASK_REVERSIBLE, IB_PR_COMPMASK_REVERSIBLE},
	    {IB_MPR_COMPMASK_PKEY, IB_PR_COMPMASK_PKEY},
	    {IB_MPR_COMPMASK_QOS_CLASS, IB_PR_COMPMASK_QOS_CLASS},
	    {IB_MPR_COMPMASK_SL, IB_PR_COMPMASK_SL},
	    {IB_MPR_COMPMASK_MTUSELEC, IB_PR_COMPMASK_MTUSELEC},
	    {IB_MPR_COMPMASK_MTU, IB_PR_COMPMASK_MTU},
	    {IB_MPR_COMPMASK_RATESELEC, IB_PR_COMPMASK_RATESELEC},
	    {IB_MPR_COMPMASK_RATE, IB_PR_COMPMASK_RATE},
	    {IB_MPR_COMPMASK_PKTLIFETIMESELEC, IB_PR_COMPMASK_PKTLIFETIMESELEC},
	    {IB_MPR_COMPMASK_PKTLIFETIME, IB_PR_COMPMASK_PKTLIFETIME},
	    {IB_MPR_COMPMASK_SERVICEID_MSB, IB_PR_COMPMASK_SERVICEID_MSB},
	    {IB_MPR_COMPMASK_SERVICEID_LSB, IB_PR_COMPMASK_SERVICEID_LSB},
	};
	ib_net64_t translated = IB_PR_COMPMASK_NUMBPATH;

	for (unsigned i = 0; i < sizeof(components) / sizeof(components[0]); i++)
		if (wanted & components[i].multipath)
			translated |= components[i].path;
	return translated;
}

static void translate(const ib_sa_mad_t *mad, const ib_multipath_rec_t *record, ib_sa_mad_t *out)
{
	ib_path_rec_t *path = ib_sa_mad_get_payload_ptr(out);
	uint8_t service[8] = {record->service_id_8msb};

	*out = *mad;
	out->method = IB_MAD_METHOD_GETTABLE;
	out->attr_id = IB_MAD_ATTR_PATH_RECORD;
	out->comp_mask = translate_components(mad->comp_mask);
	memcpy(service + 1, record->service_id_56lsb, sizeof(record->service_id_56lsb));
	*path = (ib_path_rec_t){
	    .hop_flow_raw = record->hop_flow_raw,
	    .tclass = record->tclass,
	    .num_path = record->num_path & 0x80,
	    .pkey = record->pkey,
	    .qos_class_sl = record->qos_class_sl,
	    .mtu = record->mtu,
	    .rate = record->rate,
	    .pkt_life = record->pkt_life,
	};
	memcpy(&path->service_id, service, sizeof(service));
}

/* ---- the ends ---- */

static bool is_here(const osm_subn_t *subn, const ib_gid_t *gid)
{
	return ib_gid_is_link_local(gid) ||
	       ib_gid_get_subnet_prefix(gid) == subn->opt.subnet_prefix;
}

/* False: OpenSM refuses that GID, or it is not on the map. */
static bool find_end(const osm_subn_t *subn, const struct map_table *table, const ib_gid_t *gid,
		     bool may_be_foreign, struct end *end)
{
	*end = (struct end){.gid = NULL};
	if (is_here(subn, gid)) {
		end->alias = osm_get_alias_guid_by_guid(subn, gid->unicast.interface_id);
	} else if (may_be_foreign && map_foreign_is(subn, gid)) {
		end->gid = gid;
		end->alias = map_foreign_router(subn, table, gid);
	}
	return end->alias != NULL;
}

static bool find_ends(struct request *request, const struct map_table *table,
		      const ib_multipath_rec_t *record)
{
	const osm_subn_t *subn = request->sa->p_subn;

	for (unsigned i = 0; i < request->source_count + request->destination_count; i++)
		if (!find_end(subn, table, &record->gids[i], i >= request->source_count,
			      &request->ends[i]))
			return false;
	return true;
}

/* Whether a destination is in another subnet. Sets the numbers of ends. */
static bool has_foreign(struct request *request, const ib_multipath_rec_t *record)
{
	const unsigned sources = record->sgid_count, room = IB_MULTIPATH_MAX_GIDS;
	const unsigned destinations = record->dgid_count;

	if (!sources || !destinations || sources + destinations > room)
		return false;
	request->source_count = sources;
	request->destination_count = destinations;
	for (unsigned i = 0; i < destinations; i++)
		if (map_foreign_is(request->sa->p_subn, &record->gids[sources + i]))
			return true;
	return false;
}

/* ---- records ---- */

/* Adds at most so many paths between two ends. Returns how many. */
static unsigned add_pair(struct request *request, unsigned source, unsigned destination,
			 unsigned most)
{
	const struct end *from = &request->ends[source];
	const struct end *to = &request->ends[request->source_count + destination];
	ib_path_rec_t *path = ib_sa_mad_get_payload_ptr(&request->mad);
	size_t before = cl_qlist_count(request->records);

	path->num_path = (uint8_t)((path->num_path & 0x80) | most);
	if (most)
		osm_pr_process_pair(request->sa, &request->mad, request->requester, from->alias,
				    to->alias, NULL, to->gid, request->records);
	return (unsigned)(cl_qlist_count(request->records) - before);
}

static void add_all(struct request *request)
{
	unsigned left = request->most;

	for (unsigned source = 0; source < request->source_count; source++)
		for (unsigned to = 0; to < request->destination_count; to++)
			left -= add_pair(request, source, to, left);
}

/* Two paths for automatic path migration: one of each source and to each destination. */
static void add_two(struct request *request)
{
	if (add_pair(request, 0, 0, 1) && add_pair(request, 1, 1, 1))
		return;
	if (!cl_qlist_count(request->records))
		add_pair(request, 1, 1, 1);
	if (cl_qlist_count(request->records) < 2)
		add_pair(request, 0, 1, 1);
	if (cl_qlist_count(request->records) < 2)
		add_pair(request, 1, 0, 1);
}

static bool collect(struct request *request, const struct map_table *table,
		    const ib_multipath_rec_t *record, osm_madw_t *wrapper)
{
	if (!find_ends(request, table, record))
		return false;
	request->requester = osm_get_port_by_mad_addr(request->sa->p_log, request->sa->p_subn,
						      osm_madw_get_mad_addr_ptr(wrapper));
	if (!request->requester)
		return false;
	if (request->source_count == 2 && request->destination_count == 2 && request->most == 2)
		add_two(request);
	else
		add_all(request);
	return true;
}

bool map_multipath_answer(struct osm_sa *sa, const struct map_table *table,
			  struct osm_madw *wrapper)
{
	ib_sa_mad_t *mad = osm_madw_get_sa_mad_ptr(wrapper);
	const ib_multipath_rec_t *record = ib_sa_mad_get_payload_ptr(mad);
	cl_qlist_t records;
	struct request request = {.sa = sa, .records = &records};
	bool answered;

	if (!is_well_formed(mad, record) || !has_foreign(&request, record))
		return false;
	request.most =
	    has(mad, IB_MPR_COMPMASK_NUMBPATH) ? ib_multipath_rec_num_path(record) : PATHS_MOST;
	translate(mad, record, &request.mad);
	cl_qlist_init(&records);
	cl_plock_acquire(sa->p_lock);
	answered = collect(&request, table, record, wrapper);
	cl_plock_release(sa->p_lock);
	if (!answered)
		return false;
	mad->attr_id = IB_MAD_ATTR_PATH_RECORD; /* of the answer: InfiniBand, o15-0.2.7 */
	osm_sa_respond(sa, wrapper, sizeof(ib_path_rec_t), &records);
	return true;
}
