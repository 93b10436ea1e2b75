/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * libevent's evhttp reads the requests. What is here besides are the things that it cannot do, as of
 * libevent 2.1.12 (doc/decisions/024-http-server.md):
 *
 * - Its time-outs begin again with each byte. So this file keeps the time since a request or an
 *   answer began.
 * - It knows no largest number of connections, of all or of one user or address. One too many is
 *   kept for a short time, so that its client hears why, and only a few of these at a time.
 * - It says nothing about requests that can be read in two ways, and takes what it finds first. They
 *   are refused, and their connection ends, so no second reading of what follows matters.
 */
#include "keyd_http.h"

#include "keyd_request.h"

#include <ctype.h>
#include <errno.h>
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/http.h>
#include <event2/keyvalq_struct.h>
#include <event2/listener.h>
#include <netinet/in.h>
#include <poll.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <sys/socket.h>
#include <time.h>

/* ---- party ---- */

#define NETWORK_BYTES 8u /* of an IPv6 address: who has one has all of its network */

static void take_address(struct keyd_peer *peer, const struct sockaddr_storage *address)
{
	const struct sockaddr_in *four = (const struct sockaddr_in *)address;
	const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)address;

	if (address->ss_family == AF_INET) {
		memset(peer->address + 10, 0xFF, 2);
		memcpy(peer->address + 12, &four->sin_addr, 4);
	} else if (address->ss_family == AF_INET6) {
		bool mapped = IN6_IS_ADDR_V4MAPPED(&six->sin6_addr);

		memcpy(peer->address, &six->sin6_addr,
		       mapped ? sizeof(peer->address) : NETWORK_BYTES);
	}
}

struct keyd_peer keyd_peer_of(int descriptor)
{
	struct keyd_peer peer = {.unix_socket = false};
	struct sockaddr_storage address;
	struct ucred credentials;
	socklen_t length = sizeof(credentials), size = sizeof(address);

	memset(&address, 0, sizeof(address));
	if (getpeername(descriptor, (struct sockaddr *)&address, &size))
		return peer;
	if (address.ss_family != AF_UNIX) {
		take_address(&peer, &address);
	} else if (!getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &credentials, &length)) {
		peer.unix_socket = true;
		peer.uid = credentials.uid;
	}
	return peer;
}

static int keyd_party_compare(const void *one, const void *other)
{
	const struct keyd_peer *a = &((const struct keyd_party *)one)->peer;
	const struct keyd_peer *b = &((const struct keyd_party *)other)->peer;

	if (a->unix_socket != b->unix_socket)
		return a->unix_socket - b->unix_socket;
	if (a->unix_socket)
		return (a->uid > b->uid) - (a->uid < b->uid);
	return memcmp(a->address, b->address, sizeof(a->address));
}

struct keyd_party *keyd_party_join(void **tree, const struct keyd_peer *peer)
{
	struct keyd_party *party = calloc(1, sizeof(*party)), **found;

	if (!party)
		return NULL;
	party->peer = *peer;
	found = (struct keyd_party **)tsearch(party, tree, keyd_party_compare);
	if (!found || *found != party)
		free(party);
	if (!found)
		return NULL;
	(*found)->members++;
	return *found;
}

void keyd_party_leave(void **tree, struct keyd_party *party)
{
	if (!party || --party->members)
		return;
	tdelete(party, tree, keyd_party_compare);
	free(party);
}

/* ---- http ---- */

#define LISTEN_MAX 8
#define INPUT_MOST (2 * KEYD_BODY_LARGEST) /* bytes that a connection keeps; a request fits */
#define HEAD_LARGEST 16384 /* bytes of request line and headers */
#define HEADERS_MAX 100u
#define TARGET_LONGEST 1024u /* bytes of path and query */
#define SURPLUS_MOST 64u /* connections beyond a limit that are answered */
#define SURPLUS_S 2 /* how long these may take */
#define ACCEPTED_MOST 64u /* connections in one round of the event loop */
#define METHODS 0x1FFu /* all that libevent knows */

struct connection {
	LIST_ENTRY(connection) link;
	struct keyd_http *http;
	struct bufferevent *stream; /* held */
	struct evhttp_connection *server_side;
	struct keyd_party *party; /* NULL: not known yet, or no memory */
	bool admitted; /* within the limits, and it counts for them */
	bool surplus; /* beyond them */
	bool large, trusted_large; /* it has a place among the large answers */
	time_t since; /* of the request that has begun or the answer that is sent; 0: neither */
};

struct keyd_http {
	struct event_base *base;
	struct evhttp *server;
	struct evconnlistener *listeners[LISTEN_MAX];
	unsigned listener_count;
	struct event *tick;
	struct keyd_http_hooks hooks;
	LIST_HEAD(, connection) connections;
	void *by_stream; /* search tree of them */
	void *parties; /* search tree */
	unsigned connection_count, admitted, surplus;
	unsigned large[2]; /* answers under way; [1]: of trusted peers */
	unsigned accepted; /* since the event loop has come round */
	struct event *accept_again;
	struct keyd_http_limits limits;
	bool draining;
};

static time_t now_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
	return now.tv_sec + 1;
}

static int http_compare(const void *one, const void *other)
{
	uintptr_t first = (uintptr_t)((const struct connection *)one)->stream;
	uintptr_t second = (uintptr_t)((const struct connection *)other)->stream;

	return (first > second) - (first < second);
}

/* The connection of a request, or NULL: the client has gone. */
static struct connection *connection_of(const struct keyd_http *http,
					struct evhttp_request *request)
{
	struct evhttp_connection *server_side = evhttp_request_get_connection(request);
	struct connection wanted = {.http = NULL};
	struct connection *const *found;

	if (!server_side)
		return NULL;
	wanted.stream = evhttp_connection_get_bufferevent(server_side);
	found = tfind(&wanted, &http->by_stream, http_compare);
	return found ? *found : NULL;
}

static bool is_trusted(const struct connection *connection)
{
	const struct keyd_http_hooks *hooks = &connection->http->hooks;

	return connection->party && hooks->is_trusted(hooks->context, &connection->party->peer);
}

static uint32_t party_limit(const struct connection *connection)
{
	const struct keyd_http_limits *limits = &connection->http->limits;

	return connection->party->peer.unix_socket ? limits->user_connections
						   : limits->address_connections;
}

static void http_leave(struct connection *connection)
{
	struct keyd_http *http = connection->http;

	http->surplus -= connection->surplus;
	http->admitted -= connection->admitted;
	if (connection->admitted)
		connection->party->admitted--;
	connection->surplus = connection->admitted = false;
}

/* Counts a connection as one within the limits, or as one too many. Trusted ones count as neither. */
static void admit(struct connection *connection)
{
	struct keyd_http *http = connection->http;
	struct keyd_party *party = connection->party;

	http_leave(connection);
	if (!party || is_trusted(connection))
		return;
	connection->admitted =
	    http->admitted < http->limits.connections && party->admitted < party_limit(connection);
	connection->surplus = !connection->admitted;
	http->surplus += connection->surplus;
	http->admitted += connection->admitted;
	party->admitted += connection->admitted;
}

static void give_large_back(struct connection *connection)
{
	if (!connection->large)
		return;
	connection->http->large[connection->trusted_large]--;
	connection->party->large--;
	connection->large = false;
}

bool keyd_http_takes_large(struct keyd_http *http, struct evhttp_request *request)
{
	struct connection *connection = connection_of(http, request);
	bool trusted = connection && is_trusted(connection);

	if (!connection)
		return true; /* nothing will be sent */
	if (!connection->party || http->large[trusted] >= http->limits.large_answers)
		return false;
	if (!trusted && connection->party->large >= (http->limits.large_answers + 1) / 2)
		return false;
	connection->large = true;
	connection->trusted_large = trusted;
	connection->party->large++;
	http->large[trusted]++;
	return true;
}

static void http_forget(struct connection *connection)
{
	struct keyd_http *http = connection->http;

	LIST_REMOVE(connection, link);
	tdelete(connection, &http->by_stream, http_compare);
	http->connection_count--;
	http_leave(connection);
	give_large_back(connection);
	keyd_party_leave(&http->parties, connection->party);
	bufferevent_decref(connection->stream);
	free(connection);
}

static void on_closed(struct evhttp_connection *server_side, void *context)
{
	(void)server_side;
	http_forget(context);
}

/* Notes when a request begins. One that will be refused shall not fill the memory before. */
static void on_input(struct evbuffer *buffer, const struct evbuffer_cb_info *info, void *context)
{
	struct connection *connection = context;

	(void)buffer;
	if (!info->n_added || (connection->since && !connection->surplus))
		return;
	if (!connection->since)
		connection->since = now_s();
	if (connection->surplus)
		admit(connection); /* others may have gone */
	evhttp_connection_set_max_body_size(connection->server_side,
					    connection->surplus ? HEAD_LARGEST
								: (ev_ssize_t)KEYD_BODY_LARGEST);
}

/* Half-open connections beyond the limits must not keep descriptors, either. */
static bool stays(struct connection *connection)
{
	struct keyd_http *http = connection->http;
	struct keyd_peer peer = keyd_peer_of(bufferevent_getfd(connection->stream));

	connection->party = keyd_party_join(&http->parties, &peer);
	admit(connection);
	bufferevent_priority_set(connection->stream,
				 is_trusted(connection) ? KEYD_NORMAL : KEYD_OTHERS);
	if (connection->surplus)
		connection->since = now_s();
	if (connection->party && http->surplus <= SURPLUS_MOST)
		return true;
	http->hooks.dropped(http->hooks.context, 503);
	return false;
}

/* Runs before any byte of the connection is read: libevent has set it up by then. */
static void on_attach(evutil_socket_t unused, short what, void *context)
{
	struct connection *connection = context;
	void *server_side = NULL;

	(void)unused;
	(void)what;
	bufferevent_getcb(connection->stream, NULL, NULL, NULL, &server_side);
	if (!server_side) {
		http_forget(connection); /* libevent could not set it up */
		return;
	}
	connection->server_side = server_side;
	evhttp_connection_set_closecb(server_side, on_closed, connection);
	if (!stays(connection)) {
		evhttp_connection_free(server_side);
		return;
	}
	evbuffer_add_cb(bufferevent_get_input(connection->stream), on_input, connection);
	/* of a client that sends on without reading its answers */
	bufferevent_setwatermark(connection->stream, EV_READ, 0, INPUT_MOST);
}

static void on_accept_again(evutil_socket_t unused, short what, void *context)
{
	struct keyd_http *http = context;

	(void)unused;
	(void)what;
	for (unsigned i = 0;
	     !http->draining && http->accepted >= ACCEPTED_MOST && i < http->listener_count; i++)
		evconnlistener_enable(http->listeners[i]);
	http->accepted = 0;
}

static struct bufferevent *on_connection(struct event_base *base, void *context)
{
	struct keyd_http *http = context;
	struct connection *connection = calloc(1, sizeof(*connection));
	struct bufferevent *stream = bufferevent_socket_new(base, -1, 0);

	/* libevent accepts all that wait in one go. Others are served meanwhile. */
	if (!http->accepted++)
		event_active(http->accept_again, EV_TIMEOUT, 0);
	for (unsigned i = 0; http->accepted >= ACCEPTED_MOST && i < http->listener_count; i++)
		evconnlistener_disable(http->listeners[i]);
	if (!connection || !stream) {
		free(connection);
		return stream;
	}
	connection->http = http;
	connection->stream = stream;
	if (!tsearch(connection, &http->by_stream, http_compare)) {
		free(connection);
		return stream;
	}
	bufferevent_incref(stream);
	LIST_INSERT_HEAD(&http->connections, connection, link);
	http->connection_count++;
	if (event_base_once(base, -1, EV_TIMEOUT, on_attach, connection, NULL))
		http_forget(connection);
	return stream;
}

/* No descriptor is left, so the next one that waits would fail at once, too, and libevent would log
 * each. The tick accepts again. */
static void on_accept_failure(struct evconnlistener *listener, void *context)
{
	(void)context;
	evconnlistener_disable(listener);
}

static void on_tick(evutil_socket_t unused, short what, void *context)
{
	struct keyd_http *http = context;
	const struct connection *connection;
	time_t now = now_s();

	(void)unused;
	(void)what;
	for (unsigned i = 0; !http->draining && i < http->listener_count; i++)
		evconnlistener_enable(http->listeners[i]);
	LIST_FOREACH(connection, &http->connections, link)
	{
		time_t patience = connection->surplus ? SURPLUS_S : (time_t)http->limits.patience_s;

		if (!connection->since || now - connection->since <= patience)
			continue;
		http->hooks.dropped(http->hooks.context, 408);
		/* libevent sees the end of the stream and frees everything */
		shutdown(bufferevent_getfd(connection->stream), SHUT_RDWR);
	}
}

/* libevent does not read a connection while a request of it waits for its answer, so only the kernel
 * knows. */
bool keyd_http_is_gone(struct evhttp_request *request)
{
	struct evhttp_connection *server_side = evhttp_request_get_connection(request);
	struct pollfd end = {.events = POLLRDHUP};

	if (!server_side)
		return true;
	end.fd = bufferevent_getfd(evhttp_connection_get_bufferevent(server_side));
	return poll(&end, 1, 0) > 0;
}

static bool is_plain(const char *text)
{
	while (*text && (!iscntrl((unsigned char)*text) || *text == '\t'))
		text++;
	return !*text;
}

static int check_header(const struct evkeyval *header, const char **length,
			struct keyd_problem *problem)
{
	if (!*header->key || strpbrk(header->key, " \t") || !is_plain(header->key) ||
	    !is_plain(header->value))
		return keyd_problem_set(problem, 400,
					"the request has a header with a blank in its name, "
					"without a name, or with a control character");
	if (!strcasecmp(header->key, "Transfer-Encoding"))
		return keyd_problem_set(problem, 411,
					"heddle-keyd takes bodies only with Content-Length");
	if (strcasecmp(header->key, "Content-Length"))
		return 0;
	if (*length)
		return keyd_problem_set(problem, 400, "the request has two Content-Lengths");
	if (header->value[strspn(header->value, "0123456789")])
		return keyd_problem_set(problem, 400, "Content-Length is no number");
	*length = header->value;
	return 0;
}

static int refuse_surplus(const struct connection *connection, struct keyd_problem *problem)
{
	const struct keyd_party *party = connection->party;
	const struct keyd_http_limits *limits = &connection->http->limits;

	if (party->admitted < party_limit(connection))
		return keyd_problem_set(problem, 503,
					"more than %u connections: see max_connections in [keyd]",
					limits->connections);
	if (party->peer.unix_socket)
		return keyd_problem_set(problem, 503,
					"user %u has more than %u connections: see "
					"max_user_connections in [keyd]",
					party->peer.uid, limits->user_connections);
	return keyd_problem_set(problem, 503,
				"this address has more than %u connections: see "
				"max_address_connections in [keyd]",
				limits->address_connections);
}

static int http_check(const struct connection *connection, struct evhttp_request *request,
		      struct keyd_problem *problem)
{
	if (!connection || !connection->party)
		return keyd_problem_set(problem, 503, "heddle-keyd has no memory for this call");
	if (connection->surplus)
		return refuse_surplus(connection, problem);
	/* Refuses what libevent lets pass. */
	unsigned method = (unsigned)evhttp_request_get_command(request), count = 0;
	bool takes_body = method & (EVHTTP_REQ_PUT | EVHTTP_REQ_POST | EVHTTP_REQ_PATCH);
	const struct evkeyval *header;
	const char *length = NULL;
	if (method & ~METHODS || method == EVHTTP_REQ_CONNECT)
		return keyd_problem_set(problem, 501, "this is no method that heddle-keyd knows");
	if (strlen(evhttp_request_get_uri(request)) > TARGET_LONGEST)
		return keyd_problem_set(problem, 414, "path and query have more than %u bytes",
					TARGET_LONGEST);
	TAILQ_FOREACH(header, evhttp_request_get_input_headers(request), next)
	{
		if (++count > HEADERS_MAX)
			return keyd_problem_set(
			    problem, 431, "the request has more than %u headers", HEADERS_MAX);
		if (check_header(header, &length, problem))
			return -EINVAL;
	}
	if (takes_body && !length)
		return keyd_problem_set(problem, 411, "the request has no Content-Length");
	if (!takes_body && length && strtoull(length, NULL, 10))
		return keyd_problem_set(problem, 400, "this method takes no body");
	return 0;
}

static void on_request(struct evhttp_request *request, void *context)
{
	struct keyd_http *http = context;
	struct connection *connection = connection_of(http, request);
	struct keyd_problem problem;

	if (connection)
		connection->since = 0;
	if (!http_check(connection, request, &problem)) {
		http->hooks.take(http->hooks.context, request, &connection->party->peer);
		return;
	}
	http->hooks.dropped(http->hooks.context, problem.status);
	if (evhttp_request_get_command(request) == EVHTTP_REQ_CONNECT) {
		/* libevent would read on after the answer, whatever the answer says */
		evhttp_connection_free(evhttp_request_get_connection(request));
		return;
	}
	evhttp_add_header(evhttp_request_get_output_headers(request), "Connection", "close");
	keyd_http_answer_problem(http, request, &problem);
}

/* The next request may have begun already. */
static void on_sent(struct evhttp_request *request, void *context)
{
	struct connection *connection = context;

	(void)request;
	give_large_back(connection);
	connection->since =
	    evbuffer_get_length(bufferevent_get_input(connection->stream)) ? now_s() : 0;
}

static void send_body(struct keyd_http *http, struct evhttp_request *request, int status,
		      const char *type, struct evbuffer *body)
{
	struct connection *connection = connection_of(http, request);
	struct evkeyvalq *headers = evhttp_request_get_output_headers(request);

	if (connection) {
		connection->since = now_s();
		evhttp_request_set_on_complete_cb(request, on_sent, connection);
	}
	evhttp_add_header(headers, "Content-Type", type);
	if (http->draining)
		evhttp_add_header(headers, "Connection", "close");
	evhttp_send_reply(request, status, keyd_problem_title(status), body);
	if (body)
		evbuffer_free(body);
}

static void send_text(struct keyd_http *http, struct evhttp_request *request, int status,
		      const char *type, const char *text)
{
	struct evbuffer *body = evbuffer_new();

	if (body && text)
		evbuffer_add(body, text, strlen(text));
	send_body(http, request, status, type, body);
}

static void release_text(const void *bytes, size_t length, void *text)
{
	(void)bytes;
	(void)length;
	keyd_text_release(text);
}

void keyd_http_answer_parts(struct keyd_http *http, struct evhttp_request *request,
			    const struct keyd_part *parts, unsigned count)
{
	struct evbuffer *body = evbuffer_new();
	bool complete = body != NULL;

	for (unsigned i = 0; complete && i < count; i++) {
		const struct keyd_part *part = &parts[i];
		size_t length = part->text->length - part->skip - part->leave;

		complete = !evbuffer_add_reference(body, part->text->bytes + part->skip, length,
						   release_text, keyd_text_hold(part->text));
		if (!complete)
			keyd_text_release(part->text);
	}
	if (complete) {
		send_body(http, request, 200, "application/json", body);
		return;
	}
	if (body)
		evbuffer_free(body);
	keyd_http_answer(http, request, 503, NULL);
}

void keyd_http_answer(struct keyd_http *http, struct evhttp_request *request, int status,
		      json_t *json)
{
	char *text = json ? json_dumps(json, JSON_COMPACT) : NULL;

	json_decref(json);
	if (text) {
		send_text(http, request, status,
			  status < 400 ? "application/json" : "application/problem+json", text);
	} else {
		evhttp_add_header(evhttp_request_get_output_headers(request), "Retry-After", "1");
		send_text(
		    http, request, 503, "application/problem+json",
		    "{\"type\":\"about:blank\",\"title\":\"Service Unavailable\",\"status\":503,"
		    "\"detail\":\"heddle-keyd has no memory for this answer\"}");
	}
	free(text);
}

void keyd_http_answer_text(struct keyd_http *http, struct evhttp_request *request, const char *type,
			   const char *text)
{
	send_text(http, request, 200, type, text);
}

void keyd_http_answer_problem(struct keyd_http *http, struct evhttp_request *request,
			      const struct keyd_problem *problem)
{
	struct evkeyvalq *headers = evhttp_request_get_output_headers(request);
	char seconds[16];

	if (problem->allow)
		evhttp_add_header(headers, "Allow", problem->allow);
	if (problem->status == 401)
		evhttp_add_header(headers, "WWW-Authenticate", "MUNGE, Bearer");
	if (problem->retry_after) {
		snprintf(seconds, sizeof(seconds), "%u", problem->retry_after);
		evhttp_add_header(headers, "Retry-After", seconds);
	}
	keyd_http_answer(http, request, problem->status, keyd_problem_json(problem));
}

int keyd_http_new(struct event_base *base, const struct keyd_http_limits *limits,
		  const struct keyd_http_hooks *hooks, struct keyd_http **out, struct hd_error *err)
{
	const struct timeval second = {.tv_sec = 1};
	struct keyd_http *http = calloc(1, sizeof(*http));

	if (!http)
		return hd_error_no_memory(err);
	http->base = base;
	http->limits = *limits;
	http->hooks = *hooks;
	http->server = evhttp_new(base);
	http->tick = event_new(base, -1, EV_PERSIST, on_tick, http);
	http->accept_again = event_new(base, -1, 0, on_accept_again, http);
	if (!http->server || !http->tick || !http->accept_again || event_add(http->tick, &second)) {
		keyd_http_free(http);
		return hd_error_no_memory(err);
	}
	event_priority_set(http->accept_again, KEYD_OTHERS);
	evhttp_set_bevcb(http->server, on_connection, http);
	evhttp_set_gencb(http->server, on_request, http);
	evhttp_set_timeout(http->server, (int)limits->patience_s);
	evhttp_set_max_headers_size(http->server, HEAD_LARGEST);
	evhttp_set_max_body_size(http->server, (ev_ssize_t)KEYD_BODY_LARGEST);
	evhttp_set_allowed_methods(http->server, UINT16_MAX); /* the table of calls knows better */
	evhttp_set_default_content_type(http->server, NULL);
	*out = http;
	return 0;
}

int keyd_http_accept(struct keyd_http *http, int descriptor, struct hd_error *err)
{
	struct evconnlistener *listener;

	evutil_make_socket_nonblocking(descriptor);
	listener =
	    http->listener_count < LISTEN_MAX
		? evconnlistener_new(http->base, NULL, NULL,
				     LEV_OPT_CLOSE_ON_FREE | LEV_OPT_CLOSE_ON_EXEC, 0, descriptor)
		: NULL;
	if (!listener || !evhttp_bind_listener(http->server, listener))
		return hd_error_set(err, -ENOMEM, "cannot accept connections");
	evconnlistener_set_error_cb(listener, on_accept_failure);
	http->listeners[http->listener_count++] = listener;
	return 0;
}

void keyd_http_drain(struct keyd_http *http)
{
	for (unsigned i = 0; i < http->listener_count; i++)
		evconnlistener_disable(http->listeners[i]);
	http->draining = true;
}

unsigned keyd_http_connections(const struct keyd_http *http)
{
	return http->connection_count;
}

bool keyd_http_is_sending(const struct keyd_http *http)
{
	const struct connection *connection;

	LIST_FOREACH(connection, &http->connections, link)
	{
		if (evbuffer_get_length(bufferevent_get_output(connection->stream)) > 0)
			return true;
	}
	return false;
}

void keyd_http_free(struct keyd_http *http)
{
	if (!http)
		return;
	if (http->server)
		evhttp_free(http->server); /* closes listeners and connections */
	while (!LIST_EMPTY(&http->connections))
		http_forget(LIST_FIRST(&http->connections));
	if (http->tick)
		event_free(http->tick);
	if (http->accept_again)
		event_free(http->accept_again);
	free(http);
}
