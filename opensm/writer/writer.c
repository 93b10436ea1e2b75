/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "writer.h"
#include "master.h"
#include "monotonic.h"
#include "opensm_headers.h"
#include "writer_tables.h"

#include <complib/cl_passivelock.h>
#include <errno.h>
#include <heddle/base/parallel.h>
#include <heddle/change/repair.h>
#include <heddle/mad/umad_port.h>
#include <malloc.h>
#include <math.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

/* ---- times ---- */

/*
 * OpenSM's threads wait while the writer has their lock, so each time is measured. The time by the clock
 * includes what the thread spends without a core; its CPU time does not, but includes page faults.
 */

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

static struct writer_hold hold_begin(void)
{
	return (struct writer_hold){
	    .wall_us = monotonic_ms() * 1e3, .cpu_us = cpu_us(), .preempted = preempted()};
}

/* Adds the time since then. The caller sees to it that `holds` is not changed at the same time. */
static void hold_end(struct writer_holds *holds, struct writer_hold hold)
{
	const uint64_t cpu = (uint64_t)(cpu_us() - hold.cpu_us);
	const uint64_t wall = (uint64_t)(monotonic_ms() * 1e3 - hold.wall_us);

	holds->count++;
	holds->over += wall > WRITER_LOCK_LONG_US;
	if (wall > WRITER_LOCK_LONG_US && preempted() != hold.preempted)
		holds->preempted++;
	if (wall > holds->wall_us_most)
		holds->wall_us_most = wall;
	if (cpu > holds->cpu_us_most)
		holds->cpu_us_most = cpu;
}

static void add_holds(struct writer_holds *sum, const struct writer_holds *more)
{
	sum->count += more->count;
	sum->over += more->over;
	sum->preempted += more->preempted;
	if (more->wall_us_most > sum->wall_us_most)
		sum->wall_us_most = more->wall_us_most;
	if (more->cpu_us_most > sum->cpu_us_most)
		sum->cpu_us_most = more->cpu_us_most;
}

struct writer_figures writer_figures(struct writer *writer)
{
	struct writer_figures figures;

	pthread_mutex_lock(&writer->turn_lock);
	const struct writer_holds sends = writer->sends;
	pthread_mutex_unlock(&writer->turn_lock);
	writer_lock(writer);
	figures = writer->figures;
	writer_unlock(writer);
	figures.sends = sends;
	return figures;
}

/* ---- OpenSM's lock ---- */

#define REST_MS 10000 /* after the last job; then memory that is free goes back to the system */
#define LOOK_MS 5 /* between two looks at whether the turn is lost, while waiting for the lock */

struct writer_hold writer_lock_take(struct writer *writer, bool exclusive)
{
	if (exclusive)
		cl_plock_excl_acquire(&writer->osm->lock);
	else
		cl_plock_acquire(&writer->osm->lock);
	return hold_begin();
}

/* complib's lock has no time limit, but that of the system inside it has. */
static bool lock_for_now(struct writer *writer, bool exclusive)
{
	pthread_rwlock_t *lock = &writer->osm->lock.lock;
	struct timespec end;

	clock_gettime(CLOCK_REALTIME, &end);
	end.tv_nsec += LOOK_MS * 1000000;
	end.tv_sec += end.tv_nsec / 1000000000;
	end.tv_nsec %= 1000000000;
	return !(exclusive ? pthread_rwlock_timedwrlock(lock, &end)
			   : pthread_rwlock_timedrdlock(lock, &end));
}

bool writer_lock_try(struct writer *writer, bool exclusive, uint64_t turn, struct writer_hold *hold)
{
	do {
		if (!writer_is_turn(writer, turn))
			return false;
	} while (!lock_for_now(writer, exclusive));
	*hold = hold_begin();
	return true;
}

void writer_lock_release(struct writer *writer, struct writer_hold hold)
{
	struct writer_holds one = {0};

	hold_end(&one, hold);
	cl_plock_release(&writer->osm->lock);
	writer_lock(writer);
	add_holds(&writer->figures.locks, &one);
	writer_unlock(writer);
}

/* ---- the turn ---- */

#define LONGEST_WAIT 10 /* ms between two looks at whether OpenSM wants the tables */

uint64_t writer_turn(struct writer *writer)
{
	writer_lock(writer);
	const uint64_t turn = writer->ready ? atomic_load(&writer->turn) : 0;
	writer_unlock(writer);
	return turn;
}

bool writer_is_turn(const struct writer *writer, uint64_t turn)
{
	return atomic_load(&writer->turn) == turn;
}

bool writer_has_turn(const struct writer *writer, uint64_t turn)
{
	return writer_is_turn(writer, turn) && master_is_ours(writer->osm);
}

uint64_t writer_renew_turn(struct writer *writer)
{
	return ++writer->turn;
}

void writer_forget_flight(struct writer *writer)
{
	const struct writer_flight *flight = &writer->flight;

	for (uint32_t i = 0; flight->fabric && i < flight->count; i++)
		if (!flight->done[i])
			writer_tables_forget(writer->osm, flight->fabric, flight->writes[i].sw,
					     flight->writes[i].block, flight->writes[i].ports);
	writer->flight = (struct writer_flight){0};
}

void writer_take_turn(struct writer *writer)
{
	const struct writer_hold begun = hold_begin();
	struct writer_holds hold = {0}, wait = {0};

	writer_lock(writer);
	writer->ready = false;
	writer_unlock(writer);
	atomic_fetch_add(&writer->turn_wanted, 1);
	pthread_mutex_lock(&writer->turn_lock);
	hold_end(&wait, begun);
	writer_renew_turn(writer);
	writer_forget_flight(writer);
	atomic_fetch_sub(&writer->turn_wanted, 1);
	pthread_mutex_unlock(&writer->turn_lock);
	hold_end(&hold, begun);
	writer_lock(writer);
	add_holds(&writer->figures.locks, &hold);
	add_holds(&writer->figures.waits, &wait);
	writer_unlock(writer);
}

void writer_stop(struct writer *writer)
{
	atomic_fetch_add(&writer->turn_wanted, 1);
	/* the thread may have no core in the middle of a send: OpenSM's other threads need not wait for that */
	pthread_mutex_lock(&writer->turn_lock);
	pthread_mutex_unlock(&writer->turn_lock);
	cl_plock_excl_acquire(&writer->osm->lock);
	writer_take_turn(writer); /* notes how long this thread holds the lock */
	cl_plock_release(&writer->osm->lock);
	atomic_fetch_sub(&writer->turn_wanted, 1);
}

void writer_note_sweep(struct writer *writer)
{
	writer_lock(writer);
	writer->sweeping = true;
	writer_unlock(writer);
}

void writer_demand_sweep(struct writer *writer)
{
	writer_lock(writer);
	const bool comes = writer->sweeping;
	writer_unlock(writer);
	if (comes)
		return;
	writer->osm->subn.force_heavy_sweep = TRUE;
	osm_sm_signal(&writer->osm->sm, OSM_SIGNAL_SWEEP);
}

void writer_give_turn(struct writer *writer)
{
	writer_lock(writer);
	writer->ready = true;
	writer->sweeping = false;
	writer_post(writer);
	writer_unlock(writer);
}

int writer_work(struct writer *writer, uint64_t turn, struct hd_smp_queue *queue)
{
	int rc = -ECANCELED;

	/* the lock is not fair: the thread could take it again before one that waits */
	if (atomic_load(&writer->turn_wanted))
		return rc;
	pthread_mutex_lock(&writer->turn_lock);
	if (writer_has_turn(writer, turn)) {
		const struct writer_hold begun = hold_begin();
		rc = hd_smp_queue_work(queue);
		hold_end(&writer->sends, begun);
		if (rc)
			writer_port_break(writer);
	}
	pthread_mutex_unlock(&writer->turn_lock);
	return rc;
}

void writer_pause(struct hd_smp_queue *queue)
{
	hd_smp_queue_wait_for(queue, LONGEST_WAIT);
}

/* ---- the port ---- */

int writer_port_open(struct writer *writer, uint64_t guid, uint64_t *number, struct hd_error *err)
{
	const struct hd_umad_choice choice = {.port_guid = guid};
	int rc = 0;

	if (writer->umad_broken || writer->umad_guid != guid) {
		hd_umad_port_close(writer->umad);
		writer->umad = NULL;
		writer->umad_broken = false;
	}
	if (!writer->umad) {
		rc = hd_umad_port_open(&choice, &writer->umad, err);
		if (rc)
			writer->umad = NULL;
		writer->umad_guid = guid;
		writer->umad_number++;
	}
	*number = writer->umad_number;
	return rc;
}

const struct hd_smp_port *writer_port(const struct writer *writer)
{
	return hd_umad_port_smp(writer->umad);
}

void writer_port_break(struct writer *writer)
{
	writer->umad_broken = true;
}

/* ---- the thread ---- */

void writer_init(struct writer *writer, struct osm_opensm *osm)
{
	*writer = (struct writer){.osm = osm, .turn = 1};
	pthread_mutex_init(&writer->lock, NULL);
	pthread_mutex_init(&writer->turn_lock, NULL);
	monotonic_condition(&writer->posted);
	monotonic_condition(&writer->done);
}

void writer_lock(struct writer *writer)
{
	pthread_mutex_lock(&writer->lock);
}

void writer_unlock(struct writer *writer)
{
	pthread_mutex_unlock(&writer->lock);
}

void writer_post(struct writer *writer)
{
	/* the thread, or a job that waits for more of the same */
	pthread_cond_broadcast(&writer->posted);
}

void writer_tell(struct writer *writer)
{
	pthread_cond_broadcast(&writer->done);
}

bool writer_wait(struct writer *writer, double until)
{
	const struct timespec when = monotonic_timespec(until);

	return pthread_cond_timedwait(&writer->done, &writer->lock, &when) != ETIMEDOUT;
}

/* The first client before `end` that has something to do. With the lock held. */
static const struct writer_client *find_due(const struct writer *writer, unsigned end,
					    double *until)
{
	for (unsigned rank = 0; rank < end; rank++) {
		const struct writer_client *client = writer->clients[rank];
		if (client && client->is_due(client->state, writer->ready, until))
			return client;
	}
	return NULL;
}

bool writer_is_wanted(struct writer *writer, enum writer_rank rank)
{
	writer_lock(writer);
	const bool wanted = find_due(writer, rank, NULL) != NULL;
	writer_unlock(writer);
	return wanted;
}

/* With the lock held. */
static void wait_for_jobs(struct writer *writer, double until)
{
	if (until == HUGE_VAL) {
		hd_condition_wait(&writer->posted, &writer->lock);
		return;
	}
	const struct timespec when = monotonic_timespec(until);
	pthread_cond_timedwait(&writer->posted, &writer->lock, &when);
}

/* With the lock held, which is released meanwhile. */
static void run(struct writer *writer, const struct writer_client *client)
{
	/* without the lock it could be the sweep's already */
	const uint64_t turn = writer->ready ? atomic_load(&writer->turn) : 0;

	writer->running = client;
	writer->running_since = monotonic_ms();
	writer_unlock(writer);
	client->run(client->state, turn);
	writer_lock(writer);
	writer->running = NULL;
	if (!client->small)
		writer->rest = monotonic_ms() + REST_MS;
	writer_tell(writer);
}

/* With the lock held, which is released meanwhile. What plans, proofs and routings took for a change is free between
 * others, so it stays with the process: as much again as what is in use. */
static void give_back_memory(struct writer *writer)
{
	writer->rest = HUGE_VAL;
	writer_unlock(writer);
	malloc_trim(0);
	writer_lock(writer);
}

static void *work(void *context)
{
	struct writer *writer = context;

	writer_lock(writer);
	writer->rest = HUGE_VAL;
	while (!writer->ending) {
		double until = HUGE_VAL;
		const struct writer_client *client = find_due(writer, WRITER_RANKS, &until);
		if (client)
			run(writer, client);
		else if (monotonic_ms() >= writer->rest)
			give_back_memory(writer);
		else
			wait_for_jobs(writer, until < writer->rest ? until : writer->rest);
	}
	writer_unlock(writer);
	return NULL;
}

int writer_add(struct writer *writer, const struct writer_client *client, struct hd_error *err)
{
	const int rc = writer->started ? 0 : pthread_create(&writer->thread, NULL, work, writer);

	if (rc)
		return hd_error_set(err, -rc, "no thread: %s", strerror(rc));
	writer->started = true;
	writer_lock(writer);
	writer->clients[client->rank] = client;
	writer_post(writer);
	writer_unlock(writer);
	return 0;
}

void writer_remove(struct writer *writer, const struct writer_client *client)
{
	writer_lock(writer);
	if (writer->clients[client->rank] == client)
		writer->clients[client->rank] = NULL;
	while (writer->running == client)
		hd_condition_wait(&writer->done, &writer->lock);
	writer_unlock(writer);
}

void writer_release(struct writer *writer)
{
	writer_lock(writer);
	writer->ending = true;
	writer_post(writer);
	writer_unlock(writer);
	if (writer->started)
		pthread_join(writer->thread, NULL);
	hd_umad_port_close(writer->umad);
	pthread_mutex_destroy(&writer->lock);
	pthread_mutex_destroy(&writer->turn_lock);
	pthread_cond_destroy(&writer->posted);
	pthread_cond_destroy(&writer->done);
}
