/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The sections [fabric] and [subnet NAME]: a fabric from a file or a generator. */
#ifndef SIM_SCENARIO_FABRIC_H
#define SIM_SCENARIO_FABRIC_H

#include "scenario_text.h"

#include <heddle/fabric/graph.h>

extern const struct hd_option scenario_fabric_keys[], scenario_subnet_keys[];
extern const unsigned scenario_fabric_key_count, scenario_subnet_key_count;

struct scenario_fabric {
	struct hd_fabric *fabric; /* with LIDs */
	uint64_t prefix; /* [subnet] only */
	const char *tables; /* [subnet] only: path, or NULL */
};

/* What belongs to `out` is freed by the caller, texts belong to `arena`. Errors: with the place;
 * those of the tables, readers and generators. */
int scenario_fabric_read(const struct hd_scenario *scenario, const struct scenario_section *section,
			 const struct hd_log *log, struct hd_arena *arena,
			 struct scenario_fabric *out, struct hd_error *err);

#endif
