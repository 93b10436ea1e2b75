/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Each fact has a function that counts what agrees and what does not, and says what was seen. */
#ifndef AR_MANAGER_PROBE_FACTS_H
#define AR_MANAGER_PROBE_FACTS_H

#include <heddle/ar_manager/probe.h>
#include <heddle/base/error.h>

/* Counts an observation. */
void probe_note(struct hd_ar_fact *fact, const struct hd_ar_probe *probe,
		const struct hd_ar_probe_switch *sw, bool agrees);

/* Sets the evidence. */
void probe_say(struct hd_ar_fact *fact, const char *format, ...) HD_PRINTF(2, 3);

/* AdaptiveRoutingInfo of a switch; false: it did not answer. */
bool probe_info(const struct hd_ar_probe_switch *sw, struct hd_ar_info *info);

typedef void probe_judge_fn(const struct hd_ar_probe *probe, struct hd_ar_fact *fact);

/* Records. */
probe_judge_fn probe_judge_mask, probe_judge_info, probe_judge_active, probe_judge_table_shift,
    probe_judge_pfrn, probe_judge_neighbours;
/* Tables. */
probe_judge_fn probe_judge_ports, probe_judge_order, probe_judge_static, probe_judge_old_block,
    probe_judge_unreachable, probe_judge_dump;

#endif
