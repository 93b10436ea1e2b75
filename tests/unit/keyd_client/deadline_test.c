/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A call ends at its deadline while name servers or munged are silent, and what they say later does
 * no harm. */
#include "client_aside.h"
#include "client_http.h"

#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#define TIMEOUT_MS 200

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static bool silent; /* the name servers */
static atomic_uint asked, answered;

/* In place of the C library's: a name has no address, and as long as the servers are silent there
 * is no answer at all. */
int getaddrinfo(const char *restrict host, const char *restrict port,
		const struct addrinfo *restrict hints, struct addrinfo **restrict found)
{
	(void)host, (void)port, (void)found;
	if (hints->ai_flags & AI_NUMERICHOST)
		return EAI_NONAME;
	pthread_mutex_lock(&mutex);
	asked++;
	pthread_cond_broadcast(&changed);
	while (silent)
		pthread_cond_wait(&changed, &mutex);
	answered++;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&mutex);
	return EAI_NONAME;
}

static void set_silent(bool value)
{
	pthread_mutex_lock(&mutex);
	silent = value;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&mutex);
}

static void wait_until_answered(unsigned count)
{
	pthread_mutex_lock(&mutex);
	while (answered < count)
		pthread_cond_wait(&changed, &mutex);
	pthread_mutex_unlock(&mutex);
}

static int dial(struct hd_key_client_problem *problem, int timeout_ms)
{
	struct client_address address;
	int fd;

	assert_int_equal(client_address_parse("head:7472", &address, problem), 0);
	return client_address_connect(&address, client_address_clock() + timeout_ms, &fd, problem);
}

static void test_silent_name_servers(void **state)
{
	struct hd_key_client_problem problem;

	(void)state;
	set_silent(true);
	assert_int_equal(dial(&problem, TIMEOUT_MS), -ETIMEDOUT);
	assert_non_null(strstr(problem.detail, "cannot find the host 'head'"));
	assert_int_equal(answered, 0);
	set_silent(false);
	wait_until_answered(1);
	assert_int_equal(dial(&problem, TIMEOUT_MS), -EHOSTUNREACH);
	assert_int_equal(answered, 2);
}

/* Threads do not pile up. */
static void test_many_late_threads(void **state)
{
	struct hd_key_client_problem problem;
	unsigned before = asked;
	int rc;

	(void)state;
	set_silent(true);
	for (unsigned i = 0; i < CLIENT_ASIDE_MOST; i++) {
		rc = dial(&problem, 1);
		assert_int_equal(rc, -ETIMEDOUT);
	}
	assert_int_equal(dial(&problem, 1), -EAGAIN);
	assert_true(asked - before <= CLIENT_ASIDE_MOST);
	set_silent(false);
	wait_until_answered(before + CLIENT_ASIDE_MOST);
	do /* the last thread counts until it has ended */
		rc = dial(&problem, TIMEOUT_MS);
	while (rc == -EAGAIN);
	assert_int_equal(rc, -EHOSTUNREACH);
}

/* munged accepts connections, and says nothing. */
static void test_silent_munged(void **state)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	char folder[] = "/tmp/heddle-munge-XXXXXX";
	struct hd_key_client_problem problem;
	struct hd_key_client *client;
	int listener = socket(AF_UNIX, SOCK_STREAM, 0), rc;

	(void)state;
	assert_non_null(mkdtemp(folder));
	snprintf(address.sun_path, sizeof(address.sun_path), "%s/s", folder);
	assert_int_equal(bind(listener, (struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(listen(listener, 64), 0);
	rc = hd_key_client_new("127.0.0.1:1", TIMEOUT_MS, &client, &problem);
	if (rc == -ENOTSUP)
		skip(); /* built without MUNGE */
	assert_int_equal(rc, 0);
	assert_int_equal(hd_key_client_use_munge(client, address.sun_path, &problem), 0);
	assert_int_equal(hd_key_client_done(client, "1", "0", 0, &problem), -ETIMEDOUT);
	assert_non_null(strstr(problem.detail, "is munged running?"));
	hd_key_client_free(client);
	close(listener);
	unlink(address.sun_path);
	rmdir(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_silent_name_servers),
	    cmocka_unit_test(test_many_late_threads),
	    cmocka_unit_test(test_silent_munged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
