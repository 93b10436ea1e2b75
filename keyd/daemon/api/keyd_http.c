/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "keyd_http.h"

#include "keyd_guard.h"
#include "keyd_request.h"

#include <errno.h>
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/http.h>
#include <event2/listener.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define LINGER_S 2 /* for a client that still sends after it was refused */
#define LISTEN_MAX 8
#define INPUT_MOST (2 * KEYD_BODY_LARGEST) /* bytes that a connection keeps; a request fits */

struct connection {
	LIST_ENTRY(connection) link;
	struct keyd_http *http;
	struct bufferevent *stream;
	struct evhttp_connection *server_side;
	struct event *attach;
	struct keyd_peer peer;
	struct keyd_guard guard;
	int descriptor;
	unsigned pending; /* complete requests without an answer */
	bool doomed; /* refused; closed after the answers that it still gets */
	bool lingers; /* refused and answered: its bytes are thrown away */
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
	struct connection **by_descriptor; /* [room] */
	int room;
	unsigned connection_count;
	struct keyd_http_limits limits;
	bool draining;
};

static time_t now_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
	return now.tv_sec + 1;
}

/* ---- connections ---- */

static void forget(struct connection *connection)
{
	struct keyd_http *http = connection->http;

	LIST_REMOVE(connection, link);
	if (connection->descriptor >= 0 && connection->descriptor < http->room &&
	    http->by_descriptor[connection->descriptor] == connection)
		http->by_descriptor[connection->descriptor] = NULL;
	http->connection_count--;
	if (connection->attach)
		event_free(connection->attach);
	free(connection);
}

static void on_closed(struct evhttp_connection *server_side, void *context)
{
	(void)server_side;
	forget(context);
}

static void on_discard(struct bufferevent *stream, void *context)
{
	(void)context;
	evbuffer_drain(bufferevent_get_input(stream),
		       evbuffer_get_length(bufferevent_get_input(stream)));
}

static void on_linger_end(struct bufferevent *stream, short what, void *context)
{
	const struct connection *connection = context;

	(void)stream;
	(void)what;
	evhttp_connection_free(connection->server_side);
}

/* The answer goes out past libevent, which has not seen the request. */
static void send_refusal(const struct connection *connection, const struct keyd_problem *problem)
{
	json_t *json = keyd_problem_json(problem);
	char *body = json ? json_dumps(json, JSON_COMPACT) : NULL;
	char text[2048], retry[48] = "";
	int length;

	if (problem->retry_after)
		snprintf(retry, sizeof(retry), "Retry-After: %u\r\n", problem->retry_after);
	length = snprintf(text, sizeof(text),
			  "HTTP/1.1 %d %s\r\nContent-Type: application/problem+json\r\n"
			  "Content-Length: %zu\r\n%sConnection: close\r\n\r\n%s",
			  problem->status, keyd_problem_title(problem->status),
			  body ? strlen(body) : 0, retry, body ? body : "");
	if (length > 0 && (size_t)length < sizeof(text) &&
	    send(connection->descriptor, text, (size_t)length, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
		shutdown(connection->descriptor, SHUT_RDWR); /* the client has gone */
	free(body);
	json_decref(json);
}

static void refuse(struct connection *connection, const struct keyd_problem *problem)
{
	connection->http->hooks.dropped(connection->http->hooks.context, problem->status);
	connection->doomed = true;
	if (connection->pending)
		return; /* libevent closes after the answers */
	connection->lingers = true;
	connection->since = now_s();
	bufferevent_setcb(connection->stream, on_discard, NULL, on_linger_end, connection);
	send_refusal(connection, problem);
	shutdown(connection->descriptor, SHUT_WR);
}

/* Feeds the guard with the bytes that were added at the end of the buffer. */
static int feed(struct connection *connection, struct evbuffer *buffer, size_t added,
		unsigned *complete, struct keyd_problem *problem)
{
	struct evbuffer_ptr at;
	struct evbuffer_iovec pieces[16];
	int count, rc = 0;

	if (evbuffer_ptr_set(buffer, &at, evbuffer_get_length(buffer) - added, EVBUFFER_PTR_SET))
		return 0;
	count = evbuffer_peek(buffer, (ev_ssize_t)added, &at, pieces, 16);
	for (int i = 0; !rc && i < count && i < 16; i++) {
		size_t length = pieces[i].iov_len < added ? pieces[i].iov_len : added;
		unsigned more = 0;

		rc =
		    keyd_guard_feed(&connection->guard, pieces[i].iov_base, length, &more, problem);
		*complete += more;
		added -= length;
	}
	return rc;
}

static bool is_one_too_many(const struct connection *connection)
{
	const struct keyd_http *http = connection->http;

	return http->connection_count > http->limits.connections &&
	       !http->hooks.is_trusted(http->hooks.context, &connection->peer);
}

static void on_input(struct evbuffer *buffer, const struct evbuffer_cb_info *info, void *context)
{
	struct connection *connection = context;
	struct keyd_problem problem;
	unsigned complete = 0;
	int rc;

	if (!info->n_added || connection->doomed)
		return;
	if (is_one_too_many(connection))
		rc = keyd_problem_set(&problem, 503,
				      "more than %u connections: see max_connections in [keyd]",
				      connection->http->limits.connections);
	else
		rc = feed(connection, buffer, info->n_added, &complete, &problem);
	connection->pending += complete;
	if (rc)
		refuse(connection, &problem);
	else if (!keyd_guard_is_inside(&connection->guard))
		connection->since = 0;
	else if (!connection->since || complete)
		connection->since = now_s();
}

static int note_descriptor(struct connection *connection)
{
	struct keyd_http *http = connection->http;

	if (connection->descriptor >= http->room) {
		int room = connection->descriptor * 2 + 64;
		struct connection **table =
		    realloc(http->by_descriptor, (size_t)room * sizeof(struct connection *));

		if (!table)
			return -ENOMEM;
		memset(table + http->room, 0,
		       (size_t)(room - http->room) * sizeof(struct connection *));
		http->by_descriptor = table;
		http->room = room;
	}
	http->by_descriptor[connection->descriptor] = connection;
	return 0;
}

static void note_peer(struct connection *connection)
{
	struct ucred credentials;
	socklen_t length = sizeof(credentials);
	int domain = 0;
	socklen_t size = sizeof(domain);

	getsockopt(connection->descriptor, SOL_SOCKET, SO_DOMAIN, &domain, &size);
	if (domain == AF_UNIX &&
	    !getsockopt(connection->descriptor, SOL_SOCKET, SO_PEERCRED, &credentials, &length))
		connection->peer = (struct keyd_peer){.unix_socket = true, .uid = credentials.uid};
}

/* Runs before any byte of the connection is read: libevent has set it up by then. */
static void on_attach(evutil_socket_t unused, short what, void *context)
{
	struct connection *connection = context;
	void *server_side = NULL;

	(void)unused;
	(void)what;
	bufferevent_getcb(connection->stream, NULL, NULL, NULL, &server_side);
	connection->server_side = server_side;
	connection->descriptor = bufferevent_getfd(connection->stream);
	if (!server_side || connection->descriptor < 0 || note_descriptor(connection)) {
		forget(connection);
		return;
	}
	note_peer(connection);
	evhttp_connection_set_closecb(server_side, on_closed, connection);
	evbuffer_add_cb(bufferevent_get_input(connection->stream), on_input, connection);
	/* of a client that sends on without reading its answers */
	bufferevent_setwatermark(connection->stream, EV_READ, 0, INPUT_MOST);
}

static struct bufferevent *on_connection(struct event_base *base, void *context)
{
	struct keyd_http *http = context;
	struct connection *connection = calloc(1, sizeof(*connection));
	struct bufferevent *stream = bufferevent_socket_new(base, -1, 0);

	if (!connection || !stream) {
		free(connection);
		return stream;
	}
	connection->http = http;
	connection->stream = stream;
	connection->descriptor = -1;
	LIST_INSERT_HEAD(&http->connections, connection, link);
	http->connection_count++;
	connection->attach = evtimer_new(base, on_attach, connection);
	if (connection->attach)
		event_active(connection->attach, EV_TIMEOUT, 0);
	else
		forget(connection);
	return stream;
}

static bool sends(const struct connection *connection)
{
	return evbuffer_get_length(bufferevent_get_output(connection->stream)) > 0;
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
	struct connection *connection, *next;
	time_t now = now_s();

	(void)unused;
	(void)what;
	for (unsigned i = 0; !http->draining && i < http->listener_count; i++)
		evconnlistener_enable(http->listeners[i]);
	for (connection = LIST_FIRST(&http->connections); connection; connection = next) {
		time_t age = connection->since ? now - connection->since : 0;

		next = LIST_NEXT(connection, link);
		if (connection->lingers && age > LINGER_S) {
			evhttp_connection_free(connection->server_side);
		} else if (!connection->lingers && age > (time_t)http->limits.patience_s &&
			   (keyd_guard_is_inside(&connection->guard) || sends(connection))) {
			http->hooks.dropped(http->hooks.context, 408);
			/* libevent sees the end of the stream and frees everything */
			shutdown(connection->descriptor, SHUT_RDWR);
		}
	}
}

/* ---- requests and answers ---- */

static struct connection *connection_of(const struct keyd_http *http,
					struct evhttp_request *request)
{
	struct evhttp_connection *server_side = evhttp_request_get_connection(request);
	int descriptor =
	    server_side ? bufferevent_getfd(evhttp_connection_get_bufferevent(server_side)) : -1;

	return descriptor >= 0 && descriptor < http->room ? http->by_descriptor[descriptor] : NULL;
}

static void on_request(struct evhttp_request *request, void *context)
{
	struct keyd_http *http = context;
	struct connection *connection = connection_of(http, request);
	static const struct keyd_peer nobody = {.unix_socket = false};

	http->hooks.take(http->hooks.context, request, connection ? &connection->peer : &nobody);
}

static void send_body(struct keyd_http *http, struct evhttp_request *request, int status,
		      const char *type, const char *text)
{
	struct connection *connection = connection_of(http, request);
	struct evkeyvalq *headers = evhttp_request_get_output_headers(request);
	struct evbuffer *body = evbuffer_new();

	if (connection && connection->pending)
		connection->pending--;
	if (connection && !keyd_guard_is_inside(&connection->guard))
		connection->since = now_s();
	evhttp_add_header(headers, "Content-Type", type);
	if (http->draining || (connection && connection->doomed))
		evhttp_add_header(headers, "Connection", "close");
	if (body && text)
		evbuffer_add(body, text, strlen(text));
	evhttp_send_reply(request, status, keyd_problem_title(status), body);
	if (body)
		evbuffer_free(body);
}

void keyd_http_answer(struct keyd_http *http, struct evhttp_request *request, int status,
		      json_t *json)
{
	char *text = json ? json_dumps(json, JSON_COMPACT) : NULL;

	json_decref(json);
	send_body(http, request, text ? status : 503,
		  status < 400 ? "application/json" : "application/problem+json", text);
	free(text);
}

void keyd_http_answer_text(struct keyd_http *http, struct evhttp_request *request, const char *type,
			   const char *text)
{
	send_body(http, request, 200, type, text);
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

/* ---- the server ---- */

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
	if (!http->server || !http->tick || event_add(http->tick, &second)) {
		keyd_http_free(http);
		return hd_error_no_memory(err);
	}
	evhttp_set_bevcb(http->server, on_connection, http);
	evhttp_set_gencb(http->server, on_request, http);
	evhttp_set_timeout(http->server, (int)limits->patience_s);
	evhttp_set_max_headers_size(http->server, 2 * KEYD_HEAD_LARGEST);
	evhttp_set_max_body_size(http->server, (ev_ssize_t)KEYD_BODY_LARGEST);
	evhttp_set_allowed_methods(http->server, 0x1FF); /* the table of calls knows better */
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
		if (sends(connection))
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
		forget(LIST_FIRST(&http->connections));
	if (http->tick)
		event_free(http->tick);
	free(http->by_descriptor);
	free(http);
}
