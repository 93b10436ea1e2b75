/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <keyd_workers.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { TASKS = 64 };

struct counted {
	struct keyd_task task; /* first */
	unsigned finished, dropped;
};

static void run(struct keyd_task *task)
{
	(void)task;
}

static void finish(struct keyd_task *task)
{
	((struct counted *)task)->finished++;
}

static void drop(struct keyd_task *task)
{
	((struct counted *)task)->dropped++;
}

/* Each task is finished or dropped, once, whether or not a worker has begun it. */
static void test_end(void **state)
{
	struct counted tasks[TASKS] = {0};
	struct event_base *base = event_base_new();
	struct keyd_mailbox *mailbox;
	struct keyd_workers *workers;
	struct hd_error err;
	unsigned finished = 0;

	(void)state;
	assert_int_equal(keyd_mailbox_new(base, &mailbox, &err), 0);
	assert_int_equal(keyd_workers_new(mailbox, 2, &workers, &err), 0);
	for (unsigned i = 0; i < TASKS; i++) {
		tasks[i].task = (struct keyd_task){.run = run, .finish = finish, .drop = drop};
		keyd_workers_submit(workers, &tasks[i].task);
		if (i == TASKS / 2)
			event_base_loop(base, EVLOOP_ONCE);
	}
	keyd_workers_free(workers);
	keyd_mailbox_drop(mailbox);
	keyd_mailbox_free(mailbox);
	event_base_free(base);
	for (unsigned i = 0; i < TASKS; i++) {
		assert_int_equal(tasks[i].finished + tasks[i].dropped, 1);
		finished += tasks[i].finished;
	}
	assert_true(finished); /* the loop has waited for one */
}

/* Tasks that are part of what another one frees need no drop(). */
static void test_no_drop(void **state)
{
	struct counted posted = {.task = {.finish = finish}};
	struct event_base *base = event_base_new();
	struct keyd_mailbox *mailbox;
	struct hd_error err;

	(void)state;
	assert_int_equal(keyd_mailbox_new(base, &mailbox, &err), 0);
	keyd_mailbox_post(mailbox, (struct keyd_task_list){&posted.task, &posted.task});
	keyd_mailbox_drop(mailbox);
	keyd_mailbox_free(mailbox);
	event_base_free(base);
	assert_int_equal(posted.finished, 0);
	keyd_workers_free(NULL);
	keyd_mailbox_drop(NULL);
	keyd_mailbox_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_end),
	    cmocka_unit_test(test_no_drop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
