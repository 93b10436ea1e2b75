/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "probe_facts.h"
#include <heddle/ar_manager/probe.h>

#include <string.h>

/* judge NULL: only traffic or a Set shows it; `site` says what decides it there. */
static const struct {
	const char *name, *option, *assumed;
	probe_judge_fn *judge;
	const char *site;
} known[] = {
    {"capability-mask", NULL, "capability N of GeneralInfo is bit N % 32 of word N / 32",
     probe_judge_mask, NULL},
    {"ar-info", NULL, "the fields of AdaptiveRoutingInfo are where Heddle reads them",
     probe_judge_info, NULL},
    {"active-sub-groups", "active_sub_groups", "sub_grps_active holds the number of sub-groups",
     probe_judge_active, NULL},
    {"group-ports", NULL, "port p is bit p % 8 of byte 31 - p / 8 of a set of ports",
     probe_judge_ports, NULL},
    {"element-order", "element_order",
     "the sub-groups of one group are side by side in ARGroupTable", probe_judge_order, NULL},
    {"table-shift", "table_shift",
     "the group table is at the bits 16 to 19 of the modifier of ARGroupTable",
     probe_judge_table_shift, NULL},
    {"static-port", NULL, "the static port of an entry is that of the forwarding table",
     probe_judge_static, NULL},
    {"old-block", "old_block_lids", "a block of the old AR LFT has 32 LIDs", probe_judge_old_block,
     NULL},
    {"unreachable-port", "unreachable_port", "a LID without a route has the static port 255",
     probe_judge_unreachable, NULL},
    {"pfrn-config", NULL,
     "pFRNConfig is attribute 0xFF61, and its fields are where Heddle reads them", probe_judge_pfrn,
     NULL},
    {"first-neighbour", "first_neighbour", "the first record of NeighborsInfo is that of port 0",
     probe_judge_neighbours, NULL},
    {"dump", NULL, "another tool reads the same entries", probe_judge_dump, NULL},
    {"group-copy", "group_copy", "unused entries of ARGroupTableCopy are the source group", NULL,
     "a Set; Heddle does not use the command"},
    {"static-by-ar-lft", NULL, "with adaptive routing on, static LIDs follow the AR LFT alone",
     NULL, "change an entry, then ibtracert"},
    {"notice-times", NULL, "the times of pFRNConfig are seconds", NULL,
     "doc/guide/fast_recovery.md: take out a cable, and wait longer than that"},
    {"dead-ports", NULL, "without fast recovery a switch may choose a dead port of a group", NULL,
     "doc/guide/fast_recovery.md, 1"},
    {"notices-static", NULL, "switches send notices for static entries, and pass them on", NULL,
     "doc/guide/fast_recovery.md, 2 and 3"},
    {"notices-without-groups", NULL, "a switch without groups sends notices", NULL,
     "doc/guide/fast_recovery.md, 4"},
    {"notices-by-lid", NULL, "a notice masks a port for the LIDs in it only", NULL,
     "doc/guide/fast_recovery.md, 5"},
};

#define COUNT (sizeof(known) / sizeof(known[0]))

const char *hd_ar_verdict_name(enum hd_ar_verdict verdict)
{
	static const char *const names[] = {"undecided", "confirmed", "contradicted",
					    "not by Gets"};

	return names[verdict];
}

unsigned hd_ar_probe_fact_count(void)
{
	return COUNT;
}

void hd_ar_probe_judge(const struct hd_ar_probe *probe, struct hd_ar_fact *facts)
{
	for (unsigned i = 0; i < COUNT; i++) {
		struct hd_ar_fact *fact = &facts[i];
		*fact = (struct hd_ar_fact){.name = known[i].name,
					    .option = known[i].option,
					    .assumed = known[i].assumed,
					    .verdict = HD_AR_NOT_BY_GETS};
		if (!known[i].judge) {
			probe_say(fact, "%s", known[i].site);
			continue;
		}
		known[i].judge(probe, fact);
		fact->verdict = fact->disagree ? HD_AR_CONTRADICTED
				: fact->agree  ? HD_AR_CONFIRMED
					       : HD_AR_UNDECIDED;
	}
}
