/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The ring bandwidth of the HPC Challenge benchmark: all hosts form a ring; each sends a message to
 * its left neighbour, then one back to its right neighbour. One ring in the order of the hosts, then
 * rings in random order. A node's bandwidth in a ring is the bytes of both messages over the time
 * until it has sent and received both, so it waits for the slower of two messages, twice. The
 * bandwidth of a message is its bytes over its own time.
 */
#include "traffic_draw.h"
#include "traffic_ranks.h"

#include <inttypes.h>

struct ring_node {
	uint32_t ring, at;
	uint64_t begun;
	double sum; /* of its bandwidths in the random rings */
};

struct ring_result {
	double sum, least, most; /* B/s of nodes */
	double message_sum; /* B/s of messages */
	uint32_t nodes, messages;
};

struct rings {
	struct ranks *ranks; /* first */
	struct hd_traffic_part *part;
	struct rank_job job;
	uint32_t count, natural; /* rings; the first `natural` (0 or 1) in the order of hosts */
	uint32_t repeat;
	uint64_t bytes, finished;
	uint32_t *left, *right; /* [count * job.count] ranks */
	struct ring_node *nodes;
	struct ring_result *results; /* [count] */
};

/* The steps of one ring; `repeat` rounds of both messages. */
static void ring_next(void *context, uint32_t job, uint32_t rank, struct rank_step *step)
{
	struct rings *rings = context;
	struct ring_node *node = &rings->nodes[rank];
	size_t at = (size_t)node->ring * rings->job.count + rank;

	(void)job;
	*step = (struct rank_step){.offset = HD_NONE, .bytes = rings->bytes, .tag = node->ring};
	if (node->ring == rings->count)
		return;
	uint32_t part = node->at++ - 2;
	if (node->at <= 2) {
		step->action = node->at == 1 ? RANK_MEET : RANK_MARK;
		step->tag = 0;
		return;
	}
	if (part == 6 * rings->repeat) {
		step->action = RANK_MARK;
		step->tag = 1;
		return;
	}
	static const enum rank_action actions[] = {RANK_RECEIVE, RANK_SEND, RANK_WAIT,
						   RANK_RECEIVE, RANK_SEND, RANK_WAIT};
	bool left = part % 6 == 1 || part % 6 == 3;
	step->action = actions[part % 6];
	step->peer = left ? rings->left[at] : rings->right[at];
	step->tag = part % 6 / 3;
}

static void ring_mark(void *context, uint32_t job, uint32_t rank, uint32_t tag, uint64_t now)
{
	struct rings *rings = context;
	struct ring_node *node = &rings->nodes[rank];
	struct ring_result *result = &rings->results[node->ring];

	(void)job;
	if (!tag) {
		node->begun = now;
		return;
	}
	double seconds = (double)(now - node->begun) / (double)HD_SIM_SECOND;
	double bandwidth = 2 * (double)rings->bytes * rings->repeat / seconds;
	result->sum += bandwidth;
	result->least = bandwidth < result->least ? bandwidth : result->least;
	result->most = bandwidth > result->most ? bandwidth : result->most;
	result->nodes++;
	if (node->ring >= rings->natural)
		node->sum += bandwidth;
	node->ring++;
	node->at = 0;
	rings->finished++;
}

static void delivered(struct hd_traffic_part *part, const struct hd_sim_message *message,
		      const struct hd_sim_times *times, uint32_t endpoint)
{
	struct rings *rings = part->state;
	struct ring_result *result = &rings->results[rings->finished / rings->job.count];

	result->message_sum +=
	    (double)message->bytes * (double)HD_SIM_SECOND / (double)(times->done - times->created);
	result->messages++;
	ranks_delivered(part, message, times, endpoint);
}

static int ring_create(struct hd_traffic_part *part, const struct hd_options *options,
		       struct hd_error *err)
{
	struct hd_arena *arena = &part->traffic->arena;
	struct rings *rings = hd_arena_alloc(arena, 1, sizeof(*rings));

	if (!rings)
		return hd_error_no_memory(err);
	part->state = rings;
	rings->part = part;
	rings->job = (struct rank_job){part->member_count, part->members};
	rings->natural = (uint32_t)hd_options_get(options, "natural")->number;
	rings->count = rings->natural + (uint32_t)hd_options_get(options, "random")->number;
	rings->repeat = (uint32_t)hd_options_get(options, "repeat")->number;
	rings->bytes = traffic_size(options, "size");
	if (part->member_count < 3 || !rings->count || !rings->bytes)
		return hd_error_set(
		    err, -EINVAL, "a ring needs 3 hosts, a size above 0, and there must be a ring");
	size_t places = (size_t)rings->count * part->member_count;
	rings->left = hd_arena_alloc(arena, places, sizeof(*rings->left));
	rings->right = hd_arena_alloc(arena, places, sizeof(*rings->right));
	rings->nodes = hd_arena_alloc(arena, part->member_count, sizeof(*rings->nodes));
	rings->results = hd_arena_alloc(arena, rings->count, sizeof(*rings->results));
	uint32_t *order = hd_arena_alloc(arena, part->member_count, sizeof(*order));
	if (hd_arena_check(arena))
		return hd_error_no_memory(err);
	uint32_t ranks = rings->job.count;
	for (uint32_t i = 0; i < rings->count; i++) {
		uint64_t random = traffic_stream(rings->part, TRAFFIC_STREAM_RINGS + i);
		for (uint32_t r = 0; r < ranks; r++)
			order[r] = r;
		if (i >= rings->natural)
			draw_order(&random, order, ranks);
		for (uint32_t r = 0; r < ranks; r++) {
			size_t at = (size_t)i * ranks + order[r];
			rings->left[at] = order[(r + ranks - 1) % ranks];
			rings->right[at] = order[(r + 1) % ranks];
		}
		rings->results[i].least = 1e300;
	}
	struct rank_script script = {ring_next, NULL, NULL, ring_mark, rings};
	return ranks_new(part, &script, &rings->job, 1, &rings->ranks, err);
}

static int ring_list(const struct hd_traffic_part *part, hd_traffic_visit visit, void *context,
		     struct hd_error *err)
{
	const struct rings *rings = part->state;
	size_t places = (size_t)rings->count * rings->job.count;
	int rc = 0;

	for (size_t i = 0; !rc && i < places; i++) {
		uint32_t from = part->members[i % rings->job.count];
		rc = traffic_visit(part, from, part->members[rings->left[i]], visit, context, err);
		if (!rc)
			rc = traffic_visit(part, from, part->members[rings->right[i]], visit,
					   context, err);
	}
	return rc;
}

static double ring_progress(const struct hd_traffic_part *part)
{
	const struct rings *rings = part->state;

	return (double)rings->finished / ((double)rings->count * rings->job.count);
}

struct summary {
	double mean, least, most; /* of the rings' means */
	double node_least, node_most; /* of single nodes in single rings */
	double message_mean, message_least, message_most; /* of the rings' means for messages */
	uint32_t rings;
};

static struct summary summarise(const struct rings *rings)
{
	struct summary sum = {.least = 1e300, .node_least = 1e300, .message_least = 1e300};

	for (uint32_t i = rings->natural; i < rings->count; i++) {
		const struct ring_result *result = &rings->results[i];
		double mean = result->sum / rings->job.count;
		if (result->nodes < rings->job.count)
			continue;
		double message = result->message_sum / result->messages;
		sum.rings++;
		sum.mean += mean;
		sum.message_mean += message;
		sum.message_least = message < sum.message_least ? message : sum.message_least;
		sum.message_most = message > sum.message_most ? message : sum.message_most;
		sum.least = mean < sum.least ? mean : sum.least;
		sum.most = mean > sum.most ? mean : sum.most;
		sum.node_least = result->least < sum.node_least ? result->least : sum.node_least;
		sum.node_most = result->most > sum.node_most ? result->most : sum.node_most;
	}
	if (!sum.rings)
		return (struct summary){0};
	sum.mean /= sum.rings;
	sum.message_mean /= sum.rings;
	return sum;
}

static void report_rings(const struct rings *rings, struct hd_traffic_report *report)
{
	for (uint32_t i = 0; i < rings->count; i++) {
		const struct ring_result *result = &rings->results[i];
		const struct traffic_value values[] = {
		    {"ring-mean", "mean bandwidth of the nodes in a ring",
		     HD_TRAFFIC_BYTES_PER_SECOND, result->nodes ? result->sum / result->nodes : 0,
		     "ring", i},
		    {"ring-min", "of the slowest node", HD_TRAFFIC_BYTES_PER_SECOND,
		     result->nodes ? result->least : 0, "ring", i},
		    {"ring-max", "of the fastest node", HD_TRAFFIC_BYTES_PER_SECOND, result->most,
		     "ring", i},
		};
		for (unsigned k = 0; k < TRAFFIC_COUNT(values); k++)
			traffic_report(report, &values[k]);
	}
}

static void ring_figures(const struct hd_traffic_part *part, struct hd_traffic_report *report)
{
	const struct rings *rings = part->state;
	const struct ring_result *natural = rings->natural ? &rings->results[0] : NULL;
	struct summary random = summarise(rings);
	const struct traffic_value values[] = {
	    {"natural", "mean bandwidth of the nodes in the natural ring",
	     HD_TRAFFIC_BYTES_PER_SECOND,
	     natural && natural->nodes ? natural->sum / natural->nodes : 0, NULL, 0},
	    {"random-mean", "mean of the random rings that are complete",
	     HD_TRAFFIC_BYTES_PER_SECOND, random.mean, NULL, 0},
	    {"random-min", "mean of the nodes in the slowest random ring",
	     HD_TRAFFIC_BYTES_PER_SECOND, random.least, NULL, 0},
	    {"random-max", "mean of the nodes in the fastest random ring",
	     HD_TRAFFIC_BYTES_PER_SECOND, random.most, NULL, 0},
	    {"random-node-min", "slowest node of all random rings", HD_TRAFFIC_BYTES_PER_SECOND,
	     random.node_least, NULL, 0},
	    {"random-node-max", "fastest node of all random rings", HD_TRAFFIC_BYTES_PER_SECOND,
	     random.node_most, NULL, 0},
	    {"message-mean", "mean bandwidth of the messages in random rings",
	     HD_TRAFFIC_BYTES_PER_SECOND, random.message_mean, NULL, 0},
	    {"message-min", "of the messages in the slowest random ring",
	     HD_TRAFFIC_BYTES_PER_SECOND, random.message_least, NULL, 0},
	    {"message-max", "of the messages in the fastest random ring",
	     HD_TRAFFIC_BYTES_PER_SECOND, random.message_most, NULL, 0},
	    {"rings", "random rings that are complete", HD_TRAFFIC_COUNT, random.rings, NULL, 0},
	};

	for (unsigned i = 0; i < TRAFFIC_COUNT(values); i++)
		traffic_report(report, &values[i]);
	report_rings(rings, report);
	uint32_t finished = random.rings;
	for (uint32_t r = 0; finished && r < rings->job.count; r++) {
		const struct traffic_value value = {
		    "node-mean",
		    "mean bandwidth of a node over the random rings",
		    HD_TRAFFIC_BYTES_PER_SECOND,
		    rings->nodes[r].sum / finished,
		    "rank",
		    r};
		traffic_report(report, &value);
	}
}

static const struct hd_option options[] = {
    TRAFFIC_CHECKED("size", "of a message", "1954 kB", hd_sim_check_size),
    TRAFFIC_BOOL("natural", "the first ring is in the order of the hosts", "yes"),
    TRAFFIC_INT("random", "rings in random order", "1", 0, 100000),
    TRAFFIC_INT("repeat", "how often both messages are sent in a ring", "1", 1, 10000),
    TRAFFIC_COMMON_OPTIONS("sl", "none"),
};

const struct hd_traffic_kind traffic_ring = {
    .name = "ring",
    .summary = "rings of hosts as in the HPC Challenge benchmark, one after the other",
    .options = options,
    .option_count = TRAFFIC_COUNT(options),
    .finite = true,
    .create = ring_create,
    .list = ring_list,
    .start = ranks_start,
    .wake = ranks_wake,
    .sent = ranks_sent,
    .delivered = delivered,
    .lost = ranks_lost,
    .progress = ring_progress,
    .figures = ring_figures,
};
