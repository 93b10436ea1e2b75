/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * All that changes tables at the same time: the writer, which repairs, programs adaptive routing and puts routing keys
 * in force, and sweeps, which take the turn from it at any moment. Adaptive routing and keys exclude each other, so
 * sweeps switch from one to the other.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../ar_manager/program_testing.h"
#include "ar_job_testing.h"
#include "ar_worker.h"
#include "keys_repair.h"
#include "keys_testing.h"
#include "keys_worker.h"
#include "repair_paths.h"
#include "repair_thread_testing.h"
#include "switch_addresses.h"
#include "writer_lft.h"

#include <heddle/change/keys_proof.h>

#define SECONDS 2
#define KEYS 6u
#define ENTRIES 12u
#define TOGETHER 4u /* SETs at most */
#define PREPARE_MS 20000u /* OpenSM waits less, and says so */
#define TIMEOUT_MS 100u

/* What the world has beside repairs. */
static struct beside {
	struct keys_shared keys;
	pthread_t keys_thread;
	atomic_bool ending;
	atomic_uint sets, set; /* SETs that were tried, and done */
	/* A sweep is to begin right after the last answer to a SET; it has; that SET has ended. */
	atomic_bool sweep_begins, begun, cut_short;
	struct keys_repair repair;
	struct part_instance instances[2]; /* of the parts, for their hooks in a repair */
	struct ar_worker ar;
	struct ar_job *ar_job; /* with the writer's lock; of repairs, to be copied */
	struct routing *in_switches; /* as in ar_part.c */
	struct fake_switch able[SWITCHES];
} beside;

/* ---- switches ---- */

static void answer_ar(uint32_t node, const struct hd_smp *smp, struct hd_smp_event *event)
{
	struct fake_mad asked = {.set = smp->method == HD_SMP_SET,
				 .mad = {.attribute = smp->attribute, .modifier = smp->modifier}};

	memcpy(asked.mad.data, smp->data, HD_AR_DATA);
	fake_do(&beside.able[node], &asked, event->data);
}

static uint32_t count_on(void)
{
	uint32_t on = 0;

	pthread_mutex_lock(&world.lock);
	for (uint32_t sw = 0; sw < SWITCHES; sw++)
		on += beside.able[sw].info.enabled;
	pthread_mutex_unlock(&world.lock);
	return on;
}

/* ---- OpenSM ---- */

struct hd_smp_address *switch_addresses_find(const struct hd_fabric *fabric, struct osm_opensm *osm)
{
	struct hd_smp_address *list = calloc(fabric->switch_count + 1u, sizeof(*list));
	bool *cut = calloc(fabric->port_count + 1u, sizeof(*cut));
	struct repair_paths paths;

	(void)osm;
	if (!repair_paths_init(&paths, fabric, fabric->port_guid[world.own])) {
		repair_paths_search(&paths, cut, NULL, 0);
		for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
			repair_paths_address(&paths, sw, 0, &list[sw]);
	}
	repair_paths_release(&paths);
	free(cut);
	return list;
}

/* ---- the thread of keys ---- */

int __real_writer_lft_run(struct writer_lft *send, struct hd_error *err);
int __wrap_writer_lft_run(struct writer_lft *send, struct hd_error *err);

/* A key sends its blocks without in_place. */
int __wrap_writer_lft_run(struct writer_lft *send, struct hd_error *err)
{
	int rc = __real_writer_lft_run(send, err);

	if (!rc && !send->in_place && atomic_exchange(&beside.sweep_begins, false)) {
		writer_stop(&world.writer);
		atomic_store(&beside.begun, true);
	}
	return rc;
}

/* A key that comes, changes or goes. */
static struct hd_channel_message make_set(const struct keys_worker *worker,
					  struct hd_key_entry entries[ENTRIES], uint64_t *random)
{
	const struct routing *routing = worker->routing;
	struct hd_channel_message message = {.type = HD_CHANNEL_SET,
					     .set = {.request = 1,
						     .key = 1 + hd_random_below(random, KEYS),
						     .epoch = worker->epoch,
						     .overlay = {.entries = entries}}};

	if (routing && hd_random_below(random, 4))
		message.set.overlay.count =
		    keys_random(routing->fabric, routing_base(routing),
				keys_lid(routing->fabric, (uint32_t)message.set.key * 9, 1),
				ENTRIES, true, random, entries);
	return message;
}

/* heddle-keyd asks for some keys, perhaps for one of them twice, and takes others away. */
static void ask(struct keys_worker *worker, uint64_t *random)
{
	struct hd_key_entry entries[TOGETHER][ENTRIES];
	struct hd_channel_message sets[TOGETHER];
	struct hd_channel_result results[TOGETHER];
	const uint32_t count = 1 + (uint32_t)hd_random_below(random, TOGETHER);

	for (uint32_t i = 0; i < count; i++)
		sets[i] = make_set(worker, entries[i], random);
	const uint32_t done = keys_worker_set(worker, sets, count, results);
	atomic_fetch_add(&beside.sets, done);
	for (uint32_t i = 0; i < done; i++)
		if (results[i].status == HD_CHANNEL_DONE)
			atomic_fetch_add(&beside.set, results[i].blocks > 0);
	if (atomic_load(&beside.begun))
		atomic_store(&beside.cut_short, true);
}

static void *serve_keys(void *context)
{
	struct keys_worker worker;
	struct keys_changes changes;
	struct hd_error err;
	uint64_t random = 17;

	(void)context;
	if (keys_worker_init(&worker, &beside.keys, &err))
		return NULL;
	while (!atomic_load(&beside.ending)) {
		if (keys_worker_take_news(&worker, &changes))
			keys_broken_release(&changes.broken);
		ask(&worker, &random);
		pause_us(500);
	}
	keys_worker_release(&worker);
	return NULL;
}

/* ---- a sweep, in the order of the parts ---- */

static struct ar_job *job_new(enum ar_task task, struct routing *routing)
{
	struct ar_job *job = calloc(1, sizeof(*job));

	*job = plain_job(task);
	job->limits.timeout_ms = TIMEOUT_MS;
	job->port_guid = world.fabric->port_guid[world.own]; /* that of all jobs */
	job->routing = routing ? routing_hold(routing) : NULL;
	job->addresses = routing ? switch_addresses_find(routing->fabric, &world.osm) : NULL;
	return job;
}

static void note_in_switches(struct routing *routing)
{
	routing_release(beside.in_switches);
	beside.in_switches = routing;
}

/* The keys part: keys stay in force if they are sound, but not beside adaptive routing. */
static void apply_keys(struct routing *routing, bool adaptive, struct hd_keys_proof **proof)
{
	struct keys_broken_list broken = {0};
	struct keys_applied applied;
	struct hd_error err;

	*proof = NULL;
	if (adaptive) {
		keys_set_release(keys_shared_replace_set(&beside.keys, keys_set_new(), &broken));
		return;
	}
	struct keys_set *set = keys_shared_set(&beside.keys);
	assert_int_equal(
	    keys_apply(routing->fabric, routing->routes, set, 1, &applied, &broken, &err), 0);
	keys_set_release(set);
	if (applied.routes)
		routing_take_keys(routing, applied.routes);
	keys_set_release(keys_shared_replace_set(&beside.keys, applied.set, &broken));
	keys_broken_release(&broken);
	*proof = applied.proof;
}

/* Adaptive routing goes in steps with the tables, or off before they change. With OpenSM's lock. */
static void prepare_ar(struct routing *routing, bool adaptive, bool fresh)
{
	struct routing *repaired = ar_worker_take_repaired(&beside.ar);
	struct ar_job *job;

	if (repaired)
		note_in_switches(repaired);
	job = adaptive ? job_new(AR_PREPARE, routing) : job_new(AR_DISABLE, NULL);
	job->fresh = fresh;
	if (adaptive && beside.in_switches)
		job->before = routing_hold(beside.in_switches);
	uint64_t number = ar_worker_post(&beside.ar, job);
	assert_true(ar_worker_wait(&beside.ar, number, PREPARE_MS));
}

static struct routing *compute(void)
{
	struct hd_fabric *plain = generate(world.kind->generator, world.kind->settings), *fabric;
	struct hd_error err = {""};

	assert_int_equal(hd_fabric_assign_lids(plain, 1, &fabric, &err), 0);
	hd_fabric_free(plain);
	return compute_tables(fabric);
}

static void take_ar_job(struct ar_job *job)
{
	writer_lock(&world.writer);
	struct ar_job *former = beside.ar_job;
	beside.ar_job = job;
	writer_unlock(&world.writer);
	ar_job_free(former);
}

static void settle(struct routing *routing, bool adaptive, struct hd_keys_proof *proof)
{
	struct keys_news news = {.any = true,
				 .proof = proof,
				 .port_guid = world.fabric->port_guid[world.own],
				 .threads = 1};

	news.limits = (struct hd_smp_limits)HD_SMP_LIMITS_DEFAULT;
	news.limits.timeout_ms = TIMEOUT_MS;
	if (adaptive)
		snprintf(news.refusal, sizeof(news.refusal), "adaptive routing is on");
	else
		news.routing = routing_hold(routing);
	take_ar_job(job_new(AR_REPAIR, NULL));
	keys_shared_give(&beside.keys, &news);
	repair_shared_give(&world.shared, make_start());
	writer_give_turn(&world.writer);
}

static void sweep_all(bool adaptive, bool fresh)
{
	struct routing *routing = compute();
	struct hd_keys_proof *proof;

	mend_cables();
	wait_for_repairs(2); /* turn_ends */
	writer_stop(&world.writer); /* discovered */
	lock_osm(); /* computed */
	writer_take_turn(&world.writer);
	apply_keys(routing, adaptive, &proof);
	prepare_ar(routing, adaptive, fresh);
	write_tables(routing);
	part_publish(&world.context, routing);
	unlock_osm();
	pause_us(300); /* OpenSM's own writing */
	pthread_mutex_lock(&world.lock);
	world.sweeping = false;
	pthread_mutex_unlock(&world.lock);
	routing_release(ar_worker_take_repaired(&beside.ar)); /* routed */
	note_in_switches(adaptive ? routing_hold(routing) : NULL);
	if (adaptive)
		ar_worker_post(&beside.ar, job_new(AR_PROGRAM, routing));
	settle(routing, adaptive, proof); /* settled */
}

/* ---- repairs, as the parts follow them ---- */

static int lead(void *state, struct repair_change *change, bool *done, struct hd_error *err)
{
	(void)state;
	writer_lock(&world.writer);
	struct ar_job *job = ar_job_copy(beside.ar_job);
	writer_unlock(&world.writer);
	return ar_worker_lead(&beside.ar, job, change, done, err);
}

static int keys_begin(void *state, struct repair_change *change, struct hd_error *err)
{
	(void)state;
	(void)change;
	return keys_repair_begin(&beside.repair, &beside.keys, err);
}

static int keys_routed(void *state, struct repair_change *change, struct hd_error *err)
{
	(void)state;
	return keys_repair_apply(&beside.repair, &beside.keys, change, err);
}

static void keys_land(void *state, struct repair_change *change)
{
	(void)state;
	keys_repair_land(&beside.repair, &beside.keys, change);
}

static void keys_end(void *state, struct repair_change *change)
{
	(void)state;
	keys_repair_end(&beside.repair, &beside.keys, change);
}

static const struct part ar_of_test = {.name = "ar", .repair_programs = lead};
static const struct part keys_of_test = {.name = "keys",
					 .repair_begins = keys_begin,
					 .repair_routed = keys_routed,
					 .repair_lands = keys_land,
					 .repair_ends = keys_end};

/* ---- the world ---- */

static void end_beside(void)
{
	atomic_store(&beside.ending, true);
	pthread_join(beside.keys_thread, NULL);
	ar_worker_end(&beside.ar, PREPARE_MS);
	ar_job_free(beside.ar_job);
	keys_shared_release(&beside.keys);
	note_in_switches(NULL);
}

static void start_beside(void)
{
	struct hd_error err;

	memset(&beside, 0, sizeof(beside));
	world.answer = answer_ar;
	world.end_others = end_beside;
	beside.instances[0] = (struct part_instance){.part = &ar_of_test, .alive = true};
	beside.instances[1] = (struct part_instance){.part = &keys_of_test, .alive = true};
	world.context.instances = beside.instances;
	world.context.count = 2;
	for (uint32_t sw = 0; sw < SWITCHES; sw++) {
		beside.able[sw].able = true;
		beside.able[sw].info = (struct hd_ar_info){
		    .group_cap = 100, .sub_grps_supported = 2, .by_sl_cap = 1, .by_transp_cap = 1};
	}
	assert_int_equal(keys_shared_init(&beside.keys, &world.context, &err), 0);
	assert_int_equal(writer_add(&world.writer, &beside.keys.client, &err), 0);
	assert_int_equal(
	    ar_worker_start(&beside.ar, &world.writer, &world.osm, &world.context.log, &err), 0);
	assert_int_equal(pthread_create(&beside.keys_thread, NULL, serve_keys, NULL), 0);
}

struct tally {
	unsigned sweeps, adaptive, repaired_adaptive, repaired_with_keys;
};

static bool has_all(const struct tally *tally)
{
	return tally->repaired_adaptive > 1 && tally->repaired_with_keys > 1 &&
	       figures().stopped > 1 && atomic_load(&beside.set) > 1;
}

/* Losses, and sweeps at any moment of their repairs. */
static void round_of(uint64_t *random, struct tally *tally)
{
	const bool adaptive = tally->sweeps % 4 < 2;
	const uint64_t before = figures().repairs;

	sweep_all(adaptive, tally->sweeps == 0);
	tally->sweeps++;
	tally->adaptive += adaptive;
	pause_us((unsigned)hd_random_below(random, 20000));
	const bool keyed = keys_shared_has_keys(&beside.keys);
	for (uint64_t i = hd_random_below(random, 3); i < 3; i++)
		lose_cable();
	if (hd_random_below(random, 2))
		wait_for_repairs(PATIENCE_MS);
	else
		pause_us((unsigned)hd_random_below(random, 10000));
	const unsigned repaired = (unsigned)(figures().repairs - before);
	tally->repaired_adaptive += adaptive ? repaired : 0;
	tally->repaired_with_keys += keyed ? repaired : 0;
}

/* Property: nobody writes tables while a sweep does; OpenSM knows what the switches
 * hold, or sends it again; and all three kinds of changes are made. */
static void test_all_threads_at_the_same_time(void **state)
{
	const double begin = monotonic_ms();
	struct tally tally = {0};
	uint64_t random = 23;

	(void)state;
	start_world(&tree, 8);
	world.timeout_ms = 20;
	start_beside();
	while (monotonic_ms() - begin < SECONDS * 1000 ||
	       (!has_all(&tally) && monotonic_ms() - begin < PATIENCE_MS))
		round_of(&random, &tally);
	sweep_all(false, false);
	assert_int_equal(count_on(), 0);
	print_message(
	    "%u sweeps, %u adaptive; repairs: %u, %u with adaptive routing, %u with keys, "
	    "%u stopped; %u SETs, %u that changed blocks\n",
	    tally.sweeps, tally.adaptive, (unsigned)figures().repairs, tally.repaired_adaptive,
	    tally.repaired_with_keys, (unsigned)figures().stopped, atomic_load(&beside.sets),
	    atomic_load(&beside.set));
	assert_true(has_all(&tally));
	end_world();
}

/* Property: if a sweep begins after the last answer to a SET, nothing stays under way: the list of
 * blocks is gone, and OpenSM sends these blocks again. */
static void test_a_sweep_begins_after_the_last_answer(void **state)
{
	(void)state;
	start_world(&tree, 8);
	start_beside();
	sweep_all(false, true);
	atomic_store(&beside.sweep_begins, true);
	while (!atomic_load(&beside.cut_short))
		pause_us(500);
	pthread_mutex_lock(&world.writer.turn_lock);
	const bool under_way = world.writer.flight.fabric != NULL;
	pthread_mutex_unlock(&world.writer.turn_lock);
	assert_false(under_way);
	sweep_all(false, false); /* looks at the tables */
	end_world();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_a_sweep_begins_after_the_last_answer),
	    cmocka_unit_test(test_all_threads_at_the_same_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
