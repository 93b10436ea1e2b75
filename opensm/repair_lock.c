/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "repair_lock.h"
#include "monotonic.h"
#include "opensm_headers.h"
#include "part.h"
#include "repair_shared.h"

#include <complib/cl_passivelock.h>
#include <sys/resource.h>
#include <time.h>

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

struct repair_hold repair_lock_begin(void)
{
	return (struct repair_hold){
	    .wall_us = monotonic_ms() * 1e3, .cpu_us = cpu_us(), .preempted = preempted()};
}

void repair_lock_end(struct repair_holds *holds, struct repair_hold hold)
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
