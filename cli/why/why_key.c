/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a routing key would do for the traffic: routes of their own for the largest flows of the estimate. */
#include "need.h"
#include "why.h"

#include <errno.h>
#include <heddle/base/grow.h>
#include <heddle/keyd/key.h>
#include <math.h>
#include <stdlib.h>

#define OFFSETS 8u /* that a key may use */
#define COVERED 0.5 /* of the bytes between switches that the flows of a key must have */

/* A flow from one host to a host of another leaf switch, and the entry of the estimate that it is a part of. */
struct flow {
	uint32_t source, cell;
	double bytes;
};

struct keying {
	const struct why_view *view;
	struct flow *flows;
	uint32_t count, room;
	struct hd_key_flow *wanted;
	struct hd_key_tree *tree;
	struct hd_key *key;
};

/* Adds the largest flow of each source host: a host that sends to many at a time has no key. */
static void add_host(struct keying *job, uint32_t host, uint32_t first, uint32_t end)
{
	const struct hd_estimate *estimate = job->view->estimate;
	struct flow best = {host, HD_NONE, 0};

	for (uint32_t i = first; i < end; i++) {
		const struct hd_estimate_cell *cell = &estimate->cells[i];
		double bytes = cell->hops ? cell->bytes * estimate->host_part[host] : 0;
		if (bytes > best.bytes)
			best = (struct flow){host, i, bytes};
	}
	if (best.cell == HD_NONE)
		return;
	job->flows = need(hd_grow(job->flows, job->count, 1, &job->room, sizeof(*job->flows)));
	job->flows[job->count++] = best;
}

static int list_flows(struct keying *job, struct hd_error *err)
{
	const struct hd_estimate *estimate = job->view->estimate;
	const struct hd_fabric *fabric = job->view->fabric;
	double sum = 0, covered = 0;
	uint32_t first = 0, end = 0;

	for (uint32_t source = 0; source < estimate->source_count; source++, first = end) {
		const uint32_t sw = estimate->sources[source].sw;
		while (end < estimate->cell_count && estimate->cells[end].source == source) {
			sum += estimate->cells[end].hops ? estimate->cells[end].bytes : 0;
			end++;
		}
		for (uint32_t host = fabric->host_base[sw]; host < fabric->host_base[sw + 1];
		     host++)
			if (estimate->host_source[host] == source)
				add_host(job, host, first, end);
	}
	for (uint32_t i = 0; i < job->count; i++)
		covered += job->flows[i].bytes;
	if (!job->count || covered < COVERED * sum)
		return hd_error_set(err, -ENOTSUP,
				    "the largest flow of each host has %.0f%% of the bytes between "
				    "switches; a key is for "
				    "hosts that send to one other at a time",
				    sum > 0 ? 100 * covered / sum : 0);
	return 0;
}

static int make_key(struct keying *job, unsigned threads, struct hd_error *err)
{
	int rc = hd_key_tree_new(job->view->fabric, &job->tree, err);

	if (rc)
		return rc;
	job->wanted = need(calloc(job->count, sizeof(*job->wanted)));
	for (uint32_t i = 0; i < job->count; i++)
		job->wanted[i] = (struct hd_key_flow){
		    job->flows[i].source, job->view->estimate->cells[job->flows[i].cell].host};
	const struct hd_key_request request = {.tree = job->tree,
					       .flows = job->wanted,
					       .flow_count = job->count,
					       .offsets = OFFSETS,
					       .best_effort = true,
					       .leave_out = true,
					       .threads = threads};
	return hd_key_make_fewest(&request, &job->key, err);
}

static void add(double *link_bytes, const uint32_t *links, uint32_t count, double bytes)
{
	for (uint32_t i = 0; link_bytes && i < count; i++)
		link_bytes[links[i]] = fmax(link_bytes[links[i]] + bytes, 0);
}

int why_key_loads(const struct why_view *view, unsigned threads, struct why_loads *loads,
		  struct hd_error *err)
{
	struct keying job = {.view = view};
	int rc = list_flows(&job, err);

	if (!rc)
		rc = make_key(&job, threads, err);
	for (uint32_t i = 0; !rc && i < job.count; i++) {
		const struct hd_estimate *estimate = job.view->estimate;
		const struct flow *flow = &job.flows[i];
		const struct hd_estimate_cell *cell = &estimate->cells[flow->cell];
		const struct hd_key_route *route = &job.key->routes[i];
		bool hot =
		    loads->hot && hd_estimate_crosses(estimate, cell, why_hot_link(job.view));
		uint32_t links[2 * HD_KEY_LEVELS];
		if (!route->left_out) {
			uint32_t count = hd_key_path(job.tree, route, NULL, links);
			add(loads->all, estimate->links + cell->path, cell->hops, -flow->bytes);
			add(loads->all, links, count, flow->bytes);
			add(hot ? loads->hot : NULL, estimate->links + cell->path, cell->hops,
			    -flow->bytes);
			add(hot ? loads->hot : NULL, links, count, flow->bytes);
		}
	}
	hd_key_free(job.key);
	hd_key_tree_free(job.tree);
	free(job.wanted);
	free(job.flows);
	return rc;
}
