/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The threads that serve the sockets of the plugin, with a service that answers lines: messages in pieces,
 * clients that are slow, idle, too many or gone, a process without descriptors, and what is at the path. */
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
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "monotonic.h"
#include "socket_path.h"
#include "socket_server.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#define BIG 300000u /* bytes: more than a socket takes at once */
#define LINE 64u
#define OFTEN 600000 /* milliseconds after which a test gives up */

static char folder[] = "/tmp/heddle-sockets-XXXXXX";
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

/* ---- a service ---- */

/* What the hooks have done. */
static struct {
	struct socket_server *server;
	struct socket_client *paused; /* only the thread's */
	bool again; /* woken() is to be called in a millisecond */
	atomic_int reachable; /* as the hook has said last */
	char deaf[HD_ERROR_TEXT]; /* why it was not */
	atomic_uint woken, connected, received, refused, hung_up, at_the_end, other;
	char reason[HD_ERROR_TEXT]; /* of the last client that was closed for another reason */
} seen;

static void woken(void *context)
{
	(void)context;
	if (seen.again)
		socket_server_call_at(seen.server, monotonic_ms() + 1);
	else if (seen.paused)
		seen.paused->paused = false;
	atomic_fetch_add(&seen.woken, 1);
}

static void reachable(void *context, bool yes, const char *reason)
{
	(void)context;
	if (!yes)
		snprintf(seen.deaf, sizeof(seen.deaf), "%s", reason);
	atomic_store(&seen.reachable, yes);
}

static void connected(void *context, struct socket_client *client)
{
	(void)context;
	socket_client_send(client, "hello\n", 6);
	atomic_fetch_add(&seen.connected, 1);
}

/* "big" gets many bytes, "bye" ends the connection, "pause" lets lines behind it wait, and the answer to
 * each line is the line. */
static size_t received(void *context, struct socket_client *client, const uint8_t *bytes,
		       size_t length)
{
	static const char big[BIG];
	const uint8_t *end = memchr(bytes, '\n', length);
	const size_t used = end ? (size_t)(end - bytes) + 1 : 0;

	(void)context;
	if (used == 4 && !memcmp(bytes, "big\n", used))
		socket_client_send(client, big, sizeof(big));
	if (used == 4 && !memcmp(bytes, "bye\n", used))
		socket_client_finish(client);
	client->paused = used == 6 && !memcmp(bytes, "pause\n", used);
	if (client->paused)
		seen.paused = client;
	client->known |= used > 0;
	socket_client_send(client, bytes, used);
	atomic_fetch_add(&seen.received, used > 0);
	return used;
}

static void closed(void *context, struct socket_client *client, const char *reason)
{
	(void)context;
	if (client == seen.paused)
		seen.paused = NULL;
	if (!reason) {
		atomic_fetch_add(&seen.at_the_end, 1);
	} else if (!*reason) {
		atomic_fetch_add(&seen.hung_up, 1);
	} else {
		snprintf(seen.reason, sizeof(seen.reason), "%s", reason);
		atomic_fetch_add(&seen.other, 1);
	}
}

static void refused(void *context, const char *address)
{
	(void)context;
	assert_string_equal(address, path);
	atomic_fetch_add(&seen.refused, 1);
}

static const struct socket_server_settings usual = {.address = path,
						    .group = "",
						    .wake = -1,
						    .clients_most = 2,
						    .message_most = LINE,
						    .unsent_most = 2 * BIG,
						    .reachable = reachable,
						    .woken = woken,
						    .connected = connected,
						    .received = received,
						    .closed = closed,
						    .refused = refused};

static void start(const struct socket_server_settings *settings)
{
	struct hd_error err;

	memset(&seen, 0, sizeof(seen));
	if (socket_server_start(settings, &seen.server, &err))
		fail_msg("%s", err.text);
	assert_string_equal(err.text, "");
}

static void end(void)
{
	socket_server_end(seen.server);
	assert_int_equal(access(path, F_OK), -1);
}

static void wait_for(const atomic_uint *count, unsigned least)
{
	for (int i = 0; atomic_load(count) < least && i < OFTEN; i++)
		usleep(1000);
	assert_true(atomic_load(count) >= least);
}

/* ---- clients ---- */

static int connect_client(void)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int client = socket(AF_UNIX, SOCK_STREAM, 0);

	strncpy(address.sun_path, path, sizeof(address.sun_path) - 1);
	assert_int_equal(connect(client, (struct sockaddr *)&address, sizeof(address)), 0);
	return client;
}

static void say(int client, const char *text)
{
	assert_int_equal(send(client, text, strlen(text), MSG_NOSIGNAL), strlen(text));
}

/* What comes next, or at the end "". */
static void expect(int client, const char *text)
{
	char bytes[LINE];
	const size_t length = *text ? strlen(text) : 1;

	assert_int_equal(recv(client, bytes, length, MSG_WAITALL), *text ? length : 0);
	assert_memory_equal(bytes, text, *text ? length : 0);
}

static int greeted_client(void)
{
	int client = connect_client();

	expect(client, "hello\n");
	return client;
}

/* ---- messages ---- */

/* A message may come in any pieces, and several may come at once. The last answer comes before the end. */
static void test_messages_in_pieces(void **state)
{
	(void)state;
	start(&usual);
	int client = greeted_client(), other = greeted_client();
	for (const char *letter = "word\n"; *letter; letter++)
		assert_int_equal(send(client, letter, 1, MSG_NOSIGNAL), 1);
	expect(client, "word\n");
	say(client, "one\ntwo\nthr");
	expect(client, "one\ntwo\n");
	say(other, "other\n");
	expect(other, "other\n");
	say(client, "ee\nbye\nnever\n");
	expect(client, "three\nbye\n");
	char byte;
	assert_true(recv(client, &byte, 1, 0) <= 0);
	close(client);
	end();
	close(other);
	assert_int_equal(seen.received, 6);
	assert_int_equal(seen.hung_up, 1);
	assert_int_equal(seen.at_the_end, 1);
	assert_int_equal(seen.other, 0);
}

static void test_a_message_too_long(void **state)
{
	char line[LINE + 1];

	(void)state;
	start(&usual);
	int client = greeted_client();
	memset(line, 'x', LINE);
	line[LINE] = '\0';
	line[LINE - 1] = '\n';
	say(client, line);
	expect(client, line);
	line[LINE - 1] = 'x';
	say(client, line);
	expect(client, "");
	close(client);
	end();
	assert_string_equal(seen.reason, "its message is too long");
}

/* Half a message, and an answer that is not read: each has its time. */
static void test_patience(void **state)
{
	struct socket_server_settings settings = usual;
	char *bytes = malloc(BIG);

	(void)state;
	assert_non_null(bytes);
	settings.patience_ms = 2000;
	start(&settings);
	int client = greeted_client(), other = greeted_client();
	say(client, "big\nbye\n");
	say(other, "hal");
	expect(other, "");
	wait_for(&seen.other, 2);
	assert_string_equal(seen.reason, "it is too slow");
	assert_in_range(recv(client, bytes, BIG, MSG_WAITALL), 1, BIG - 1);
	close(client);
	close(other);
	free(bytes);
	end();
}

/* A client that reads late gets all. One that leaves too much unread is closed, and others are served
 * meanwhile. */
static void test_slow_readers(void **state)
{
	char *bytes = malloc(BIG);

	(void)state;
	assert_non_null(bytes);
	start(&usual);
	int slow = greeted_client(), other = greeted_client();
	say(slow, "big\n");
	say(other, "other\n");
	expect(other, "other\n");
	assert_int_equal(recv(slow, bytes, BIG, MSG_WAITALL), BIG);
	expect(slow, "big\n");
	for (int i = 0; i < 8; i++) /* it may be closed before the last */
		send(slow, "big\n", 4, MSG_NOSIGNAL);
	wait_for(&seen.other, 1);
	assert_string_equal(seen.reason, "it does not read what it is sent");
	say(other, "again\n");
	expect(other, "again\n");
	close(slow);
	close(other);
	free(bytes);
	end();
}

/* Lines behind "pause" wait until woken() ends the pause. A client that hangs up meanwhile is closed. */
static void test_pause(void **state)
{
	(void)state;
	start(&usual);
	int client = greeted_client();
	say(client, "pause\nlater\n");
	expect(client, "pause\n");
	assert_int_equal(seen.received, 1);
	socket_server_wake(seen.server);
	expect(client, "later\n");
	say(client, "pause\n");
	expect(client, "pause\n");
	close(client);
	wait_for(&seen.hung_up, 1);
	end();
}

/* ---- clients that come ---- */

/* One too many is refused if nobody makes room. A client that has hung up has no place, even if much is unread. */
static void test_too_many_clients(void **state)
{
	static const char unread[100000];

	(void)state;
	start(&usual);
	int one = greeted_client(), two = greeted_client(), three = connect_client();
	expect(three, "");
	assert_int_equal(seen.refused, 1);
	say(one, "pause\n");
	expect(one, "pause\n");
	assert_true(send(one, unread, sizeof(unread), MSG_NOSIGNAL | MSG_DONTWAIT) > 10000);
	close(one);
	one = greeted_client();
	end();
	close(one);
	close(two);
	close(three);
	assert_int_equal(seen.refused, 1);
}

/* A client has a deadline for its first message, also if its bytes keep coming; then it has none. */
static void test_deadline_of_the_first_message(void **state)
{
	struct socket_server_settings settings = usual;

	(void)state;
	settings.clients_most = 3;
	settings.patience_ms = 200;
	start(&settings);
	int known = greeted_client();
	say(known, "here\n");
	expect(known, "here\n");
	int silent = greeted_client(), slow = greeted_client();
	for (int i = 0; i < OFTEN && atomic_load(&seen.other) < 2; i++) {
		send(slow, "x", i < 20, MSG_NOSIGNAL);
		usleep(1000);
	}
	assert_int_equal(seen.other, 2);
	assert_string_equal(seen.reason, "it is too slow");
	say(known, "still\n");
	expect(known, "still\n");
	close(known);
	close(silent);
	close(slow);
	end();
}

/* Idle clients keep nobody out: who has waited longest makes room, also who does not read its last answer. Who has sent
 * a message stays, and one more is refused. */
static void test_who_makes_room(void **state)
{
	struct socket_server_settings settings = usual;

	(void)state;
	settings.patience_ms = OFTEN;
	start(&settings);
	int first = greeted_client(), second = greeted_client(), third = greeted_client();
	expect(first, "");
	assert_string_equal(seen.reason, "others need its place");
	say(second, "two\n");
	expect(second, "two\n");
	int fourth = greeted_client();
	expect(third, "");
	say(fourth, "four\n");
	expect(fourth, "four\n");
	int fifth = connect_client();
	expect(fifth, "");
	assert_int_equal(seen.refused, 1);
	say(second, "still\n");
	expect(second, "still\n");
	say(fourth, "big\nbye\n");
	wait_for(&seen.received, 5);
	int sixth = greeted_client();
	assert_int_equal(seen.other, 3);
	assert_string_equal(seen.reason, "others need its place");
	const int clients[] = {first, second, third, fourth, fifth, sixth};
	for (unsigned i = 0; i < sizeof(clients) / sizeof(*clients); i++)
		close(clients[i]);
	end();
}

/* Connects as another user, as a process of that user would: only this thread changes. */
static int connect_as(unsigned user)
{
	assert_int_equal(syscall(SYS_setresuid, -1, user, -1), 0);
	int client = connect_client();
	assert_int_equal(syscall(SYS_setresuid, -1, 0, -1), 0);
	return client;
}

/* A user has half of the places for good, several users together leave some to root, and root has all. */
static void test_kept_places(void **state)
{
	struct socket_server_settings settings = usual;
	int clients[36], count = 0;

	(void)state;
	if (getuid())
		skip();
	settings.clients_most = 32;
	settings.patience_ms = OFTEN;
	assert_int_equal(chmod(folder, 0755), 0);
	start(&settings);
	assert_int_equal(chmod(path, 0666), 0);
	for (unsigned user = 65532; user < 65534; user++)
		for (unsigned i = 0; i < 17; i++, count++) {
			const bool refused = user == 65532 ? i == 16 : i >= 14;
			clients[count] = connect_as(user);
			expect(clients[count], refused ? "" : "hello\n");
			if (!refused)
				say(clients[count], "here\n");
			if (!refused)
				expect(clients[count], "here\n");
		}
	assert_int_equal(seen.refused, 4);
	for (; count < 36; count++)
		clients[count] = greeted_client();
	say(clients[35], "root\n");
	expect(clients[35], "root\n");
	assert_int_equal(seen.other, 0);
	while (count)
		close(clients[--count]);
	end();
	assert_int_equal(chmod(folder, 0700), 0);
}

static double processor_ms(void)
{
	struct timespec used;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
	return (double)used.tv_sec * 1e3 + (double)used.tv_nsec / 1e6;
}

/* Without a descriptor for a client that connects, the thread rests, and takes the client later. Others are
 * served meanwhile. */
static void test_no_descriptor(void **state)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	const struct timespec rest = {.tv_nsec = 500000000};
	struct rlimit limit, least;
	int spare[257], spares = 0;

	(void)state;
	start(&usual);
	int client = greeted_client(), late = socket(AF_UNIX, SOCK_STREAM, 0);
	strncpy(address.sun_path, path, sizeof(address.sun_path) - 1);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	least = (struct rlimit){.rlim_cur = 256, .rlim_max = limit.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &least), 0);
	while ((spare[spares] = dup(late)) >= 0)
		spares++;
	assert_int_equal(connect(late, (struct sockaddr *)&address, sizeof(address)), 0);
	double before = processor_ms();
	nanosleep(&rest, NULL);
	assert_true(processor_ms() - before < 250);
	say(client, "still\n");
	expect(client, "still\n");
	assert_int_equal(seen.connected, 1);
	while (spares)
		close(spare[--spares]);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	expect(late, "hello\n");
	close(late);
	close(client);
	end();
}

/* ---- the thread ---- */

/* woken() runs at the beginning, after wakes, and at the time that it asks for, but no more often. */
static void test_wakes(void **state)
{
	const struct timespec rest = {.tv_nsec = 50000000};

	(void)state;
	start(&usual);
	wait_for(&seen.woken, 1);
	for (unsigned i = 2; i < 20; i++) {
		socket_server_wake(seen.server);
		wait_for(&seen.woken, i);
	}
	nanosleep(&rest, NULL);
	assert_int_equal(seen.woken, 19);
	end();
	struct socket_server_settings settings = usual;
	settings.address = "";
	memset(&seen, 0, sizeof(seen));
	seen.again = true;
	assert_int_equal(socket_server_start(&settings, &seen.server, NULL), 0);
	wait_for(&seen.woken, 20);
	socket_server_end(seen.server);
	socket_server_end(NULL);
}

/* ---- where it listens ---- */

/* A socket of an earlier run is replaced; a file that is none stays. Without the group there is no socket. */
static void test_what_is_at_the_path(void **state)
{
	struct hd_error err;
	struct stat facts;
	struct socket_server *server;

	(void)state;
	int left = socket_path_or_port_listen(path, "", &err);
	assert_true(left >= 0);
	close(left);
	start(&usual);
	assert_int_equal(stat(path, &facts), 0);
	assert_int_equal(facts.st_mode & 0777, 0660);
	close(greeted_client());
	end();
	FILE *file = fopen(path, "w");
	assert_non_null(file);
	fclose(file);
	assert_int_equal(socket_server_start(&usual, &server, &err), 0);
	assert_non_null(strstr(err.text, "cannot bind: Address already in use"));
	assert_int_equal(socket_server_deaf(server), -EADDRINUSE);
	socket_server_end(server);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(socket_path_or_port_listen(path, "no-such-group", &err), -ENOENT);
	assert_int_equal(access(path, F_OK), -1);
}

/* A second server at the same path says so, and leaves the socket and the clients of the first one alone, also when it
 * ends. When the first one has ended, the second one takes the path. */
static void test_two_servers(void **state)
{
	struct socket_server *second;
	struct hd_error err;

	(void)state;
	for (int ends_first = 0; ends_first < 2; ends_first++) {
		start(&usual);
		struct socket_server *first = seen.server;
		int client = greeted_client();
		assert_int_equal(socket_server_start(&usual, &second, &err), 0);
		assert_non_null(strstr(err.text, "another process has this socket"));
		assert_int_equal(socket_server_deaf(second), -EBUSY);
		assert_int_equal(socket_server_deaf(first), 0);
		assert_ptr_equal(strstr(err.text, path), err.text);
		close(greeted_client());
		say(client, "still\n");
		expect(client, "still\n");
		assert_int_equal(seen.connected, 2);
		socket_server_end(ends_first ? first : second);
		if (ends_first)
			atomic_store(&seen.reachable, false);
		else
			close(greeted_client());
		for (int i = 0; ends_first && !atomic_load(&seen.reachable) && i < OFTEN; i++) {
			socket_server_wake(second);
			usleep(1000);
		}
		close(greeted_client());
		close(client);
		seen.server = ends_first ? second : first;
		end();
	}
}

/* If somebody puts a file in the place of the socket, the server says that nobody can connect, and leaves the file
 * alone. When that has gone, the socket is there again. */
static void test_a_replaced_path(void **state)
{
	(void)state;
	start(&usual);
	assert_true(seen.reachable);
	/* in one step: in a gap the server could take the place again */
	char beside[sizeof(path) + 8];
	snprintf(beside, sizeof(beside), "%s.other", path);
	int other = open(beside, O_CREAT | O_EXCL | O_WRONLY, 0600);
	assert_true(other >= 0);
	close(other);
	assert_int_equal(rename(beside, path), 0);
	for (int i = 0; atomic_load(&seen.reachable) && i < OFTEN; i++) {
		socket_server_wake(seen.server);
		usleep(1000);
	}
	assert_non_null(strstr(seen.deaf, "another process has put a file in the place"));
	assert_int_equal(unlink(path), 0);
	for (int i = 0; !atomic_load(&seen.reachable) && i < OFTEN; i++) {
		socket_server_wake(seen.server);
		usleep(1000);
	}
	close(greeted_client());
	end();
}

/* A file that somebody removes is there again after the next wake, and clients that are connected do not
 * notice. */
static void test_a_removed_path(void **state)
{
	(void)state;
	start(&usual);
	int client = greeted_client();
	wait_for(&seen.woken, 1);
	assert_int_equal(unlink(path), 0);
	socket_server_wake(seen.server);
	wait_for(&seen.woken, 2);
	int other = greeted_client();
	say(client, "still\n");
	expect(client, "still\n");
	close(client);
	close(other);
	end();
}

/* No socket is where others can remove or exchange it. In a folder such as /tmp they cannot. */
static void test_folders_of_others(void **state)
{
	static const struct {
		mode_t mode;
		uid_t owner;
		int expected;
	} cases[] = {{0777, 0, -EPERM},
		     {0770, 0, -EPERM},
		     {01777, 0, 0},
		     {0755, 12345, -EPERM},
		     {0700, 0, 0}};
	struct hd_error err;

	(void)state;
	for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		if (cases[i].owner && geteuid())
			continue;
		assert_int_equal(chmod(folder, cases[i].mode), 0);
		assert_int_equal(
		    chown(folder, cases[i].owner ? cases[i].owner : geteuid(), (gid_t)-1), 0);
		const int file = socket_path_or_port_listen(path, "", &err);
		if (cases[i].expected) {
			assert_int_equal(file, cases[i].expected);
			assert_ptr_equal(strstr(err.text, path), err.text);
			assert_non_null(strstr(err.text, "users other than root"));
			assert_int_equal(access(path, F_OK), -1);
		} else {
			assert_true(file >= 0);
			close(file);
			assert_int_equal(unlink(path), 0);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_messages_in_pieces),
	    cmocka_unit_test(test_a_message_too_long),
	    cmocka_unit_test(test_patience),
	    cmocka_unit_test(test_slow_readers),
	    cmocka_unit_test(test_pause),
	    cmocka_unit_test(test_too_many_clients),
	    cmocka_unit_test(test_deadline_of_the_first_message),
	    cmocka_unit_test(test_who_makes_room),
	    cmocka_unit_test(test_kept_places),
	    cmocka_unit_test(test_no_descriptor),
	    cmocka_unit_test(test_wakes),
	    cmocka_unit_test(test_what_is_at_the_path),
	    cmocka_unit_test(test_folders_of_others),
	    cmocka_unit_test(test_two_servers),
	    cmocka_unit_test(test_a_removed_path),
	    cmocka_unit_test(test_a_replaced_path),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
