/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * THE WRITER: the one thread of the plugin that changes what switches hold.
 *
 * OpenSM's sweep writes the tables of switches. Between two sweeps, parts of the plugin change them, too:
 * a repair writes entries after a loss, a routing key takes entries over, adaptive routing has tables of
 * its own. All of this is done by one thread, with one port, one job at a time. So no job sees the half of
 * another one.
 *
 * JOBS. A part that changes tables is a client. It says whether it has something to do, and does it when the
 * thread calls it. Of several clients that have something to do, the one with the lowest rank comes first:
 * repairs, then keys, then adaptive routing, then the watcher, which only asks. Nothing interrupts a job that has begun. But a job may ask
 * whether a client before it waits (writer_is_wanted()), and end early.
 *
 * THE TURN. Either the sweep or this thread may change forwarding tables: it has the turn. The sweeper thread takes it
 * before OpenSM routes, and gives it back when all parts are done with the sweep. Just before, it may wait a moment for
 * a job that is worth it. But taking the turn waits for no job, only for one call of hd_smp_queue_work(). Each time the
 * turn is taken it gets another number. A job carries the number with which it began. It looks at the number with
 * turn_lock held before it sends, before it changes OpenSM's copy of a table, and before it publishes a routing. If the
 * number is another one, the job ends with -ECANCELED. A repair that has published its tables changes the number, too:
 * what a client has computed for the tables before is void then. Tables of adaptive routing are not OpenSM's, so a job
 * that changes only these needs no turn; ar_worker.h says what stops it.
 *
 * OPENSM'S COPY. While blocks are sent, it is not known which of them the switches hold. They are listed as the
 * flight. If the sweep takes the turn meanwhile, OpenSM sends the blocks of the flight again.
 *
 * LOCKS, in the order in which they are taken: OpenSM's lock, turn_lock, the lock of the writer. The sweeper
 * thread may hold OpenSM's lock while it waits for a job. So the thread never waits for OpenSM's lock
 * without end: writer_lock_try() gives up when the turn is lost.
 */
#ifndef OPENSM_WRITER_H
#define OPENSM_WRITER_H

#include <heddle/base/error.h>
#include <heddle/base/go_on.h>
#include <heddle/mad/queue.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct hd_fabric;
struct hd_repair_write;
struct hd_umad_port;
struct osm_opensm;

/* Why a job that needs the turn ends with -ECANCELED. */
#define WRITER_LOST_TURN "the sweep routes now, or OpenSM is no longer the master"

/* ---- jobs ---- */

enum writer_rank { WRITER_REPAIR, WRITER_KEYS, WRITER_AR, WRITER_WATCH, WRITER_RANKS };

struct writer_client {
	enum writer_rank rank; /* one client has it */
	/*
	 * Whether there is something to do. `turn`: the thread has the turn. If there is something to do
	 * only later, *until becomes that time by monotonic_ms(), if it is earlier. `until` NULL: whether there is
	 * something for which another client has to make room. With the writer's lock held.
	 */
	bool (*is_due)(void *state, bool turn, double *until);
	/* Does it. `turn`: the number of the turn; 0: the thread does not have it. Without locks. */
	void (*run)(void *state, uint64_t turn);
	void *state;
	bool small; /* its jobs leave no memory to give back */
	const char *doing; /* for messages: "a routing key is being put in force" */
};

/* ---- times ---- */

#define WRITER_LOCK_LONG_US 1000u /* that OpenSM's threads should never wait */

/* When something began. */
struct writer_hold {
	double wall_us, cpu_us; /* of any clock; of the thread */
	long preempted; /* times that another thread got the core */
};

/* Times of one kind. */
struct writer_holds {
	uint64_t count;
	uint64_t over; /* of these longer than WRITER_LOCK_LONG_US by the clock */
	uint64_t preempted; /* of these in which another thread got the core */
	uint64_t wall_us_most, cpu_us_most;
};

struct writer_figures {
	struct writer_holds locks; /* of OpenSM's lock */
	struct writer_holds waits; /* of OpenSM's threads for the turn, of these */
	struct writer_holds sends; /* for which the thread keeps the turn to itself */
};

/* ---- the writer ---- */

/* Blocks that are sent and not acknowledged; from the first on. */
struct writer_flight {
	const struct hd_fabric *fabric; /* NULL: nothing is under way */
	const struct hd_repair_write *writes;
	bool *done; /* [count] acknowledged, and OpenSM knows */
	uint32_t count;
};

struct writer {
	struct osm_opensm *osm;
	/* Of what follows, and of the clients' mailboxes; held only for a moment. */
	pthread_mutex_t lock;
	pthread_cond_t posted, done;
	const struct writer_client *clients[WRITER_RANKS]; /* NULL: none */
	const struct writer_client *running; /* NULL: the thread waits */
	double running_since; /* monotonic_ms() */
	double
	    rest; /* monotonic_ms() from when on memory is given back; HUGE_VAL: it is, or none was used */
	bool started, ending;
	bool ready; /* the thread has the turn */
	bool sweeping; /* a sweep has begun, and is not over */
	struct writer_figures figures; /* without `sends` */
	pthread_t thread;
	/* Taken after OpenSM's lock, never before. Held while the thread sends. */
	pthread_mutex_t turn_lock;
	/* It changes with turn_lock held. Any thread may look. One that needs the turn for what it does
	 * takes turn_lock before it looks. */
	_Atomic uint64_t turn;
	atomic_uint turn_wanted; /* threads of OpenSM that wait for turn_lock */
	struct writer_flight flight;
	struct writer_holds sends; /* see the figures */
	/* The port, for the thread: all jobs use it. */
	struct hd_umad_port *umad; /* NULL: not open */
	bool umad_broken; /* it has to be opened again */
	uint64_t umad_guid;
	uint64_t umad_number; /* another one each time that a port is opened */
};

void writer_init(struct writer *writer, struct osm_opensm *osm);

/* Ends the thread. All clients are gone. */
void writer_release(struct writer *writer);

/*
 * Adds a client, and starts the thread with the first one. *client is the caller's, and stays until
 * writer_remove(). Errors: of the system, with a reason.
 */
int writer_add(struct writer *writer, const struct writer_client *client, struct hd_error *err);

/* The client is not called any more. Waits until its job has ended. Without locks. */
void writer_remove(struct writer *writer, const struct writer_client *client);

/* The mailbox of a client: writer_lock() before a look, writer_unlock() after it. */
void writer_lock(struct writer *writer);
void writer_unlock(struct writer *writer);

/* A client has something to do. With the writer's lock held. */
void writer_post(struct writer *writer);

/* Someone waits for what a client has done. With the writer's lock held. */
void writer_tell(struct writer *writer);

/* Waits until writer_tell() or until that time by monotonic_ms(); false: it was the time. With the writer's
 * lock held, which is released meanwhile. */
bool writer_wait(struct writer *writer, double until);

/* Whether a client of a lower rank has something to do: for a job that may end early. */
bool writer_is_wanted(struct writer *writer, enum writer_rank rank);

/* ---- OpenSM's threads ---- */

/* Takes the turn: the thread changes no forwarding tables any more. OpenSM sends again what was under way. With
 * OpenSM's lock held exclusively. */
void writer_take_turn(struct writer *writer);

/* The same without OpenSM's lock, which it takes only when the thread does not send any more. */
void writer_stop(struct writer *writer);

/* A sweep has begun. Whatever switches hold, it puts right. */
void writer_note_sweep(struct writer *writer);

/* The sweep is over: gives the turn to the thread. */
void writer_give_turn(struct writer *writer);

/* For any thread. */
struct writer_figures writer_figures(struct writer *writer);

/* ---- OpenSM's lock ---- */

/* Takes OpenSM's lock, exclusively or shared, and notes the time. The result is for writer_lock_release(). Not for
 * the writer's thread. */
struct writer_hold writer_lock_take(struct writer *writer, bool exclusive);

/* Takes it, but gives up when the turn is lost meanwhile: false. */
bool writer_lock_try(struct writer *writer, bool exclusive, uint64_t turn,
		     struct writer_hold *hold);

void writer_lock_release(struct writer *writer, struct writer_hold hold);

/* ---- the turn, for jobs ---- */

/* The number of the turn if the thread has it, else 0. For any thread. */
uint64_t writer_turn(struct writer *writer);

/* Whether `turn` is still the thread's. For any thread. */
bool writer_is_turn(const struct writer *writer, uint64_t turn);

/* Whether it is, and OpenSM is the master. For any thread. */
bool writer_has_turn(const struct writer *writer, uint64_t turn);

/* What others have computed for the tables in force is void: they are replaced, or OpenSM ends. Returns the new number.
 * With turn_lock held. */
uint64_t writer_renew_turn(struct writer *writer);

/* It is not known what some switches hold: OpenSM is to sweep, unless it does so already. */
void writer_demand_sweep(struct writer *writer);

/* Runs hd_smp_queue_work() if `turn` is still the thread's, and OpenSM the master; else -ECANCELED. */
int writer_work(struct writer *writer, uint64_t turn, struct hd_smp_queue *queue);

/* Waits until the queue has something to do, at most some milliseconds: then the turn is to be looked at. */
void writer_pause(struct hd_smp_queue *queue);

/* It is not known what the switches hold of the flight: the next sweep sends it. With turn_lock and
 * OpenSM's lock, exclusively, held. */
void writer_forget_flight(struct writer *writer);

/* ---- the port, for jobs ---- */

/*
 * Opens the port with that GUID, unless it is open. *number becomes the number of the port: a queue that was
 * made at a port with another number is void. Errors: of the port, with a reason.
 */
int writer_port_open(struct writer *writer, uint64_t guid, uint64_t *number, struct hd_error *err);

/* For queues; of the port that is open. */
const struct hd_smp_port *writer_port(const struct writer *writer);

/* The port is broken: the next writer_port_open() opens it again. */
void writer_port_break(struct writer *writer);

#endif
