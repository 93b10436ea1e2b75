/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Congestion, slow and obvious: one path at a time, port by port, and counts in a hash map of
 * cables by the port that sends. */
#ifndef ORACLE_CONGESTION_H
#define ORACLE_CONGESTION_H

#include <heddle/analysis/pattern.h>
#include <heddle/fabric/routes.h>

#define ORACLE_CONGESTION_HOPS 512

struct oracle_congestion_cell {
	uint32_t port; /* + 1; 0: free */
	uint32_t count;
};

struct oracle_congestion {
	const struct hd_fabric *fabric;
	const struct hd_routes *routes;
	struct oracle_congestion_cell *cells;
	uint32_t mask;
};

void oracle_congestion_begin(struct oracle_congestion *oracle, const struct hd_fabric *fabric,
			     const struct hd_routes *routes);
void oracle_congestion_end(struct oracle_congestion *oracle);

/* Ports that send on the path of a flow: ports[ORACLE_CONGESTION_HOPS]. Returns their number, or -1
 * when the path does not arrive. Needs no begin(). */
int oracle_congestion_path(const struct oracle_congestion *oracle, struct hd_flow flow,
			   uint32_t offset, uint32_t *ports);

/* The counts. Ports are those that send. */
struct oracle_congestion_sums {
	uint64_t *histogram; /* paths by congestion */
	uint64_t *link_flows, *link_worst; /* [port_count] */
	uint32_t largest; /* congestion in the last round */
	double mean; /* congestion in the last round; 0 without paths */
};

/* Counts a round. offset[count]: LID offsets, NULL: 0. Returns the number of paths that arrive. */
uint32_t oracle_congestion_round(struct oracle_congestion *oracle, const struct hd_flow *flows,
				 const uint32_t *offset, uint32_t count,
				 struct oracle_congestion_sums *sums);

#endif
