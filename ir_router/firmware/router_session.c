/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "router_session.h"

#include "router_check.h"

#include <string.h>

/* Who may send a type: bits by role. */
static const uint8_t senders[HD_ROUTER_TYPES] = {
    [HD_ROUTER_HELLO] = 3,   [HD_ROUTER_PORTS] = 1,    [HD_ROUTER_HOSTS] = 1,
    [HD_ROUTER_MAP] = 1,     [HD_ROUTER_READY] = 1,    [HD_ROUTER_ACCEPTED] = 2,
    [HD_ROUTER_FOREIGN] = 3, [HD_ROUTER_PREFIXES] = 3, [HD_ROUTER_REFUSED] = 3,
    [HD_ROUTER_ALIVE] = 3,
};

void hd_router_session_begin(struct hd_router_session *session, enum hd_router_role role,
			     uint64_t nonce, uint64_t prefix, uint64_t node_guid)
{
	memset(session, 0, sizeof(*session));
	session->role = role;
	session->nonce = nonce;
	session->prefix = prefix;
	session->node_guid = node_guid;
}

static enum hd_router_role peer_role(const struct hd_router_session *session)
{
	return session->role == HD_ROUTER_ROLE_SM ? HD_ROUTER_ROLE_ROUTER : HD_ROUTER_ROLE_SM;
}

/* Whether the message is the next one of this session. */
static enum hd_router_reason check_place(const struct hd_router_session *session,
					 const struct hd_router_message *message)
{
	/* only the SM gets a HELLO without a nonce: it has not greeted yet */
	bool first = message->type == HD_ROUTER_HELLO && session->role == HD_ROUTER_ROLE_SM;

	if (!session->greeted && message->type != HD_ROUTER_HELLO)
		return HD_ROUTER_NOT_GREETED;
	if (message->session != (first ? 0 : session->nonce))
		return HD_ROUTER_OTHER_SESSION;
	if (message->sequence <= session->received)
		return HD_ROUTER_REPLAYED;
	if (message->sequence != session->received + 1)
		return HD_ROUTER_GAP;
	return HD_ROUTER_OK;
}

/* Whether the other side may say this now. */
static enum hd_router_reason check_role(const struct hd_router_session *session,
					const struct hd_router_message *message)
{
	if (!(senders[message->type] & peer_role(session)) ||
	    (message->type == HD_ROUTER_HELLO && session->greeted))
		return HD_ROUTER_WRONG_ROLE;
	return HD_ROUTER_OK;
}

static enum hd_router_reason check_hello(const struct hd_router_session *session,
					 const struct hd_router_message *message)
{
	if (message->role != peer_role(session))
		return HD_ROUTER_WRONG_ROLE;
	if (!message->nonce)
		return HD_ROUTER_BAD_VALUE;
	if (session->role == HD_ROUTER_ROLE_SM) {
		/* a router may expect a certain subnet */
		if (message->prefix && message->prefix != session->prefix)
			return HD_ROUTER_WRONG_PREFIX;
		return message->node_guid ? HD_ROUTER_OK : HD_ROUTER_BAD_VALUE;
	}
	if (!hd_router_prefix_is_global(message->prefix))
		return HD_ROUTER_BAD_VALUE;
	if (session->prefix && message->prefix != session->prefix)
		return HD_ROUTER_WRONG_PREFIX;
	return HD_ROUTER_OK;
}

/* Epochs of one subnet manager ascend; PORTS begins each. */
static enum hd_router_reason check_epoch(const struct hd_router_session *session,
					 const struct hd_router_message *message)
{
	switch (message->type) {
	case HD_ROUTER_PORTS:
		if (session->has_epoch && message->epoch <= session->epoch)
			return HD_ROUTER_OLD_EPOCH;
		return HD_ROUTER_OK;
	case HD_ROUTER_HOSTS:
	case HD_ROUTER_MAP:
	case HD_ROUTER_READY:
	case HD_ROUTER_ACCEPTED:
		if (!session->has_epoch || message->epoch > session->epoch)
			return HD_ROUTER_WRONG_EPOCH;
		return message->epoch < session->epoch ? HD_ROUTER_OLD_EPOCH : HD_ROUTER_OK;
	default:
		return HD_ROUTER_OK;
	}
}

static void greet(struct hd_router_session *session, const struct hd_router_message *message)
{
	session->greeted = true;
	session->peer_nonce = message->nonce;
	if (session->role == HD_ROUTER_ROLE_SM)
		session->node_guid = message->node_guid;
	else
		session->prefix = message->prefix;
}

enum hd_router_reason hd_router_session_receive(struct hd_router_session *session,
						const uint8_t *bytes, uint32_t length,
						struct hd_router_message *message)
{
	struct hd_router_message read;
	enum hd_router_reason reason = hd_router_decode(bytes, length, &read);

	if (!reason)
		reason = check_place(session, &read);
	if (reason)
		return reason;
	session->received = read.sequence;
	reason = check_role(session, &read);
	if (!reason && read.type == HD_ROUTER_HELLO)
		reason = check_hello(session, &read);
	if (!reason)
		reason = check_epoch(session, &read);
	if (!reason)
		reason = router_check_content(session->prefix, &read);
	if (reason)
		return reason;
	if (read.type == HD_ROUTER_HELLO)
		greet(session, &read);
	if (read.type == HD_ROUTER_PORTS) {
		session->epoch = read.epoch;
		session->has_epoch = true;
	}
	*message = read;
	return HD_ROUTER_OK;
}

void hd_router_session_stamp(struct hd_router_session *session, struct hd_router_message *message)
{
	message->session = session->peer_nonce;
	message->sequence = ++session->sent;
	if (message->type == HD_ROUTER_HELLO) {
		message->role = session->role;
		message->nonce = session->nonce;
		message->prefix = session->prefix;
		message->node_guid = session->node_guid;
		if (session->role == HD_ROUTER_ROLE_SM)
			message->node_guid = 0;
	}
	if (message->type == HD_ROUTER_PORTS) {
		session->epoch = message->epoch;
		session->has_epoch = true;
	}
}

uint32_t hd_router_session_refuse(struct hd_router_session *session, uint64_t sequence,
				  uint16_t type, enum hd_router_reason reason, uint8_t *bytes,
				  uint32_t size)
{
	struct hd_router_message message = {.type = HD_ROUTER_REFUSED,
					    .refused_sequence = sequence,
					    .refused_type = type,
					    .reason = reason};
	struct hd_router_writer writer;

	hd_router_session_stamp(session, &message);
	hd_router_write_begin(&writer, bytes, size, &message);
	return hd_router_write_end(&writer);
}

bool hd_router_reason_is_fatal(enum hd_router_reason reason)
{
	if (reason == HD_ROUTER_OTHER_SESSION || reason == HD_ROUTER_REPLAYED)
		return false;
	return reason != HD_ROUTER_OK && reason < HD_ROUTER_WRONG_ROLE;
}
