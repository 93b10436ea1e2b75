/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Copies of a fabric: unchanged, described in another order, or damaged. */
#ifndef SUPPORT_VARIANTS_H
#define SUPPORT_VARIANTS_H

#include <heddle/fabric.h>

/* Another copy of the fabric. Errors: those of hd_builder_build(), -ENOMEM. */
int variants_copy(const struct hd_fabric *fabric, struct hd_fabric **out, struct hd_error *err);

/* The same fabric with the same LIDs, from nodes and cables in random order. */
int variants_shuffled(const struct hd_fabric *fabric, uint64_t seed, struct hd_fabric **out,
		      struct hd_error *err);

/* The fabric without one inter-switch cable. */
int variants_without_link(const struct hd_fabric *fabric, uint32_t link, struct hd_fabric **out,
			  struct hd_error *err);

/* The fabric without some nodes and cables of any kind: each is lost with a probability of
 * `percent`. */
int variants_damaged(const struct hd_fabric *fabric, unsigned percent, uint64_t seed,
		     struct hd_fabric **out, struct hd_error *err);

/* Puts items into random order. */
void variants_shuffle(uint32_t *items, uint32_t count, uint64_t *random);

#endif
