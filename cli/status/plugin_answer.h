/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Asks the plugin in a running OpenSM: doc/guide/status.md describes the socket. */
#ifndef CLI_PLUGIN_ANSWER_H
#define CLI_PLUGIN_ANSWER_H

#include "arguments.h"

#include <heddle/base/error.h>
#include <heddle/config.h>

/* A socket of the plugin. */
struct plugin_socket {
	const char *section; /* of heddle.conf */
	const char *standard,
	    *pattern; /* its path if heddle.conf says nothing, and that of several OpenSMs */
};

extern const struct plugin_socket plugin_socket_status, plugin_socket_drain;

struct plugin_address {
	const struct plugin_socket *of; /* NULL: plugin_socket_status */
	const char *socket; /* a path or a pattern; NULL: the default */
	uint32_t timeout_ms; /* 0: the default */
	/* Gets the text of each line "wait: TEXT" that comes before the answer. NULL: there are none. */
	void (*waits)(const char *text);
};

#define PLUGIN_ARGUMENTS(type, member)                                                             \
	{'s', "socket", "PATH",                                                                    \
	 "the socket of [status] in heddle.conf, or a pattern (default: " HD_STATUS_SOCKET         \
	 ", else the only " HD_STATUS_SOCKETS ")",                                                 \
	 ARGUMENT_TEXT(type, member.socket)},                                                      \
	{                                                                                          \
		0, "timeout", "MS",                                                                \
		    "wait at most so many milliseconds for the answer (1..60000, default 10000)",  \
		    ARGUMENT_NUMBER(type, member.timeout_ms, 1, 60000)                             \
	}

/*
 * The answer to a request, to be freed; it ends with 0. A line feed is sent after the request. Errors: -ENOENT, -ECONNREFUSED, -EACCES nobody
 * answers at the socket; -ETIMEDOUT; -EPROTO no answer, one with a 0 in it, or one of more than 64 MiB;
 * -EINVAL the path is too long, or several sockets match the pattern: the message has them; -ENOMEM;
 * others of the system.
 */
int plugin_answer_get(const struct plugin_address *address, const char *request, char **out,
		      struct hd_error *err);

#endif
