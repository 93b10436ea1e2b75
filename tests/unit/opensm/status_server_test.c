/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The thread of the status part: its socket, many clients from several threads, and the file of metrics. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#include "opensm_headers.h"
#include "opensm_log_testing.h"
#include "status_server.h"
#include "status_textfile.h"

#include <pthread.h>
#include <signal.h>

#define ANSWER 300000u /* bytes: more than a socket takes at once */
#define THREADS 8
#define CALLS 20

static char folder[] = "/tmp/heddle-status-XXXXXX";
static char path[64], file[64];
static atomic_uint works;

static int make_folder(void **state)
{
	(void)state;
	if (!mkdtemp(folder))
		return -1;
	snprintf(path, sizeof(path), "%s/made/socket", folder);
	snprintf(file, sizeof(file), "%s/heddle.prom", folder);
	return 0;
}

static int remove_folder(void **state)
{
	char made[128];

	(void)state;
	snprintf(made, sizeof(made), "%s/made", folder);
	rmdir(made);
	return rmdir(folder);
}

static void work(void *context)
{
	(void)context;
	atomic_fetch_add(&works, 1);
}

/* The line, many times; "none" has no answer. */
static char *answer(void *context, const char *line, size_t *length)
{
	char *text = malloc(ANSWER);

	(void)context;
	if (!text || !strcmp(line, "none")) {
		free(text);
		return NULL;
	}
	memset(text, *line, ANSWER);
	*length = ANSWER;
	return text;
}

static const struct status_server_settings settings = {
    .path = path, .group = "", .work = work, .answer = answer};

static struct status_server *start(int *deaf, struct hd_error *err)
{
	struct status_server *server = NULL;

	assert_int_equal(status_server_start(&settings, &server, deaf, err), 0);
	return server;
}

static int connect_client(void)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int client = socket(AF_UNIX, SOCK_STREAM, 0);

	strncpy(address.sun_path, path, sizeof(address.sun_path) - 1);
	if (connect(client, (struct sockaddr *)&address, sizeof(address))) {
		close(client);
		return -1;
	}
	return client;
}

/* The number of bytes of the answer to a line that are its first letter. */
static size_t ask(const char *line)
{
	char bytes[4096];
	int client = connect_client();
	size_t length = 0;
	ssize_t got;

	if (client < 0 || send(client, line, strlen(line), MSG_NOSIGNAL) < 0)
		return 0;
	while ((got = recv(client, bytes, sizeof(bytes), 0)) > 0)
		for (ssize_t i = 0; i < got; i++)
			length += bytes[i] == *line;
	close(client);
	return length;
}

static void *ask_often(void *failures)
{
	for (int i = 0; i < CALLS; i++)
		atomic_fetch_add((atomic_uint *)failures, ask(i % 2 ? "a\n" : "b\r\n") != ANSWER);
	return NULL;
}

/* Each client gets all of its answer, while the thread has other work. */
static void test_many_clients(void **state)
{
	(void)state;
	pthread_t threads[THREADS];
	atomic_uint failures = 0;
	int deaf;
	struct status_server *server = start(&deaf, NULL);

	assert_int_equal(deaf, 0);
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, ask_often, &failures), 0);
	for (int i = 0; i < 100; i++)
		status_server_wake(server);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(failures, 0);
	assert_in_range(works, 1, 200);
	status_server_end(server);
	assert_int_equal(access(path, F_OK), -1);
}

/* A line has at most 31 bytes; what has no answer ends the connection. */
static void test_lines(void **state)
{
	(void)state;
	int deaf;
	struct status_server *server = start(&deaf, NULL);

	assert_int_equal(ask("none\n"), 0);
	assert_int_equal(ask("x123456789012345678901234567890\n"), ANSWER);
	assert_int_equal(ask("x1234567890123456789012345678901\n"), 0);
	assert_int_equal(ask("x12345678901234567890123456789012345678\n"), 0);
	assert_int_equal(ask("x\nrest"), ANSWER);
	/* a client that hangs up at once, and one that is there at the end */
	close(connect_client());
	int client = connect_client();
	status_server_end(server);
	close(client);
}

/* A path at which somebody answers is not taken, nor removed at the end; a dead socket is replaced. */
static void test_paths(void **state)
{
	(void)state;
	int first, second, third;
	struct hd_error err = {""};
	struct status_server *one = start(&first, NULL), *two = start(&second, &err), *three;

	assert_int_equal(first, 0);
	assert_int_equal(second, -EBUSY);
	assert_non_null(strstr(err.text, "another process has this socket"));
	/* the second one takes the path when the first has gone */
	status_server_end(one);
	assert_int_equal(access(path, F_OK), -1);
	for (int i = 0; access(path, F_OK) && i < 600000; i++) {
		status_server_wake(two);
		usleep(1000);
	}
	assert_int_equal(ask("a\n"), ANSWER);
	one = two;
	/* the name goes to another server: the first one leaves it alone */
	unlink(path);
	three = start(&third, NULL);
	assert_int_equal(third, 0);
	status_server_end(one);
	assert_int_equal(ask("a\n"), ANSWER);
	status_server_end(three);
	assert_int_equal(access(path, F_OK), -1);
	/* as after kill -9 */
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int dead = socket(AF_UNIX, SOCK_STREAM, 0);
	strncpy(address.sun_path, path, sizeof(address.sun_path) - 1);
	assert_int_equal(bind(dead, (struct sockaddr *)&address, sizeof(address)), 0);
	close(dead);
	one = start(&first, NULL);
	assert_int_equal(first, 0);
	assert_int_equal(ask("a\n"), ANSWER);
	status_server_end(one);
	status_server_end(NULL);
}

static void read_back(char *text, size_t size)
{
	FILE *stream = fopen(file, "r");

	assert_non_null(stream);
	text[fread(text, 1, size - 1, stream)] = '\0';
	fclose(stream);
}

/* If there is no room, the old file stays, and nothing else is left. */
static void test_the_file(void **state)
{
	(void)state;
	struct rlimit limit, small = {.rlim_cur = 4, .rlim_max = RLIM_INFINITY};
	struct hd_error err = {""};
	struct stat facts;
	char text[64];

	umask(077);
	assert_int_equal(status_textfile_write(file, "first\n", 6, &err), 0);
	read_back(text, sizeof(text));
	assert_string_equal(text, "first\n");
	assert_int_equal(stat(file, &facts), 0);
	assert_int_equal(facts.st_mode & 0777, 0644);
	getrlimit(RLIMIT_FSIZE, &limit);
	small.rlim_max = limit.rlim_max;
	signal(SIGXFSZ, SIG_IGN);
	setrlimit(RLIMIT_FSIZE, &small);
	int rc = status_textfile_write(file, "second\n", 7, &err);
	setrlimit(RLIMIT_FSIZE, &limit);
	assert_int_equal(rc, -EFBIG);
	assert_non_null(strstr(err.text, file));
	read_back(text, sizeof(text));
	assert_string_equal(text, "first\n");
	assert_int_equal(status_textfile_write(file, "third\n", 6, &err), 0);
	read_back(text, sizeof(text));
	assert_string_equal(text, "third\n");
	assert_int_equal(status_textfile_write("/nowhere/heddle.prom", "", 0, &err), -ENOENT);
	unlink(file);
	assert_int_equal(mkfifo(file, 0600), 0); /* or a device: it stays */
	assert_int_equal(status_textfile_write(file, "", 0, &err), -EEXIST);
	assert_int_equal(stat(file, &facts), 0);
	assert_true(S_ISFIFO(facts.st_mode));
	unlink(file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_many_clients),
	    cmocka_unit_test(test_lines),
	    cmocka_unit_test(test_paths),
	    cmocka_unit_test(test_the_file),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
