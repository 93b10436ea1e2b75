/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Finds the port that a person means by a text. All commands and all files of names use this
 * function, so a text means the same port everywhere.
 *
 * A text is read in two ways:
 *
 * 1. As an address: a decimal number is any LID of a port; a hexadecimal number with 0x is the GUID
 *    of a port, or, if no port has it, of a node.
 * 2. As a name: the description of a node; if no node has that description, the first word of
 *    descriptions, up to a blank.
 *
 * Neither reading comes first. If both give a port, as with LID 17 and a node named "17", they must
 * give the same port, or the text is refused. LIDs change and names may be numbers, so any fixed
 * order would one day silently give the wrong port.
 *
 * A node stands for port 0 of a switch, or for the cabled ports of a host. A text that means
 * several ports is refused too. The message lists them with their GUIDs, which are never ambiguous.
 */
#ifndef HEDDLE_FABRIC_RESOLVE_H
#define HEDDLE_FABRIC_RESOLVE_H

#include <heddle/base/error.h>
#include <heddle/fabric/graph.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The ports that a text can mean. All others are treated as if they were not in the fabric. */
enum hd_resolve_filter {
	HD_RESOLVE_HOSTS = 1, /* ports of hosts that are cabled to a switch */
	HD_RESOLVE_SWITCHES = 2, /* port 0 of switches */
	HD_RESOLVE_ANY = HD_RESOLVE_HOSTS | HD_RESOLVE_SWITCHES
};

/*
 * Finds the port that `text` means: *port is its index. Errors: -ENOENT no such port (says so if
 * the text means a node without a cable, or one that the filter leaves out), -EEXIST several ports
 * (lists them). Cost: O(nodes).
 */
int hd_fabric_resolve(const struct hd_fabric *fabric, const char *text,
		      enum hd_resolve_filter filter, uint32_t *port, struct hd_error *err);

#ifdef __cplusplus
}
#endif

#endif
