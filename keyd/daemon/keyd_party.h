/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Who is at the other end of connections, and how many each user or address has. */
#ifndef KEYD_PARTY_H
#define KEYD_PARTY_H

#include <stdbool.h>
#include <sys/types.h>

/* Who is at the other end of a connection. */
struct keyd_peer {
	bool unix_socket; /* then uid is known */
	uid_t uid;
	unsigned char
	    address[16]; /* else: the network of an IPv6 address, or IPv4 mapped to IPv6 */
};

/* A user of the unix socket, or an address: for IPv6, a network of 64 bits. */
struct keyd_party {
	struct keyd_peer peer;
	unsigned members; /* connections that refer to it */
	unsigned admitted; /* those that count for the limits */
	unsigned large; /* long answers under way */
};

/* The peer of a connected socket. */
struct keyd_peer keyd_peer_of(int descriptor);

/* The party of a peer in the search tree, with one more member. NULL: no memory. O(log parties). */
struct keyd_party *keyd_party_join(void **tree, const struct keyd_peer *peer);

/* Frees the party of the last member. NULL is allowed. */
void keyd_party_leave(void **tree, struct keyd_party *party);

#endif
