/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tells host ports on which service levels packets may come out of order: ooo_sl_mask of
 * MlnxExtPortInfo, by which UCX chooses a service level with adaptive routing. Library:
 * heddle_ar_manager_live.
 */
#ifndef HEDDLE_AR_MANAGER_HOST_MASKS_H
#define HEDDLE_AR_MANAGER_HOST_MASKS_H

#include <heddle/base/error.h>
#include <stdbool.h>
#include <stdint.h>

struct hd_smp_address;
struct hd_smp_limits;
struct hd_smp_port;

/* Host ports: where they are, and their numbers on their adapters. */
struct hd_ar_hosts {
	const struct hd_smp_address *addresses; /* [count] */
	const uint8_t *ports; /* [count] */
	uint32_t count;
};

enum hd_ar_host_state {
	HD_AR_HOST_UNASKED, /* there was no time */
	HD_AR_HOST_HELD, /* it had this mask already */
	HD_AR_HOST_CHANGED, /* it has it now */
	HD_AR_HOST_WITHOUT, /* it does not say that it knows the attribute */
	HD_AR_HOST_SILENT,
	HD_AR_HOST_REFUSED /* it refuses the Set, or answers with another mask */
};

/*
 * Asks each host for its capabilities. Of those with ExtendedPortInfo it reads the record, and sets
 * it where ooo_sl_mask is not `sl_mask`; all other bits stay as they were read. Blocks, but asks
 * go_on (NULL: always) several times a second; false: no more is sent. Writes states[hosts->count], also
 * on an error. Errors: -ECANCELED, that of a broken port, -ENOMEM. Cost: three MADs a host.
 */
int hd_ar_host_masks_set(const struct hd_smp_port *port, const struct hd_smp_limits *limits,
			 const struct hd_ar_hosts *hosts, uint32_t sl_mask,
			 bool (*go_on)(void *context), void *context, enum hd_ar_host_state *states,
			 struct hd_error *err);

#endif
