/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "emulator_proxy.h"
#include "emulator_answer.h"
#include "emulator_session.h"
#include <errno.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define BATCH 64 /* datagrams of one socket before the others have their turn */

uint64_t proxy_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

int proxy_start(struct proxy *proxy, const char *front, const char *back, uint64_t seed)
{
	int rc;

	proxy->front = front;
	proxy->back = back;
	nodes_start(&proxy->nodes, seed);
	proxy->probes = calloc(PROXY_PROBES, sizeof(*proxy->probes));
	proxy->gatherings = calloc(PROXY_GATHERINGS, sizeof(*proxy->gatherings));
	if (!proxy->probes || !proxy->gatherings)
		return -ENOMEM;
	for (uint32_t i = 0; i < WIRE_CLIENTS; i++) {
		proxy->out[i] = socket_bound("%s:out%u", front, i);
		if (proxy->out[i] < 0)
			return proxy->out[i];
		rc = session_poll(proxy, proxy->out[i], PROXY_OUT, i);
		if (rc)
			return rc;
	}
	/* last: clients wait until this name exists */
	proxy->control = socket_bound("%s:ctl", front);
	if (proxy->control < 0)
		return proxy->control;
	return session_poll(proxy, proxy->control, PROXY_CONTROL, 0);
}

static void read_control(struct proxy *proxy)
{
	struct wire_control message;
	struct sockaddr_un from;
	socklen_t size = sizeof(from);

	while (recvfrom(proxy->control, &message, sizeof(message), 0, (struct sockaddr *)&from,
			&size) == sizeof(message)) {
		if (message.magic == WIRE_MAGIC)
			session_control(proxy, &message, &from, size);
		size = sizeof(from);
	}
}

static void read_session_control(struct proxy *proxy, struct session *session)
{
	struct wire_control message;

	while (session->used &&
	       recv(session->control.socket, &message, sizeof(message), 0) == sizeof(message))
		session_answer(proxy, session, &message);
}

static void read_client(struct proxy *proxy, uint32_t client)
{
	struct session *session = session_of_client(proxy, client);
	struct wire_datagram datagram;

	for (int i = 0; i < BATCH; i++) {
		if (recv(proxy->out[client], &datagram, sizeof(datagram), 0) != sizeof(datagram))
			return;
		if (session)
			answer_request(proxy, session, &datagram);
	}
}

static void read_ibsim(struct proxy *proxy, struct session *session)
{
	struct wire_datagram datagram;

	for (int i = 0; i < BATCH && session->used; i++) {
		if (recv(session->data.socket, &datagram, sizeof(datagram), 0) != sizeof(datagram))
			return;
		answer_response(proxy, session, &datagram);
	}
}

void proxy_event(struct proxy *proxy, uint32_t kind, uint32_t index)
{
	if (kind == PROXY_CONTROL)
		read_control(proxy);
	else if (kind == PROXY_OUT)
		read_client(proxy, index);
	else if (!proxy->sessions[index].used)
		return;
	else if (kind == PROXY_SESSION_CONTROL)
		read_session_control(proxy, &proxy->sessions[index]);
	else
		read_ibsim(proxy, &proxy->sessions[index]);
}

/* Sends what waited; whether some still waits. */
static bool flush(struct proxy *proxy)
{
	bool waits = false;

	for (uint32_t i = 0; i < PROXY_SESSIONS; i++) {
		struct session *session = &proxy->sessions[i];

		if (!session->used)
			continue;
		if (outlet_flush(&session->control) || outlet_flush(&session->data) ||
		    outlet_flush(&session->to_client))
			session_end(session);
		else
			waits |= session->control.count || session->data.count ||
				 session->to_client.count;
	}
	return waits;
}

int proxy_turn(struct proxy *proxy)
{
	uint64_t now = proxy_now();
	struct delayed *item;

	while ((item = delays_take(&proxy->delays, now))) {
		answer_delayed(proxy, item);
		free(item);
	}
	/* a socket that was full is tried again soon */
	return flush(proxy) ? 1 : delays_wait(&proxy->delays, now);
}

void proxy_stop(struct proxy *proxy)
{
	for (uint32_t i = 0; i < PROXY_SESSIONS; i++)
		if (proxy->sessions[i].used)
			session_end(&proxy->sessions[i]);
	for (uint32_t i = 0; i < WIRE_CLIENTS; i++)
		if (proxy->out[i] > 0)
			close(proxy->out[i]);
	if (proxy->control > 0)
		close(proxy->control);
	if (proxy->trace)
		fclose(proxy->trace);
	if (proxy->record)
		fclose(proxy->record);
	delays_free(&proxy->delays);
	nodes_free(&proxy->nodes);
	free(proxy->probes);
	free(proxy->gatherings);
}
