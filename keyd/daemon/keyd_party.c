/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "keyd_party.h"

#include <netinet/in.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define NETWORK_BYTES 8u /* of an IPv6 address: who has one has all of its network */

static void take_address(struct keyd_peer *peer, const struct sockaddr_storage *address)
{
	const struct sockaddr_in *four = (const struct sockaddr_in *)address;
	const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)address;

	if (address->ss_family == AF_INET) {
		memset(peer->address + 10, 0xFF, 2);
		memcpy(peer->address + 12, &four->sin_addr, 4);
	} else if (address->ss_family == AF_INET6) {
		bool mapped = IN6_IS_ADDR_V4MAPPED(&six->sin6_addr);

		memcpy(peer->address, &six->sin6_addr,
		       mapped ? sizeof(peer->address) : NETWORK_BYTES);
	}
}

struct keyd_peer keyd_peer_of(int descriptor)
{
	struct keyd_peer peer = {.unix_socket = false};
	struct sockaddr_storage address;
	struct ucred credentials;
	socklen_t length = sizeof(credentials), size = sizeof(address);

	memset(&address, 0, sizeof(address));
	if (getpeername(descriptor, (struct sockaddr *)&address, &size))
		return peer;
	if (address.ss_family != AF_UNIX) {
		take_address(&peer, &address);
	} else if (!getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &credentials, &length)) {
		peer.unix_socket = true;
		peer.uid = credentials.uid;
	}
	return peer;
}

static int compare(const void *one, const void *other)
{
	const struct keyd_peer *a = &((const struct keyd_party *)one)->peer;
	const struct keyd_peer *b = &((const struct keyd_party *)other)->peer;

	if (a->unix_socket != b->unix_socket)
		return a->unix_socket - b->unix_socket;
	if (a->unix_socket)
		return (a->uid > b->uid) - (a->uid < b->uid);
	return memcmp(a->address, b->address, sizeof(a->address));
}

struct keyd_party *keyd_party_join(void **tree, const struct keyd_peer *peer)
{
	struct keyd_party *party = calloc(1, sizeof(*party)), **found;

	if (!party)
		return NULL;
	party->peer = *peer;
	found = (struct keyd_party **)tsearch(party, tree, compare);
	if (!found || *found != party)
		free(party);
	if (!found)
		return NULL;
	(*found)->members++;
	return *found;
}

void keyd_party_leave(void **tree, struct keyd_party *party)
{
	if (!party || --party->members)
		return;
	tdelete(party, tree, compare);
	free(party);
}
