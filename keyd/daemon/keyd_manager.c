/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Connections to the subnet managers (keyd_manager.h). keyd_main.c starts them; keyd_program.c sends keys.
 *
 * Each address is connected to again and again; a folder of a socket is watched, so that a manager that starts is
 * met at once. HELLO says who is master; FABRIC, HELD, RESULT and BROKEN go to the hooks. A frame that is damaged
 * closes the connection, and every key that was on its way fails.
 */
#include "keyd_manager.h"

#include <errno.h>
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* ---- watch ---- */

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

/* ---- manager ---- */

#define WAIT_SOON_MS 10u /* between bind() and listen() of a manager that starts */
#define WAIT_FIRST_MS 200u
#define WAIT_LAST_MS 5000u

/* A SET without a result yet. */
struct sent {
	uint64_t request, key;
};

struct manager {
	struct keyd_managers *managers;
	const char *path;
	struct bufferevent *stream;
	struct event *again;
	uint32_t wait_ms;
	bool greeted, complained;
	struct hd_channel_hello hello;
	struct sent *sent; /* [room], a ring */
	uint32_t first, count, room;
};

struct keyd_managers {
	struct event_base *base;
	const struct hd_log *log;
	struct keyd_manager_hooks hooks;
	keyd_manager_result *result;
	struct manager *list; /* [count] */
	unsigned count;
	struct manager *master;
	struct keyd_watch *watch; /* of their sockets; NULL: the system gave none */
	uint64_t requests;
};

static void set_master(struct keyd_managers *managers, struct manager *manager)
{
	if (managers->master == manager)
		return;
	managers->master = manager;
	managers->hooks.changed(managers->hooks.context);
}

/* Closes the connection and waits for the next one. Logs the first of several failures. */
static void manager_drop(struct manager *manager, const char *why)
{
	struct timeval wait = {.tv_sec = manager->wait_ms / 1000,
			       .tv_usec = (suseconds_t)(manager->wait_ms % 1000 * 1000)};

	if (!manager->complained)
		hd_log(manager->managers->log, HD_LOG_WARNING,
		       "%s: no subnet manager: %s; trying again until one answers. Keys that are "
		       "in the switches stay there",
		       manager->path, why);
	manager->complained = true;
	manager->greeted = false;
	if (manager->stream)
		bufferevent_free(manager->stream);
	manager->stream = NULL;
	keyd_watch_folder_of(manager->managers->watch, manager->path);
	event_add(manager->again, &wait);
	manager->wait_ms =
	    manager->wait_ms * 2 < WAIT_LAST_MS ? manager->wait_ms * 2 : WAIT_LAST_MS;
	if (manager->managers->master == manager)
		set_master(manager->managers, NULL);
	while (manager->count) {
		struct sent sent = manager->sent[manager->first];
		manager->first = (manager->first + 1) % manager->room;
		manager->count--;
		manager->managers->result(manager->managers->hooks.context, sent.request, sent.key,
					  NULL);
	}
}

static void take_hello(struct manager *manager, const struct hd_channel_hello *hello)
{
	struct keyd_managers *managers = manager->managers;
	bool same = manager->greeted && manager->hello.instance == hello->instance &&
		    !strcmp(manager->hello.engine, hello->engine);
	bool was_master = managers->master == manager;
	bool again = same && manager->hello.master == hello->master;

	manager->greeted = true;
	manager->complained = false;
	manager->wait_ms = WAIT_FIRST_MS;
	manager->hello = *hello;
	if (!again)
		hd_log(managers->log, HD_LOG_INFO,
		       "%s: connected to a subnet manager, %s, engine %s", manager->path,
		       hello->master ? "master" : "standby",
		       *hello->engine ? hello->engine : "not known before its first sweep");
	if (hello->master)
		set_master(managers, manager);
	else if (was_master)
		set_master(managers, NULL);
	if (hello->master && was_master && !same)
		managers->hooks.changed(managers->hooks.context);
}

static void take_result(struct manager *manager, const struct hd_channel_result *result)
{
	if (!manager->count || manager->sent[manager->first].request != result->request) {
		manager_drop(manager, "it has answered a request that it did not get");
		return;
	}
	struct sent sent = manager->sent[manager->first];
	manager->first = (manager->first + 1) % manager->room;
	manager->count--;
	manager->managers->result(manager->managers->hooks.context, sent.request, sent.key, result);
}

static void manager_take(struct manager *manager, struct hd_channel_message *message)
{
	struct keyd_managers *managers = manager->managers;
	void *context = managers->hooks.context;

	if (!manager->greeted && message->type != HD_CHANNEL_HELLO) {
		manager_drop(manager, "its first message does not name it");
		return;
	}
	switch (message->type) {
	case HD_CHANNEL_HELLO:
		take_hello(manager, &message->hello);
		break;
	case HD_CHANNEL_FABRIC:
		set_master(managers, manager); /* only a master sends it */
		managers->hooks.fabric(context, message);
		break;
	case HD_CHANNEL_HELD:
		if (managers->master == manager)
			managers->hooks.held(context, &message->held);
		break;
	case HD_CHANNEL_RESULT:
		take_result(manager, &message->result);
		break;
	case HD_CHANNEL_BROKEN:
		if (managers->master == manager)
			managers->hooks.broken(context, &message->broken);
		break;
	default:
		manager_drop(manager, "it has sent a message that only heddle-keyd sends");
	}
}

/* Bytes of the frame that begins the buffer, or 0: the header is not complete. A damaged header is
 * left to the decoder. */
static size_t frame_length(struct evbuffer *input)
{
	uint8_t header[HD_CHANNEL_HEADER];

	if (evbuffer_copyout(input, header, sizeof(header)) < (ev_ssize_t)sizeof(header))
		return 0;
	uint32_t body = (uint32_t)header[8] << 24 | (uint32_t)header[9] << 16 |
			(uint32_t)header[10] << 8 | header[11];
	return body > HD_CHANNEL_BODY_MAX ? HD_CHANNEL_HEADER : HD_CHANNEL_HEADER + (size_t)body;
}

static void on_bytes(struct bufferevent *stream, void *context)
{
	struct manager *manager = context;
	struct evbuffer *input = bufferevent_get_input(stream);
	size_t length;

	while (manager->stream == stream && (length = frame_length(input)) &&
	       evbuffer_get_length(input) >= length) {
		struct hd_channel_message message;
		struct hd_error err = {""};
		size_t used = 0;
		int rc = hd_channel_decode(evbuffer_pullup(input, (ev_ssize_t)length), length,
					   &message, &used, &err);

		if (rc || !used) {
			manager_drop(manager, rc ? err.text : "it has sent a damaged frame");
			return;
		}
		evbuffer_drain(input, used);
		manager_take(manager, &message);
		hd_channel_release(&message);
	}
}

static void on_event(struct bufferevent *stream, short what, void *context)
{
	struct manager *manager = context;
	int error = EVUTIL_SOCKET_ERROR();

	(void)stream;
	if (what & BEV_EVENT_EOF)
		manager_drop(manager, "it has closed the connection");
	else if (what & BEV_EVENT_ERROR)
		manager_drop(manager, evutil_socket_error_to_string(error));
}

static void connect_again(evutil_socket_t unused, short what, void *context)
{
	struct manager *manager = context;
	struct sockaddr_un address = {.sun_family = AF_UNIX};

	(void)unused;
	(void)what;
	strncpy(address.sun_path, manager->path, sizeof(address.sun_path) - 1);
	manager->stream =
	    bufferevent_socket_new(manager->managers->base, -1, BEV_OPT_CLOSE_ON_FREE);
	if (!manager->stream) {
		manager_drop(manager, "no memory");
		return;
	}
	bufferevent_setcb(manager->stream, on_bytes, NULL, on_event, manager);
	bufferevent_enable(manager->stream, EV_READ | EV_WRITE);
	/* a failure has been reported by on_event, or is reported here */
	if (bufferevent_socket_connect(manager->stream, (struct sockaddr *)&address,
				       sizeof(address)) &&
	    manager->stream)
		manager_drop(manager, strerror(errno));
}

/* A manager has made its socket. It is not waited for any longer. */
static void on_socket(void *context, const char *name)
{
	const struct timeval now = {0};
	struct keyd_managers *managers = context;

	for (unsigned i = 0; i < managers->count; i++) {
		struct manager *manager = &managers->list[i];

		if (manager->stream || strcmp(keyd_watch_name(manager->path), name))
			continue;
		manager->wait_ms = WAIT_SOON_MS;
		event_add(manager->again, &now);
	}
}

int keyd_managers_new(struct event_base *base, const struct keyd_config *config,
		      const struct hd_log *log, const struct keyd_manager_hooks *hooks,
		      keyd_manager_result *result, struct keyd_managers **out, struct hd_error *err)
{
	const struct timeval now = {0};
	struct keyd_managers *managers = calloc(1, sizeof(*managers));

	if (!managers)
		return hd_error_no_memory(err);
	*managers =
	    (struct keyd_managers){.base = base, .log = log, .hooks = *hooks, .result = result};
	managers->watch = keyd_watch_new(base, on_socket, managers);
	managers->list = calloc(config->manager_count, sizeof(*managers->list));
	for (unsigned i = 0; managers->list && i < config->manager_count; i++) {
		struct manager *manager = &managers->list[i];

		*manager = (struct manager){
		    .managers = managers, .path = config->managers[i], .wait_ms = WAIT_FIRST_MS};
		manager->again = evtimer_new(base, connect_again, manager);
		if (!manager->again || event_add(manager->again, &now))
			break;
		managers->count++;
	}
	if (managers->count < config->manager_count) {
		keyd_managers_free(managers);
		return hd_error_no_memory(err);
	}
	*out = managers;
	return 0;
}

void keyd_managers_free(struct keyd_managers *managers)
{
	if (!managers)
		return;
	for (unsigned i = 0; i < managers->count; i++) {
		if (managers->list[i].stream)
			bufferevent_free(managers->list[i].stream);
		event_free(managers->list[i].again);
		free(managers->list[i].sent);
	}
	keyd_watch_free(managers->watch);
	free(managers->list);
	free(managers);
}

const struct hd_channel_hello *keyd_managers_master(const struct keyd_managers *managers)
{
	return managers && managers->master ? &managers->master->hello : NULL;
}

static int note_sent(struct manager *manager, uint64_t request, uint64_t key)
{
	if (manager->count == manager->room) {
		uint32_t room = manager->room ? 2 * manager->room : 64;
		struct sent *sent = malloc(room * sizeof(*sent));

		if (!sent)
			return -ENOMEM;
		for (uint32_t i = 0; i < manager->count; i++)
			sent[i] = manager->sent[(manager->first + i) % manager->room];
		free(manager->sent);
		manager->sent = sent;
		manager->room = room;
		manager->first = 0;
	}
	manager->sent[(manager->first + manager->count++) % manager->room] =
	    (struct sent){request, key};
	return 0;
}

static void free_bytes(const void *bytes, size_t length, void *context)
{
	(void)length;
	(void)context;
	free((void *)bytes);
}

int keyd_managers_set(struct keyd_managers *managers, uint64_t key, uint64_t epoch,
		      const struct hd_key_overlay *overlay, uint64_t *request)
{
	struct manager *manager = managers->master;
	struct hd_channel_message message = {.type = HD_CHANNEL_SET};
	uint8_t *bytes;
	size_t length;

	if (!manager || !manager->stream)
		return -ENOTCONN;
	message.set = (struct hd_channel_set){
	    .request = ++managers->requests, .key = key, .epoch = epoch, .overlay = *overlay};
	int rc = hd_channel_encode(&message, &bytes, &length);
	if (rc)
		return rc;
	if (note_sent(manager, message.set.request, key)) {
		free(bytes);
		return -ENOMEM;
	}
	if (evbuffer_add_reference(bufferevent_get_output(manager->stream), bytes, length,
				   free_bytes, NULL)) {
		manager->count--;
		free(bytes);
		return -ENOMEM;
	}
	*request = message.set.request;
	return 0;
}
