/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The subnet manager's end of the connections to routers: doc/guide/router-protocol.md. No sockets
 * and no clock: the caller accepts connections, hands over the bytes that come, says what time it is, and sends what the
 * hooks give it.
 *
 *   hd_handshake_new(prefix, first_epoch, &hooks, &handshake, &err);
 *   hd_handshake_publish(handshake, &lists, &err);   when the switches have acknowledged new tables
 *   hd_handshake_open(handshake, connection, nonce, &session, &err);     when a router connects
 *   hd_handshake_receive(session, bytes, length);                        when bytes come
 *   hd_handshake_tick(handshake, now);                                   before, and every 10 s
 *   hd_handshake_keep_alive(handshake);                                  every 30 s
 *   hd_handshake_close(session);                                         when the connection is gone
 *
 * One thread at a time. GUIDs and LIDs are in host byte order.
 */
#ifndef HEDDLE_IR_ROUTER_HANDSHAKE_H
#define HEDDLE_IR_ROUTER_HANDSHAKE_H

#include <heddle/base/error.h>
#include <stdint.h>

#define HD_HANDSHAKE_FOREIGN_MAX 256u /* other subnets whose lists are kept */
#define HD_HANDSHAKE_FOREIGN_OF_ROUTER 128u /* those that one router can have handed over last */
#define HD_HANDSHAKE_EXPIRE_MS                                                                     \
	90000u /* after which a list is forgotten, if no router has repeated it */
#define HD_HANDSHAKE_HOSTS_MAX 49151u /* hosts of one of them */

/* A port of a router in our subnet. */
struct hd_handshake_port {
	uint64_t router_guid; /* node GUID */
	uint64_t guid;
	uint64_t switch_guid; /* behind it; 0: none */
	uint16_t lid, switch_lid;
	uint8_t switch_port; /* that leads to the router */
	uint8_t down[32]; /* bit p % 8 of byte p / 8: port p of the switch leads down the tree */
};

/* A host: of our subnet, or of another (without LID). */
struct hd_handshake_host {
	uint64_t guid;
	uint64_t top_switch; /* that D-mod-K names for it in its subnet; 0: none */
	uint32_t place; /* in its subnet, leaf by leaf, from 0 */
	uint16_t lid;
};

/* Where our subnet sends packets for a foreign GID. */
struct hd_handshake_mapped {
	uint64_t prefix, guid; /* the GID */
	uint64_t port_guid;
};

/* The state of our subnet. */
struct hd_handshake_lists {
	const struct hd_handshake_port *ports; /* [port_count], ascending by GUID */
	const struct hd_handshake_host *hosts; /* [host_count], ascending by GUID */
	const struct hd_handshake_mapped *mapped; /* [mapped_count], ascending by GID */
	uint32_t port_count, host_count, mapped_count;
};

/* The hosts of another subnet, as a router has handed them over. */
struct hd_handshake_foreign {
	uint64_t prefix;
	uint64_t epoch; /* of that subnet's manager */
	uint32_t hops; /* routers on the way */
	struct hd_handshake_host *hosts; /* [host_count], ascending by GUID */
	uint32_t host_count;
	uint64_t router_guid; /* which has handed it over or repeated it last */
	uint64_t renewed_ms, passed_on_ms; /* when: times of hd_handshake_tick() */
};

struct hd_handshake;
struct hd_handshake_session;

/* All get `context`. No hook may call a function of the handshake. */
struct hd_handshake_hooks {
	/* Sends bytes over a connection, which keeps their order. */
	void (*send)(void *context, void *connection, const uint8_t *bytes, uint32_t length);
	/* The connection is of no use any more. The caller closes it, and calls
	 * hd_handshake_close() after the present call has returned. */
	void (*give_up)(void *context, void *connection);
	/* A router uses an epoch. May be NULL. */
	void (*accepted)(void *context, uint64_t router_guid, uint64_t epoch);
	/* The complete list of another subnet has come, or a newer one. May be NULL. */
	void (*foreign)(void *context, const struct hd_handshake_foreign *list);
	/* No router has repeated the list of another subnet in time, and it is forgotten. May be NULL. */
	void (*expired)(void *context, uint64_t prefix);
	struct hd_log log; /* what was refused, and why */
	void *context;
};

/*
 * A handshake without sessions, to be freed with hd_handshake_free(). `prefix` is our subnet's.
 * Epochs count from first_epoch; take the time, so that those of a restarted subnet manager are
 * newer. Errors: -EINVAL the prefix is 0 or link-local, -ENOMEM.
 */
int hd_handshake_new(uint64_t prefix, uint64_t first_epoch, const struct hd_handshake_hooks *hooks,
		     struct hd_handshake **out, struct hd_error *err);

/* Also frees all sessions, without a hook. NULL is allowed. */
void hd_handshake_free(struct hd_handshake *handshake);

/*
 * Makes lists, which are copied, the new epoch, and sends them to all routers: to each its own
 * ports, and all hosts and the whole map. Errors: -EINVAL a list is not ascending or a LID is out
 * of range, -ENOMEM; then the old epoch stays. Cost: O(entries * sessions).
 */
int hd_handshake_publish(struct hd_handshake *handshake, const struct hd_handshake_lists *lists,
			 struct hd_error *err);

/* Begins a session for a connection that a router has opened. `nonce` is random and not 0. The
 * session lives until hd_handshake_close(). Errors: -ENOMEM. */
int hd_handshake_open(struct hd_handshake *handshake, void *connection, uint64_t nonce,
		      struct hd_handshake_session **session, struct hd_error *err);

/*
 * Takes bytes of the stream, in pieces of any size. Errors: -EPROTO the two sides do not understand
 * each other, -ENOMEM; give_up() was called, and all further bytes are ignored.
 */
int hd_handshake_receive(struct hd_handshake_session *session, const uint8_t *bytes,
			 uint32_t length);

/* Forgets a session. The lists that it handed over stay until they expire. */
void hd_handshake_close(struct hd_handshake_session *session);

/* Says what time it is, in milliseconds of a clock that is never set; an earlier time than before counts as that one.
 * Forgets the lists of other subnets that no router has repeated for HD_HANDSHAKE_EXPIRE_MS. Until the first call it is
 * 0. Cost: O(lists). */
void hd_handshake_tick(struct hd_handshake *handshake, uint64_t now_ms);

/* Sends a sign of life to all routers. */
void hd_handshake_keep_alive(struct hd_handshake *handshake);

/* The router of a session; 0: it has not greeted. */
uint64_t hd_handshake_router(const struct hd_handshake_session *session);

/* The list of another subnet, number `index` by prefix; NULL: there are not so many. Valid until
 * the next call of hd_handshake_receive() or hd_handshake_tick(). */
const struct hd_handshake_foreign *hd_handshake_foreign_at(const struct hd_handshake *handshake,
							   uint32_t index);

#endif
