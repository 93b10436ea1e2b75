/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Writes the bodies of the key channel's messages, or counts their bytes. */
#include "channel_body.h"
#include "channel_bytes.h"

#include <assert.h>
#include <heddle/base/error.h>
#include <heddle/base/plain.h>

struct writer {
	uint8_t *at; /* NULL: only counts */
	size_t length;
};

static void put32(struct writer *writer, uint32_t value)
{
	if (writer->at)
		channel_bytes_put32(writer->at + writer->length, value);
	writer->length += sizeof(value);
}

static void put64(struct writer *writer, uint64_t value)
{
	if (writer->at)
		channel_bytes_put64(writer->at + writer->length, value);
	writer->length += sizeof(value);
}

static void put_bytes(struct writer *writer, const void *bytes, size_t length)
{
	if (writer->at && length)
		memcpy(writer->at + writer->length, bytes, length);
	writer->length += length;
}

/* The text of an array of `size` bytes. */
static void put_text(struct writer *writer, const char *text, size_t size)
{
	char plain[HD_ERROR_TEXT];

	assert(size <= sizeof(plain));
	hd_plain_bytes(text, strnlen(text, size - 1), plain, size);
	put32(writer, (uint32_t)strlen(plain));
	put_bytes(writer, plain, strlen(plain));
}

static void put_list(struct writer *writer, const uint64_t *list, uint32_t count)
{
	if (writer->at)
		for (uint32_t i = 0; i < count; i++)
			channel_bytes_put64(writer->at + writer->length + sizeof(*list) * i,
					    list[i]);
	writer->length += sizeof(*list) * (size_t)count;
}

static void put_hello(struct writer *writer, const struct hd_channel_hello *hello)
{
	put64(writer, hello->instance);
	put32(writer, hello->master);
	put_text(writer, hello->engine, sizeof(hello->engine));
}

static void put_fabric(struct writer *writer, const struct hd_channel_fabric *fabric)
{
	put64(writer, fabric->epoch);
	put32(writer, fabric->aside_count);
	put32(writer, (uint32_t)fabric->netlist_length);
	put_list(writer, fabric->aside, fabric->aside_count);
	put_bytes(writer, fabric->netlist, fabric->netlist_length);
}

static void put_set(struct writer *writer, const struct hd_channel_set *set)
{
	const struct hd_key_overlay *overlay = &set->overlay;
	uint8_t bytes[CHANNEL_BODY_ENTRY] = {0};

	put64(writer, set->request);
	put64(writer, set->key);
	put64(writer, set->epoch);
	put32(writer, overlay->count);
	if (!writer->at) {
		writer->length += sizeof(bytes) * (size_t)overlay->count;
		return;
	}
	for (uint32_t i = 0; i < overlay->count; i++) {
		channel_bytes_put64(bytes, overlay->entries[i].switch_guid);
		channel_bytes_put16(bytes + 8, overlay->entries[i].lid);
		bytes[10] = overlay->entries[i].port;
		put_bytes(writer, bytes, sizeof(bytes));
	}
}

static void put_result(struct writer *writer, const struct hd_channel_result *result)
{
	put64(writer, result->request);
	put64(writer, result->key);
	put32(writer, (uint32_t)result->status);
	put32(writer, result->blocks);
	put32(writer, result->changed);
	put_text(writer, result->reason, sizeof(result->reason));
}

static void put_broken(struct writer *writer, const struct hd_channel_broken *broken)
{
	put64(writer, broken->key);
	put64(writer, broken->epoch);
	put_text(writer, broken->reason, sizeof(broken->reason));
}

size_t channel_body_write(const struct hd_channel_message *message, uint8_t *at)
{
	struct writer writer = {at, 0};

	switch (message->type) {
	case HD_CHANNEL_HELLO:
		put_hello(&writer, &message->hello);
		break;
	case HD_CHANNEL_FABRIC:
		put_fabric(&writer, &message->fabric);
		break;
	case HD_CHANNEL_HELD:
		put32(&writer, message->held.count);
		put_list(&writer, message->held.keys, message->held.count);
		break;
	case HD_CHANNEL_SET:
		put_set(&writer, &message->set);
		break;
	case HD_CHANNEL_RESULT:
		put_result(&writer, &message->result);
		break;
	case HD_CHANNEL_BROKEN:
		put_broken(&writer, &message->broken);
		break;
	}
	return writer.length;
}
