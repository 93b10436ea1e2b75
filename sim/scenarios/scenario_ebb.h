/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The sections [ebb NAME]: patterns whose flows are counted on the links, without packets. */
#ifndef SIM_SCENARIO_EBB_H
#define SIM_SCENARIO_EBB_H

#include "scenario_point.h"

#include <heddle/analysis/congestion.h>
#include <heddle/sim/record.h>

extern const struct hd_option scenario_ebb_keys[];
extern const unsigned scenario_ebb_key_count;

struct scenario_ebb {
	const char *name;
	const struct hd_pattern_kind *kind;
	struct hd_options *options; /* of the kind */
	const char *hosts; /* path of a host file; NULL: all hosts */
	enum hd_mapping mapping;
	enum hd_lid_choice lids;
	bool fair;
	uint64_t count;
};

int scenario_ebb_read(const struct hd_scenario *scenario, const struct scenario_section *section,
		      struct hd_arena *arena, struct scenario_ebb *out, struct hd_error *err);
void scenario_ebb_release(struct scenario_ebb *ebb);

/* Counts, and adds the figures to the record. Errors: -ECANCELED, those
 * of hd_congestion_run(). */
int scenario_ebb_run(const struct scenario_ebb *ebb, const struct scenario_network *network,
		     uint64_t seed, const struct hd_go_on *go_on, struct hd_record *record,
		     struct hd_error *err);

#endif
