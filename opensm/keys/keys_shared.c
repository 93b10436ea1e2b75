/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "keys_shared.h"
#include "part.h"
#include "routing.h"
#include "writer_tables.h"
#include <heddle/change/keys_proof.h>

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#define NAMED_KEYS 8 /* that have broken, in the log */
#define BORROW_MS 20 /* for a SET that is under way */

int keys_shared_init(struct keys_shared *shared, struct part_context *context, struct hd_error *err)
{
	*shared = (struct keys_shared){.context = context, .turn = 1};
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

void keys_shared_take_turn(struct keys_shared *shared)
{
	pthread_mutex_lock(&shared->lock);
	shared->turn++;
	shared->ready = false;
	pthread_mutex_unlock(&shared->lock);
}

void keys_shared_forget(const struct keys_shared *shared, const struct hd_fabric *fabric,
			const struct keys_blocks *blocks, bool only_unknown)
{
	for (uint32_t i = 0; i < blocks->count; i++) {
		const struct keys_block *block = &blocks->list[i];
		if (!only_unknown || block->held == KEYS_HELD_UNKNOWN)
			writer_tables_forget(shared->context->osm, fabric, block->sw, block->number,
					     block->after);
	}
}

void keys_shared_forget_flight(struct keys_shared *shared)
{
	pthread_mutex_lock(&shared->lock);
	if (shared->flight) {
		keys_shared_forget(shared, shared->flight_fabric, shared->flight, false);
		shared->unsure = true;
	}
	shared->flight = NULL;
	pthread_mutex_unlock(&shared->lock);
}

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

void keys_shared_give_turn(struct keys_shared *shared, struct keys_news *news)
{
	pthread_mutex_lock(&shared->lock);
	struct keys_news old = shared->news;
	const bool same = news->same && (!old.any || old.same) && !shared->repaired;
	shared->last = *news;
	shared->last.routing = NULL;
	shared->last.proof = NULL;
	shared->last.broken = (struct keys_broken_list){0};
	shared->repaired = false;
	shared->unsure = false;
	shared->news = *news;
	shared->news.any = true;
	shared->news.same = same;
	shared->news.broken = old.broken;
	shared->ready = true;
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

/* ---- the thread that repairs ---- */

/* With the lock held, which is released meanwhile. */
static void wait_for_set(struct keys_shared *shared)
{
	const struct timespec millisecond = {.tv_nsec = 1000000};

	for (unsigned i = 0; i < BORROW_MS && shared->flight; i++) {
		pthread_mutex_unlock(&shared->lock);
		nanosleep(&millisecond, NULL);
		pthread_mutex_lock(&shared->lock);
	}
}

int keys_shared_borrow_turn(struct keys_shared *shared, uint64_t *turn, struct hd_error *err)
{
	int rc = 0;

	pthread_mutex_lock(&shared->lock);
	wait_for_set(shared);
	if (shared->flight || shared->unsure) {
		rc = hd_error_set(err, -EAGAIN, "a routing key is being put in force");
	} else {
		*turn = shared->ready ? ++shared->turn : 0;
		shared->ready = false;
	}
	pthread_mutex_unlock(&shared->lock);
	return rc;
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

void keys_shared_return_turn(struct keys_shared *shared, uint64_t turn, struct routing *routing,
			     struct hd_keys_proof *proof)
{
	struct keys_news old = {0};

	pthread_mutex_lock(&shared->lock);
	if (turn && shared->turn == turn) {
		shared->ready = true;
		if (routing && !*shared->last.refusal) {
			old = shared->news;
			shared->news = news_of(shared, routing, proof);
			shared->repaired = true;
			old.broken = (struct keys_broken_list){0};
			routing = NULL;
			proof = NULL;
		}
	}
	pthread_mutex_unlock(&shared->lock);
	keys_news_release(&old);
	routing_release(routing);
	hd_keys_proof_free(proof);
	keys_shared_wake(shared);
}

/* ---- the thread ---- */

void keys_shared_note_connected(struct keys_shared *shared, bool connected)
{
	pthread_mutex_lock(&shared->lock);
	shared->connected = connected;
	pthread_mutex_unlock(&shared->lock);
}

void keys_shared_note_done(struct keys_shared *shared, uint64_t key)
{
	struct keys_broken_list *lost = &shared->lost;

	pthread_mutex_lock(&shared->lock);
	for (uint32_t i = 0; i < lost->count; i++)
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
	uint64_t turn;

	pthread_mutex_lock(&shared->lock);
	turn = shared->ready && !shared->news.any ? shared->turn : 0;
	pthread_mutex_unlock(&shared->lock);
	return turn;
}

int keys_shared_work(void *context, struct hd_smp_queue *queue)
{
	const struct keys_turn *turn = context;
	int rc = -ECANCELED;

	pthread_mutex_lock(&turn->shared->lock);
	if (turn->shared->turn == turn->number && !turn->shared->ending)
		rc = hd_smp_queue_work(queue);
	pthread_mutex_unlock(&turn->shared->lock);
	return rc;
}
