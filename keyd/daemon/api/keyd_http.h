/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The HTTP server: libevent's evhttp. It says who calls, hands complete requests on, and sends
 * answers.
 */
#ifndef KEYD_HTTP_H
#define KEYD_HTTP_H

#include "keyd_problem.h"
#include "keyd_text.h"

#include <event2/event.h>
#include <stdbool.h>
#include <sys/types.h>

/* Who is at the other end of connections, and how many each user or address has. */

/* Who is at the other end of a connection. */
struct keyd_peer {
	bool unix_socket; /* then uid is known */
	uid_t uid;
	unsigned char
	    address[16]; /* else: the network of an IPv6 address, or IPv4 mapped to IPv6 */
};

/* A user of the unix socket, or an address: for IPv6, a network of 64 bits. */
struct keyd_party {
	struct keyd_peer peer;
	unsigned members; /* connections that refer to it */
	unsigned admitted; /* those that count for the limits */
	unsigned large; /* long answers under way */
};

/* The peer of a connected socket. */
struct keyd_peer keyd_peer_of(int descriptor);

/* The party of a peer in the search tree, with one more member. NULL: no memory. O(log parties). */
struct keyd_party *keyd_party_join(void **tree, const struct keyd_peer *peer);

/* Frees the party of the last member. NULL is allowed. */
void keyd_party_leave(void **tree, struct keyd_party *party);

struct evhttp_request;
struct keyd_http;

struct keyd_http_hooks {
	/* Takes a request. Answers now or later, exactly once. */
	void (*take)(void *context, struct evhttp_request *request, const struct keyd_peer *peer);
	/* A connection was refused or dropped with this status; 408: too slow. What libevent refuses
	 * by itself does not count. */
	void (*dropped)(void *context, int status);
	/* Whether this peer is served beyond the limits, and before others. */
	bool (*is_trusted)(void *context, const struct keyd_peer *peer);
	void *context;
};

struct keyd_http_limits {
	uint32_t connections; /* of all that are not trusted */
	uint32_t user_connections, address_connections; /* of one user or address */
	uint32_t large_answers; /* under way at the same time; as many again for those trusted */
	uint32_t patience_s; /* for a request, for an answer, and between two requests */
};

/* Event priorities of the base. Peers that are not trusted come after all else; libevent gives
 * events the middle one by itself. */
enum { KEYD_NORMAL = 1, KEYD_OTHERS = 2, KEYD_PRIORITIES = 3 };

/* A text without its first and last bytes. */
struct keyd_part {
	struct keyd_text *text;
	size_t skip, leave;
};

/* A server without sockets. Errors: -ENOMEM. */
int keyd_http_new(struct event_base *base, const struct keyd_http_limits *limits,
		  const struct keyd_http_hooks *hooks, struct keyd_http **out,
		  struct hd_error *err);

/* Accepts connections at a socket that listens, which the server closes. Errors: -ENOMEM. */
int keyd_http_accept(struct keyd_http *http, int descriptor, struct hd_error *err);

/* Takes a place among the large answers under way for this request. The place is free again when
 * any answer to it is sent or its client has gone. One party has half of the places at most. False:
 * none is free. */
bool keyd_http_takes_large(struct keyd_http *http, struct evhttp_request *request);

/* Takes no new connections, and closes each after its next answer. */
void keyd_http_drain(struct keyd_http *http);

unsigned keyd_http_connections(const struct keyd_http *http);

/* Whether bytes of answers wait to be sent. */
bool keyd_http_is_sending(const struct keyd_http *http);

/* Closes all connections. NULL is allowed. */
void keyd_http_free(struct keyd_http *http);

/* Whether the client has closed its connection, or its half of it. A system call. */
bool keyd_http_is_gone(struct evhttp_request *request);

/* Sends an answer: `json` is taken over; NULL: no memory for it. Does nothing but freeing memory if
 * the client has gone. */
void keyd_http_answer(struct keyd_http *http, struct evhttp_request *request, int status,
		      json_t *json);
/* Parts that together are JSON; each text is held until it is sent. */
void keyd_http_answer_parts(struct keyd_http *http, struct evhttp_request *request,
			    const struct keyd_part *parts, unsigned count);
void keyd_http_answer_text(struct keyd_http *http, struct evhttp_request *request, const char *type,
			   const char *text);
void keyd_http_answer_problem(struct keyd_http *http, struct evhttp_request *request,
			      const struct keyd_problem *problem);

#endif
