/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Hop counts that are brought up to date, against those that are counted afresh. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "ar_testing.h"

#include "hop_update.h"

#define TRIALS 300

/* Counts of two states of a fabric, in the order of the second. */
struct scene {
	struct hd_fabric *was, *is;
	uint8_t *before, *after; /* [switches of `is`, squared] */
	uint32_t *changed;
	uint32_t changed_count;
	bool *noted; /* [switches of `is`, squared] */
};

static uint8_t *count_hops(const struct hd_fabric *fabric)
{
	uint8_t *hops = malloc((size_t)fabric->switch_count * fabric->switch_count + 1);

	CHECK(hd_fabric_distances(fabric, 1, hops, &err));
	return hops;
}

static bool same_links(const struct hd_fabric *a, uint32_t one, const struct hd_fabric *b,
		       uint32_t two)
{
	const uint32_t first = a->isl_base[one], other = b->isl_base[two];
	const uint32_t count = a->isl_base[one + 1] - first;

	if (count != b->isl_base[two + 1] - other)
		return false;
	for (uint32_t i = 0; i < count; i++)
		if (a->node_guid[a->isl_to[first + i]] != b->node_guid[b->isl_to[other + i]] ||
		    a->isl_port[first + i] != b->isl_port[other + i])
			return false;
	return true;
}

static void carry(struct scene *scene)
{
	const uint32_t switches = scene->is->switch_count;
	uint8_t *hops = count_hops(scene->was);

	scene->before = malloc((size_t)switches * switches + 1);
	for (uint32_t a = 0; a < switches; a++) {
		const uint32_t old = hd_fabric_find_node(scene->was, scene->is->node_guid[a]);
		if (old == HD_NONE || !same_links(scene->was, old, scene->is, a))
			scene->changed[scene->changed_count++] = a;
		for (uint32_t b = 0; b < switches; b++) {
			const uint32_t far =
			    hd_fabric_find_node(scene->was, scene->is->node_guid[b]);
			scene->before[a * switches + b] =
			    old == HD_NONE || far == HD_NONE
				? (a == b ? 0 : HOP_UPDATE_NONE)
				: hops[(size_t)old * scene->was->switch_count + far];
		}
	}
	free(hops);
}

static struct scene scene_new(uint64_t number)
{
	uint64_t random = number;
	struct hd_fabric *base = random_kind(&random);
	struct scene scene = {0};

	CHECK(variants_damaged(base, below(&random, 3) * 6, random + 1, &scene.was, &err));
	CHECK(variants_damaged(base, below(&random, 3) * 6, random + 2, &scene.is, &err));
	hd_fabric_free(base);
	const size_t switches = scene.is->switch_count;
	scene.changed = calloc(switches + 1, sizeof(*scene.changed));
	scene.noted = calloc(switches * switches + 1, sizeof(*scene.noted));
	carry(&scene);
	scene.after = count_hops(scene.is);
	return scene;
}

static void scene_end(struct scene *scene)
{
	free(scene->noted);
	free(scene->changed);
	free(scene->after);
	free(scene->before);
	hd_fabric_free(scene->is);
	hd_fabric_free(scene->was);
}

static bool note(void *context, uint32_t sw, uint32_t destination)
{
	struct scene *scene = context;
	bool *noted = &scene->noted[(size_t)destination * scene->is->switch_count + sw];

	assert_false(*noted);
	*noted = true;
	return true;
}

/* Property: after losses and returns of any kind the counts are those of the fabric, and just those that differ are
 * reported. */
static void counts_are_those_of_the_fabric(void **state)
{
	unsigned differ = 0;

	(void)state;
	for (uint64_t number = 0; number < TRIALS; number++) {
		struct scene scene = scene_new(number);
		const size_t switches = scene.is->switch_count, cells = switches * switches;
		uint8_t *hops = malloc(cells + 1);
		memcpy(hops, scene.before, cells);
		const struct hop_update update = {.fabric = scene.is,
						  .changed = scene.changed,
						  .changed_count = scene.changed_count,
						  .hops = hops,
						  .stride = switches,
						  .note = note,
						  .context = &scene};
		assert_int_equal(hop_update_do(&update), 0);
		assert_memory_equal(hops, scene.after, cells);
		for (size_t cell = 0; cell < cells; cell++) {
			assert_int_equal(scene.noted[cell],
					 scene.before[cell] != scene.after[cell]);
			differ += scene.noted[cell];
		}
		free(hops);
		scene_end(&scene);
	}
	assert_true(differ > 1000);
}

static bool refuse(void *context, uint32_t sw, uint32_t destination)
{
	(void)context;
	(void)sw;
	(void)destination;
	return false;
}

/* Property: links that do not count are as if they were lost; and the caller can stop it. */
static void strays_and_stop(void **state)
{
	struct hd_fabric *fabric = generate("torus", "dims=5,5 hosts=1");
	struct hd_fabric *less = NULL;
	const size_t switches = fabric->switch_count;
	bool *stray = calloc(fabric->isl_count, sizeof(*stray));
	const uint32_t ends[2] = {hd_isl_from(fabric, 7), fabric->isl_to[7]};
	struct scene scene = {.is = fabric,
			      .noted = calloc(switches * switches, sizeof(*scene.noted))};
	uint8_t *hops = count_hops(fabric);
	struct hop_update update = {.fabric = fabric,
				    .stray = stray,
				    .changed = ends,
				    .changed_count = 2,
				    .hops = hops,
				    .stride = switches,
				    .note = note,
				    .context = &scene};

	(void)state;
	CHECK(variants_without_link(fabric, 7, &less, &err));
	uint8_t *expected = count_hops(less);
	stray[7] = stray[fabric->isl_reverse[7]] = true;
	assert_int_equal(hop_update_do(&update), 0);
	assert_memory_equal(hops, expected, switches * switches);
	stray[7] = stray[fabric->isl_reverse[7]] = false;
	update.note = refuse;
	assert_int_equal(hop_update_do(&update), -ECANCELED);
	free(scene.noted);
	free(expected);
	free(hops);
	free(stray);
	hd_fabric_free(less);
	hd_fabric_free(fabric);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(counts_are_those_of_the_fabric),
	    cmocka_unit_test(strays_and_stop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
