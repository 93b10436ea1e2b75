/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "key_requests_manager.h"

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/listener.h>
#include <heddle/keyd/channel.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

struct key_requests_manager {
	struct event_base *base;
	const char *netlist;
	size_t length;
	uint64_t keys, entries;
};

static void send_message(struct bufferevent *stream, const struct hd_channel_message *message)
{
	uint8_t *bytes;
	size_t length;

	if (hd_channel_encode(message, &bytes, &length)) {
		fputs("heddle-bench-requests: cannot encode a message\n", stderr);
		exit(EXIT_FAILURE);
	}
	bufferevent_write(stream, bytes, length);
	free(bytes);
}

static void answer(struct key_requests_manager *manager, struct bufferevent *stream,
		   const struct hd_channel_set *set)
{
	const struct hd_channel_message result = {
	    .type = HD_CHANNEL_RESULT,
	    .result = {.request = set->request, .key = set->key, .status = HD_CHANNEL_DONE}};

	manager->keys++;
	manager->entries += set->overlay.count;
	send_message(stream, &result);
}

static void on_bytes(struct bufferevent *stream, void *context)
{
	struct evbuffer *input = bufferevent_get_input(stream);
	size_t used = 1;

	while (used && evbuffer_get_length(input)) {
		size_t length = evbuffer_get_length(input);
		struct hd_channel_message message;

		if (hd_channel_decode(evbuffer_pullup(input, -1), length, &message, &used, NULL)) {
			fputs("heddle-bench-requests: a damaged message\n", stderr);
			exit(EXIT_FAILURE);
		}
		if (!used)
			return;
		if (message.type == HD_CHANNEL_SET)
			answer(context, stream, &message.set);
		hd_channel_release(&message);
		evbuffer_drain(input, used);
	}
}

static void on_end(struct bufferevent *stream, short what, void *context)
{
	(void)what;
	(void)context;
	bufferevent_free(stream);
}

static void on_connection(struct evconnlistener *listener, evutil_socket_t descriptor,
			  struct sockaddr *address, int size, void *context)
{
	struct key_requests_manager *manager = context;
	struct bufferevent *stream =
	    bufferevent_socket_new(manager->base, descriptor, BEV_OPT_CLOSE_ON_FREE);
	const struct hd_channel_message hello = {
	    .type = HD_CHANNEL_HELLO, .hello = {.instance = 1, .master = true, .engine = "nrk"}};
	const struct hd_channel_message fabric = {
	    .type = HD_CHANNEL_FABRIC,
	    .fabric = {.epoch = 1, .netlist = manager->netlist, .netlist_length = manager->length}};
	const struct hd_channel_message held = {.type = HD_CHANNEL_HELD};

	(void)listener;
	(void)address;
	(void)size;
	bufferevent_setcb(stream, on_bytes, NULL, on_end, manager);
	bufferevent_enable(stream, EV_READ | EV_WRITE);
	send_message(stream, &hello);
	send_message(stream, &fabric);
	send_message(stream, &held);
}

struct key_requests_manager *key_requests_manager_new(struct event_base *base, const char *path,
						      const char *netlist, size_t length)
{
	struct key_requests_manager *manager = calloc(1, sizeof(*manager));
	struct sockaddr_un address = {.sun_family = AF_UNIX};

	if (!manager)
		return NULL;
	manager->base = base;
	manager->netlist = netlist;
	manager->length = length;
	strncpy(address.sun_path, path, sizeof(address.sun_path) - 1);
	if (!evconnlistener_new_bind(base, on_connection, manager, LEV_OPT_CLOSE_ON_EXEC, 16,
				     (struct sockaddr *)&address, sizeof(address))) {
		free(manager);
		return NULL;
	}
	return manager;
}

uint64_t key_requests_manager_keys(const struct key_requests_manager *manager)
{
	return manager->keys;
}

double key_requests_manager_entries(const struct key_requests_manager *manager)
{
	return manager->keys ? (double)manager->entries / (double)manager->keys : 0;
}
