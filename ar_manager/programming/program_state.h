/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the files of the programming share: what is known of each switch, and how far its operation is. */
#ifndef AR_MANAGER_PROGRAM_STATE_H
#define AR_MANAGER_PROGRAM_STATE_H

#include "program_row.h"

#include <heddle/ar_manager/program.h>

enum program_goal {
	PROGRAM_DETECT,
	PROGRAM_READ,
	PROGRAM_APPLY,
	PROGRAM_DISABLE,
	PROGRAM_END_RECOVERY
};

enum program_stage {
	PROGRAM_IDLE,
	PROGRAM_ASK_MASK,
	PROGRAM_ASK_INFO,
	PROGRAM_ASK_PRIVATE,
	PROGRAM_NOTICES, /* what it needs to send notices is read and set: program_notices.h */
	PROGRAM_READING,
	PROGRAM_SETTING,
	PROGRAM_LEAVING /* AR is switched off after too many errors */
};

/* What a switch is known to hold for notices between switches, and how far it is told. */
struct program_notices {
	bool ready; /* it has all below, and may have notices enabled */
	bool refused; /* it does not take it */
	uint32_t attribute; /* of the MAD that failed */
	uint16_t status; /* of its answer; 0: none came */
	struct hd_ar_notices config; /* with which it was told */
	struct hd_n2n_neighbour *records; /* [count] what it holds, if `ready` */
	uint32_t count;
	uint32_t phase; /* of telling it */
	bool set; /* the MAD under way is a Set */
	struct hd_ar_mad mad;
	struct hd_n2n_mad n2n;
};

struct program_switch {
	uint64_t guid;
	uint32_t vendor_id; /* 0: unknown */
	enum hd_ar_standing standing;
	struct hd_ar_capability_mask mask;
	uint8_t raw_mask[HD_AR_DATA], raw_info[HD_AR_DATA];
	bool info_known;
	struct hd_ar_info info; /* the last one that it answered or was set to */
	bool private_known;
	struct hd_ar_private_info private_info; /* asked for DFP only */
	/* What is known of its tables is in one of these, or in none; in both while the row is replaced by another:
	 * then `held` has only the blocks that are filled[]. */
	struct hd_ar_image *held;
	struct program_row row;
	bool *filled; /* NULL: all blocks */
	bool uncertain;

	struct program_notices notices;
	bool recovery_refused; /* it refuses an info with fast recovery */
	uint16_t recovery_status;

	enum program_stage stage;
	struct hd_ar_image *want;
	struct hd_ar_changes *changes; /* that `mads` and `step` belong to; NULL: `single` */
	struct hd_ar_mad single;
	const struct hd_ar_mad *mads; /* [count] */
	const uint32_t *step; /* [count] ascending */
	uint32_t count, next; /* MADs in all, and those of the steps so far */
	uint32_t under_way;
	bool failed; /* waits only for the MADs that are under way */

	int rc;
	uint32_t attribute, modifier;
	uint16_t status;
	uint64_t window_begin, left_at; /* ms */
	uint32_t errors; /* since then */
	bool succeeded; /* a MAD, since the last error */
	uint32_t silent_tries; /* without an answer, in a row */
};

struct hd_ar_program {
	struct hd_ar_sender sender;
	struct hd_ar_config config;
	struct hd_ar_quirks quirks;
	struct program_switch *switches; /* [count] */
	uint32_t count;
	uint32_t *order; /* [count] in which they begin; NULL: that of the switches */
	enum program_goal goal;
	const struct hd_ar_plan *plan;
	enum hd_ar_recovery recovery; /* most that plans allow */
	/* Of the switches: records first[sw] .. first[sw + 1] - 1, in blocks. NULL: nobody is told. */
	struct hd_n2n_neighbour *neighbours;
	uint32_t *first_neighbour; /* [count + 1] */
	uint16_t *lids; /* [count] of the switches */
	bool reread, unread, stopped;
	uint32_t begun; /* switches of which the operation has begun */
	uint32_t running; /* of these not complete */
	struct hd_ar_program_counts counts;
};

#endif
