/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Stands between ibsim and its clients. To the clients it looks like ibsim, under the socket name
 * `front`; to ibsim, whose socket name is `back`, it is as many clients as it has itself.
 *
 * All datagrams pass, except SMPs with vendor attributes, and SMPs that a fault befalls. To learn
 * which node such a MAD addresses, the proxy sends ibsim the same MAD with the attribute NodeInfo,
 * from the same client: the answer has the node's GUID and type, and shows the way back. Nothing is
 * remembered of it, so that a change of the fabric needs no attention.
 */
#ifndef EMULATOR_PROXY_H
#define EMULATOR_PROXY_H

#include "emulator_delays.h"
#include "emulator_nodes.h"
#include "emulator_socket.h"
#include "emulator_states.h"
#include "emulator_wire.h"
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/un.h>

#define PROXY_SESSIONS (2 * WIRE_CLIENTS)
#define PROXY_PROBES 16384u /* a power of two; more are never under way */

/* A client, from its connect message to the end of its connection. */
struct session {
	bool used, connected;
	uint32_t number; /* counts sessions: tells a place's users apart */
	uint32_t id; /* in the name of the client's socket */
	uint32_t client; /* its place with ibsim, and with us, once connected */
	struct sockaddr_un address; /* of its control socket */
	socklen_t address_size;
	struct outlet to_client, control, data; /* the last two lead to ibsim */
};

/* What an answer of ibsim to a question of ours is for. */
enum probe_kind {
	PROBE_NODE, /* which node a MAD addresses */
	PROBE_COUNT, /* the same; the MAD itself has gone on already */
	PROBE_N2N, /* which node a MAD of the class N2N addresses */
	PROBE_PORT_INFO, /* PortInfo of port 0, which gets a capability and goes on to the client */
	PROBE_STATE /* of a port, for a table of states */
};

/* A MAD that waits for it. */
struct probe {
	bool used;
	enum probe_kind kind;
	uint32_t gathering; /* PROBE_STATE: its number */
	uint32_t sequence;
	uint32_t session; /* its number */
	struct wire_datagram request; /* PROBE_STATE: none */
};

#define PROXY_GATHERINGS 1024u /* a power of two; more are never under way */

/* A table of states that a client has asked for, while ibsim is asked for each port. */
struct gathering {
	uint32_t number;
	uint32_t left; /* ports */
	struct wire_datagram request, route;
	uint8_t data[WIRE_DATA_SIZE];
};

struct proxy {
	const char *front, *back;
	int poll; /* epoll */
	int control; /* where clients connect */
	int out[WIRE_CLIENTS]; /* where their MADs come in */
	struct session sessions[PROXY_SESSIONS];
	uint32_t session_count; /* ever */
	struct probe *probes; /* [PROXY_PROBES], a ring by sequence */
	uint32_t sequence;
	struct gathering *gatherings; /* [PROXY_GATHERINGS], a ring by number */
	uint32_t gathering_count; /* ever */
	struct delays delays;
	struct nodes nodes;
	bool standard_faults; /* standard attributes have faults: ask for the node first */
	bool watch; /* count standard attributes for each node */
	bool states; /* there may be switches with a table of port states */
	bool no_traps; /* traps get lost */
	bool lfts; /* blocks of forwarding tables that are set are kept */
	FILE *trace; /* one line a MAD, or NULL */
	FILE *record; /* one line a Set that a switch has done, or NULL */
	uint64_t requests, probes_sent, lost, traps_lost;
};

/* What the number in epoll_event.data means: kind << 32 | index. */
enum { PROXY_CONTROL, PROXY_OUT, PROXY_SESSION_CONTROL, PROXY_SESSION_DATA, PROXY_COMMANDS };

/* Opens the sockets. Returns 0 or a negative errno. */
int proxy_start(struct proxy *proxy, const char *front, const char *back, uint64_t seed);

/* Handles an event of its own sockets. */
void proxy_event(struct proxy *proxy, uint32_t kind, uint32_t index);

/* Sends what is due and what waited; returns the ms until something is due, -1 for never. */
int proxy_turn(struct proxy *proxy);

void proxy_stop(struct proxy *proxy);

/* Milliseconds of the monotonic clock. */
uint64_t proxy_now(void);

#endif
