/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The jobs of adaptive routing: newer jobs, jobs of others, and the end. What a job does is replaced: it
 * asks simulated switches, or goes on until it is stopped. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "ar_repair.h"
#include "ar_tasks.h"
#include "ar_worker.h"
#include "monotonic.h"
#include "no_switches.h"
#include "opensm_headers.h"
#include "opensm_log_testing.h"
#include "part.h"
#include "simulated_port.h"
#include "sweep_change.h"

#include <heddle/ar_manager/link.h>
#include <heddle/fabric/routes.h>
#include <stdlib.h>
#include <time.h>

#define SWITCHES 20u

struct ar_tasks {
	struct ar_caller *caller;
	struct simulated_port port;
	struct hd_ar_link *link;
};

/* What the thread has done. Read it only after ar_worker_wait() or ar_worker_end(). */
static struct {
	unsigned programmed, stopped;
	uint32_t last_threads; /* job->threads of the last job that was done */
	enum ar_task last_task;
	unsigned repairs, wanted; /* of these and of recoveries, that were to go on */
	unsigned recoveries;
	enum adaptive_state adaptive; /* to be told */
	uint32_t written; /* steps that are */
	int rc; /* of the last step */
	struct hd_error err;
} done;

#define STEPS 5u

/* Steps that nobody looks into. */
static const char steps[1];

static uint16_t answer(void *context, uint32_t node, const struct hd_smp *smp, uint8_t *data)
{
	const struct hd_ar_capability_mask mask = {.words = {1u << HD_AR_CAN_REV1}};
	const struct hd_ar_info info = {.group_cap = 10};

	(void)context;
	(void)node;
	if (smp->attribute == HD_AR_GENERAL_INFO)
		hd_ar_capability_mask_encode(&mask, data);
	else
		hd_ar_info_encode(&info, data);
	return 0;
}

struct ar_tasks *ar_tasks_new(struct ar_caller *caller)
{
	const struct hd_smp_limits limits = HD_SMP_LIMITS_DEFAULT;
	struct ar_tasks *tasks = calloc(1, sizeof(*tasks));
	struct hd_smp_address addresses[SWITCHES];
	uint64_t guids[SWITCHES];

	if (!tasks || !simulated_port_start(&tasks->port, SWITCHES, 1))
		abort();
	tasks->caller = caller;
	tasks->port.answer = answer;
	tasks->link = hd_ar_link_new(&tasks->port.port, &limits);
	for (uint32_t i = 0; i < SWITCHES; i++) {
		addresses[i] = simulated_address(i);
		guids[i] = 100 + i;
	}
	if (!tasks->link || hd_ar_link_aim(tasks->link, guids, addresses, SWITCHES))
		abort();
	return tasks;
}

void ar_tasks_free(struct ar_tasks *tasks)
{
	hd_ar_link_free(tasks->link);
	simulated_port_end(&tasks->port);
	free(tasks);
}

void ar_tasks_figures(const struct ar_tasks *tasks, const struct ar_job *job,
		      struct ar_figures *out)
{
	(void)tasks;
	(void)job;
	*out = (struct ar_figures){.on = false};
}

void ar_tasks_note_adaptive(const struct ar_tasks *tasks, struct adaptive *adaptive)
{
	(void)tasks;
	if (done.adaptive == ADAPTIVE_UNKNOWN)
		adaptive_note_unknown(adaptive, NULL, NULL, 0);
	else
		adaptive_note(adaptive, done.adaptive, NULL);
}

/* ---- keys ---- */

bool ar_key_concerns(const struct ar_tasks *tasks)
{
	(void)tasks;
	return false;
}

int ar_key_program(struct ar_tasks *tasks, const struct ar_job *job, struct key_change *change,
		   struct ar_key *key, struct hd_error *err)
{
	(void)tasks;
	(void)job;
	(void)change;
	(void)key;
	return hd_error_set(err, -ENOSYS, "no keys");
}

void ar_key_end(struct ar_tasks *tasks, const struct key_change *change, struct ar_key *key)
{
	(void)tasks;
	(void)change;
	(void)key;
}

static bool is_served(struct ar_worker *worker)
{
	writer_lock(worker->caller.writer);
	const bool served = worker->serving.on;
	writer_unlock(worker->caller.writer);
	return served;
}

/* Has tables written step by step; with job->reread only when the sweep waits no longer. */
static void lead(struct ar_caller *caller, const struct ar_job *job)
{
	const struct timespec moment = {.tv_nsec = 200000};

	while (job->reread && is_served((struct ar_worker *)caller))
		nanosleep(&moment, NULL);
	for (uint32_t step = 1; !done.rc && step <= STEPS; step++) {
		done.rc = caller->write_tables(caller, (const struct hd_ar_steps *)steps, step,
					       &done.err);
		done.written += !done.rc;
	}
}

/* AR_PROGRAM asks all switches; AR_PREPARE leads if there are tables, else it and AR_TELL go on until they are stopped. */
void ar_tasks_do(struct ar_tasks *tasks, const struct ar_job *job)
{
	const struct timespec moment = {.tv_nsec = 200000};

	if (job->task == AR_REPAIR) {
		done.repairs++;
		done.wanted += ar_worker_go_on(tasks->caller);
		return;
	}
	if (job->tables) {
		lead(tasks->caller, job);
	} else if (job->task == AR_RECOVER) {
		done.recoveries++;
		done.wanted += ar_worker_go_on(tasks->caller);
	} else if (job->task == AR_PROGRAM) {
		hd_ar_program_forget(hd_ar_link_program(tasks->link));
		hd_ar_program_detect(hd_ar_link_program(tasks->link));
		done.programmed += !hd_ar_link_run(tasks->link, ar_worker_go_on, tasks->caller);
	} else {
		while (ar_worker_go_on(tasks->caller))
			nanosleep(&moment, NULL);
		done.stopped++;
	}
	done.last_threads = job->threads;
	done.last_task = job->task;
}

static struct osm_opensm osm;
static struct part_context context;
static struct writer writer;

static void start(struct ar_worker *worker, uint8_t state)
{
	struct hd_error err = {""};

	memset(&osm, 0, sizeof(osm));
	memset(&done, 0, sizeof(done));
	osm.subn.sm_state = state;
	context = (struct part_context){.osm = &osm, .writer = &writer};
	writer_init(&writer, &osm);
	if (ar_worker_start(worker, &writer, &osm, NULL, &err))
		fail_msg("%s", err.text);
}

static void end(struct ar_worker *worker, unsigned milliseconds)
{
	ar_worker_end(worker, milliseconds);
	writer_release(&writer);
}

static uint64_t post(struct ar_worker *worker, enum ar_task task, unsigned mark)
{
	struct ar_job *job = calloc(1, sizeof(*job));

	assert_non_null(job);
	job->task = task;
	job->threads = mark;
	return ar_worker_post(worker, job);
}

static void post_recovery(struct ar_worker *worker)
{
	struct ar_job *job = calloc(1, sizeof(*job));

	assert_non_null(job);
	job->task = AR_RECOVER;
	ar_worker_post_later(worker, job);
}

/* Waits until the thread has begun with all that was posted. */
static void wait_until_begun(struct ar_worker *worker)
{
	for (bool begun = false; !begun;) {
		writer_lock(&writer);
		begun = writer.running == &worker->client && !worker->next;
		writer_unlock(&writer);
	}
}

/* Waits until fast recovery is done, and the thread tells the other hosts. */
static void wait_until_recovered(struct ar_worker *worker)
{
	for (bool begun = false; !begun;) {
		writer_lock(&writer);
		begun = !worker->later && !worker->before_hosts &&
			writer.running == &worker->client && !worker->next;
		writer_unlock(&writer);
	}
}

/* Of a sweep that waits. */
struct waiting {
	struct sweep_change change; /* first */
	pthread_t thread;
	uint32_t written;
	uint32_t refused; /* step; 0: none */
};

static int write_tables(struct sweep_change *change, const struct hd_ar_steps *of, uint32_t step,
			struct hd_error *err)
{
	struct waiting *waiting = (struct waiting *)change;

	assert_true(pthread_equal(waiting->thread, pthread_self()));
	assert_ptr_equal(of, steps);
	assert_int_equal(step, waiting->written + 1);
	if (step == waiting->refused)
		return hd_error_set(err, -EIO, "a switch did not take it");
	waiting->written++;
	return 0;
}

/* Property: the thread that waits for AR_PREPARE writes the tables of each step, in order. An error of its own comes to the
 * job. If it waits no longer, nothing is written, and the job hears of that. */
static void the_sweep_writes_tables(void **state)
{
	static const struct hd_routes tables;

	(void)state;
	for (uint32_t way = 0; way < 3; way++) {
		struct waiting waiting = {.change = {.write = write_tables},
					  .thread = pthread_self(),
					  .refused = way == 1 ? 3 : 0};
		struct ar_worker worker;
		struct ar_job *job = calloc(1, sizeof(*job));
		assert_non_null(job);
		start(&worker, IB_SMINFO_STATE_MASTER);
		job->task = AR_PREPARE;
		job->tables = &tables;
		job->reread = way == 2;
		const bool served =
		    ar_worker_serve(&worker, job, &waiting.change, way == 2 ? 1 : 10000);
		assert_int_equal(served, way != 2);
		end(&worker, 10000);
		assert_int_equal(waiting.written, way == 0 ? STEPS : way == 1 ? 2 : 0);
		assert_int_equal(done.written, waiting.written);
		assert_int_equal(done.rc, way == 0 ? 0 : way == 1 ? -EIO : -ECANCELED);
		assert_string_equal(done.err.text, way == 0   ? ""
						   : way == 1 ? "a switch did not take it"
							      : "the sweep waits no longer");
	}
}

/* Property: a thread that has waited for a job sees what the job has done. */
static void jobs_are_done(void **state)
{
	struct ar_worker worker;

	(void)state;
	start(&worker, IB_SMINFO_STATE_MASTER);
	for (unsigned i = 1; i <= 50; i++) {
		assert_true(ar_worker_wait(&worker, post(&worker, AR_PROGRAM, i), 10000));
		assert_int_equal(done.programmed, i);
		assert_int_equal(done.last_threads, i);
	}
	end(&worker, 10000);
}

/* A client that comes before adaptive routing. */
struct other {
	struct writer_client client;
	bool due; /* with the writer's lock */
	struct ar_worker *worker; /* which it lets do a repair */
	int rc; /* of that */
	unsigned runs;
};

static bool is_other_due(void *state, bool turn, double *until)
{
	(void)turn;
	(void)until;
	return ((const struct other *)state)->due;
}

static void run_other(void *state, uint64_t turn)
{
	struct other *other = state;

	struct ar_repair repair = {.off = true};
	const struct ar_job job = {.task = AR_REPAIR, .repair = &repair};

	(void)turn;
	ar_worker_repair(other->worker, &job);
	other->rc = repair.rc;
	writer_lock(&writer);
	other->due = false;
	other->runs++;
	writer_tell(&writer);
	writer_unlock(&writer);
}

static bool has_run(struct other *other, unsigned milliseconds)
{
	const double end_ms = monotonic_ms() + milliseconds;

	writer_lock(&writer);
	while (other->due && writer_wait(&writer, end_ms))
		continue;
	const bool has = !other->due;
	writer_unlock(&writer);
	return has;
}

/* Property: another client's job waits for one of adaptive routing, until that is done with the switches and only tells
 * hosts. The other hosts follow after that job. */
static void others_wait_until_hosts_are_told(void **state)
{
	struct other other = {
	    .client = {.rank = WRITER_REPAIR, .is_due = is_other_due, .run = run_other}};
	struct ar_worker worker;
	struct hd_error err;

	(void)state;
	other.client.state = &other;
	other.worker = &worker;
	start(&worker, IB_SMINFO_STATE_MASTER);
	assert_int_equal(writer_add(&writer, &other.client, &err), 0);
	const uint64_t endless = post(&worker, AR_PREPARE, 1);
	wait_until_begun(&worker);
	writer_lock(&writer);
	other.due = true;
	writer_post(&writer);
	writer_unlock(&writer);
	assert_false(has_run(&other, 20));
	assert_false(ar_worker_wait(&worker, endless, 0));
	ar_worker_note_told(&worker);
	assert_true(has_run(&other, 10000));
	assert_true(ar_worker_wait(&worker, endless, 10000));
	assert_int_equal(done.stopped, 1);
	assert_int_equal(other.rc, 0);
	assert_int_equal(done.wanted, 1); /* hosts that are left do not stop a repair */
	wait_until_begun(&worker);
	writer_remove(&writer, &other.client);
	end(&worker, 10000);
	assert_int_equal(done.stopped, 2);
	assert_int_equal(done.last_task, AR_TELL);
}

/* Property: fast recovery waits for a job that changes switches, but not for hosts: these are left, and told after
 * it. Hosts that are left do not stop it. */
static void recovery_comes_before_hosts(void **state)
{
	struct ar_worker worker;

	(void)state;
	start(&worker, IB_SMINFO_STATE_MASTER);
	const uint64_t endless = post(&worker, AR_PREPARE, 1);
	wait_until_begun(&worker);
	post_recovery(&worker);
	assert_false(ar_worker_wait(&worker, endless, 20));
	ar_worker_note_told(&worker);
	assert_true(ar_worker_wait(&worker, endless, 10000));
	wait_until_recovered(&worker);
	end(&worker, 10000);
	assert_int_equal(done.stopped, 2); /* the second one tells the other hosts */
	assert_int_equal(done.last_task, AR_TELL);
	assert_int_equal(done.recoveries, 1);
	assert_int_equal(done.wanted, 1);
}

/* Property: a job that is posted meanwhile replaces fast recovery that has not begun. */
static void newer_jobs_replace_recovery(void **state)
{
	struct ar_worker worker;

	(void)state;
	start(&worker, IB_SMINFO_STATE_MASTER);
	post(&worker, AR_PREPARE, 1);
	wait_until_begun(&worker);
	post_recovery(&worker);
	assert_true(ar_worker_wait(&worker, post(&worker, AR_PROGRAM, 2), 10000));
	end(&worker, 10000);
	assert_int_equal(done.programmed, 1);
	assert_int_equal(done.recoveries, 0);
}

/* Property: a newer job stops the one that is being done, and replaces one that has not begun. */
static void newer_jobs_win(void **state)
{
	struct ar_worker worker;
	uint64_t last = 0;

	(void)state;
	start(&worker, IB_SMINFO_STATE_MASTER);
	for (unsigned i = 1; i <= 200; i++)
		last = post(&worker, AR_PREPARE, i);
	wait_until_begun(&worker);
	assert_false(ar_worker_wait(&worker, last, 20));
	last = post(&worker, AR_PROGRAM, 201);
	assert_true(ar_worker_wait(&worker, last, 10000));
	assert_true(done.stopped >= 1 && done.stopped <= 200);
	assert_int_equal(done.programmed, 1);
	assert_int_equal(done.last_threads, 201);
	end(&worker, 10000);
}

/* Property: a job knows whether a programming that was never begun has been replaced, by it or by one
 * that it has replaced. */
static void a_replaced_programming_is_known(void **state)
{
	static const enum ar_task tasks[][3] = {{AR_PROGRAM, AR_PREPARE, AR_PREPARE},
						{AR_PREPARE, AR_PREPARE, AR_PROGRAM},
						{AR_PREPARE, AR_PROGRAM, AR_PROGRAM},
						{AR_PROGRAM, AR_PREPARE, AR_PROGRAM}};
	static const bool known[] = {true, false, false, true};

	(void)state;
	for (unsigned i = 0; i < 4; i++) {
		struct ar_worker worker = {.caller = {.writer = &writer}, .osm = &osm};
		writer_init(&writer, &osm);
		for (unsigned j = 0; j < 3; j++)
			post(&worker, tasks[i][j], j);
		assert_int_equal(worker.next->unfinished, known[i]);
		ar_job_free(worker.next);
		writer_release(&writer);
	}
}

/* Property: a subnet manager that is not the master any more sends nothing more. */
static void only_the_master_sends(void **state)
{
	struct ar_worker worker;

	(void)state;
	start(&worker, IB_SMINFO_STATE_STANDBY);
	assert_true(ar_worker_wait(&worker, post(&worker, AR_PREPARE, 1), 10000));
	assert_int_equal(done.stopped, 1);
	end(&worker, 10000);
}

/* Property: the end waits for the last job, but not for ever. */
static void the_end_is_limited(void **state)
{
	struct ar_worker worker;

	(void)state;
	start(&worker, IB_SMINFO_STATE_MASTER);
	post(&worker, AR_PROGRAM, 1);
	end(&worker, 10000);
	assert_int_equal(done.programmed, 1);
	start(&worker, IB_SMINFO_STATE_MASTER);
	post(&worker, AR_PREPARE, 1);
	end(&worker, 30);
	assert_true(done.stopped <= 1);
}

/* Property: no repair comes before a job that has not begun. */
static void a_repair_waits_for_no_job(void **state)
{
	struct ar_repair repair = {.off = true};
	const struct ar_job job = {.task = AR_REPAIR, .repair = &repair};
	struct ar_worker worker = {.caller = {.writer = &writer}, .osm = &osm};

	(void)state;
	memset(&done, 0, sizeof(done));
	writer_init(&writer, &osm);
	post(&worker, AR_PREPARE, 1);
	ar_worker_repair(&worker, &job);
	assert_int_equal(repair.rc, -EBUSY);
	assert_string_equal(repair.err.text, "adaptive routing is being programmed");
	assert_int_equal(done.repairs, 0);
	ar_job_free(worker.next);
	writer_release(&writer);
}

/* Property: others hear what is in force after a job that leaves the
 * switches alone for now, and that it changes while one waits or tables change. The number stays as long as
 * the same is in force. */
static void tells_what_is_in_force(void **state)
{
	const struct adaptive_view unread = {.state = ADAPTIVE_UNKNOWN};
	struct adaptive adaptive;
	struct adaptive_view view;
	struct ar_worker worker;

	(void)state;
	adaptive_state_init(&adaptive);
	start(&worker, IB_SMINFO_STATE_MASTER);
	worker.adaptive = &adaptive;
	assert_true(adaptive_is(&adaptive, &unread));
	const uint64_t prepared = post(&worker, AR_PREPARE, 1);
	adaptive_look(&adaptive, &view);
	assert_int_equal(view.state, ADAPTIVE_CHANGING);
	assert_false(ar_worker_wait(&worker, prepared, 30));
	done.adaptive = ADAPTIVE_UNKNOWN;
	ar_worker_wait(&worker, post(&worker, AR_PROGRAM, 2), 10000);
	ar_worker_end_repair(&worker);
	adaptive_look(&adaptive, &view);
	assert_int_equal(view.state, ADAPTIVE_UNKNOWN);
	done.adaptive = ADAPTIVE_OFF;
	ar_worker_wait(&worker, post(&worker, AR_PROGRAM, 3), 10000);
	ar_worker_end_repair(&worker);
	adaptive_look(&adaptive, &view);
	assert_int_equal(view.state, ADAPTIVE_OFF);
	assert_true(view.number > 0 && adaptive_is(&adaptive, &view));
	ar_worker_wait(&worker, post(&worker, AR_PROGRAM, 4), 10000);
	ar_worker_end_repair(&worker);
	assert_true(adaptive_is(&adaptive, &view));
	end(&worker, 10000);
	adaptive_state_release(&adaptive);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(jobs_are_done),
	    cmocka_unit_test(tells_what_is_in_force),
	    cmocka_unit_test(others_wait_until_hosts_are_told),
	    cmocka_unit_test(recovery_comes_before_hosts),
	    cmocka_unit_test(newer_jobs_replace_recovery),
	    cmocka_unit_test(a_repair_waits_for_no_job),
	    cmocka_unit_test(newer_jobs_win),
	    cmocka_unit_test(a_replaced_programming_is_known),
	    cmocka_unit_test(the_sweep_writes_tables),
	    cmocka_unit_test(only_the_master_sends),
	    cmocka_unit_test(the_end_is_limited),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
