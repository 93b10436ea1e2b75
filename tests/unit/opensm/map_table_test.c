/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The map in force inside OpenSM: which maps are refused, what stays, and that threads can look up
 * destinations while the map is replaced. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "map_table.h"
#include "opensm_headers.h"
#include "opensm_log_testing.h"

#define PORT_A UINT64_C(0x400001)
#define PORT_B UINT64_C(0x400101)
#define PORT_C UINT64_C(0x400201)
#define PREFIX UINT64_C(0xFEC0000000000002)

static osm_log_t host_log;
static struct opensm_log log_to = {.log = &host_log, .threshold = HD_LOG_DEBUG};
static char path[] = "/tmp/heddle-map-XXXXXX";

static int make_path(void **state)
{
	int file = mkstemp(path);

	(void)state;
	if (file < 0)
		return -1;
	return close(file);
}

static int remove_path(void **state)
{
	(void)state;
	return unlink(path);
}

static void write_map(const char *text)
{
	FILE *stream = fopen(path, "w");

	assert_non_null(stream);
	assert_true(fputs(text, stream) >= 0);
	assert_int_equal(fclose(stream), 0);
}

/* What a subnet has: the ports that are usable, and those of other nodes. */
struct subnet {
	uint64_t usable[4], other[4];
};

static bool has(const uint64_t guids[4], uint64_t guid)
{
	for (unsigned i = 0; i < 4; i++)
		if (guids[i] == guid)
			return true;
	return false;
}

static enum map_port *look(const struct subnet *subnet, const struct hd_map *map)
{
	enum map_port *ports = calloc(map->port_count + 1, sizeof(*ports));

	assert_non_null(ports);
	for (uint32_t i = 0; i < map->port_count; i++)
		ports[i] = has(subnet->usable, map->port_guid[i])  ? MAP_PORT_USABLE
			   : has(subnet->other, map->port_guid[i]) ? MAP_PORT_OTHER
								   : MAP_PORT_ABSENT;
	return ports;
}

/* As a heavy sweep does it. */
static void sweep(struct map_table *table, const char *file, const struct subnet *subnet)
{
	struct map_table old;
	bool *usable = NULL;

	logged[0] = '\0';
	map_table_read(table, file, &log_to);
	if (table->next) {
		enum map_port *ports = look(subnet, table->next);
		map_table_judge(table, file, ports, &log_to);
		free(ports);
	}
	const struct hd_map *candidate = map_table_candidate(table);
	if (candidate) {
		enum map_port *ports = look(subnet, candidate);
		usable = calloc(candidate->port_count + 1, sizeof(*usable));
		assert_non_null(usable);
		for (uint32_t i = 0; i < candidate->port_count; i++)
			usable[i] = ports[i] == MAP_PORT_USABLE;
		free(ports);
	}
	old = map_table_replace(table, usable);
	map_table_release(&old);
	map_table_report(table, file, &log_to);
}

/* The router port for host number `host` of the other subnet; 0: none. */
static uint64_t port_for(const struct map_table *table, uint64_t host)
{
	const struct hd_gid gid = {PREFIX, host};
	struct hd_map_answer answer;

	return map_table_resolve(table, &gid, &answer) ? answer.port_guid : 0;
}

static const struct subnet all = {.usable = {PORT_A, PORT_B}, .other = {0x100001}};
static const char both[] = "fec0::2:0:0:0:1 0x400001 0x400101\nfec0::2:0:0:0:2 0x400101\n";

static void test_no_map(void **state)
{
	struct map_table table = {0};

	(void)state;
	sweep(&table, "", &all);
	assert_string_equal(logged, "");
	assert_int_equal(port_for(&table, 1), 0);
	map_table_release(&table);
}

static void test_only_destinations_of_a_lost_port_move(void **state)
{
	const struct subnet less = {.usable = {PORT_B}};
	struct map_table table = {0};

	(void)state;
	write_map(both);
	sweep(&table, path, &all);
	assert_logged("2 GIDs, 0 blocks, 0 default lines; 2 of 2 router ports are usable");
	assert_int_equal(port_for(&table, 1), PORT_A);
	assert_int_equal(port_for(&table, 2), PORT_B);
	sweep(&table, path, &less);
	assert_logged("1 of 2 router ports are usable; 1 lines use a backup, 0 lines have no");
	assert_int_equal(port_for(&table, 1), PORT_B);
	assert_int_equal(port_for(&table, 2), PORT_B);
	sweep(&table, path, &less);
	assert_string_equal(logged, "");
	sweep(&table, path, &all);
	assert_int_equal(port_for(&table, 1), PORT_A);
	map_table_release(&table);
}

/* A bad file, and a map with a port that is not a router's, change nothing. */
static void test_the_last_good_map_stays(void **state)
{
	struct map_table table = {0};

	(void)state;
	write_map(both);
	sweep(&table, path, &all);
	write_map("# bad\nfec0::zz 0x400001\n");
	sweep(&table, path, &all);
	assert_logged(":2: ");
	assert_logged("; the last good map stays in force");
	assert_int_equal(port_for(&table, 1), PORT_A);
	write_map("fec0::2:0:0:0:1 0x400101\nfec0::2:0:0:0:3 0x100001\n");
	sweep(&table, path, &all);
	assert_logged(":2: port GUID 0x0000000000100001");
	assert_logged("; the last good map stays in force");
	assert_int_equal(port_for(&table, 1), PORT_A);
	sweep(&table, "", &all);
	assert_int_equal(port_for(&table, 1), 0);
	map_table_release(&table);
}

/* A port that is neither in the subnet nor in the map in force is an error; one that is down now
 * and was in the map is not. */
static void test_unknown_router_ports(void **state)
{
	const struct subnet less = {.usable = {PORT_B}};
	struct map_table table = {0};

	(void)state;
	write_map(both);
	sweep(&table, path, &all);
	write_map("fec0::2:0:0:0:1 0x400101 0x400201\n");
	sweep(&table, path, &all);
	assert_logged(":1: port GUID 0x0000000000400201");
	assert_int_equal(port_for(&table, 1), PORT_A);
	write_map("fec0::2:0:0:0:2 0x400001 0x400101\n");
	sweep(&table, path, &less);
	assert_null(strstr(logged, "ERR"));
	assert_int_equal(port_for(&table, 2), PORT_B);
	map_table_release(&table);
}

/* When OpenSM starts, a router may be down. */
static void test_a_map_at_the_start(void **state)
{
	struct map_table table = {0};

	(void)state;
	write_map("fec0::2:0:0:0:1 0x400201 0x400001\n");
	sweep(&table, path, &all);
	assert_logged("1 router ports are missing, the map is in force without them");
	assert_int_equal(port_for(&table, 1), PORT_A);
	map_table_release(&table);
	write_map("fec0::2:0:0:0:1 0x100001 0x400001\n");
	sweep(&table, path, &all);
	assert_logged("; no map is in force");
	assert_int_equal(port_for(&table, 1), 0);
	map_table_release(&table);
}

/* ---- threads ---- */

#define READERS 3u
#define REPLACEMENTS 200u
#define HOSTS 64u

struct reading {
	struct map_table *table;
	pthread_rwlock_t *lock; /* in place of OpenSM's */
	atomic_bool *end;
	uint32_t wrong;
};

/* Of both maps, each host has the port of its number, or the one after it. */
static bool is_right(uint64_t host, uint64_t port)
{
	return port == 0x400000 + host % 8 || port == 0x400000 + (host + 1) % 8;
}

static void *look_up_all(void *context)
{
	struct reading *reading = context;

	while (!atomic_load(reading->end))
		for (uint64_t host = 1; host <= HOSTS; host++) {
			pthread_rwlock_rdlock(reading->lock);
			uint64_t port = port_for(reading->table, host);
			pthread_rwlock_unlock(reading->lock);
			reading->wrong += !is_right(host, port);
		}
	return NULL;
}

static void write_shifted(uint64_t shift)
{
	char text[HOSTS * 64];
	size_t used = 0;

	for (uint64_t host = 1; host <= HOSTS; host++)
		used += (size_t)snprintf(text + used, sizeof(text) - used,
					 "fec0::2:0:0:0:%llx 0x%llx\n", (unsigned long long)host,
					 (unsigned long long)(0x400000 + (host + shift) % 8));
	write_map(text);
}

static enum map_port *all_usable(const struct hd_map *map)
{
	enum map_port *ports = calloc(map->port_count + 1, sizeof(*ports));

	assert_non_null(ports);
	for (uint32_t i = 0; i < map->port_count; i++)
		ports[i] = MAP_PORT_USABLE;
	return ports;
}

static void replace(struct map_table *table, pthread_rwlock_t *lock)
{
	map_table_read(table, path, &log_to);
	assert_non_null(table->next);
	enum map_port *ports = all_usable(table->next);
	map_table_judge(table, path, ports, &log_to);
	free(ports);
	bool *usable = calloc(table->next->port_count + 1, sizeof(*usable));
	assert_non_null(usable);
	memset(usable, true, table->next->port_count);
	pthread_rwlock_wrlock(lock);
	struct map_table old = map_table_replace(table, usable);
	pthread_rwlock_unlock(lock);
	map_table_release(&old);
}

/* Threads that hold the lock shared see the old map or the new one, never a mixture. */
static void test_readers_while_the_map_is_replaced(void **state)
{
	/* else the readers could keep the writer waiting for ever */
	pthread_rwlock_t lock = PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP;
	struct map_table table = {0};
	struct reading readings[READERS];
	pthread_t threads[READERS];
	atomic_bool end = false;

	(void)state;
	write_shifted(0);
	replace(&table, &lock);
	for (unsigned i = 0; i < READERS; i++) {
		readings[i] = (struct reading){&table, &lock, &end, 0};
		assert_int_equal(pthread_create(&threads[i], NULL, look_up_all, &readings[i]), 0);
	}
	for (unsigned i = 1; i <= REPLACEMENTS; i++) {
		write_shifted(i % 2);
		replace(&table, &lock);
	}
	atomic_store(&end, true);
	for (unsigned i = 0; i < READERS; i++) {
		pthread_join(threads[i], NULL);
		assert_int_equal(readings[i].wrong, 0);
	}
	map_table_release(&table);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_no_map),
	    cmocka_unit_test(test_only_destinations_of_a_lost_port_move),
	    cmocka_unit_test(test_the_last_good_map_stays),
	    cmocka_unit_test(test_unknown_router_ports),
	    cmocka_unit_test(test_a_map_at_the_start),
	    cmocka_unit_test(test_readers_while_the_map_is_replaced),
	};

	return cmocka_run_group_tests(tests, make_path, remove_path);
}
