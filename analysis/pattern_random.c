/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Patterns whose flows are drawn: bisect, permutation, uniform, hot spot, incast. */
#include "pattern_internal.h"

#include <errno.h>
#include <inttypes.h>

static int prepare_single(struct hd_pattern *pattern, const struct hd_options *options,
			  const struct hd_ranks *ranks, struct hd_error *err)
{
	(void)options;
	(void)ranks;
	(void)err;
	pattern->single = true;
	return 0;
}

static int prepare_plain(struct hd_pattern *pattern, const struct hd_options *options,
			 const struct hd_ranks *ranks, struct hd_error *err)
{
	(void)pattern;
	(void)options;
	(void)ranks;
	(void)err;
	return 0;
}

/* ---- bisect ---- */

/* Pairs the two halves of a random order, place by place. So every cut and pairing is equally
 * likely. If the number of ranks is odd, the last one in that order sits out. */
static uint32_t bisect_round(const struct hd_pattern *pattern, uint32_t round, struct hd_draw *draw,
			     struct hd_flow *flows)
{
	(void)round;
	uint32_t half = pattern->ranks / 2;
	stream_permutation(&draw->stream, draw->order, pattern->ranks);
	for (uint32_t i = 0; i < half; i++)
		flows[i] = (struct hd_flow){draw->order[i], draw->order[half + i]};
	return half;
}

const struct hd_pattern_kind pattern_bisect = {
    .name = "bisect",
    .summary = "a random half of the ranks sends to the other half, one partner each",
    .random = true,
    .prepare = prepare_single,
    .round = bisect_round,
};

/* ---- permutation ---- */

static uint32_t permutation_round(const struct hd_pattern *pattern, uint32_t round,
				  struct hd_draw *draw, struct hd_flow *flows)
{
	(void)round;
	uint32_t count = 0;
	stream_permutation(&draw->stream, draw->order, pattern->ranks);
	for (uint32_t i = 0; i < pattern->ranks; i++)
		pattern_add(flows, &count, i, draw->order[i]);
	return count;
}

const struct hd_pattern_kind pattern_permutation = {
    .name = "permutation",
    .summary = "each rank sends to one other and receives from one, at random",
    .random = true,
    .prepare = prepare_single,
    .round = permutation_round,
};

/* ---- uniform ---- */

static uint32_t draw_other(struct hd_draw *draw, uint32_t ranks, uint32_t rank)
{
	uint32_t other = stream_below(&draw->stream, ranks - 1);

	return other + (other >= rank);
}

static uint32_t uniform_round(const struct hd_pattern *pattern, uint32_t round,
			      struct hd_draw *draw, struct hd_flow *flows)
{
	(void)round;
	for (uint32_t i = 0; i < pattern->ranks; i++)
		flows[i] = (struct hd_flow){i, draw_other(draw, pattern->ranks, i)};
	return pattern->ranks;
}

const struct hd_pattern_kind pattern_uniform = {
    .name = "uniform",
    .summary = "each rank sends to any other; a rank may receive from several",
    .random = true,
    .prepare = prepare_plain,
    .round = uniform_round,
};

/* ---- hot spot ---- */

static const struct hd_option hot_spot_options[] = {
    {.name = "percent",
     .summary = "share of the flows that go to the hot ranks",
     .type = HD_OPTION_INT,
     .fallback = "10",
     .minimum = 0,
     .maximum = 100},
    {.name = "spots",
     .summary = "number of hot ranks, drawn for each pattern",
     .type = HD_OPTION_INT,
     .fallback = "1",
     .minimum = 1,
     .maximum = 65535},
};

enum { HOT_PERCENT, HOT_SPOTS };

static int prepare_hot_spot(struct hd_pattern *pattern, const struct hd_options *options,
			    const struct hd_ranks *ranks, struct hd_error *err)
{
	(void)ranks;
	pattern->number[HOT_PERCENT] = pattern_number(options, "percent");
	pattern->number[HOT_SPOTS] = pattern_number(options, "spots");
	if (pattern->number[HOT_SPOTS] > pattern->ranks)
		return hd_error_set(err, -EINVAL,
				    "option 'spots': %" PRIu32 " among %" PRIu32 " ranks",
				    pattern->number[HOT_SPOTS], pattern->ranks);
	return 0;
}

static uint32_t hot_spot_round(const struct hd_pattern *pattern, uint32_t round,
			       struct hd_draw *draw, struct hd_flow *flows)
{
	(void)round;
	uint32_t count = 0;
	stream_permutation(&draw->stream, draw->order, pattern->ranks);
	for (uint32_t i = 0; i < pattern->ranks; i++) {
		bool hot = stream_below(&draw->stream, 100) < pattern->number[HOT_PERCENT];
		uint32_t spot = stream_below(&draw->stream, pattern->number[HOT_SPOTS]);
		pattern_add(flows, &count, i,
			    hot ? draw->order[spot] : draw_other(draw, pattern->ranks, i));
	}
	return count;
}

const struct hd_pattern_kind pattern_hot_spot = {
    .name = "hot-spot",
    .summary = "uniform, but a share of the flows goes to a few ranks",
    PATTERN_OPTIONS(hot_spot_options),
    .random = true,
    .prepare = prepare_hot_spot,
    .round = hot_spot_round,
};

/* ---- incast ---- */

static const struct hd_option incast_options[] = {
    {.name = "senders",
     .summary = "how many ranks send to one receiver",
     .type = HD_OPTION_INT,
     .fallback = "8",
     .minimum = 1,
     .maximum = 65535},
};

static int prepare_incast(struct hd_pattern *pattern, const struct hd_options *options,
			  const struct hd_ranks *ranks, struct hd_error *err)
{
	(void)ranks;
	pattern->number[0] = pattern_number(options, "senders");
	if (pattern->number[0] >= pattern->ranks)
		return hd_error_set(err, -EINVAL,
				    "option 'senders': %" PRIu32 " and one receiver are more "
				    "than %" PRIu32 " ranks",
				    pattern->number[0], pattern->ranks);
	return 0;
}

static uint32_t incast_round(const struct hd_pattern *pattern, uint32_t round, struct hd_draw *draw,
			     struct hd_flow *flows)
{
	(void)round;
	uint32_t group = pattern->number[0] + 1, count = 0;
	stream_permutation(&draw->stream, draw->order, pattern->ranks);
	for (uint32_t i = 0; i < pattern->ranks; i++)
		pattern_add(flows, &count, draw->order[i], draw->order[i / group * group]);
	return count;
}

const struct hd_pattern_kind pattern_incast = {
    .name = "incast",
    .summary = "random groups; in each, all ranks send to one",
    PATTERN_OPTIONS(incast_options),
    .random = true,
    .prepare = prepare_incast,
    .round = incast_round,
};
