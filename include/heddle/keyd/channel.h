/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The key channel: messages between heddle-keyd and the subnet manager's plugin, over a stream
 * (doc/guide/key-channel.md). No sockets and no clock here.
 *
 * A frame is 12 bytes and a body. All numbers are in network byte order:
 *
 *	0  u32  "HKEY"
 *	4  u16  version, HD_CHANNEL_VERSION
 *	6  u16  type
 *	8  u32  bytes of the body, at most HD_CHANNEL_BODY_MAX
 *
 * The body by type, with its offsets. A text is a u32, its number of bytes, and these bytes; it has no
 * last 0 and no control characters. Lists ascend, and no element comes twice.
 *
 *	HELLO	0 u64 instance, not 0	8 u32 1: master, 0: not	12 text engine, at most 31 bytes
 *	FABRIC	0 u64 epoch	8 u32 A, number of GUIDs set aside	12 u32 N, bytes of the netlist
 *		16 A * u64 GUID, not 0	16 + 8A N bytes of the netlist
 *	HELD	0 u32 K, number of keys	4 K * u64 key, not 0
 *	SET	0 u64 request	8 u64 key, not 0	16 u64 epoch	24 u32 E, number of entries
 *		28 E * 12 bytes: 0 u64 GUID of the switch, not 0	8 u16 LID, 1 .. 0xBFFF
 *				 10 u8 port, 1 .. 254	11 u8 0
 *	RESULT	0 u64 request	8 u64 key, not 0	16 u32 status	20 u32 blocks	24 u32 changed
 *		28 text reason, at most 255 bytes
 *	BROKEN	0 u64 key, not 0	8 u64 epoch	16 text reason, at most 255 bytes
 *
 * The manager speaks first: HELLO, then FABRIC and HELD if it is master. After each change of the
 * fabric it sends FABRIC again, and BROKEN for each key that the change has broken. keyd sends SET;
 * each SET gets one RESULT, in the order of the SETs.
 */
#ifndef HEDDLE_KEYD_CHANNEL_H
#define HEDDLE_KEYD_CHANNEL_H

#include <heddle/base/error.h>
#include <heddle/keyd/key.h>
#include <stddef.h>

#define HD_CHANNEL_VERSION 1u
#define HD_CHANNEL_HEADER 12u
#define HD_CHANNEL_BODY_MAX (64u << 20) /* a netlist of 11,664 hosts has 4 MB */
#define HD_CHANNEL_TEXT 256u /* bytes of a reason, with the last 0 */
#define HD_CHANNEL_ENTRIES_MAX (1u << 21) /* of one key */

enum hd_channel_type {
	HD_CHANNEL_HELLO = 1, /* manager to keyd: who I am */
	HD_CHANNEL_FABRIC, /* manager to keyd: the fabric of an epoch */
	HD_CHANNEL_HELD, /* manager to keyd: the keys that are in force here */
	HD_CHANNEL_SET, /* keyd to manager: replace or remove a key */
	HD_CHANNEL_RESULT, /* manager to keyd: how a SET has ended */
	HD_CHANNEL_BROKEN /* manager to keyd: a key fell back to the routes without keys */
};

/* What has become of a SET. */
enum hd_channel_status {
	HD_CHANNEL_DONE, /* the switches have acknowledged every block */
	HD_CHANNEL_STALE, /* made for another epoch: make the key again for the new FABRIC */
	HD_CHANNEL_REFUSED, /* unsound: a loop, no arrival, a credit loop, a LID of another key */
	HD_CHANNEL_FAILED, /* a switch did not answer; the key is not in force */
	HD_CHANNEL_BUSY, /* a sweep is under way or the manager is not master: try again */
	HD_CHANNEL_STATUS_COUNT
};

struct hd_channel_hello {
	uint64_t instance; /* random, not 0: another one after a restart */
	bool master; /* else no FABRIC follows until it is */
	char engine[32]; /* its name: what it does with keys is in struct hd_engine */
};

struct hd_channel_fabric {
	uint64_t epoch; /* ascending in an instance */
	const char *netlist; /* as hd_fabric_write_netlist() writes it, not terminated */
	size_t netlist_length;
	/* GUIDs of adapter ports that are set aside by policy, ascending */
	const uint64_t *aside;
	uint32_t aside_count;
};

struct hd_channel_held {
	uint32_t count;
	const uint64_t *keys; /* ascending */
};

/* Replaces all entries of a key. No entries: removes the key. A key that is refused or fails stays
 * as it was before. */
struct hd_channel_set {
	uint64_t request; /* comes back in the RESULT */
	uint64_t key; /* not 0; chosen by keyd, never used again for another key */
	uint64_t epoch; /* of the FABRIC for which it was made; not looked at to remove a key */
	struct hd_key_overlay overlay;
};

struct hd_channel_result {
	uint64_t request, key;
	enum hd_channel_status status;
	uint32_t blocks; /* LFT blocks that were sent */
	uint32_t changed; /* entries that changed */
	char reason[HD_CHANNEL_TEXT]; /* "" if done */
};

struct hd_channel_broken {
	uint64_t key, epoch;
	char reason[HD_CHANNEL_TEXT];
};

struct hd_channel_message {
	enum hd_channel_type type;
	union {
		struct hd_channel_hello hello;
		struct hd_channel_fabric fabric;
		struct hd_channel_held held;
		struct hd_channel_set set;
		struct hd_channel_result result;
		struct hd_channel_broken broken;
	};
	void *memory; /* what the message points to, if it was decoded */
};

/*
 * The bytes of a message, to be freed with free(). The caller sees to it that numbers are in range
 * and lists ascend; hd_channel_decode() refuses anything else. Control characters of a text become
 * '?', and a text without a last 0 is cut. Errors: -EMSGSIZE too large, -ENOMEM. O(bytes).
 */
int hd_channel_encode(const struct hd_channel_message *message, uint8_t **bytes, size_t *length);

/*
 * Takes one message from the beginning of a stream. *used is its number of bytes, or 0 if more bytes
 * must come first; then *out is not written. What is wrong with a header is found before the body
 * has come. Release *out with hd_channel_release(). Believes
 * nothing: entries must ascend, numbers must be in range, texts must end. Errors: -EPROTO with the
 * reason, -ENOMEM; close the connection. O(bytes).
 */
int hd_channel_decode(const uint8_t *bytes, size_t length, struct hd_channel_message *out,
		      size_t *used, struct hd_error *err);

/* Frees what a decoded message points to. */
void hd_channel_release(struct hd_channel_message *message);

#endif
