/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "lane_spread.h"

/* Adds up the hosts behind each lane's routes. */
static void count_flows(const struct placing *placing, const struct lane_table *table,
			uint64_t flows[PLACING_LANES])
{
	const uint32_t *host_base = placing->fabric->host_base;
	memset(flows, 0, PLACING_LANES * sizeof(*flows));
	for (uint32_t s = 0; s < placing->source_count; s++) {
		uint32_t source = placing->sources[s];
		for (uint32_t i = 0; i < placing->end_count; i++)
			if (source != placing->ends[i].exit)
				flows[*placing_lane(placing, table->lane, source,
						    placing->ends[i].lid)] +=
				    host_base[source + 1] - host_base[source];
	}
}

/* How many lanes each needed one is divided into: the fullest get the others. */
static void divide_lanes(const struct lane_table *table, const uint64_t flows[PLACING_LANES],
			 unsigned available, unsigned parts[PLACING_LANES])
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

void lane_spread(const struct placing *placing, struct lane_table *table, unsigned available)
{
	uint64_t flows[PLACING_LANES];
	unsigned parts[PLACING_LANES], base[PLACING_LANES] = {0};
	count_flows(placing, table, flows);
	divide_lanes(table, flows, available, parts);
	for (unsigned lane = 1; lane < table->lanes; lane++)
		base[lane] = base[lane - 1] + parts[lane - 1];
	for (uint32_t s = 0; s < placing->source_count; s++) {
		uint32_t source = placing->sources[s];
		for (uint32_t i = 0; i < placing->end_count; i++) {
			const struct placing_end *end = &placing->ends[i];
			uint8_t *lane = placing_lane(placing, table->lane, source, end->lid);
			if (source != end->exit)
				*lane = (uint8_t)(base[*lane] + i % parts[*lane]);
		}
	}
	table->lanes = available;
}
