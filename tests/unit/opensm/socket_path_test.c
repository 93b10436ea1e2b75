/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Where the plugin listens: what is an address, and who gets a path that many want, in several threads. */
#include <errno.h>
#include <heddle/config/section_values.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "socket_path.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

static char folder[] = "/tmp/heddle-paths-XXXXXX";
static char path[64];

static int make_folder(void **state)
{
	(void)state;
	if (!mkdtemp(folder))
		return -1;
	snprintf(path, sizeof(path), "%s/socket", folder);
	return 0;
}

static int remove_folder(void **state)
{
	(void)state;
	return rmdir(folder);
}

static void test_addresses(void **state)
{
	static const char *const good[] = {"", "/run/heddle/router.sock", "127.0.0.1:7471",
					   "[::1]:7471"};
	static const char *const missing[] = {"nowhere:7471", "[]:7471", "[:7471", "127.0.0.1:x",
					      "/nonexistent/folder/socket"};
	struct hd_error err;
	char longer[200];

	(void)state;
	for (unsigned i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		assert_int_equal(hd_value_socket_or_port(good[i], &err), 0);
	memset(longer, 'x', sizeof(longer));
	longer[0] = '/';
	longer[sizeof(longer) - 1] = '\0';
	assert_int_equal(hd_value_socket_or_port(longer, &err), -EINVAL);
	assert_int_equal(socket_path_or_port_listen(longer, "", &err), -EINVAL);
	assert_int_equal(hd_value_socket_or_port("router.sock", &err), -EINVAL);
	for (unsigned i = 0; i < sizeof(missing) / sizeof(missing[0]); i++) {
		assert_true(socket_path_or_port_listen(missing[i], "", &err) < 0);
		assert_ptr_equal(strstr(err.text, missing[i]), err.text);
	}
	int any = socket_path_or_port_listen("127.0.0.1:0", "", &err);
	assert_true(any >= 0);
	close(any);
}

static pthread_barrier_t together;

static void *listen_at_path(void *file)
{
	pthread_barrier_wait(&together);
	*(int *)file = socket_path_or_port_listen(path, "", NULL);
	return NULL;
}

/* Of many that find the same dead socket at the same time, one replaces it. */
static void test_many_at_a_dead_socket(void **state)
{
	pthread_t threads[8];
	int files[8];

	(void)state;
	assert_int_equal(pthread_barrier_init(&together, NULL, 8), 0);
	for (int round = 0; round < 300; round++) {
		int listening = 0;

		for (int i = 0; i < 8; i++)
			assert_int_equal(
			    pthread_create(&threads[i], NULL, listen_at_path, &files[i]), 0);
		for (int i = 0; i < 8; i++) {
			pthread_join(threads[i], NULL);
			listening += files[i] >= 0;
		}
		assert_int_equal(listening, 1);
		assert_true(socket_path_is_answered(path));
		for (int i = 0; i < 8; i++)
			if (files[i] >= 0)
				close(files[i]);
		assert_false(socket_path_is_answered(path));
	}
	pthread_barrier_destroy(&together);
	assert_int_equal(unlink(path), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_addresses),
	    cmocka_unit_test(test_many_at_a_dead_socket),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
