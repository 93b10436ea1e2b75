/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <heddle/ar_manager/fast_recovery.h>
#include <heddle/base/random.h>

/* Cables by their lower link. Returns how many they are. */
static uint32_t list_cables(const struct hd_fabric *fabric, uint32_t *cables)
{
	uint32_t count = 0;

	for (uint32_t link = 0; link < fabric->isl_count; link++)
		if (link < fabric->isl_reverse[link])
			cables[count++] = link;
	return count;
}

static int begin(struct hd_arena *arena, size_t count, size_t links, uint32_t **first,
		 uint32_t **list)
{
	*first = hd_arena_alloc(arena, count + 1, sizeof(**first));
	*list = hd_arena_alloc(arena, links, sizeof(**list));
	return hd_arena_check(arena);
}

int hd_ar_losses_single(const struct hd_fabric *fabric, struct hd_arena *arena,
			struct hd_ar_losses *out)
{
	uint32_t *first, *links;

	if (begin(arena, fabric->isl_count, fabric->isl_count, &first, &links))
		return -ENOMEM;
	const uint32_t count = list_cables(fabric, links);
	for (uint32_t i = 0; i <= count; i++)
		first[i] = i;
	*out = (struct hd_ar_losses){count, first, links};
	return 0;
}

int hd_ar_losses_sample(const struct hd_fabric *fabric, uint32_t count, uint32_t cables,
			uint64_t seed, struct hd_arena *arena, struct hd_ar_losses *out)
{
	uint32_t *first, *links, *all;
	uint64_t random = seed;

	all = hd_arena_alloc(arena, fabric->isl_count, sizeof(*all));
	if (!all)
		return -ENOMEM;
	const uint32_t there = list_cables(fabric, all), each = cables < there ? cables : there;
	if (begin(arena, count, (size_t)count * each, &first, &links))
		return -ENOMEM;
	for (uint32_t loss = 0; loss < count; loss++) {
		uint32_t *own = links + (size_t)loss * each;
		first[loss] = loss * each;
		for (uint32_t i = 0; i < each; i++) {
			const uint32_t at = i + (uint32_t)hd_random_below(&random, there - i);
			own[i] = all[at];
			all[at] = all[i];
			all[i] = own[i];
		}
	}
	first[count] = count * each;
	*out = (struct hd_ar_losses){count, first, links};
	return 0;
}
