/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Stops a computation at each of its questions whether to go on. Include after <cmocka.h>. */
#ifndef STOPPING_H
#define STOPPING_H

#include <errno.h>
#include <heddle/base/go_on.h>
#include <limits.h>
#include <stdatomic.h>

struct stopping {
	atomic_uint asked;
	unsigned most; /* times that the answer is yes */
};

static inline bool stopping_ask(void *context)
{
	struct stopping *stopping = context;

	return atomic_fetch_add(&stopping->asked, 1) < stopping->most;
}

/* A call that can be repeated. */
struct stopping_case {
	const char *what; /* for messages */
	void *context;
	/* Makes the call and keeps its result in the context. */
	int (*call)(void *context, const struct hd_go_on *go_on, struct hd_error *err);
	/* Checks and frees the result: if rc is 0, that of a computation which was not stopped. */
	void (*settle)(void *context, int rc);
	int expected; /* what call() returns if it is not stopped */
};

/* Returns how often the call asked. */
static inline unsigned stopping_call(const struct stopping_case *tried, unsigned most, int expected)
{
	struct stopping stopping = {.most = most};
	const struct hd_go_on go_on = {stopping_ask, &stopping};
	struct hd_error err = {""};
	int rc = tried->call(tried->context, &go_on, &err);

	if (rc != expected)
		fail_msg("%s, %u times yes: %d instead of %d (%s)", tried->what, most, rc, expected,
			 err.text);
	if (rc == -ECANCELED)
		assert_string_equal(err.text, "the result is not wanted any more");
	tried->settle(tried->context, rc);
	return atomic_load(&stopping.asked);
}

/*
 * Repeats the call: it is stopped at its first question, then at its second, and so on. The test fails
 * unless each of these calls returns -ECANCELED with the reason, and the others `expected`. Returns the
 * number of questions.
 */
static inline unsigned stopping_try(const struct stopping_case *tried)
{
	const unsigned count = stopping_call(tried, UINT_MAX, tried->expected);

	for (unsigned most = 0; most < count; most++)
		stopping_call(tried, most, -ECANCELED);
	assert_int_equal(stopping_call(tried, UINT_MAX, tried->expected), count);
	return count;
}

#endif
