/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "ar_worker.h"
#include "ar_repair.h"
#include "ar_tasks.h"
#include "key_change.h"
#include "master.h"
#include "monotonic.h"
#include "repair_change.h"
#include "routing.h"
#include "sweep_change.h"

#include <errno.h>
#include <stdlib.h>

#define SERVED_MS 1000u /* between two looks at whether tables are written */

bool ar_worker_go_on(void *context)
{
	struct ar_worker *worker = context;

	writer_lock(worker->caller.writer);
	const bool told = worker->told, recovery_waits = worker->later != NULL;
	const struct ar_job *next = worker->next;
	const bool newer = next && !(worker->before_hosts && next->task == AR_TELL) &&
			   !(worker->disabling && next->task == AR_DISABLE && !next->waited);
	bool go_on = !worker->ending && !newer;
	if (go_on && !worker->hurried)
		go_on = master_is_ours(worker->osm);
	writer_unlock(worker->caller.writer);
	if (!go_on || !told)
		return go_on;
	if (!recovery_waits && !writer_is_wanted(worker->caller.writer, WRITER_AR))
		return true;
	worker->yielded = true;
	return false;
}

/* Whether a job waits that changes what the switches hold. */
static bool has_more(struct ar_worker *worker)
{
	writer_lock(worker->caller.writer);
	const bool more = worker->next && worker->next->task != AR_TELL;
	writer_unlock(worker->caller.writer);
	return more;
}

/* Says what is in force, unless it will be something else next. */
static void tell_adaptive(struct ar_worker *worker)
{
	if (!worker->adaptive || has_more(worker))
		return;
	ar_tasks_note_adaptive(worker->tasks, worker->adaptive);
	if (has_more(worker)) /* it was posted since */
		adaptive_note(worker->adaptive, ADAPTIVE_CHANGING, NULL);
}

void ar_worker_note_told(void *context)
{
	struct ar_worker *worker = context;

	writer_lock(worker->caller.writer);
	worker->told = true;
	writer_unlock(worker->caller.writer);
	tell_adaptive(worker); /* keys need not wait for hosts */
}

/* ---- jobs ---- */

static void note_done(struct ar_worker *worker, const struct ar_job *job, uint64_t number)
{
	struct ar_figures figures;

	ar_tasks_figures(worker->tasks, job, &figures);
	writer_lock(worker->caller.writer);
	worker->figures = figures;
	if (number)
		worker->done_number = number;
	writer_tell(worker->caller.writer);
	writer_unlock(worker->caller.writer);
}

/* Notes that a repair is under way, unless a job waits that is to come before it. */
static bool begin_repair(struct ar_worker *worker)
{
	writer_lock(worker->caller.writer);
	worker->told = worker->yielded = false;
	worker->before_hosts = !worker->next || worker->next->task == AR_TELL;
	const bool begun = worker->before_hosts;
	writer_unlock(worker->caller.writer);
	return begun;
}

/* The routing whose tables the switches have now. */
static void note_tables(struct ar_worker *worker, struct routing *routing)
{
	routing_hold(routing);
	writer_lock(worker->caller.writer);
	struct routing *former = worker->repaired;
	worker->repaired = routing;
	writer_unlock(worker->caller.writer);
	routing_release(former);
}

/* `repaired`: the routing whose tables the switches have now; NULL: as before. */
static void end_repair(struct ar_worker *worker, struct routing *repaired)
{
	writer_lock(worker->caller.writer);
	worker->before_hosts = false;
	writer_unlock(worker->caller.writer);
	if (repaired)
		note_tables(worker, repaired);
}

void ar_worker_repair(struct ar_worker *worker, const struct ar_job *job)
{
	struct ar_repair *repair = job->repair;

	if (!begin_repair(worker)) {
		repair->rc =
		    hd_error_set(&repair->err, -EBUSY, "adaptive routing is being programmed");
		return;
	}
	adaptive_note(worker->adaptive, ADAPTIVE_CHANGING, NULL);
	ar_tasks_do(worker->tasks, job);
	note_done(worker, job, 0);
	end_repair(worker, repair->rc || repair->off ? NULL : job->routing);
}

int ar_worker_lead(struct ar_worker *worker, struct ar_job *job, struct repair_change *change,
		   bool *done, struct hd_error *err)
{
	struct ar_repair repair = {.change = change, .off = true};
	struct hd_routes *before = NULL;
	int rc = change->find(change, &before, &job->addresses, err);

	if (!rc) {
		job->routing = routing_hold(change->routing);
		job->repair = &repair;
		repair.before = before;
		ar_worker_repair(worker, job);
		rc = repair.rc;
	}
	if (repair.rc)
		*err = repair.err;
	*done = !rc && !repair.off;
	ar_job_free(job);
	hd_routes_free(before);
	return rc;
}

void ar_worker_end_repair(struct ar_worker *worker)
{
	tell_adaptive(worker);
}

bool ar_worker_wants_key(const struct ar_worker *worker)
{
	return ar_key_concerns(worker->tasks);
}

int ar_worker_program_key(struct ar_worker *worker, struct ar_job *job, struct key_change *change,
			  struct hd_error *err)
{
	int rc = ar_key_program(worker->tasks, job, change, &worker->key, err);

	ar_job_free(job);
	return rc;
}

void ar_worker_end_key(struct ar_worker *worker, struct key_change *change)
{
	ar_key_end(worker->tasks, change, &worker->key);
	if (change->published)
		note_tables(worker, change->after);
	tell_adaptive(worker);
}

/* What is left of a job that has made room for another client. Takes the job over, unless there is a newer one. */
static bool take_rest(struct ar_worker *worker, struct ar_job *job)
{
	bool take;

	if (!worker->yielded)
		return false;
	job->task = AR_TELL;
	job->fresh = job->reread = job->unfinished =
	    false; /* as far as the hosts know it, they do */
	writer_lock(worker->caller.writer);
	take = !worker->next && !worker->ending;
	if (take)
		worker->next = job;
	writer_unlock(worker->caller.writer);
	return take;
}

static bool is_due(void *context, bool turn, double *until)
{
	const struct ar_worker *worker = context;

	(void)turn;
	(void)until;
	return (worker->next || worker->later) && !worker->ending;
}

/* Takes the job that is to be done now, NULL: none. *number becomes that with which it was posted, or 0. */
static struct ar_job *take_job(struct ar_worker *worker, uint64_t *number)
{
	writer_lock(worker->caller.writer);
	const bool later = !worker->next || (worker->later && worker->next->task == AR_TELL);
	struct ar_job **place = later ? &worker->later : &worker->next;
	struct ar_job *job = *place;
	*place = NULL;
	*number = later ? 0 : worker->posted_number;
	worker->told = worker->yielded = false;
	worker->before_hosts = later;
	worker->disabling = job && job->task == AR_DISABLE;
	writer_unlock(worker->caller.writer);
	return job;
}

static void run(void *context, uint64_t turn)
{
	struct ar_worker *worker = context;
	uint64_t number;

	(void)turn;
	struct ar_job *job = take_job(worker, &number);
	if (!job)
		return;
	ar_tasks_do(worker->tasks, job);
	note_done(worker, job, number);
	if (job->task != AR_PREPARE)
		tell_adaptive(worker);
	if (!take_rest(worker, job))
		ar_job_free(job);
}

int ar_worker_start(struct ar_worker *worker, struct writer *writer, struct osm_opensm *osm,
		    struct opensm_log *log, struct hd_error *err)
{
	*worker = (struct ar_worker){.caller = {.writer = writer,
						.log = log,
						.go_on = ar_worker_go_on,
						.write_tables = ar_worker_write_tables,
						.note_told = ar_worker_note_told},
				     .osm = osm};
	worker->client = (struct writer_client){.rank = WRITER_AR,
						.is_due = is_due,
						.run = run,
						.state = worker,
						.doing = "adaptive routing is being programmed"};
	worker->tasks = ar_tasks_new(&worker->caller);
	if (!worker->tasks)
		return hd_error_no_memory(err);
	int rc = writer_add(writer, &worker->client, err);
	if (rc)
		ar_tasks_free(worker->tasks);
	return rc;
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

	writer_lock(worker->caller.writer);
	if (worker->next)
		inherit(job, worker->next);
	ar_job_free(worker->next);
	ar_job_free(worker->later);
	worker->next = job;
	worker->later = NULL;
	adaptive_note(worker->adaptive, ADAPTIVE_CHANGING, NULL);
	number = ++worker->posted_number;
	writer_post(worker->caller.writer);
	writer_unlock(worker->caller.writer);
	return number;
}

void ar_worker_post_later(struct ar_worker *worker, struct ar_job *job)
{
	writer_lock(worker->caller.writer);
	ar_job_free(worker->later);
	worker->later = job;
	writer_post(worker->caller.writer);
	writer_unlock(worker->caller.writer);
}

struct routing *ar_worker_take_repaired(struct ar_worker *worker)
{
	writer_lock(worker->caller.writer);
	struct routing *routing = worker->repaired;
	worker->repaired = NULL;
	writer_unlock(worker->caller.writer);
	return routing;
}

bool ar_worker_wait(struct ar_worker *worker, uint64_t number, unsigned milliseconds)
{
	const double end = monotonic_ms() + milliseconds;

	writer_lock(worker->caller.writer);
	while (worker->done_number < number && writer_wait(worker->caller.writer, end))
		continue;
	const bool done = worker->done_number >= number;
	writer_unlock(worker->caller.writer);
	return done;
}

/* With the writer's lock, which is released meanwhile. */
static void write_wanted(struct ar_worker *worker, struct sweep_change *change)
{
	struct ar_serving *serving = &worker->serving;
	const struct hd_ar_steps *steps = serving->steps;
	const uint32_t step = serving->step;
	struct hd_error err = {""};

	writer_unlock(worker->caller.writer);
	const int rc = change->write(change, steps, step, &err);
	writer_lock(worker->caller.writer);
	serving->rc = rc;
	serving->err = err;
	serving->steps = NULL;
	writer_tell(worker->caller.writer);
}

bool ar_worker_serve(struct ar_worker *worker, struct ar_job *job, struct sweep_change *change,
		     unsigned milliseconds)
{
	const double end = monotonic_ms() + milliseconds;
	struct ar_serving *serving = &worker->serving;

	writer_lock(worker->caller.writer);
	*serving = (struct ar_serving){.on = true};
	writer_unlock(worker->caller.writer);
	const uint64_t number = ar_worker_post(worker, job);
	writer_lock(worker->caller.writer);
	bool waits = true;
	while (worker->done_number < number && waits) {
		if (serving->steps)
			write_wanted(worker, change);
		else
			waits = writer_wait(worker->caller.writer, end);
	}
	const bool done = worker->done_number >= number;
	serving->on = false;
	writer_tell(worker->caller.writer);
	writer_unlock(worker->caller.writer);
	return done;
}

int ar_worker_write_tables(void *context, const struct hd_ar_steps *steps, uint32_t step,
			   struct hd_error *err)
{
	struct ar_worker *worker = context;
	struct ar_serving *serving = &worker->serving;
	int rc = 0;

	writer_lock(worker->caller.writer);
	serving->step = step;
	serving->steps = steps;
	writer_tell(worker->caller.writer);
	while (serving->steps && serving->on)
		writer_wait(worker->caller.writer, monotonic_ms() + SERVED_MS);
	if (serving->steps)
		rc = hd_error_set(err, -ECANCELED, "the sweep waits no longer");
	else if ((rc = serving->rc))
		*err = serving->err;
	serving->steps = NULL;
	writer_unlock(worker->caller.writer);
	return rc;
}

struct ar_figures ar_worker_figures(struct ar_worker *worker)
{
	struct ar_figures figures;

	writer_lock(worker->caller.writer);
	figures = worker->figures;
	writer_unlock(worker->caller.writer);
	return figures;
}

void ar_worker_end(struct ar_worker *worker, unsigned milliseconds)
{
	writer_lock(worker->caller.writer);
	worker->hurried = true;
	const uint64_t last = worker->posted_number;
	writer_unlock(worker->caller.writer);
	ar_worker_wait(worker, last, milliseconds);
	writer_lock(worker->caller.writer);
	worker->ending = true;
	writer_unlock(worker->caller.writer);
	writer_remove(worker->caller.writer, &worker->client);
	ar_job_free(worker->next);
	ar_job_free(worker->later);
	ar_tasks_free(worker->tasks);
	routing_release(worker->repaired);
}
