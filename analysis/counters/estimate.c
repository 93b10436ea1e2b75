/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Who sends how much to whom, from the counters of all ports alone.
 *
 * hd_estimate_new() is called with measured bytes of links and the tables in force. find_sources() decides whether
 * each host is a source of its own, or all hosts of a switch are one; find_cells() lists the pairs of source and host
 * with the links of their path. estimate() then scales the cells in rounds, each link's cells by measured over
 * estimated bytes, until a round explains no more (iterative proportional fitting). Between stages what is unlikely
 * loses weight: paths that are too slow for a host's bytes, and hosts that wait; hosts that sent what others received
 * gain some.
 *
 * The same counters and tables give the same estimate.
 */
#include "waiting.h"

#include <heddle/analysis/estimate.h>

#include <errno.h>
#include <heddle/base/arena.h>
#include <heddle/base/grow.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDS 200u
#define SETTLED 1e-5 /* of the share that is explained, in a round */
#define HOPS_MAX 64u
#define SEPARATE_MAX (UINT64_C(1) << 22) /* entries with which each host is a source of its own */
#define STAGES 3u /* of the rounds, each with what is likely by the one before */
#define WAITING 0.1 /* of its time in use: a host that waits for longer is held up */
#define UNLIKELY 0.02 /* weight of what is not likely */
#define ALIKE                                                                                      \
	0.03 /* two hosts of which one has sent as much as the other has received, up to this share of it */
#define ALIKE_WEIGHT 10.0
#define UNFIT 0.02 /* weight of a path over which a host cannot have sent all of its bytes */

struct estimating {
	const struct hd_estimate_request *request;
	const struct hd_measured *measured;
	const struct hd_fabric *fabric;
	struct hd_estimate *estimate;
	bool separate; /* each host is a source */
	double total; /* bytes that hosts have sent */
	uint32_t cell_room, link_room, link_count;
	uint32_t *isl_of_port; /* [port_count] HD_NONE: no link between switches */
	double *
	    log_ratio; /* [link_count of measured] of measured to estimated bytes; NAN: not known */
	double *log_source; /* [source_count] the same of sources */
	double *
	    source_waits; /* [source_count] share of the bytes of a source that comes from hosts that wait */
	double *volume, *cause; /* [link_count of measured] see waiting_find_causes() */
	double *source_bytes; /* [source_count] of the estimate */
	struct hd_arena arena;
};

static uint32_t up_link(const struct hd_fabric *fabric, uint32_t host)
{
	return fabric->isl_count + host;
}

static uint32_t down_link(const struct hd_fabric *fabric, uint32_t host)
{
	return fabric->isl_count + fabric->host_count + host;
}

static uint32_t job_of(const struct estimating *job, uint32_t host)
{
	return job->request->allocation ? job->request->allocation->host_job[host] : HD_NONE;
}

/* ---- sources ---- */

/* The source of a host among those of its switch from `first` on; a new one if it is not there. */
static uint32_t source_of(struct estimating *job, uint32_t first, uint32_t host)
{
	struct hd_estimate *estimate = job->estimate;
	uint32_t at = job->separate ? estimate->source_count : first;

	while (at < estimate->source_count && estimate->sources[at].job != job_of(job, host))
		at++;
	if (at == estimate->source_count)
		estimate->sources[estimate->source_count++] = (struct hd_estimate_source){
		    .sw = job->fabric->host_switch[host], .job = job_of(job, host)};
	return at;
}

static void find_sources(struct estimating *job)
{
	struct hd_estimate *estimate = job->estimate;
	const struct hd_fabric *fabric = job->fabric;
	uint32_t first = 0;

	job->separate = ((uint64_t)fabric->host_count * fabric->host_count
			 << hd_fabric_largest_lmc(fabric)) <= SEPARATE_MAX;

	for (uint32_t host = 0; host < fabric->host_count; host++) {
		double bytes = job->measured->links[up_link(fabric, host)].bytes;
		double received = job->measured->links[down_link(fabric, host)].bytes;
		estimate->host_source[host] = HD_NONE;
		estimate->unknown_hosts += bytes < 0 && received < 0;
		if (host == 0 || fabric->host_switch[host] != fabric->host_switch[host - 1])
			first = estimate->source_count;
		if (bytes <= 0)
			continue;
		uint32_t source = source_of(job, first, host);
		estimate->host_source[host] = source;
		estimate->sources[source].bytes += bytes;
		estimate->sources[source].hosts++;
		job->total += bytes;
	}
	for (uint32_t host = 0; host < fabric->host_count; host++)
		if (estimate->host_source[host] != HD_NONE)
			estimate->host_part[host] =
			    job->measured->links[up_link(fabric, host)].bytes /
			    estimate->sources[estimate->host_source[host]].bytes;
}

/* ---- entries ---- */

/* The links of a path; -1: it does not arrive. */
static int estimate_walk(const struct estimating *job, uint32_t sw, uint32_t host, uint32_t lid,
			 uint32_t *links)
{
	const struct hd_fabric *fabric = job->fabric;
	uint32_t hops = 0;

	for (;;) {
		uint8_t port = hd_routes_port(job->request->routes, sw, lid);
		if (sw == fabric->host_switch[host] && port == fabric->host_switch_port[host])
			return (int)hops;
		uint32_t link = port <= hd_node_ports(fabric, sw)
				    ? job->isl_of_port[hd_port_index(fabric, sw, port)]
				    : HD_NONE;
		if (link == HD_NONE || hops == HOPS_MAX)
			return -1;
		links[hops++] = link;
		sw = fabric->isl_to[link];
	}
}

static int add_cell(struct estimating *job, struct hd_estimate_cell *cell, const uint32_t *links)
{
	struct hd_estimate *estimate = job->estimate;
	struct hd_estimate_cell *cells =
	    hd_grow(estimate->cells, estimate->cell_count, 1, &job->cell_room, sizeof(*cells));

	if (cells)
		estimate->cells = cells;
	uint32_t *all =
	    hd_grow(estimate->links, job->link_count, HOPS_MAX, &job->link_room, sizeof(*all));
	if (all)
		estimate->links = all;
	if (!cells || !all)
		return estimate->cell_count < UINT32_MAX / HOPS_MAX ? -ENOMEM : -EFBIG;
	memcpy(all + job->link_count, links, cell->hops * sizeof(*links));
	cell->path = job->link_count;
	job->link_count += cell->hops;
	cells[estimate->cell_count++] = *cell;
	return 0;
}

/* What the first matrix has for a source and a host, which does not send to itself. */
static double first_bytes(const struct estimating *job, uint32_t source, uint32_t host)
{
	const struct hd_estimate *estimate = job->estimate;
	const struct hd_estimate_source *from = &estimate->sources[source];
	double received = job->measured->links[down_link(job->fabric, host)].bytes;
	bool own = estimate->host_source[host] == source;

	if (own && from->hosts == 1)
		return 0;
	/* If nobody knows what a host has received, what it has sent counts. */
	if (received < 0)
		received = job->measured->links[up_link(job->fabric, host)].bytes;
	double sent = own ? from->bytes * (1 - estimate->host_part[host]) : from->bytes;
	return received > 0 ? sent * received / job->total : 0;
}

static int add_cells_to(struct estimating *job, uint32_t source, uint32_t host)
{
	struct hd_estimate_cell cell = {.source = source, .host = host};
	uint32_t port = job->fabric->host_port[host], lids = hd_port_lid_count(job->fabric, port),
		 links[HOPS_MAX];
	double bytes = first_bytes(job, source, host);
	int rc = 0;

	if (bytes <= 0 ||
	    !hd_allocation_allows(job->estimate->sources[source].job, job_of(job, host)))
		return 0;
	for (uint32_t offset = 0; !rc && offset < lids; offset++) {
		int hops = estimate_walk(job, job->estimate->sources[source].sw, host,
					 job->fabric->lid[port] + offset, links);
		cell.lid_offset = (uint16_t)offset;
		cell.bytes = bytes / lids;
		cell.hops = (uint16_t)(hops < 0 ? 0 : hops);
		if (hops < 0)
			job->estimate->lost += cell.bytes;
		else
			rc = add_cell(job, &cell, links);
	}
	return rc;
}

static int find_cells(struct estimating *job, struct hd_error *err)
{
	const struct hd_estimate *estimate = job->estimate;
	int rc = 0;

	for (uint32_t source = 0; !rc && source < estimate->source_count; source++)
		for (uint32_t host = 0; !rc && host < job->fabric->host_count; host++)
			rc = add_cells_to(job, source, host);
	if (rc == -EFBIG)
		return hd_error_set(err, rc,
				    "the estimate of who sends to whom has too many entries");
	return rc ? hd_error_no_memory(err) : 0;
}

/* ---- scaling ---- */

/* Bytes of each link and source by the entries. */
static void add_up(struct estimating *job)
{
	struct hd_estimate *estimate = job->estimate;
	const struct hd_fabric *fabric = job->fabric;

	memset(estimate->link_bytes, 0, job->measured->link_count * sizeof(double));
	memset(job->source_bytes, 0, estimate->source_count * sizeof(double));
	estimate->bytes = 0;
	for (uint32_t i = 0; i < estimate->cell_count; i++) {
		const struct hd_estimate_cell *cell = &estimate->cells[i];
		for (uint32_t hop = 0; hop < cell->hops; hop++)
			estimate->link_bytes[estimate->links[cell->path + hop]] += cell->bytes;
		estimate->link_bytes[down_link(fabric, cell->host)] += cell->bytes;
		job->source_bytes[cell->source] += cell->bytes;
		estimate->bytes += cell->bytes;
	}
	for (uint32_t host = 0; host < fabric->host_count; host++)
		if (estimate->host_source[host] != HD_NONE)
			estimate->link_bytes[up_link(fabric, host)] =
			    estimate->host_part[host] *
			    job->source_bytes[estimate->host_source[host]];
}

static double explained(const struct estimating *job)
{
	double sum = 0, missed = 0;

	for (uint32_t link = 0; link < job->fabric->isl_count; link++) {
		double bytes = job->measured->links[link].bytes;
		if (bytes < 0)
			continue;
		sum += bytes;
		missed += fabs(bytes - job->estimate->link_bytes[link]);
	}
	return sum <= 0 ? 1 : missed >= sum ? 0 : 1 - missed / sum;
}

static double log_ratio(double measured, double estimated)
{
	return measured < 0 || estimated <= 0 ? NAN : log(measured) - log(estimated);
}

static void add_ratio(double ratio, double *sum, unsigned *count)
{
	if (isnan(ratio))
		return;
	*sum += ratio;
	++*count;
}

static void scale(struct estimating *job)
{
	struct hd_estimate *estimate = job->estimate;
	const struct hd_measured_link *links = job->measured->links;

	for (uint32_t link = 0; link < job->measured->link_count; link++)
		job->log_ratio[link] = log_ratio(links[link].bytes, estimate->link_bytes[link]);
	for (uint32_t source = 0; source < estimate->source_count; source++)
		job->log_source[source] =
		    log_ratio(estimate->sources[source].bytes, job->source_bytes[source]);
	for (uint32_t i = 0; i < estimate->cell_count; i++) {
		struct hd_estimate_cell *cell = &estimate->cells[i];
		double sum = 0;
		unsigned count = 0;
		for (uint32_t hop = 0; hop < cell->hops; hop++)
			add_ratio(job->log_ratio[estimate->links[cell->path + hop]], &sum, &count);
		add_ratio(job->log_ratio[down_link(job->fabric, cell->host)], &sum, &count);
		add_ratio(job->log_source[cell->source], &sum, &count);
		if (count)
			cell->bytes *= exp(sum / count);
	}
	add_up(job);
}

/* ---- what is likely ---- */

/* Whether a host could have sent all of its bytes to this LID: no link of the path has carried less. */
static bool fits(const struct estimating *job, const struct hd_estimate_cell *cell)
{
	const struct hd_measured_link *links = job->measured->links;
	double sent = job->estimate->sources[cell->source].bytes * (1 - ALIKE);

	for (uint32_t hop = 0; hop <= cell->hops; hop++) {
		double carried = links[waiting_next(job->estimate, cell, hop)].bytes;
		if (carried >= 0 && carried < sent)
			return false;
	}
	return true;
}

/* Among all matrices that give links what they have carried, those with fewer and larger entries are likely: hosts
 * that send to one other, all the more if that receives as much. */
static void favour_pairs(struct estimating *job)
{
	struct hd_estimate *estimate = job->estimate;

	for (uint32_t i = 0; i < estimate->cell_count; i++) {
		struct hd_estimate_cell *cell = &estimate->cells[i];
		const struct hd_estimate_source *source = &estimate->sources[cell->source];
		double received = job->measured->links[down_link(job->fabric, cell->host)].bytes;
		if (source->hosts != 1)
			continue;
		if (!fits(job, cell))
			cell->bytes *= UNFIT;
		else if (fabs(source->bytes - received) < ALIKE * received)
			cell->bytes *= ALIKE_WEIGHT;
	}
	add_up(job);
}

/* A host that has to wait sends through a link that holds it up, or that is held up itself, and one that does not wait
 * does not. */
static void favour_by_waiting(struct estimating *job)
{
	struct hd_estimate *estimate = job->estimate;

	waiting_find_causes(job->measured, estimate, job->source_waits, job->volume, job->cause);
	for (uint32_t link = 0; link < job->measured->link_count; link++)
		job->cause[link] =
		    fmax(job->cause[link], waiting_share(&job->measured->links[link]));
	for (uint32_t i = 0; i < estimate->cell_count; i++) {
		struct hd_estimate_cell *cell = &estimate->cells[i];
		double free = 1, waits = job->source_waits[cell->source];
		for (uint32_t hop = 0; hop <= cell->hops; hop++)
			free *= 1 - job->cause[waiting_next(estimate, cell, hop)];
		cell->bytes *= UNLIKELY + (waits > WAITING ? 1 - free : free * free);
	}
	add_up(job);
}

/* ---- rounds ---- */

static int fit_rounds(struct estimating *job, uint32_t last, uint32_t rounds, struct hd_error *err)
{
	const struct hd_estimate_request *request = job->request;
	struct hd_estimate *estimate = job->estimate;

	while (estimate->rounds < last) {
		double before = estimate->explained;
		if (request->progress &&
		    request->progress(request->progress_context, estimate->rounds, rounds))
			return hd_error_set(err, -ECANCELED, "stopped");
		scale(job);
		estimate->rounds++;
		estimate->explained = explained(job);
		if (fabs(estimate->explained - before) < SETTLED)
			break;
	}
	return 0;
}

/* ---- all of it ---- */

static int make_room(struct estimating *job)
{
	struct hd_estimate *estimate = job->estimate;
	size_t hosts = (size_t)job->fabric->host_count + 1;

	estimate->sources = calloc(hosts, sizeof(*estimate->sources));
	estimate->host_source = calloc(hosts, sizeof(*estimate->host_source));
	estimate->host_part = calloc(hosts, sizeof(*estimate->host_part));
	estimate->link_bytes =
	    calloc((size_t)job->measured->link_count + 1, sizeof(*estimate->link_bytes));
	job->log_ratio = hd_arena_alloc(&job->arena, job->measured->link_count, sizeof(double));
	job->log_source = hd_arena_alloc(&job->arena, hosts, sizeof(double));
	job->source_bytes = hd_arena_alloc(&job->arena, hosts, sizeof(double));
	job->source_waits = hd_arena_alloc(&job->arena, hosts, sizeof(double));
	job->volume = hd_arena_alloc(&job->arena, job->measured->link_count, sizeof(double));
	job->cause = hd_arena_alloc(&job->arena, job->measured->link_count, sizeof(double));
	job->isl_of_port = hd_arena_alloc(&job->arena, job->fabric->port_count, sizeof(uint32_t));
	return estimate->sources && estimate->host_source && estimate->host_part &&
		       estimate->link_bytes
		   ? hd_arena_check(&job->arena)
		   : -ENOMEM;
}

static int estimate(struct estimating *job, struct hd_error *err)
{
	const struct hd_fabric *fabric = job->fabric;

	if (make_room(job))
		return hd_error_no_memory(err);
	memset(job->isl_of_port, 0xFF, fabric->port_count * sizeof(uint32_t));
	for (uint32_t link = 0; link < fabric->isl_count; link++)
		job->isl_of_port[hd_port_index(fabric, hd_isl_from(fabric, link),
					       fabric->isl_port[link])] = link;
	find_sources(job);
	if (!job->estimate->source_count) {
		/* No host is known to have sent anything. */
		for (uint32_t host = 0; host < job->fabric->host_count; host++)
			if (job->measured->links[up_link(job->fabric, host)].bytes >= 0)
				return hd_error_set(err, -ENODATA,
						    "nothing was sent: the counters of bytes that "
						    "hosts have sent are 0");
		return hd_error_set(err, -ENODATA,
				    "the counters do not say what any host has sent: neither its "
				    "own nor those of its "
				    "switch have %s or %s",
				    hd_counter_name(HD_XMIT_DATA), hd_counter_name(HD_RCV_DATA));
	}
	int rc = find_cells(job, err);
	if (rc)
		return rc;
	struct hd_estimate *estimate = job->estimate;
	uint32_t rounds = job->request->rounds ? job->request->rounds : ROUNDS;
	uint32_t stages = waiting_possible(job->measured) ? STAGES : 1;
	add_up(job);
	estimate->explained_first = explained(job);
	waiting_of_sources(estimate, job->source_waits);
	favour_pairs(job);
	for (uint32_t stage = 1; !rc && stage <= stages; stage++) {
		if (stages > 1)
			favour_by_waiting(job);
		estimate->explained = explained(job);
		rc = fit_rounds(job, rounds * stage / stages, rounds, err);
	}
	return rc;
}

int hd_estimate_new(const struct hd_estimate_request *request, struct hd_estimate **out,
		    struct hd_error *err)
{
	struct estimating job = {
	    .request = request, .measured = request->measured, .fabric = request->measured->fabric};

	if (request->routes->switch_count != job.fabric->switch_count ||
	    request->routes->lid_count < job.fabric->lid_count)
		return hd_error_set(err, -EINVAL, "the tables are not of this fabric");
	job.estimate = calloc(1, sizeof(*job.estimate));
	if (!job.estimate)
		return hd_error_no_memory(err);
	job.estimate->measured = request->measured;
	int rc = estimate(&job, err);
	hd_arena_release(&job.arena);
	if (rc)
		hd_estimate_free(job.estimate);
	else
		*out = job.estimate;
	return rc;
}

void hd_estimate_free(struct hd_estimate *estimate)
{
	if (!estimate)
		return;
	free(estimate->sources);
	free(estimate->host_source);
	free(estimate->host_part);
	free(estimate->cells);
	free(estimate->links);
	free(estimate->link_bytes);
	free(estimate);
}
