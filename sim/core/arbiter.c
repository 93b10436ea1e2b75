/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sim_switches.h"

enum { HIGH, LOW, BOTH };

#define NO_LIMIT 255u
#define LIMIT_UNIT 4096u
#define WEIGHT_UNIT 64u

static uint32_t count_of(const struct hd_sim *sim, uint32_t table)
{
	const struct hd_sim_arbitration *tables = &sim->settings.arbitration;

	return (table == LOW ? 0 : tables->high_count) + (table == HIGH ? 0 : tables->low_count);
}

static const struct hd_sim_arbitration_entry *entry_of(const struct hd_sim *sim, uint32_t table,
						       uint32_t number)
{
	const struct hd_sim_arbitration *tables = &sim->settings.arbitration;

	if (table == LOW)
		return &tables->low[number];
	return number < tables->high_count ? &tables->high[number]
					   : &tables->low[number - tables->high_count];
}

void arbiter_reset(const struct hd_sim *sim, struct sim_arbiter *arbiter)
{
	*arbiter = (struct sim_arbiter){0};
	for (uint32_t table = HIGH; table <= BOTH; table++)
		arbiter->weight[table] = count_of(sim, table) ? entry_of(sim, table, 0)->weight : 0;
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
	uint32_t count = count_of(sim, table);

	/* the present entry, all others, and the present one with its weight renewed */
	for (uint32_t i = 0; i <= count && count; i++) {
		uint8_t *entry = &arbiter->entry[table];
		uint8_t lane = entry_of(sim, table, *entry)->lane;
		if (arbiter->weight[table] > 0 && able >> lane & 1)
			return lane;
		*entry = (uint8_t)((*entry + 1u) % count);
		arbiter->weight[table] = entry_of(sim, table, *entry)->weight;
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

/* The lane by both tables, and the table that it is from; HD_NONE: none of them has it. */
static uint32_t by_priority(const struct hd_sim *sim, struct sim_arbiter *arbiter, uint32_t able,
			    uint32_t *table)
{
	uint32_t lane = HD_NONE;

	*table = HIGH;
	if (!high_exhausted(sim, arbiter))
		lane = from_table(sim, arbiter, HIGH, able);
	if (lane == HD_NONE) {
		*table = LOW;
		lane = from_table(sim, arbiter, LOW, able);
	}
	if (lane == HD_NONE) {
		*table = HIGH;
		arbiter->high_bytes = 0;
		lane = from_table(sim, arbiter, HIGH, able);
	}
	return lane;
}

uint32_t arbiter_choose(struct hd_sim *sim, uint32_t port, uint32_t able,
			const struct arbiter_offer *offers)
{
	bool one = sim->settings.arbitration.hosts_alone && sim->ports[port].kind != SIM_HOST;
	uint32_t management = sim->lanes - 1, lane, table = BOTH;
	struct sim_arbiter *arbiter;

	if (able >> management & 1)
		return management;
	if (!sim->arbiters)
		return in_turn(able, sim->ports[port].last_lane);
	arbiter = &sim->arbiters[port];
	lane = one ? from_table(sim, arbiter, BOTH, able) : by_priority(sim, arbiter, able, &table);
	if (lane == HD_NONE)
		return in_turn(able, sim->ports[port].last_lane);
	charge(arbiter, table, offers[lane].bytes);
	return lane;
}
