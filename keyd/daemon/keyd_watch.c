/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "keyd_watch.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

#define ROOM (16 * (sizeof(struct inotify_event) + NAME_MAX + 1))

struct keyd_watch {
	int file;
	struct event *event;
	keyd_watch_hook *hook;
	void *context;
};

static void on_events(evutil_socket_t file, short what, void *context)
{
	const struct keyd_watch *watch = context;
	char bytes[ROOM] __attribute__((aligned(_Alignof(struct inotify_event))));
	ssize_t length;

	(void)what;
	while ((length = read(file, bytes, sizeof(bytes))) > 0) {
		const char *at = bytes;

		while (at < bytes + length) {
			const struct inotify_event *one = (const void *)at;

			if (one->len)
				watch->hook(watch->context, one->name);
			at += sizeof(*one) + one->len;
		}
	}
}

struct keyd_watch *keyd_watch_new(struct event_base *base, keyd_watch_hook *hook, void *context)
{
	struct keyd_watch *watch = calloc(1, sizeof(*watch));

	if (!watch)
		return NULL;
	*watch = (struct keyd_watch){inotify_init1(IN_NONBLOCK | IN_CLOEXEC), NULL, hook, context};
	if (watch->file >= 0)
		watch->event = event_new(base, watch->file, EV_READ | EV_PERSIST, on_events, watch);
	if (watch->event && !event_add(watch->event, NULL))
		return watch;
	keyd_watch_free(watch);
	return NULL;
}

void keyd_watch_free(struct keyd_watch *watch)
{
	if (!watch)
		return;
	if (watch->event)
		event_free(watch->event);
	if (watch->file >= 0)
		close(watch->file);
	free(watch);
}

const char *keyd_watch_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

void keyd_watch_folder_of(struct keyd_watch *watch, const char *path)
{
	size_t length = (size_t)(keyd_watch_name(path) - path);
	char folder[PATH_MAX] = ".";

	if (!watch || length >= sizeof(folder))
		return;
	if (length)
		snprintf(folder, sizeof(folder), "%.*s", (int)length, path);
	(void)inotify_add_watch(watch->file, folder, IN_CREATE | IN_MOVED_TO | IN_ONLYDIR);
}
