/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Compares sets of ports with arrays of one bool for each port. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <heddle/base/port_set.h>
#include <heddle/base/random.h>

struct sample {
	struct hd_port_set set;
	bool has[HD_PORT_SET_SIZE];
};

/* Full sets, empty ones and others, with ports at both ends of a word. */
static struct sample draw(uint64_t *random)
{
	struct sample sample = {.set = {{0}}};
	uint64_t share = hd_random_below(random, 9);

	for (uint32_t port = 0; port < HD_PORT_SET_SIZE; port++) {
		sample.has[port] = hd_random_below(random, 8) < share;
		if (sample.has[port])
			hd_port_set_add(&sample.set, port);
	}
	return sample;
}

/* Each function that reads a set agrees with the array. */
static void assert_same(const struct sample *sample)
{
	uint32_t count = 0, next = HD_NONE, expected = 0;

	for (uint32_t port = HD_PORT_SET_SIZE; port-- > 0;) {
		assert_int_equal(hd_port_set_has(&sample->set, port), sample->has[port]);
		count += sample->has[port];
		next = sample->has[port] ? port : next;
		assert_int_equal(hd_port_set_next(&sample->set, port), next);
	}
	assert_int_equal(hd_port_set_next(&sample->set, HD_PORT_SET_SIZE), HD_NONE);
	assert_int_equal(hd_port_set_next(&sample->set, HD_NONE), HD_NONE);
	assert_int_equal(hd_port_set_count(&sample->set), count);
	assert_int_equal(hd_port_set_is_empty(&sample->set), !count);
	HD_PORT_SET_FOREACH(port, &sample->set) {
		while (!sample->has[expected])
			expected++;
		assert_int_equal(port, expected++);
		count--;
	}
	assert_int_equal(count, 0);
}

static void a_set_has_what_was_added_and_not_removed(void **state)
{
	uint64_t random = 1;

	(void)state;
	for (unsigned trial = 0; trial < 200; trial++) {
		struct sample sample = draw(&random);
		assert_same(&sample);
		for (unsigned change = 0; change < 20; change++) {
			uint32_t port = (uint32_t)hd_random_below(&random, HD_PORT_SET_SIZE);
			sample.has[port] = change % 2;
			if (change % 2)
				hd_port_set_add(&sample.set, port);
			else
				hd_port_set_remove(&sample.set, port);
		}
		assert_same(&sample);
	}
}

static void union_and_intersection_go_port_by_port(void **state)
{
	uint64_t random = 2;

	(void)state;
	for (unsigned trial = 0; trial < 200; trial++) {
		struct sample a = draw(&random), b = draw(&random), both = a, either = a;
		for (uint32_t port = 0; port < HD_PORT_SET_SIZE; port++) {
			both.has[port] = a.has[port] && b.has[port];
			either.has[port] = a.has[port] || b.has[port];
		}
		hd_port_set_intersect(&both.set, &b.set);
		hd_port_set_unite(&either.set, &b.set);
		assert_same(&both);
		assert_same(&either);
	}
}

static void sets_are_equal_only_with_the_same_ports(void **state)
{
	uint64_t random = 3;

	(void)state;
	for (uint32_t port = 0; port < HD_PORT_SET_SIZE; port++) {
		struct sample sample = draw(&random);
		struct hd_port_set other = sample.set;
		assert_true(hd_port_set_equal(&sample.set, &other));
		if (sample.has[port])
			hd_port_set_remove(&other, port);
		else
			hd_port_set_add(&other, port);
		assert_false(hd_port_set_equal(&sample.set, &other));
	}
}

static void a_loop_may_change_the_set(void **state)
{
	struct hd_port_set set = {{0}};
	uint32_t met = 0;

	(void)state;
	hd_port_set_add(&set, 3);
	HD_PORT_SET_FOREACH(port, &set) {
		met++;
		hd_port_set_remove(&set, port);
		hd_port_set_add(&set, 0);
		if (port + 60 < HD_PORT_SET_SIZE)
			hd_port_set_add(&set, port + 60);
	}
	assert_int_equal(met, 5); /* 3, 63, 123, 183, 243 */
	assert_int_equal(hd_port_set_count(&set), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_set_has_what_was_added_and_not_removed),
	    cmocka_unit_test(union_and_intersection_go_port_by_port),
	    cmocka_unit_test(sets_are_equal_only_with_the_same_ports),
	    cmocka_unit_test(a_loop_may_change_the_set),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
