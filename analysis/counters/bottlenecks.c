/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which links other ports wait for. */
#include "waiting.h"

#include <heddle/analysis/estimate.h>

#include <errno.h>
#include <heddle/base/arena.h>
#include <math.h>
#include <string.h>

#define SLOW_HOST 0.1 /* share of the time in which a port to a host has to wait */

struct blaming {
	const struct hd_measured *measured;
	const struct hd_estimate *estimate;
	const struct hd_fabric *fabric;
	double *volume; /* [link_count] */
	double *cause; /* [link_count] 0 .. 1: how far a link holds up what comes to it */
	double *blame; /* [link_count] */
	/* [source_count] of each source: the share of its bytes that comes from hosts that wait, for how long all of its
	 * hosts have waited, and the sum of the weights of its entries */
	double *source_waits, *host_wait, *divisor;
	bool waits; /* some port may have waited */
	struct hd_arena arena;
};

static double at_least_zero(double value)
{
	return value > 0 ? value : 0;
}

static bool to_host(const struct blaming *job, uint32_t link)
{
	return link >= job->fabric->isl_count + job->fabric->host_count;
}

/* Of hosts that do not say how long they have waited, it may be all the time in which they did not send. */
static void find_waiting_hosts(struct blaming *job)
{
	const struct hd_estimate *estimate = job->estimate;

	for (uint32_t host = 0; host < job->fabric->host_count; host++) {
		const struct hd_measured_link *up =
		    &job->measured->links[job->fabric->isl_count + host];
		if (estimate->host_source[host] != HD_NONE)
			job->host_wait[estimate->host_source[host]] +=
			    up->wait < 0 ? waiting_share(up) : up->wait;
	}
}

/* How far what an entry sends is held up: each link takes a part of what those before it have left. With `blame` > 0,
 * each link gets its part of that. */
static double hold_up(struct blaming *job, const struct hd_estimate_cell *cell, double blame)
{
	double left = 1;

	for (uint32_t hop = 0; hop <= cell->hops; hop++) {
		uint32_t link = waiting_next(job->estimate, cell, hop);
		if (blame > 0)
			job->blame[link] += blame * left * job->cause[link];
		left *= 1 - job->cause[link];
	}
	return 1 - left;
}

/* The waiting of a host is due to what its packets meet: at the first pass, adds up the weights of its entries; at the
 * second one, shares it out. */
static void blame_by_estimate(struct blaming *job)
{
	const struct hd_estimate *estimate = job->estimate;

	find_waiting_hosts(job);
	for (uint32_t i = 0; i < estimate->cell_count; i++) {
		const struct hd_estimate_cell *cell = &estimate->cells[i];
		job->divisor[cell->source] += cell->bytes * hold_up(job, cell, 0);
	}
	for (uint32_t i = 0; i < estimate->cell_count; i++) {
		const struct hd_estimate_cell *cell = &estimate->cells[i];
		if (job->divisor[cell->source] > 0)
			hold_up(job, cell,
				job->host_wait[cell->source] * cell->bytes /
				    job->divisor[cell->source]);
	}
}

/* The links that leave a switch, in a row: first those to switches, then those to hosts. */
static uint32_t leaving(const struct hd_fabric *fabric, uint32_t sw, uint32_t index)
{
	uint32_t isls = fabric->isl_base[sw + 1] - fabric->isl_base[sw];

	if (index < isls)
		return fabric->isl_base[sw] + index;
	index -= isls;
	return index < fabric->host_base[sw + 1] - fabric->host_base[sw]
		   ? fabric->isl_count + fabric->host_count + fabric->host_base[sw] + index
		   : HD_NONE;
}

/* Without any counter of waiting, links go by their load. */
static double score_of(const struct blaming *job, uint32_t link, bool *slow_host)
{
	const struct hd_measured_link *row = &job->measured->links[link];

	*slow_host = to_host(job, link) && row->wait > SLOW_HOST;
	return job->waits ? job->blame[link] * waiting_cause(row, to_host(job, link))
			  : at_least_zero(row->share);
}

static uint32_t insert(struct hd_bottleneck *list, uint32_t count, uint32_t room,
		       struct hd_bottleneck row)
{
	uint32_t at = count;

	while (at > 0 && list[at - 1].score < row.score)
		at--;
	if (at >= room)
		return count;
	count += count < room;
	memmove(&list[at + 1], &list[at], (count - 1 - at) * sizeof(*list));
	list[at] = row;
	return count;
}

int hd_bottlenecks_find(const struct hd_measured *measured, const struct hd_estimate *estimate,
			struct hd_bottleneck *list, uint32_t room)
{
	struct blaming job = {
	    .measured = measured, .estimate = estimate, .fabric = measured->fabric};
	size_t links = measured->link_count, sources = estimate ? estimate->source_count : 0;
	uint32_t count = 0;

	job.cause = hd_arena_alloc(&job.arena, links, sizeof(double));
	job.volume = hd_arena_alloc(&job.arena, links, sizeof(double));
	job.source_waits = hd_arena_alloc(&job.arena, sources, sizeof(double));
	job.blame = hd_arena_alloc(&job.arena, links, sizeof(double));
	job.host_wait = hd_arena_alloc(&job.arena, sources, sizeof(double));
	job.divisor = hd_arena_alloc(&job.arena, sources, sizeof(double));
	if (hd_arena_check(&job.arena)) {
		hd_arena_release(&job.arena);
		return -ENOMEM;
	}
	job.waits = waiting_possible(measured);
	if (estimate)
		waiting_of_sources(estimate, job.source_waits);
	waiting_find_causes(measured, estimate, job.source_waits, job.volume, job.cause);
	if (estimate)
		blame_by_estimate(&job);
	else
		for (uint32_t sw = 0; sw < job.fabric->switch_count; sw++) {
			const struct hd_fabric *fabric = job.fabric;
			double wait = 0, sum = 0;

			for (uint32_t host = fabric->host_base[sw];
			     host < fabric->host_base[sw + 1]; host++)
				wait += at_least_zero(
				    job.measured->links[fabric->isl_count + host].wait);
			for (uint32_t link = fabric->isl_base[sw]; link < fabric->isl_base[sw + 1];
			     link++)
				wait += at_least_zero(
				    job.measured->links[fabric->isl_reverse[link]].wait);
			for (uint32_t i = 0, link; (link = leaving(fabric, sw, i)) != HD_NONE; i++)
				sum += job.cause[link];
			for (uint32_t i = 0, link;
			     sum > 0 && (link = leaving(fabric, sw, i)) != HD_NONE; i++)
				job.blame[link] += wait * job.cause[link] / sum;
		}
	for (uint32_t link = 0; link < links; link++) {
		struct hd_bottleneck row = {.link = link};
		row.score = score_of(&job, link, &row.slow_host);
		row.hosts = job.waits ? row.score : 0;
		if (row.score > 0)
			count = insert(list, count, room, row);
	}
	hd_arena_release(&job.arena);
	return (int)count;
}
