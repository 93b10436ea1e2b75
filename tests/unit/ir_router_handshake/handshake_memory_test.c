/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The subnet manager's end of the router protocol when memory is short. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "short_memory.h"

#include <heddle/ir_router/handshake.h>
#include <router_session.h>
#include <string.h>

#define OWN 0xFEC0000000000001u
#define OTHER 0xFEC0000000000002u

static void on_send(void *context, void *connection, const uint8_t *bytes, uint32_t length)
{
	(void)context, (void)connection, (void)bytes, (void)length;
}

static void on_give_up(void *context, void *connection)
{
	(void)connection;
	++*(uint32_t *)context;
}

/* HELLO, and a list of one host. */
static uint32_t write_greeting(uint8_t *bytes, uint32_t size)
{
	const struct hd_router_host_entry host = {.gid = {OTHER, 5}};
	struct hd_router_message hello = {.type = HD_ROUTER_HELLO};
	struct hd_router_message list = {
	    .type = HD_ROUTER_FOREIGN, .prefix = OTHER, .total = 1, .hops = 1, .epoch = 3};
	struct hd_router_session session;
	struct hd_router_writer writer;
	uint32_t length;

	hd_router_session_begin(&session, HD_ROUTER_ROLE_ROUTER, 4, OWN, 0x300000);
	hd_router_session_stamp(&session, &hello);
	hd_router_write_begin(&writer, bytes, size, &hello);
	length = hd_router_write_end(&writer);
	session.peer_nonce = 9;
	hd_router_session_stamp(&session, &list);
	hd_router_write_begin(&writer, bytes + length, size - length, &list);
	hd_router_write_host(&writer, &host);
	return length + hd_router_write_end(&writer);
}

struct attempt {
	struct hd_handshake *handshake;
	uint8_t bytes[512];
	uint32_t length, given_up;
};

static int call(void *context, struct hd_error *err)
{
	struct attempt *attempt = context;
	const struct hd_handshake_hooks hooks = {
	    .send = on_send, .give_up = on_give_up, .context = &attempt->given_up};
	const struct hd_handshake_host host = {.guid = 1, .lid = 1};
	const struct hd_handshake_lists lists = {.hosts = &host, .host_count = 1};
	struct hd_handshake_session *session;
	int rc;

	attempt->handshake = NULL;
	attempt->given_up = 0;
	rc = hd_handshake_new(OWN, 0, &hooks, &attempt->handshake, err);
	if (!rc)
		rc = hd_handshake_publish(attempt->handshake, &lists, err);
	if (!rc)
		rc = hd_handshake_open(attempt->handshake, NULL, 9, &session, err);
	if (!rc && hd_handshake_receive(session, attempt->bytes, attempt->length))
		rc = hd_error_no_memory(err);
	return rc;
}

static void settle(void *context, int rc)
{
	struct attempt *attempt = context;

	if (attempt->handshake) {
		const struct hd_handshake_foreign *list =
		    hd_handshake_foreign_at(attempt->handshake, 0);

		assert_int_equal(rc == 0, list != NULL);
		assert_true(!rc || attempt->given_up <= 1);
	}
	hd_handshake_free(attempt->handshake);
}

/* Each allocation that fails ends the call with -ENOMEM, and leaves nothing behind. */
static void a_handshake_fails_cleanly(void **state)
{
	struct attempt attempt = {0};
	const struct short_memory_case tried = {"handshake", &attempt, call, settle, 0};

	(void)state;
	attempt.length = write_greeting(attempt.bytes, sizeof(attempt.bytes));
	assert_int_equal(short_memory_try(&tried), 6);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_handshake_fails_cleanly),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
