/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a switch should hold, what it holds, and the blocks that turn the one into the other.
 *
 * An image is one switch's AdaptiveRoutingInfo, group table and AR LFTs, as blocks of bytes in
 * normal form: reserved bits are 0. The image that a plan wants is made at once. That of a switch
 * begins with nothing known and fills up with its answers, and with what was set.
 */
#ifndef HEDDLE_AR_MANAGER_DIFF_H
#define HEDDLE_AR_MANAGER_DIFF_H

#include <heddle/ar_manager/codec.h>
#include <heddle/ar_manager/fast_recovery.h>

/* What a switch has on, by its info, and the best that it has. */
enum hd_ar_recovery hd_ar_recovery_of(const struct hd_ar_info *info);
enum hd_ar_recovery hd_ar_recovery_supported(const struct hd_ar_info *info);

/* What all switches of a fabric get beside the plan. */
struct hd_ar_settings {
	uint32_t sl_mask; /* SLs with AR; 0xFFFF: all */
	uint32_t transport_disable; /* HD_AR_TRANSPORT_... without AR */
	uint32_t ageing_time_us; /* for BOUNDED */
	enum hd_ar_recovery recovery; /* where a switch has it; notices also without groups */
};

/* All SLs and transports, 30 us, no fast recovery. */
extern const struct hd_ar_settings hd_ar_settings_default;

/* Whether a switch can limit AR to the SLs and transports of the settings; if not, it must stay
 * without AR. */
bool hd_ar_settings_fit(const struct hd_ar_settings *settings, const struct hd_ar_info *info);

/* A Set, or the answer to a Get. */
struct hd_ar_mad {
	uint32_t attribute; /* enum hd_ar_attribute */
	uint32_t modifier;
	uint8_t data[HD_AR_DATA];
};

/* A block of any attribute that private tables take. */
struct hd_ar_private_block {
	uint32_t attribute, modifier;
	bool known;
	uint8_t data[HD_AR_DATA];
};

struct hd_ar_image {
	enum hd_ar_form form;
	struct hd_ar_quirks quirks;
	bool info_known;
	struct hd_ar_info info;
	uint32_t group_blocks;
	uint8_t (*groups)[HD_AR_DATA]; /* [group_blocks] */
	bool *group_known; /* [group_blocks] */
	uint32_t table_count, lft_blocks; /* blocks of one table */
	uint8_t (*lft)[HD_AR_DATA]; /* [table_count * lft_blocks] */
	bool *lft_known; /* the same */
	/* With private tables: what they need beside the blocks above, which hold the groups of the
	 * first table and the entries of all. */
	uint32_t private_count;
	struct hd_ar_private_block *private_blocks; /* [private_count] */
	/* Of a plan's image: the static port of each LID, block by block. NULL of a switch's. */
	uint8_t *lid_port;
};

/*
 * The image that a plan wants of switch `sw` (an index in the plan). `info` is what the switch
 * answered; fields that the manager does not own stay as they are. A switch without groups is to
 * have AR off, and no blocks, unless the plan has private tables. *out is freed with hd_ar_image_free(). Errors: -ENOMEM. Cost:
 * O(LIDs + groups).
 */
int hd_ar_image_of_plan(const struct hd_ar_plan *plan, uint32_t sw,
			const struct hd_ar_settings *settings, const struct hd_ar_quirks *quirks,
			const struct hd_ar_info *info, struct hd_ar_image **out);

/* An image with room for as many blocks as `want`, and what `known` (may be NULL) knows of them.
 * Errors: -ENOMEM. */
int hd_ar_image_like(const struct hd_ar_image *want, const struct hd_ar_image *known,
		     struct hd_ar_image **out);

/* Sub-groups of each group that a switch uses: 1 or more. */
uint32_t hd_ar_sub_groups(const struct hd_ar_info *info, const struct hd_ar_quirks *quirks);

/* The number of a sub-group's element in the group table of a switch with so many groups and
 * sub-groups. A block has HD_AR_GROUP_BLOCK elements. */
uint32_t hd_ar_group_element(const struct hd_ar_quirks *quirks, uint32_t groups,
			     uint32_t sub_groups, uint32_t group, uint32_t sub);

/* A block of the groups that the image has for one of its tables; NULL: it has no such block. */
const uint8_t *hd_ar_image_groups(const struct hd_ar_image *image, uint32_t table, uint32_t block);

/* NULL is allowed. */
void hd_ar_image_free(struct hd_ar_image *image);

/* Takes what a switch answered, or what was set. False: the image has no room for such a block. */
bool hd_ar_image_store(struct hd_ar_image *image, const struct hd_ar_mad *mad);

/* Forgets a block whose content is uncertain, such as after a Set without an answer. */
void hd_ar_image_forget(struct hd_ar_image *image, uint32_t attribute, uint32_t modifier);

/* In which order tables are set before AR is enabled. Disabling comes before all of them. */
enum hd_ar_order { HD_AR_GROUPS_FIRST, HD_AR_LFT_FIRST };

/* What has to be sent, in order. Each step may be sent at once, but begins after the answers to the
 * step before. */
struct hd_ar_changes {
	uint32_t count;
	struct hd_ar_mad *mads; /* [count] */
	uint32_t *step; /* [count] ascending */
	uint32_t wanted_blocks; /* that the switch needs in all, its info among them */
};

#define HD_AR_NEEDS_NOTHING(changes) ((changes)->count == 0)

/* The blocks of `want` that `held` does not know, as Gets (data is 0). *out is freed with
 * hd_ar_changes_free(). Errors: -ENOMEM. */
int hd_ar_unknown(const struct hd_ar_image *want, const struct hd_ar_image *held,
		  struct hd_ar_changes **out);

/*
 * The Sets that make a switch hold what is wanted, and no others:
 *
 * - AR is on, and part of what the switch holds is not known, or the number of sub-groups changes:
 *   first AR is switched off.
 * - AR is on, and a group that entries use changes its ports: first these entries become static.
 * - Entries for LIDs above the plan's highest one become static and lead nowhere, if `held` knows of any.
 * - Then groups and AR LFTs that differ; then groups that are no longer used; at last the info, if
 * it differs. The order counts for a switch whose AR is off; where it is on, groups come before
 * entries that use them.
 * - AR is to be off: the info alone.
 *
 * *out is freed with hd_ar_changes_free(). Errors: -ENOMEM. Cost: O(blocks).
 */
int hd_ar_diff(const struct hd_ar_image *want, const struct hd_ar_image *held,
	       enum hd_ar_order order, struct hd_ar_changes **out);

/* The Sets that switch AR off, and the use of private tables if `held`, which may be NULL, knows of
 * it. *out is freed with hd_ar_changes_free(). Errors: -ENOMEM. */
int hd_ar_switch_off(const struct hd_ar_info *info, const struct hd_ar_image *held,
		     struct hd_ar_changes **out);

/* NULL is allowed. */
void hd_ar_changes_free(struct hd_ar_changes *changes);

/* Whether a switch has room for private tables of so many LIDs, and in which mode. */
bool hd_ar_private_fits(const struct hd_ar_private_info *info, uint32_t tables, uint32_t lid_count,
			uint32_t *mode);

/* How many blocks that say which packets use which private table a switch does not hold as the plan
 * wants them. Errors: -ENOMEM. */
int hd_ar_private_differences(const struct hd_ar_plan *plan, uint32_t sw,
			      const struct hd_ar_image *held, uint32_t *out);

#endif
