/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sim_switches.h"

enum { HIGH, LOW };

#define NO_LIMIT 255u
#define LIMIT_UNIT 4096u
#define WEIGHT_UNIT 64u

static const struct hd_sim_arbitration_entry *table_of(const struct hd_sim *sim, uint32_t table,
						       uint32_t *count)
{
	const struct hd_sim_arbitration *tables = &sim->settings.arbitration;

	*count = table == HIGH ? tables->high_count : tables->low_count;
	return table == HIGH ? tables->high : tables->low;
}

void arbiter_reset(const struct hd_sim *sim, struct sim_arbiter *arbiter)
{
	*arbiter = (struct sim_arbiter){0};
	for (uint32_t table = HIGH; table <= LOW; table++) {
		uint32_t count;
		const struct hd_sim_arbitration_entry *entries = table_of(sim, table, &count);
		arbiter->weight[table] = count ? entries[0].weight : 0;
	}
}

/* The lanes take turns. */
static uint32_t in_turn(uint32_t able, uint32_t last)
{
	uint32_t later = able & ~((2u << last) - 1);

	return (uint32_t)__builtin_ctz(later ? later : able);
}

/* The lane that a table gives; HD_NONE: it has no entry for any of them. */
static uint32_t from_table(const struct hd_sim *sim, struct sim_arbiter *arbiter, uint32_t table,
			   uint32_t able)
{
	uint32_t count;
	const struct hd_sim_arbitration_entry *entries = table_of(sim, table, &count);

	/* the present entry, all others, and the present one with its weight renewed */
	for (uint32_t i = 0; i <= count && count; i++) {
		uint8_t *entry = &arbiter->entry[table];
		if (arbiter->weight[table] > 0 && able >> entries[*entry].lane & 1)
			return entries[*entry].lane;
		*entry = (uint8_t)((*entry + 1u) % count);
		arbiter->weight[table] = entries[*entry].weight;
	}
	return HD_NONE;
}

static bool high_exhausted(const struct hd_sim *sim, const struct sim_arbiter *arbiter)
{
	uint32_t limit = sim->settings.arbitration.high_limit;

	return limit != NO_LIMIT && arbiter->high_bytes &&
	       arbiter->high_bytes >= (uint64_t)limit * LIMIT_UNIT;
}

static void charge(struct sim_arbiter *arbiter, uint32_t table, uint32_t bytes)
{
	arbiter->weight[table] -= (int32_t)((bytes + WEIGHT_UNIT - 1) / WEIGHT_UNIT);
	arbiter->high_bytes = table == HIGH ? arbiter->high_bytes + bytes : 0;
}

uint32_t arbiter_choose(struct hd_sim *sim, uint32_t port, uint32_t able,
			const struct arbiter_offer *offers)
{
	uint32_t management = sim->lanes - 1, lane = HD_NONE, table = HIGH;
	struct sim_arbiter *arbiter;

	if (able >> management & 1 && !sim->ports[port].inside)
		return management;
	if (!sim->arbiters || sim->ports[port].inside)
		return in_turn(able, sim->ports[port].last_lane);
	arbiter = &sim->arbiters[port];
	if (!high_exhausted(sim, arbiter))
		lane = from_table(sim, arbiter, HIGH, able);
	if (lane == HD_NONE) {
		table = LOW;
		lane = from_table(sim, arbiter, LOW, able);
	}
	if (lane == HD_NONE) {
		table = HIGH;
		arbiter->high_bytes = 0;
		lane = from_table(sim, arbiter, HIGH, able);
	}
	if (lane == HD_NONE)
		return in_turn(able, sim->ports[port].last_lane);
	charge(arbiter, table, offers[lane].bytes);
	return lane;
}
