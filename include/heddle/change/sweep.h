/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The order in which a sweep's tables take the place of those in the switches. It is that of repairs
 * (repair.h), for any two tables of one fabric: a cable or a switch has come back, another engine
 * routes, or another subnet manager has written the tables before.
 *
 *	hd_sweep_new(&request, &sweep, err);
 *	while (!hd_sweep_next(sweep, &part, err) && part.plan)
 *		for each step of part.plan->writes:
 *			send the blocks, and take each that is acknowledged into request.held
 *			hd_sweep_silence(sweep, sw) for each switch that does not take a block
 *			if there was one: no more steps of this part
 *
 * What the tables lead over but is not in the fabric is lost, and no packet gets there.
 *
 * PARTS. The first part has all LIDs whose new dependencies fit those of the entries that are in place.
 * When it is done, the old dependencies of its LIDs are gone, so more LIDs may fit. They are the next
 * part, and so on. Where that ends, no safe order of whole LIDs was found on the lanes there are. These LIDs
 * come in a part that is not `proved`: at no moment is there a forwarding loop, but a credit loop
 * may form. All parts are of that kind if the tables in place have a credit loop already.
 *
 * SERVICE LEVELS are those of `held`: packets under way have them, and no path record tells of others
 * before the sweep's tables are complete.
 *
 * LIDs whose new entries do not lead to them have no order, and are not written.
 *
 * A SILENT SWITCH has not taken a block, so it is not known which of the entries it holds. It counts as a
 * dead end from then on: new paths that pass it have no order either. No packet goes round in a circle all
 * the same. A new entry at the silent switch was sent only when its path was complete, and the path of an
 * entry that is written later does not pass it. About credit loops nothing is proved for packets that pass a
 * silent switch. About one of which it was never known what it holds, nothing is proved at all.
 */
#ifndef HEDDLE_CHANGE_SWEEP_H
#define HEDDLE_CHANGE_SWEEP_H

#include <heddle/change/repair.h>

#ifdef __cplusplus
extern "C" {
#endif

struct hd_sweep_request {
	const struct hd_fabric *fabric; /* that the sweep has found */
	/*
	 * What the switches hold, in the fabric's shape, with the service levels in force; the rows can be
	 * longer (hd_sweep_widen()). The caller takes each acknowledged block in. A silent switch gets entries
	 * HD_NO_PORT here.
	 */
	struct hd_routes *held;
	const struct hd_routes *wanted; /* in the fabric's shape */
	unsigned threads; /* 0 = 1; never changes the result */
	struct hd_go_on go_on; /* asked for each LID, switch and step */
};

/* The steps that come next. */
struct hd_sweep_part {
	const struct hd_repair_plan
	    *plan; /* until the next call for the sweep; NULL: there is no more */
	bool proved; /* no credit loop forms at any moment */
	bool looped; /* it is not proved because the tables in place have a credit loop */
};

struct hd_sweep;

/*
 * Makes the rows of tables longer, so that they have `lids` LIDs and more: switches can have entries for
 * LIDs above all that the fabric still has, and a sweep takes them away. The new entries are HD_NO_PORT.
 * lid_count stays. Errors: -ENOMEM; the tables are as before. Cost: O(switches * LIDs) if they get longer.
 */
int hd_sweep_widen(struct hd_routes *held, uint32_t lids);

/* What the request points to must outlive *out, which is freed with hd_sweep_free(). Errors: -ENOMEM. */
int hd_sweep_new(const struct hd_sweep_request *request, struct hd_sweep **out,
		 struct hd_error *err);

/* NULL is allowed. */
void hd_sweep_free(struct hd_sweep *sweep);

/*
 * Plans the next part, from what the switches hold now. Errors: -ECANCELED, -ENOMEM, with a reason; then
 * no other call but hd_sweep_free() is allowed. Cost: that of hd_repair_plan_new(), and of
 * hd_repair_base_new() for the first and for each later proved part.
 */
int hd_sweep_next(struct hd_sweep *sweep, struct hd_sweep_part *part, struct hd_error *err);

/* It is not known any more, or never was, what the switch holds. O(LIDs). */
void hd_sweep_silence(struct hd_sweep *sweep, uint32_t sw);

#ifdef __cplusplus
}
#endif

#endif
