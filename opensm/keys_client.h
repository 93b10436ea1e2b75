/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The connection of heddle-keyd: bytes that have come, and bytes that it has not taken yet. */
#ifndef OPENSM_KEYS_CLIENT_H
#define OPENSM_KEYS_CLIENT_H

#include <heddle/base/error.h>
#include <heddle/keyd/channel.h>

struct keys_bytes {
	uint8_t *bytes; /* malloc'ed; used .. length are left */
	size_t used, length, room;
};

struct keys_client {
	int file; /* -1: nobody is connected */
	bool dead; /* to be closed */
	struct keys_bytes in, out;
	char fault[HD_ERROR_TEXT]; /* why it is closed; "" it has hung up */
};

void keys_client_open(struct keys_client *client, int file);
void keys_client_close(struct keys_client *client);

/* The connection is to be closed, for that reason; "" the client has hung up. */
void keys_client_end(struct keys_client *client, const char *reason);

/* Reads what has come, at most one piece. */
void keys_client_receive(struct keys_client *client);

/* Takes one message out of what has come; false: none is complete. Release it. */
bool keys_client_next(struct keys_client *client, struct hd_channel_message *out);

/* Queues a message. A client that leaves too much unread is dead. */
void keys_client_send(struct keys_client *client, const struct hd_channel_message *message);

/* Sends what the client takes without waiting. */
void keys_client_flush(struct keys_client *client);

/* Whether something is queued. */
bool keys_client_is_behind(const struct keys_client *client);

#endif
