/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The messages between a subnet manager and a router: their form, and nothing about who may send
 * what when. doc/guide/router-protocol.md describes them byte by byte. All numbers travel in
 * network byte order. What is decoded and encoded again gives the same bytes.
 */
#ifndef ROUTER_CODEC_H
#define ROUTER_CODEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HD_ROUTER_MAGIC 0x48445254u /* "HDRT" */
#define HD_ROUTER_VERSION_NUMBER 1u
#define HD_ROUTER_HEADER 40u /* bytes */
#define HD_ROUTER_MESSAGE_MAX 65536u /* bytes with the header */
#define HD_ROUTER_HOPS_MAX 8u /* routers on the path to a prefix */

/*
 * The words that all parts of the firmware module share. The module is freestanding C17: it needs
 * memcpy() and memset() from string.h, allocates nothing, prints nothing, and never calls itself.
 * It may be taken out of this folder as it is. All numbers are in host byte order, except in
 * packets and messages.
 */

#define HD_ROUTER_LID_MAX 0xBFFFu /* the highest unicast LID */
#define HD_ROUTER_LINK_LOCAL 0xFE80000000000000u /* the prefix of GIDs that no router forwards */

struct hd_router_gid {
	uint64_t prefix, guid;
};

/* Why something was refused. The numbers are part of the protocol; new ones come last. */
enum hd_router_reason {
	HD_ROUTER_OK,
	/* the form of a message */
	HD_ROUTER_NO_MAGIC,
	HD_ROUTER_VERSION,
	HD_ROUTER_OVERSIZED,
	HD_ROUTER_TRUNCATED,
	HD_ROUTER_CHECKSUM,
	HD_ROUTER_UNKNOWN_TYPE,
	HD_ROUTER_BAD_FORM,
	/* its place in the session */
	HD_ROUTER_NOT_GREETED,
	HD_ROUTER_OTHER_SESSION,
	HD_ROUTER_REPLAYED,
	HD_ROUTER_GAP,
	HD_ROUTER_WRONG_ROLE,
	HD_ROUTER_OLD_EPOCH,
	HD_ROUTER_WRONG_EPOCH,
	/* what it says */
	HD_ROUTER_FOREIGN_GID,
	HD_ROUTER_OWN_GID,
	HD_ROUTER_WRONG_PREFIX,
	HD_ROUTER_PREFIX_TAKEN,
	HD_ROUTER_BAD_VALUE,
	HD_ROUTER_NOT_SORTED,
	HD_ROUTER_INCOMPLETE,
	HD_ROUTER_TOO_MANY,
	HD_ROUTER_UNKNOWN_PORT,
	HD_ROUTER_REASONS
};

/* A sentence about a reason, for logs. Never NULL. */
const char *hd_router_reason_text(enum hd_router_reason reason);

/* Whether a subnet may have this prefix: neither 0 nor link-local. */
static inline bool hd_router_prefix_is_global(uint64_t prefix)
{
	return prefix && prefix >> 54 != HD_ROUTER_LINK_LOCAL >> 54 && prefix >> 56 != 0xFF;
}

/* Whether this is a LID of a port. */
static inline bool hd_router_lid_is_unicast(uint16_t lid)
{
	return lid && lid <= HD_ROUTER_LID_MAX;
}

enum hd_router_type {
	HD_ROUTER_HELLO = 1,
	HD_ROUTER_PORTS, /* SM: the router's ports in its subnet; begins an epoch */
	HD_ROUTER_HOSTS, /* SM: a part of the list of hosts */
	HD_ROUTER_MAP, /* SM: a part of the map */
	HD_ROUTER_READY, /* SM: the lists are complete, and the switches have their tables */
	HD_ROUTER_ACCEPTED, /* router: it uses the epoch */
	HD_ROUTER_FOREIGN, /* both: a part of the hosts of another subnet, handed over */
	HD_ROUTER_PREFIXES, /* both: what a router port leads to */
	HD_ROUTER_REFUSED, /* both: an answer to a bad message */
	HD_ROUTER_ALIVE, /* both: nothing new */
	HD_ROUTER_TYPES
};

enum hd_router_role { HD_ROUTER_ROLE_SM = 1, HD_ROUTER_ROLE_ROUTER = 2 };

/* A message without its entries. Fields of other types are 0. */
struct hd_router_message {
	enum hd_router_type type;
	uint64_t session; /* the receiver's nonce; 0 in the first HELLO */
	uint64_t sequence; /* from 1 */
	uint64_t epoch; /* of what the message is about */
	/* HELLO */
	enum hd_router_role role;
	uint64_t nonce;
	uint64_t node_guid; /* of the router; 0 from an SM */
	/* HELLO of an SM, PORTS, HOSTS, MAP, READY, ACCEPTED, FOREIGN */
	uint64_t prefix;
	/* HOSTS, MAP, FOREIGN: entries in the whole list, and the index of the first one here */
	uint32_t total, first;
	uint32_t hops; /* FOREIGN: routers on the path to the prefix */
	uint32_t ports, hosts, mapped; /* READY, ACCEPTED: lengths of the lists */
	/* PREFIXES: the router port that is the next hop */
	uint64_t port_guid;
	uint16_t lid;
	/* REFUSED */
	uint64_t refused_sequence;
	enum hd_router_reason reason;
	uint16_t refused_type;
	/* PORTS, HOSTS, MAP, FOREIGN, PREFIXES; only decoding sets them */
	uint32_t count;
	const uint8_t *entries; /* in the buffer that was decoded */
};

/* An entry of PORTS: a port of the router, and the switch behind it. */
struct hd_router_port_entry {
	uint64_t guid, switch_guid;
	uint16_t lid, switch_lid;
	uint8_t switch_port; /* the port of the switch that leads to the router */
	uint8_t down[32]; /* bit p % 8 of byte p / 8: port p of the switch leads down the tree */
};

/* An entry of HOSTS and FOREIGN. Ascending by GUID. */
struct hd_router_host_entry {
	struct hd_router_gid gid;
	uint64_t top_switch; /* that D-mod-K names for the host; 0: no such switch */
	uint32_t place; /* of the host in its subnet, leaf by leaf, from 0 */
	uint16_t lid; /* 0 in FOREIGN */
};

/* An entry of MAP. Ascending by GID. */
struct hd_router_map_entry {
	struct hd_router_gid gid;
	uint64_t port_guid; /* the router port that packets to it go to */
};

/* An entry of PREFIXES. Ascending by prefix. */
struct hd_router_prefix_entry {
	uint64_t prefix;
	uint8_t hops; /* routers on the path, 1 .. HD_ROUTER_HOPS_MAX */
};

/*
 * Looks at the HD_ROUTER_HEADER first bytes of a stream: the length of the whole message. Refuses
 * what is not ours, another version, and what is longer than `longest`, before anybody reads the
 * rest.
 */
enum hd_router_reason hd_router_frame(const uint8_t header[HD_ROUTER_HEADER], uint32_t longest,
				      uint32_t *length);

/*
 * Decodes a complete message of `length` bytes, which must outlive *message. Checks the form only:
 * lengths, checksum, reserved fields. Cost: O(length).
 */
enum hd_router_reason hd_router_decode(const uint8_t *bytes, uint32_t length,
				       struct hd_router_message *message);

/* Entry `index` < message->count, of the type that the message has. Cost: O(1). */
void hd_router_port_at(const struct hd_router_message *message, uint32_t index,
		       struct hd_router_port_entry *entry);
void hd_router_host_at(const struct hd_router_message *message, uint32_t index,
		       struct hd_router_host_entry *entry);
void hd_router_map_at(const struct hd_router_message *message, uint32_t index,
		      struct hd_router_map_entry *entry);
void hd_router_prefix_at(const struct hd_router_message *message, uint32_t index,
			 struct hd_router_prefix_entry *entry);

/* A message while it is written. */
struct hd_router_writer {
	uint8_t *bytes; /* [size] of the caller */
	uint32_t size, used, count;
	enum hd_router_type type;
};

/* How many entries a message of that type can have in `size` bytes. */
uint32_t hd_router_entries_max(enum hd_router_type type, uint32_t size);

/*
 * Begins a message in a buffer of at least HD_ROUTER_HEADER + 64 bytes. Then the entries follow, as
 * many as hd_router_entries_max() allows, and hd_router_write_end(), which sets the length, the
 * count and the checksum and returns the length.
 */
void hd_router_write_begin(struct hd_router_writer *writer, uint8_t *bytes, uint32_t size,
			   const struct hd_router_message *message);
void hd_router_write_port(struct hd_router_writer *writer,
			  const struct hd_router_port_entry *entry);
void hd_router_write_host(struct hd_router_writer *writer,
			  const struct hd_router_host_entry *entry);
void hd_router_write_map(struct hd_router_writer *writer, const struct hd_router_map_entry *entry);
void hd_router_write_prefix(struct hd_router_writer *writer,
			    const struct hd_router_prefix_entry *entry);
uint32_t hd_router_write_end(struct hd_router_writer *writer);

/* Numbers in network byte order, and the checksum. */

static inline uint16_t router_bytes_get16(const uint8_t *at)
{
	return (uint16_t)(at[0] << 8 | at[1]);
}

static inline uint32_t router_bytes_get32(const uint8_t *at)
{
	return (uint32_t)router_bytes_get16(at) << 16 | router_bytes_get16(at + 2);
}

static inline uint64_t router_bytes_get64(const uint8_t *at)
{
	return (uint64_t)router_bytes_get32(at) << 32 | router_bytes_get32(at + 4);
}

static inline void router_bytes_put16(uint8_t *at, uint16_t value)
{
	at[0] = (uint8_t)(value >> 8);
	at[1] = (uint8_t)value;
}

static inline void router_bytes_put32(uint8_t *at, uint32_t value)
{
	router_bytes_put16(at, (uint16_t)(value >> 16));
	router_bytes_put16(at + 2, (uint16_t)value);
}

static inline void router_bytes_put64(uint8_t *at, uint64_t value)
{
	router_bytes_put32(at, (uint32_t)(value >> 32));
	router_bytes_put32(at + 4, (uint32_t)value);
}

/* CRC-32C (Castagnoli) of bytes, continued: begin with 0. Cost: O(length). */
uint32_t router_bytes_checksum(uint32_t before, const uint8_t *bytes, uint32_t length);

#endif
