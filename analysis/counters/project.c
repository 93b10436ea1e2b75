/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Estimated traffic by other tables, and who uses a link. */
#include <heddle/analysis/estimate.h>

#include <errno.h>
#include <heddle/base/arena.h>
#include <stdlib.h>
#include <string.h>

struct projecting {
	const struct hd_estimate *estimate;
	const struct hd_fabric *fabric;
	const struct hd_routes *routes;
	const struct hd_spread *spread;
	struct hd_estimate_load *load;
	uint32_t only; /* link that must be crossed today; HD_NONE: any */
	uint32_t *isl_of_port; /* [port_count] HD_NONE: no link between switches */
	/* with `spread`: what is at each place, a switch and a table, and the places that have something */
	double *here, *there;
	uint32_t *wave, *next;
	struct hd_arena arena;
};

static bool make_isl_of_port(struct projecting *job)
{
	const struct hd_fabric *fabric = job->fabric;

	job->isl_of_port = hd_arena_alloc(&job->arena, fabric->port_count, sizeof(uint32_t));
	if (!job->isl_of_port)
		return false;
	memset(job->isl_of_port, 0xFF, fabric->port_count * sizeof(uint32_t));
	for (uint32_t link = 0; link < fabric->isl_count; link++)
		job->isl_of_port[hd_port_index(fabric, hd_isl_from(fabric, link),
					       fabric->isl_port[link])] = link;
	return true;
}

static uint32_t isl_at(const struct projecting *job, uint32_t sw, uint32_t port)
{
	return port <= hd_node_ports(job->fabric, sw)
		   ? job->isl_of_port[hd_port_index(job->fabric, sw, port)]
		   : HD_NONE;
}

static bool is_exit(const struct projecting *job, uint32_t sw, uint32_t port, uint32_t host)
{
	return sw == job->fabric->host_switch[host] && port == job->fabric->host_switch_port[host];
}

/* ---- by tables alone ---- */

/* Calls visit() for each link of the path; false: it does not arrive, and nothing was visited. */
static bool project_walk(const struct projecting *job, uint32_t sw, uint32_t host, uint32_t lid,
			 double bytes)
{
	double *loads = job->load->link_bytes;

	for (unsigned pass = 0; pass < 2; pass++) {
		uint32_t at = sw, link, hops = 0;
		uint8_t port;
		while (!is_exit(job, at, port = hd_routes_port(job->routes, at, lid), host)) {
			link = isl_at(job, at, port);
			if (link == HD_NONE || hops++ > job->fabric->switch_count)
				return false;
			if (pass)
				loads[link] += bytes;
			at = job->fabric->isl_to[link];
		}
	}
	return true;
}

/* ---- by groups ---- */

static void add_to(double *amounts, uint32_t *list, uint32_t *count, uint32_t place, double bytes)
{
	if (amounts[place] <= 0)
		list[(*count)++] = place;
	amounts[place] += bytes;
}

static uint32_t place_after(const struct projecting *job, uint32_t link)
{
	const struct hd_fabric *fabric = job->fabric;
	uint32_t sw = fabric->isl_to[link], port = fabric->isl_port[fabric->isl_reverse[link]];

	return sw * HD_SPREAD_TABLES + (job->spread->tables > 1 &&
					!hd_port_set_has(&job->spread->switches[sw].above, port));
}

/* The ports by which a place sends what it has for a LID; only those to switches count. */
static struct hd_port_set ports_of(const struct projecting *job, uint32_t place, uint32_t lid)
{
	uint32_t sw = place / HD_SPREAD_TABLES, table = place % HD_SPREAD_TABLES;
	const struct hd_spread_switch *spread = &job->spread->switches[sw];
	uint32_t group = spread->group[table] ? spread->group[table][lid] : HD_SPREAD_NO_GROUP;
	struct hd_port_set ports = {{0}};

	if (group != HD_SPREAD_NO_GROUP)
		return hd_port_set_count(&spread->groups[group].first) ? spread->groups[group].first
								       : spread->groups[group].all;
	uint8_t port =
	    spread->port[table] ? spread->port[table][lid] : hd_routes_port(job->routes, sw, lid);
	if (port != HD_NO_PORT)
		hd_port_set_add(&ports, port);
	return ports;
}

/* Sends on what is at the `count` places of the wave. */
static void spread_wave(struct projecting *job, uint32_t host, uint32_t lid, uint32_t count)
{
	uint32_t places = job->fabric->switch_count * HD_SPREAD_TABLES;

	for (uint32_t hop = 0; count && hop <= places; hop++) {
		uint32_t next_count = 0, *wave = job->wave;
		double *here = job->here;
		for (uint32_t i = 0; i < count; i++) {
			uint32_t place = wave[i];
			const struct hd_port_set ports = ports_of(job, place, lid);
			uint32_t sw = place / HD_SPREAD_TABLES, ways = 0;
			double bytes = job->here[place];
			bool arrives = false;
			job->here[place] = 0;
			HD_PORT_SET_FOREACH(port, &ports) {
				arrives |= is_exit(job, sw, port, host);
				ways += isl_at(job, sw, port) != HD_NONE;
			}
			if (arrives)
				continue;
			if (!ways)
				job->load->lost += bytes;
			HD_PORT_SET_FOREACH(port, &ports) {
				uint32_t link = isl_at(job, sw, port);
				if (link == HD_NONE)
					continue;
				job->load->link_bytes[link] += bytes / ways;
				add_to(job->there, job->next, &next_count, place_after(job, link),
				       bytes / ways);
			}
		}
		job->here = job->there;
		job->there = here;
		job->wave = job->next;
		job->next = wave;
		count = next_count;
	}
	for (uint32_t i = 0; i < count; i++) {
		job->load->lost += job->here[job->wave[i]];
		job->here[job->wave[i]] = 0;
	}
}

/* ---- all cells ---- */

/* The bytes of a cell for LID number `offset` of its host, which has `lids`. */
static double bytes_for(const struct projecting *job, const struct hd_estimate_cell *cell,
			uint32_t offset, uint32_t lids)
{
	const struct hd_fabric *measured = job->estimate->measured->fabric;

	if (job->only != HD_NONE && !hd_estimate_crosses(job->estimate, cell, job->only))
		return 0;

	if (hd_port_lid_count(measured, measured->host_port[cell->host]) != lids)
		return cell->bytes / lids;
	return cell->lid_offset == offset ? cell->bytes : 0;
}

/* The cells of a host, in a list that goes on at after[]. */
struct chains {
	uint32_t *first; /* [host_count] HD_NONE: none */
	uint32_t *after; /* [cell_count] */
};

static void project_host(struct projecting *job, const struct chains *chains, uint32_t host)
{
	const struct hd_fabric *fabric = job->fabric;
	const struct hd_estimate *estimate = job->estimate;
	uint32_t port = fabric->host_port[host], lids = hd_port_lid_count(fabric, port);

	for (uint32_t offset = 0; offset < lids; offset++) {
		uint32_t lid = fabric->lid[port] + offset, count = 0;
		for (uint32_t i = chains->first[host]; i != HD_NONE; i = chains->after[i]) {
			const struct hd_estimate_cell *cell = &estimate->cells[i];
			uint32_t sw = estimate->sources[cell->source].sw;
			double bytes = bytes_for(job, cell, offset, lids);
			if (bytes <= 0)
				continue;
			if (job->spread)
				add_to(job->here, job->wave, &count,
				       sw * HD_SPREAD_TABLES + (job->spread->tables > 1), bytes);
			else if (!project_walk(job, sw, host, lid, bytes))
				job->load->lost += bytes;
		}
		if (job->spread)
			spread_wave(job, host, lid, count);
	}
}

static int make_chains(struct projecting *job, struct chains *chains)
{
	const struct hd_estimate *estimate = job->estimate;
	size_t places = (size_t)job->fabric->switch_count * HD_SPREAD_TABLES;

	chains->first = hd_arena_alloc(&job->arena, job->fabric->host_count, sizeof(uint32_t));
	chains->after = hd_arena_alloc(&job->arena, estimate->cell_count, sizeof(uint32_t));
	job->here = hd_arena_alloc(&job->arena, places, sizeof(double));
	job->there = hd_arena_alloc(&job->arena, places, sizeof(double));
	job->wave = hd_arena_alloc(&job->arena, places, sizeof(uint32_t));
	job->next = hd_arena_alloc(&job->arena, places, sizeof(uint32_t));
	if (!make_isl_of_port(job) || hd_arena_check(&job->arena))
		return -ENOMEM;
	memset(chains->first, 0xFF, job->fabric->host_count * sizeof(uint32_t));
	for (uint32_t i = estimate->cell_count; i-- > 0;) {
		chains->after[i] = chains->first[estimate->cells[i].host];
		chains->first[estimate->cells[i].host] = i;
	}
	return 0;
}

/* Links of hosts carry the same whatever the tables. */
static void take_hosts(struct projecting *job)
{
	const struct hd_estimate *estimate = job->estimate;

	for (uint32_t link = job->fabric->isl_count; link < estimate->measured->link_count; link++)
		job->load->link_bytes[link] = estimate->link_bytes[link];
}

int hd_estimate_project(const struct hd_estimate *estimate,
			const struct hd_estimate_projection *projection,
			struct hd_estimate_load *out, struct hd_error *err)
{
	const struct hd_measured *measured = estimate->measured;
	const struct hd_fabric *fabric = projection->fabric;
	struct projecting job = {.estimate = estimate,
				 .fabric = fabric,
				 .routes = projection->routes,
				 .spread = projection->spread,
				 .only = projection->link,
				 .load = out};
	struct chains chains;

	*out = (struct hd_estimate_load){.link_bytes = NULL};
	if (fabric->isl_count != measured->fabric->isl_count ||
	    fabric->host_count != measured->fabric->host_count ||
	    fabric->switch_count != measured->fabric->switch_count)
		return hd_error_set(err, -EINVAL,
				    "the tables are of another fabric than the counters");
	out->link_bytes = calloc((size_t)measured->link_count + 1, sizeof(double));
	if (!out->link_bytes || make_chains(&job, &chains)) {
		hd_arena_release(&job.arena);
		return hd_error_no_memory(err);
	}
	for (uint32_t host = 0; host < fabric->host_count; host++)
		project_host(&job, &chains, host);
	if (job.only == HD_NONE)
		take_hosts(&job);
	hd_arena_release(&job.arena);
	return 0;
}

void hd_estimate_load_release(struct hd_estimate_load *load)
{
	free(load->link_bytes);
	load->link_bytes = NULL;
}
