/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The form of the key channel's messages. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <heddle/base/random.h>
#include <heddle/keyd/channel.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEADER(type, high, low) "HKEY\0\001\0" type "\0\0" high low

/* ---- bytes written by hand from the layout in channel.h ---- */

static const uint64_t aside[] = {0x0102030405060708, 0x8000000000000000};
static const uint64_t keys[] = {7, 0xFFFFFFFFFFFFFFFF};
static struct hd_key_entry entries[] = {
    {0x2C90300000001, 0x0005, 1}, {0x2C90300000001, 0x0105, 254}, {0x2C90300000002, 0xBFFF, 36}};

static const struct vector {
	const char *what;
	struct hd_channel_message message;
	const char *bytes;
	size_t length;
} vectors[] = {
    {"HELLO",
     {.type = HD_CHANNEL_HELLO,
      .hello = {.instance = 0x1122334455667788, .master = true, .engine = "nrk"}},
     HEADER("\001", "\0", "\023") "\x11\x22\x33\x44\x55\x66\x77\x88"
				  "\0\0\0\001"
				  "\0\0\0\003nrk",
     12 + 19},
    {"HELLO of a standby without engine",
     {.type = HD_CHANNEL_HELLO, .hello = {.instance = 1}},
     HEADER("\001", "\0", "\020") "\0\0\0\0\0\0\0\001\0\0\0\0\0\0\0\0",
     12 + 16},
    {"FABRIC",
     {.type = HD_CHANNEL_FABRIC,
      .fabric =
	  {.epoch = 258, .netlist = "ab\n", .netlist_length = 3, .aside = aside, .aside_count = 2}},
     HEADER("\002", "\0", "\043") "\0\0\0\0\0\0\001\002"
				  "\0\0\0\002"
				  "\0\0\0\003"
				  "\001\002\003\004\005\006\007\010"
				  "\x80\0\0\0\0\0\0\0"
				  "ab\n",
     12 + 35},
    {"HELD",
     {.type = HD_CHANNEL_HELD, .held = {2, keys}},
     HEADER("\003", "\0", "\024") "\0\0\0\002"
				  "\0\0\0\0\0\0\0\007"
				  "\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF",
     12 + 20},
    {"HELD without keys",
     {.type = HD_CHANNEL_HELD, .held = {0, NULL}},
     HEADER("\003", "\0", "\004") "\0\0\0\0",
     12 + 4},
    {"SET",
     {.type = HD_CHANNEL_SET,
      .set = {.request = 9, .key = 7, .epoch = 258, .overlay = {3, entries}}},
     HEADER("\004", "\0", "\100") "\0\0\0\0\0\0\0\011"
				  "\0\0\0\0\0\0\0\007"
				  "\0\0\0\0\0\0\001\002"
				  "\0\0\0\003"
				  "\0\002\xC9\003\0\0\0\001\0\005\001\0"
				  "\0\002\xC9\003\0\0\0\001\001\005\xFE\0"
				  "\0\002\xC9\003\0\0\0\002\xBF\xFF\044\0",
     12 + 64},
    {"SET that removes a key",
     {.type = HD_CHANNEL_SET, .set = {.request = 10, .key = 7}},
     HEADER("\004", "\0", "\034") "\0\0\0\0\0\0\0\012"
				  "\0\0\0\0\0\0\0\007"
				  "\0\0\0\0\0\0\0\0"
				  "\0\0\0\0",
     12 + 28},
    {"RESULT",
     {.type = HD_CHANNEL_RESULT,
      .result = {.request = 9,
		 .key = 7,
		 .status = HD_CHANNEL_REFUSED,
		 .blocks = 513,
		 .changed = 2,
		 .reason = "a loop"}},
     HEADER("\005", "\0", "\046") "\0\0\0\0\0\0\0\011"
				  "\0\0\0\0\0\0\0\007"
				  "\0\0\0\002"
				  "\0\0\002\001"
				  "\0\0\0\002"
				  "\0\0\0\006a loop",
     12 + 38},
    {"BROKEN",
     {.type = HD_CHANNEL_BROKEN, .broken = {.key = 7, .epoch = 259, .reason = "gone"}},
     HEADER("\006", "\0", "\030") "\0\0\0\0\0\0\0\007"
				  "\0\0\0\0\0\0\001\003"
				  "\0\0\0\004gone",
     12 + 24},
};

#define VECTORS (sizeof(vectors) / sizeof(vectors[0]))

static void assert_same_set(const struct hd_channel_set *a, const struct hd_channel_set *b)
{
	assert_int_equal(a->request, b->request);
	assert_int_equal(a->key, b->key);
	assert_int_equal(a->epoch, b->epoch);
	assert_int_equal(a->overlay.count, b->overlay.count);
	for (uint32_t i = 0; i < a->overlay.count; i++) {
		const struct hd_key_entry *x = &a->overlay.entries[i], *y = &b->overlay.entries[i];

		assert_int_equal(x->switch_guid, y->switch_guid);
		assert_int_equal(x->lid, y->lid);
		assert_int_equal(x->port, y->port);
	}
}

static void assert_same_fabric(const struct hd_channel_fabric *a, const struct hd_channel_fabric *b)
{
	assert_int_equal(a->epoch, b->epoch);
	assert_int_equal(a->netlist_length, b->netlist_length);
	assert_int_equal(a->aside_count, b->aside_count);
	if (a->netlist_length)
		assert_memory_equal(a->netlist, b->netlist, a->netlist_length);
	for (uint32_t i = 0; i < a->aside_count; i++)
		assert_int_equal(a->aside[i], b->aside[i]);
}

static void assert_same_result(const struct hd_channel_result *a, const struct hd_channel_result *b)
{
	assert_int_equal(a->request, b->request);
	assert_int_equal(a->key, b->key);
	assert_int_equal(a->status, b->status);
	assert_int_equal(a->blocks, b->blocks);
	assert_int_equal(a->changed, b->changed);
	assert_string_equal(a->reason, b->reason);
}

static void assert_same(const struct hd_channel_message *a, const struct hd_channel_message *b)
{
	assert_int_equal(a->type, b->type);
	switch (a->type) {
	case HD_CHANNEL_HELLO:
		assert_int_equal(a->hello.instance, b->hello.instance);
		assert_int_equal(a->hello.master, b->hello.master);
		assert_string_equal(a->hello.engine, b->hello.engine);
		break;
	case HD_CHANNEL_FABRIC:
		assert_same_fabric(&a->fabric, &b->fabric);
		break;
	case HD_CHANNEL_HELD:
		assert_int_equal(a->held.count, b->held.count);
		for (uint32_t i = 0; i < a->held.count; i++)
			assert_int_equal(a->held.keys[i], b->held.keys[i]);
		break;
	case HD_CHANNEL_SET:
		assert_same_set(&a->set, &b->set);
		break;
	case HD_CHANNEL_RESULT:
		assert_same_result(&a->result, &b->result);
		break;
	case HD_CHANNEL_BROKEN:
		assert_int_equal(a->broken.key, b->broken.key);
		assert_int_equal(a->broken.epoch, b->broken.epoch);
		assert_string_equal(a->broken.reason, b->broken.reason);
		break;
	}
}

/* Decodes bytes in memory of exactly that size, so that a sanitizer sees a read behind the end. */
static int decode(const void *bytes, size_t length, struct hd_channel_message *out, size_t *used,
		  struct hd_error *err)
{
	uint8_t *copy = malloc(length ? length : 1);
	int rc;

	assert_non_null(copy);
	memcpy(copy, bytes, length);
	*used = SIZE_MAX;
	rc = hd_channel_decode(copy, length, out, used, err);
	free(copy);
	return rc;
}

static void test_vectors(void **state)
{
	(void)state;
	for (size_t i = 0; i < VECTORS; i++) {
		struct hd_channel_message read;
		struct hd_error err = {""};
		uint8_t *bytes;
		size_t length, used;

		print_message("%s\n", vectors[i].what);
		assert_int_equal(hd_channel_encode(&vectors[i].message, &bytes, &length), 0);
		assert_int_equal(length, vectors[i].length);
		assert_memory_equal(bytes, vectors[i].bytes, length);
		free(bytes);
		assert_int_equal(decode(vectors[i].bytes, vectors[i].length, &read, &used, &err),
				 0);
		assert_int_equal(used, length);
		assert_same(&read, &vectors[i].message);
		hd_channel_release(&read);
	}
}

/* A message is taken when its last byte is there, not before, and bytes behind it are left alone. */
static void test_truncation(void **state)
{
	(void)state;
	for (size_t i = 0; i < VECTORS; i++) {
		struct hd_channel_message read = {.memory = NULL};
		char stream[256];
		size_t used;

		memcpy(stream, vectors[i].bytes, vectors[i].length);
		memset(stream + vectors[i].length, '!', sizeof(stream) - vectors[i].length);
		for (size_t length = 0; length < vectors[i].length; length++) {
			assert_int_equal(decode(stream, length, &read, &used, NULL), 0);
			assert_int_equal(used, 0);
			assert_null(read.memory);
		}
		assert_int_equal(decode(stream, sizeof(stream), &read, &used, NULL), 0);
		assert_int_equal(used, vectors[i].length);
		hd_channel_release(&read);
	}
}

/* A frame whose body is cut, and whose header says so, is refused. */
static void test_short_bodies(void **state)
{
	(void)state;
	for (size_t i = 0; i < VECTORS; i++)
		for (size_t body = 0; body < vectors[i].length - HD_CHANNEL_HEADER; body++) {
			struct hd_channel_message read;
			struct hd_error err = {""};
			char stream[256];
			size_t used;

			memcpy(stream, vectors[i].bytes, vectors[i].length);
			stream[11] = (char)body;
			assert_int_equal(
			    decode(stream, HD_CHANNEL_HEADER + body, &read, &used, &err), -EPROTO);
			assert_true(err.text[0]);
		}
}

/* ---- bad fields ---- */

/* One byte of a vector is replaced. */
static const struct bad {
	const char *what;
	unsigned vector;
	size_t at;
	uint8_t value;
	const char *reason; /* a part of the message */
} bad_fields[] = {
    {"magic", 0, 0, 'h', "not with \"HKEY\""},
    {"version 2", 0, 5, 2, "version 2"},
    {"type 0", 0, 7, 0, "unknown message type 0"},
    {"type 7", 0, 7, 7, "unknown message type 7"},
    {"type 257", 0, 6, 1, "unknown message type 257"},
    {"a body of 3 GB", 2, 8, 0xC0, "FABRIC has a body"},
    {"a HELLO of 65,536 bytes", 0, 9, 1, "HELLO has a body"},
    {"a BROKEN of 65,536 bytes", 8, 9, 1, "BROKEN has a body"},
    {"a RESULT of 65,536 bytes", 7, 9, 1, "RESULT has a body"},
    {"instance 0", 1, 12 + 7, 0, "instance is 0"},
    {"master 2", 0, 12 + 11, 2, "master is 2"},
    {"engine longer than the body", 0, 12 + 15, 4, "ends too early"},
    {"engine shorter than the body", 0, 12 + 15, 2, "1 bytes too many"},
    {"a zero byte in a text", 0, 12 + 17, 0, "a text is not plain: 'n\\u0000"},
    {"a newline in a text", 8, 12 + 21, '\n', "a text is not plain: '"},
    {"a GUID set aside is 0", 2, 12 + 16 + 8, 0, "GUID 0x0 comes after 0x102030405060708"},
    {"more GUIDs than bytes", 2, 12 + 11, 3, "ends too early"},
    {"2^24 GUIDs", 2, 12 + 8, 0xFF, "ends too early"},
    {"fewer GUIDs than bytes", 2, 12 + 11, 1, "8 bytes too many"},
    {"a netlist longer than the body", 2, 12 + 15, 4, "ends too early"},
    {"more keys than bytes", 3, 12 + 3, 3, "ends too early"},
    {"fewer keys than bytes", 3, 12 + 3, 1, "8 bytes too many"},
    {"key 0 is held", 3, 12 + 11, 0, "after 0x0"},
    {"key 0", 6, 12 + 15, 0, "key is 0"},
    {"more entries than bytes", 5, 12 + 27, 4, "ends too early"},
    {"fewer entries than bytes", 5, 12 + 27, 2, "12 bytes too many"},
    {"LID 0", 5, 12 + 28 + 9, 0, "LID 0"},
    {"a multicast LID", 5, 12 + 52 + 8, 0xC0, "LID 49407"},
    {"port 0", 5, 12 + 28 + 10, 0, "port 0"},
    {"port 255", 5, 12 + 40 + 10, 255, "port 255"},
    {"the unused byte", 5, 12 + 28 + 11, 1, "last byte 0x01"},
    {"the same entry twice", 5, 12 + 40 + 8, 0, "not in order"},
    {"a lower GUID", 5, 12 + 52 + 3, 2, "not in order"},
    {"a lower LID", 5, 12 + 28 + 8, 2, "not in order"},
    {"an unknown status", 7, 12 + 19, HD_CHANNEL_STATUS_COUNT, "unknown status 5"},
    {"a status of 2^24", 7, 12 + 16, 1, "unknown status"},
    {"RESULT of key 0", 7, 12 + 15, 0, "key is 0"},
    {"BROKEN of key 0", 8, 12 + 7, 0, "key is 0"},
};

static void test_bad_fields(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(bad_fields) / sizeof(bad_fields[0]); i++) {
		const struct bad *bad = &bad_fields[i];
		const struct vector *vector = &vectors[bad->vector];
		struct hd_channel_message read;
		struct hd_error err = {""};
		char stream[256];
		size_t used;

		print_message("%s\n", bad->what);
		memcpy(stream, vector->bytes, vector->length);
		stream[bad->at] = (char)bad->value;
		assert_int_equal(decode(stream, vector->length, &read, &used, &err), -EPROTO);
		if (!strstr(err.text, bad->reason))
			fail_msg("\"%s\" does not say \"%s\"", err.text, bad->reason);
	}
}

/* ---- limits ---- */

/* Texts are cut or mended so that the other end takes them. */
static void test_texts(void **state)
{
	struct hd_channel_message message = {.type = HD_CHANNEL_RESULT, .result.key = 1}, read;
	struct hd_error err = {""};
	uint8_t *bytes;
	size_t length, used;

	(void)state;
	memset(message.result.reason, 'x', sizeof(message.result.reason)); /* no last 0 */
	message.result.reason[3] = '\n';
	assert_int_equal(hd_channel_encode(&message, &bytes, &length), 0);
	assert_int_equal(decode(bytes, length, &read, &used, NULL), 0);
	assert_int_equal(strlen(read.result.reason), HD_CHANNEL_TEXT - 1);
	assert_memory_equal(read.result.reason, "xxx\\u000axxx", 12);
	bytes[11]++; /* a body of one byte more, for a longer text */
	assert_int_equal(decode(bytes, length, &read, &used, &err), -EPROTO);
	assert_non_null(strstr(err.text, "RESULT has a body of 288 bytes, not 32 to 287"));
	free(bytes);
}

static void test_too_large(void **state)
{
	struct hd_channel_message message = {
	    .type = HD_CHANNEL_SET,
	    .set = {.key = 1, .overlay = {HD_CHANNEL_ENTRIES_MAX + 1, entries}}};
	uint8_t *bytes;
	size_t length;

	(void)state;
	assert_int_equal(hd_channel_encode(&message, &bytes, &length), -EMSGSIZE);
	message = (struct hd_channel_message){
	    .type = HD_CHANNEL_FABRIC,
	    .fabric = {.netlist = "", .netlist_length = HD_CHANNEL_BODY_MAX - 15}};
	assert_int_equal(hd_channel_encode(&message, &bytes, &length), -EMSGSIZE);
	message.fabric.netlist_length = SIZE_MAX;
	assert_int_equal(hd_channel_encode(&message, &bytes, &length), -EMSGSIZE);
	message = (struct hd_channel_message){.type = HD_CHANNEL_FABRIC,
					      .fabric = {.aside_count = UINT32_MAX}};
	assert_int_equal(hd_channel_encode(&message, &bytes, &length), -EMSGSIZE);
	message = (struct hd_channel_message){
	    .type = HD_CHANNEL_HELD, .held = {HD_CHANNEL_BODY_MAX / sizeof(uint64_t), keys}};
	assert_int_equal(hd_channel_encode(&message, &bytes, &length), -EMSGSIZE);
}

/* The largest SET makes the trip. */
static void test_largest_set(void **state)
{
	struct hd_key_entry *many = calloc(HD_CHANNEL_ENTRIES_MAX, sizeof(*many));
	struct hd_channel_message message = {
	    .type = HD_CHANNEL_SET, .set = {.key = 1, .overlay = {HD_CHANNEL_ENTRIES_MAX, many}}};
	struct hd_channel_message read;
	uint8_t *bytes;
	size_t length, used;

	(void)state;
	assert_non_null(many);
	for (uint32_t i = 0; i < HD_CHANNEL_ENTRIES_MAX; i++)
		many[i] = (struct hd_key_entry){1 + i / 40000, (uint16_t)(1 + i % 40000), 1};
	assert_int_equal(hd_channel_encode(&message, &bytes, &length), 0);
	assert_int_equal(hd_channel_decode(bytes, length, &read, &used, NULL), 0);
	assert_int_equal(used, length);
	assert_int_equal(read.set.overlay.count, HD_CHANNEL_ENTRIES_MAX);
	for (uint32_t i = 0; i < HD_CHANNEL_ENTRIES_MAX; i++)
		if (read.set.overlay.entries[i].switch_guid != many[i].switch_guid ||
		    read.set.overlay.entries[i].lid != many[i].lid)
			fail_msg("entry %u", i);
	hd_channel_release(&read);
	free(bytes);
	free(many);
}

/* Any damage of one byte is refused, or gives a message whose bytes are those that came. */
static void test_damage(void **state)
{
	uint64_t random = 1;

	(void)state;
	for (unsigned round = 0; round < 20000; round++) {
		const struct vector *vector = &vectors[hd_random_below(&random, VECTORS)];
		struct hd_channel_message read;
		char stream[256];
		uint8_t *again;
		size_t used, length;

		memcpy(stream, vector->bytes, vector->length);
		stream[hd_random_below(&random, vector->length)] = (char)hd_random_next(&random);
		if (decode(stream, vector->length, &read, &used, NULL) || !used)
			continue;
		assert_int_equal(hd_channel_encode(&read, &again, &length), 0);
		assert_int_equal(length, used);
		assert_memory_equal(again, stream, used);
		free(again);
		hd_channel_release(&read);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_vectors),	 cmocka_unit_test(test_truncation),
	    cmocka_unit_test(test_short_bodies), cmocka_unit_test(test_bad_fields),
	    cmocka_unit_test(test_texts),	 cmocka_unit_test(test_too_large),
	    cmocka_unit_test(test_largest_set),	 cmocka_unit_test(test_damage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
