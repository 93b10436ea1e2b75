/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The plugin's end of the connections to routers: what it does with peers that send garbage or nothing,
 * and while lists are published from another thread. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#include "map_server.h"
#include "opensm_headers.h"

#include <router_session.h>

#define PREFIX UINT64_C(0xFEC0000000000001)

static char folder[] = "/tmp/heddle-server-XXXXXX";
static char path[64];
static atomic_uint lines; /* of the log, which several threads write */
static osm_log_t host_log;
static struct opensm_log log_to = {.log = &host_log, .threshold = HD_LOG_DEBUG};

void osm_log_v2(osm_log_t *log, osm_log_level_t level, int file, const char *format, ...)
{
	(void)log;
	(void)level;
	(void)file;
	(void)format;
	atomic_fetch_add(&lines, 1);
}

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

static void ignore(void *context)
{
	(void)context;
}

static struct map_server *start(const char *address)
{
	const struct map_server_settings settings = {.address = address,
						     .group = "",
						     .prefix = PREFIX,
						     .log = &log_to,
						     .foreign_changed = ignore};
	struct map_server *server = NULL;
	struct hd_error err = {""};

	if (map_server_start(&settings, &server, &err))
		fail_msg("%s", err.text);
	return server;
}

static int connect_router(void)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int file = socket(AF_UNIX, SOCK_STREAM, 0);

	snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	assert_true(file >= 0);
	assert_int_equal(connect(file, (struct sockaddr *)&address, sizeof(address)), 0);
	return file;
}

static struct map_lists *make_lists(uint16_t hosts)
{
	struct map_lists *lists = calloc(1, sizeof(*lists));

	assert_non_null(lists);
	struct hd_handshake_host *items = hd_arena_alloc(&lists->arena, hosts, sizeof(*items));
	assert_non_null(items);
	for (uint16_t i = 0; i < hosts; i++)
		items[i] = (struct hd_handshake_host){
		    .guid = 0x1000u + i, .place = i, .lid = (uint16_t)(i + 1)};
	lists->lists.hosts = items;
	lists->lists.host_count = hosts;
	return lists;
}

/* A peer that sends garbage is cut off, one that sends nothing yet is not; the server goes on. */
static void test_garbage(void **state)
{
	char bytes[4096];

	(void)state;
	struct map_server *server = start(path);
	int silent = connect_router(), bad = connect_router();
	memset(bytes, 'x', sizeof(bytes));
	assert_true(send(bad, bytes, sizeof(bytes), MSG_NOSIGNAL) > 0);
	while (recv(bad, bytes, sizeof(bytes), 0) > 0)
		;
	map_server_publish(server, make_lists(8));
	int again = connect_router();
	assert_int_equal(recv(silent, bytes, sizeof(bytes), MSG_DONTWAIT), -1);
	close(bad);
	close(silent);
	close(again);
	map_server_end(server);
}

/* A router that greets. */
static int greet(uint64_t guid)
{
	struct hd_router_message hello = {.type = HD_ROUTER_HELLO};
	struct hd_router_session session;
	struct hd_router_writer writer;
	uint8_t bytes[512];
	int router = connect_router();

	hd_router_session_begin(&session, HD_ROUTER_ROLE_ROUTER, 4, PREFIX, guid);
	hd_router_session_stamp(&session, &hello);
	hd_router_write_begin(&writer, bytes, sizeof(bytes), &hello);
	uint32_t length = hd_router_write_end(&writer);
	assert_int_equal(send(router, bytes, length, MSG_NOSIGNAL), length);
	assert_true(recv(router, bytes, sizeof(bytes), 0) > 0);
	return router;
}

/* Connections that say nothing keep no router out, and do not cost a router its connection. */
static void test_silent_connections(void **state)
{
	int silent[200];
	char byte;

	(void)state;
	struct map_server *server = start(path);
	int first = greet(0x300000);
	for (unsigned i = 0; i < 200; i++)
		silent[i] = connect_router();
	int second = greet(0x300001);
	assert_int_equal(recv(first, &byte, 1, MSG_DONTWAIT), -1);
	for (unsigned i = 0; i < 200; i++)
		close(silent[i]);
	close(first);
	close(second);
	map_server_end(server);
}

/* Lists may come from another thread at any time, while routers come and go. */
static void test_lists_while_routers_come_and_go(void **state)
{
	struct map_foreign_lists foreign = {.count = 0};

	(void)state;
	struct map_server *server = start(path);
	for (uint16_t i = 1; i <= 200; i++) {
		int router = connect_router();
		map_server_publish(server, make_lists(i));
		assert_int_equal(map_server_foreign(server, &foreign), 0);
		assert_int_equal(foreign.count, 0);
		close(router);
	}
	map_server_end(server);
}

/* Putting a list again changes nothing; another list of the same subnet replaces it; subnets are
 * in order of their prefixes, hosts in order of their places. */
static void test_foreign_lists(void **state)
{
	struct map_foreign_lists lists = {.count = 0}, copy = {.count = 0};
	struct hd_handshake_host hosts[] = {{.guid = 1, .place = 2}, {.guid = 2, .place = 1}};
	struct hd_handshake_foreign list = {.prefix = PREFIX + 2, .hosts = hosts, .host_count = 2};
	bool changed;

	(void)state;
	assert_int_equal(map_foreign_lists_put(&lists, &list, &changed), 0);
	assert_true(changed);
	assert_int_equal(map_foreign_lists_put(&lists, &list, &changed), 0);
	assert_false(changed);
	list.prefix = PREFIX + 1;
	assert_int_equal(map_foreign_lists_put(&lists, &list, &changed), 0);
	list.host_count = 1;
	assert_int_equal(map_foreign_lists_put(&lists, &list, &changed), 0);
	assert_true(changed);
	assert_int_equal(map_foreign_lists_copy(&lists, &copy), 0);
	map_foreign_lists_remove(&lists, PREFIX + 7);
	assert_int_equal(lists.count, 2);
	map_foreign_lists_remove(&lists, PREFIX + 1);
	assert_int_equal(lists.count, 1);
	assert_int_equal(lists.items[0].prefix, PREFIX + 2);
	map_foreign_lists_release(&lists);
	assert_int_equal(copy.count, 2);
	assert_int_equal(copy.items[0].prefix, PREFIX + 1);
	assert_int_equal(copy.items[0].host_count, 1);
	assert_int_equal(copy.items[1].hosts[0].guid, 2);
	map_foreign_lists_release(&copy);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_garbage),
	    cmocka_unit_test(test_silent_connections),
	    cmocka_unit_test(test_lists_while_routers_come_and_go),
	    cmocka_unit_test(test_foreign_lists),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
