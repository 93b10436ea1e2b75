/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "keys_shared.h"
#include "opensm_headers.h"
#include "part.h"
#include "routing.h"
#include <heddle/change/keys_proof.h>

#include <errno.h>
#include <heddle/base/parallel.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define NAMED_KEYS 8 /* that have broken, in the log */

/* ---- jobs ---- */

static bool is_due(void *state, bool turn, double *until)
{
	const struct keys_shared *shared = state;

	(void)turn;
	(void)until;
	return shared->job != NULL;
}

static void run(void *state, uint64_t turn)
{
	struct keys_shared *shared = state;
	struct writer *writer = shared->context->writer;

	(void)turn; /* the job has its own: it was computed with that one */
	writer_lock(writer);
	struct keys_job *job = shared->job;
	shared->job = NULL;
	writer_unlock(writer);
	if (!job)
		return;
	job->run(job->context);
	writer_lock(writer);
	job->done = true;
	writer_tell(writer);
	writer_unlock(writer);
}

bool keys_shared_do(struct keys_shared *shared, void (*run_it)(void *context), void *context)
{
	struct writer *writer = shared->context->writer;
	struct keys_job job = {.run = run_it, .context = context};
	bool withdrawn = false;

	writer_lock(writer);
	shared->job = &job;
	writer_post(writer);
	while (!job.done && !withdrawn) {
		hd_condition_wait(&writer->done, &writer->lock);
		withdrawn = shared->job == &job && !keys_shared_go_on(shared);
	}
	if (withdrawn)
		shared->job = NULL;
	writer_unlock(writer);
	return !withdrawn;
}

/* ---- the mailbox ---- */

int keys_shared_init(struct keys_shared *shared, struct part_context *context, struct hd_error *err)
{
	*shared = (struct keys_shared){.context = context};
	shared->client = (struct writer_client){.rank = WRITER_KEYS,
						.is_due = is_due,
						.run = run,
						.state = shared,
						.doing = "a routing key is being put in force"};
	shared->set = keys_set_new();
	if (!shared->set)
		return hd_error_no_memory(err);
	shared->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (shared->wake < 0) {
		keys_set_release(shared->set);
		return hd_error_set(err, -errno, "no eventfd: %s", strerror(errno));
	}
	pthread_mutex_init(&shared->lock, NULL);
	return 0;
}

void keys_news_release(struct keys_news *news)
{
	routing_release(news->routing);
	keys_broken_release(&news->broken);
	hd_keys_proof_free(news->proof);
	*news = (struct keys_news){0};
}

void keys_shared_release(struct keys_shared *shared)
{
	if (shared->context->writer)
		writer_remove(shared->context->writer, &shared->client);
	keys_news_release(&shared->news);
	keys_broken_release(&shared->lost);
	keys_set_release(shared->set);
	pthread_mutex_destroy(&shared->lock);
	close(shared->wake);
}

void keys_shared_wake(const struct keys_shared *shared)
{
	const uint64_t one = 1;
	ssize_t written = write(shared->wake, &one, sizeof(one));

	(void)written; /* it fails only if the thread has been woken very often already */
}

/* ---- the sweeper thread ---- */

bool keys_shared_has_keys(struct keys_shared *shared)
{
	pthread_mutex_lock(&shared->lock);
	bool any = shared->set->count > 0;
	pthread_mutex_unlock(&shared->lock);
	return any;
}

void keys_shared_say_broken(const struct keys_shared *shared, const struct keys_broken_list *broken)
{
	struct opensm_log *log = &shared->context->log;

	for (uint32_t i = 0; i < broken->count && i < NAMED_KEYS; i++)
		log_error(log, LOG_ERROR_KEYS, "keys: key %" PRIu64 " is not in force any more: %s",
			  broken->list[i].key, broken->list[i].reason);
	if (broken->count > NAMED_KEYS)
		log_error(log, LOG_ERROR_KEYS,
			  "keys: %" PRIu32 " more keys are not in force any more",
			  broken->count - NAMED_KEYS);
}

struct keys_set *keys_shared_replace_set(struct keys_shared *shared, struct keys_set *set,
					 const struct keys_broken_list *broken)
{
	pthread_mutex_lock(&shared->lock);
	struct keys_set *former = shared->set;
	shared->set = set;
	for (uint32_t i = 0; i < broken->count; i++) {
		keys_broken_add(&shared->news.broken, broken->list[i].key, broken->list[i].reason);
		if (shared->lost.count < KEYS_BROKEN_MOST)
			keys_broken_add(&shared->lost, broken->list[i].key, broken->list[i].reason);
	}
	pthread_mutex_unlock(&shared->lock);
	return former;
}

void keys_shared_give(struct keys_shared *shared, struct keys_news *news)
{
	pthread_mutex_lock(&shared->lock);
	struct keys_news old = shared->news;
	const bool same = news->same && (!old.any || old.same) && !shared->repaired;
	shared->last = *news;
	shared->last.routing = NULL;
	shared->last.proof = NULL;
	shared->last.broken = (struct keys_broken_list){0};
	shared->repaired = false;
	shared->unsure_of_set = shared->unsure_of_repair = false;
	shared->news = *news;
	shared->news.any = true;
	shared->news.same = same;
	shared->news.broken = old.broken;
	memcpy(shared->refusal, news->refusal, sizeof(shared->refusal));
	pthread_mutex_unlock(&shared->lock);
	old.broken = (struct keys_broken_list){0};
	keys_news_release(&old);
	keys_shared_wake(shared);
}

void keys_shared_note_listening(struct keys_shared *shared, bool wanted, bool listening)
{
	pthread_mutex_lock(&shared->lock);
	shared->wanted = wanted;
	shared->listening = listening;
	pthread_mutex_unlock(&shared->lock);
}

/* ---- the writer's thread ---- */

void keys_shared_note_unsure(struct keys_shared *shared, uint64_t turn, bool *flag)
{
	struct writer *writer = shared->context->writer;

	pthread_mutex_lock(&writer->turn_lock);
	if (writer_is_turn(writer, turn)) {
		pthread_mutex_lock(&shared->lock);
		*flag = true;
		pthread_mutex_unlock(&shared->lock);
	}
	pthread_mutex_unlock(&writer->turn_lock);
}

/* What the thread needs to know of tables that a repair has published. */
static struct keys_news news_of(const struct keys_shared *shared, struct routing *routing,
				struct hd_keys_proof *proof)
{
	struct keys_news news = shared->last;

	news.any = true;
	news.same = false;
	news.routing = routing;
	news.proof = proof;
	news.broken = shared->news.broken;
	return news;
}

void keys_shared_note_repaired(struct keys_shared *shared, struct routing *routing,
			       struct hd_keys_proof *proof, struct keys_news *old)
{
	pthread_mutex_lock(&shared->lock);
	*old = shared->news;
	shared->news = news_of(shared, routing, proof);
	shared->repaired = true;
	old->broken = (struct keys_broken_list){0};
	pthread_mutex_unlock(&shared->lock);
}

/* ---- the thread ---- */

void keys_shared_note_connected(struct keys_shared *shared, bool connected)
{
	pthread_mutex_lock(&shared->lock);
	shared->connected = connected;
	pthread_mutex_unlock(&shared->lock);
}

void keys_shared_note_done(struct keys_shared *shared, uint64_t key, bool removed)
{
	struct keys_broken_list *lost = &shared->lost;

	pthread_mutex_lock(&shared->lock);
	const bool holds = removed || keys_set_find(shared->set, key);
	for (uint32_t i = 0; holds && i < lost->count; i++)
		if (lost->list[i].key == key)
			lost->list[i--] = lost->list[--lost->count];
	pthread_mutex_unlock(&shared->lock);
}

void keys_shared_take_news(struct keys_shared *shared, struct keys_news *out)
{
	pthread_mutex_lock(&shared->lock);
	*out = (struct keys_news){0};
	if (shared->news.any) {
		*out = shared->news;
		shared->news = (struct keys_news){0};
	}
	pthread_mutex_unlock(&shared->lock);
}

struct keys_set *keys_shared_set(struct keys_shared *shared)
{
	struct keys_set *set;

	pthread_mutex_lock(&shared->lock);
	set = keys_set_hold(shared->set);
	pthread_mutex_unlock(&shared->lock);
	return set;
}

uint64_t keys_shared_turn(struct keys_shared *shared)
{
	const uint64_t turn = writer_turn(shared->context->writer);

	pthread_mutex_lock(&shared->lock);
	const bool may = !shared->news.any && !shared->unsure_of_repair;
	pthread_mutex_unlock(&shared->lock);
	return may ? turn : 0;
}

bool keys_shared_go_on(void *context)
{
	struct keys_shared *shared = context;

	pthread_mutex_lock(&shared->lock);
	const bool go_on = !shared->ending;
	pthread_mutex_unlock(&shared->lock);
	return go_on;
}
