/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The connections of the agent. */
#include "agent_parts.h"

#include <errno.h>
#include <event2/buffer.h>
#include <event2/util.h>
#include <heddle/base/clock.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

int agent_smp_open(struct agent_smp *smp, uint8_t subnet, const struct hd_umad_choice *choice,
		   struct hd_error *err)
{
	return hd_umad_port_open(choice, &smp->ports[subnet], err);
}

void agent_smp_close(struct agent_smp *smp)
{
	for (uint32_t s = 0; s < HD_ROUTER_SUBNETS_LIMIT; s++)
		hd_umad_port_close(smp->ports[s]);
	memset(smp->ports, 0, sizeof(smp->ports));
}

int agent_smp_descriptor(const struct agent_smp *smp, uint8_t subnet)
{
	const struct hd_smp_port *port;

	if (!smp->ports[subnet])
		return -1;
	port = hd_umad_port_smp(smp->ports[subnet]);
	return port->descriptor(port->context);
}

static bool send_smp(void *context, uint8_t subnet, const struct hd_router_port *port,
		     enum hd_router_attribute attribute, uint32_t modifier, uint32_t id)
{
	const struct agent_smp *smp = context;
	const struct hd_smp_address address = {.lid = port->switch_lid};
	const struct hd_smp get = {
	    .method = HD_SMP_GET, .attribute = (uint16_t)attribute, .modifier = modifier};
	const struct hd_smp_port *over;

	if (!smp->ports[subnet])
		return false;
	over = hd_umad_port_smp(smp->ports[subnet]);
	return over->send(over->context, &address, &get, id, smp->timeout_ms) == 0;
}

/* Takes the next event that is an answer; a time-out of the port's own is none. */
static bool receive_at(const struct hd_smp_port *port, struct hd_router_answer *answer)
{
	struct hd_smp_event event;

	while (port->receive(port->context, &event) > 0) {
		if (event.rc)
			continue;
		answer->id = event.id;
		answer->failed = event.status != 0;
		memcpy(answer->data, event.data, sizeof(answer->data));
		return true;
	}
	return false;
}

static bool receive_smp(void *context, struct hd_router_answer *answer)
{
	const struct agent_smp *smp = context;

	for (uint32_t s = 0; s < HD_ROUTER_SUBNETS_LIMIT; s++)
		if (smp->ports[s] && receive_at(hd_umad_port_smp(smp->ports[s]), answer))
			return true;
	return false;
}

static uint64_t now_ms(void *context)
{
	(void)context;
	return (uint64_t)hd_clock_ms();
}

struct hd_router_callbacks agent_smp_callbacks(struct agent_smp *smp)
{
	return (struct hd_router_callbacks){send_smp, receive_smp, now_ms, smp};
}

#define WAIT_FIRST_MS 1000u
#define WAIT_LAST_MS 60000u
#define UNREAD_MAX ((size_t)32 << 20) /* bytes */

/* Closes the connection and waits for the next one. */
static void link_drop(struct agent_link *link, enum hd_log_level level, const char *why)
{
	struct timeval wait = {.tv_sec = link->wait_ms / 1000,
			       .tv_usec = (suseconds_t)(link->wait_ms % 1000 * 1000)};

	hd_log(link->log, level, "subnet 0x%016" PRIx64 ": %s: %s; next try in %u s", link->prefix,
	       link->address, why, link->wait_ms / 1000);
	if (link->stream)
		bufferevent_free(link->stream);
	link->stream = NULL;
	link->session.greeted = false;
	event_add(link->again, &wait);
	link->wait_ms = link->wait_ms * 2 < WAIT_LAST_MS ? link->wait_ms * 2 : WAIT_LAST_MS;
}

void agent_link_send_bytes(struct agent_link *link, const uint8_t *bytes, uint32_t length)
{
	if (!link->stream)
		return;
	if (evbuffer_get_length(bufferevent_get_output(link->stream)) > UNREAD_MAX ||
	    bufferevent_write(link->stream, bytes, length))
		link_drop(link, HD_LOG_WARNING, "the plugin does not read its messages");
}

void agent_link_send(struct agent_link *link, struct hd_router_message message)
{
	struct hd_router_writer writer;

	hd_router_session_stamp(&link->session, &message);
	hd_router_write_begin(&writer, link->bytes, HD_ROUTER_MESSAGE_MAX, &message);
	agent_link_send_bytes(link, link->bytes, hd_router_write_end(&writer));
}

/* Tells the other side, the log, and, if that is the end, closes the connection. */
static void link_refuse(struct agent_link *link, uint64_t sequence, uint16_t type,
			enum hd_router_reason reason)
{
	const char *text = hd_router_reason_text(reason);

	link->refused++;
	agent_link_send_bytes(link, link->bytes,
			      hd_router_session_refuse(&link->session, sequence, type, reason,
						       link->bytes, HD_ROUTER_MESSAGE_MAX));
	if (!link->stream)
		return;
	if (hd_router_reason_is_fatal(reason) || !link->session.greeted) {
		/* the reason should still leave; closing would discard it */
		evbuffer_write(bufferevent_get_output(link->stream),
			       bufferevent_getfd(link->stream));
		link_drop(link, HD_LOG_ERROR, text);
	} else {
		hd_log(link->log, HD_LOG_ERROR,
		       "subnet 0x%016" PRIx64 ": message %" PRIu64 " of type %u is refused: %s",
		       link->prefix, sequence, type, text);
	}
}

static void link_take(struct agent_link *link, const uint8_t *bytes, uint32_t length)
{
	struct hd_router_message message;
	uint64_t expected = link->session.received + 1;
	uint16_t type = (uint16_t)(bytes[6] << 8 | bytes[7]);
	enum hd_router_reason reason =
	    hd_router_session_receive(&link->session, bytes, length, &message);

	link->heard++;
	if (!reason && message.type == HD_ROUTER_HELLO) {
		link->wait_ms = WAIT_FIRST_MS;
		hd_log(link->log, HD_LOG_INFO, "subnet 0x%016" PRIx64 ": connected to %s",
		       link->prefix, link->address);
		link->hooks->greeted(link);
		return;
	}
	if (!reason && message.type == HD_ROUTER_REFUSED) {
		link->refusals++;
		hd_log(link->log, HD_LOG_ERROR,
		       "subnet 0x%016" PRIx64 ": the plugin refuses message %" PRIu64
		       " of type %u: %s",
		       link->prefix, message.refused_sequence, message.refused_type,
		       hd_router_reason_text(message.reason));
	} else if (!reason)
		reason = link->hooks->message(link, &message);
	if (reason)
		link_refuse(link, expected, type, reason);
}

/* Takes all complete messages off the stream. */
static void on_bytes(struct bufferevent *stream, void *context)
{
	struct agent_link *link = context;
	struct evbuffer *input = bufferevent_get_input(stream);
	uint8_t header[HD_ROUTER_HEADER];

	while (link->stream == stream &&
	       evbuffer_copyout(input, header, sizeof(header)) == (ev_ssize_t)sizeof(header)) {
		enum hd_router_reason reason;
		uint32_t length;

		reason = hd_router_frame(header, HD_ROUTER_MESSAGE_MAX, &length);
		if (reason) {
			link_refuse(link, link->session.received + 1, 0, reason);
			return;
		}
		if (evbuffer_get_length(input) < length)
			return;
		link_take(link, evbuffer_pullup(input, (ev_ssize_t)length), length);
		if (link->stream == stream)
			evbuffer_drain(input, length);
	}
}

static void on_event(struct bufferevent *stream, short what, void *context)
{
	struct agent_link *link = context;
	int error = EVUTIL_SOCKET_ERROR();

	(void)stream;
	if (what & BEV_EVENT_CONNECTED) {
		link->connections++;
		agent_link_send(link, (struct hd_router_message){.type = HD_ROUTER_HELLO});
	} else if (what & BEV_EVENT_EOF) {
		link_drop(link, HD_LOG_WARNING, "the plugin has closed the connection");
	} else if (what & BEV_EVENT_ERROR) {
		link_drop(link, HD_LOG_WARNING, evutil_socket_error_to_string(error));
	}
}

/* Writes the address as the socket functions want it. Returns its length; 0: it is none. */
static int parse_address(const char *text, struct sockaddr_storage *address)
{
	struct sockaddr_un *path = (struct sockaddr_un *)address;
	int length = sizeof(*address);

	memset(address, 0, sizeof(*address));
	if (*text != '/')
		return evutil_parse_sockaddr_port(text, (struct sockaddr *)address, &length)
			   ? 0
			   : length;
	path->sun_family = AF_UNIX;
	strncpy(path->sun_path, text, sizeof(path->sun_path) - 1);
	return sizeof(*path);
}

static uint64_t draw_nonce(void)
{
	uint64_t nonce = 0;

	while (!nonce)
		evutil_secure_rng_get_bytes(&nonce, sizeof(nonce));
	return nonce;
}

static void connect_again(evutil_socket_t unused, short what, void *context)
{
	struct agent_link *link = context;
	struct sockaddr_storage address;
	int length = parse_address(link->address, &address);

	(void)unused;
	(void)what;
	hd_router_session_begin(&link->session, HD_ROUTER_ROLE_ROUTER, draw_nonce(), link->prefix,
				link->node_guid);
	link->heard = 1; /* the other side has a whole period from now on */
	link->stream = bufferevent_socket_new(link->base, -1, BEV_OPT_CLOSE_ON_FREE);
	if (!link->stream || !length) {
		link_drop(link, HD_LOG_ERROR, length ? "no memory" : "this is no address");
		return;
	}
	bufferevent_setcb(link->stream, on_bytes, NULL, on_event, link);
	bufferevent_enable(link->stream, EV_READ | EV_WRITE);
	/* a failure has been reported by on_event, or is reported here */
	if (bufferevent_socket_connect(link->stream, (struct sockaddr *)&address, length) &&
	    link->stream)
		link_drop(link, HD_LOG_WARNING, strerror(errno));
}

int agent_link_start(struct agent_link *link, struct hd_error *err)
{
	const struct timeval now = {0};

	link->wait_ms = WAIT_FIRST_MS;
	link->bytes = malloc(HD_ROUTER_MESSAGE_MAX);
	link->again = evtimer_new(link->base, connect_again, link);
	if (!link->bytes || !link->again || event_add(link->again, &now))
		return hd_error_no_memory(err);
	return 0;
}

void agent_link_stop(struct agent_link *link)
{
	if (link->stream)
		bufferevent_free(link->stream);
	if (link->again)
		event_free(link->again);
	free(link->bytes);
	link->stream = NULL;
	link->again = NULL;
	link->bytes = NULL;
}

void agent_link_check(struct agent_link *link)
{
	if (link->stream && !link->heard)
		link_drop(link, HD_LOG_WARNING, "the plugin has been silent for too long");
	link->heard = 0;
}
