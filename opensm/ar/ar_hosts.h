/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tells hosts on which service levels packets may come out of order, each only if that is news. */
#ifndef OPENSM_AR_HOSTS_H
#define OPENSM_AR_HOSTS_H

#include "ar_jobs.h"

struct ar_host_known;
struct hd_smp_port;

/* What is known of hosts. Zero-initialise before use. */
struct ar_hosts {
	struct ar_host_known *known; /* [count] by GUID and port */
	uint32_t count;
};

/*
 * After AR was programmed for the job: asks the hosts that are new, all of them if the job says that
 * nothing is known or that the tables were read back. Writes to the log what has changed. Errors:
 * as hd_ar_host_masks_set(), with a reason. No other queue may use the port meanwhile.
 */
int ar_hosts_tell(struct ar_hosts *hosts, const struct hd_smp_port *port, const struct ar_job *job,
		  struct ar_caller *caller, struct hd_error *err);

void ar_hosts_release(struct ar_hosts *hosts);

#endif
