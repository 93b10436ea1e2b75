/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* ibsim's datagram sockets, whose names are abstract: they exist in no folder. */
#ifndef EMULATOR_SOCKET_H
#define EMULATOR_SOCKET_H

#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/un.h>

/* A non-blocking datagram socket with that name (printf's form); NULL: with any free name.
 * Errors: a negative errno. */
int socket_bound(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Connects a socket to the one with that name. Returns 0 or a negative errno. */
int socket_connect(int socket, const char *format, ...) __attribute__((format(printf, 2, 3)));

/*
 * The sending side of a socket. What the kernel does not take at once waits in a queue, since a
 * program that waits for ibsim while ibsim waits for it would wait for ever.
 */
struct outlet {
	int socket;
	size_t size; /* of each message */
	uint8_t *waiting; /* [capacity][size], a ring */
	size_t first, count, capacity;
};

/* Sends a message or queues it. Returns 0, or a negative errno when the other side is gone. */
int outlet_send(struct outlet *outlet, const void *message);

/* Sends what waits, as far as the kernel takes it. Returns as outlet_send(). */
int outlet_flush(struct outlet *outlet);

/* Forgets what waits and frees the queue. The socket stays as it is. */
void outlet_clear(struct outlet *outlet);

#endif
