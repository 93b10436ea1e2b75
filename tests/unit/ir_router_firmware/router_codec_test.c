/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The form of messages between subnet managers and routers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <heddle/base/random.h>
#include <router_codec.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDS 400u
#define ENTRIES 40u

static uint8_t bytes[HD_ROUTER_MESSAGE_MAX], again[HD_ROUTER_MESSAGE_MAX];

static uint64_t draw(uint64_t *random)
{
	return hd_random_next(random);
}

/* Any values in the fields that the type has. */
static struct hd_router_message any_message(uint64_t *random, enum hd_router_type type)
{
	struct hd_router_message message = {
	    .type = type, .session = draw(random), .sequence = draw(random), .epoch = draw(random)};

	if (type == HD_ROUTER_HELLO) {
		message.role = (enum hd_router_role)(draw(random) & 0xFF);
		message.nonce = draw(random);
		message.node_guid = draw(random);
	}
	if (type != HD_ROUTER_PREFIXES && type != HD_ROUTER_REFUSED && type != HD_ROUTER_ALIVE)
		message.prefix = draw(random);
	if (type == HD_ROUTER_HOSTS || type == HD_ROUTER_MAP || type == HD_ROUTER_FOREIGN) {
		message.total = (uint32_t)draw(random);
		message.first = (uint32_t)draw(random);
	}
	if (type == HD_ROUTER_FOREIGN)
		message.hops = (uint32_t)draw(random);
	if (type == HD_ROUTER_READY || type == HD_ROUTER_ACCEPTED) {
		message.ports = (uint32_t)draw(random);
		message.hosts = (uint32_t)draw(random);
		message.mapped = (uint32_t)draw(random);
	}
	if (type == HD_ROUTER_PREFIXES) {
		message.port_guid = draw(random);
		message.lid = (uint16_t)draw(random);
	}
	if (type == HD_ROUTER_REFUSED) {
		message.refused_sequence = draw(random);
		message.reason = (enum hd_router_reason)(draw(random) & 0xFFFFFFFF);
		message.refused_type = (uint16_t)draw(random);
	}
	return message;
}

/* Writes an entry with random values, and compares the one read back when `read` is given. */
static void entry(struct hd_router_writer *writer, uint64_t *random,
		  const struct hd_router_message *read, uint32_t index)
{
	struct hd_router_port_entry port = {.guid = draw(random),
					    .switch_guid = draw(random),
					    .lid = (uint16_t)draw(random),
					    .switch_lid = (uint16_t)draw(random),
					    .switch_port = (uint8_t)draw(random)};
	struct hd_router_host_entry host = {.gid = {draw(random), draw(random)},
					    .top_switch = draw(random),
					    .place = (uint32_t)draw(random),
					    .lid = (uint16_t)draw(random)};
	struct hd_router_map_entry mapped = {{draw(random), draw(random)}, draw(random)};
	struct hd_router_prefix_entry prefix = {draw(random), (uint8_t)draw(random)};
	enum hd_router_type type = read ? read->type : writer->type;

	for (uint32_t i = 0; i < sizeof(port.down); i++)
		port.down[i] = (uint8_t)draw(random);
	if (!read) {
		if (type == HD_ROUTER_PORTS)
			hd_router_write_port(writer, &port);
		else if (type == HD_ROUTER_MAP)
			hd_router_write_map(writer, &mapped);
		else if (type == HD_ROUTER_PREFIXES)
			hd_router_write_prefix(writer, &prefix);
		else
			hd_router_write_host(writer, &host);
	} else if (type == HD_ROUTER_PORTS) {
		struct hd_router_port_entry got;

		hd_router_port_at(read, index, &got);
		assert_true(got.guid == port.guid && got.switch_guid == port.switch_guid &&
			    got.lid == port.lid && got.switch_lid == port.switch_lid &&
			    got.switch_port == port.switch_port);
		assert_memory_equal(got.down, port.down, sizeof(port.down));
	} else if (type == HD_ROUTER_MAP) {
		struct hd_router_map_entry got;

		hd_router_map_at(read, index, &got);
		assert_memory_equal(&got, &mapped, sizeof(got));
	} else if (type == HD_ROUTER_PREFIXES) {
		struct hd_router_prefix_entry got;

		hd_router_prefix_at(read, index, &got);
		assert_true(got.prefix == prefix.prefix && got.hops == prefix.hops);
	} else {
		struct hd_router_host_entry got;

		hd_router_host_at(read, index, &got);
		assert_true(got.gid.prefix == host.gid.prefix && got.gid.guid == host.gid.guid &&
			    got.top_switch == host.top_switch && got.place == host.place &&
			    got.lid == host.lid);
	}
}

static bool same(const struct hd_router_message *a, const struct hd_router_message *b)
{
	return a->type == b->type && a->session == b->session && a->sequence == b->sequence &&
	       a->epoch == b->epoch && a->role == b->role && a->nonce == b->nonce &&
	       a->node_guid == b->node_guid && a->prefix == b->prefix && a->total == b->total &&
	       a->first == b->first && a->hops == b->hops && a->ports == b->ports &&
	       a->hosts == b->hosts && a->mapped == b->mapped && a->port_guid == b->port_guid &&
	       a->lid == b->lid && a->refused_sequence == b->refused_sequence &&
	       a->reason == b->reason && a->refused_type == b->refused_type;
}

/* A message of a type with that many entries at most. */
static uint32_t write_message(uint64_t *random, const struct hd_router_message *message,
			      uint32_t wanted, uint32_t *count)
{
	struct hd_router_writer writer;
	uint32_t most = hd_router_entries_max(message->type, sizeof(bytes));

	*count = wanted < most ? wanted : most;
	hd_router_write_begin(&writer, bytes, sizeof(bytes), message);
	for (uint32_t i = 0; i < *count; i++)
		entry(&writer, random, NULL, i);
	return hd_router_write_end(&writer);
}

/* Every message of every type is read as it was written. */
static void messages_round_trip(void **state)
{
	uint64_t random = 5;

	(void)state;
	for (uint32_t round = 0; round < ROUNDS; round++) {
		enum hd_router_type type = (enum hd_router_type)(1 + round % (HD_ROUTER_TYPES - 1));
		struct hd_router_message message = any_message(&random, type), read;
		uint64_t entries = random, replay = random;
		uint32_t count, length = write_message(&entries, &message, round / 10, &count);

		random = entries;
		assert_int_equal(hd_router_decode(bytes, length, &read), HD_ROUTER_OK);
		assert_true(same(&message, &read));
		assert_int_equal(read.count, count);
		for (uint32_t i = 0; i < count; i++)
			entry(NULL, &replay, &read, i);
	}
}

/* The longest messages of each type fit and are read back; one more entry would not fit. */
static void longest_messages_fit(void **state)
{
	static const enum hd_router_type types[] = {HD_ROUTER_PORTS, HD_ROUTER_HOSTS, HD_ROUTER_MAP,
						    HD_ROUTER_FOREIGN, HD_ROUTER_PREFIXES};
	uint64_t random = 9;

	(void)state;
	for (uint32_t t = 0; t < sizeof(types) / sizeof(types[0]); t++) {
		struct hd_router_message message = any_message(&random, types[t]), read;
		uint32_t count, length = write_message(&random, &message, UINT32_MAX, &count);
		uint32_t header;

		assert_true(count > 1000);
		assert_in_range(length, HD_ROUTER_MESSAGE_MAX - 64, HD_ROUTER_MESSAGE_MAX);
		assert_int_equal(hd_router_frame(bytes, HD_ROUTER_MESSAGE_MAX, &header),
				 HD_ROUTER_OK);
		assert_int_equal(header, length);
		assert_int_equal(hd_router_decode(bytes, length, &read), HD_ROUTER_OK);
		assert_int_equal(read.count, count);
	}
}

/* Each single wrong bit, and each missing byte at the end, is found. */
static void damage_is_found(void **state)
{
	uint64_t random = 3;
	struct hd_router_message message = any_message(&random, HD_ROUTER_HOSTS), read;
	uint32_t count, length = write_message(&random, &message, 3, &count);

	(void)state;
	memset(&read, 0xEE, sizeof(read));
	memcpy(again, &read, sizeof(read));
	for (uint32_t bit = 0; bit < length * 8; bit++) {
		bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
		assert_int_not_equal(hd_router_decode(bytes, length, &read), HD_ROUTER_OK);
		bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
	}
	for (uint32_t cut = 0; cut < length; cut++)
		assert_int_equal(hd_router_decode(bytes, cut, &read), HD_ROUTER_TRUNCATED);
	assert_memory_equal(&read, again, sizeof(read));
	assert_int_equal(hd_router_decode(bytes, length, &read), HD_ROUTER_OK);
}

/* Writes a checksum that is right, so that the next check decides. */
static void sign(uint32_t length)
{
	router_bytes_put32(bytes + 12, 0);
	router_bytes_put32(bytes + 12, router_bytes_checksum(0, bytes, length));
}

/* Each fault of the form has its own reason. */
static void faults_have_reasons(void **state)
{
	struct hd_router_message message = {.type = HD_ROUTER_ALIVE}, read;
	struct hd_router_writer writer;
	uint32_t length;

	(void)state;
	hd_router_write_begin(&writer, bytes, sizeof(bytes), &message);
	length = hd_router_write_end(&writer);
	assert_int_equal(length, HD_ROUTER_HEADER);
	bytes[0] = 'x';
	assert_int_equal(hd_router_frame(bytes, 1000, &length), HD_ROUTER_NO_MAGIC);
	bytes[0] = 'H';
	bytes[5] = 2;
	assert_int_equal(hd_router_frame(bytes, 1000, &length), HD_ROUTER_VERSION);
	bytes[5] = 1;
	router_bytes_put32(bytes + 8, 1001);
	assert_int_equal(hd_router_frame(bytes, 1000, &length), HD_ROUTER_OVERSIZED);
	router_bytes_put32(bytes + 8, HD_ROUTER_MESSAGE_MAX + 1);
	assert_int_equal(hd_router_frame(bytes, UINT32_MAX, &length), HD_ROUTER_OVERSIZED);
	router_bytes_put32(bytes + 8, 39);
	assert_int_equal(hd_router_frame(bytes, 1000, &length), HD_ROUTER_TRUNCATED);
	router_bytes_put32(bytes + 8, 40);
	assert_int_equal(hd_router_decode(bytes, 41, &read), HD_ROUTER_BAD_FORM);
	bytes[7] = HD_ROUTER_TYPES;
	assert_int_equal(hd_router_decode(bytes, 40, &read), HD_ROUTER_CHECKSUM);
	sign(40);
	assert_int_equal(hd_router_decode(bytes, 40, &read), HD_ROUTER_UNKNOWN_TYPE);
	bytes[7] = 0;
	sign(40);
	assert_int_equal(hd_router_decode(bytes, 40, &read), HD_ROUTER_UNKNOWN_TYPE);
	bytes[7] = HD_ROUTER_READY;
	sign(40);
	assert_int_equal(hd_router_decode(bytes, 40, &read), HD_ROUTER_BAD_FORM);
}

/* A count that promises more entries than there are bytes is refused, also where the product of
 * count and size overflows 32 bits; so is a reserved field that is not 0. */
static void counts_must_fit(void **state)
{
	uint64_t random = 8;
	struct hd_router_message message = any_message(&random, HD_ROUTER_HOSTS), read;
	uint32_t count, length = write_message(&random, &message, 2, &count);

	(void)state;
	for (uint32_t bit = 0; bit < 32; bit++) {
		router_bytes_put32(bytes + HD_ROUTER_HEADER + 16, 2u ^ (1u << bit));
		sign(length);
		assert_int_equal(hd_router_decode(bytes, length, &read), HD_ROUTER_BAD_FORM);
	}
	router_bytes_put32(bytes + HD_ROUTER_HEADER + 16, 2);
	sign(length);
	assert_int_equal(hd_router_decode(bytes, length, &read), HD_ROUTER_OK);
	bytes[length - 1] = 1;
	sign(length);
	assert_int_equal(hd_router_decode(bytes, length, &read), HD_ROUTER_BAD_FORM);
}

/* The checksum is CRC-32C: its check value is that of RFC 3720's polynomial. */
static void checksum_is_standard(void **state)
{
	(void)state;
	assert_int_equal(router_bytes_checksum(0, (const uint8_t *)"123456789", 9), 0xE3069283);
	assert_int_equal(router_bytes_checksum(router_bytes_checksum(0, (const uint8_t *)"1234", 4),
					       (const uint8_t *)"56789", 5),
			 0xE3069283);
}

/* Each reason has a sentence of its own. */
static void reasons_have_texts(void **state)
{
	(void)state;
	for (unsigned a = 0; a < HD_ROUTER_REASONS; a++)
		for (unsigned b = 0; b < a; b++)
			assert_string_not_equal(hd_router_reason_text((enum hd_router_reason)a),
						hd_router_reason_text((enum hd_router_reason)b));
	assert_string_equal(hd_router_reason_text((enum hd_router_reason)9999), "unknown reason");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(messages_round_trip), cmocka_unit_test(longest_messages_fit),
	    cmocka_unit_test(damage_is_found),	   cmocka_unit_test(faults_have_reasons),
	    cmocka_unit_test(counts_must_fit),	   cmocka_unit_test(checksum_is_standard),
	    cmocka_unit_test(reasons_have_texts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
