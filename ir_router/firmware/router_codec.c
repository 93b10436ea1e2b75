/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The header: 0 magic, 4 version (16 bits), 6 type (16), 8 length, 12 checksum of the message with
 * 0 in this place, 16 session (64), 24 sequence (64), 32 epoch (64). A body follows, and then the
 * entries.
 */
#include "router_codec.h"

#include "router_bytes.h"

#include <string.h>

#define LENGTH_AT 8u
#define CHECKSUM_AT 12u
#define BODY_AT HD_ROUTER_HEADER

/* Bytes of the body and of an entry, and where the body has the number of entries. */
static const struct form {
	uint8_t body, entry, count_at;
} forms[HD_ROUTER_TYPES] = {
    [HD_ROUTER_HELLO] = {32, 0, 0},	[HD_ROUTER_PORTS] = {16, 56, 8},
    [HD_ROUTER_HOSTS] = {24, 32, 16},	[HD_ROUTER_MAP] = {24, 24, 16},
    [HD_ROUTER_READY] = {24, 0, 0},	[HD_ROUTER_ACCEPTED] = {24, 0, 0},
    [HD_ROUTER_FOREIGN] = {24, 32, 16}, [HD_ROUTER_PREFIXES] = {16, 16, 12},
    [HD_ROUTER_REFUSED] = {16, 0, 0},	[HD_ROUTER_ALIVE] = {0, 0, 0},
};

static uint32_t checksum_of(const uint8_t *bytes, uint32_t length)
{
	static const uint8_t zero[4];
	uint32_t sum = router_bytes_checksum(0, bytes, CHECKSUM_AT);

	sum = router_bytes_checksum(sum, zero, sizeof(zero));
	return router_bytes_checksum(sum, bytes + CHECKSUM_AT + 4, length - CHECKSUM_AT - 4);
}

static bool is_zero(const uint8_t *bytes, uint32_t length)
{
	uint8_t any = 0;

	for (uint32_t i = 0; i < length; i++)
		any |= bytes[i];
	return !any;
}

enum hd_router_reason hd_router_frame(const uint8_t header[HD_ROUTER_HEADER], uint32_t longest,
				      uint32_t *length)
{
	uint32_t says = router_bytes_get32(header + LENGTH_AT);

	if (router_bytes_get32(header) != HD_ROUTER_MAGIC)
		return HD_ROUTER_NO_MAGIC;
	if (router_bytes_get16(header + 4) != HD_ROUTER_VERSION_NUMBER)
		return HD_ROUTER_VERSION;
	if (says > longest || says > HD_ROUTER_MESSAGE_MAX)
		return HD_ROUTER_OVERSIZED;
	if (says < HD_ROUTER_HEADER)
		return HD_ROUTER_TRUNCATED;
	*length = says;
	return HD_ROUTER_OK;
}

static void decode_header(const uint8_t *bytes, struct hd_router_message *message)
{
	memset(message, 0, sizeof(*message));
	message->type = (enum hd_router_type)router_bytes_get16(bytes + 6);
	message->session = router_bytes_get64(bytes + 16);
	message->sequence = router_bytes_get64(bytes + 24);
	message->epoch = router_bytes_get64(bytes + 32);
}

/* Reads the body. Returns whether its reserved fields are 0. */
static bool decode_body(const uint8_t *body, struct hd_router_message *message)
{
	switch (message->type) {
	case HD_ROUTER_HELLO:
		message->role = (enum hd_router_role)body[0];
		message->nonce = router_bytes_get64(body + 8);
		message->prefix = router_bytes_get64(body + 16);
		message->node_guid = router_bytes_get64(body + 24);
		return is_zero(body + 1, 7);
	case HD_ROUTER_PORTS:
		message->prefix = router_bytes_get64(body);
		return is_zero(body + 12, 4);
	case HD_ROUTER_HOSTS:
	case HD_ROUTER_MAP:
	case HD_ROUTER_FOREIGN:
		message->prefix = router_bytes_get64(body);
		message->total = router_bytes_get32(body + 8);
		message->first = router_bytes_get32(body + 12);
		message->hops = router_bytes_get32(body + 20);
		return message->type == HD_ROUTER_FOREIGN || !message->hops;
	case HD_ROUTER_READY:
	case HD_ROUTER_ACCEPTED:
		message->prefix = router_bytes_get64(body);
		message->ports = router_bytes_get32(body + 8);
		message->hosts = router_bytes_get32(body + 12);
		message->mapped = router_bytes_get32(body + 16);
		return is_zero(body + 20, 4);
	case HD_ROUTER_PREFIXES:
		message->port_guid = router_bytes_get64(body);
		message->lid = router_bytes_get16(body + 8);
		return is_zero(body + 10, 2);
	case HD_ROUTER_REFUSED:
		message->refused_sequence = router_bytes_get64(body);
		message->reason = (enum hd_router_reason)router_bytes_get32(body + 8);
		message->refused_type = router_bytes_get16(body + 12);
		return is_zero(body + 14, 2);
	default:
		return true;
	}
}

/* Whether the reserved fields of all entries are 0. */
static bool entries_are_clean(const struct hd_router_message *message)
{
	uint32_t size = forms[message->type].entry;

	for (uint32_t i = 0; i < message->count; i++) {
		const uint8_t *entry = message->entries + (size_t)i * size;

		if (message->type == HD_ROUTER_PORTS && !is_zero(entry + 21, 3))
			return false;
		if (message->type == HD_ROUTER_PREFIXES && !is_zero(entry + 9, 7))
			return false;
		if ((message->type == HD_ROUTER_HOSTS || message->type == HD_ROUTER_FOREIGN) &&
		    !is_zero(entry + 30, 2))
			return false;
	}
	return true;
}

enum hd_router_reason hd_router_decode(const uint8_t *bytes, uint32_t length,
				       struct hd_router_message *message)
{
	const struct form *form;
	struct hd_router_message read;
	enum hd_router_reason reason;
	uint32_t says;

	if (length < HD_ROUTER_HEADER)
		return HD_ROUTER_TRUNCATED;
	reason = hd_router_frame(bytes, HD_ROUTER_MESSAGE_MAX, &says);
	if (reason)
		return reason;
	if (says != length)
		return says > length ? HD_ROUTER_TRUNCATED : HD_ROUTER_BAD_FORM;
	if (checksum_of(bytes, length) != router_bytes_get32(bytes + CHECKSUM_AT))
		return HD_ROUTER_CHECKSUM;
	decode_header(bytes, &read);
	if (!read.type || read.type >= HD_ROUTER_TYPES)
		return HD_ROUTER_UNKNOWN_TYPE;
	form = &forms[read.type];
	if (length < BODY_AT + form->body || !decode_body(bytes + BODY_AT, &read))
		return HD_ROUTER_BAD_FORM;
	if (form->count_at)
		read.count = router_bytes_get32(bytes + BODY_AT + form->count_at);
	read.entries = bytes + BODY_AT + form->body;
	if (length - BODY_AT - form->body != (uint64_t)read.count * form->entry ||
	    !entries_are_clean(&read))
		return HD_ROUTER_BAD_FORM;
	*message = read;
	return HD_ROUTER_OK;
}

static const uint8_t *entry_at(const struct hd_router_message *message, uint32_t index)
{
	return message->entries + (size_t)index * forms[message->type].entry;
}

void hd_router_port_at(const struct hd_router_message *message, uint32_t index,
		       struct hd_router_port_entry *entry)
{
	const uint8_t *at = entry_at(message, index);

	entry->guid = router_bytes_get64(at);
	entry->switch_guid = router_bytes_get64(at + 8);
	entry->lid = router_bytes_get16(at + 16);
	entry->switch_lid = router_bytes_get16(at + 18);
	entry->switch_port = at[20];
	memcpy(entry->down, at + 24, sizeof(entry->down));
}

void hd_router_host_at(const struct hd_router_message *message, uint32_t index,
		       struct hd_router_host_entry *entry)
{
	const uint8_t *at = entry_at(message, index);

	entry->gid.prefix = router_bytes_get64(at);
	entry->gid.guid = router_bytes_get64(at + 8);
	entry->top_switch = router_bytes_get64(at + 16);
	entry->place = router_bytes_get32(at + 24);
	entry->lid = router_bytes_get16(at + 28);
}

void hd_router_map_at(const struct hd_router_message *message, uint32_t index,
		      struct hd_router_map_entry *entry)
{
	const uint8_t *at = entry_at(message, index);

	entry->gid.prefix = router_bytes_get64(at);
	entry->gid.guid = router_bytes_get64(at + 8);
	entry->port_guid = router_bytes_get64(at + 16);
}

void hd_router_prefix_at(const struct hd_router_message *message, uint32_t index,
			 struct hd_router_prefix_entry *entry)
{
	const uint8_t *at = entry_at(message, index);

	entry->prefix = router_bytes_get64(at);
	entry->hops = at[8];
}

uint32_t hd_router_entries_max(enum hd_router_type type, uint32_t size)
{
	const struct form *form = &forms[type];

	if (size > HD_ROUTER_MESSAGE_MAX)
		size = HD_ROUTER_MESSAGE_MAX;
	if (!form->entry || size < BODY_AT + form->body)
		return 0;
	return (size - BODY_AT - form->body) / form->entry;
}

static void encode_body(uint8_t *body, const struct hd_router_message *message)
{
	switch (message->type) {
	case HD_ROUTER_HELLO:
		body[0] = (uint8_t)message->role;
		router_bytes_put64(body + 8, message->nonce);
		router_bytes_put64(body + 16, message->prefix);
		router_bytes_put64(body + 24, message->node_guid);
		break;
	case HD_ROUTER_HOSTS:
	case HD_ROUTER_MAP:
	case HD_ROUTER_FOREIGN:
		router_bytes_put32(body + 8, message->total);
		router_bytes_put32(body + 12, message->first);
		router_bytes_put32(body + 20, message->hops);
		router_bytes_put64(body, message->prefix);
		break;
	case HD_ROUTER_READY:
	case HD_ROUTER_ACCEPTED:
		router_bytes_put32(body + 8, message->ports);
		router_bytes_put32(body + 12, message->hosts);
		router_bytes_put32(body + 16, message->mapped);
		router_bytes_put64(body, message->prefix);
		break;
	case HD_ROUTER_PORTS:
		router_bytes_put64(body, message->prefix);
		break;
	case HD_ROUTER_PREFIXES:
		router_bytes_put64(body, message->port_guid);
		router_bytes_put16(body + 8, message->lid);
		break;
	case HD_ROUTER_REFUSED:
		router_bytes_put64(body, message->refused_sequence);
		router_bytes_put32(body + 8, (uint32_t)message->reason);
		router_bytes_put16(body + 12, message->refused_type);
		break;
	default:
		break;
	}
}

void hd_router_write_begin(struct hd_router_writer *writer, uint8_t *bytes, uint32_t size,
			   const struct hd_router_message *message)
{
	writer->bytes = bytes;
	writer->size = size;
	writer->type = message->type;
	writer->count = 0;
	writer->used = BODY_AT + forms[message->type].body;
	memset(bytes, 0, writer->used);
	router_bytes_put32(bytes, HD_ROUTER_MAGIC);
	router_bytes_put16(bytes + 4, HD_ROUTER_VERSION_NUMBER);
	router_bytes_put16(bytes + 6, (uint16_t)message->type);
	router_bytes_put64(bytes + 16, message->session);
	router_bytes_put64(bytes + 24, message->sequence);
	router_bytes_put64(bytes + 32, message->epoch);
	encode_body(bytes + BODY_AT, message);
}

/* Room for one entry, with zeros. */
static uint8_t *next_entry(struct hd_router_writer *writer)
{
	uint8_t *at = writer->bytes + writer->used;

	memset(at, 0, forms[writer->type].entry);
	writer->used += forms[writer->type].entry;
	writer->count++;
	return at;
}

void hd_router_write_port(struct hd_router_writer *writer, const struct hd_router_port_entry *entry)
{
	uint8_t *at = next_entry(writer);

	router_bytes_put64(at, entry->guid);
	router_bytes_put64(at + 8, entry->switch_guid);
	router_bytes_put16(at + 16, entry->lid);
	router_bytes_put16(at + 18, entry->switch_lid);
	at[20] = entry->switch_port;
	memcpy(at + 24, entry->down, sizeof(entry->down));
}

void hd_router_write_host(struct hd_router_writer *writer, const struct hd_router_host_entry *entry)
{
	uint8_t *at = next_entry(writer);

	router_bytes_put64(at, entry->gid.prefix);
	router_bytes_put64(at + 8, entry->gid.guid);
	router_bytes_put64(at + 16, entry->top_switch);
	router_bytes_put32(at + 24, entry->place);
	router_bytes_put16(at + 28, entry->lid);
}

void hd_router_write_map(struct hd_router_writer *writer, const struct hd_router_map_entry *entry)
{
	uint8_t *at = next_entry(writer);

	router_bytes_put64(at, entry->gid.prefix);
	router_bytes_put64(at + 8, entry->gid.guid);
	router_bytes_put64(at + 16, entry->port_guid);
}

void hd_router_write_prefix(struct hd_router_writer *writer,
			    const struct hd_router_prefix_entry *entry)
{
	uint8_t *at = next_entry(writer);

	router_bytes_put64(at, entry->prefix);
	at[8] = entry->hops;
}

uint32_t hd_router_write_end(struct hd_router_writer *writer)
{
	const struct form *form = &forms[writer->type];

	if (form->count_at)
		router_bytes_put32(writer->bytes + BODY_AT + form->count_at, writer->count);
	router_bytes_put32(writer->bytes + LENGTH_AT, writer->used);
	router_bytes_put32(writer->bytes + CHECKSUM_AT, checksum_of(writer->bytes, writer->used));
	return writer->used;
}
