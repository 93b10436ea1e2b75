/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reads the bodies of the key channel's messages, and believes nothing that they say. */
#include "channel_body.h"
#include "channel_bytes.h"

#include <assert.h>
#include <errno.h>
#include <heddle/base/error.h>
#include <heddle/base/plain.h>
#include <inttypes.h>
#include <stdlib.h>

/* A body; reading behind its end gives 0 and sets `beyond`. */
struct reader {
	const uint8_t *at, *end;
	bool beyond;
	struct hd_error *err;
};

static const uint8_t *take(struct reader *reader, size_t length)
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
	const uint8_t *at = take(reader, sizeof(uint32_t));

	return at ? channel_bytes_get32(at) : 0;
}

static uint64_t take64(struct reader *reader)
{
	const uint8_t *at = take(reader, sizeof(uint64_t));

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
	uint32_t master;
	int rc;

	hello->instance = take64(reader);
	master = take32(reader);
	hello->master = master;
	rc = take_last_text(reader, hello->engine, sizeof(hello->engine));
	if (!rc && master > 1)
		rc = hd_error_set(reader->err, -EPROTO, "master is %u, neither 0 nor 1", master);
	return rc ? rc : check_not_zero(reader, "instance", hello->instance);
}

static int read_fabric(struct reader *reader, struct hd_channel_message *out)
{
	struct hd_channel_fabric *fabric = &out->fabric;
	size_t list;
	uint8_t *memory;
	int rc;

	fabric->epoch = take64(reader);
	fabric->aside_count = take32(reader);
	fabric->netlist_length = take32(reader);
	list = (size_t)fabric->aside_count * sizeof(uint64_t);
	rc = check_rest(reader, list + fabric->netlist_length);
	if (rc)
		return rc;
	memory = malloc(list + fabric->netlist_length + 1);
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
	uint64_t *keys;

	if (rc)
		return rc;
	keys = malloc(size + 1);
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
		const uint8_t *at = take(reader, CHANNEL_BODY_ENTRY);
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
	uint32_t count;
	int rc;

	set->request = take64(reader);
	set->key = take64(reader);
	set->epoch = take64(reader);
	count = take32(reader);
	rc = check_rest(reader, (size_t)count * CHANNEL_BODY_ENTRY);
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
	uint32_t status;
	int rc;

	result->request = take64(reader);
	result->key = take64(reader);
	status = take32(reader);
	result->blocks = take32(reader);
	result->changed = take32(reader);
	rc = take_last_text(reader, result->reason, sizeof(result->reason));
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
	int rc;

	broken->key = take64(reader);
	broken->epoch = take64(reader);
	rc = take_last_text(reader, broken->reason, sizeof(broken->reason));
	return rc ? rc : check_not_zero(reader, "key", broken->key);
}

int channel_body_read(enum hd_channel_type type, const uint8_t *body, size_t length,
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
