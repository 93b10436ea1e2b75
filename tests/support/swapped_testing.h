/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Generated trees in which two cables are swapped. Include after <cmocka.h>. */
#ifndef SWAPPED_TESTING_H
#define SWAPPED_TESTING_H

#include <heddle/base/random.h>
#include <heddle/fabric.h>
#include <stdlib.h>

struct swap {
	struct hd_fabric *without, *swapped; /* the tree without these two cables, and with them */
	uint32_t end[4]; /* switches: 0-1 and 2-3 were cabled, 0-3 and 2-1 are */
};

/* Level of a switch by its name. */
static inline int swapped_level(const struct hd_fabric *fabric, uint32_t sw)
{
	return (int)strtol(fabric->node_name[sw] + 1, NULL, 10);
}

static inline bool swapped_is_stray(const struct hd_fabric *fabric, uint32_t a, uint32_t b)
{
	return a != b && abs(swapped_level(fabric, a) - swapped_level(fabric, b)) != 1;
}

/* Two random cables whose swapped ends do not join neighbouring levels. */
static inline void swapped_draw(const struct hd_fabric *fabric, uint64_t *random, uint32_t links[2],
				uint32_t end[4])
{
	do {
		for (unsigned i = 0; i < 2; i++) {
			links[i] = (uint32_t)hd_random_below(random, fabric->isl_count);
			end[2 * i] = hd_isl_from(fabric, links[i]);
			end[2 * i + 1] = fabric->isl_to[links[i]];
		}
	} while (!swapped_is_stray(fabric, end[0], end[3]) ||
		 !swapped_is_stray(fabric, end[2], end[1]));
}

static inline struct hd_fabric *swapped_build(struct hd_builder *builder)
{
	struct hd_fabric *fabric = NULL;

	assert_int_equal(hd_builder_build(builder, &fabric, NULL), 0);
	hd_builder_free(builder);
	return fabric;
}

static inline struct swap swap_cables(const struct hd_fabric *plain, uint64_t seed)
{
	struct hd_builder *without = hd_builder_from(plain), *swapped = hd_builder_from(plain);
	struct swap swap;
	uint64_t random = seed;
	uint32_t links[2], port[4];

	swapped_draw(plain, &random, links, swap.end);
	for (unsigned i = 0; i < 4; i++)
		port[i] = plain->isl_port[i % 2 ? plain->isl_reverse[links[i / 2]] : links[i / 2]];
	for (unsigned i = 0; i < 4; i += 2) {
		hd_builder_unlink(without, swap.end[i], port[i]);
		hd_builder_unlink(swapped, swap.end[i], port[i]);
	}
	for (unsigned i = 0; i < 4; i += 2)
		assert_int_equal(hd_builder_link(swapped, swap.end[i], port[i], swap.end[3 - i],
						 port[3 - i], 4, HD_SPEED_EDR, NULL),
				 0);
	swap.without = swapped_build(without);
	swap.swapped = swapped_build(swapped);
	return swap;
}

static inline void release_swap(struct swap *swap)
{
	hd_fabric_free(swap->without);
	hd_fabric_free(swap->swapped);
}

#endif
