/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The trials of heddle survive: dealt out to processes, kept in files, and summed up. */
#include "need.h"
#include "survive.h"

#include <ctype.h>
#include <errno.h>
#include <heddle/base/digest.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define TRIAL_WORDS (sizeof(struct survive_trial) / sizeof(uint64_t))
#define REFUSAL_WORDS (HD_ERROR_TEXT / sizeof(uint64_t))

/* A line for each: the bits of the share and the number of the trial, the words of the outcome, all in
 * hexadecimal, and the reason of a refusal. */

#define HEAD "heddle-survive-trials 1 %016" PRIx64 "\n"
#define HEAD_SIZE 64
#define KEY "trial"

static uint64_t bits_of(double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return bits;
}

/* Takes " HEX" off the front of the line. */
static bool take_word(const char **at, uint64_t *word)
{
	char *end;

	if (**at != ' ' || !isxdigit((unsigned char)(*at)[1]))
		return false;
	errno = 0;
	*word = strtoull(*at, &end, 16);
	*at = end;
	return !errno;
}

static bool take_line(struct survive_trials *trials, const char *line)
{
	const char *at = line + strlen(KEY);
	struct survive_trial trial;
	uint64_t words[TRIAL_WORDS], share, number;

	if (strncmp(line, KEY, strlen(KEY)) != 0 || !take_word(&at, &share) ||
	    !take_word(&at, &number))
		return false;
	for (size_t i = 0; i < TRIAL_WORDS; i++)
		if (!take_word(&at, &words[i]))
			return false;
	memcpy(&trial, words, sizeof(trial));
	if (*at == ' ')
		at++;
	else if (*at)
		return false;
	/* A trial of a share that is not asked for now is left out. */
	for (size_t first = 0; number < trials->each && first < trials->count;
	     first += trials->each) {
		const size_t place = first + (size_t)number;
		if (bits_of(trials->shares[first / trials->each].percent) != share)
			continue;
		trials->list[place] = trial;
		trials->owner[place] = HD_NONE;
		if (trial.refused)
			survive_trials_refused(trials, place, at);
	}
	return trial.done == 1;
}

/* The end of a file may be the begin of a line. */
static int take_lines(void *context, const struct hd_text *text, size_t *length,
		      struct hd_error *err)
{
	struct hd_lines lines = hd_lines_of(text);
	char line[2 * HD_ERROR_TEXT + 32 * TRIAL_WORDS];
	int more;

	lines.number = 1; /* the head */
	*length = 0;
	while ((more = hd_lines_next(&lines, err)) > 0 && !lines.cut) {
		snprintf(line, sizeof(line), "%.*s", (int)lines.length, lines.line);
		if (lines.length >= sizeof(line) || !take_line(context, line))
			return hd_lines_error(&lines, err, "expected the outcome of a trial");
		*length = (size_t)(lines.at - text->bytes);
	}
	return more < 0 ? more : 0;
}

int survive_trials_keep(struct survive_trials *trials, size_t number, struct hd_error *err)
{
	const struct survive_refusal *refusal = &trials->refusals[number / trials->each];
	FILE *stream = trials->state.stream;
	uint64_t words[TRIAL_WORDS];

	if (!stream)
		return 0;
	memcpy(words, &trials->list[number], sizeof(words));
	fprintf(stream, KEY " %" PRIx64 " %zx",
		bits_of(trials->shares[number / trials->each].percent), number % trials->each);
	for (size_t i = 0; i < TRIAL_WORDS; i++)
		fprintf(stream, " %" PRIx64, words[i]);
	fprintf(stream, "%s%s\n", refusal->trial == number + 1 ? " " : "",
		refusal->trial == number + 1 ? refusal->text : "");
	return kept_work_flush(&trials->state, err);
}

uint64_t survive_trials_digest(const struct hd_fabric *fabric, const struct hd_routes *routes)
{
	const size_t ports = fabric->port_count, nodes = fabric->node_count;
	uint64_t value = HD_DIGEST_BEGIN;

	value = hd_digest_bytes(value, fabric->node_guid, nodes * sizeof(*fabric->node_guid));
	value = hd_digest_bytes(value, fabric->node_type, nodes);
	value = hd_digest_bytes(value, fabric->port_base, nodes * sizeof(*fabric->port_base));
	value = hd_digest_bytes(value, fabric->peer, ports * sizeof(*fabric->peer));
	value = hd_digest_bytes(value, fabric->lid, ports * sizeof(*fabric->lid));
	value = hd_digest_bytes(value, fabric->lmc, ports);
	value = hd_digest_bytes(value, fabric->width, ports);
	value = hd_digest_bytes(value, fabric->speed, ports);
	value = hd_digest_bytes(value, routes->sl2vl, sizeof(routes->sl2vl));
	for (uint32_t sw = 0; sw < routes->switch_count; sw++) {
		const size_t row = (size_t)sw * routes->stride;
		value = hd_digest_bytes(value, routes->lft + row, routes->lid_count);
		value =
		    hd_digest_bytes(value, routes->sl ? routes->sl + row : NULL, routes->lid_count);
	}
	return value;
}

int survive_trials_open(struct survive_trials *trials, const struct survive_share *shares,
			unsigned share_count, uint32_t each, const char *path, uint64_t digest,
			const struct processes *processes, struct hd_error *err)
{
	const size_t count = (size_t)share_count * each;
	char head[HEAD_SIZE];

	*trials = (struct survive_trials){
	    .shares = shares,
	    .processes = processes,
	    .each = each,
	    .count = count,
	    .list = need(calloc(count + 1, sizeof(*trials->list))),
	    .owner = need(calloc(count + 1, sizeof(*trials->owner))),
	    .refusals = need(calloc(share_count + 1u, sizeof(*trials->refusals)))};
	snprintf(head, sizeof(head), HEAD, digest);
	int rc = kept_work_open(&trials->state, path, head, processes, take_lines, trials, err);
	if (!rc) {
		/* Trials that are not kept are dealt out round robin, because neighbouring trials cost about the
		 * same. */
		uint32_t next = 0;
		for (size_t i = 0; i < trials->count; i++)
			if (trials->owner[i] != HD_NONE)
				trials->owner[i] = next++ % trials->processes->parts;
	}
	return rc;
}

bool survive_trials_is_own(const struct survive_trials *trials, size_t number)
{
	return trials->owner[number] == trials->processes->part;
}

void survive_trials_refused(struct survive_trials *trials, size_t number, const char *reason)
{
	struct survive_refusal *refusal = &trials->refusals[number / trials->each];

	trials->list[number].refused = true;
	if (refusal->trial > number + 1)
		return;
	refusal->trial = number + 1;
	snprintf(refusal->text, sizeof(refusal->text), "%s", reason);
}

void survive_trials_release(struct survive_trials *trials)
{
	kept_work_close(&trials->state);
	free(trials->refusals);
	free(trials->owner);
	free(trials->list);
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
		if (!trial->done)
			continue;
		share->trials++;
		for (unsigned level = 0; level < HD_AR_RECOVERY_LEVELS; level++) {
			const double part =
			    trial->pairs ? (double)trial->delivered[level] / (double)trial->pairs
					 : 1;
			share->delivered[level] += part;
			if (share->trials == 1 || part < share->least[level])
				share->least[level] = part;
		}
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

/* The process that has the last refused trial has the reason; all have those that were kept. */
static int share_refusal(const struct survive_trials *trials, size_t last,
			 struct survive_share *share, struct hd_error *err)
{
	const struct survive_refusal *known = &trials->refusals[last / trials->each];
	const uint32_t owner = trials->owner[last] == HD_NONE ? 0 : trials->owner[last];
	uint64_t words[REFUSAL_WORDS] = {0};

	if (owner == trials->processes->part)
		memcpy(words, known->text, sizeof(words));
	int rc = add_up(trials->processes, words, REFUSAL_WORDS, err);
	if (!rc)
		memcpy(share->refusal, words, sizeof(words));
	return rc;
}

int survive_trials_sum_up(struct survive_trials *trials, struct survive_share *shares,
			  struct hd_error *err)
{
	/* All processes have read what is kept; it counts once. */
	for (size_t i = 0; trials->processes->part && i < trials->count; i++)
		if (trials->owner[i] == HD_NONE)
			trials->list[i] = (struct survive_trial){.done = 0};
	int rc =
	    add_up(trials->processes, (uint64_t *)trials->list, trials->count * TRIAL_WORDS, err);
	for (size_t first = 0; !rc && first < trials->count; first += trials->each) {
		struct survive_share *share = &shares[first / trials->each];
		size_t last = first + trials->each;
		sum_share(share, trials->list + first, trials->each);
		while (last > first && !trials->list[last - 1].refused)
			last--;
		if (last > first)
			rc = share_refusal(trials, last - 1, share, err);
	}
	return rc;
}
