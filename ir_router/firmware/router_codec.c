/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The header: 0 magic, 4 version (16 bits), 6 type (16), 8 length, 12 checksum of the message with
 * 0 in this place, 16 session (64), 24 sequence (64), 32 epoch (64). A body follows, and then the
 * entries.
 */
#include "router_codec.h"
#include "router_session.h"

#include <string.h>

/* The remainders of all half bytes; the polynomial is 0x1EDC6F41, reflected. */
static const uint32_t remainders[16] = {
    0x00000000, 0x105EC76F, 0x20BD8EDE, 0x30E349B1, 0x417B1DBC, 0x5125DAD3, 0x61C69362, 0x7198540D,
    0x82F63B78, 0x92A8FC17, 0xA24BB5A6, 0xB21572C9, 0xC38D26C4, 0xD3D3E1AB, 0xE330A81A, 0xF36E6F75};

uint32_t router_bytes_checksum(uint32_t before, const uint8_t *bytes, uint32_t length)
{
	uint32_t sum = ~before;

	for (uint32_t i = 0; i < length; i++) {
		sum ^= bytes[i];
		sum = sum >> 4 ^ remainders[sum & 15];
		sum = sum >> 4 ^ remainders[sum & 15];
	}
	return ~sum;
}

static const char *const texts[HD_ROUTER_REASONS] = {
    [HD_ROUTER_OK] = "accepted",
    [HD_ROUTER_NO_MAGIC] = "the bytes are not a message of this protocol",
    [HD_ROUTER_VERSION] = "the message has another version of the protocol",
    [HD_ROUTER_OVERSIZED] = "the message is longer than allowed",
    [HD_ROUTER_TRUNCATED] = "the message is shorter than its header says",
    [HD_ROUTER_CHECKSUM] = "the checksum is wrong",
    [HD_ROUTER_UNKNOWN_TYPE] = "the type of the message is unknown",
    [HD_ROUTER_BAD_FORM] = "the length or a reserved field does not fit the type",
    [HD_ROUTER_NOT_GREETED] = "the first message must be HELLO",
    [HD_ROUTER_OTHER_SESSION] = "the message belongs to another session",
    [HD_ROUTER_REPLAYED] = "the message was received before",
    [HD_ROUTER_GAP] = "a message before this one is missing",
    [HD_ROUTER_WRONG_ROLE] = "this side must not send such a message",
    [HD_ROUTER_OLD_EPOCH] = "the epoch is not newer than the last one",
    [HD_ROUTER_WRONG_EPOCH] = "the message belongs to another epoch than PORTS",
    [HD_ROUTER_FOREIGN_GID] = "a GID has another prefix than its list",
    [HD_ROUTER_OWN_GID] = "the list has GIDs of the receiver's own subnet",
    [HD_ROUTER_WRONG_PREFIX] = "the sender has no right to speak for this prefix",
    [HD_ROUTER_PREFIX_TAKEN] = "another subnet manager has this prefix already",
    [HD_ROUTER_BAD_VALUE] = "a LID, GUID, prefix or hop count is out of range",
    [HD_ROUTER_NOT_SORTED] = "the list is not in ascending order, or has an entry twice",
    [HD_ROUTER_INCOMPLETE] = "parts of the lists are missing",
    [HD_ROUTER_TOO_MANY] = "the list has more entries than this router has room for",
    [HD_ROUTER_UNKNOWN_PORT] = "the port does not belong to the sender",
};

const char *hd_router_reason_text(enum hd_router_reason reason)
{
	return (unsigned)reason < HD_ROUTER_REASONS ? texts[reason] : "unknown reason";
}

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
	memset(&read, 0, sizeof(read));
	read.type = (enum hd_router_type)router_bytes_get16(bytes + 6);
	read.session = router_bytes_get64(bytes + 16);
	read.sequence = router_bytes_get64(bytes + 24);
	read.epoch = router_bytes_get64(bytes + 32);
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
	uint8_t *body = bytes + BODY_AT;
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

static bool gid_is_below(const struct hd_router_gid *a, const struct hd_router_gid *b)
{
	return a->prefix != b->prefix ? a->prefix < b->prefix : a->guid < b->guid;
}

/* Whether the entries lie within the list. */
static enum hd_router_reason check_part(const struct hd_router_message *message)
{
	if (message->first > message->total || message->count > message->total - message->first)
		return HD_ROUTER_BAD_VALUE;
	return HD_ROUTER_OK;
}

static enum hd_router_reason check_hosts(const struct hd_router_message *message)
{
	bool foreign = message->type == HD_ROUTER_FOREIGN;
	struct hd_router_host_entry entry;
	uint64_t before = 0;

	for (uint32_t i = 0; i < message->count; i++) {
		hd_router_host_at(message, i, &entry);
		if (entry.gid.prefix != message->prefix)
			return HD_ROUTER_FOREIGN_GID;
		if (foreign ? entry.lid != 0 : !hd_router_lid_is_unicast(entry.lid))
			return HD_ROUTER_BAD_VALUE;
		if (entry.gid.guid <= before)
			return HD_ROUTER_NOT_SORTED;
		before = entry.gid.guid;
	}
	return check_part(message);
}

static enum hd_router_reason check_map(const struct hd_router_message *message)
{
	struct hd_router_gid before = {0, 0};
	struct hd_router_map_entry entry;

	for (uint32_t i = 0; i < message->count; i++) {
		hd_router_map_at(message, i, &entry);
		if (entry.gid.prefix == message->prefix)
			return HD_ROUTER_OWN_GID;
		if (!entry.port_guid || !hd_router_prefix_is_global(entry.gid.prefix))
			return HD_ROUTER_BAD_VALUE;
		if (!gid_is_below(&before, &entry.gid))
			return HD_ROUTER_NOT_SORTED;
		before = entry.gid;
	}
	return check_part(message);
}

static enum hd_router_reason check_prefixes(uint64_t own, const struct hd_router_message *message)
{
	struct hd_router_prefix_entry entry;
	uint64_t before = 0;

	if (!message->port_guid || !hd_router_lid_is_unicast(message->lid))
		return HD_ROUTER_BAD_VALUE;
	for (uint32_t i = 0; i < message->count; i++) {
		hd_router_prefix_at(message, i, &entry);
		if (entry.prefix == own)
			return HD_ROUTER_WRONG_PREFIX;
		if (!hd_router_prefix_is_global(entry.prefix) || !entry.hops ||
		    entry.hops > HD_ROUTER_HOPS_MAX)
			return HD_ROUTER_BAD_VALUE;
		if (entry.prefix <= before)
			return HD_ROUTER_NOT_SORTED;
		before = entry.prefix;
	}
	return HD_ROUTER_OK;
}

/* Lists of other subnets may be about any prefix but the session's. */
static enum hd_router_reason check_foreign(uint64_t own, const struct hd_router_message *message)
{
	if (message->prefix == own)
		return HD_ROUTER_WRONG_PREFIX;
	if (!hd_router_prefix_is_global(message->prefix) || !message->hops ||
	    message->hops > HD_ROUTER_HOPS_MAX)
		return HD_ROUTER_BAD_VALUE;
	return check_hosts(message);
}

static enum hd_router_reason check_refused(const struct hd_router_message *message)
{
	return message->reason && message->reason < HD_ROUTER_REASONS ? HD_ROUTER_OK
								      : HD_ROUTER_BAD_VALUE;
}

enum hd_router_reason router_check_content(uint64_t prefix, const struct hd_router_message *message)
{
	switch (message->type) {
	case HD_ROUTER_PREFIXES:
		return check_prefixes(prefix, message);
	case HD_ROUTER_FOREIGN:
		return check_foreign(prefix, message);
	case HD_ROUTER_REFUSED:
		return check_refused(message);
	case HD_ROUTER_HELLO:
	case HD_ROUTER_ALIVE:
		return HD_ROUTER_OK;
	default:
		break;
	}
	if (message->prefix != prefix)
		return HD_ROUTER_WRONG_PREFIX;
	if (message->type == HD_ROUTER_PORTS) {
		struct hd_router_port_entry entry;
		uint64_t before = 0;

		for (uint32_t i = 0; i < message->count; i++) {
			hd_router_port_at(message, i, &entry);
			if (!hd_router_lid_is_unicast(entry.lid) ||
			    (entry.switch_guid && !hd_router_lid_is_unicast(entry.switch_lid)))
				return HD_ROUTER_BAD_VALUE;
			if (entry.guid <= before)
				return HD_ROUTER_NOT_SORTED;
			before = entry.guid;
		}
		return HD_ROUTER_OK;
	}
	if (message->type == HD_ROUTER_HOSTS)
		return check_hosts(message);
	return message->type == HD_ROUTER_MAP ? check_map(message) : HD_ROUTER_OK;
}
