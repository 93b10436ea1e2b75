/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A program of adaptive routing on the SMP queue of a port: what is common to all who talk to real
 * switches. Library: heddle_ar_manager_live.
 *
 * Not for several threads at a time. Only hd_ar_link_run() blocks.
 */
#ifndef HEDDLE_AR_MANAGER_LINK_H
#define HEDDLE_AR_MANAGER_LINK_H

#include <heddle/ar_manager/program.h>
#include <heddle/base/error.h>
#include <stdbool.h>
#include <stdint.h>

struct hd_ar_link;
struct hd_fabric;
struct hd_smp_address;
struct hd_smp_limits;
struct hd_smp_port;

/* A link without switches, to be freed with hd_ar_link_free(). The port must outlive it. NULL: no
 * memory. */
struct hd_ar_link *hd_ar_link_new(const struct hd_smp_port *port,
				  const struct hd_smp_limits *limits);

/* NULL is allowed. */
void hd_ar_link_free(struct hd_ar_link *link);

/* The program of the link. Its switches are set by hd_ar_link_aim(). */
struct hd_ar_program *hd_ar_link_program(struct hd_ar_link *link);

/* Sets the switches, by ascending GUID, and where they are. Only when the program is not busy.
 * Errors: -ENOMEM, nothing has changed. */
int hd_ar_link_aim(struct hd_ar_link *link, const uint64_t *guids,
		   const struct hd_smp_address *addresses, uint32_t count);

/* The same with the switches of a fabric, which begin in the order of hd_ar_program_order(). addresses[switch_count].
 * Errors: -ENOMEM. */
int hd_ar_link_aim_fabric(struct hd_ar_link *link, const struct hd_fabric *fabric,
			  const struct hd_smp_address *addresses);

/*
 * Works until the operation of the program is complete. `go_on` (NULL: always) is called several
 * times a second; when it returns false, the program is stopped. Returns 0, -ECANCELED if it was
 * stopped, or the error of a broken port.
 */
int hd_ar_link_run(struct hd_ar_link *link, bool (*go_on)(void *context), void *context);

/* SMPs sent since the link was made, repeated ones too. */
uint64_t hd_ar_link_sent(const struct hd_ar_link *link);

/* ---- host ports ---- */

/*
 * Tells host ports on which service levels packets may come out of order: ooo_sl_mask of
 * MlnxExtPortInfo, by which UCX chooses a service level with adaptive routing. Library:
 * heddle_ar_manager_live.
 */

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
