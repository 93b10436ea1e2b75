/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Threads look destinations up while another one loads maps and replaces the one in force, as the
 * SA's threads and the sweeper do in OpenSM. ThreadSanitizer runs this test. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <heddle/ir_router/map.h>

#define READERS 4u
#define REPLACEMENTS 300u
#define HOSTS 64u
#define PORTS 8u
#define PREFIX UINT64_C(0xFEC0000000000002)

struct shared {
	pthread_rwlock_t lock; /* of `map`, not of what it refers to */
	struct hd_map *map;
	atomic_bool end;
};

struct reader {
	struct shared *shared;
	uint32_t wrong;
};

/* In map number `shift`, host h has port h + shift, then h + shift + 1, modulo PORTS. */
static struct hd_map *load(uint64_t shift)
{
	char text[HOSTS * 64];
	size_t used = 0;
	struct hd_map *map;
	struct hd_error err;

	for (uint64_t host = 0; host < HOSTS; host++)
		used += (size_t)snprintf(text + used, sizeof(text) - used,
					 "fec0::2:0:0:0:%x 0x%x 0x%x\n", (unsigned)host + 1,
					 0x400001 + (unsigned)((host + shift) % PORTS),
					 0x400001 + (unsigned)((host + shift + 1) % PORTS));
	assert_int_equal(
	    hd_map_parse(&(struct hd_text){.name = "map", .bytes = text, .length = used}, &map,
			 &err),
	    0);
	return map;
}

/* The preferred port if it can be used, else the other one; ports with even numbers cannot. */
static bool is_right(const struct hd_map *map, uint64_t host, const bool *usable)
{
	const struct hd_gid gid = {PREFIX, host + 1};
	struct hd_map_answer answer;

	if (!hd_map_resolve(map, &gid, usable, &answer))
		return false;
	const uint32_t *choices = &map->choices[map->lines[answer.line].first];
	uint32_t expected = usable && !usable[choices[0]] ? choices[1] : choices[0];
	return map->lines[answer.line].gid.guid == gid.guid && answer.port == expected &&
	       answer.port_guid == map->port_guid[expected];
}

static void *look_up_all(void *context)
{
	struct reader *reader = context;
	const bool usable[PORTS] = {false, true, false, true, false, true, false, true};

	while (!atomic_load(&reader->shared->end))
		for (uint64_t host = 0; host < HOSTS; host++) {
			pthread_rwlock_rdlock(&reader->shared->lock);
			reader->wrong += !is_right(reader->shared->map, host, NULL);
			reader->wrong += !is_right(reader->shared->map, host, usable);
			pthread_rwlock_unlock(&reader->shared->lock);
		}
	return NULL;
}

static void replace(struct shared *shared, struct hd_map *map)
{
	pthread_rwlock_wrlock(&shared->lock);
	struct hd_map *old = shared->map;
	shared->map = map;
	pthread_rwlock_unlock(&shared->lock);
	hd_map_free(old);
}

static void test_look_ups_while_the_map_is_replaced(void **state)
{
	/* else the readers could keep the writer waiting for ever */
	struct shared shared = {.lock = PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP,
				.map = load(0)};
	struct reader readers[READERS];
	pthread_t threads[READERS];

	(void)state;
	for (unsigned i = 0; i < READERS; i++) {
		readers[i] = (struct reader){.shared = &shared};
		assert_int_equal(pthread_create(&threads[i], NULL, look_up_all, &readers[i]), 0);
	}
	for (unsigned i = 1; i <= REPLACEMENTS; i++)
		replace(&shared, load(i));
	atomic_store(&shared.end, true);
	for (unsigned i = 0; i < READERS; i++) {
		pthread_join(threads[i], NULL);
		assert_int_equal(readers[i].wrong, 0);
	}
	hd_map_free(shared.map);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_look_ups_while_the_map_is_replaced),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
