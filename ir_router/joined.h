/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The joined fabric of an interconnect, and where the subnets' links are in it. */
#ifndef IR_ROUTER_JOINED_H
#define IR_ROUTER_JOINED_H

#include <heddle/ir_router/interconnect.h>

struct joined {
	struct hd_fabric *fabric;
	uint32_t **link; /* [subnet][isl of its fabric] */
	uint32_t **node; /* [subnet][node] */
	uint32_t *to_router, *from_router; /* [router port] */
	struct hd_arena arena;
};

/* Errors: -ENOMEM, and those of a build. Released in any case. */
int joined_make(const struct hd_interconnect *interconnect, struct joined *out,
		struct hd_error *err);
void joined_release(struct joined *joined);

#endif
