/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* How adaptive routing talks to the switches at the writer's port, and where these are. */
#ifndef OPENSM_AR_PORT_H
#define OPENSM_AR_PORT_H

#include <heddle/ar_manager/link.h>
#include <heddle/mad/queue.h>

struct ar_job;
struct routing;
struct writer;

/* Set `writer`, and zero-initialise the rest before use. */
struct ar_port {
	struct writer *writer;
	uint64_t number; /* of the writer's port, at which the link is */
	struct hd_ar_link *link; /* NULL: none */
	struct hd_smp_limits limits;
	struct routing *aimed; /* whose switches those of the program are; held; NULL: none yet */
	struct hd_smp_address *addresses; /* [switches of `aimed`] */
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

/* As hd_ar_link_run(). A port that breaks is opened again by the next ar_port_prepare(). */
int ar_port_run(struct ar_port *port, bool (*go_on)(void *context), void *context,
		struct hd_error *err);

void ar_port_release(struct ar_port *port);

#endif
