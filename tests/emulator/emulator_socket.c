/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "emulator_socket.h"
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The address of an abstract name; its length is the result. */
static socklen_t name_address(struct sockaddr_un *address, const char *format, va_list arguments)
{
	int length;

	memset(address, 0, sizeof(*address));
	address->sun_family = AF_UNIX;
	if (!format)
		return sizeof(address->sun_family);
	/* ibsim counts one byte after the name too, a zero */
	length = vsnprintf(address->sun_path + 1, sizeof(address->sun_path) - 2, format, arguments);
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length + 1);
}

int socket_bound(const char *format, ...)
{
	struct sockaddr_un address;
	socklen_t length;
	va_list arguments;
	int made, rc;

	va_start(arguments, format);
	length = name_address(&address, format, arguments);
	va_end(arguments);
	made = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (made < 0)
		return -errno;
	if (bind(made, (struct sockaddr *)&address, length)) {
		rc = -errno;
		close(made);
		return rc;
	}
	return made;
}

int socket_connect(int socket, const char *format, ...)
{
	struct sockaddr_un address;
	socklen_t length;
	va_list arguments;

	va_start(arguments, format);
	length = name_address(&address, format, arguments);
	va_end(arguments);
	return connect(socket, (struct sockaddr *)&address, length) ? -errno : 0;
}

static int grow(struct outlet *outlet)
{
	size_t capacity = outlet->capacity ? 2 * outlet->capacity : 64;
	uint8_t *waiting = malloc(capacity * outlet->size);

	if (!waiting)
		return -ENOMEM;
	for (size_t i = 0; i < outlet->count; i++)
		memcpy(waiting + i * outlet->size,
		       outlet->waiting + (outlet->first + i) % outlet->capacity * outlet->size,
		       outlet->size);
	free(outlet->waiting);
	outlet->waiting = waiting;
	outlet->capacity = capacity;
	outlet->first = 0;
	return 0;
}

/* Whether the kernel takes it: 0, -EAGAIN not now, other errors the other side is gone. */
static int try_send(struct outlet *outlet, const void *message)
{
	if (send(outlet->socket, message, outlet->size, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0)
		return 0;
	return errno == EWOULDBLOCK || errno == ENOBUFS || errno == EINTR ? -EAGAIN : -errno;
}

int outlet_send(struct outlet *outlet, const void *message)
{
	int rc = outlet->count ? -EAGAIN : try_send(outlet, message);

	if (rc != -EAGAIN)
		return rc;
	if (outlet->count == outlet->capacity && grow(outlet))
		return -ENOMEM;
	memcpy(outlet->waiting + (outlet->first + outlet->count) % outlet->capacity * outlet->size,
	       message, outlet->size);
	outlet->count++;
	return 0;
}

int outlet_flush(struct outlet *outlet)
{
	while (outlet->count) {
		int rc = try_send(outlet, outlet->waiting + outlet->first * outlet->size);

		if (rc)
			return rc == -EAGAIN ? 0 : rc;
		outlet->first = (outlet->first + 1) % outlet->capacity;
		outlet->count--;
	}
	return 0;
}

void outlet_clear(struct outlet *outlet)
{
	free(outlet->waiting);
	outlet->waiting = NULL;
	outlet->first = outlet->count = outlet->capacity = 0;
}
