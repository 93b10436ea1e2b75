/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "keys_shared.h"
#include "keys_proof.h"
#include "keys_tables.h"
#include "part.h"
#include "routing.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

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
	keys_proof_free(news->proof);
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

void keys_shared_forget_flight(struct keys_shared *shared)
{
	pthread_mutex_lock(&shared->lock);
	if (shared->flight)
		keys_tables_forget(shared->context->osm, shared->flight_fabric, shared->flight,
				   false);
	shared->flight = NULL;
	pthread_mutex_unlock(&shared->lock);
}

void keys_shared_replace_set(struct keys_shared *shared, struct keys_set *set,
			     struct keys_broken_list *broken)
{
	pthread_mutex_lock(&shared->lock);
	keys_set_release(shared->set);
	shared->set = set;
	for (uint32_t i = 0; i < broken->count; i++) {
		keys_broken_add(&shared->news.broken, broken->list[i].key, broken->list[i].reason);
		if (shared->lost.count < KEYS_BROKEN_MOST)
			keys_broken_add(&shared->lost, broken->list[i].key, broken->list[i].reason);
	}
	pthread_mutex_unlock(&shared->lock);
	keys_broken_release(broken);
}

void keys_shared_give_turn(struct keys_shared *shared, struct keys_news *news)
{
	pthread_mutex_lock(&shared->lock);
	struct keys_news old = shared->news;
	const bool same = news->same && (!old.any || old.same);
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
