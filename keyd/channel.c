/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The frames of the key channel. */
#include <heddle/keyd/channel.h>

#include "channel_body.h"
#include "channel_bytes.h"

#include <errno.h>
#include <stdlib.h>

#define MAGIC 0x484B4559u /* "HKEY" */

/* The smallest and the largest body of each type. A peer cannot make us wait for more. */
static const struct {
	const char *name;
	uint32_t least, most;
} types[] = {
    [HD_CHANNEL_HELLO] = {"HELLO", 16, 16 + sizeof((struct hd_channel_hello){0}.engine) - 1},
    [HD_CHANNEL_FABRIC] = {"FABRIC", 16, HD_CHANNEL_BODY_MAX},
    [HD_CHANNEL_HELD] = {"HELD", 4, HD_CHANNEL_BODY_MAX},
    [HD_CHANNEL_SET] = {"SET", 28, 28 + CHANNEL_BODY_ENTRY *HD_CHANNEL_ENTRIES_MAX},
    [HD_CHANNEL_RESULT] = {"RESULT", 32, 32 + HD_CHANNEL_TEXT - 1},
    [HD_CHANNEL_BROKEN] = {"BROKEN", 20, 20 + HD_CHANNEL_TEXT - 1},
};

/* Whether lists are so long that sums of their sizes could overflow. */
static bool too_long(const struct hd_channel_message *message)
{
	const uint32_t numbers = HD_CHANNEL_BODY_MAX / sizeof(uint64_t);

	switch (message->type) {
	case HD_CHANNEL_FABRIC:
		return message->fabric.netlist_length > HD_CHANNEL_BODY_MAX ||
		       message->fabric.aside_count > numbers;
	case HD_CHANNEL_HELD:
		return message->held.count > numbers;
	case HD_CHANNEL_SET:
		return message->set.overlay.count > HD_CHANNEL_ENTRIES_MAX;
	default:
		return false;
	}
}

int hd_channel_encode(const struct hd_channel_message *message, uint8_t **bytes, size_t *length)
{
	size_t body;
	uint8_t *made;

	if (too_long(message))
		return -EMSGSIZE;
	body = channel_body_write(message, NULL);
	if (body > HD_CHANNEL_BODY_MAX)
		return -EMSGSIZE;
	made = malloc(HD_CHANNEL_HEADER + body);
	if (!made)
		return -ENOMEM;
	channel_bytes_put32(made, MAGIC);
	channel_bytes_put16(made + 4, HD_CHANNEL_VERSION);
	channel_bytes_put16(made + 6, (uint16_t)message->type);
	channel_bytes_put32(made + 8, (uint32_t)body);
	channel_body_write(message, made + HD_CHANNEL_HEADER);
	*bytes = made;
	*length = HD_CHANNEL_HEADER + body;
	return 0;
}

static int check_header(const uint8_t *header, struct hd_error *err)
{
	uint16_t version = channel_bytes_get16(header + 4), type = channel_bytes_get16(header + 6);
	uint32_t body = channel_bytes_get32(header + 8);

	if (channel_bytes_get32(header) != MAGIC)
		return hd_error_set(err, -EPROTO,
				    "key channel: a message begins with 0x%08x, not with \"HKEY\"",
				    channel_bytes_get32(header));
	if (version != HD_CHANNEL_VERSION)
		return hd_error_set(err, -EPROTO,
				    "key channel: the other end speaks version %u of the protocol, "
				    "this end version %u",
				    version, HD_CHANNEL_VERSION);
	if (type < HD_CHANNEL_HELLO || type > HD_CHANNEL_BROKEN)
		return hd_error_set(err, -EPROTO, "key channel: unknown message type %u", type);
	if (body < types[type].least || body > types[type].most)
		return hd_error_set(err, -EPROTO,
				    "key channel: %s has a body of %u bytes, not %u to %u",
				    types[type].name, body, types[type].least, types[type].most);
	return 0;
}

int hd_channel_decode(const uint8_t *bytes, size_t length, struct hd_channel_message *out,
		      size_t *used, struct hd_error *err)
{
	struct hd_channel_message message;
	enum hd_channel_type type;
	size_t body;
	int rc;

	if (length < HD_CHANNEL_HEADER) {
		*used = 0;
		return 0;
	}
	rc = check_header(bytes, err);
	if (rc)
		return rc;
	body = channel_bytes_get32(bytes + 8);
	if (length - HD_CHANNEL_HEADER < body) {
		*used = 0;
		return 0;
	}
	type = (enum hd_channel_type)channel_bytes_get16(bytes + 6);
	rc = channel_body_read(type, bytes + HD_CHANNEL_HEADER, body, &message, err);
	if (rc == -EPROTO)
		return hd_error_prefix(err, rc, "key channel: %s", types[type].name);
	if (rc)
		return rc;
	*out = message;
	*used = HD_CHANNEL_HEADER + body;
	return 0;
}

void hd_channel_release(struct hd_channel_message *message)
{
	free(message->memory);
	message->memory = NULL;
}
