/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "waiting.h"

#include <math.h>
#include <string.h>

#define BUSY_POWER 4 /* a port that is busy for half of the time causes little waiting */
#define FREE_POWER                                                                                 \
	8 /* a port that waits itself for a tenth of its time causes less than half of it */

static double at_least_zero(double value)
{
	return value > 0 ? value : 0;
}

double waiting_share(const struct hd_measured_link *row)
{
	double share = at_least_zero(row->share);

	if (row->wait < 0)
		return share < 1 ? 1 - share : 0;
	return row->wait > 0 ? row->wait / (share + row->wait) : 0;
}

bool waiting_possible(const struct hd_measured *measured)
{
	const uint32_t first = measured->fabric->isl_count,
		       end = first + measured->fabric->host_count;

	for (uint32_t link = 0; link < measured->link_count; link++) {
		const struct hd_measured_link *row = &measured->links[link];
		if (row->wait > 0 ||
		    (link >= first && link < end && row->bytes > 0 && row->wait < 0))
			return true;
	}
	return false;
}

uint32_t waiting_next(const struct hd_estimate *estimate, const struct hd_estimate_cell *cell,
		      uint32_t hop)
{
	const struct hd_fabric *fabric = estimate->measured->fabric;

	return hop < cell->hops ? estimate->links[cell->path + hop]
				: fabric->isl_count + fabric->host_count + cell->host;
}

void waiting_of_sources(const struct hd_estimate *estimate, double *waits)
{
	const struct hd_measured *measured = estimate->measured;

	memset(waits, 0, estimate->source_count * sizeof(*waits));
	for (uint32_t host = 0; host < measured->fabric->host_count; host++)
		if (estimate->host_source[host] != HD_NONE)
			waits[estimate->host_source[host]] +=
			    estimate->host_part[host] *
			    waiting_share(&measured->links[measured->fabric->isl_count + host]);
}

double waiting_cause(const struct hd_measured_link *row, bool to_host)
{
	double share = at_least_zero(row->share), wait = at_least_zero(row->wait);
	double busy = to_host ? share + wait : share, cause = pow(busy < 1 ? busy : 1, BUSY_POWER);

	return wait > 0 && !to_host ? cause * pow(share / (share + wait), FREE_POWER) : cause;
}

void waiting_find_causes(const struct hd_measured *measured, const struct hd_estimate *estimate,
			 const double *waits, double *volume, double *cause)
{
	const uint32_t hosts = measured->fabric->isl_count + measured->fabric->host_count;

	memset(cause, 0, measured->link_count * sizeof(*cause));
	if (estimate && waiting_possible(measured)) {
		memset(volume, 0, measured->link_count * sizeof(*volume));
		/* The bytes that cross each link, and in `contended` those of senders that wait before it. */
		for (uint32_t i = 0; i < estimate->cell_count; i++) {
			const struct hd_estimate_cell *cell = &estimate->cells[i];
			double waiting = waits[cell->source];
			for (uint32_t hop = 0; hop <= cell->hops; hop++) {
				uint32_t link = waiting_next(estimate, cell, hop);
				volume[link] += cell->bytes;
				cause[link] += cell->bytes * waiting;
				waiting = waiting_share(&estimate->measured->links[link]);
			}
		}
		for (uint32_t link = 0; link < measured->link_count; link++)
			cause[link] = volume[link] > 0 ? cause[link] / volume[link] : 1;
	} else {
		for (uint32_t link = 0; link < measured->link_count; link++)
			cause[link] = 1;
	}
	for (uint32_t link = 0; link < measured->link_count; link++)
		cause[link] *= waiting_cause(&measured->links[link], link >= hosts);
}
