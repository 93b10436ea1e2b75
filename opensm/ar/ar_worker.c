/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "ar_worker.h"
#include "ar_repair.h"
#include "ar_tasks.h"
#include "master.h"
#include "monotonic.h"
#include "routing.h"

#include <errno.h>
#include <heddle/base/parallel.h>
#include <stdlib.h>
#include <string.h>

void ar_job_free(struct ar_job *job)
{
	if (!job)
		return;
	routing_release(job->routing);
	routing_release(job->before);
	ar_settings_release(&job->settings);
	free(job->addresses);
	free(job);
}

bool ar_worker_go_on(void *context)
{
	struct ar_worker *worker = context;
	bool go_on;

	pthread_mutex_lock(&worker->lock);
	go_on = !worker->ending && !worker->next;
	if (go_on && !worker->hurried)
		go_on = master_is_ours(worker->osm);
	pthread_mutex_unlock(&worker->lock);
	return go_on;
}

void ar_worker_note_told(void *context)
{
	struct ar_worker *worker = context;

	pthread_mutex_lock(&worker->lock);
	worker->told = true;
	pthread_cond_broadcast(&worker->done);
	pthread_mutex_unlock(&worker->lock);
}

/* A repair is complete: the switches have its tables. */
static void note_repaired(struct ar_worker *worker, const struct ar_job *job)
{
	if (job->task != AR_REPAIR || job->repair->rc || job->repair->off)
		return;
	pthread_mutex_lock(&worker->lock);
	struct routing *former = worker->repaired;
	worker->repaired = routing_hold(job->routing);
	pthread_mutex_unlock(&worker->lock);
	routing_release(former);
}

static void *work(void *context)
{
	struct ar_worker *worker = context;
	struct ar_tasks *tasks = ar_tasks_new(worker);
	struct ar_figures figures;

	pthread_mutex_lock(&worker->lock);
	while (tasks && !worker->ending) {
		struct ar_job *job = worker->next;
		uint64_t number = worker->posted_number;
		if (!job) {
			hd_condition_wait(&worker->posted, &worker->lock);
			continue;
		}
		worker->next = NULL;
		worker->told = false;
		pthread_mutex_unlock(&worker->lock);
		ar_tasks_do(tasks, job);
		note_repaired(worker, job);
		ar_tasks_figures(tasks, job, &figures);
		ar_job_free(job);
		pthread_mutex_lock(&worker->lock);
		worker->figures = figures;
		worker->done_number = number;
		pthread_cond_broadcast(&worker->done);
	}
	pthread_mutex_unlock(&worker->lock);
	ar_tasks_free(tasks);
	return NULL;
}

int ar_worker_start(struct ar_worker *worker, struct osm_opensm *osm, struct opensm_log *log,
		    struct hd_error *err)
{
	int rc;

	*worker = (struct ar_worker){
	    .osm = osm, .log = log, .go_on = ar_worker_go_on, .note_told = ar_worker_note_told};
	pthread_mutex_init(&worker->lock, NULL);
	monotonic_condition(&worker->posted);
	monotonic_condition(&worker->done);
	rc = pthread_create(&worker->thread, NULL, work, worker);
	if (rc)
		return hd_error_set(err, -rc, "no thread: %s", strerror(rc));
	return 0;
}

/* What a job that is never done leaves to the one that replaces it. */
static void inherit(struct ar_job *job, const struct ar_job *replaced)
{
	job->fresh |= replaced->fresh;
	job->reread |= replaced->reread;
	job->unfinished |=
	    replaced->unfinished || (replaced->task == AR_PROGRAM && job->task != AR_PROGRAM);
}

uint64_t ar_worker_post(struct ar_worker *worker, struct ar_job *job)
{
	uint64_t number;

	pthread_mutex_lock(&worker->lock);
	if (worker->next)
		inherit(job, worker->next);
	ar_job_free(worker->next);
	worker->next = job;
	number = ++worker->posted_number;
	pthread_cond_signal(&worker->posted);
	pthread_mutex_unlock(&worker->lock);
	return number;
}

struct ar_job *ar_job_copy(const struct ar_job *job)
{
	struct ar_job *copy = calloc(1, sizeof(*copy));

	if (!copy)
		return NULL;
	*copy = *job;
	if (!ar_settings_copy(&job->settings, &copy->settings))
		return copy;
	free(copy);
	return NULL;
}

struct routing *ar_worker_take_repaired(struct ar_worker *worker)
{
	pthread_mutex_lock(&worker->lock);
	struct routing *routing = worker->repaired;
	worker->repaired = NULL;
	pthread_mutex_unlock(&worker->lock);
	return routing;
}

bool ar_worker_wait(struct ar_worker *worker, uint64_t number, unsigned milliseconds)
{
	const struct timespec end = monotonic_timespec(monotonic_ms() + milliseconds);
	bool done;

	pthread_mutex_lock(&worker->lock);
	while (worker->done_number < number &&
	       pthread_cond_timedwait(&worker->done, &worker->lock, &end) != ETIMEDOUT)
		;
	done = worker->done_number >= number;
	pthread_mutex_unlock(&worker->lock);
	return done;
}

/* With the lock held. */
static bool is_busy(const struct ar_worker *worker)
{
	return worker->next || (worker->done_number < worker->posted_number && !worker->told);
}

uint64_t ar_worker_offer(struct ar_worker *worker, struct ar_job *job, unsigned milliseconds)
{
	const struct timespec end = monotonic_timespec(monotonic_ms() + milliseconds);
	uint64_t number = 0;

	pthread_mutex_lock(&worker->lock);
	while (is_busy(worker) && !worker->ending)
		if (pthread_cond_timedwait(&worker->done, &worker->lock, &end) == ETIMEDOUT)
			break;
	/* a thread that has done nothing yet may have ended for want of memory */
	const bool lives = worker->done_number || worker->told;
	if (!is_busy(worker) && !worker->ending && lives) {
		worker->next = job;
		number = ++worker->posted_number;
		pthread_cond_signal(&worker->posted);
	}
	pthread_mutex_unlock(&worker->lock);
	return number;
}

struct ar_figures ar_worker_figures(struct ar_worker *worker)
{
	struct ar_figures figures;

	pthread_mutex_lock(&worker->lock);
	figures = worker->figures;
	pthread_mutex_unlock(&worker->lock);
	return figures;
}

void ar_worker_end(struct ar_worker *worker, unsigned milliseconds)
{
	uint64_t last;

	pthread_mutex_lock(&worker->lock);
	worker->hurried = true;
	last = worker->posted_number;
	pthread_mutex_unlock(&worker->lock);
	ar_worker_wait(worker, last, milliseconds);
	pthread_mutex_lock(&worker->lock);
	worker->ending = true;
	pthread_cond_signal(&worker->posted);
	pthread_mutex_unlock(&worker->lock);
	pthread_join(worker->thread, NULL);
	ar_job_free(worker->next);
	routing_release(worker->repaired);
	pthread_cond_destroy(&worker->posted);
	pthread_cond_destroy(&worker->done);
	pthread_mutex_destroy(&worker->lock);
}
