/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "certificate_worker.h"
#include "adaptive_state.h"
#include "certificate_files.h"
#include "monotonic.h"
#include "part.h"
#include "routing.h"

#include <errno.h>
#include <heddle/fabric/certificate.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define LOWEST 19 /* nice value */

/* Which tables and groups: a certificate of the same ones need not be made again. */
struct epoch {
	uint64_t sweep, change; /* from 1; since that sweep, from 0 */
	uint64_t groups; /* adaptive_view.number */
};

struct certificate_worker {
	struct part_context *context;
	pthread_t thread;
	int wake; /* eventfd */
	atomic_bool ends;
	pthread_mutex_t lock; /* of all below; taken before the lock of `adaptive` */
	char path[PATH_MAX];
	bool tables;
	bool waits; /* tables change */
	uint64_t writing; /* sweeps that have begun to write */
	uint64_t changing; /* `writing` when the last change between sweeps began */
	struct routing *routing; /* in force; held; NULL: none of ours */
	uint64_t late; /* GUID of a switch that does not hold its table of the routing; 0: none */
	struct epoch epoch;
	struct timespec since; /* it is in force */
	struct epoch
	    tried; /* the last one that was made, or could not be; only the thread writes it, or another place */
	char fault[HD_ERROR_TEXT]; /* why; "": it was written; only the thread writes it */
	struct certificate_placed placed; /* the last one that was written; only for the thread */
	/* Of the last one that was written. */
	char file[PATH_MAX], made[HD_CERTIFICATE_MADE];
	time_t written;
};

/* What the thread makes a certificate of. */
struct job {
	struct routing *routing; /* held */
	uint64_t late;
	struct adaptive_view adaptive; /* to be released */
	struct epoch epoch;
	char path[PATH_MAX], made[HD_CERTIFICATE_MADE];
	bool tables;
};

static void wake(const struct certificate_worker *worker)
{
	const uint64_t one = 1;
	const ssize_t written = write(worker->wake, &one, sizeof(one));

	(void)written; /* it fails only if it has been written very often already */
}

static void describe(const struct certificate_worker *worker, struct job *job)
{
	struct tm utc;
	char when[32];

	gmtime_r(&worker->since.tv_sec, &utc);
	strftime(when, sizeof(when), "%Y-%m-%dT%H:%M:%S", &utc);
	snprintf(job->made, sizeof(job->made), "%s.%03ldZ sweep %" PRIu64 " change %" PRIu64, when,
		 worker->since.tv_nsec / 1000000, job->epoch.sweep, job->epoch.change);
}

static bool is_new(const struct certificate_worker *worker, const struct epoch *epoch)
{
	return memcmp(&worker->tried, epoch, sizeof(*epoch)) != 0;
}

/* Takes what is in force. False: nothing is to be done now. */
static bool take_job(struct certificate_worker *worker, struct job *job)
{
	bool found;

	pthread_mutex_lock(&worker->lock);
	adaptive_look(worker->context->adaptive, &job->adaptive);
	job->epoch = worker->epoch;
	job->epoch.groups = job->adaptive.number;
	found = *worker->path && worker->routing && !worker->waits &&
		job->adaptive.state != ADAPTIVE_CHANGING && is_new(worker, &job->epoch);
	if (found) {
		/* other groups have come in force since */
		if (worker->tried.sweep == job->epoch.sweep &&
		    worker->tried.change == job->epoch.change)
			clock_gettime(CLOCK_REALTIME, &worker->since);
		job->routing = routing_hold(worker->routing);
		job->late = worker->late;
		job->tables = worker->tables;
		memcpy(job->path, worker->path, sizeof(job->path));
		describe(worker, job);
	}
	pthread_mutex_unlock(&worker->lock);
	if (!found)
		adaptive_view_release(&job->adaptive);
	return found;
}

static bool goes_on(void *context)
{
	const struct certificate_worker *worker = context;

	return !atomic_load(&worker->ends);
}

/* A file that is not written any more would look current. */
static void remove_files(const struct certificate_worker *worker)
{
	if (certificate_remove(&worker->placed))
		log_info(
		    &worker->context->log,
		    "certificate: removed files of %s, which heddle.conf does not name any more",
		    worker->placed.path);
}

static int make(struct certificate_worker *worker, const struct job *job, struct hd_error *err)
{
	const struct certificate_request request = {.routing = job->routing,
						    .plan = job->adaptive.plan,
						    .path = job->path,
						    .made = job->made,
						    .tables = job->tables,
						    .go_on = {goes_on, worker}};

	if (job->adaptive.state == ADAPTIVE_UNKNOWN)
		return hd_error_set(err, -EAGAIN,
				    "it is not known what the switches hold of adaptive routing");
	if (job->late)
		return hd_error_set(err, -EAGAIN,
				    "switch 0x%016" PRIx64 " has not got its forwarding table",
				    job->late);
	int rc = certificate_write(&request, err);
	if (!rc) {
		remove_files(worker); /* those that have not been replaced */
		certificate_mark(&request, &worker->placed);
	}
	return rc;
}

/* The log has a line for each new reason. */
static void say(const struct certificate_worker *worker, const struct job *job, int rc,
		double begun, const struct hd_error *err)
{
	const struct opensm_log *log = &worker->context->log;
	const char *fault = rc ? err->text : "";

	if (!rc)
		log_info(log, "certificate: %s is that of %s; it took %.0f ms", job->path,
			 job->made, monotonic_ms() - begun);
	else if (rc != -ECANCELED && strcmp(worker->fault, fault))
		log_error(log, LOG_ERROR_CERTIFICATE,
			  "certificate: none of %s: %s; the file of an earlier one stays",
			  job->made, fault);
}

/* With the lock held: it was made, or could not be. */
static void note(struct certificate_worker *worker, const struct job *job, int rc,
		 const struct hd_error *err)
{
	snprintf(worker->fault, sizeof(worker->fault), "%s", rc ? err->text : "");
	worker->tried = job->epoch;
	if (!rc) {
		memcpy(worker->file, job->path, sizeof(worker->file));
		memcpy(worker->made, job->made, sizeof(worker->made));
		worker->written = time(NULL);
	}
	if (strcmp(job->path, worker->path) || job->tables != worker->tables)
		worker->tried = (struct epoch){0};
}

static void do_job(struct certificate_worker *worker, struct job *job)
{
	const double begun = monotonic_ms();
	struct hd_error err = {""};
	int rc = make(worker, job, &err);

	say(worker, job, rc, begun, &err);
	routing_release(job->routing);
	adaptive_view_release(&job->adaptive);
	pthread_mutex_lock(&worker->lock);
	note(worker, job, rc, &err);
	pthread_mutex_unlock(&worker->lock);
}

/* No certificate is wanted any more. */
static void remove_unwanted(struct certificate_worker *worker)
{
	pthread_mutex_lock(&worker->lock);
	const bool unwanted = !*worker->path;
	if (unwanted)
		*worker->file = '\0';
	pthread_mutex_unlock(&worker->lock);
	if (!unwanted || !*worker->placed.path)
		return;
	remove_files(worker);
	*worker->placed.path = '\0';
}

static void *run(void *context)
{
	struct certificate_worker *worker = context;
	struct pollfd waiting = {.fd = worker->wake, .events = POLLIN};
	struct job job;
	uint64_t count;

	setpriority(PRIO_PROCESS, (id_t)gettid(), LOWEST);
	while (!atomic_load(&worker->ends)) {
		remove_unwanted(worker);
		if (take_job(worker, &job)) {
			do_job(worker, &job);
			continue;
		}
		if (poll(&waiting, 1, -1) > 0 && read(worker->wake, &count, sizeof(count)) < 0 &&
		    errno != EAGAIN)
			break;
	}
	return NULL;
}

int certificate_worker_start(struct part_context *context, struct certificate_worker **out,
			     struct hd_error *err)
{
	struct certificate_worker *worker = calloc(1, sizeof(*worker));

	if (!worker)
		return hd_error_no_memory(err);
	worker->context = context;
	worker->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (worker->wake < 0) {
		free(worker);
		return hd_error_set(err, -errno, "eventfd: %s", strerror(errno));
	}
	pthread_mutex_init(&worker->lock, NULL);
	int failed = pthread_create(&worker->thread, NULL, run, worker);
	if (failed) {
		close(worker->wake);
		pthread_mutex_destroy(&worker->lock);
		free(worker);
		return hd_error_set(err, -failed, "no thread: %s", strerror(failed));
	}
	adaptive_watch(context->adaptive, ADAPTIVE_CERTIFICATE, worker->wake);
	*out = worker;
	return 0;
}

void certificate_worker_end(struct certificate_worker *worker)
{
	if (!worker)
		return;
	adaptive_watch(worker->context->adaptive, ADAPTIVE_CERTIFICATE, -1);
	atomic_store(&worker->ends, true);
	wake(worker);
	pthread_join(worker->thread, NULL);
	routing_release(worker->routing);
	close(worker->wake);
	pthread_mutex_destroy(&worker->lock);
	free(worker);
}

void certificate_worker_place(struct certificate_worker *worker, const char *path, bool tables)
{
	pthread_mutex_lock(&worker->lock);
	const bool other = strcmp(worker->path, path) != 0 || worker->tables != tables;
	if (other) {
		snprintf(worker->path, sizeof(worker->path), "%s", path);
		worker->tables = tables;
		worker->tried = (struct epoch){0};
	}
	pthread_mutex_unlock(&worker->lock);
	if (other)
		wake(worker);
}

void certificate_worker_wait(struct certificate_worker *worker, bool sweep)
{
	pthread_mutex_lock(&worker->lock);
	worker->waits = true;
	worker->writing += sweep;
	if (!sweep)
		worker->changing = worker->writing;
	pthread_mutex_unlock(&worker->lock);
}

/* With the lock held. Returns the routing before, which is no longer held; NULL: it is the same. */
static struct routing *replace(struct certificate_worker *worker, struct routing *routing,
			       bool sweep)
{
	struct routing *old = worker->routing;

	worker->waits = false;
	if (!sweep && !routing)
		return NULL;
	worker->routing = routing ? routing_hold(routing) : NULL;
	worker->epoch.sweep += sweep;
	worker->epoch.change = sweep ? 0 : worker->epoch.change + 1;
	clock_gettime(CLOCK_REALTIME, &worker->since);
	return old;
}

void certificate_worker_take(struct certificate_worker *worker, struct routing *routing,
			     uint64_t late, bool sweep)
{
	struct routing *old = NULL;

	pthread_mutex_lock(&worker->lock);
	if (sweep || worker->changing == worker->writing) {
		old = replace(worker, routing, sweep);
		worker->late = sweep || routing ? late : worker->late;
	}
	pthread_mutex_unlock(&worker->lock);
	routing_release(old);
	wake(worker);
}

/* With the lock held: why there is no certificate of what is in force. */
static const char *reason_of(const struct certificate_worker *worker, bool tried)
{
	if (tried)
		return worker->fault;
	return worker->epoch.sweep && !worker->routing && !worker->waits
		   ? "the tables are not those of Heddle"
		   : "";
}

void certificate_worker_report(struct certificate_worker *worker, struct certificate_report *out)
{
	struct adaptive_view adaptive;

	*out = (struct certificate_report){.written = 0};
	pthread_mutex_lock(&worker->lock);
	adaptive_look(worker->context->adaptive, &adaptive);
	struct epoch now = worker->epoch;
	now.groups = adaptive.number;
	const bool tried = worker->routing && !worker->waits && !is_new(worker, &now);
	memcpy(out->wanted, worker->path, sizeof(out->wanted));
	memcpy(out->file, worker->file, sizeof(out->file));
	memcpy(out->made, worker->made, sizeof(out->made));
	out->written = worker->written;
	out->current = tried && !*worker->fault && !strcmp(worker->file, worker->path);
	snprintf(out->reason, sizeof(out->reason), "%s", reason_of(worker, tried));
	pthread_mutex_unlock(&worker->lock);
	adaptive_view_release(&adaptive);
}
