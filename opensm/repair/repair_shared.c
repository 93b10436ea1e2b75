/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "repair_shared.h"
#include "master.h"
#include "monotonic.h"
#include "opensm_headers.h"
#include "part.h"
#include "writer_tables.h"

#include <complib/cl_passivelock.h>
#include <errno.h>
#include <heddle/base/parallel.h>
#include <sys/resource.h>
#include <time.h>

/* ---- OpenSM's lock ---- */

/*
 * OpenSM's lock, as the part that repairs takes it. Each time is measured, since OpenSM's own threads
 * wait meanwhile. The time by the clock includes what the thread spends without a core; its CPU time does
 * not, but includes page faults.
 */

#define LOOK_MS 5 /* between two looks at whether the turn is lost, while waiting for the lock */

static double cpu_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static long preempted(void)
{
	struct rusage usage;

	return getrusage(RUSAGE_THREAD, &usage) ? 0 : usage.ru_nivcsw;
}

/* What a thread does that has the lock already, or another one. */
static struct repair_hold repair_lock_begin(void)
{
	return (struct repair_hold){
	    .wall_us = monotonic_ms() * 1e3, .cpu_us = cpu_us(), .preempted = preempted()};
}

/* Adds the time since then. The caller sees to it that `holds` is not changed at the same time. */
static void repair_lock_end(struct repair_holds *holds, struct repair_hold hold)
{
	const uint64_t cpu = (uint64_t)(cpu_us() - hold.cpu_us);
	const uint64_t wall = (uint64_t)(monotonic_ms() * 1e3 - hold.wall_us);

	holds->count++;
	holds->over += wall > REPAIR_LOCK_LONG_US;
	if (wall > REPAIR_LOCK_LONG_US && preempted() != hold.preempted)
		holds->preempted++;
	if (wall > holds->wall_us_most)
		holds->wall_us_most = wall;
	if (cpu > holds->cpu_us_most)
		holds->cpu_us_most = cpu;
}

struct repair_hold repair_lock_take(struct repair_shared *shared, bool exclusive)
{
	if (exclusive)
		cl_plock_excl_acquire(&shared->context->osm->lock);
	else
		cl_plock_acquire(&shared->context->osm->lock);
	return repair_lock_begin();
}

bool repair_lock_try(struct repair_shared *shared, uint64_t turn, struct repair_hold *hold)
{
	/* complib's lock has no time limit, but that of the system inside it has */
	pthread_rwlock_t *lock = &shared->context->osm->lock.lock;
	struct timespec end;

	do {
		if (!repair_shared_is_turn(shared, turn))
			return false;
		clock_gettime(CLOCK_REALTIME, &end);
		end.tv_nsec += LOOK_MS * 1000000;
		end.tv_sec += end.tv_nsec / 1000000000;
		end.tv_nsec %= 1000000000;
	} while (pthread_rwlock_timedwrlock(lock, &end));
	*hold = repair_lock_begin();
	return true;
}

void repair_lock_release(struct repair_shared *shared, struct repair_hold hold)
{
	struct repair_holds one = {0};

	repair_lock_end(&one, hold);
	cl_plock_release(&shared->context->osm->lock);
	repair_shared_note_hold(shared, &one);
}

/* ---- what is shared ---- */

#define SETTLE_MOST 10 /* times settle_ms */
#define END_MS 20 /* between two looks at whether OpenSM ends */
#define VAIN_FREE 4 /* repairs that repair nothing, before waits become longer */
#define VAIN_DOUBLED 4 /* times that the wait doubles */
#define VAIN_MS 4 /* the first of these waits */
#define CALM_MS 1000 /* without a trap: the storm is over */

void repair_shared_init(struct repair_shared *shared, struct part_context *context)
{
	*shared = (struct repair_shared){.context = context, .turn = 1};
	pthread_mutex_init(&shared->lock, NULL);
	pthread_mutex_init(&shared->turn_lock, NULL);
	monotonic_condition(&shared->posted);
	monotonic_condition(&shared->done);
}

void repair_shared_release(struct repair_shared *shared)
{
	repair_start_free(shared->news);
	pthread_mutex_destroy(&shared->lock);
	pthread_mutex_destroy(&shared->turn_lock);
	pthread_cond_destroy(&shared->posted);
	pthread_cond_destroy(&shared->done);
}

/* ---- OpenSM's threads ---- */

void repair_shared_note_trap(struct repair_shared *shared, uint16_t lid)
{
	const double now = monotonic_ms();
	bool known = false;

	pthread_mutex_lock(&shared->lock);
	struct repair_issuers *issuers = &shared->issuers;
	shared->figures.traps++;
	if (!issuers->count)
		issuers->first_ms = now;
	issuers->last_ms = now;
	for (uint32_t i = 0; i < issuers->count; i++)
		known |= issuers->lids[i] == lid;
	if (!known && issuers->count < REPAIR_ISSUERS_MOST)
		issuers->lids[issuers->count++] = lid;
	else if (!known)
		issuers->more = true;
	pthread_cond_signal(&shared->posted);
	pthread_mutex_unlock(&shared->lock);
}

void repair_shared_wait(struct repair_shared *shared, unsigned milliseconds)
{
	const double end = monotonic_ms() + milliseconds;

	pthread_mutex_lock(&shared->lock);
	const uint64_t enough = shared->finished + 2;
	while (shared->finished < enough && !osm_exit_flag && monotonic_ms() < end &&
	       (shared->working || (shared->ready && shared->issuers.count))) {
		const double look = monotonic_ms() + END_MS;
		const struct timespec when = monotonic_timespec(look < end ? look : end);
		pthread_cond_timedwait(&shared->done, &shared->lock, &when);
	}
	pthread_mutex_unlock(&shared->lock);
}

/* Adds to the sum of times. */
static void add_holds(struct repair_holds *sum, const struct repair_holds *more)
{
	sum->count += more->count;
	sum->over += more->over;
	sum->preempted += more->preempted;
	if (more->wall_us_most > sum->wall_us_most)
		sum->wall_us_most = more->wall_us_most;
	if (more->cpu_us_most > sum->cpu_us_most)
		sum->cpu_us_most = more->cpu_us_most;
}

void repair_shared_note_hold(struct repair_shared *shared, const struct repair_holds *hold)
{
	pthread_mutex_lock(&shared->lock);
	add_holds(&shared->figures.locks, hold);
	pthread_mutex_unlock(&shared->lock);
}

void repair_shared_forget_flight(struct repair_shared *shared)
{
	const struct repair_flight *flight = &shared->flight;

	for (uint32_t i = 0; flight->fabric && i < flight->count; i++)
		if (!flight->done[i])
			writer_tables_forget(shared->context->osm, flight->fabric,
					     flight->writes[i].sw, flight->writes[i].block,
					     flight->writes[i].ports);
	shared->flight = (struct repair_flight){0};
}

void repair_shared_take_turn(struct repair_shared *shared)
{
	const struct repair_hold begun = repair_lock_begin();
	struct repair_holds hold = {0}, wait = {0};

	pthread_mutex_lock(&shared->lock);
	shared->ready = false;
	pthread_mutex_unlock(&shared->lock);
	atomic_fetch_add(&shared->turn_wanted, 1);
	pthread_mutex_lock(&shared->turn_lock);
	repair_lock_end(&wait, begun);
	shared->turn++;
	repair_shared_forget_flight(shared);
	atomic_fetch_sub(&shared->turn_wanted, 1);
	pthread_mutex_unlock(&shared->turn_lock);
	repair_lock_end(&hold, begun);
	pthread_mutex_lock(&shared->lock);
	add_holds(&shared->figures.locks, &hold);
	add_holds(&shared->figures.waits, &wait);
	pthread_mutex_unlock(&shared->lock);
}

void repair_shared_end(struct repair_shared *shared)
{
	pthread_mutex_lock(&shared->lock);
	shared->ready = false;
	shared->ending = true;
	pthread_cond_signal(&shared->posted);
	pthread_mutex_unlock(&shared->lock);
	pthread_mutex_lock(&shared->turn_lock);
	shared->turn++;
	pthread_mutex_unlock(&shared->turn_lock);
}

void repair_shared_stop(struct repair_shared *shared)
{
	atomic_fetch_add(&shared->turn_wanted, 1);
	/* the thread may have no core in the middle of a send: OpenSM's other threads need not wait for that */
	pthread_mutex_lock(&shared->turn_lock);
	pthread_mutex_unlock(&shared->turn_lock);
	cl_plock_excl_acquire(&shared->context->osm->lock);
	repair_shared_take_turn(shared); /* notes how long this thread holds the lock */
	cl_plock_release(&shared->context->osm->lock);
	atomic_fetch_sub(&shared->turn_wanted, 1);
}

struct repair_figures repair_shared_figures(struct repair_shared *shared)
{
	struct repair_figures figures;

	pthread_mutex_lock(&shared->turn_lock);
	const struct repair_holds sends = shared->sends;
	pthread_mutex_unlock(&shared->turn_lock);
	pthread_mutex_lock(&shared->lock);
	figures = shared->figures;
	pthread_mutex_unlock(&shared->lock);
	figures.sends = sends;
	return figures;
}

void repair_shared_give_turn(struct repair_shared *shared, struct repair_start *start)
{
	pthread_mutex_lock(&shared->lock);
	repair_start_free(shared->news);
	shared->news = start;
	shared->ready = start != NULL;
	shared->in_vain = 0;
	shared->enabled = start && start->settings.enable;
	pthread_cond_signal(&shared->posted);
	pthread_mutex_unlock(&shared->lock);
}

/* ---- the thread ---- */

/* With `lock` held. */
static enum repair_task task_of(const struct repair_shared *shared)
{
	if (shared->ending)
		return REPAIR_END;
	if (shared->news)
		return REPAIR_NEWS;
	return shared->ready && shared->issuers.count ? REPAIR_LOSSES : REPAIR_TELL;
}

enum repair_task repair_shared_next(struct repair_shared *shared, double tell_ms,
				    struct repair_start **start, uint64_t *turn)
{
	const struct timespec end = monotonic_timespec(tell_ms < 0 ? 0 : tell_ms);
	enum repair_task task;
	int rc = 0;

	pthread_mutex_lock(&shared->lock);
	while ((task = task_of(shared)) == REPAIR_TELL && rc != ETIMEDOUT)
		if (tell_ms < 0)
			hd_condition_wait(&shared->posted, &shared->lock);
		else
			rc = pthread_cond_timedwait(&shared->posted, &shared->lock, &end);
	if (task == REPAIR_NEWS) {
		*start = shared->news;
		shared->news = NULL;
	} else if (task == REPAIR_LOSSES) {
		shared->working = true;
		/* without `lock` it could be the sweep's already */
		*turn = atomic_load(&shared->turn);
	}
	pthread_mutex_unlock(&shared->lock);
	return task;
}

/* Asking the switches again and again must not cost much. With `lock` held. */
static double end_of_rest(struct repair_shared *shared)
{
	uint32_t doubled;

	if (shared->issuers.first_ms - shared->ended_ms > CALM_MS)
		shared->in_vain = 0;
	if (shared->in_vain < VAIN_FREE)
		return 0;
	doubled = shared->in_vain - VAIN_FREE;
	return shared->ended_ms + (VAIN_MS << (doubled < VAIN_DOUBLED ? doubled : VAIN_DOUBLED));
}

void repair_shared_note_result(struct repair_shared *shared, int rc)
{
	pthread_mutex_lock(&shared->lock);
	shared->in_vain = rc ? shared->in_vain + 1 : 0;
	shared->ended_ms = monotonic_ms();
	pthread_mutex_unlock(&shared->lock);
}

void repair_shared_settle(struct repair_shared *shared, unsigned settle_ms,
			  struct repair_issuers *issuers)
{
	pthread_mutex_lock(&shared->lock);
	const double rest = end_of_rest(shared);
	for (;;) {
		double until = shared->issuers.last_ms + settle_ms;
		double most = shared->issuers.first_ms + (double)SETTLE_MOST * settle_ms;
		if (until > most)
			until = most;
		if (until < rest)
			until = rest;
		if (shared->ending || monotonic_ms() >= until)
			break;
		const struct timespec when = monotonic_timespec(until);
		pthread_cond_timedwait(&shared->posted, &shared->lock, &when);
	}
	*issuers = shared->issuers;
	shared->issuers = (struct repair_issuers){0};
	pthread_mutex_unlock(&shared->lock);
}

void repair_shared_finish(struct repair_shared *shared)
{
	pthread_mutex_lock(&shared->lock);
	shared->working = false;
	shared->finished++;
	pthread_cond_broadcast(&shared->done);
	pthread_mutex_unlock(&shared->lock);
}

bool repair_shared_is_turn(struct repair_shared *shared, uint64_t turn)
{
	return atomic_load(&shared->turn) == turn;
}

bool repair_shared_has_turn(struct repair_shared *shared, uint64_t turn)
{
	return repair_shared_is_turn(shared, turn) && master_is_ours(shared->context->osm);
}

bool repair_shared_has_traps(struct repair_shared *shared)
{
	pthread_mutex_lock(&shared->lock);
	const bool any = shared->issuers.count > 0;
	pthread_mutex_unlock(&shared->lock);
	return any;
}

bool repair_shared_wants_news(struct repair_shared *shared)
{
	pthread_mutex_lock(&shared->lock);
	const bool wanted = shared->ready && !shared->news;
	pthread_mutex_unlock(&shared->lock);
	return wanted;
}

int repair_shared_work(struct repair_shared *shared, uint64_t turn, struct hd_smp_queue *queue)
{
	int rc = -ECANCELED;

	/* the lock is not fair: the thread could take it again before one that waits */
	if (atomic_load(&shared->turn_wanted))
		return rc;
	pthread_mutex_lock(&shared->turn_lock);
	if (shared->turn == turn && master_is_ours(shared->context->osm)) {
		struct repair_hold begun = repair_lock_begin();
		rc = hd_smp_queue_work(queue);
		repair_lock_end(&shared->sends, begun);
	}
	pthread_mutex_unlock(&shared->turn_lock);
	return rc;
}
