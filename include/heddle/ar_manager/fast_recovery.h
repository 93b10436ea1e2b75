/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Fast recovery: switches go round dead ports by themselves, before any manager acts. They choose
 * only among the ports of their entries, so the proof of a plan covers them. This says whether a
 * plan may have fast recovery, and what share of losses it bridges.
 *
 * The model, in which an emulator of switches has to agree:
 *
 * - The entry of a switch for a LID is a set of ports: those of all sub-groups of its group, or the
 *   static port alone if it is static. A static port that is not in the group counts, too.
 * - A lost cable makes the ports at both ends dead. A packet that is sent by a dead port is lost.
 * - OFF: the switch may choose each port of the entry, also a dead one. Nothing public says that
 *   adaptive routing alone avoids dead ports.
 * - LOCAL (FLFR): it leaves out its own dead ports. If none is left, the packet is dropped.
 * - NOTICES (pFRN): it also leaves out ports that lead to a switch that has told it to. A switch
 *   tells all its neighbours about a LID when no port of the entry is left: each is dead, or leads
 *   to a switch that has told it so. Notices are for one LID and go on until none is new. A static
 *   entry is like a group of one port, unless `silent_statics` is set.
 * - What a switch does when no port is left is not known. It drops the packet, or sends it by the
 *   static port (fallback). Both end in the same way: each port of the entry is dead or leads to a
 *   switch that has no port left either, and so on, until a dead port. The proof covers both, and
 *   other sub-groups, too.
 * - A switch without adaptive routing (none in the plan, or HD_AR_FORM_NONE) has OFF, and tells
 *   nothing.
 *
 * A pair is a switch to which an adapter is cabled, and a LID of an adapter at another switch. It is
 * delivered if each choice that any switch on the way is left with leads to the adapter. One choice
 * that loses the packet is enough for it not to be. Only pairs that are delivered before the loss
 * count. The time in which notices travel does not.
 *
 * Source: NVIDIA's "InfiniBand Cluster Bring-up Procedure", chapter SHIELD; nothing of it was seen
 * on hardware (doc/guide/fast_recovery.md).
 */
#ifndef HEDDLE_AR_MANAGER_FAST_RECOVERY_H
#define HEDDLE_AR_MANAGER_FAST_RECOVERY_H

#include <heddle/ar_manager/plan.h>
#include <heddle/base/arena.h>

enum hd_ar_recovery { HD_AR_RECOVERY_OFF, HD_AR_RECOVERY_LOCAL, HD_AR_RECOVERY_NOTICES };

#define HD_AR_RECOVERY_LEVELS 3u

/* "off", "local", "notices". */
const char *hd_ar_recovery_name(enum hd_ar_recovery level);

struct hd_ar_recovery_request {
	const struct hd_fabric *fabric;
	const struct hd_routes *routes; /* in the fabric's shape, with their service levels */
	const struct hd_ar_plan *plan; /* of these tables; its switches are matched by GUID */
	/* [switch_count] enum hd_ar_recovery: the most that each switch can do; NULL: all can do all. */
	const uint8_t *able;
	bool silent_statics; /* switches do not tell by static entries */
	unsigned threads; /* 0 = 1; never changes the result */
	struct hd_go_on go_on; /* asked for every few switches and destinations */
};

/*
 * Whether fast recovery may be enabled: whatever set of ports is masked, at whatever time, no packet
 * goes round, no lane has a credit loop, and each packet is delivered or dropped.
 *
 * It is proved for the union of all ports of all entries, of which masks only take away: hd_ar_prove()
 * for the lanes; hd_ar_plan_check() for the ports; and for each LID of an adapter, that no packet
 * comes to a switch twice, also such as switches themselves send. `proved`: the caller has proved the
 * plan by hd_ar_prove() already. Plans with private tables (DFP) are always proved by
 * hd_ar_prove() and hd_ar_plan_check() alone: by what adapters send.
 *
 * Returns 0, or the reason with the switch and the LID: -ELOOP packets could go round, or a credit
 * loop; -EINVAL a port leads nowhere, or shapes that differ. Also -ECANCELED, -ENOMEM. Cost:
 * O(switches * LIDs), and O(links) for each destination switch, or for each LID whose ports differ
 * from those of other LIDs of its switch; without `proved` also that of hd_ar_prove().
 */
int hd_ar_recovery_prove(const struct hd_ar_recovery_request *request, bool proved,
			 struct hd_error *err);

/* Losses of cables between switches. Loss i: the cables of links[first[i]] .. links[first[i + 1] - 1],
 * each by one of its two directed links, each cable once. */
struct hd_ar_losses {
	uint32_t count;
	const uint32_t *first; /* [count + 1] */
	const uint32_t *links;
};

/* Each cable between switches once, by its lower link. Memory from the arena. Errors: -ENOMEM. */
int hd_ar_losses_single(const struct hd_fabric *fabric, struct hd_arena *arena,
			struct hd_ar_losses *out);

/* `count` losses of `cables` different ones each, drawn at random, the same for the same seed; all
 * cables if there are fewer. Memory from the arena. Errors: -ENOMEM. Cost: O(count * cables + links). */
int hd_ar_losses_sample(const struct hd_fabric *fabric, uint32_t count, uint32_t cables,
			uint64_t seed, struct hd_arena *arena, struct hd_ar_losses *out);

/* What is left right after one loss. */
struct hd_ar_bridged {
	uint64_t delivered[HD_AR_RECOVERY_LEVELS]; /* pairs, by enum hd_ar_recovery in force */
};

/*
 * Counts the pairs that are delivered after each loss, with each level in force (at most as each
 * switch is able to), into bridged[losses->count], and those before any loss into *pairs. The plan
 * must be free of loops (hd_ar_recovery_prove()).
 *
 * Errors: -ENOTSUP private tables (DFP), -ELOOP packets could go round, -EINVAL shapes that differ,
 * -ECANCELED, -ENOMEM. Cost: for each destination switch, O(links + losses), and for each loss of
 * which a cable leads there, O(links to the switch) for each switch whose packets are lost or that tells
 * others.
 */
int hd_ar_recovery_bridge(const struct hd_ar_recovery_request *request,
			  const struct hd_ar_losses *losses, struct hd_ar_bridged *bridged,
			  uint64_t *pairs, struct hd_error *err);

#endif
