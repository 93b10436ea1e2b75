/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Copies of a fabric: as it is, described in another order, and with one cable less. */
#ifndef SUPPORT_VARIANTS_H
#define SUPPORT_VARIANTS_H

#include <heddle/fabric.h>

/* The same fabric once more. Errors: those of hd_builder_build(), -ENOMEM. */
int variants_copy(const struct hd_fabric *fabric, struct hd_fabric **out, struct hd_error *err);

/* The same fabric, its nodes and cables given to a builder in random order; LIDs stay. */
int variants_shuffled(const struct hd_fabric *fabric, uint64_t seed, struct hd_fabric **out,
		      struct hd_error *err);

/* The fabric without one inter-switch cable. */
int variants_without_link(const struct hd_fabric *fabric, uint32_t link, struct hd_fabric **out,
			  struct hd_error *err);

/* Puts items into random order. */
void variants_shuffle(uint32_t *items, uint32_t count, uint64_t *random);

#endif
