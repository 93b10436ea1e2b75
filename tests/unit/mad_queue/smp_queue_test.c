/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The queue of SMPs: who is sent what when, what becomes of lost ones, what silent nodes cost. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <heddle/base/index.h>
#include <heddle/base/random.h>
#include <heddle/mad/queue.h>
#include <simulated_port.h>
#include <stdlib.h>
#include <string.h>

#define ENDS_MAX 20000u

/* How requests have ended, in order; the cookie is a request's number + 1. */
struct end {
	uint32_t number, destination, tries;
	int rc;
	uint16_t status;
	uint64_t when;
	uint8_t first_byte;
};

static struct simulated_port port;
static struct hd_smp_queue *queue;
static struct end ends[ENDS_MAX];
static uint32_t end_count, submitted;

static void on_end(void *cookie, const struct hd_smp_result *result)
{
	assert_true(end_count < ENDS_MAX);
	assert_int_equal(result->data != NULL, result->rc == 0 || result->rc == -EREMOTEIO);
	ends[end_count++] = (struct end){.number = (uint32_t)(uintptr_t)cookie - 1,
					 .destination = result->destination,
					 .tries = result->tries,
					 .rc = result->rc,
					 .status = result->status,
					 .when = port.now,
					 .first_byte = result->data ? result->data[0] : 0};
}

static void start(uint32_t nodes, struct hd_smp_limits limits)
{
	end_count = submitted = 0;
	assert_true(simulated_port_start(&port, nodes, 42));
	queue = hd_smp_queue_new(&port.port, &limits, nodes);
	assert_non_null(queue);
	for (uint32_t i = 0; i < nodes; i++) {
		struct hd_smp_address address = simulated_address(i);

		hd_smp_queue_aim(queue, i, &address);
	}
}

static int stop(void **state)
{
	(void)state;
	hd_smp_queue_free(queue);
	simulated_port_end(&port);
	queue = NULL;
	return 0;
}

/* A Get of a block of a node's forwarding table. */
static void submit(uint32_t destination, uint32_t block)
{
	struct hd_smp smp = {.method = HD_SMP_GET, .attribute = HD_SMP_LFT, .modifier = block};

	assert_int_equal(
	    hd_smp_queue_submit(queue, destination, &smp, on_end, (void *)(uintptr_t)++submitted),
	    0);
}

static void assert_ends(int rc)
{
	assert_int_equal(end_count, submitted);
	assert_int_equal(hd_smp_queue_pending(queue), 0);
	for (uint32_t i = 0; i < end_count; i++)
		assert_int_equal(ends[i].rc, rc);
}

static const struct hd_smp_limits usual = HD_SMP_LIMITS_DEFAULT;

/* Nothing goes before work(); then all requests to nodes that answer are done, each once. */
static void all_are_done(void **state)
{
	(void)state;
	start(3, usual);
	for (uint32_t block = 0; block < 16; block++)
		for (uint32_t node = 0; node < 3; node++)
			submit(node, block);
	assert_int_equal(port.sent_count, 0);
	assert_int_equal(hd_smp_queue_timeout(queue), 0);
	assert_int_equal(hd_smp_queue_run(queue), 0);
	assert_ends(0);
	assert_int_equal(port.sent_count, 48);
	assert_int_equal(hd_smp_queue_counts(queue)->done, 48);
	assert_int_equal(hd_smp_queue_timeout(queue), -1);
}

/* Of what may go, the first submitted goes first: one SMP to each node until it has answered, then
 * `each`, and never more than the window. */
static void order_and_window(void **state)
{
	const uint32_t nodes[] = {0, 1, 2, 0, 0, 0, 0, 1, 1, 1, 2};

	(void)state;
	start(3, (struct hd_smp_limits){
		     .window = 4, .each = 3, .timeout_ms = 200, .retries = 1, .errors = 1});
	for (uint32_t block = 0; block < 4; block++)
		submit(0, block);
	for (uint32_t block = 0; block < 4; block++)
		submit(1, block);
	for (uint32_t block = 0; block < 3; block++)
		submit(2, block);
	hd_smp_queue_work(queue);
	assert_int_equal(port.sent_count, 3);
	port.now++;
	hd_smp_queue_work(queue);
	assert_int_equal(port.sent_count, 7);
	hd_smp_queue_run(queue);
	assert_ends(0);
	/* 0 1 2, then 0 0 0 and 1, and so on */
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(port.sent[i].node, nodes[i]);
	assert_int_equal(port.sent[3].node, 0);
	assert_int_equal(port.sent[6].node, 1);
	assert_int_equal(port.sent[10].node, 2);
	assert_int_equal(port.sent[10].smp.modifier, 2);
}

/* A lost SMP is repeated with twice the time, and again with twice that. */
static void repeats_with_back_off(void **state)
{
	(void)state;
	start(1, usual);
	port.nodes[0].silent = 2;
	submit(0, 1);
	hd_smp_queue_run(queue);
	assert_ends(0);
	assert_int_equal(port.sent_count, 3);
	assert_int_equal(ends[0].tries, 3);
	assert_int_equal(port.sent[1].when - port.sent[0].when, 200);
	assert_int_equal(port.sent[2].when - port.sent[1].when, 400);
	assert_int_not_equal(port.sent[1].id, port.sent[2].id);
	assert_int_equal(hd_smp_queue_counts(queue)->repeated, 2);
}

/* A silent node gets its tries for one request only; then all its other requests end at once. */
static void silent_node_is_given_up(void **state)
{
	(void)state;
	start(2, usual);
	port.nodes[1].silent = SIMULATED_FOREVER;
	for (uint32_t block = 0; block < 10; block++)
		submit(1, block);
	hd_smp_queue_run(queue);
	assert_int_equal(port.nodes[1].seen, 4);
	assert_int_equal(ends[0].rc, -ETIMEDOUT);
	assert_int_equal(ends[0].when - 1000, 200 + 400 + 800 + 1600);
	for (uint32_t i = 1; i < 10; i++) {
		assert_int_equal(ends[i].rc, -EHOSTDOWN);
		assert_int_equal(ends[i].number, i);
		assert_int_equal(ends[i].tries, 0);
	}
	assert_true(hd_smp_queue_is_given_up(queue, 1));
	submit(1, 0);
	submit(0, 0);
	hd_smp_queue_run(queue);
	assert_int_equal(ends[10].rc, -EHOSTDOWN);
	assert_int_equal(ends[11].rc, 0);
	assert_int_equal(port.nodes[1].seen, 4);
	port.nodes[1].silent = 0;
	hd_smp_queue_forgive(queue, 1);
	submit(1, 0);
	hd_smp_queue_run(queue);
	assert_int_equal(ends[12].rc, 0);
}

/* With an error budget of 3, two requests in a row may fail; an answer starts the count again. */
static void error_budget(void **state)
{
	(void)state;
	start(1, (struct hd_smp_limits){
		     .window = 8, .each = 1, .timeout_ms = 10, .retries = 0, .errors = 3});
	port.nodes[0].silent = 2;
	for (uint32_t i = 0; i < 3; i++)
		submit(0, 0);
	hd_smp_queue_run(queue);
	assert_int_equal(ends[1].rc, -ETIMEDOUT);
	assert_int_equal(ends[2].rc, 0);
	port.nodes[0].silent = 3;
	for (uint32_t i = 0; i < 4; i++)
		submit(0, 0);
	hd_smp_queue_run(queue);
	assert_int_equal(ends[5].rc, -ETIMEDOUT);
	assert_int_equal(ends[6].rc, -EHOSTDOWN);
}

/* A third of the nodes is silent, more than the window has places. The others are done one time-out
 * later for each window full of silent nodes, not for each of their requests or tries. */
static void silent_nodes_hold_nobody_up(void **state)
{
	uint64_t last = 0;

	(void)state;
	start(300, (struct hd_smp_limits){
		       .window = 64, .each = 4, .timeout_ms = 200, .retries = 3, .errors = 1});
	for (uint32_t node = 0; node < 300; node++) {
		port.nodes[node].silent = node % 3 ? 0 : SIMULATED_FOREVER;
		for (uint32_t block = 0; block < 16; block++)
			submit(node, block);
	}
	hd_smp_queue_run(queue);
	assert_int_equal(end_count, submitted);
	for (uint32_t i = 0; i < end_count; i++)
		if (!ends[i].rc && ends[i].when > last)
			last = ends[i].when;
	assert_int_equal(hd_smp_queue_counts(queue)->done, 200 * 16);
	/* 100 silent nodes fill the window of 64 once; the rest of them share it with the others */
	assert_in_range(last - 1000, 200, 450);
	assert_in_range(port.now - 1000, 3000, 3450);
}

/* A node that falls silent half-way: what was done stays done, the rest ends, nothing hangs. */
static void node_falls_silent(void **state)
{
	uint32_t seen;

	(void)state;
	start(2, usual);
	for (uint32_t block = 0; block < 16; block++)
		for (uint32_t node = 0; node < 2; node++)
			submit(node, block);
	while (port.nodes[1].done < 8) {
		hd_smp_queue_work(queue);
		port.now++;
	}
	port.nodes[1].silent = SIMULATED_FOREVER;
	seen = port.nodes[1].seen;
	hd_smp_queue_run(queue);
	assert_int_equal(end_count, 32);
	assert_int_equal(port.nodes[0].done, 16);
	/* `each` that were lost together, then one of them alone */
	assert_int_equal(port.nodes[1].seen - seen, 4 + 3);
	assert_true(hd_smp_queue_is_given_up(queue, 1));
	for (uint32_t i = 0; i < 32; i++)
		if (ends[i].destination == 1 && ends[i].rc)
			assert_true(ends[i].rc == -ETIMEDOUT || ends[i].rc == -EHOSTDOWN);
}

/* After a time-out nothing new goes to a node until it has answered; then all of it goes. */
static void time_out_takes_trust(void **state)
{
	(void)state;
	start(1, usual);
	submit(0, 0);
	hd_smp_queue_run(queue);
	port.nodes[0].silent = 1;
	submit(0, 1);
	hd_smp_queue_work(queue);
	port.nodes[0].delay_ms = 50;
	port.now += 200;
	hd_smp_queue_work(queue);
	submit(0, 2);
	submit(0, 3);
	hd_smp_queue_work(queue);
	assert_int_equal(port.sent_count, 3);
	port.now += 50;
	hd_smp_queue_work(queue);
	assert_int_equal(port.sent_count, 5);
	hd_smp_queue_run(queue);
	assert_ends(0);
}

/* Without further tries, all requests that are outstanding when a node is given up are
 * unanswered. */
static void given_up_without_tries(void **state)
{
	(void)state;
	start(1, (struct hd_smp_limits){
		     .window = 4, .each = 3, .timeout_ms = 10, .retries = 0, .errors = 1});
	submit(0, 0);
	hd_smp_queue_run(queue);
	port.nodes[0].silent = SIMULATED_FOREVER;
	for (uint32_t block = 1; block < 6; block++)
		submit(0, block);
	hd_smp_queue_run(queue);
	for (uint32_t i = 1; i < 6; i++)
		assert_int_equal(ends[i].rc, ends[i].tries ? -ETIMEDOUT : -EHOSTDOWN);
	assert_int_equal(port.sent_count, 4);
}

/* A refusal ends a request at once with its status, and is no reason to give the node up. */
static void refusals(void **state)
{
	(void)state;
	start(1, usual);
	port.nodes[0].refuse = 0x1C;
	for (uint32_t block = 0; block < 5; block++)
		submit(0, block);
	hd_smp_queue_run(queue);
	assert_ends(-EREMOTEIO);
	assert_int_equal(ends[4].status, 0x1C);
	assert_int_equal(port.sent_count, 5);
	assert_false(hd_smp_queue_is_given_up(queue, 0));
}

/* A busy node is asked again later; one that stays busy refuses. */
static void busy_nodes(void **state)
{
	(void)state;
	start(1, usual);
	port.nodes[0].busy = 2;
	submit(0, 0);
	hd_smp_queue_run(queue);
	assert_ends(0);
	assert_int_equal(port.sent[2].when - port.sent[0].when, 600);
	port.nodes[0].busy = 100;
	submit(0, 0);
	hd_smp_queue_run(queue);
	assert_int_equal(ends[1].rc, -EREMOTEIO);
	assert_int_equal(ends[1].status, HD_SMP_BUSY);
	assert_int_equal(ends[1].tries, 4);
}

/* Answers that nobody waits for: doubles, and those that come after the time-out. */
static void late_answers(void **state)
{
	(void)state;
	start(1, (struct hd_smp_limits){
		     .window = 4, .each = 4, .timeout_ms = 10, .retries = 3, .errors = 1});
	port.twice = true;
	port.nodes[0].delay_ms = 15;
	for (uint32_t block = 0; block < 4; block++)
		submit(0, block);
	hd_smp_queue_run(queue);
	assert_ends(0);
	assert_int_equal(ends[0].tries,
			 2); /* the first answer came after 10 ms, and was not taken */
	assert_in_range(hd_smp_queue_counts(queue)->late, 3, 40);
}

/* An answer is for its own try: not for another request that has taken the place, nor one with
 * another attribute. */
static void answers_of_others(void **state)
{
	struct hd_smp_event foreign = {.attribute = HD_SMP_NODE_INFO};

	(void)state;
	start(1, (struct hd_smp_limits){
		     .window = 1, .each = 1, .timeout_ms = 10, .retries = 0, .errors = 9});
	memset(port.nodes[0].lft + 64, 1, 64);
	memset(port.nodes[0].lft + 128, 2, 64);
	port.nodes[0].delay_ms = 15;
	submit(0, 1);
	hd_smp_queue_run(queue);
	assert_int_equal(ends[0].rc, -ETIMEDOUT);
	port.nodes[0].delay_ms = 8; /* the answer to the first comes before that */
	submit(0, 2);
	hd_smp_queue_work(queue);
	foreign.id = port.sent[1].id;
	port.events[port.event_count++] =
	    (struct simulated_event){.due = port.now + 1, .event = foreign};
	hd_smp_queue_run(queue);
	assert_int_equal(ends[1].rc, 0);
	assert_int_equal(ends[1].first_byte, 2);
	assert_int_equal(hd_smp_queue_counts(queue)->late, 2);
}

/* Time-outs that the port reports itself change nothing, even if they come early. */
static void reported_time_outs(void **state)
{
	struct hd_smp_event early = {.rc = -ETIMEDOUT};

	(void)state;
	start(1, usual);
	port.reports = true;
	port.nodes[0].silent = 1;
	submit(0, 0);
	hd_smp_queue_work(queue);
	early.id = port.sent[0].id;
	port.events[0] = (struct simulated_event){.due = port.now, .event = early};
	hd_smp_queue_run(queue);
	assert_ends(0);
	assert_int_equal(port.sent[1].when - port.sent[0].when, 200);
}

/* A port that takes no more is asked again; one that fails ends the request; one that breaks says
 * so. */
static void troubled_ports(void **state)
{
	struct hd_smp_address nowhere = simulated_address(7);

	(void)state;
	start(2, usual);
	port.full_after = 3;
	for (uint32_t i = 0; i < 8; i++)
		submit(i % 2, i);
	hd_smp_queue_run(queue);
	assert_ends(0);
	assert_in_range(port.now - 1000, 20, 40);
	hd_smp_queue_aim(queue, 1, &nowhere);
	submit(1, 0);
	hd_smp_queue_run(queue);
	assert_int_equal(ends[8].rc, -EINVAL);
	port.broken = -ENODEV;
	submit(0, 0);
	assert_int_equal(hd_smp_queue_run(queue), -ENODEV);
	hd_smp_queue_cancel(queue, HD_NONE);
	assert_int_equal(hd_smp_queue_work(queue), -ENODEV);
	assert_int_equal(ends[9].rc, -ECANCELED);
	assert_int_equal(hd_smp_queue_pending(queue), 0);
}

/* Cancellation ends outstanding and queued requests, in order; the node can be used again. */
static void cancellation(void **state)
{
	(void)state;
	start(2, usual);
	for (uint32_t block = 0; block < 8; block++)
		for (uint32_t node = 0; node < 2; node++)
			submit(node, block);
	hd_smp_queue_work(queue);
	port.now++;
	hd_smp_queue_work(queue);
	assert_int_equal(end_count, 2);
	hd_smp_queue_cancel(queue, 1);
	assert_int_equal(end_count, 2);
	hd_smp_queue_work(queue);
	assert_int_equal(end_count, 9);
	for (uint32_t i = 2; i < 9; i++) {
		assert_int_equal(ends[i].rc, -ECANCELED);
		assert_int_equal(ends[i].number, 2 * (i - 1) + 1);
	}
	submit(1, 5);
	hd_smp_queue_run(queue);
	assert_int_equal(end_count, 17);
	assert_int_equal(hd_smp_queue_counts(queue)->done, 10);
	assert_int_equal(hd_smp_queue_counts(queue)->canceled, 7);
}

/* After a cancellation a node's turn is that of what is submitted then. */
static void cancellation_gives_the_turn_away(void **state)
{
	(void)state;
	start(2, usual);
	submit(0, 0);
	hd_smp_queue_cancel(queue, 0);
	submit(1, 1);
	submit(0, 2);
	hd_smp_queue_run(queue);
	assert_int_equal(port.sent_count, 2);
	assert_int_equal(port.sent[0].node, 1);
	assert_int_equal(port.sent[1].node, 0);
}

static void on_end_submit(void *cookie, const struct hd_smp_result *result)
{
	on_end(cookie, result);
	if (submitted < 20)
		submit(result->destination ^ 1, submitted % 16);
	if (submitted == 20)
		hd_smp_queue_cancel(queue, HD_NONE);
}

/* Callbacks may submit and cancel. */
static void callbacks_use_the_queue(void **state)
{
	struct hd_smp smp = {.method = HD_SMP_GET, .attribute = HD_SMP_LFT};

	(void)state;
	start(2, usual);
	for (uint32_t i = 0; i < 4; i++)
		assert_int_equal(hd_smp_queue_submit(queue, 0, &smp, on_end_submit,
						     (void *)(uintptr_t)++submitted),
				 0);
	for (uint32_t i = 0; i < 12; i++)
		submit(0, i);
	hd_smp_queue_run(queue);
	assert_int_equal(end_count, submitted);
}

/* What has been sent never exceeds the limits, each request of a node is first sent in order, and
 * each ends once: with random nodes, losses, delays and limits. */
static void random_faults(uint64_t seed)
{
	uint64_t random = seed;
	uint32_t nodes = 1 + (uint32_t)(hd_random_next(&random) % 12);
	struct hd_smp_limits limits = {.window = 1 + (uint32_t)(hd_random_next(&random) % 8),
				       .each = 1 + (uint32_t)(hd_random_next(&random) % 4),
				       .timeout_ms = 10,
				       .retries = (uint32_t)(hd_random_next(&random) % 5),
				       .errors = 1 + (uint32_t)(hd_random_next(&random) % 3),
				       .at_once = (uint32_t)(hd_random_next(&random) % 6)};
	uint32_t next_block[12] = {0}, seen[ENDS_MAX / 10] = {0}, total;

	start(nodes, limits);
	port.random = seed;
	port.reports = hd_random_next(&random) & 1;
	port.twice = hd_random_next(&random) & 1;
	port.full_after = (uint32_t)(hd_random_next(&random) % 30);
	for (uint32_t node = 0; node < nodes; node++) {
		uint64_t drawn = hd_random_next(&random);

		port.nodes[node].lose = drawn % 4 ? 0 : 300;
		port.nodes[node].delay_ms = drawn >> 8 & 15;
		port.nodes[node].silent = drawn >> 16 & 7 ? 0 : SIMULATED_FOREVER;
		port.nodes[node].busy = drawn >> 24 & 3;
	}
	total = 1 + (uint32_t)(hd_random_next(&random) % 100);
	for (uint32_t i = 0; i < total; i++) {
		uint32_t node = (uint32_t)(hd_random_next(&random) % nodes);

		/* the modifier counts a node's requests */
		submit(node, next_block[node]++);
		if (hd_random_next(&random) % 8 == 0) {
			assert_int_equal(hd_smp_queue_work(queue), 0);
			port.now += hd_random_next(&random) % 5;
		}
	}
	assert_int_equal(hd_smp_queue_run(queue), 0);
	assert_int_equal(end_count, total);
	for (uint32_t i = 0; i < end_count; i++)
		assert_int_equal(seen[ends[i].number]++, 0);
	memset(next_block, 0, sizeof(next_block));
	for (uint32_t i = 0; i < port.sent_count; i++) {
		uint32_t block = port.sent[i].smp.modifier, node = port.sent[i].node;

		assert_true(block <= next_block[node]);
		next_block[node] += block == next_block[node];
	}
	for (uint32_t i = 0; i < end_count; i++)
		assert_in_range(ends[i].tries, 0, limits.retries + 1);
	assert_true(hd_smp_queue_counts(queue)->sent == port.sent_count);
	stop(NULL);
}

static void random_faults_keep_the_rules(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 3000; seed++)
		random_faults(seed);
}

/* The outstanding SMPs to nodes that answer are never more than the window, nor than `each`. */
static void never_exceeds_the_window(void **state)
{
	uint32_t under_way[20], all;

	(void)state;
	for (uint32_t window = 1; window <= 33; window += 8) {
		start(
		    20,
		    (struct hd_smp_limits){
			.window = window, .each = 3, .timeout_ms = 500, .retries = 2, .errors = 1});
		for (uint32_t i = 0; i < 600; i++) {
			port.nodes[i % 20].delay_ms = 1 + i % 7;
			submit(i % 20, i % 16);
		}
		while (hd_smp_queue_pending(queue)) {
			hd_smp_queue_work(queue);
			memset(under_way, 0, sizeof(under_way));
			all = port.event_count;
			assert_true(all <= window);
			for (uint32_t i = 0; i < port.sent_count; i++)
				for (uint32_t e = 0; e < port.event_count; e++)
					under_way[port.sent[i].node] +=
					    port.events[e].event.id == port.sent[i].id;
			for (uint32_t node = 0; node < 20; node++)
				assert_true(under_way[node] <= 3);
			port.now++;
		}
		assert_ends(0);
		stop(NULL);
	}
}

/* One call sends `at_once` SMPs at most, be they new or repeated, and takes as many answers; while there is
 * more to do, the queue does not wait. All are done in the end. */
static void does_little_at_once(void **state)
{
	const uint32_t at_once = 5;
	bool waited_for_repeats = false;

	(void)state;
	start(40, (struct hd_smp_limits){.window = 64,
					 .each = 4,
					 .timeout_ms = 10,
					 .retries = 2,
					 .errors = 1,
					 .at_once = at_once});
	for (uint32_t i = 0; i < 400; i++) {
		port.nodes[i % 40].silent = 1; /* all are repeated at the same time */
		submit(i % 40, i % 16);
	}
	while (hd_smp_queue_pending(queue)) {
		const uint32_t sent = port.sent_count, events = port.event_count, ended = end_count;
		assert_int_equal(hd_smp_queue_work(queue), 0);
		const uint32_t sent_now = port.sent_count - sent;
		assert_true(sent_now <= at_once);
		assert_true(port.event_count + at_once >= events);
		assert_true(end_count - ended <= at_once);
		waited_for_repeats |= sent_now == at_once && sent >= 40 && sent < 80;
		if (hd_smp_queue_timeout(queue))
			port.now++;
	}
	assert_true(waited_for_repeats);
	assert_ends(0);
	assert_int_equal(end_count, 400);
	/* the first try at each node was lost, and no other */
	assert_int_equal(port.sent_count, 440);
	assert_in_range(port.now - 1000, 10, 60);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_teardown(all_are_done, stop),
	    cmocka_unit_test_teardown(order_and_window, stop),
	    cmocka_unit_test_teardown(repeats_with_back_off, stop),
	    cmocka_unit_test_teardown(silent_node_is_given_up, stop),
	    cmocka_unit_test_teardown(error_budget, stop),
	    cmocka_unit_test_teardown(silent_nodes_hold_nobody_up, stop),
	    cmocka_unit_test_teardown(node_falls_silent, stop),
	    cmocka_unit_test_teardown(does_little_at_once, stop),
	    cmocka_unit_test_teardown(time_out_takes_trust, stop),
	    cmocka_unit_test_teardown(given_up_without_tries, stop),
	    cmocka_unit_test_teardown(refusals, stop),
	    cmocka_unit_test_teardown(busy_nodes, stop),
	    cmocka_unit_test_teardown(late_answers, stop),
	    cmocka_unit_test_teardown(answers_of_others, stop),
	    cmocka_unit_test_teardown(reported_time_outs, stop),
	    cmocka_unit_test_teardown(troubled_ports, stop),
	    cmocka_unit_test_teardown(cancellation, stop),
	    cmocka_unit_test_teardown(cancellation_gives_the_turn_away, stop),
	    cmocka_unit_test_teardown(callbacks_use_the_queue, stop),
	    cmocka_unit_test(random_faults_keep_the_rules),
	    cmocka_unit_test(never_exceeds_the_window),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
