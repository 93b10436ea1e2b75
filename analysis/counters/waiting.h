/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the counters of links say of waiting, and which links cause it. */
#ifndef ANALYSIS_WAITING_H
#define ANALYSIS_WAITING_H

#include <heddle/analysis/estimate.h>

/* How much of its time in use a port waits, 0 .. 1. Of a port that does not say it, at most what it does not send. */
double waiting_share(const struct hd_measured_link *row);

/* How far a link by itself may hold up what comes to it, 0 .. 1: a port that sends all the time does. One that waits
 * for room at its other end is held up itself, but behind the cable to a host there is nothing else to wait for. */
double waiting_cause(const struct hd_measured_link *row, bool to_host);

/* Whether any port has waited, or hosts that have sent do not say it. O(links). */
bool waiting_possible(const struct hd_measured *measured);

/* The link after hop number `hop` of an entry's path; the last one is the cable to the host. */
uint32_t waiting_next(const struct hd_estimate *estimate, const struct hd_estimate_cell *cell,
		      uint32_t hop);

/* The share of the bytes of each source that comes from hosts that wait: waits[source_count]. O(hosts). */
void waiting_of_sources(const struct hd_estimate *estimate, double *waits);

/*
 * How far each link holds up what comes to it, 0 .. 1: cause[link_count]. That is waiting_cause(), if those who send to
 * the link have to wait. A sender that sends all it can without waiting shows that the links of its
 * paths are free. waits[source_count] as above; volume[link_count] is overwritten. `estimate` NULL: only the links
 * themselves count, and the other two are not used. O(entries * hops).
 */
void waiting_find_causes(const struct hd_measured *measured, const struct hd_estimate *estimate,
			 const double *waits, double *volume, double *cause);

#endif
