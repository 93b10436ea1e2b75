/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Ranks that do what a script says: calculate, send, receive, wait, meet, exchange.
 *
 * Kinds of traffic with ranks (ring, rounds, collective, phases) give a script; the callbacks of the simulation come
 * here. proceed() takes steps of a rank until one has to wait: for time, for a message that has left, for one that has
 * come, or for the others. Messages are matched by sender, receiver and tag, first come first served. A collective
 * operation is taken step by step from traffic_exchange.c. Messages whose packets were dropped are sent again. When
 * all ranks have ended, the traffic is finished.
 */
#include "traffic_ranks.h"
#include "traffic_draw.h"

#include <assert.h>
#include <errno.h>
#include <heddle/base/arena.h>
#include <heddle/base/index.h>
#include <heddle/base/lookup.h>
#include <inttypes.h>
#include <stdint.h>

/* Messages that have come and receives that wait, by sender, receiver and tag. */

/* What receives do while they wait. Of one key, receives that block were posted last. */
enum match_mode { MATCH_BACKGROUND, MATCH_FOREGROUND, MATCH_NONE };

struct match;

#define CHUNK 1024u

struct entry {
	uint64_t key;
	struct entry *next;
	uint32_t arrived; /* messages that nobody has received yet */
	uint32_t waiting[2]; /* by enum match_mode */
};

struct match {
	struct hd_arena *arena;
	struct entry **buckets;
	uint64_t mask;
	struct entry *unused;
};

/* For about `size` keys at a time. NULL: no memory; also when it must grow later. */
static struct match *match_new(struct hd_arena *arena, uint32_t size)
{
	struct match *match = hd_arena_alloc(arena, 1, sizeof(*match));
	uint64_t buckets = 64;

	while (buckets < size)
		buckets *= 2;
	if (!match)
		return NULL;
	*match = (struct match){.arena = arena, .mask = buckets - 1};
	match->buckets = hd_arena_alloc(arena, buckets, sizeof(struct entry *));
	return match->buckets ? match : NULL;
}

static int add_chunk(struct match *match)
{
	struct entry *entries = hd_arena_alloc(match->arena, CHUNK, sizeof(*entries));

	if (!entries)
		return -ENOMEM;
	for (uint32_t i = 0; i < CHUNK; i++) {
		entries[i].next = match->unused;
		match->unused = &entries[i];
	}
	return 0;
}

/* The link to the entry of a key. Makes the entry if it is missing. NULL: no memory. */
static struct entry **ranks_find(struct match *match, uint64_t key)
{
	struct entry **at = &match->buckets[hd_hash_number(key) & match->mask];

	while (*at && (*at)->key != key)
		at = &(*at)->next;
	if (*at)
		return at;
	if (!match->unused && add_chunk(match))
		return NULL;
	*at = match->unused;
	match->unused = (*at)->next;
	**at = (struct entry){.key = key};
	return at;
}

static void drop_if_empty(struct match *match, struct entry **at)
{
	struct entry *entry = *at;

	if (entry->arrived || entry->waiting[0] || entry->waiting[1])
		return;
	*at = entry->next;
	entry->next = match->unused;
	match->unused = entry;
}

/* A message has come. *mode: of the receive that takes it, or MATCH_NONE: it waits. Errors: -ENOMEM. */
static int match_arrive(struct match *match, uint64_t key, enum match_mode *mode)
{
	struct entry **at = ranks_find(match, key);

	if (!at)
		return -ENOMEM;
	*mode = MATCH_BACKGROUND;
	while (*mode != MATCH_NONE && !(*at)->waiting[*mode])
		++*mode;
	if (*mode == MATCH_NONE)
		(*at)->arrived++;
	else
		(*at)->waiting[*mode]--;
	drop_if_empty(match, at);
	return 0;
}

/* A receive. *waits: no message was there. Errors: -ENOMEM. */
static int match_post(struct match *match, uint64_t key, enum match_mode mode, _Bool *waits)
{
	struct entry **at = ranks_find(match, key);

	if (!at)
		return -ENOMEM;
	*waits = !(*at)->arrived;
	if (*waits)
		(*at)->waiting[mode]++;
	else
		(*at)->arrived--;
	drop_if_empty(match, at);
	return 0;
}

/* A message's tag: its match number, then flags. */
#define MATCH_BITS 24
#define MATCH_MASK ((UINT64_C(1) << MATCH_BITS) - 1)
#define EXCHANGE_MATCH (1u << 23) /* of a collective operation */
#define SENDER_BLOCKS (UINT64_C(1) << MATCH_BITS)
#define AGAIN (UINT64_C(2) << MATCH_BITS)
#define RELEASE_TOKEN (UINT64_C(1) << 40) /* + job: its ranks go on after a request */

enum waiting { GOES_ON, FOR_BACKGROUND, FOR_FOREGROUND, FOR_TIME, FOR_OTHERS, ENDED };

struct rank {
	enum waiting waiting;
	uint32_t pending[2]; /* sends and receives under way, by enum match_mode */
	bool exchanging;
	uint32_t exchange_step, exchange_count;
	struct rank_step step; /* the present one */
	uint64_t calculated, ended; /* ps */
	uint64_t random;
};

struct job {
	uint32_t count, arrived, done, ended;
	const uint32_t *hosts;
	struct rank *ranks;
	uint32_t request; /* tag that ranks ask for */
	uint64_t messages, bytes, again;
};

struct place {
	uint32_t job, rank;
};

struct ranks {
	struct hd_traffic_part *part;
	struct rank_script script;
	uint32_t job_count, jobs_ended;
	struct job *jobs;
	struct place *places; /* of each endpoint */
	struct match *match;
};

static void proceed(struct ranks *ranks, uint32_t job, uint32_t rank);

int ranks_new(struct hd_traffic_part *part, const struct rank_script *script,
	      const struct rank_job *jobs, uint32_t job_count, struct ranks **out,
	      struct hd_error *err)
{
	struct hd_arena *arena = &part->traffic->arena;
	struct ranks *ranks = hd_arena_alloc(arena, 1, sizeof(*ranks));
	struct job *made = hd_arena_alloc(arena, job_count, sizeof(*made));
	struct place *places = hd_arena_alloc(arena, part->traffic->places.count, sizeof(*places));
	struct match *match = match_new(arena, part->traffic->places.count * 4);

	if (hd_arena_check(arena))
		return hd_error_no_memory(err);
	*ranks = (struct ranks){.part = part,
				.script = *script,
				.job_count = job_count,
				.jobs = made,
				.places = places,
				.match = match};
	for (uint32_t i = 0; i < job_count; i++) {
		const struct rank_job *given = &jobs[i];
		struct job *job = &ranks->jobs[i];
		job->count = given->count;
		job->hosts = given->hosts;
		job->ranks =
		    hd_arena_alloc(&ranks->part->traffic->arena, given->count, sizeof(*job->ranks));
		for (uint32_t r = 0; r < given->count; r++)
			ranks->places[given->hosts[r]] = (struct place){i, r};
	}
	if (hd_arena_check(arena))
		return hd_error_no_memory(err);
	*out = ranks;
	return 0;
}

int ranks_place(struct hd_traffic_part *part, uint32_t count, bool random, struct rank_job **jobs,
		struct hd_error *err)
{
	struct hd_arena *arena = &part->traffic->arena;
	uint32_t *hosts = hd_arena_alloc(arena, part->member_count, sizeof(*hosts));
	uint32_t size = part->member_count / count;
	uint64_t state = traffic_stream(part, TRAFFIC_STREAM_PLACES);

	*jobs = hd_arena_alloc(arena, count, sizeof(**jobs));
	if (hd_arena_check(arena))
		return hd_error_no_memory(err);
	if (size < 2)
		return hd_error_set(err, -EINVAL,
				    "%" PRIu32 " hosts for %" PRIu32
				    " applications, expected 2 or more for each",
				    part->member_count, count);
	memcpy(hosts, part->members, part->member_count * sizeof(*hosts));
	if (random)
		draw_order(&state, hosts, part->member_count);
	for (uint32_t i = 0; i < count; i++)
		(*jobs)[i] = (struct rank_job){size, hosts + (size_t)i * size};
	return 0;
}

static uint64_t key_of(uint32_t source, uint32_t destination, uint64_t match)
{
	return (uint64_t)destination << 44 ^ (uint64_t)source << MATCH_BITS ^ match;
}

/* Whether what a rank waits for has happened. */
static void resume(struct ranks *ranks, struct place place)
{
	struct rank *rank = &ranks->jobs[place.job].ranks[place.rank];

	if ((rank->waiting == FOR_FOREGROUND && !rank->pending[MATCH_FOREGROUND]) ||
	    (rank->waiting == FOR_BACKGROUND && !rank->pending[MATCH_BACKGROUND]))
		proceed(ranks, place.job, place.rank);
}

static void ranks_arrive(struct ranks *ranks, uint32_t source, uint32_t destination, uint64_t match)
{
	struct place place = ranks->places[destination];
	enum match_mode mode;

	if (match_arrive(ranks->match, key_of(source, destination, match), &mode)) {
		traffic_fail(ranks->part, -ENOMEM, NULL);
		return;
	}
	if (mode == MATCH_NONE)
		return;
	ranks->jobs[place.job].ranks[place.rank].pending[mode]--;
	resume(ranks, place);
}

static void send(struct ranks *ranks, struct place place, uint32_t peer, uint64_t match,
		 enum match_mode mode, const struct rank_step *step, uint64_t bytes)
{
	struct job *job = &ranks->jobs[place.job];
	uint32_t from = job->hosts[place.rank], to = job->hosts[peer];

	if (from == to) { /* memory only */
		ranks_arrive(ranks, from, to, match);
		return;
	}
	struct hd_sim_message message = traffic_message(ranks->part, from, to, bytes);
	if (step->offset != HD_NONE && step->action == RANK_SEND)
		message.lid_offset = (uint16_t)step->offset;
	job->ranks[place.rank].pending[mode]++;
	job->messages++;
	job->bytes += bytes;
	traffic_send(ranks->part, &message, match | (mode == MATCH_FOREGROUND ? SENDER_BLOCKS : 0));
}

static void ranks_receive(struct ranks *ranks, struct place place, uint32_t peer, uint64_t match,
			  enum match_mode mode)
{
	struct job *job = &ranks->jobs[place.job];
	bool waits = false;

	if (match_post(ranks->match, key_of(job->hosts[peer], job->hosts[place.rank], match), mode,
		       &waits))
		traffic_fail(ranks->part, -ENOMEM, NULL);
	job->ranks[place.rank].pending[mode] += waits;
}

static struct ranks *ranks_of(const struct hd_traffic_part *part)
{
	return *(struct ranks *const *)part->state;
}

void ranks_sent(struct hd_traffic_part *part, const struct hd_sim_message *message,
		const struct hd_sim_times *times)
{
	struct ranks *ranks = ranks_of(part);
	struct place place = ranks->places[message->source];
	struct rank *rank = &ranks->jobs[place.job].ranks[place.rank];

	(void)times;
	if (message->tag & AGAIN)
		return;
	rank->pending[message->tag & SENDER_BLOCKS ? MATCH_FOREGROUND : MATCH_BACKGROUND]--;
	resume(ranks, place);
}

void ranks_delivered(struct hd_traffic_part *part, const struct hd_sim_message *message,
		     const struct hd_sim_times *times, uint32_t endpoint)
{
	(void)times;
	(void)endpoint;
	ranks_arrive(ranks_of(part), message->source, message->destination,
		     message->tag & MATCH_MASK);
}

void ranks_lost(struct hd_traffic_part *part, const struct hd_sim_message *message,
		const struct hd_sim_times *times, uint32_t endpoint)
{
	struct ranks *ranks = ranks_of(part);
	struct hd_sim_message again = *message;

	(void)times;
	(void)endpoint;
	ranks->jobs[ranks->places[message->source].job].again++;
	traffic_send(ranks->part, &again, message->tag | AGAIN);
}

/* Goes through the steps of a collective operation. True: it is complete. */
static bool exchange(struct ranks *ranks, struct place place)
{
	struct job *job = &ranks->jobs[place.job];
	struct rank *rank = &job->ranks[place.rank];
	struct exchange_step step;

	while (exchange_step(rank->step.exchange, job->count, place.rank, rank->step.peer,
			     rank->step.bytes, rank->exchange_step, &step)) {
		uint64_t match = EXCHANGE_MATCH | (rank->exchange_count & 0x7FF) << 12 |
				 (rank->exchange_step++ & 0xFFF);
		if (step.from != HD_NONE)
			ranks_receive(ranks, place, step.from, match, MATCH_FOREGROUND);
		if (step.to != HD_NONE)
			send(ranks, place, step.to, match, MATCH_FOREGROUND, &rank->step,
			     step.bytes);
		if (step.wait && rank->pending[MATCH_FOREGROUND]) {
			rank->waiting = FOR_FOREGROUND;
			return false;
		}
	}
	rank->exchanging = false;
	rank->exchange_count++;
	return true;
}

/* The last rank that comes lets all others go on, by an event of its own, so that the calls do not
 * nest. */
static void meet(struct ranks *ranks, struct place place)
{
	struct job *job = &ranks->jobs[place.job];
	struct rank *rank = &job->ranks[place.rank];

	rank->waiting = FOR_OTHERS;
	if (++job->arrived < job->count)
		return;
	if (rank->step.action == RANK_REQUEST) {
		job->request = rank->step.tag;
		uint32_t index = place.job;
		struct hd_error err = {""};
		uint64_t delay = 0;
		int rc = ranks->script.request(ranks->script.context, index,
					       ranks->jobs[index].request, &delay, &err);
		if (rc)
			traffic_fail(ranks->part, rc, &err);
		else
			traffic_wake(ranks->part, traffic_now(ranks->part) + delay,
				     RELEASE_TOKEN | index);
	} else {
		traffic_wake(ranks->part, traffic_now(ranks->part), RELEASE_TOKEN | place.job);
	}
}

static void count_done(struct ranks *ranks, struct place place)
{
	struct job *job = &ranks->jobs[place.job];

	if (++job->done < job->count)
		return;
	job->done = 0;
	ranks->script.done(ranks->script.context, place.job, job->ranks[place.rank].step.tag);
}

static void ranks_end(struct ranks *ranks, struct place place)
{
	struct job *job = &ranks->jobs[place.job];
	struct rank *rank = &job->ranks[place.rank];

	rank->waiting = ENDED;
	rank->ended = traffic_now(ranks->part);
	if (++job->ended == job->count && ++ranks->jobs_ended == ranks->job_count)
		traffic_finish(ranks->part);
}

static void wait_for(struct rank *rank, enum match_mode mode)
{
	if (rank->pending[mode])
		rank->waiting = mode == MATCH_FOREGROUND ? FOR_FOREGROUND : FOR_BACKGROUND;
}

static void calculate(struct ranks *ranks, struct place place)
{
	struct job *job = &ranks->jobs[place.job];
	struct rank *rank = &job->ranks[place.rank];

	if (!rank->step.time)
		return;
	rank->calculated += rank->step.time;
	rank->waiting = FOR_TIME;
	traffic_wake(ranks->part, traffic_now(ranks->part) + rank->step.time,
		     job->hosts[place.rank]);
}

static void take_message_step(struct ranks *ranks, struct place place, struct rank *rank)
{
	const struct rank_step *step = &rank->step;
	enum match_mode mode = step->blocks ? MATCH_FOREGROUND : MATCH_BACKGROUND;

	if (step->action == RANK_SEND)
		send(ranks, place, step->peer, step->tag, mode, step, step->bytes);
	else
		ranks_receive(ranks, place, step->peer, step->tag, mode);
	if (step->blocks)
		wait_for(rank, MATCH_FOREGROUND);
}

static void take_step(struct ranks *ranks, struct place place)
{
	struct rank *rank = &ranks->jobs[place.job].ranks[place.rank];

	ranks->script.next(ranks->script.context, place.job, place.rank, &rank->step);
	switch (rank->step.action) {
	case RANK_END:
		ranks_end(ranks, place);
		break;
	case RANK_CALCULATE:
		calculate(ranks, place);
		break;
	case RANK_SEND:
	case RANK_RECEIVE:
		take_message_step(ranks, place, rank);
		break;
	case RANK_WAIT:
		wait_for(rank, MATCH_BACKGROUND);
		break;
	case RANK_MEET:
	case RANK_REQUEST:
		meet(ranks, place);
		break;
	case RANK_EXCHANGE:
		rank->exchanging = true;
		rank->exchange_step = 0;
		break;
	case RANK_DONE:
		count_done(ranks, place);
		break;
	case RANK_MARK:
		ranks->script.mark(ranks->script.context, place.job, place.rank, rank->step.tag,
				   traffic_now(ranks->part));
		break;
	}
}

/* A rank that is free does steps until it has to wait. */
static void proceed(struct ranks *ranks, uint32_t job, uint32_t index)
{
	struct place place = {job, index};
	struct rank *rank = &ranks->jobs[job].ranks[index];

	rank->waiting = GOES_ON;
	while (rank->waiting == GOES_ON && !ranks->part->traffic->rc) {
		if (rank->exchanging)
			exchange(ranks, place);
		else
			take_step(ranks, place);
	}
}

uint64_t *ranks_random(struct ranks *ranks, uint32_t job, uint32_t rank)
{
	return &ranks->jobs[job].ranks[rank].random;
}

int ranks_start(struct hd_traffic_part *part, struct hd_error *err)
{
	struct ranks *ranks = ranks_of(part);

	(void)err;
	for (uint32_t j = 0; j < ranks->job_count; j++) {
		struct job *job = &ranks->jobs[j];
		for (uint32_t r = 0; r < job->count; r++)
			job->ranks[r].random =
			    traffic_stream(part, TRAFFIC_STREAM_SENDERS + job->hosts[r]);
		traffic_wake(part, part->start, RELEASE_TOKEN | j);
	}
	return 0;
}

void ranks_wake(struct hd_traffic_part *part, uint64_t token)
{
	struct ranks *ranks = ranks_of(part);

	if (token & RELEASE_TOKEN) {
		uint32_t index = (uint32_t)(token & (RELEASE_TOKEN - 1));
		struct job *job = &ranks->jobs[index];
		job->arrived = 0;
		/* first all are free, then they go on: one of them may meet the others again */
		for (uint32_t r = 0; r < job->count; r++)
			job->ranks[r].waiting = GOES_ON;
		for (uint32_t r = 0; r < job->count; r++)
			proceed(ranks, index, r);
	} else {
		struct place place = ranks->places[token];
		proceed(ranks, place.job, place.rank);
	}
}

int ranks_list_exchange(const struct hd_traffic_part *part, const struct rank_job *job,
			enum exchange exchange, uint32_t root, uint64_t bytes,
			hd_traffic_visit visit, void *context, struct hd_error *err)
{
	struct exchange_step step;
	int rc = 0;

	for (uint32_t r = 0; r < job->count; r++)
		for (uint32_t i = 0;
		     !rc && exchange_step(exchange, job->count, r, root, bytes, i, &step); i++)
			if (step.to != HD_NONE)
				rc = traffic_visit(part, job->hosts[r], job->hosts[step.to], visit,
						   context, err);
	return rc;
}

void ranks_times(const struct ranks *ranks, uint32_t index, struct rank_times *out)
{
	const struct job *job = &ranks->jobs[index];
	uint64_t start = ranks->part->start, sum = 0;
	uint64_t now = ranks->part->traffic->sim ? traffic_now(ranks->part) : start;

	*out = (struct rank_times){.messages = job->messages,
				   .bytes = job->bytes,
				   .again = job->again,
				   .waiting = job->count - job->ended};
	for (uint32_t r = 0; r < job->count; r++) {
		const struct rank *rank = &job->ranks[r];
		uint64_t end = rank->waiting == ENDED ? rank->ended : now;
		uint64_t total = end > start ? end - start : 0;
		uint64_t spent = total > rank->calculated ? total - rank->calculated : 0;
		out->total = total > out->total ? total : out->total;
		out->longest = spent > out->longest ? spent : out->longest;
		sum += spent;
	}
	out->communication = sum / job->count;
}
