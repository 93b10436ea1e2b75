/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Files that appear: who waits for a socket need not try again and again. */
#ifndef KEYD_WATCH_H
#define KEYD_WATCH_H

#include <event2/event.h>

struct keyd_watch;

/* Called in the event thread when a file appears. name: without its folder. */
typedef void keyd_watch_hook(void *context, const char *name);

/* NULL: the system has no watch to give. */
struct keyd_watch *keyd_watch_new(struct event_base *base, keyd_watch_hook *hook, void *context);

void keyd_watch_free(struct keyd_watch *watch);

/* Watches the folder of a path. To be called again before each wait: the folder may be another one
 * then. Without the folder nothing happens. NULL is allowed. */
void keyd_watch_folder_of(struct keyd_watch *watch, const char *path);

/* Path without its folder; points into it. */
const char *keyd_watch_name(const char *path);

#endif
