/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The connection to the plugin of one subnet: connects, greets, cuts the stream into messages, and
 * connects again after a failure, first after 1 s, at last every 60 s.
 */
#ifndef AGENT_LINK_H
#define AGENT_LINK_H

#include <event2/bufferevent.h>
#include <event2/event.h>
#include <heddle/base/error.h>
#include <router_session.h>

struct agent_link;

/* What the owner of a link does. */
struct agent_link_hooks {
	/* The other side has greeted. */
	void (*greeted)(struct agent_link *link);
	/* A message has come. Returns why it is refused, or HD_ROUTER_OK. */
	enum hd_router_reason (*message)(struct agent_link *link,
					 const struct hd_router_message *message);
};

struct agent_link {
	struct event_base *base;
	struct bufferevent *stream; /* NULL between connections */
	struct event *again; /* the timer until the next connection */
	struct hd_router_session session;
	uint64_t prefix, node_guid;
	const char *address; /* a path, or ADDRESS:PORT */
	const struct agent_link_hooks *hooks;
	const struct hd_log *log;
	void *owner;
	uint8_t subnet;
	uint32_t wait_ms; /* before the next connection */
	uint64_t heard; /* messages since the last agent_link_check() */
	uint64_t connections, refused,
	    refusals; /* counters: refused by us, and by the other side */
	uint8_t *bytes; /* [HD_ROUTER_MESSAGE_MAX] for writing */
};

/* Begins to connect. The fields base, prefix, node_guid, address, hooks, log, owner and subnet are
 * set. Errors: -ENOMEM. */
int agent_link_start(struct agent_link *link, struct hd_error *err);

void agent_link_stop(struct agent_link *link);

/* Whether messages can be sent. */
static inline bool agent_link_is_open(const struct agent_link *link)
{
	return link->stream && link->session.greeted;
}

/* Sends a message without entries. */
void agent_link_send(struct agent_link *link, struct hd_router_message message);

/* Sends bytes that hold a complete message with the session's stamp. Drops the connection if the
 * other side does not read what was sent before. */
void agent_link_send_bytes(struct agent_link *link, const uint8_t *bytes, uint32_t length);

/* Drops the connection if nothing has come since the last check. */
void agent_link_check(struct agent_link *link);

#endif
