/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "survive_trials.h"

#include <string.h>

#define TRIAL_WORDS (sizeof(struct survive_trial) / sizeof(uint64_t))
#define REFUSAL_WORDS (HD_ERROR_TEXT / sizeof(uint64_t))

bool survive_trial_is_own(const struct processes *processes, size_t trial)
{
	return trial % processes->parts == processes->part;
}

static int add_up(const struct processes *processes, uint64_t *words, size_t count,
		  struct hd_error *err)
{
	int rc = processes->parts > 1 ? processes_combine(NULL, words, count, NULL, 0) : 0;

	return rc ? hd_error_set(err, rc, "the processes cannot add up their figures: %s",
				 strerror(-rc))
		  : 0;
}

/* In the order of the trials, so that rounding does not depend on which process ran them. */
static void sum_share(struct survive_share *share, const struct survive_trial *trials,
		      uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		const struct survive_trial *trial = &trials[i];
		share->trials++;
		if (!trial->routed)
			continue;
		share->routed++;
		share->deadlock_free += (uint32_t)trial->deadlock_free;
		share->changed += trial->changed;
		share->sum += trial->mean.value;
		if (share->routed == 1 || trial->mean.value < share->worst)
			share->worst = trial->mean.value;
	}
}

/* The process that ran the last refused trial has the reason. */
static int share_refusal(struct survive_share *share, bool own, const struct processes *processes,
			 struct hd_error *err)
{
	uint64_t words[REFUSAL_WORDS] = {0};

	if (own)
		memcpy(words, share->refusal, sizeof(words));
	int rc = add_up(processes, words, REFUSAL_WORDS, err);
	if (!rc)
		memcpy(share->refusal, words, sizeof(words));
	return rc;
}

int survive_sum_up(struct survive_share *shares, unsigned count, struct survive_trial *trials,
		   uint32_t each, const struct processes *processes, struct hd_error *err)
{
	size_t all = (size_t)count * each;
	int rc = add_up(processes, (uint64_t *)trials, all * TRIAL_WORDS, err);

	for (unsigned i = 0; !rc && i < count; i++) {
		size_t first = (size_t)i * each, last = first + each;
		sum_share(&shares[i], trials + first, each);
		while (last > first && !trials[last - 1].refused)
			last--;
		if (last > first)
			rc = share_refusal(&shares[i], survive_trial_is_own(processes, last - 1),
					   processes, err);
	}
	return rc;
}
