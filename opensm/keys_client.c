/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "keys_client.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define READ_SIZE 65536u
#define UNSENT_MOST ((size_t)192 << 20) /* bytes that the client may leave unread */

void keys_client_open(struct keys_client *client, int file)
{
	*client = (struct keys_client){.file = file};
}

void keys_client_close(struct keys_client *client)
{
	if (client->file >= 0)
		close(client->file);
	free(client->in.bytes);
	free(client->out.bytes);
	*client = (struct keys_client){.file = -1};
}

void keys_client_end(struct keys_client *client, const char *reason)
{
	client->dead = true;
	snprintf(client->fault, sizeof(client->fault), "%s", reason);
}

/* Moves what is left to the beginning, and makes room for more. */
static bool make_room(struct keys_bytes *bytes, size_t more)
{
	size_t left = bytes->length - bytes->used;

	if (bytes->used) {
		memmove(bytes->bytes, bytes->bytes + bytes->used, left);
		bytes->used = 0;
		bytes->length = left;
	}
	if (left + more <= bytes->room)
		return true;
	size_t room = 2 * (left + more);
	uint8_t *larger = realloc(bytes->bytes, room);
	if (!larger)
		return false;
	bytes->bytes = larger;
	bytes->room = room;
	return true;
}

void keys_client_receive(struct keys_client *client)
{
	struct keys_bytes *in = &client->in;

	if (in->room - in->length < READ_SIZE && !make_room(in, READ_SIZE)) {
		keys_client_end(client, "out of memory");
		return;
	}
	ssize_t length = recv(client->file, in->bytes + in->length, READ_SIZE, MSG_DONTWAIT);
	if (length > 0)
		in->length += (size_t)length;
	else if (!length || (errno != EAGAIN && errno != EINTR))
		keys_client_end(client, "");
}

bool keys_client_next(struct keys_client *client, struct hd_channel_message *out)
{
	struct keys_bytes *in = &client->in;
	struct hd_error err = {""};
	size_t used = 0;

	if (client->dead || in->used == in->length)
		return false;
	if (hd_channel_decode(in->bytes + in->used, in->length - in->used, out, &used, &err)) {
		keys_client_end(client, err.text);
		return false;
	}
	in->used += used;
	return used != 0;
}

void keys_client_send(struct keys_client *client, const struct hd_channel_message *message)
{
	struct keys_bytes *unsent = &client->out;
	uint8_t *bytes;
	size_t length;

	if (client->file < 0 || client->dead)
		return;
	if (hd_channel_encode(message, &bytes, &length)) {
		keys_client_end(client, "a message is too large, or memory is short");
		return;
	}
	if (unsent->length - unsent->used + length > UNSENT_MOST) {
		keys_client_end(client, "it does not read what it is sent");
	} else if (unsent->room - unsent->length < length && !make_room(unsent, length)) {
		keys_client_end(client, "out of memory");
	} else {
		memcpy(unsent->bytes + unsent->length, bytes, length);
		unsent->length += length;
	}
	free(bytes);
}

void keys_client_flush(struct keys_client *client)
{
	struct keys_bytes *unsent = &client->out;

	while (!client->dead && unsent->used < unsent->length) {
		ssize_t done = send(client->file, unsent->bytes + unsent->used,
				    unsent->length - unsent->used, MSG_NOSIGNAL | MSG_DONTWAIT);
		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0 && errno == EAGAIN)
			return;
		if (done <= 0)
			keys_client_end(client, "");
		else
			unsent->used += (size_t)done;
	}
}

bool keys_client_is_behind(const struct keys_client *client)
{
	return client->out.used < client->out.length;
}
