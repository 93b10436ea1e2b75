/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Multicast forwarding tables as they are in the switches: a reader of dumps, and the proof that a
 * group's entries bring a packet of each member to all other members once.
 */
#ifndef HEDDLE_FABRIC_MFTS_H
#define HEDDLE_FABRIC_MFTS_H

#include <heddle/base/error.h>
#include <heddle/base/port_set.h>
#include <heddle/fabric/graph.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define HD_MLID_FIRST 0xC000u
#define HD_MLID_LAST 0xFFFEu

/* What a switch does with a group's packets. */
struct hd_mft_entry {
	uint32_t mlid;
	uint32_t sw;
	/* Copies leave by these ports, except the port by which the packet came */
	struct hd_port_set ports;
};

struct hd_mfts {
	uint32_t count;
	/* By MLID, then switch; entries without a port are left out */
	struct hd_mft_entry *entries;
};

/*
 * Reads OpenSM's opensm.mcfdbs, or the output of `dump_fts -M` and `ibroute -M`, with or without
 * -n. Unicast tables in the same file are skipped. Ports without a cable are kept. Switches are
 * found as hd_routes_read() finds them. *out is freed with hd_mfts_free().
 *
 * If there are no groups, OpenSM's file is empty; then *out has no entry, and a warning says so.
 * Outputs of dump_fts and ibroute list all switches and end each table with a last line. A warning
 * names switches and last lines that are missing.
 *
 * Errors: -EINVAL a switch, MLID or port that the fabric does not have, an entry given twice;
 * -ENODATA no multicast table in a file that is not empty; errno of open and read; -ENOMEM. Cost:
 * O(bytes + entries log entries).
 */
int hd_mfts_read(const char *path, const struct hd_fabric *fabric, const struct hd_log *log,
		 struct hd_mfts **out, struct hd_error *err);

/* The same from memory: text[length], which need not end in 0. `name` takes the place of the file's
 * name in messages. */
int hd_mfts_parse(const char *text, size_t length, const char *name, const struct hd_fabric *fabric,
		  const struct hd_log *log, struct hd_mfts **out, struct hd_error *err);

/* Frees the entries; NULL is allowed. */
void hd_mfts_free(struct hd_mfts *mfts);

/* The order of the entries, for qsort() and bsearch(): two of struct hd_mft_entry. */
int hd_mfts_compare(const void *left, const void *right);

/* Brings the entries into their order. O(entries log entries). */
void hd_mfts_sort(struct hd_mfts *mfts);

/* The entry of a switch for a group, NULL: none. It belongs to mfts. O(log entries). */
const struct hd_mft_entry *hd_mfts_find(const struct hd_mfts *mfts, uint32_t mlid, uint32_t sw);

/* The entries of a group, *count of them by ascending switch; they belong to mfts. O(entries). */
const struct hd_mft_entry *hd_mfts_group(const struct hd_mfts *mfts, uint32_t mlid,
					 uint32_t *count);

/* ---- the check of one group ---- */

enum hd_mft_fault_kind {
	HD_MFT_DEAD_END, /* at `sw`: `port` has no cable */
	HD_MFT_NO_ENTRY, /* `sw` has no entry and drops the copies that come to it */
	HD_MFT_STRANGER, /* at `sw`: `port` leads to a host that is not a member */
	HD_MFT_LOOP, /* a packet of `sender` comes to `sw` a second time */
	HD_MFT_NOT_REACHED, /* `member` gets nothing from `senders` members, `sender` the first */
	HD_MFT_UNUSED /* no packet comes to `sw`, which has an entry */
};

struct hd_mft_fault {
	enum hd_mft_fault_kind kind;
	uint32_t sw, port;
	uint32_t sender, member, senders; /* port indices */
};

struct hd_mft_report {
	uint32_t member_count;
	const uint32_t *members; /* port indices, ascending */
	uint32_t links; /* cables between switches in the entries */
	uint32_t depth; /* most hops between switches that a packet takes */
	uint32_t fault_count;
	const struct hd_mft_fault *faults;
};

struct hd_mft_group {
	const struct hd_mft_entry *entries; /* of one group, by ascending switch */
	uint32_t entry_count;
	/* port indices: ports of hosts, port 0 of switches. NULL: those that the entries name */
	const uint32_t *members;
	uint32_t member_count;
	/* Port index of the only sender, member or not; HD_NONE: all members send */
	uint32_t source;
};

/*
 * Follows a packet of each sender. Returns 0 and a report even if the entries are wrong. The report
 * is freed with hd_mft_report_free(). Errors: -EINVAL a member or source that is not cabled to a
 * switch, an entry with a port that its switch does not have; -ENOMEM. Cost: O(senders * (entries *
 * radix + members)).
 */
int hd_mft_check(const struct hd_fabric *fabric, const struct hd_mft_group *group,
		 struct hd_mft_report **out, struct hd_error *err);

/* Frees the report; NULL is allowed. */
void hd_mft_report_free(struct hd_mft_report *report);

#ifdef __cplusplus
}
#endif

#endif
