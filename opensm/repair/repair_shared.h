/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the thread that repairs shares with OpenSM's threads. The thread may change forwarding tables
 * while it has the turn: from the end of a sweep until the next one reaches routing. The sweeper
 * thread takes the turn, and gives it back with what the thread needs to know.
 */
#ifndef OPENSM_REPAIR_SHARED_H
#define OPENSM_REPAIR_SHARED_H

#include "repair_start.h"

#include <heddle/change/repair.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct repair_shared;

#define REPAIR_LOCK_LONG_US 1000u /* that OpenSM's threads should never wait */

/* When something began. */
struct repair_hold {
	double wall_us, cpu_us; /* of any clock; of the thread */
	long preempted; /* times that another thread got the core */
};

/* Times of one kind. */
struct repair_holds {
	uint64_t count;
	uint64_t over; /* of these longer than REPAIR_LOCK_LONG_US by the clock */
	uint64_t preempted; /* of these in which another thread got the core */
	uint64_t wall_us_most, cpu_us_most;
};

/* Takes OpenSM's lock, exclusively or shared. The result is for repair_lock_release(). */
struct repair_hold repair_lock_take(struct repair_shared *shared, bool exclusive);

/*
 * Takes OpenSM's lock exclusively, but gives up when the turn is lost meanwhile: false. The sweeper
 * thread keeps the lock while it waits for the thread of adaptive routing, which writes tables in a
 * repair. So that thread must not wait for the lock.
 */
bool repair_lock_try(struct repair_shared *shared, uint64_t turn, struct repair_hold *hold);

void repair_lock_release(struct repair_shared *shared, struct repair_hold hold);

#define REPAIR_ISSUERS_MOST 512u

/* Switches that have sent trap 128. */
struct repair_issuers {
	uint16_t lids[REPAIR_ISSUERS_MOST];
	uint32_t count;
	bool more; /* than fit */
	double first_ms, last_ms; /* monotonic_ms() of the first and the last trap */
};

/* Why a repair stops with -ECANCELED. */
#define REPAIR_LOST_TURN "the sweep routes now, or OpenSM is no longer the master"

/* Blocks that are sent and not acknowledged; from the first on. */
struct repair_flight {
	const struct hd_fabric *fabric; /* NULL: nothing is under way */
	const struct hd_repair_write *writes;
	bool *done; /* [count] acknowledged, and OpenSM knows */
	uint32_t count;
};

struct repair_figures {
	uint64_t traps, repairs, entries, blocks, stopped; /* since the start */
	uint64_t groups, mft_blocks; /* of multicast, since the start */
	struct repair_holds locks; /* of OpenSM's lock */
	struct repair_holds waits; /* of OpenSM's threads for the turn, of these */
	struct repair_holds sends; /* for which the thread keeps the turn to itself */
	double last_ms; /* from the first trap to the last block, of the last repair */
};

struct repair_shared {
	struct part_context *context;
	/* Of what follows; held only for a moment. Taken after turn_lock and OpenSM's lock, never before. */
	pthread_mutex_t lock;
	pthread_cond_t posted, done;
	struct repair_issuers issuers;
	struct repair_start *news; /* NULL: none */
	bool ready; /* the thread has the turn */
	bool enabled; /* since the last sweep */
	bool working; /* on a repair */
	uint64_t finished; /* repairs, done or not */
	uint32_t in_vain; /* of these the last ones, that repaired nothing */
	double ended_ms; /* when the last of them ended */
	bool ending; /* OpenSM ends */
	struct repair_figures figures;
	/* Taken after OpenSM's lock, never before. Held while the thread sends. */
	pthread_mutex_t turn_lock;
	/* Another number each time that the sweeper thread takes the turn; it changes with turn_lock held.
	 * Any thread may look. One that needs the turn for what it does takes turn_lock before it looks. */
	_Atomic uint64_t turn;
	atomic_uint turn_wanted; /* threads of OpenSM that wait for turn_lock */
	struct repair_flight flight;
	struct repair_holds sends; /* see the figures */
};

void repair_shared_init(struct repair_shared *shared, struct part_context *context);
void repair_shared_release(struct repair_shared *shared);

/* It is not known what the switches hold of the blocks under way that are not done: the next sweep sends
 * them, and nothing is under way any more. With turn_lock and OpenSM's lock, exclusively, held. */
void repair_shared_forget_flight(struct repair_shared *shared);

/* ---- OpenSM's threads ---- */

/* A switch has sent trap 128. */
void repair_shared_note_trap(struct repair_shared *shared, uint16_t lid);

/* Waits until no repair is under way or due, or OpenSM ends, at most so long, and for two repairs at most:
 * in a storm of traps one is always due. Without OpenSM's lock. */
void repair_shared_wait(struct repair_shared *shared, unsigned milliseconds);

/* Takes the turn: the thread sends no more. OpenSM sends again what was under way. With OpenSM's lock
 * held exclusively. */
void repair_shared_take_turn(struct repair_shared *shared);

/* Takes the turn without OpenSM's lock, which it takes only when the thread does not send any more. */
void repair_shared_stop(struct repair_shared *shared);

/* Gives the turn to the thread; takes over `start`. */
void repair_shared_give_turn(struct repair_shared *shared, struct repair_start *start);

/* Adds times for which OpenSM's lock was held. For any thread. */
void repair_shared_note_hold(struct repair_shared *shared, const struct repair_holds *hold);

struct repair_figures repair_shared_figures(struct repair_shared *shared);

/* Ends what the thread does, at once if it is sending. */
void repair_shared_end(struct repair_shared *shared);

/* ---- the thread ---- */

enum repair_task { REPAIR_END, REPAIR_NEWS, REPAIR_LOSSES, REPAIR_TELL };

/* Waits for something to do. NEWS: *start is the caller's. LOSSES: `working` is set, and *turn is the
 * turn that the thread has. TELL: there is nothing, and it is tell_ms by monotonic_ms(); negative: never. */
enum repair_task repair_shared_next(struct repair_shared *shared, double tell_ms,
				    struct repair_start **start, uint64_t *turn);

/* Waits until no trap has come for settle_ms, at most 10 times as long, and takes the issuers. If traps
 * keep coming and nothing is repaired, it waits longer each time, up to 64 ms. */
void repair_shared_settle(struct repair_shared *shared, unsigned settle_ms,
			  struct repair_issuers *issuers);

/* How the repair ended. */
void repair_shared_note_result(struct repair_shared *shared, int rc);

/* The repair has ended. */
void repair_shared_finish(struct repair_shared *shared);

/* Whether `turn` is still the thread's. For any thread. */
bool repair_shared_is_turn(struct repair_shared *shared, uint64_t turn);

/* Whether it is, and OpenSM is the master. For any thread. */
bool repair_shared_has_turn(struct repair_shared *shared, uint64_t turn);

/* Whether traps have come that no repair has looked at. */
bool repair_shared_has_traps(struct repair_shared *shared);

/* Whether what a sweep has left is still to be prepared for: it has the turn, and no later one has come. */
bool repair_shared_wants_news(struct repair_shared *shared);

/* Runs hd_smp_queue_work() if `turn` is still the thread's, and OpenSM the master; else -ECANCELED. */
int repair_shared_work(struct repair_shared *shared, uint64_t turn, struct hd_smp_queue *queue);

#endif
