/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The port by which the thread of adaptive routing talks to the switches, and where these are. */
#ifndef OPENSM_AR_PORT_H
#define OPENSM_AR_PORT_H

#include <heddle/ar_manager/link.h>
#include <heddle/mad/queue.h>

struct ar_job;
struct routing;

/* Zero-initialise before use. */
struct ar_port {
	struct hd_umad_port *umad; /* NULL: not open */
	struct hd_ar_link *link; /* the same */
	uint64_t guid;
	struct hd_smp_limits limits;
	struct routing *aimed; /* whose switches those of the program are; held; NULL: none yet */
	struct hd_smp_address *addresses; /* [switches of `aimed`] */
	bool broken; /* it must be opened again */
};

/*
 * Makes the port ready for a job: open, with the job's limits and settings, and with the switches
 * of its routing; without a routing, with those of the last one. *fresh becomes true if the port
 * was opened for this job, so that nothing is known of the switches. Errors: of the port, with a reason;
 * -ENOMEM.
 */
int ar_port_prepare(struct ar_port *port, const struct ar_job *job, bool *fresh,
		    struct hd_error *err);

/* The program of a port that is open. */
struct hd_ar_program *ar_port_program(const struct ar_port *port);

/* As hd_ar_link_run(). A port that breaks is closed by the next ar_port_prepare(). */
int ar_port_run(struct ar_port *port, bool (*go_on)(void *context), void *context,
		struct hd_error *err);

void ar_port_release(struct ar_port *port);

#endif
