/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "ar_port.h"
#include "ar_jobs.h"
#include "routing.h"
#include "writer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void close_link(struct ar_port *port)
{
	hd_ar_link_free(port->link);
	port->link = NULL;
}

void ar_port_release(struct ar_port *port)
{
	close_link(port);
	routing_release(port->aimed);
	free(port->addresses);
}

static bool same_limits(const struct hd_smp_limits *a, const struct hd_smp_limits *b)
{
	return a->window == b->window && a->each == b->each && a->timeout_ms == b->timeout_ms &&
	       a->retries == b->retries && a->errors == b->errors;
}

/* Opens the port by which OpenSM sends, and a link there, unless they are open. */
static int open_port(struct ar_port *port, const struct ar_job *job, bool *fresh,
		     struct hd_error *err)
{
	uint64_t number;
	int rc = writer_port_open(port->writer, job->port_guid, &number, err);

	if (!rc && port->link && port->number == number && same_limits(&port->limits, &job->limits))
		return 0;
	close_link(port);
	*fresh = true;
	if (rc)
		return rc;
	port->number = number;
	port->limits = job->limits;
	port->link = hd_ar_link_new(writer_port(port->writer), &job->limits);
	return port->link ? 0 : hd_error_no_memory(err);
}

/* Keeps where the switches are: a later job may have no routing. */
static int take_routing(struct ar_port *port, const struct ar_job *job)
{
	const size_t count = job->routing->fabric->switch_count;
	struct hd_smp_address *addresses = calloc(count + 1, sizeof(*addresses));

	if (!addresses)
		return -ENOMEM;
	if (count)
		memcpy(addresses, job->addresses, count * sizeof(*addresses));
	free(port->addresses);
	port->addresses = addresses;
	routing_release(port->aimed);
	port->aimed = routing_hold(job->routing);
	return 0;
}

static int aim(struct ar_port *port)
{
	return hd_ar_link_aim_fabric(port->link, port->aimed->fabric, port->addresses);
}

int ar_port_prepare(struct ar_port *port, const struct ar_job *job, bool *fresh,
		    struct hd_error *err)
{
	int rc = open_port(port, job, fresh, err);

	/* since its routing a repair may have found other paths */
	if (rc || job->task == AR_TELL)
		return rc;
	if (hd_ar_program_configure(ar_port_program(port), &job->settings.config,
				    &job->settings.quirks))
		return hd_error_no_memory(err);
	if (job->routing && take_routing(port, job))
		return hd_error_no_memory(err);
	return port->aimed && aim(port) ? hd_error_no_memory(err) : 0;
}

struct hd_ar_program *ar_port_program(const struct ar_port *port)
{
	return hd_ar_link_program(port->link);
}

int ar_port_run(struct ar_port *port, bool (*go_on)(void *context), void *context,
		struct hd_error *err)
{
	int rc = hd_ar_link_run(port->link, go_on, context);

	if (!rc || rc == -ECANCELED)
		return rc;
	writer_port_break(port->writer);
	return hd_error_set(err, rc, "the port is broken");
}
