/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What heddle ar plan says of fast recovery: whether the plan may have it, and which losses of cables it
 * bridges. */
#ifndef CLI_AR_RECOVERY_H
#define CLI_AR_RECOVERY_H

#include <heddle/ar_manager.h>
#include <jansson.h>

#define AR_RECOVERY_SAMPLED_MAX 100000
#define AR_RECOVERY_SAMPLED 1000

struct ar_recovery_losses {
	struct hd_ar_losses losses;
	struct hd_ar_bridged *bridged; /* [losses.count] */
};

struct ar_recovery {
	/* as typed */
	uint32_t sampled; /* losses of two cables */
	uint64_t seed;
	bool silent_statics;
	/* after it is computed */
	bool proved, counted;
	char reason[HD_ERROR_TEXT]; /* why not */
	const struct hd_fabric *fabric;
	uint64_t pairs;
	struct ar_recovery_losses sets[2]; /* of one cable, and of two */
	struct hd_arena arena;
};

/*
 * Proves fast recovery for a plan that is proved, and counts what losses of one cable and of two leave. Where
 * it is refused, or not counted, the reason is in `recovery`. Released with ar_recovery_release(), also after an
 * error.
 */
void ar_recovery_make(struct ar_recovery *recovery, const struct hd_ar_recovery_request *request);

void ar_recovery_release(struct ar_recovery *recovery);

void ar_recovery_print(const struct ar_recovery *recovery);

/* NULL: no memory. */
json_t *ar_recovery_json(const struct ar_recovery *recovery);

#endif
