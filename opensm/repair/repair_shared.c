/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "repair_shared.h"
#include "monotonic.h"
#include "opensm_headers.h"
#include "part.h"

#define SETTLE_MOST 10 /* times settle_ms */
#define END_MS 20 /* between two looks at whether OpenSM ends */
#define BLOCKED_MS 500 /* in which another job of the thread may end */
#define VAIN_FREE 4 /* repairs that repair nothing, before waits become longer */
#define VAIN_DOUBLED 4 /* times that the wait doubles */
#define VAIN_MS 4 /* the first of these waits */
#define CALM_MS 1000 /* without a trap: the storm is over */

void repair_shared_init(struct repair_shared *shared, struct part_context *context)
{
	*shared = (struct repair_shared){
	    .context = context, .writer = context->writer, .watch_at_ms = -1, .tell_ms = -1};
}

void repair_shared_release(struct repair_shared *shared)
{
	repair_start_free(shared->news);
}

/* ---- OpenSM's threads ---- */

/* With the lock held. */
static void add_issuer(struct repair_issuers *issuers, uint16_t lid)
{
	const double now = monotonic_ms();
	bool known = false;

	if (!issuers->count)
		issuers->first_ms = now;
	issuers->last_ms = now;
	for (uint32_t i = 0; i < issuers->count; i++)
		known |= issuers->lids[i] == lid;
	if (!known && issuers->count < REPAIR_ISSUERS_MOST)
		issuers->lids[issuers->count++] = lid;
	else if (!known)
		issuers->more = true;
}

void repair_shared_note_trap(struct repair_shared *shared, uint16_t lid)
{
	writer_lock(shared->writer);
	shared->figures.traps++;
	add_issuer(&shared->issuers, lid);
	writer_post(shared->writer);
	writer_unlock(shared->writer);
}

/* A repair waits, and the thread has been doing something else for long. With the lock held. */
static const char *find_blocker(const struct repair_shared *shared)
{
	const struct writer *writer = shared->writer;
	const struct writer_client *running = writer->running;

	return running && running->rank != WRITER_REPAIR &&
		       monotonic_ms() - writer->running_since > BLOCKED_MS
		   ? running->doing
		   : NULL;
}

/* With the lock held. */
static bool is_waiting(const struct repair_shared *shared)
{
	return shared->writer->ready && shared->prepared && shared->issuers.count;
}

void repair_shared_wait(struct repair_shared *shared, unsigned milliseconds, const char **blocked)
{
	const double end = monotonic_ms() + milliseconds;

	*blocked = NULL;
	writer_lock(shared->writer);
	const uint64_t enough = shared->finished + 2;
	while (shared->finished < enough && !osm_exit_flag && monotonic_ms() < end && !*blocked &&
	       (shared->working || is_waiting(shared))) {
		const double look = monotonic_ms() + END_MS;
		writer_wait(shared->writer, look < end ? look : end);
		if (!shared->working && is_waiting(shared))
			*blocked = find_blocker(shared);
	}
	writer_unlock(shared->writer);
}

void repair_shared_end(struct repair_shared *shared)
{
	struct writer *writer = shared->writer;

	writer_lock(writer);
	shared->ending = true;
	writer_post(writer);
	writer_unlock(writer);
	pthread_mutex_lock(&writer->turn_lock);
	writer_renew_turn(writer);
	pthread_mutex_unlock(&writer->turn_lock);
}

struct repair_figures repair_shared_figures(struct repair_shared *shared)
{
	struct repair_figures figures;

	writer_lock(shared->writer);
	figures = shared->figures;
	writer_unlock(shared->writer);
	return figures;
}

void repair_shared_give(struct repair_shared *shared, struct repair_start *start)
{
	writer_lock(shared->writer);
	repair_start_free(shared->news);
	shared->news = start;
	shared->prepared = start != NULL;
	shared->in_vain = 0;
	shared->enabled = start && start->settings.enable;
	shared->settle_ms = start ? start->settings.settle_ms : 0;
	writer_post(shared->writer);
	writer_unlock(shared->writer);
}

/* ---- the thread ---- */

/* Asking the switches again and again must not cost much. With the lock held. */
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

/* When the traps that have come are looked at. With the lock held. */
static double end_of_settling(struct repair_shared *shared)
{
	const double rest = end_of_rest(shared);
	double until = shared->issuers.last_ms + shared->settle_ms;
	const double most = shared->issuers.first_ms + (double)SETTLE_MOST * shared->settle_ms;

	if (until > most)
		until = most;
	return until < rest ? rest : until;
}

/* Whether that time has come; else *until is not later. `until` may be NULL. */
static bool has_come(double when, double *until)
{
	if (monotonic_ms() >= when)
		return true;
	if (until && when < *until)
		*until = when;
	return false;
}

static bool is_task_due(struct repair_shared *shared, bool turn, double *until)
{
	if (shared->ending || !turn)
		return false;
	return shared->news || (shared->prepared && shared->issuers.count &&
				has_come(end_of_settling(shared), until));
}

bool repair_shared_is_due(struct repair_shared *shared, bool turn, double *until)
{
	/* nobody makes room for a line of the log */
	return is_task_due(shared, turn, until) ||
	       (until && shared->tell_ms >= 0 && has_come(shared->tell_ms, until));
}

enum repair_task repair_shared_take(struct repair_shared *shared, uint64_t turn,
				    struct repair_start **start, struct repair_issuers *issuers)
{
	enum repair_task task = REPAIR_TELL;
	double until = 0;

	writer_lock(shared->writer);
	const bool due = is_task_due(shared, turn != 0, &until);
	if (due && shared->news) {
		task = REPAIR_NEWS;
		*start = shared->news;
		shared->news = NULL;
	} else if (due) {
		task = REPAIR_LOSSES;
		shared->working = true;
		*issuers = shared->issuers;
		shared->issuers = (struct repair_issuers){0};
	}
	writer_unlock(shared->writer);
	return task;
}

void repair_shared_tell_at(struct repair_shared *shared, double tell_ms)
{
	writer_lock(shared->writer);
	shared->tell_ms = tell_ms;
	writer_unlock(shared->writer);
}

void repair_shared_note_result(struct repair_shared *shared, int rc)
{
	writer_lock(shared->writer);
	shared->in_vain = rc ? shared->in_vain + 1 : 0;
	shared->ended_ms = monotonic_ms();
	writer_unlock(shared->writer);
}

void repair_shared_finish(struct repair_shared *shared)
{
	writer_lock(shared->writer);
	shared->working = false;
	shared->finished++;
	writer_tell(shared->writer);
	writer_unlock(shared->writer);
}

bool repair_shared_has_traps(struct repair_shared *shared)
{
	writer_lock(shared->writer);
	const bool any = shared->issuers.count > 0;
	writer_unlock(shared->writer);
	return any;
}

bool repair_shared_wants_news(struct repair_shared *shared)
{
	writer_lock(shared->writer);
	const bool wanted = shared->writer->ready && !shared->news && !shared->ending;
	writer_unlock(shared->writer);
	return wanted;
}

/* ---- the watcher ---- */

void repair_shared_watch_at(struct repair_shared *shared, double when_ms)
{
	writer_lock(shared->writer);
	shared->watch_at_ms = when_ms;
	writer_unlock(shared->writer);
}

/* With the lock held. */
static bool may_watch(const struct repair_shared *shared)
{
	return !shared->ending && !shared->writer->sweeping && shared->writer->ready &&
	       !shared->news && !shared->issuers.count;
}

bool repair_shared_is_watch_due(struct repair_shared *shared, double *until)
{
	/* nobody makes room for it */
	return until && shared->watch_at_ms >= 0 && may_watch(shared) &&
	       has_come(shared->watch_at_ms, until);
}

bool repair_shared_may_watch(struct repair_shared *shared)
{
	writer_lock(shared->writer);
	const bool may = may_watch(shared);
	writer_unlock(shared->writer);
	return may;
}

bool repair_shared_note_found(struct repair_shared *shared, const uint16_t *lids, uint32_t count)
{
	writer_lock(shared->writer);
	const bool may = may_watch(shared);
	for (uint32_t i = 0; may && i < count; i++)
		add_issuer(&shared->issuers, lids[i]);
	shared->figures.watch_found += may;
	writer_unlock(shared->writer);
	return may;
}

void repair_shared_note_watched(struct repair_shared *shared, const struct repair_watched *watched)
{
	struct repair_figures *figures = &shared->figures;

	writer_lock(shared->writer);
	figures->watch_smps += watched->smps;
	figures->watch_cpu_ms += watched->cpu_ms;
	if (watched->over) {
		figures->polls++;
		figures->watch_silent = watched->silent;
		figures->round_ms = watched->round_ms;
	}
	shared->watch_at_ms = watched->next_ms;
	writer_unlock(shared->writer);
}
