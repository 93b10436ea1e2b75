/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "emulator_session.h"
#include <errno.h>
#include <sys/epoll.h>
#include <unistd.h>

int session_poll(struct proxy *proxy, int socket, uint32_t kind, uint32_t index)
{
	struct epoll_event event = {.events = EPOLLIN, .data.u64 = (uint64_t)kind << 32 | index};

	return epoll_ctl(proxy->poll, EPOLL_CTL_ADD, socket, &event) ? -errno : 0;
}

/* Whether the client is still there: its socket's name vanishes with its process. */
static bool is_alive(const struct proxy *proxy, const struct session *session)
{
	int trial = socket_bound(NULL);
	int rc;

	if (trial < 0)
		return true;
	rc = socket_connect(trial, "%s:in%u", proxy->front, session->id);
	close(trial);
	return rc != -ECONNREFUSED;
}

static void end_dead_sessions(struct proxy *proxy)
{
	for (uint32_t i = 0; i < PROXY_SESSIONS; i++)
		if (proxy->sessions[i].used && !is_alive(proxy, &proxy->sessions[i]))
			session_end(&proxy->sessions[i]);
}

/* Opens a session's two sockets towards ibsim. */
static int open_sockets(struct proxy *proxy, struct session *session)
{
	uint32_t index = (uint32_t)(session - proxy->sessions);
	int control = socket_bound(NULL);
	int data = socket_bound("%s:in%u", proxy->back, session->number);
	int rc = control < 0 ? control : data < 0 ? data : 0;

	session->control = (struct outlet){.socket = control, .size = sizeof(struct wire_control)};
	session->data = (struct outlet){.socket = data, .size = sizeof(struct wire_datagram)};
	if (!rc)
		rc = socket_connect(control, "%s:ctl", proxy->back);
	if (!rc)
		rc = session_poll(proxy, control, PROXY_SESSION_CONTROL, index);
	if (!rc)
		rc = session_poll(proxy, data, PROXY_SESSION_DATA, index);
	return rc;
}

static struct session *begin(struct proxy *proxy, const struct wire_control *message,
			     const struct sockaddr_un *from, socklen_t size)
{
	struct session *session = NULL;
	struct wire_client asked;

	for (uint32_t i = 0; i < PROXY_SESSIONS && !session; i++)
		if (!proxy->sessions[i].used)
			session = &proxy->sessions[i];
	if (!session)
		return NULL;
	memcpy(&asked, message->data, sizeof(asked));
	*session = (struct session){.used = true,
				    .number = ++proxy->session_count,
				    .id = asked.id,
				    .address = *from,
				    .address_size = size};
	if (open_sockets(proxy, session)) {
		session_end(session);
		return NULL;
	}
	return session;
}

void session_control(struct proxy *proxy, const struct wire_control *message,
		     const struct sockaddr_un *from, socklen_t size)
{
	struct wire_control copy = *message;
	struct wire_client asked;
	struct session *session;

	if (message->type == WIRE_CONNECT) {
		end_dead_sessions(proxy);
		session = begin(proxy, message, from, size);
	} else {
		session = session_of_client(proxy, message->client);
	}
	if (!session) {
		copy.type = WIRE_CONTROL_ERROR;
		sendto(proxy->control, &copy, sizeof(copy), MSG_DONTWAIT,
		       (const struct sockaddr *)from, size);
		return;
	}
	if (message->type == WIRE_CONNECT) {
		memcpy(&asked, copy.data, sizeof(asked));
		asked.id = session->number;
		memcpy(copy.data, &asked, sizeof(asked));
	}
	if (outlet_send(&session->control, &copy))
		session_end(session);
}

/* Joins the client's end and ibsim's, both of which have a place now. */
static int join(struct proxy *proxy, struct session *session, const struct wire_control *message)
{
	struct wire_client place;
	struct session *former;
	int rc;

	memcpy(&place, message->data, sizeof(place));
	if (place.id >= WIRE_CLIENTS)
		return -EPROTO;
	former = session_of_client(proxy, place.id);
	if (former) { /* ibsim has given its place away */
		former->connected = false;
		session_end(former);
	}
	rc = socket_connect(session->data.socket, "%s:out%u", proxy->back, place.id);
	if (!rc)
		rc = socket_connect(proxy->out[place.id], "%s:in%u", proxy->front, session->id);
	session->client = place.id;
	session->connected = !rc;
	session->to_client =
	    (struct outlet){.socket = proxy->out[place.id], .size = sizeof(struct wire_datagram)};
	return rc;
}

void session_answer(struct proxy *proxy, struct session *session,
		    const struct wire_control *message)
{
	struct wire_control copy = *message;
	bool over = message->type == WIRE_DISCONNECT;

	if (message->type == WIRE_CONNECT && join(proxy, session, message))
		copy.type = WIRE_CONTROL_ERROR;
	sendto(proxy->control, &copy, sizeof(copy), MSG_DONTWAIT,
	       (const struct sockaddr *)&session->address, session->address_size);
	if (over)
		session->connected = false; /* ibsim knows */
	if (over || !session->connected)
		session_end(session);
}

struct session *session_of_client(struct proxy *proxy, uint32_t client)
{
	for (uint32_t i = 0; i < PROXY_SESSIONS; i++)
		if (proxy->sessions[i].connected && proxy->sessions[i].client == client)
			return &proxy->sessions[i];
	return NULL;
}

struct session *session_of_number(struct proxy *proxy, uint32_t number)
{
	for (uint32_t i = 0; i < PROXY_SESSIONS; i++)
		if (proxy->sessions[i].connected && proxy->sessions[i].number == number)
			return &proxy->sessions[i];
	return NULL;
}

void session_to_client(struct session *session, const struct wire_datagram *datagram)
{
	if (session->connected && outlet_send(&session->to_client, datagram))
		session_end(session);
}

void session_to_ibsim(struct session *session, const struct wire_datagram *datagram)
{
	if (session->connected && outlet_send(&session->data, datagram))
		session_end(session);
}

void session_end(struct session *session)
{
	struct wire_control message = {
	    .magic = WIRE_MAGIC, .client = session->client, .type = WIRE_DISCONNECT};

	if (session->connected)
		outlet_send(&session->control, &message);
	if (session->control.socket > 0)
		close(session->control.socket);
	if (session->data.socket > 0)
		close(session->data.socket);
	session->control.socket = session->data.socket = -1;
	outlet_clear(&session->control);
	outlet_clear(&session->data);
	outlet_clear(&session->to_client);
	session->used = session->connected = false;
}
