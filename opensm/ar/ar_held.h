/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the switches may hold. As long as all answer, that is the last plan that was programmed. A
 * switch that does not answer may hold what it had before, what it was to get, or a part of both.
 * Proofs take it for such, until it says that its AR is off.
 */
#ifndef OPENSM_AR_HELD_H
#define OPENSM_AR_HELD_H

#include <heddle/ar_manager/plan.h>
#include <heddle/ar_manager/program.h>

struct ar_held {
	struct hd_ar_plan *plan; /* NULL: no switch has AR on, as far as is known */
	bool *stuck; /* [switches of the plan] they do not answer */
	uint32_t stuck_count;
};

/*
 * After an operation of the program, whose switches are those of the fabric. `plan` is what the
 * switches were to get; NULL: AR was to be off. Errors: -ENOMEM, nothing has changed.
 */
int ar_held_update(struct ar_held *held, const struct hd_ar_plan *plan,
		   const struct hd_ar_program *program, const struct hd_fabric *fabric);

/* Whether the switch has said that its AR is off, or the administrator wants it to be left alone. */
bool ar_held_is_off(const struct hd_ar_switch_report *report);

/* Whether the switch may have AR on and is not in the plan: nobody knows by which tables it sends. */
bool ar_held_is_unknown(const struct ar_held *held, const struct hd_ar_switch_report *report);

/* All switches hold the plan, which is held from then on; none is stuck. */
void ar_held_take(struct ar_held *held, struct hd_ar_plan *plan);

/* The same for the switches of another fabric: stuck[switch_count]. */
void ar_held_stuck(const struct ar_held *held, const struct hd_fabric *fabric, bool *stuck);

bool ar_held_is_stuck(const struct ar_held *held, uint64_t guid);

void ar_held_release(struct ar_held *held);

#endif
