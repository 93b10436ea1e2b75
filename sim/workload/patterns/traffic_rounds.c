/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The rounds of a pattern of heddle ebb as messages: a rank begins a round when it has sent and
 * received all messages of the one before. The ranks meet before each repetition, without messages. */
#include "traffic_draw.h"
#include "traffic_pattern.h"
#include "traffic_ranks.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

static int take_ranks(const struct hd_traffic_part *part, const struct hd_pattern_kind *kind,
		      struct hd_ranks *ranks, struct hd_error *err)
{
	*ranks = (struct hd_ranks){.fabric = part->traffic->scene->network->subnets[0].fabric,
				   .count = part->member_count,
				   .adapters = 1};
	ranks->host =
	    hd_arena_alloc(&part->traffic->arena, part->member_count, sizeof(*ranks->host));
	if (!ranks->host)
		return hd_error_no_memory(err);
	memcpy(ranks->host, part->members, part->member_count * sizeof(*ranks->host));
	return hd_ranks_for_pattern(ranks, kind, err);
}

int traffic_pattern_new(const struct hd_traffic_part *part, const char *text,
			struct traffic_pattern *out, struct hd_error *err)
{
	char *copy = hd_arena_strdup(&part->traffic->arena, text);

	*out = (struct traffic_pattern){.pattern = NULL};
	if (!copy)
		return hd_error_no_memory(err);
	if (part->traffic->places.subnet_count > 1)
		return hd_error_set(err, -ENOTSUP, "patterns are for one subnet");
	char *settings = strchr(copy, ',');
	if (settings)
		*settings++ = '\0';
	const struct hd_pattern_kind *kind = hd_pattern_find(copy);
	if (!kind)
		return hd_error_set(err, -EINVAL, "no pattern is called '%s'", copy);
	struct hd_options *options = hd_options_new(kind->options, kind->option_count);
	int rc = options ? hd_options_set_pairs(options, settings, err) : hd_error_no_memory(err);
	if (!rc)
		rc = take_ranks(part, kind, &out->ranks, err);
	if (!rc)
		rc = hd_pattern_new(kind, options, &out->ranks, &out->pattern, err);
	hd_options_free(options);
	return rc;
}

int traffic_pattern_round(const struct traffic_pattern *pattern, const struct hd_traffic_part *part,
			  uint32_t round, struct hd_flow *flows, uint32_t *count,
			  struct hd_error *err)
{
	return hd_pattern_draw(pattern->pattern, &pattern->ranks, HD_MAP_IDENTITY,
			       part->traffic->seed, 0, round, flows, count, err);
}

void traffic_pattern_release(struct traffic_pattern *pattern)
{
	hd_pattern_free(pattern->pattern);
}

#define FLOWS_MOST (1u << 24)
#define TAGS 0xFFFFu

/* The peers of each rank in each round: peer[base[round * ranks + rank]] ... */
struct peers {
	uint32_t *base, *peer;
};

struct round_of_rank {
	uint32_t repetition, round, at; /* at: messages of the round that are begun */
	bool met, waits; /* of the repetition, and of the round */
	uint64_t begun;
};

struct rounds {
	struct ranks *ranks; /* first */
	struct hd_traffic_part *part;
	struct rank_job job;
	struct peers in, out;
	uint32_t round_count, repeat;
	uint64_t bytes, flows; /* of a message; messages of a repetition */
	struct round_of_rank *places; /* [job.count] */
	double sum, worst; /* ps; times of ranks */
	uint64_t finished; /* repetitions of ranks */
};

static uint32_t count_of(const struct rounds *rounds, const struct peers *peers, uint32_t round,
			 uint32_t rank)
{
	const uint32_t *base = &peers->base[(size_t)round * rounds->job.count + rank];

	return base[1] - base[0];
}

/* The next message of a rank in its round; false: all are begun. */
static bool begin_message(const struct rounds *rounds, uint32_t rank, struct rank_step *step)
{
	struct round_of_rank *place = &rounds->places[rank];
	uint32_t ins = count_of(rounds, &rounds->in, place->round, rank);
	uint32_t outs = count_of(rounds, &rounds->out, place->round, rank);

	if (place->at == ins + outs)
		return false;
	bool receives = place->at < ins;
	const struct peers *peers = receives ? &rounds->in : &rounds->out;
	uint32_t base = peers->base[(size_t)place->round * rounds->job.count + rank];
	step->action = receives ? RANK_RECEIVE : RANK_SEND;
	step->peer = peers->peer[base + place->at - (receives ? 0 : ins)];
	step->tag = place->round & TAGS;
	place->at++;
	return true;
}

/* Messages of the rounds and a wait after each; false: the repetition is over. */
static bool next_in_rounds(const struct rounds *rounds, uint32_t rank, struct rank_step *step)
{
	struct round_of_rank *place = &rounds->places[rank];

	while (place->round < rounds->round_count) {
		if (begin_message(rounds, rank, step))
			return true;
		bool waits = place->at > 0;
		place->round++;
		place->at = 0;
		if (waits) {
			step->action = RANK_WAIT;
			return true;
		}
	}
	return false;
}

static void rounds_next(void *context, uint32_t job, uint32_t rank, struct rank_step *step)
{
	struct rounds *rounds = context;
	struct round_of_rank *place = &rounds->places[rank];

	(void)job;
	*step = (struct rank_step){.offset = HD_NONE, .bytes = rounds->bytes};
	if (place->repetition == rounds->repeat)
		return;
	if (!place->met) {
		place->met = true;
		step->action = RANK_MEET;
	} else if (!place->waits) {
		place->waits = true;
		step->action = RANK_MARK;
	} else if (!next_in_rounds(rounds, rank, step)) {
		step->action = RANK_MARK;
		step->tag = 1;
	}
}

static void rounds_mark(void *context, uint32_t job, uint32_t rank, uint32_t tag, uint64_t now)
{
	struct rounds *rounds = context;
	struct round_of_rank *place = &rounds->places[rank];

	(void)job;
	if (!tag) {
		place->begun = now;
		return;
	}
	double time = (double)(now - place->begun);
	rounds->sum += time;
	rounds->worst = time > rounds->worst ? time : rounds->worst;
	rounds->finished++;
	*place = (struct round_of_rank){.repetition = place->repetition + 1};
}

struct listed {
	struct hd_flow *flows; /* ranks */
	uint32_t *base; /* [rounds + 1] */
};

static int list_rounds(const struct hd_traffic_part *part, const struct traffic_pattern *pattern,
		       const uint32_t *rank_of, struct listed *listed, struct hd_error *err)
{
	uint32_t rounds = pattern->pattern->rounds, count = 0, found = 0;
	int rc = 0;

	for (uint32_t round = 0; !rc && round < rounds; round++) {
		struct hd_flow *flows = listed->flows + count;
		listed->base[round] = count;
		rc = traffic_pattern_round(pattern, part, round, flows, &found, err);
		for (uint32_t i = 0; !rc && i < found; i++)
			flows[i] = (struct hd_flow){rank_of[flows[i].source],
						    rank_of[flows[i].destination]};
		count += found;
	}
	listed->base[rounds] = count;
	return rc;
}

/* Sorts the flows of each round by one of their ends. */
static int make_peers(struct rounds *rounds, const struct listed *listed, bool by_source,
		      struct peers *peers, struct hd_error *err)
{
	struct hd_arena *arena = &rounds->part->traffic->arena;
	uint32_t ranks = rounds->job.count;
	size_t places = (size_t)rounds->round_count * ranks;

	peers->base = hd_arena_alloc(arena, places + 2, sizeof(uint32_t));
	peers->peer = hd_arena_alloc(arena, rounds->flows, sizeof(uint32_t));
	if (hd_arena_check(arena))
		return hd_error_no_memory(err);
	for (uint32_t round = 0; round < rounds->round_count; round++)
		for (uint32_t i = listed->base[round]; i < listed->base[round + 1]; i++)
			peers->base[(size_t)round * ranks + 2 +
				    (by_source ? listed->flows[i].source
					       : listed->flows[i].destination)]++;
	for (size_t place = 2; place < places + 2; place++)
		peers->base[place] += peers->base[place - 1];
	for (uint32_t round = 0; round < rounds->round_count; round++)
		for (uint32_t i = listed->base[round]; i < listed->base[round + 1]; i++) {
			struct hd_flow flow = listed->flows[i];
			uint32_t rank = by_source ? flow.source : flow.destination;
			peers->peer[peers->base[(size_t)round * ranks + rank + 1]++] =
			    by_source ? flow.destination : flow.source;
		}
	return 0;
}

static int take_rounds(struct rounds *rounds, const struct traffic_pattern *pattern,
		       struct hd_error *err)
{
	struct hd_traffic_part *part = rounds->part;
	uint64_t most = (uint64_t)pattern->pattern->rounds * pattern->pattern->round_max;

	if (most > FLOWS_MOST)
		return hd_error_set(err, -ERANGE,
				    "option 'pattern': up to %" PRIu64
				    " messages in all rounds, expected %u or fewer",
				    most, FLOWS_MOST);
	uint32_t *rank_of =
	    hd_arena_alloc(&part->traffic->arena, part->traffic->places.count, sizeof(*rank_of));
	struct listed listed = {
	    .flows = calloc(most, sizeof(*listed.flows)),
	    .base = calloc((size_t)pattern->pattern->rounds + 1, sizeof(*listed.base))};
	int rc = rank_of && listed.flows && listed.base ? 0 : hd_error_no_memory(err);
	for (uint32_t rank = 0; !rc && rank < pattern->ranks.count; rank++)
		rank_of[pattern->ranks.host[rank]] = rank;
	if (!rc)
		rc = list_rounds(part, pattern, rank_of, &listed, err);
	if (!rc) {
		rounds->round_count = pattern->pattern->rounds;
		rounds->flows = listed.base[rounds->round_count];
		rc = make_peers(rounds, &listed, true, &rounds->out, err);
	}
	if (!rc)
		rc = make_peers(rounds, &listed, false, &rounds->in, err);
	free(listed.flows);
	free(listed.base);
	return rc;
}

static int rounds_create(struct hd_traffic_part *part, const struct hd_options *options,
			 struct hd_error *err)
{
	struct hd_arena *arena = &part->traffic->arena;
	struct rounds *rounds = hd_arena_alloc(arena, 1, sizeof(*rounds));
	struct traffic_pattern pattern;

	if (!rounds)
		return hd_error_no_memory(err);
	part->state = rounds;
	rounds->part = part;
	rounds->repeat = (uint32_t)hd_options_get(options, "repeat")->number;
	rounds->bytes = traffic_size(options, "size");
	int rc = traffic_pattern_new(part, hd_options_get(options, "pattern")->text, &pattern, err);
	rounds->job = (struct rank_job){pattern.ranks.count, pattern.ranks.host};
	if (!rc && !rounds->bytes)
		rc = hd_error_set(err, -EINVAL, "option 'size': expected a size above 0");
	if (!rc)
		rc = take_rounds(rounds, &pattern, err);
	traffic_pattern_release(&pattern);
	if (rc)
		return rc;
	rounds->places = hd_arena_alloc(arena, rounds->job.count, sizeof(*rounds->places));
	if (!rounds->places)
		return hd_error_no_memory(err);
	struct rank_script script = {rounds_next, NULL, NULL, rounds_mark, rounds};
	return ranks_new(part, &script, &rounds->job, 1, &rounds->ranks, err);
}

static int rounds_list(const struct hd_traffic_part *part, hd_traffic_visit visit, void *context,
		       struct hd_error *err)
{
	const struct rounds *rounds = part->state;
	const uint32_t *hosts = rounds->job.hosts;
	int rc = 0;

	for (uint32_t round = 0; round < rounds->round_count; round++)
		for (uint32_t rank = 0; rank < rounds->job.count; rank++) {
			uint32_t base = rounds->out.base[(size_t)round * rounds->job.count + rank];
			uint32_t count = count_of(rounds, &rounds->out, round, rank);
			for (uint32_t i = 0; !rc && i < count; i++)
				rc = traffic_visit(part, hosts[rank],
						   hosts[rounds->out.peer[base + i]], visit,
						   context, err);
		}
	return rc;
}

static double rounds_progress(const struct hd_traffic_part *part)
{
	const struct rounds *rounds = part->state;

	return (double)rounds->finished / ((double)rounds->repeat * rounds->job.count);
}

static void rounds_figures(const struct hd_traffic_part *part, struct hd_traffic_report *report)
{
	const struct rounds *rounds = part->state;
	double second = (double)HD_SIM_SECOND, ranks = rounds->job.count;
	double done = rounds->finished ? (double)rounds->finished : 1;
	double sent = (double)rounds->flows * (double)rounds->bytes / ranks;
	const struct traffic_value values[] = {
	    {"rounds", "of a repetition", HD_TRAFFIC_COUNT, rounds->round_count, NULL, 0},
	    {"messages", "of a repetition", HD_TRAFFIC_COUNT, (double)rounds->flows, NULL, 0},
	    {"time", "mean time of all rounds, over ranks and repetitions", HD_TRAFFIC_SECONDS,
	     rounds->sum / done / second, NULL, 0},
	    {"time-max", "longest time of a rank", HD_TRAFFIC_SECONDS, rounds->worst / second, NULL,
	     0},
	    {"bandwidth", "bytes that a rank sends, in the mean, by the longest time",
	     HD_TRAFFIC_BYTES_PER_SECOND, rounds->worst > 0 ? sent * second / rounds->worst : 0,
	     NULL, 0},
	};

	for (unsigned k = 0; k < TRAFFIC_COUNT(values); k++)
		traffic_report(report, &values[k]);
}

static const struct hd_option options[] = {
    TRAFFIC_OPTION("pattern",
		   "NAME[,OPTION=VALUE] (see heddle ebb --patterns); with one of machines, such as "
		   "nccl-ring, the hosts of one machine are its adapters",
		   "nccl-ring"),
    TRAFFIC_CHECKED("size", "of a message", "1 MiB", hd_sim_check_size),
    TRAFFIC_INT("repeat", "repetitions of all rounds", "1", 1, 1000000),
    TRAFFIC_COMMON_OPTIONS("sl", "none"),
};

const struct hd_traffic_kind traffic_rounds = {
    .name = "rounds",
    .summary = "the rounds of a pattern, such as those of NCCL, each after the one before",
    .options = options,
    .option_count = TRAFFIC_COUNT(options),
    .create = rounds_create,
    .list = rounds_list,
    RANKS_FUNCTIONS,
    .progress = rounds_progress,
    .figures = rounds_figures,
};
