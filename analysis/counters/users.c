/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Who uses a link: by the tables, and by the estimate. */
#include <heddle/analysis/estimate.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct link_use {
	const struct hd_estimate *estimate;
	const struct hd_fabric *fabric;
	const struct hd_routes *routes;
	const struct hd_allocation *allocation;
	uint32_t link, room;
	struct hd_estimate_users *users;
};

/* ---- by the tables ---- */

/* Whether packets from a switch to a LID of a host cross the link, and arrive. */
static bool crosses(const struct link_use *job, uint32_t sw, uint32_t host, uint32_t lid)
{
	const struct hd_fabric *fabric = job->fabric;
	bool seen = job->link == fabric->isl_count + fabric->host_count + host;

	for (uint32_t hop = 0; hop <= fabric->switch_count; hop++) {
		uint8_t port = hd_routes_port(job->routes, sw, lid);
		if (sw == fabric->host_switch[host] && port == fabric->host_switch_port[host])
			return seen;
		uint32_t link = port == HD_NO_PORT ? HD_NONE : hd_fabric_find_isl(fabric, sw, port);
		if (link == HD_NONE)
			return false;
		seen |= link == job->link;
		sw = fabric->isl_to[link];
	}
	return false;
}

static void count_routes(struct link_use *job, bool *uses_as_source)
{
	const struct hd_fabric *fabric = job->fabric;

	for (uint32_t host = 0; host < fabric->host_count; host++) {
		uint32_t port = fabric->host_port[host], lids = hd_port_lid_count(fabric, port);
		bool used = false;
		for (uint32_t offset = 0; offset < lids; offset++)
			for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
				uint32_t hosts = fabric->host_base[sw + 1] - fabric->host_base[sw];
				hosts -= sw == fabric->host_switch[host];
				if (!hosts || !crosses(job, sw, host, fabric->lid[port] + offset))
					continue;
				uses_as_source[sw] = used = true;
				job->users->routes += hosts;
			}
		job->users->destinations += used;
	}
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		if (uses_as_source[sw])
			job->users->sources += fabric->host_base[sw + 1] - fabric->host_base[sw];
}

/* A host's own cable carries its routes to all others. */
static void count_own_routes(struct link_use *job)
{
	const struct hd_fabric *fabric = job->fabric;
	uint32_t own = job->link - fabric->isl_count;

	job->users->sources = 1;
	for (uint32_t host = 0; host < fabric->host_count; host++) {
		if (host == own)
			continue;
		job->users->destinations++;
		job->users->routes += hd_port_lid_count(fabric, fabric->host_port[host]);
	}
}

/* ---- by the estimate ---- */

bool hd_estimate_crosses(const struct hd_estimate *estimate, const struct hd_estimate_cell *cell,
			 uint32_t link)
{
	const struct hd_fabric *fabric = estimate->measured->fabric;

	for (uint32_t hop = 0; hop < cell->hops; hop++)
		if (estimate->links[cell->path + hop] == link)
			return true;
	return link == fabric->isl_count + fabric->host_count + cell->host;
}

/* The part of a cell that one host of its source sends; hosts do not send to themselves. */
static double part_of(const struct link_use *job, const struct hd_estimate_cell *cell,
		      uint32_t host)
{
	const struct hd_estimate *estimate = job->estimate;
	double whole = 1;

	if (estimate->host_source[host] != cell->source || host == cell->host)
		return 0;
	if (estimate->host_source[cell->host] == cell->source)
		whole -= estimate->host_part[cell->host];
	return whole > 0 ? estimate->host_part[host] / whole : 0;
}

static void add_cell(struct link_use *job, const struct hd_estimate_cell *cell)
{
	const struct hd_fabric *fabric = job->fabric;
	const struct hd_estimate_source *source = &job->estimate->sources[cell->source];
	uint32_t own = job->link - fabric->isl_count;
	bool from_host = job->link >= fabric->isl_count && own < fabric->host_count;

	if (!from_host && !hd_estimate_crosses(job->estimate, cell, job->link))
		return;
	for (uint32_t host = fabric->host_base[source->sw];
	     host < fabric->host_base[source->sw + 1]; host++) {
		double bytes =
		    from_host && host != own ? 0 : cell->bytes * part_of(job, cell, host);
		if (bytes <= 0)
			continue;
		job->users->bytes += bytes;
		if (job->allocation) {
			uint32_t count = job->allocation->job_count;
			job->users->job_bytes[source->job < count ? source->job : count] += bytes;
		}
		struct hd_estimate_flow flow = (struct hd_estimate_flow){host, cell->host, bytes};
		struct hd_estimate_users *users = job->users;
		uint32_t at = users->flow_count;
		while (at > 0 && users->flows[at - 1].bytes < flow.bytes)
			at--;
		if (at >= job->room)
			continue;
		users->flow_count += users->flow_count < job->room;
		memmove(&users->flows[at + 1], &users->flows[at],
			(users->flow_count - 1 - at) * sizeof(flow));
		users->flows[at] = flow;
	}
}

int hd_estimate_find_users(const struct hd_estimate *estimate, const struct hd_routes *routes,
			   const struct hd_allocation *allocation, uint32_t link, uint32_t flows,
			   struct hd_estimate_users *users, struct hd_error *err)
{
	const struct hd_fabric *fabric = estimate->measured->fabric;
	struct link_use job = {estimate, fabric, routes, allocation, link, flows, users};
	bool *uses_as_source = calloc((size_t)fabric->switch_count + 1, sizeof(*uses_as_source));

	*users =
	    (struct hd_estimate_users){.flows = calloc((size_t)flows + 1, sizeof(*users->flows))};
	if (allocation)
		users->job_bytes = calloc((size_t)allocation->job_count + 1, sizeof(double));
	if (!uses_as_source || !users->flows || (allocation && !users->job_bytes)) {
		free(uses_as_source);
		hd_estimate_users_release(users);
		return hd_error_no_memory(err);
	}
	if (link >= fabric->isl_count && link < fabric->isl_count + fabric->host_count)
		count_own_routes(&job);
	else
		count_routes(&job, uses_as_source);
	free(uses_as_source);
	for (uint32_t i = 0; i < estimate->cell_count; i++)
		add_cell(&job, &estimate->cells[i]);
	return 0;
}

void hd_estimate_users_release(struct hd_estimate_users *users)
{
	free(users->flows);
	free(users->job_bytes);
	*users = (struct hd_estimate_users){.flows = NULL};
}
