/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Patterns of applications: who sends to whom in each phase. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <heddle/base/index.h>
#include <heddle/keyd/key_pattern.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RANKS_MAX 130u

static struct hd_key_pattern *made(const char *text, uint32_t ranks)
{
	struct hd_key_pattern *pattern = NULL;
	struct hd_error err = {""};

	if (hd_key_pattern_new(text, ranks, &pattern, &err))
		fail_msg("%s for %u ranks: %s", text, ranks, err.text);
	assert_int_equal(pattern->ranks, ranks);
	assert_int_equal(pattern->base[0], 0);
	return pattern;
}

/* to[rank]: where a rank sends in a phase, HD_NONE if it does not. Each rank sends at most once and
 * receives at most once. */
static void read_phase(const struct hd_key_pattern *pattern, uint32_t phase, uint32_t *to)
{
	uint32_t from[RANKS_MAX];

	for (uint32_t rank = 0; rank < pattern->ranks; rank++)
		to[rank] = from[rank] = HD_NONE;
	for (uint32_t i = pattern->base[phase]; i < pattern->base[phase + 1]; i++) {
		const struct hd_rank_flow *flow = &pattern->flows[i];

		assert_true(flow->source < pattern->ranks && flow->destination < pattern->ranks);
		assert_int_not_equal(flow->source, flow->destination);
		assert_int_equal(to[flow->source], HD_NONE);
		assert_int_equal(from[flow->destination], HD_NONE);
		to[flow->source] = flow->destination;
		from[flow->destination] = flow->source;
	}
}

/* No rank sends or receives twice in a phase of any pattern, for any number of ranks. */
static void test_phases_are_permutations(void **state)
{
	static const char *const texts[] = {"stencil1d", "stencil2d",	     "stencil3d",
					    "ring",	 "alltoall",	     "transpose",
					    "random",	 "halving-doubling", "random:99"};
	uint32_t to[RANKS_MAX];

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		for (uint32_t ranks = 1; ranks < RANKS_MAX; ranks++) {
			struct hd_key_pattern *pattern = made(texts[i], ranks);

			for (uint32_t phase = 0; phase < pattern->phase_count; phase++)
				read_phase(pattern, phase, to);
			hd_key_pattern_free(pattern);
		}
}

/* ---- grids ---- */

/* The rank at a place. */
static uint32_t rank_at(const uint32_t size[3], const uint32_t place[3])
{
	return (place[0] * size[1] + place[1]) * size[2] + place[2];
}

/* Each phase of a stencil leads to the neighbour on its axis, around the end. */
static void check_stencil(const char *text, unsigned axes, const uint32_t size[3])
{
	struct hd_key_pattern *pattern = made(text, size[0] * size[1] * size[2]);
	uint32_t to[RANKS_MAX], place[3];

	assert_int_equal(pattern->phase_count, 2 * axes);
	for (uint32_t phase = 0; phase < pattern->phase_count; phase++) {
		uint32_t axis = phase / 2;

		read_phase(pattern, phase, to);
		for (place[0] = 0; place[0] < size[0]; place[0]++)
			for (place[1] = 0; place[1] < size[1]; place[1]++)
				for (place[2] = 0; place[2] < size[2]; place[2]++) {
					uint32_t rank = rank_at(size, place), there[3];

					memcpy(there, place, sizeof(there));
					if (phase % 2)
						there[axis] =
						    there[axis] ? there[axis] - 1 : size[axis] - 1;
					else
						there[axis] = there[axis] + 1 == size[axis]
								  ? 0
								  : there[axis] + 1;
					assert_int_equal(to[rank], rank_at(size, there) == rank
								       ? HD_NONE
								       : rank_at(size, there));
				}
	}
	hd_key_pattern_free(pattern);
}

static void test_stencils(void **state)
{
	(void)state;
	check_stencil("stencil1d", 1, (uint32_t[]){1, 1, 1});
	check_stencil("stencil1d", 1, (uint32_t[]){2, 1, 1});
	check_stencil("stencil1d", 1, (uint32_t[]){36, 1, 1});
	check_stencil("stencil2d:6x6", 2, (uint32_t[]){6, 6, 1});
	check_stencil("stencil2d:2x9", 2, (uint32_t[]){2, 9, 1});
	check_stencil("stencil2d:1x7", 2, (uint32_t[]){1, 7, 1});
	check_stencil("stencil3d:4x3x3", 3, (uint32_t[]){4, 3, 3});
	check_stencil("stencil3d:2x5x7", 3, (uint32_t[]){2, 5, 7});
	check_stencil("stencil3d:1x1x1", 3, (uint32_t[]){1, 1, 1});
	/* without a size: the most even one */
	check_stencil("stencil2d", 2, (uint32_t[]){6, 6, 1});
	check_stencil("stencil2d", 2, (uint32_t[]){12, 8, 1});
	check_stencil("stencil2d", 2, (uint32_t[]){97, 1, 1});
	check_stencil("stencil3d", 3, (uint32_t[]){4, 3, 3});
	check_stencil("stencil3d", 3, (uint32_t[]){6, 3, 3});
	check_stencil("stencil3d", 3, (uint32_t[]){4, 4, 4});
	check_stencil("stencil3d", 3, (uint32_t[]){5, 5, 3});
}

/* A transposition done twice changes nothing; that of another form is undone by its counterpart. */
static void test_transpose(void **state)
{
	static const struct {
		const char *text, *back;
		uint32_t ranks;
	} pairs[] = {{"transpose", "transpose:6x6", 36},
		     {"transpose:9x9", "transpose:9x9", 81},
		     {"transpose:3x8", "transpose:8x3", 24},
		     {"transpose", "transpose:8x12", 96},
		     {"transpose:1x7", "transpose:7x1", 7}};
	uint32_t to[RANKS_MAX], back[RANKS_MAX];

	(void)state;
	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		struct hd_key_pattern *pattern = made(pairs[i].text, pairs[i].ranks);
		struct hd_key_pattern *undone = made(pairs[i].back, pairs[i].ranks);

		assert_int_equal(pattern->phase_count, 1);
		read_phase(pattern, 0, to);
		read_phase(undone, 0, back);
		for (uint32_t rank = 0; rank < pairs[i].ranks; rank++) {
			uint32_t there = to[rank] == HD_NONE ? rank : to[rank];

			assert_int_equal(back[there] == HD_NONE ? there : back[there], rank);
		}
		hd_key_pattern_free(pattern);
		hd_key_pattern_free(undone);
	}
	struct hd_key_pattern *pattern = made("transpose:2x3", 6);

	read_phase(pattern, 0, to);
	assert_int_equal(to[1], 2); /* row 0, column 1 becomes row 1, column 0 of 3 x 2 */
	hd_key_pattern_free(pattern);
}

/* ---- rounds ---- */

static void test_ring_and_shift(void **state)
{
	uint32_t to[RANKS_MAX];

	(void)state;
	for (uint32_t ranks = 2; ranks < 40; ranks++)
		for (uint32_t step = 1; step < ranks; step++) {
			char text[32];

			snprintf(text, sizeof(text), "shift:%u", step);
			struct hd_key_pattern *pattern = made(step == 1 ? "ring" : text, ranks);

			assert_int_equal(pattern->phase_count, 1);
			read_phase(pattern, 0, to);
			for (uint32_t rank = 0; rank < ranks; rank++)
				assert_int_equal(to[rank], (rank + step) % ranks);
			hd_key_pattern_free(pattern);
		}
}

/* Each rank sends to each other rank exactly once. */
static void test_alltoall(void **state)
{
	(void)state;
	for (uint32_t ranks = 1; ranks < 40; ranks++) {
		struct hd_key_pattern *pattern = made("alltoall", ranks);
		bool met[40][40] = {{false}};

		assert_int_equal(pattern->phase_count, ranks - 1);
		assert_int_equal(pattern->base[pattern->phase_count], ranks * (ranks - 1));
		for (uint32_t i = 0; i < ranks * (ranks - 1); i++) {
			bool *pair = &met[pattern->flows[i].source][pattern->flows[i].destination];

			assert_false(*pair);
			*pair = true;
		}
		hd_key_pattern_free(pattern);
	}
}

/* What each rank knows: knows[rank][of]. All flows of a phase happen at once. */
static void exchange(const struct hd_key_pattern *pattern, uint32_t phase,
		     bool knows[RANKS_MAX][RANKS_MAX])
{
	static bool before[RANKS_MAX][RANKS_MAX];

	memcpy(before, knows, sizeof(before));
	for (uint32_t i = pattern->base[phase]; i < pattern->base[phase + 1]; i++)
		for (uint32_t of = 0; of < pattern->ranks; of++)
			knows[pattern->flows[i].destination][of] |=
			    before[pattern->flows[i].source][of];
}

static uint32_t know_all(uint32_t ranks, bool knows[RANKS_MAX][RANKS_MAX])
{
	uint32_t count = 0;

	for (uint32_t rank = 0; rank < ranks; rank++) {
		uint32_t of = 0;

		while (of < ranks && knows[rank][of])
			of++;
		count += of == ranks;
	}
	return count;
}

/* Halving brings what all ranks have to each rank of the power of two, and doubling, which is
 * halving backwards, ends with all ranks. */
static void test_halving_doubling(void **state)
{
	(void)state;
	for (uint32_t ranks = 1; ranks < RANKS_MAX; ranks++) {
		static bool knows[RANKS_MAX][RANKS_MAX];
		struct hd_key_pattern *pattern = made("halving-doubling", ranks);
		uint32_t power = 1, rounds = 0, beyond, to[RANKS_MAX], back[RANKS_MAX];

		for (; power * 2 <= ranks; power *= 2)
			rounds++;
		beyond = power < ranks;
		assert_int_equal(pattern->phase_count, 2 * rounds + 2 * beyond);
		memset(knows, 0, sizeof(knows));
		for (uint32_t rank = 0; rank < ranks; rank++)
			knows[rank][rank] = true;
		for (uint32_t phase = 0; phase < rounds + beyond; phase++)
			exchange(pattern, phase, knows);
		assert_int_equal(know_all(ranks, knows), power);
		for (uint32_t phase = rounds + beyond; phase < pattern->phase_count; phase++)
			exchange(pattern, phase, knows);
		assert_int_equal(know_all(ranks, knows), ranks);
		for (uint32_t phase = 0; phase < pattern->phase_count / 2; phase++) {
			read_phase(pattern, phase, to);
			read_phase(pattern, pattern->phase_count - 1 - phase, back);
			for (uint32_t rank = 0; rank < ranks; rank++)
				if (to[rank] != HD_NONE)
					assert_int_equal(back[to[rank]], rank);
		}
		hd_key_pattern_free(pattern);
	}
}

/* The same seed gives the same permutation, another one does not; a rank is mapped to any other
 * rank about equally often. */
static void test_random(void **state)
{
	uint32_t to[RANKS_MAX], again[RANKS_MAX], times[8][8] = {{0}};

	(void)state;
	for (uint32_t seed = 0; seed < 8000; seed++) {
		char text[32];

		snprintf(text, sizeof(text), "random:%u", seed);
		struct hd_key_pattern *pattern = made(text, 8);

		read_phase(pattern, 0, to);
		for (uint32_t rank = 0; rank < 8; rank++)
			times[rank][to[rank] == HD_NONE ? rank : to[rank]]++;
		hd_key_pattern_free(pattern);
	}
	for (uint32_t rank = 0; rank < 8; rank++)
		for (uint32_t other = 0; other < 8; other++)
			assert_in_range(times[rank][other], 850, 1150);
	struct hd_key_pattern *one = made("random", 100), *two = made("random:0", 100);

	read_phase(one, 0, to);
	read_phase(two, 0, again);
	assert_memory_equal(to, again, 100 * sizeof(*to));
	hd_key_pattern_free(one);
	hd_key_pattern_free(two);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_phases_are_permutations),
	    cmocka_unit_test(test_stencils),
	    cmocka_unit_test(test_transpose),
	    cmocka_unit_test(test_ring_and_shift),
	    cmocka_unit_test(test_alltoall),
	    cmocka_unit_test(test_halving_doubling),
	    cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
