/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The agent: a router without a data path, between the plugins of its subnets and their switches. */
#ifndef AGENT_H
#define AGENT_H

#include "agent_config.h"
#include "agent_link.h"
#include "agent_smp.h"

#include <router.h>

struct agent {
	const struct agent_config *config;
	const struct hd_log *log;
	struct event_base *base;
	struct hd_router *router;
	void *memory; /* of the router */
	struct agent_smp smp;
	struct agent_link *links; /* [link_count], by the index of the subnet in the router */
	struct event **descriptors; /* [link_count] of umad ports; NULL: none */
	uint32_t link_count;
	struct event *work, *advertise, *check; /* timers */
	struct event *signals[2];
	struct agent_control *control;
	uint8_t *bytes; /* [HD_ROUTER_MESSAGE_MAX] */
};

/* Opens umad ports and sockets, and begins to connect. *out is freed with agent_free(). The
 * configuration and the log must outlive it. Errors: of the ports and of the control socket, and
 * -ENOMEM, with a reason. */
int agent_new(const struct agent_config *config, const struct hd_log *log, struct agent **out,
	      struct hd_error *err);

/* Works until SIGTERM or SIGINT. Returns 0, or -EIO if the event loop fails. */
int agent_run(struct agent *agent);

void agent_free(struct agent *agent);

#endif
