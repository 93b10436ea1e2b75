/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What may come when, and from whom: greetings, order, epochs, and neighbours that lie. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <router_session.h>
#include <string.h>

#define OWN 0xFEC0000000000001u
#define OTHER 0xFEC0000000000002u
#define THIRD 0xFEC0000000000003u
#define ROUTER_GUID 0x300000u

static struct hd_router_session sm, router;
static struct hd_router_message taken;
static uint8_t bytes[HD_ROUTER_MESSAGE_MAX];
static uint32_t length;

static void write_message(struct hd_router_session *from, struct hd_router_message message)
{
	struct hd_router_writer writer;

	hd_router_session_stamp(from, &message);
	hd_router_write_begin(&writer, bytes, sizeof(bytes), &message);
	length = hd_router_write_end(&writer);
}

/* Sends a message without entries from one end to the other. */
static enum hd_router_reason pass(struct hd_router_session *from, struct hd_router_session *to,
				  struct hd_router_message message)
{
	write_message(from, message);
	return hd_router_session_receive(to, bytes, length, &taken);
}

static enum hd_router_reason pass_type(struct hd_router_session *from, enum hd_router_type type,
				       uint64_t epoch)
{
	return pass(
	    from, from == &sm ? &router : &sm,
	    (struct hd_router_message){.type = type, .epoch = epoch, .prefix = from->prefix});
}

static void begin(uint64_t expected)
{
	hd_router_session_begin(&sm, HD_ROUTER_ROLE_SM, 0x1111, OWN, 0);
	hd_router_session_begin(&router, HD_ROUTER_ROLE_ROUTER, 0x2222, expected, ROUTER_GUID);
}

static int greet(void **state)
{
	(void)state;
	begin(0);
	return pass_type(&router, HD_ROUTER_HELLO, 0) || pass_type(&sm, HD_ROUTER_HELLO, 0);
}

/* After both greetings each side knows the other. */
static void sides_learn_of_each_other(void **state)
{
	(void)state;
	assert_true(sm.greeted && router.greeted);
	assert_true(sm.node_guid == ROUTER_GUID && router.prefix == OWN);
	assert_true(sm.peer_nonce == 0x2222 && router.peer_nonce == 0x1111);
	assert_int_equal(pass_type(&sm, HD_ROUTER_PORTS, 7), HD_ROUTER_OK);
	assert_int_equal(pass_type(&sm, HD_ROUTER_HOSTS, 7), HD_ROUTER_OK);
	assert_int_equal(pass_type(&sm, HD_ROUTER_MAP, 7), HD_ROUTER_OK);
	assert_int_equal(pass_type(&sm, HD_ROUTER_READY, 7), HD_ROUTER_OK);
	assert_int_equal(pass_type(&router, HD_ROUTER_ACCEPTED, 7), HD_ROUTER_OK);
	assert_int_equal(pass_type(&router, HD_ROUTER_ALIVE, 0), HD_ROUTER_OK);
}

/* Nothing counts before HELLO, a second HELLO is refused, and so are bad greetings. */
static void greetings_come_first(void **state)
{
	(void)state;
	begin(OTHER);
	assert_int_equal(pass_type(&router, HD_ROUTER_ALIVE, 0), HD_ROUTER_NOT_GREETED);
	assert_true(hd_router_reason_is_fatal(HD_ROUTER_NOT_GREETED));
	begin(OTHER);
	assert_int_equal(pass_type(&router, HD_ROUTER_HELLO, 0), HD_ROUTER_WRONG_PREFIX);
	assert_false(sm.greeted);
	greet(state);
	assert_int_equal(pass_type(&router, HD_ROUTER_HELLO, 0), HD_ROUTER_OTHER_SESSION);
	begin(0);
	router.nonce = 0;
	assert_int_equal(pass_type(&router, HD_ROUTER_HELLO, 0), HD_ROUTER_BAD_VALUE);
	begin(0);
	router.role = HD_ROUTER_ROLE_SM;
	assert_int_equal(pass_type(&router, HD_ROUTER_HELLO, 0), HD_ROUTER_WRONG_ROLE);
	begin(0);
	sm.prefix = HD_ROUTER_LINK_LOCAL;
	assert_int_equal(pass_type(&router, HD_ROUTER_HELLO, 0), HD_ROUTER_OK);
	assert_int_equal(pass_type(&sm, HD_ROUTER_HELLO, 0), HD_ROUTER_BAD_VALUE);
}

/* A message that comes twice is refused, and the session goes on; so is one of another
 * connection. */
static void replays_are_refused(void **state)
{
	static uint8_t old[HD_ROUTER_MESSAGE_MAX];
	uint32_t old_length;

	(void)state;
	assert_int_equal(pass_type(&sm, HD_ROUTER_PORTS, 7), HD_ROUTER_OK);
	memcpy(old, bytes, length);
	old_length = length;
	assert_int_equal(hd_router_session_receive(&router, old, old_length, &taken),
			 HD_ROUTER_REPLAYED);
	assert_int_equal(pass_type(&sm, HD_ROUTER_HOSTS, 7), HD_ROUTER_OK);
	assert_int_equal(hd_router_session_receive(&router, old, old_length, &taken),
			 HD_ROUTER_REPLAYED);
	assert_int_equal(pass_type(&sm, HD_ROUTER_READY, 7), HD_ROUTER_OK);
	/* the same two begin again, with other nonces */
	hd_router_session_begin(&sm, HD_ROUTER_ROLE_SM, 0x3333, OWN, 0);
	hd_router_session_begin(&router, HD_ROUTER_ROLE_ROUTER, 0x4444, 0, ROUTER_GUID);
	assert_int_equal(pass_type(&router, HD_ROUTER_HELLO, 0), HD_ROUTER_OK);
	assert_int_equal(pass_type(&sm, HD_ROUTER_HELLO, 0), HD_ROUTER_OK);
	assert_int_equal(hd_router_session_receive(&router, old, old_length, &taken),
			 HD_ROUTER_OTHER_SESSION);
	assert_false(hd_router_reason_is_fatal(HD_ROUTER_OTHER_SESSION));
	assert_int_equal(pass_type(&sm, HD_ROUTER_PORTS, 7), HD_ROUTER_OK);
}

/* A message that was lost on the way is noticed with the next one. */
static void gaps_are_found(void **state)
{
	(void)state;
	write_message(&sm, (struct hd_router_message){.type = HD_ROUTER_ALIVE});
	assert_int_equal(pass_type(&sm, HD_ROUTER_ALIVE, 0), HD_ROUTER_GAP);
	assert_true(hd_router_reason_is_fatal(HD_ROUTER_GAP));
}

/* Only the right side may send a type. */
static void roles_are_kept(void **state)
{
	static const enum hd_router_type of_sm[] = {HD_ROUTER_PORTS, HD_ROUTER_HOSTS, HD_ROUTER_MAP,
						    HD_ROUTER_READY};

	(void)state;
	for (uint32_t i = 0; i < 4; i++)
		assert_int_equal(pass_type(&router, of_sm[i], 1), HD_ROUTER_WRONG_ROLE);
	assert_int_equal(pass_type(&sm, HD_ROUTER_ACCEPTED, 1), HD_ROUTER_WRONG_ROLE);
	assert_int_equal(pass_type(&sm, HD_ROUTER_ALIVE, 1), HD_ROUTER_OK);
}

/* Epochs ascend, and each message belongs to the present one. */
static void epochs_ascend(void **state)
{
	(void)state;
	assert_int_equal(pass_type(&sm, HD_ROUTER_HOSTS, 5), HD_ROUTER_WRONG_EPOCH);
	assert_int_equal(pass_type(&sm, HD_ROUTER_PORTS, 5), HD_ROUTER_OK);
	assert_int_equal(pass_type(&sm, HD_ROUTER_HOSTS, 6), HD_ROUTER_WRONG_EPOCH);
	assert_int_equal(pass_type(&sm, HD_ROUTER_HOSTS, 4), HD_ROUTER_OLD_EPOCH);
	assert_int_equal(pass_type(&sm, HD_ROUTER_PORTS, 5), HD_ROUTER_OLD_EPOCH);
	assert_int_equal(pass_type(&sm, HD_ROUTER_PORTS, 6), HD_ROUTER_OK);
	assert_int_equal(pass_type(&sm, HD_ROUTER_READY, 5), HD_ROUTER_OLD_EPOCH);
	assert_int_equal(pass_type(&sm, HD_ROUTER_READY, 6), HD_ROUTER_OK);
	assert_int_equal(pass_type(&router, HD_ROUTER_ACCEPTED, 9), HD_ROUTER_WRONG_EPOCH);
}

/* A list with one GID. */
static enum hd_router_reason pass_gid(struct hd_router_session *from, enum hd_router_type type,
				      uint64_t list_prefix, struct hd_router_gid gid, uint16_t lid)
{
	const struct hd_router_host_entry host = {.gid = gid, .lid = lid};
	const struct hd_router_map_entry mapped = {.gid = gid, .port_guid = 5};
	struct hd_router_message message = {
	    .type = type, .epoch = 1, .prefix = list_prefix, .total = 1};
	struct hd_router_writer writer;

	if (type == HD_ROUTER_FOREIGN)
		message.hops = 1;
	hd_router_session_stamp(from, &message);
	hd_router_write_begin(&writer, bytes, sizeof(bytes), &message);
	if (type == HD_ROUTER_MAP)
		hd_router_write_map(&writer, &mapped);
	else
		hd_router_write_host(&writer, &host);
	length = hd_router_write_end(&writer);
	return hd_router_session_receive(from == &sm ? &router : &sm, bytes, length, &taken);
}

/* Nobody speaks for a prefix that is not his own, in any kind of list. */
static void lies_are_refused(void **state)
{
	const struct hd_router_gid own = {OWN, 9}, other = {OTHER, 9};

	(void)state;
	assert_int_equal(pass_type(&sm, HD_ROUTER_PORTS, 1), HD_ROUTER_OK);
	assert_int_equal(pass_gid(&sm, HD_ROUTER_HOSTS, OWN, own, 4), HD_ROUTER_OK);
	assert_int_equal(pass_gid(&sm, HD_ROUTER_HOSTS, OWN, other, 4), HD_ROUTER_FOREIGN_GID);
	assert_int_equal(pass_gid(&sm, HD_ROUTER_HOSTS, OTHER, other, 4), HD_ROUTER_WRONG_PREFIX);
	assert_int_equal(pass_gid(&sm, HD_ROUTER_MAP, OWN, own, 0), HD_ROUTER_OWN_GID);
	assert_int_equal(pass_gid(&sm, HD_ROUTER_MAP, OTHER, own, 0), HD_ROUTER_WRONG_PREFIX);
	assert_int_equal(pass_gid(&sm, HD_ROUTER_MAP, OWN, other, 0), HD_ROUTER_OK);
	/* a router that hands lists over */
	assert_int_equal(pass_gid(&router, HD_ROUTER_FOREIGN, OTHER, other, 0), HD_ROUTER_OK);
	assert_int_equal(pass_gid(&router, HD_ROUTER_FOREIGN, OWN, own, 0), HD_ROUTER_WRONG_PREFIX);
	assert_int_equal(pass_gid(&router, HD_ROUTER_FOREIGN, OTHER, own, 0),
			 HD_ROUTER_FOREIGN_GID);
	assert_int_equal(pass_gid(&router, HD_ROUTER_FOREIGN, THIRD, other, 0),
			 HD_ROUTER_FOREIGN_GID);
	/* and the session still works after all that */
	assert_int_equal(pass_gid(&sm, HD_ROUTER_HOSTS, OWN, own, 4), HD_ROUTER_OK);
	assert_int_equal(pass_gid(&router, HD_ROUTER_FOREIGN, OTHER, other, 0), HD_ROUTER_OK);
}

/* LIDs and GUIDs out of range are refused. */
static void values_have_bounds(void **state)
{
	const struct hd_router_gid own = {OWN, 9}, nobody = {OWN, 0};

	(void)state;
	assert_int_equal(pass_type(&sm, HD_ROUTER_PORTS, 1), HD_ROUTER_OK);
	assert_int_equal(pass_gid(&sm, HD_ROUTER_HOSTS, OWN, own, 0), HD_ROUTER_BAD_VALUE);
	assert_int_equal(pass_gid(&sm, HD_ROUTER_HOSTS, OWN, own, 0xC000), HD_ROUTER_BAD_VALUE);
	assert_int_equal(pass_gid(&sm, HD_ROUTER_HOSTS, OWN, own, 0xBFFF), HD_ROUTER_OK);
	assert_int_equal(pass_gid(&sm, HD_ROUTER_HOSTS, OWN, nobody, 1), HD_ROUTER_NOT_SORTED);
	assert_int_equal(
	    pass(&sm, &router,
		 (struct hd_router_message){
		     .type = HD_ROUTER_HOSTS, .epoch = 1, .prefix = OWN, .total = 3, .first = 4}),
	    HD_ROUTER_BAD_VALUE);
	assert_int_equal(
	    pass(&router, &sm, (struct hd_router_message){.type = HD_ROUTER_REFUSED, .reason = 0}),
	    HD_ROUTER_BAD_VALUE);
}

static enum hd_router_reason pass_prefix(uint64_t prefix, uint8_t hops, uint16_t lid, bool twice)
{
	const struct hd_router_prefix_entry entry = {prefix, hops};
	struct hd_router_message message = {
	    .type = HD_ROUTER_PREFIXES, .port_guid = 0x31, .lid = lid};
	struct hd_router_writer writer;

	hd_router_session_stamp(&router, &message);
	hd_router_write_begin(&writer, bytes, sizeof(bytes), &message);
	hd_router_write_prefix(&writer, &entry);
	if (twice)
		hd_router_write_prefix(&writer, &entry);
	length = hd_router_write_end(&writer);
	return hd_router_session_receive(&sm, bytes, length, &taken);
}

/* Advertisements: not of the receiver's own prefix, not of link-local ones, 1 to 8 hops. */
static void advertisements_have_bounds(void **state)
{
	(void)state;
	assert_int_equal(pass_prefix(OTHER, 1, 4, false), HD_ROUTER_OK);
	assert_int_equal(pass_prefix(OTHER, 8, 4, false), HD_ROUTER_OK);
	assert_int_equal(pass_prefix(OTHER, 9, 4, false), HD_ROUTER_BAD_VALUE);
	assert_int_equal(pass_prefix(OTHER, 0, 4, false), HD_ROUTER_BAD_VALUE);
	assert_int_equal(pass_prefix(OTHER, 1, 0, false), HD_ROUTER_BAD_VALUE);
	assert_int_equal(pass_prefix(OTHER, 1, 4, true), HD_ROUTER_NOT_SORTED);
	assert_int_equal(pass_prefix(OWN, 1, 4, false), HD_ROUTER_WRONG_PREFIX);
	assert_int_equal(pass_prefix(0xFE80000000000000u, 1, 4, false), HD_ROUTER_BAD_VALUE);
	assert_int_equal(pass_prefix(0xFEBF000000000000u, 1, 4, false), HD_ROUTER_BAD_VALUE);
	assert_int_equal(pass_prefix(0xFF12000000000000u, 1, 4, false), HD_ROUTER_BAD_VALUE);
}

/* A refusal arrives as such: which message, and why. */
static void refusals_arrive(void **state)
{
	(void)state;
	length = hd_router_session_refuse(&router, 44, HD_ROUTER_HOSTS, HD_ROUTER_FOREIGN_GID,
					  bytes, sizeof(bytes));
	assert_int_equal(hd_router_session_receive(&sm, bytes, length, &taken), HD_ROUTER_OK);
	assert_int_equal(taken.refused_sequence, 44);
	assert_int_equal(taken.refused_type, HD_ROUTER_HOSTS);
	assert_int_equal(taken.reason, HD_ROUTER_FOREIGN_GID);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup(sides_learn_of_each_other, greet),
	    cmocka_unit_test_setup(greetings_come_first, greet),
	    cmocka_unit_test_setup(replays_are_refused, greet),
	    cmocka_unit_test_setup(gaps_are_found, greet),
	    cmocka_unit_test_setup(roles_are_kept, greet),
	    cmocka_unit_test_setup(epochs_ascend, greet),
	    cmocka_unit_test_setup(lies_are_refused, greet),
	    cmocka_unit_test_setup(values_have_bounds, greet),
	    cmocka_unit_test_setup(advertisements_have_bounds, greet),
	    cmocka_unit_test_setup(refusals_arrive, greet),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
