/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the files of the programming share: what is known of each switch, and how far its operation is. */
#ifndef AR_MANAGER_PROGRAM_STATE_H
#define AR_MANAGER_PROGRAM_STATE_H

#include <heddle/ar_manager/diff.h>
#include <heddle/ar_manager/program.h>

/* What a switch is known to hold in full, as the row of a plan: it takes no memory of its own, as an image would. */

/* All zero: not known. */
struct program_row {
	struct hd_ar_switch planned; /* has a row, which is held here; without one: not known */
	enum hd_ar_state mode;
	uint32_t lid_count;
	struct hd_ar_settings settings;
	struct hd_ar_info info; /* the switch's own, when it held the row */
};

static inline bool program_row_is_known(const struct program_row *known)
{
	return known->planned.row != NULL;
}

void program_row_forget(struct program_row *known);

/* Whether the switch, whose info is known, holds what the plan wants of switch `sw`, so that there is nothing to set.
 * O(1). */
bool program_row_is(const struct program_row *known, const struct hd_ar_plan *plan, uint32_t sw,
		    const struct hd_ar_settings *settings, const struct hd_ar_info *info);

/* Notes that the switch holds what the plan wants. False: that cannot be noted, and *known is not known: the plan has no
 * row, private tables, or no groups for the switch. Then it has no tables, but what it had before may be of use. */
bool program_row_take(struct program_row *known, const struct hd_ar_plan *plan, uint32_t sw,
		      const struct hd_ar_settings *settings, const struct hd_ar_info *info);

/* The image of what the switch holds; *known must be known. Errors: -ENOMEM. O(LIDs + groups). */
int program_row_image(const struct program_row *known, const struct hd_ar_quirks *quirks,
		      struct hd_ar_image **out);

/* The images of what the switch holds and of what the plan wants, of which only the blocks are filled that matter
 * when one becomes the other. */
struct program_row_images {
	struct hd_ar_image *want, *held;
	bool *filled; /* [blocks of the AR LFT] */
};

/* Whether such images can be made: the plan wants a table of the same size and kind. */
bool program_row_compares(const struct program_row *known, const struct hd_ar_plan *plan,
			  uint32_t sw);

/* Makes the images; they and `filled` are freed as usual. `info` is the switch's own, now. Errors: -ENOMEM, nothing is
 * made. Cost: O(LIDs), a comparison of bytes, and O(groups + LIDs of blocks that differ). */
int program_row_images_new(const struct program_row *known, const struct hd_ar_plan *plan,
			   uint32_t sw, const struct hd_ar_settings *settings,
			   const struct hd_ar_quirks *quirks, const struct hd_ar_info *info,
			   struct program_row_images *out);

/* All that is known of a switch when only a part of it was set: the row, and what has become of the blocks of
 * `held`. Errors: -ENOMEM. */
int program_row_mend(const struct program_row *known, const struct hd_ar_quirks *quirks,
		     const struct hd_ar_image *held, const bool *filled, struct hd_ar_image **out);

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
	PROGRAM_NOTICES, /* what it needs to send notices is read and set: program_notices.c */
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

/* The operation of one switch that is programmed: the MADs that are under way to it, and what follows their answers. */

/* Begins the operation of the program for a switch, which is complete when its stage is IDLE. */
void program_switch_begin(struct hd_ar_program *program, struct program_switch *sw);

/* Goes on with an answer. */
void program_switch_answer(struct hd_ar_program *program, struct program_switch *sw, uint32_t slot,
			   const struct hd_ar_answer *answer);

/* Forgets what the switch can do and what it holds. */
void program_switch_forget(struct program_switch *sw);

/*
 * What a switch needs before it may send notices of lost ports: pFRNConfig, the key of managers if the site has one, and
 * its neighbours. One MAD after the other. A switch that refuses one has no notices, and
 * nothing else changes for it.
 */

/* Whether the switch has to be told before its tables are set. */
bool program_notices_are_due(const struct hd_ar_program *program, struct program_switch *sw);

/* Begins to tell it: its stage is PROGRAM_NOTICES, with a MAD under way. Errors: those of the sender. */
int program_notices_begin(struct hd_ar_program *program, struct program_switch *sw);

/* Takes the answer to a MAD of this stage, and sends the next one. When none is under way afterwards, the switch is told,
 * or refuses. Errors: those of the sender; -ECANCELED. */
int program_notices_answer(struct hd_ar_program *program, struct program_switch *sw,
			   const struct hd_ar_answer *answer);

/* Nothing is known of the switch any more. */
void program_notices_forget(struct program_notices *notices);

/* The neighbours of all switches. */
void program_neighbours_free(struct hd_ar_program *program);

static inline uint32_t program_index(const struct hd_ar_program *program,
				     const struct program_switch *sw)
{
	return (uint32_t)(sw - program->switches);
}

#endif
