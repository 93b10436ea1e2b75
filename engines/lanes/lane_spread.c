/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "lane_spread.h"

/* Counts the hosts that send on each lane's paths. */
static void count_flows(const struct lane_assignment *assignment,
			const struct lane_rounds_table *table,
			uint64_t flows[LANE_ASSIGNMENT_LANES])
{
	const uint32_t *host_base = assignment->fabric->host_base;

	memset(flows, 0, LANE_ASSIGNMENT_LANES * sizeof(*flows));
	for (uint32_t s = 0; s < assignment->source_count; s++) {
		uint32_t source = assignment->sources[s];
		for (uint32_t i = 0; i < assignment->destination_count; i++)
			if (source != assignment->destinations[i].sw)
				flows[*lane_assignment_lane(assignment, table->lane, source,
							    assignment->destinations[i].lid)] +=
				    host_base[source + 1] - host_base[source];
	}
}

/* Into how many lanes each lane is divided: the fullest ones get the lanes that are left. */
static void divide_lanes(const struct lane_rounds_table *table,
			 const uint64_t flows[LANE_ASSIGNMENT_LANES], unsigned available,
			 unsigned parts[LANE_ASSIGNMENT_LANES])
{
	for (unsigned lane = 0; lane < table->lanes; lane++)
		parts[lane] = 1;
	for (unsigned left = available - table->lanes; left; left--) {
		unsigned fullest = 0;
		for (unsigned lane = 1; lane < table->lanes; lane++)
			if (flows[lane] * parts[fullest] > flows[fullest] * parts[lane])
				fullest = lane;
		parts[fullest]++;
	}
}

void lane_spread(const struct lane_assignment *assignment, struct lane_rounds_table *table,
		 unsigned available)
{
	uint64_t flows[LANE_ASSIGNMENT_LANES];
	unsigned parts[LANE_ASSIGNMENT_LANES], base[LANE_ASSIGNMENT_LANES] = {0};

	count_flows(assignment, table, flows);
	divide_lanes(table, flows, available, parts);
	for (unsigned lane = 1; lane < table->lanes; lane++)
		base[lane] = base[lane - 1] + parts[lane - 1];
	for (uint32_t s = 0; s < assignment->source_count; s++) {
		uint32_t source = assignment->sources[s];
		for (uint32_t i = 0; i < assignment->destination_count; i++) {
			const struct lane_assignment_destination *destination =
			    &assignment->destinations[i];
			uint8_t *lane =
			    lane_assignment_lane(assignment, table->lane, source, destination->lid);
			if (source != destination->sw)
				*lane = (uint8_t)(base[*lane] + i % parts[*lane]);
		}
	}
	table->lanes = available;
}
