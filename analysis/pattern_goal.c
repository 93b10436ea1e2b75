/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The messages of a GOAL trace, in the rounds that follow from what its operations wait for. */
#include "pattern_internal.h"

#include <errno.h>
#include <heddle/analysis/schedule.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const struct hd_option goal_options[] = {
    {.name = "file", .summary = "GOAL trace, as text or packed by gzip", .type = HD_OPTION_STRING},
    {.name = "least",
     .summary = "smaller messages are left out, bytes",
     .type = HD_OPTION_INT,
     .fallback = "0",
     .minimum = 0,
     .maximum = UINT32_MAX},
};

struct goal {
	const struct hd_schedule *schedule;
	uint32_t *round; /* [operation_count] of sends */
	uint32_t rounds;
	uint64_t least;
};

/* Whether an operation is a flow. */
static bool counts(const struct goal *goal, uint32_t index)
{
	const struct hd_schedule_operation *operation = &goal->schedule->operations[index];

	return operation->action == HD_SCHEDULE_SEND && operation->peer != operation->rank &&
	       operation->amount >= goal->least;
}

static int goal_compare(const void *left, const void *right)
{
	const struct hd_flow *a = left, *b = right;

	if (a->source != b->source)
		return a->source < b->source ? -1 : 1;
	return (a->destination > b->destination) - (a->destination < b->destination);
}

/* Several messages of a pair in one round share its path one after the other: they are one flow. */
static uint32_t merge(struct hd_flow *flows, uint32_t count)
{
	uint32_t kept = 0;

	qsort(flows, count, sizeof(*flows), goal_compare);
	for (uint32_t i = 0; i < count; i++)
		if (!kept || goal_compare(&flows[kept - 1], &flows[i]))
			flows[kept++] = flows[i];
	return kept;
}

static int take_flows(struct hd_pattern *pattern, const struct goal *goal, struct hd_error *err)
{
	size_t flows = 0;

	for (uint32_t i = 0; i < goal->schedule->operation_count; i++)
		flows += counts(goal, i);
	if (!flows)
		return hd_error_set(err, -ENODATA, "%s: no message of %" PRIu64 " bytes or more",
				    goal->schedule->file, goal->least);
	pattern->list_base = calloc((size_t)goal->rounds + 1, sizeof(*pattern->list_base));
	pattern->list = malloc(flows * sizeof(*pattern->list));
	if (!pattern->list_base || !pattern->list)
		return hd_error_no_memory(err);
	/* Sorts the flows into their rounds. base[rounds + 1] and list[] have room for all. */
	uint32_t *base = pattern->list_base;
	struct hd_flow *list = pattern->list;
	uint32_t operations = goal->schedule->operation_count;
	for (uint32_t i = 0; i < operations; i++)
		if (counts(goal, i))
			base[goal->round[i]]++;
	for (uint32_t i = 0, sum = 0; i <= goal->rounds; i++) {
		sum += base[i];
		base[i] = sum;
	}
	for (uint32_t i = operations; i-- > 0;) {
		const struct hd_schedule_operation *operation = &goal->schedule->operations[i];
		if (counts(goal, i))
			list[--base[goal->round[i]]] =
			    (struct hd_flow){operation->rank, operation->peer};
	}
	/* Merges pairs, and leaves out rounds without a flow. */
	uint32_t rounds = goal->rounds;
	uint32_t end = 0, kept = 0;
	pattern->round_max = 0;
	for (uint32_t i = 0; i < rounds; i++) {
		uint32_t first = pattern->list_base[i], count = pattern->list_base[i + 1] - first;
		if (!count)
			continue;
		memmove(pattern->list + end, pattern->list + first, count * sizeof(*pattern->list));
		pattern->list_base[kept++] = end;
		count = merge(pattern->list + end, count);
		end += count;
		pattern->round_max = count > pattern->round_max ? count : pattern->round_max;
	}
	pattern->list_base[kept] = end;
	pattern->rounds = kept;
	return 0;
}

static int take_schedule(struct hd_pattern *pattern, const struct hd_options *options,
			 const struct hd_schedule *schedule, struct hd_error *err)
{
	struct goal goal = {.schedule = schedule,
			    .least = (uint64_t)hd_options_get(options, "least")->number};

	if (schedule->rank_count > pattern->ranks)
		return hd_error_set(err, -EINVAL,
				    "%s has %" PRIu32 " ranks, but only %" PRIu32 " take part",
				    schedule->file, schedule->rank_count, pattern->ranks);
	goal.round = malloc(schedule->operation_count * sizeof(*goal.round));
	if (!goal.round)
		return hd_error_no_memory(err);
	int rc = hd_schedule_rounds(schedule, goal.round, &goal.rounds, err);
	if (!rc)
		rc = take_flows(pattern, &goal, err);
	free(goal.round);
	return rc;
}

static int goal_prepare(struct hd_pattern *pattern, const struct hd_options *options,
			const struct hd_ranks *ranks, struct hd_error *err)
{
	struct hd_schedule *schedule;
	int rc = hd_schedule_read_goal(hd_options_get(options, "file")->text, &schedule, err);

	(void)ranks;
	if (rc)
		return rc;
	rc = take_schedule(pattern, options, schedule, err);
	hd_schedule_free(schedule);
	return rc;
}

static uint32_t goal_round(const struct hd_pattern *pattern, uint32_t round, struct hd_draw *draw,
			   struct hd_flow *flows)
{
	uint32_t begin = pattern->list_base[round], count = pattern->list_base[round + 1] - begin;

	(void)draw;
	memcpy(flows, pattern->list + begin, count * sizeof(*flows));
	return count;
}

const struct hd_pattern_kind pattern_goal = {
    .name = "goal",
    .summary = "the messages of a GOAL trace, in the rounds that its dependencies give",
    PATTERN_OPTIONS(goal_options),
    .prepare = goal_prepare,
    .round = goal_round,
};
