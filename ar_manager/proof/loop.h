/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A credit loop that was found. */
#ifndef AR_MANAGER_LOOP_H
#define AR_MANAGER_LOOP_H

#include <heddle/ar_manager/proof.h>

struct loop_found {
	unsigned vl;
	uint32_t length; /* 0: none */
	const uint32_t *links;
};

/* Sets the reason, and *out to the loop (out may be NULL). Returns -ELOOP, or -ENOMEM. */
int loop_refuse(const struct hd_fabric *fabric, const struct loop_found *found,
		struct hd_ar_loop **out, struct hd_error *err);

#endif
