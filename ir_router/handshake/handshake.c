/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "handshake_state.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

int hd_handshake_new(uint64_t prefix, uint64_t first_epoch, const struct hd_handshake_hooks *hooks,
		     struct hd_handshake **out, struct hd_error *err)
{
	struct hd_handshake *handshake;

	if (!hd_router_prefix_is_global(prefix))
		return hd_error_set(err, -EINVAL,
				    "routers forward nothing to the subnet prefix 0x%016" PRIx64,
				    prefix);
	handshake = calloc(1, sizeof(*handshake));
	if (!handshake)
		return hd_error_no_memory(err);
	handshake->hooks = *hooks;
	handshake->prefix = prefix;
	handshake->epoch = first_epoch;
	*out = handshake;
	return 0;
}

static void free_lists(struct hd_handshake *handshake)
{
	free(handshake->ports);
	free(handshake->hosts);
	free(handshake->mapped);
}

void hd_handshake_free(struct hd_handshake *handshake)
{
	if (!handshake)
		return;
	while (handshake->sessions)
		hd_handshake_close(handshake->sessions);
	for (uint32_t i = 0; i < handshake->foreign_count; i++)
		free(handshake->foreign[i].hosts);
	free_lists(handshake);
	free(handshake);
}

static int check_ports(const struct hd_handshake_lists *lists, struct hd_error *err)
{
	for (uint32_t i = 0; i < lists->port_count; i++) {
		const struct hd_handshake_port *port = &lists->ports[i];

		if (!hd_router_lid_is_unicast(port->lid) ||
		    (port->switch_guid && !hd_router_lid_is_unicast(port->switch_lid)))
			return hd_error_set(err, -EINVAL,
					    "router port 0x%016" PRIx64
					    ": LID %u, and LID %u of its switch",
					    port->guid, port->lid, port->switch_lid);
		if (port->guid <= (i ? port[-1].guid : 0))
			return hd_error_set(err, -EINVAL,
					    "router port 0x%016" PRIx64 " is not in order",
					    port->guid);
	}
	return 0;
}

static int check_hosts(const struct hd_handshake_lists *lists, struct hd_error *err)
{
	for (uint32_t i = 0; i < lists->host_count; i++) {
		const struct hd_handshake_host *host = &lists->hosts[i];

		if (!hd_router_lid_is_unicast(host->lid))
			return hd_error_set(err, -EINVAL, "host 0x%016" PRIx64 ": LID %u",
					    host->guid, host->lid);
		if (host->guid <= (i ? host[-1].guid : 0))
			return hd_error_set(err, -EINVAL, "host 0x%016" PRIx64 " is not in order",
					    host->guid);
	}
	return 0;
}

static int check_map(const struct hd_handshake *handshake, const struct hd_handshake_lists *lists,
		     struct hd_error *err)
{
	for (uint32_t i = 0; i < lists->mapped_count; i++) {
		const struct hd_handshake_mapped *at = &lists->mapped[i], *before = at - 1;

		if (at->prefix == handshake->prefix || !hd_router_prefix_is_global(at->prefix) ||
		    !at->port_guid)
			return hd_error_set(err, -EINVAL,
					    "the map has the prefix 0x%016" PRIx64
					    " and the router port 0x%016" PRIx64,
					    at->prefix, at->port_guid);
		if (i && (at->prefix < before->prefix ||
			  (at->prefix == before->prefix && at->guid <= before->guid)))
			return hd_error_set(err, -EINVAL,
					    "GID 0x%016" PRIx64 ":0x%016" PRIx64
					    " of the map is not in order",
					    at->prefix, at->guid);
	}
	return 0;
}

static void *copy_of(const void *from, uint32_t count, size_t size)
{
	void *copy = malloc((size_t)count * size + 1);

	if (copy && count)
		memcpy(copy, from, (size_t)count * size);
	return copy;
}

static int copy_lists(struct hd_handshake *handshake, const struct hd_handshake_lists *lists)
{
	void *ports = copy_of(lists->ports, lists->port_count, sizeof(*lists->ports));
	void *hosts = copy_of(lists->hosts, lists->host_count, sizeof(*lists->hosts));
	void *mapped = copy_of(lists->mapped, lists->mapped_count, sizeof(*lists->mapped));

	if (!ports || !hosts || !mapped) {
		free(ports);
		free(hosts);
		free(mapped);
		return -ENOMEM;
	}
	free_lists(handshake);
	handshake->ports = ports;
	handshake->hosts = hosts;
	handshake->mapped = mapped;
	handshake->lists = *lists;
	handshake->lists.ports = ports;
	handshake->lists.hosts = hosts;
	handshake->lists.mapped = mapped;
	return 0;
}

static bool is_open(const struct hd_handshake_session *session)
{
	return session->session.greeted && !session->broken;
}

int hd_handshake_publish(struct hd_handshake *handshake, const struct hd_handshake_lists *lists,
			 struct hd_error *err)
{
	int rc = check_ports(lists, err);

	if (!rc)
		rc = check_hosts(lists, err);
	if (!rc)
		rc = check_map(handshake, lists, err);
	if (rc)
		return rc;
	if (copy_lists(handshake, lists))
		return hd_error_no_memory(err);
	handshake->epoch++;
	handshake->published = true;
	for (struct hd_handshake_session *to = handshake->sessions; to; to = to->next)
		if (is_open(to))
			handshake_send_epoch(to);
	return 0;
}

int hd_handshake_open(struct hd_handshake *handshake, void *connection, uint64_t nonce,
		      struct hd_handshake_session **session, struct hd_error *err)
{
	struct hd_handshake_session *made = calloc(1, sizeof(*made));

	if (!made)
		return hd_error_no_memory(err);
	hd_router_session_begin(&made->session, HD_ROUTER_ROLE_SM, nonce, handshake->prefix, 0);
	made->handshake = handshake;
	made->connection = connection;
	made->next = handshake->sessions;
	handshake->sessions = made;
	*session = made;
	return 0;
}

void hd_handshake_close(struct hd_handshake_session *session)
{
	struct hd_handshake_session **at = &session->handshake->sessions;

	while (*at != session)
		at = &(*at)->next;
	*at = session->next;
	handshake_foreign_abandon(session);
	free(session);
}

static void on_hello(struct hd_handshake_session *session)
{
	struct hd_handshake *handshake = session->handshake;

	handshake_send_plain(session, (struct hd_router_message){.type = HD_ROUTER_HELLO});
	if (handshake->published)
		handshake_send_epoch(session);
	for (uint32_t i = 0; i < handshake->foreign_count; i++)
		handshake_send_foreign(session, &handshake->foreign[i]);
}

/* A router speaks for its own ports only. Other routers get to know. */
static enum hd_router_reason on_prefixes(struct hd_handshake_session *session,
					 const struct hd_router_message *message)
{
	const struct hd_handshake_lists *lists = &session->handshake->lists;

	for (uint32_t i = 0; i < lists->port_count; i++) {
		const struct hd_handshake_port *port = &lists->ports[i];

		if (port->guid != message->port_guid || port->lid != message->lid ||
		    port->router_guid != session->session.node_guid)
			continue;
		for (struct hd_handshake_session *to = session->handshake->sessions; to;
		     to = to->next)
			if (to != session && is_open(to))
				handshake_send_prefixes(to, message);
		return HD_ROUTER_OK;
	}
	return HD_ROUTER_UNKNOWN_PORT;
}

static int on_foreign(struct hd_handshake_session *session, const struct hd_router_message *message,
		      enum hd_router_reason *reason)
{
	const struct hd_handshake_hooks *hooks = &session->handshake->hooks;
	const struct hd_handshake_foreign *list;
	bool changed;
	int rc = handshake_foreign_take(session, message, &list, &changed, reason);

	if (rc || !list)
		return rc;
	for (struct hd_handshake_session *to = session->handshake->sessions; to; to = to->next)
		if (to != session && is_open(to))
			handshake_send_foreign(to, list);
	if (changed && hooks->foreign)
		hooks->foreign(hooks->context, list);
	return 0;
}

static void on_refused(const struct hd_handshake_session *session,
		       const struct hd_router_message *message)
{
	hd_log(&session->handshake->hooks.log, HD_LOG_ERROR,
	       "router 0x%016" PRIx64 " refuses message %" PRIu64 " of type %u: %s",
	       session->session.node_guid, message->refused_sequence, message->refused_type,
	       hd_router_reason_text(message->reason));
}

static int act(struct hd_handshake_session *session, const struct hd_router_message *message,
	       enum hd_router_reason *reason)
{
	const struct hd_handshake_hooks *hooks = &session->handshake->hooks;

	switch (message->type) {
	case HD_ROUTER_HELLO:
		on_hello(session);
		break;
	case HD_ROUTER_ACCEPTED:
		if (hooks->accepted)
			hooks->accepted(hooks->context, session->session.node_guid, message->epoch);
		break;
	case HD_ROUTER_PREFIXES:
		*reason = on_prefixes(session, message);
		break;
	case HD_ROUTER_FOREIGN:
		return on_foreign(session, message, reason);
	case HD_ROUTER_REFUSED:
		on_refused(session, message);
		break;
	default:
		break;
	}
	return 0;
}

static int give_up(struct hd_handshake_session *session, int rc)
{
	const struct hd_handshake_hooks *hooks = &session->handshake->hooks;

	session->broken = true;
	hooks->give_up(hooks->context, session->connection);
	return rc;
}

static int refuse(struct hd_handshake_session *session, uint64_t sequence, uint16_t type,
		  enum hd_router_reason reason)
{
	hd_log(&session->handshake->hooks.log, HD_LOG_ERROR,
	       "message %" PRIu64 " of type %u from router 0x%016" PRIx64 " is refused: %s",
	       sequence, type, session->session.node_guid, hd_router_reason_text(reason));
	handshake_send_refusal(session, sequence, type, reason);
	if (hd_router_reason_is_fatal(reason) || !session->session.greeted)
		return give_up(session, -EPROTO);
	return 0;
}

static int take_message(struct hd_handshake_session *session, uint32_t length)
{
	uint16_t type = (uint16_t)(session->bytes[6] << 8 | session->bytes[7]);
	uint64_t sequence = session->session.received + 1;
	struct hd_router_message message;
	enum hd_router_reason reason =
	    hd_router_session_receive(&session->session, session->bytes, length, &message);
	int rc = 0;

	if (!reason)
		rc = act(session, &message, &reason);
	if (rc)
		return give_up(session, rc);
	return reason ? refuse(session, sequence, type, reason) : 0;
}

/* How many bytes are missing for the next step; 0: the message is complete. */
static uint32_t missing_bytes(const struct hd_handshake_session *session, uint32_t *length,
			      enum hd_router_reason *reason)
{
	*reason = HD_ROUTER_OK;
	if (session->used < HD_ROUTER_HEADER)
		return HD_ROUTER_HEADER - session->used;
	*reason = hd_router_frame(session->bytes, HD_ROUTER_MESSAGE_MAX, length);
	return *reason ? 0 : *length - session->used;
}

int hd_handshake_receive(struct hd_handshake_session *session, const uint8_t *bytes,
			 uint32_t length)
{
	int rc = 0;

	while (!rc && !session->broken) {
		enum hd_router_reason reason;
		uint32_t complete = 0, missing = missing_bytes(session, &complete, &reason);

		if (reason)
			return refuse(session, session->session.received + 1, 0, reason);
		if (missing == 0) {
			rc = take_message(session, complete);
			session->used = 0;
			continue;
		}
		if (!length)
			return 0;
		missing = missing < length ? missing : length;
		memcpy(session->bytes + session->used, bytes, missing);
		session->used += missing;
		bytes += missing;
		length -= missing;
	}
	return session->broken && !rc ? -EPROTO : rc;
}

void hd_handshake_tick(struct hd_handshake *handshake, uint64_t now_ms)
{
	if (now_ms < handshake->now_ms)
		return;
	handshake->now_ms = now_ms;
	handshake_foreign_expire(handshake);
}

void hd_handshake_keep_alive(struct hd_handshake *handshake)
{
	for (struct hd_handshake_session *to = handshake->sessions; to; to = to->next)
		if (is_open(to))
			handshake_send_plain(to,
					     (struct hd_router_message){.type = HD_ROUTER_ALIVE});
}

uint64_t hd_handshake_router(const struct hd_handshake_session *session)
{
	return session->session.node_guid;
}

const struct hd_handshake_foreign *hd_handshake_foreign_at(const struct hd_handshake *handshake,
							   uint32_t index)
{
	return index < handshake->foreign_count ? &handshake->foreign[index] : NULL;
}
