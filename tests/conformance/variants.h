/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The same fabric told otherwise, and with a cable less. */
#ifndef CONFORMANCE_VARIANTS_H
#define CONFORMANCE_VARIANTS_H

#include <heddle/fabric.h>

/* The same fabric told to a builder in random order; LIDs as they are. */
int variant_shuffled(const struct hd_fabric *fabric, uint64_t seed, struct hd_fabric **out,
		     struct hd_error *err);

/* The fabric without one inter-switch cable. */
int variant_without_link(const struct hd_fabric *fabric, uint32_t link, struct hd_fabric **out,
			 struct hd_error *err);

#endif
