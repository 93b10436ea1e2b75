/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The frames of the key channel. */
#include <assert.h>
#include <endian.h>
#include <errno.h>
#include <heddle/base/error.h>
#include <heddle/base/plain.h>
#include <heddle/keyd/channel.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Numbers in network byte order. */

static inline uint16_t channel_bytes_get16(const uint8_t *at)
{
	uint16_t value;

	memcpy(&value, at, sizeof(value));
	return be16toh(value);
}

static inline uint32_t channel_bytes_get32(const uint8_t *at)
{
	uint32_t value;

	memcpy(&value, at, sizeof(value));
	return be32toh(value);
}

static inline uint64_t channel_bytes_get64(const uint8_t *at)
{
	uint64_t value;

	memcpy(&value, at, sizeof(value));
	return be64toh(value);
}

static inline void channel_bytes_put16(uint8_t *at, uint16_t value)
{
	value = htobe16(value);
	memcpy(at, &value, sizeof(value));
}

static inline void channel_bytes_put32(uint8_t *at, uint32_t value)
{
	value = htobe32(value);
	memcpy(at, &value, sizeof(value));
}

static inline void channel_bytes_put64(uint8_t *at, uint64_t value)
{
	value = htobe64(value);
	memcpy(at, &value, sizeof(value));
}

/* The bodies of the key channel's messages (channel.h has their layout). */

#define CHANNEL_BODY_ENTRY 12u /* bytes of an entry of SET */
#define CHANNEL_BODY_PORT_LAST 254u

/* ---- channel write ---- */

/* Writes the bodies of the key channel's messages, or counts their bytes. */

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

/*
 * Writes the body of a message to at, and returns its number of bytes. at NULL: only counts. The
 * lists must not have more elements than fit into HD_CHANNEL_BODY_MAX. O(bytes).
 */
static size_t channel_body_write(const struct hd_channel_message *message, uint8_t *at)
{
	const struct hd_channel_hello *hello = &message->hello;
	const struct hd_channel_fabric *fabric = &message->fabric;
	const struct hd_channel_set *set = &message->set;
	const struct hd_channel_result *result = &message->result;
	const struct hd_channel_broken *broken = &message->broken;
	struct writer writer = {at, 0};

	switch (message->type) {
	case HD_CHANNEL_HELLO:
		put64(&writer, hello->instance);
		put32(&writer, hello->master);
		put_text(&writer, hello->engine, sizeof(hello->engine));
		break;
	case HD_CHANNEL_FABRIC:
		put64(&writer, fabric->epoch);
		put32(&writer, fabric->aside_count);
		put32(&writer, (uint32_t)fabric->netlist_length);
		put_list(&writer, fabric->aside, fabric->aside_count);
		put_bytes(&writer, fabric->netlist, fabric->netlist_length);
		break;
	case HD_CHANNEL_HELD:
		put32(&writer, message->held.count);
		put_list(&writer, message->held.keys, message->held.count);
		break;
	case HD_CHANNEL_SET:
		put64(&writer, set->request);
		put64(&writer, set->key);
		put64(&writer, set->epoch);
		put32(&writer, set->overlay.count);
		for (uint32_t i = 0; at && i < set->overlay.count; i++) {
			const struct hd_key_entry *entry = &set->overlay.entries[i];
			uint8_t *bytes = at + writer.length + CHANNEL_BODY_ENTRY * (size_t)i;
			channel_bytes_put64(bytes, entry->switch_guid);
			channel_bytes_put16(bytes + 8, entry->lid);
			bytes[10] = entry->port;
			bytes[11] = 0;
		}
		writer.length += CHANNEL_BODY_ENTRY * (size_t)set->overlay.count;
		break;
	case HD_CHANNEL_RESULT:
		put64(&writer, result->request);
		put64(&writer, result->key);
		put32(&writer, (uint32_t)result->status);
		put32(&writer, result->blocks);
		put32(&writer, result->changed);
		put_text(&writer, result->reason, sizeof(result->reason));
		break;
	case HD_CHANNEL_BROKEN:
		put64(&writer, broken->key);
		put64(&writer, broken->epoch);
		put_text(&writer, broken->reason, sizeof(broken->reason));
		break;
	}
	return writer.length;
}

/* ---- channel read ---- */

/* Reads the bodies of the key channel's messages, and believes nothing that they say. */

/* A body; reading behind its end gives 0 and sets `beyond`. */
struct reader {
	const uint8_t *at, *end;
	bool beyond;
	struct hd_error *err;
};

static const uint8_t *channel_take(struct reader *reader, size_t length)
{
	const uint8_t *taken = reader->at;

	if ((size_t)(reader->end - reader->at) < length) {
		reader->beyond = true;
		reader->at = reader->end;
		return NULL;
	}
	reader->at += length;
	return taken;
}

static uint32_t take32(struct reader *reader)
{
	const uint8_t *at = channel_take(reader, sizeof(uint32_t));

	return at ? channel_bytes_get32(at) : 0;
}

static uint64_t take64(struct reader *reader)
{
	const uint8_t *at = channel_take(reader, sizeof(uint64_t));

	return at ? channel_bytes_get64(at) : 0;
}

/* What is left must be exactly `length` bytes. */
static int check_rest(const struct reader *reader, size_t length)
{
	size_t left = (size_t)(reader->end - reader->at);

	if (reader->beyond || left < length)
		return hd_error_set(reader->err, -EPROTO, "the body ends too early");
	if (left > length)
		return hd_error_set(reader->err, -EPROTO, "%zu bytes too many in the body",
				    left - length);
	return 0;
}

static int check_not_zero(const struct reader *reader, const char *what, uint64_t value)
{
	return value ? 0 : hd_error_set(reader->err, -EPROTO, "the %s is 0", what);
}

/* A text, the last thing in a body, into an array of `size` bytes. */
static int take_last_text(struct reader *reader, char *text, size_t size)
{
	uint32_t length = take32(reader);
	int rc = check_rest(reader, length);

	if (rc)
		return rc;
	if (length >= size)
		return hd_error_set(reader->err, -EPROTO, "a text of %u bytes, not at most %zu",
				    length, size - 1);
	char plain[HD_ERROR_TEXT];
	assert(size <= sizeof(plain));
	hd_plain_bytes((const char *)reader->at, length, plain, sizeof(plain));
	if (strlen(plain) != length || memcmp(plain, reader->at, length))
		return hd_error_set(reader->err, -EPROTO, "a text is not plain: '%s'", plain);
	memset(text, 0, size);
	memcpy(text, reader->at, length);
	return 0;
}

/* A list of ascending numbers, none 0, into list[count]. */
static int take_list(struct reader *reader, const char *what, uint64_t *list, uint32_t count)
{
	uint64_t before = 0;

	for (uint32_t i = 0; i < count; i++) {
		uint64_t value = take64(reader);

		if (value <= before)
			return hd_error_set(reader->err, -EPROTO,
					    "%s 0x%" PRIx64 " comes after 0x%" PRIx64, what, value,
					    before);
		list[i] = before = value;
	}
	return 0;
}

static int read_hello(struct reader *reader, struct hd_channel_message *out)
{
	struct hd_channel_hello *hello = &out->hello;

	hello->instance = take64(reader);
	uint32_t master = take32(reader);
	hello->master = master;
	int rc = take_last_text(reader, hello->engine, sizeof(hello->engine));
	if (!rc && master > 1)
		rc = hd_error_set(reader->err, -EPROTO, "master is %u, neither 0 nor 1", master);
	return rc ? rc : check_not_zero(reader, "instance", hello->instance);
}

static int read_fabric(struct reader *reader, struct hd_channel_message *out)
{
	struct hd_channel_fabric *fabric = &out->fabric;

	fabric->epoch = take64(reader);
	fabric->aside_count = take32(reader);
	fabric->netlist_length = take32(reader);
	size_t list = (size_t)fabric->aside_count * sizeof(uint64_t);
	int rc = check_rest(reader, list + fabric->netlist_length);
	if (rc)
		return rc;
	uint8_t *memory = malloc(list + fabric->netlist_length + 1);
	if (!memory)
		return hd_error_no_memory(reader->err);
	rc = take_list(reader, "GUID", (uint64_t *)(void *)memory, fabric->aside_count);
	if (rc) {
		free(memory);
		return rc;
	}
	if (fabric->netlist_length)
		memcpy(memory + list, reader->at, fabric->netlist_length);
	fabric->aside = (const uint64_t *)(void *)memory;
	fabric->netlist = (const char *)memory + list;
	out->memory = memory;
	return 0;
}

static int read_held(struct reader *reader, struct hd_channel_message *out)
{
	uint32_t count = take32(reader);
	size_t size = (size_t)count * sizeof(uint64_t);
	int rc = check_rest(reader, size);

	if (rc)
		return rc;
	uint64_t *keys = malloc(size + 1);
	if (!keys)
		return hd_error_no_memory(reader->err);
	rc = take_list(reader, "key", keys, count);
	if (rc) {
		free(keys);
		return rc;
	}
	out->held = (struct hd_channel_held){count, keys};
	out->memory = keys;
	return 0;
}

static int check_entry(const struct reader *reader, const struct hd_key_entry *entry,
		       const struct hd_key_entry *before, uint8_t zero)
{
	bool first = !before || before->switch_guid < entry->switch_guid;

	if (!first && (before->switch_guid > entry->switch_guid || before->lid >= entry->lid))
		return hd_error_set(reader->err, -EPROTO,
				    "the entry of switch 0x%016" PRIx64
				    " for LID %u is not in order",
				    entry->switch_guid, entry->lid);
	if (!entry->switch_guid || !entry->lid || entry->lid > HD_LID_LAST || !entry->port ||
	    entry->port > CHANNEL_BODY_PORT_LAST || zero)
		return hd_error_set(reader->err, -EPROTO,
				    "an entry has switch 0x%016" PRIx64
				    ", LID %u, port %u and a last byte 0x%02x",
				    entry->switch_guid, entry->lid, entry->port, zero);
	return 0;
}

static int take_entries(struct reader *reader, struct hd_key_entry *entries, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		const uint8_t *at = channel_take(reader, CHANNEL_BODY_ENTRY);
		int rc;

		entries[i] = (struct hd_key_entry){channel_bytes_get64(at),
						   channel_bytes_get16(at + 8), at[10]};
		rc = check_entry(reader, &entries[i], i ? &entries[i - 1] : NULL, at[11]);
		if (rc)
			return rc;
	}
	return 0;
}

static int read_set(struct reader *reader, struct hd_channel_message *out)
{
	struct hd_channel_set *set = &out->set;

	set->request = take64(reader);
	set->key = take64(reader);
	set->epoch = take64(reader);
	uint32_t count = take32(reader);
	int rc = check_rest(reader, (size_t)count * CHANNEL_BODY_ENTRY);
	if (!rc)
		rc = check_not_zero(reader, "key", set->key);
	if (rc)
		return rc;
	set->overlay.count = count;
	set->overlay.entries = calloc((size_t)count + 1, sizeof(*set->overlay.entries));
	if (!set->overlay.entries)
		return hd_error_no_memory(reader->err);
	rc = take_entries(reader, set->overlay.entries, count);
	if (rc) {
		free(set->overlay.entries);
		return rc;
	}
	out->memory = set->overlay.entries;
	return 0;
}

static int read_result(struct reader *reader, struct hd_channel_message *out)
{
	struct hd_channel_result *result = &out->result;

	result->request = take64(reader);
	result->key = take64(reader);
	uint32_t status = take32(reader);
	result->blocks = take32(reader);
	result->changed = take32(reader);
	int rc = take_last_text(reader, result->reason, sizeof(result->reason));
	if (!rc && status >= HD_CHANNEL_STATUS_COUNT)
		rc = hd_error_set(reader->err, -EPROTO, "unknown status %u", status);
	if (rc)
		return rc;
	result->status = (enum hd_channel_status)status;
	return check_not_zero(reader, "key", result->key);
}

static int read_broken(struct reader *reader, struct hd_channel_message *out)
{
	struct hd_channel_broken *broken = &out->broken;

	broken->key = take64(reader);
	broken->epoch = take64(reader);
	int rc = take_last_text(reader, broken->reason, sizeof(broken->reason));
	return rc ? rc : check_not_zero(reader, "key", broken->key);
}

/*
 * Reads the whole body of a message of a known type. Errors: -EPROTO, -ENOMEM; then nothing is left
 * to release. O(bytes).
 */
static int channel_body_read(enum hd_channel_type type, const uint8_t *body, size_t length,
			     struct hd_channel_message *out, struct hd_error *err)
{
	static int (*const readers[])(struct reader *, struct hd_channel_message *) = {
	    [HD_CHANNEL_HELLO] = read_hello,   [HD_CHANNEL_FABRIC] = read_fabric,
	    [HD_CHANNEL_HELD] = read_held,     [HD_CHANNEL_SET] = read_set,
	    [HD_CHANNEL_RESULT] = read_result, [HD_CHANNEL_BROKEN] = read_broken,
	};
	struct reader reader = {.at = body, .end = body + length, .err = err};

	memset(out, 0, sizeof(*out));
	out->type = type;
	return readers[type](&reader, out);
}

/* ---- channel ---- */

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
	if (too_long(message))
		return -EMSGSIZE;
	size_t body = channel_body_write(message, NULL);
	if (body > HD_CHANNEL_BODY_MAX)
		return -EMSGSIZE;
	uint8_t *made = malloc(HD_CHANNEL_HEADER + body);
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

	if (length < HD_CHANNEL_HEADER) {
		*used = 0;
		return 0;
	}
	int rc = check_header(bytes, err);
	if (rc)
		return rc;
	size_t body = channel_bytes_get32(bytes + 8);
	if (length - HD_CHANNEL_HEADER < body) {
		*used = 0;
		return 0;
	}
	enum hd_channel_type type = (enum hd_channel_type)channel_bytes_get16(bytes + 6);
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
