/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The connections to the subnet managers over the key channel. The one that says that it is master
 * gets the keys; keyd connects to the others again and again, so that it knows at once when one of
 * them becomes master.
 */
#ifndef KEYD_MANAGER_H
#define KEYD_MANAGER_H

#include "keyd_config.h"

#include <event2/event.h>
#include <heddle/keyd/channel.h>

/* Files that appear: who waits for a socket need not try again and again. */

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

struct keyd_managers;

/* What the managers say. Messages are valid during the call. */
struct keyd_manager_hooks {
	void (*fabric)(void *context, struct hd_channel_message *message); /* may take it over */
	void (*held)(void *context, const struct hd_channel_held *held);
	void (*broken)(void *context, const struct hd_channel_broken *broken);
	/* Another manager is master, or none. */
	void (*changed)(void *context);
	void *context;
};

/* How a SET has ended. result NULL: the manager has gone. */
typedef void keyd_manager_result(void *context, uint64_t request, uint64_t key,
				 const struct hd_channel_result *result);

/* Connects to all sockets of the configuration, which must outlive the result. Errors: -ENOMEM. */
int keyd_managers_new(struct event_base *base, const struct keyd_config *config,
		      const struct hd_log *log, const struct keyd_manager_hooks *hooks,
		      keyd_manager_result *result, struct keyd_managers **out,
		      struct hd_error *err);

/* NULL is allowed. */
void keyd_managers_free(struct keyd_managers *managers);

/* What the master has said, or NULL if no manager is master. */
const struct hd_channel_hello *keyd_managers_master(const struct keyd_managers *managers);

/*
 * Sends a SET to the master. result() is called for it later, never during this call. *request is
 * its number. Errors: -ENOTCONN no master, -ENOMEM, -EMSGSIZE.
 */
int keyd_managers_set(struct keyd_managers *managers, uint64_t key, uint64_t epoch,
		      const struct hd_key_overlay *overlay, uint64_t *request);

#endif
