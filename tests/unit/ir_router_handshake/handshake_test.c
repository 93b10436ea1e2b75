/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The subnet manager's end, against the firmware module's end, over streams that arrive in pieces. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <heddle/base/random.h>
#include <heddle/ir_router/handshake.h>
#include <router_session.h>
#include <stdlib.h>
#include <string.h>

#define OWN 0xFEC0000000000001u
#define OTHER 0xFEC0000000000002u
#define THIRD 0xFEC0000000000003u
#define PEERS 2u
#define HOSTS 5000u
#define PIPE (1u << 20)

/* A router at the other end of a connection. */
struct peer {
	struct hd_handshake_session *end; /* the subnet manager's */
	struct hd_router_session session;
	struct hd_router *router;
	void *memory;
	uint8_t pipe[PIPE]; /* sent, not delivered yet */
	uint32_t used;
	uint32_t types[HD_ROUTER_TYPES]; /* messages that came */
	struct hd_router_message last; /* without entries */
	bool given_up;
};

static struct hd_handshake *handshake;
static struct peer peers[PEERS];
static struct hd_handshake_host hosts[HOSTS];
static struct hd_handshake_mapped mapped[HOSTS];
static struct hd_handshake_port ports[4];
static struct hd_handshake_lists lists = {.ports = ports, .hosts = hosts, .mapped = mapped};
static uint8_t bytes[HD_ROUTER_MESSAGE_MAX];
static uint64_t accepted_epoch, random_state;
static uint32_t foreign_lists, expired_lists, warnings;

static void on_send(void *context, void *connection, const uint8_t *data, uint32_t length)
{
	struct peer *peer = connection;

	(void)context;
	assert_true(length <= PIPE - peer->used);
	memcpy(peer->pipe + peer->used, data, length);
	peer->used += length;
}

static void on_give_up(void *context, void *connection)
{
	(void)context;
	((struct peer *)connection)->given_up = true;
}

static void on_accepted(void *context, uint64_t router_guid, uint64_t epoch)
{
	(void)context;
	assert_in_range(router_guid, 0x300000, 0x300000 + PEERS - 1);
	accepted_epoch = epoch;
}

static void on_foreign(void *context, const struct hd_handshake_foreign *list)
{
	(void)context;
	assert_true(list->prefix != OWN);
	foreign_lists++;
}

static void on_expired(void *context, uint64_t prefix)
{
	(void)context;
	assert_true(prefix != OWN);
	expired_lists++;
}

static void on_log(void *context, enum hd_log_level level, const char *line)
{
	(void)context;
	if (level == HD_LOG_WARNING && strstr(line, "clock"))
		warnings++;
}

static bool no_send(void *context, uint8_t subnet, const struct hd_router_port *port,
		    enum hd_router_attribute attribute, uint32_t modifier, uint32_t id)
{
	(void)context, (void)subnet, (void)port, (void)attribute, (void)modifier, (void)id;
	return false;
}

static bool no_receive(void *context, struct hd_router_answer *answer)
{
	(void)context, (void)answer;
	return false;
}

static uint64_t no_time(void *context)
{
	(void)context;
	return 0;
}

/* Bytes to the subnet manager, in pieces. */
static int give(struct peer *peer, uint32_t length)
{
	int rc = 0;

	for (uint32_t at = 0; at < length && !rc;) {
		uint32_t piece = 1 + (uint32_t)hd_random_below(&random_state, 3000);

		piece = piece < length - at ? piece : length - at;
		rc = hd_handshake_receive(peer->end, bytes + at, piece);
		at += piece;
	}
	return rc;
}

static int say(struct peer *peer, struct hd_router_message message,
	       const struct hd_router_host_entry *entries, uint32_t count)
{
	struct hd_router_writer writer;

	hd_router_session_stamp(&peer->session, &message);
	hd_router_write_begin(&writer, bytes, sizeof(bytes), &message);
	for (uint32_t i = 0; i < count; i++)
		hd_router_write_host(&writer, &entries[i]);
	return give(peer, hd_router_write_end(&writer));
}

/* The router takes all messages that are on their way. */
static void deliver(struct peer *peer)
{
	for (uint32_t at = 0; at < peer->used;) {
		struct hd_router_message message;
		uint32_t length;

		assert_int_equal(hd_router_frame(peer->pipe + at, HD_ROUTER_MESSAGE_MAX, &length),
				 0);
		assert_int_equal(
		    hd_router_session_receive(&peer->session, peer->pipe + at, length, &message),
		    0);
		assert_int_equal(hd_router_update(peer->router, 0, &message), 0);
		peer->types[message.type]++;
		peer->last = message;
		at += length;
	}
	peer->used = 0;
}

static void connect_peer(uint32_t index)
{
	const struct hd_router_limits limits = {
	    .subnets = 2, .ports = 4, .hosts = HOSTS, .mapped = HOSTS, .prefixes = 8};
	const struct hd_router_settings settings = HD_ROUTER_SETTINGS_DEFAULT;
	const struct hd_router_callbacks callbacks = {no_send, no_receive, no_time, NULL};
	struct peer *peer = &peers[index];
	uint8_t subnet;

	memset(peer, 0, sizeof(*peer));
	peer->memory = malloc(hd_router_size(&limits));
	peer->router =
	    hd_router_init(peer->memory, hd_router_size(&limits), &limits, &settings, &callbacks);
	assert_non_null(peer->router);
	assert_int_equal(hd_router_attach(peer->router, OWN, &subnet), 0);
	assert_int_equal(hd_router_attach(peer->router, OTHER, &subnet), 0);
	assert_int_equal(hd_handshake_open(handshake, peer, 0x70 + index, &peer->end, NULL), 0);
	hd_router_session_begin(&peer->session, HD_ROUTER_ROLE_ROUTER, 0x50 + index, OWN,
				0x300000 + index);
	assert_int_equal(say(peer, (struct hd_router_message){.type = HD_ROUTER_HELLO}, NULL, 0),
			 0);
	deliver(peer);
	assert_true(hd_handshake_router(peer->end) == 0x300000 + index);
}

static int start(void **state)
{
	const struct hd_handshake_hooks hooks = {.send = on_send,
						 .give_up = on_give_up,
						 .accepted = on_accepted,
						 .foreign = on_foreign,
						 .expired = on_expired,
						 .log = {.write = on_log}};

	(void)state;
	random_state = 5;
	accepted_epoch = foreign_lists = expired_lists = warnings = 0;
	assert_int_equal(hd_handshake_new(OWN, 1000, &hooks, &handshake, NULL), 0);
	for (uint32_t i = 0; i < HOSTS; i++) {
		hosts[i] = (struct hd_handshake_host){
		    .guid = 10 + i, .top_switch = i % 7, .place = i, .lid = (uint16_t)(i + 1)};
		mapped[i] = (struct hd_handshake_mapped){OTHER, 10 + i, 0x400000 + i % 4};
	}
	for (uint32_t i = 0; i < 4; i++)
		ports[i] = (struct hd_handshake_port){.router_guid = 0x300000 + i % 2,
						      .guid = 0x400000 + i,
						      .lid = (uint16_t)(6000 + i)};
	lists.port_count = 4;
	lists.host_count = lists.mapped_count = HOSTS;
	return 0;
}

static int stop(void **state)
{
	(void)state;
	hd_handshake_free(handshake);
	for (uint32_t i = 0; i < PEERS; i++)
		free(peers[i].memory);
	memset(peers, 0, sizeof(peers));
	return 0;
}

/* A router gets its own ports, all hosts and the whole map, whether it connects before or after
 * they are published. */
static void lists_arrive(void **state)
{
	(void)state;
	connect_peer(0);
	assert_int_equal(peers[0].types[HD_ROUTER_PORTS], 0);
	assert_int_equal(hd_handshake_publish(handshake, &lists, NULL), 0);
	deliver(&peers[0]);
	connect_peer(1);
	for (uint32_t p = 0; p < PEERS; p++) {
		const struct hd_router_lists *got = hd_router_lists_of(peers[p].router, 0);

		assert_true(peers[p].router->subnets[0].ready);
		assert_int_equal(got->epoch, 1001);
		assert_int_equal(got->port_count, 2);
		assert_int_equal(got->ports[1].guid, 0x400002 + p);
		assert_int_equal(got->host_count, HOSTS);
		assert_int_equal(got->hosts[HOSTS - 1].lid, HOSTS);
		assert_int_equal(got->map_count, HOSTS);
		assert_int_equal(got->map[77].port_guid, mapped[77].port_guid);
		assert_int_equal(peers[p].types[HD_ROUTER_HOSTS], 3);
	}
	assert_int_equal(say(&peers[1],
			     (struct hd_router_message){
				 .type = HD_ROUTER_ACCEPTED, .epoch = 1001, .prefix = OWN},
			     NULL, 0),
			 0);
	assert_int_equal(accepted_epoch, 1001);
	lists.host_count = 3;
	assert_int_equal(hd_handshake_publish(handshake, &lists, NULL), 0);
	deliver(&peers[0]);
	assert_int_equal(hd_router_lists_of(peers[0].router, 0)->host_count, 3);
	hd_handshake_keep_alive(handshake);
	deliver(&peers[0]);
	assert_int_equal(peers[0].types[HD_ROUTER_ALIVE], 1);
}

/* Lists that routers would refuse are refused before they are sent. */
static void bad_lists_are_refused(void **state)
{
	struct hd_error err = {""};

	(void)state;
	connect_peer(0);
	hosts[7].lid = 0xC000;
	assert_int_equal(hd_handshake_publish(handshake, &lists, &err), -EINVAL);
	assert_non_null(strstr(err.text, "host 0x0000000000000011: LID 49152"));
	hosts[7].lid = 8;
	hosts[8].guid = hosts[7].guid;
	assert_int_equal(hd_handshake_publish(handshake, &lists, &err), -EINVAL);
	hosts[8].guid = 18;
	mapped[4].prefix = OWN;
	assert_int_equal(hd_handshake_publish(handshake, &lists, &err), -EINVAL);
	mapped[4].prefix = OTHER;
	mapped[4].guid = 1;
	assert_int_equal(hd_handshake_publish(handshake, &lists, &err), -EINVAL);
	mapped[4].guid = 14;
	ports[2].guid = 0;
	assert_int_equal(hd_handshake_publish(handshake, &lists, &err), -EINVAL);
	assert_int_equal(peers[0].used, 0);
	ports[2].guid = 0x400002;
	assert_int_equal(hd_handshake_publish(handshake, &lists, &err), 0);
}

/* The part `first` .. `end` - 1 of a list of another subnet, from a router. */
static int hand_over(struct peer *peer, uint64_t prefix, uint64_t epoch, uint32_t hops,
		     uint32_t first, uint32_t end, uint32_t total)
{
	struct hd_router_host_entry entries[100];

	for (uint32_t i = first; i < end; i++)
		entries[i - first] = (struct hd_router_host_entry){
		    .gid = {prefix, 500 + i}, .top_switch = epoch, .place = i};
	return say(peer,
		   (struct hd_router_message){.type = HD_ROUTER_FOREIGN,
					      .epoch = epoch,
					      .prefix = prefix,
					      .hops = hops,
					      .total = total,
					      .first = first},
		   entries, end - first);
}

/* A list counts when it is complete; it goes to the other routers once, and to those that connect
 * later. Newer ones replace it, and older ones change nothing. */
static void foreign_lists_are_collected(void **state)
{
	const struct hd_handshake_foreign *list;

	(void)state;
	connect_peer(0);
	assert_int_equal(hand_over(&peers[0], THIRD, 9, 2, 0, 60, 100), 0);
	assert_null(hd_handshake_foreign_at(handshake, 0));
	assert_int_equal(hand_over(&peers[0], THIRD, 9, 2, 60, 100, 100), 0);
	assert_int_equal(foreign_lists, 1);
	list = hd_handshake_foreign_at(handshake, 0);
	assert_true(list && list->prefix == THIRD && list->host_count == 100);
	assert_int_equal(list->hosts[99].guid, 599);
	assert_int_equal(list->hosts[99].place, 99);
	connect_peer(1);
	assert_int_equal(peers[1].types[HD_ROUTER_FOREIGN], 1);
	assert_int_equal(peers[1].last.hops, 2);
	/* the same from another router, and an older one: nothing new */
	assert_int_equal(hand_over(&peers[1], THIRD, 9, 2, 0, 100, 100), 0);
	assert_int_equal(hand_over(&peers[1], THIRD, 8, 1, 0, 100, 100), 0);
	assert_int_equal(foreign_lists, 1);
	/* fewer hops, another subnet, and a newer list that has become empty */
	assert_int_equal(hand_over(&peers[1], THIRD, 9, 1, 0, 100, 100), 0);
	assert_int_equal(hand_over(&peers[1], OTHER, 1, 1, 0, 5, 5), 0);
	assert_int_equal(hand_over(&peers[1], THIRD, 10, 3, 0, 0, 0), 0);
	assert_int_equal(foreign_lists, 4);
	assert_true(hd_handshake_foreign_at(handshake, 0)->prefix == OTHER);
	assert_int_equal(hd_handshake_foreign_at(handshake, 1)->host_count, 0);
	assert_null(hd_handshake_foreign_at(handshake, 2));
	deliver(&peers[0]);
	assert_int_equal(peers[0].types[HD_ROUTER_FOREIGN], 2);
	assert_int_equal(peers[0].types[HD_ROUTER_REFUSED], 0);
}

/* A list that no router repeats for 90 s is forgotten, and the router that connects then does not get it. Only a
 * complete repetition over the same way counts; it goes on to other routers, but not each time. */
static void lists_expire(void **state)
{
	(void)state;
	hd_handshake_tick(handshake, 5000);
	connect_peer(0);
	connect_peer(1);
	assert_int_equal(hand_over(&peers[0], THIRD, 9, 1, 0, 100, 100), 0);
	assert_int_equal(hand_over(&peers[0], OTHER, 9, 1, 0, 5, 5), 0);
	deliver(&peers[1]);
	assert_int_equal(peers[1].types[HD_ROUTER_FOREIGN], 2);
	/* repeated too early to be passed on, and then late enough */
	for (uint64_t now = 15000; now <= 65000; now += 10000) {
		hd_handshake_tick(handshake, now);
		assert_int_equal(hand_over(&peers[0], THIRD, 9, 1, 0, 60, 100), 0);
		assert_int_equal(hand_over(&peers[0], THIRD, 9, 1, 60, 100, 100), 0);
	}
	deliver(&peers[1]);
	assert_int_equal(peers[1].types[HD_ROUTER_FOREIGN], 2 + 3);
	hd_handshake_tick(handshake, 95000);
	assert_int_equal(expired_lists, 0);
	hd_handshake_tick(handshake, 95001);
	assert_int_equal(expired_lists, 1);
	assert_true(hd_handshake_foreign_at(handshake, 0)->prefix == THIRD);
	/* none of these repeats it: longer way, other length, a part, an earlier time */
	hd_handshake_tick(handshake, 150000);
	assert_int_equal(hand_over(&peers[1], THIRD, 9, 2, 0, 100, 100), 0);
	assert_int_equal(hand_over(&peers[1], THIRD, 9, 1, 0, 99, 99), 0);
	assert_int_equal(hand_over(&peers[1], THIRD, 9, 1, 0, 60, 100), 0);
	hd_handshake_tick(handshake, 1);
	hd_handshake_tick(handshake, 155001);
	assert_int_equal(expired_lists, 2);
	assert_null(hd_handshake_foreign_at(handshake, 0));
	assert_int_equal(foreign_lists, 2);
	hd_handshake_close(peers[1].end);
	free(peers[1].memory);
	connect_peer(1);
	assert_int_equal(peers[1].types[HD_ROUTER_FOREIGN], 0);
	/* it can come again, also with a lower epoch */
	assert_int_equal(hand_over(&peers[0], THIRD, 4, 1, 0, 100, 100), 0);
	assert_int_equal(foreign_lists, 3);
}

/* After a subnet manager has restarted with a clock that was set back, its lists count all the same: in the session of
 * the router and in the next one. The log says so once. From another router, or over another way, it is an old list. */
static void clocks_that_go_back(void **state)
{
	(void)state;
	connect_peer(0);
	connect_peer(1);
	assert_int_equal(hand_over(&peers[0], THIRD, 900, 1, 0, 100, 100), 0);
	assert_int_equal(hand_over(&peers[1], THIRD, 20, 1, 0, 7, 7), 0);
	assert_int_equal(hand_over(&peers[0], THIRD, 20, 2, 0, 7, 7), 0);
	assert_int_equal(hd_handshake_foreign_at(handshake, 0)->host_count, 100);
	assert_int_equal(warnings, 0);
	assert_int_equal(hand_over(&peers[0], THIRD, 20, 1, 0, 7, 7), 0);
	assert_int_equal(hd_handshake_foreign_at(handshake, 0)->host_count, 7);
	assert_true(hd_handshake_foreign_at(handshake, 0)->epoch == 20);
	assert_int_equal(foreign_lists, 2);
	assert_int_equal(warnings, 1);
	hd_handshake_close(peers[0].end);
	free(peers[0].memory);
	connect_peer(0);
	assert_int_equal(hand_over(&peers[0], THIRD, 10, 1, 0, 8, 8), 0);
	assert_int_equal(hd_handshake_foreign_at(handshake, 0)->host_count, 8);
	assert_int_equal(warnings, 2);
	deliver(&peers[1]);
	assert_int_equal(peers[1].last.epoch, 10);
}

/* One router cannot fill the room for lists of others, and what it has filled is free after 90 s. */
static void one_router_does_not_fill_the_room(void **state)
{
	(void)state;
	connect_peer(0);
	connect_peer(1);
	for (uint32_t i = 0; i < HD_HANDSHAKE_FOREIGN_OF_ROUTER; i++)
		assert_int_equal(hand_over(&peers[0], THIRD + 1 + i, 1, 1, 0, 1, 1), 0);
	assert_int_equal(foreign_lists, HD_HANDSHAKE_FOREIGN_OF_ROUTER);
	assert_int_equal(hand_over(&peers[0], OTHER, 1, 1, 0, 1, 1), 0);
	assert_int_equal(foreign_lists, HD_HANDSHAKE_FOREIGN_OF_ROUTER);
	assert_int_equal(hand_over(&peers[1], OTHER, 1, 1, 0, 1, 1), 0);
	assert_int_equal(foreign_lists, HD_HANDSHAKE_FOREIGN_OF_ROUTER + 1);
	hd_handshake_tick(handshake, HD_HANDSHAKE_EXPIRE_MS + 1);
	assert_null(hd_handshake_foreign_at(handshake, 0));
	assert_int_equal(expired_lists, foreign_lists);
	assert_int_equal(hand_over(&peers[0], OTHER, 1, 1, 0, 1, 1), 0);
	assert_non_null(hd_handshake_foreign_at(handshake, 0));
}

/* What the last message to a peer refuses. */
static enum hd_router_reason refusal(struct peer *peer)
{
	deliver(peer);
	assert_int_equal(peer->last.type, HD_ROUTER_REFUSED);
	return peer->last.reason;
}

/* A lying router hears why, the others hear nothing, and the session goes on. */
static void lies_are_refused(void **state)
{
	(void)state;
	connect_peer(0);
	connect_peer(1);
	assert_int_equal(hand_over(&peers[0], OWN, 9, 1, 0, 5, 5), 0);
	assert_int_equal(refusal(&peers[0]), HD_ROUTER_WRONG_PREFIX);
	assert_int_equal(hand_over(&peers[0], THIRD, 9, 1, 5, 9, 9), 0);
	assert_int_equal(refusal(&peers[0]), HD_ROUTER_INCOMPLETE);
	assert_int_equal(hand_over(&peers[0], THIRD, 9, 1, 0, 5, 60000), 0);
	assert_int_equal(refusal(&peers[0]), HD_ROUTER_TOO_MANY);
	assert_int_equal(hand_over(&peers[0], THIRD, 9, 9, 0, 5, 5), 0);
	assert_int_equal(refusal(&peers[0]), HD_ROUTER_BAD_VALUE);
	assert_int_equal(peers[1].used, 0);
	assert_int_equal(foreign_lists, 0);
	assert_int_equal(hand_over(&peers[0], THIRD, 9, 8, 0, 5, 5), 0);
	assert_int_equal(foreign_lists, 1);
}

/* A router advertises for its own ports only; the other routers hear of it. */
static void advertisements_are_passed_on(void **state)
{
	struct hd_router_message message = {
	    .type = HD_ROUTER_PREFIXES, .port_guid = 0x400000, .lid = 6000};

	(void)state;
	connect_peer(0);
	connect_peer(1);
	assert_int_equal(hd_handshake_publish(handshake, &lists, NULL), 0);
	deliver(&peers[0]);
	deliver(&peers[1]);
	assert_int_equal(say(&peers[0], message, NULL, 0), 0);
	assert_int_equal(peers[0].used, 0);
	deliver(&peers[1]);
	assert_int_equal(peers[1].last.type, HD_ROUTER_PREFIXES);
	assert_true(peers[1].last.port_guid == 0x400000 && peers[1].last.lid == 6000);
	message.port_guid = 0x400001; /* the other router's */
	message.lid = 6001;
	assert_int_equal(say(&peers[0], message, NULL, 0), 0);
	assert_int_equal(refusal(&peers[0]), HD_ROUTER_UNKNOWN_PORT);
	message.port_guid = 0x400000;
	assert_int_equal(say(&peers[0], message, NULL, 0), 0);
	assert_int_equal(refusal(&peers[0]), HD_ROUTER_UNKNOWN_PORT);
	assert_int_equal(peers[1].used, 0);
}

/* After bytes that make no sense the session is over; the others stay. */
static void nonsense_ends_a_session(void **state)
{
	(void)state;
	connect_peer(0);
	connect_peer(1);
	memset(bytes, 'x', 300);
	assert_int_equal(hd_handshake_receive(peers[0].end, bytes, 300), -EPROTO);
	assert_true(peers[0].given_up);
	assert_int_equal(refusal(&peers[0]), HD_ROUTER_NO_MAGIC);
	assert_int_equal(hd_handshake_receive(peers[0].end, bytes, 300), -EPROTO);
	assert_int_equal(hd_handshake_publish(handshake, &lists, NULL), 0);
	assert_int_equal(peers[0].used, 0);
	assert_true(peers[1].used > 0 && !peers[1].given_up);
	hd_handshake_close(peers[0].end);
	free(peers[0].memory);
	connect_peer(0);
	assert_true(peers[0].router->subnets[0].ready);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(lists_arrive, start, stop),
	    cmocka_unit_test_setup_teardown(bad_lists_are_refused, start, stop),
	    cmocka_unit_test_setup_teardown(foreign_lists_are_collected, start, stop),
	    cmocka_unit_test_setup_teardown(lists_expire, start, stop),
	    cmocka_unit_test_setup_teardown(clocks_that_go_back, start, stop),
	    cmocka_unit_test_setup_teardown(one_router_does_not_fill_the_room, start, stop),
	    cmocka_unit_test_setup_teardown(lies_are_refused, start, stop),
	    cmocka_unit_test_setup_teardown(advertisements_are_passed_on, start, stop),
	    cmocka_unit_test_setup_teardown(nonsense_ends_a_session, start, stop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
