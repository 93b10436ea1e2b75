/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Readers: what tools in the field print, tolerant of how it reaches us (byte-order marks,
 * CRLF, pasted shell prompts), strict about what it says. The dialect is found out from the
 * content. Every error names file, line and what was expected.
 */
#ifndef HEDDLE_FABRIC_READ_H
#define HEDDLE_FABRIC_READ_H

#include <heddle/fabric/error.h>
#include <heddle/fabric/graph.h>
#include <heddle/fabric/routes.h>
#include <stddef.h>

/*
 * Reads a topology: `ibnetdiscover` output, plain or -p; ibdiagnet's .lst; an ibsim netlist.
 * Remarks (lines passed over and why) go to log. Errors: -ENOENT and other errno of open and
 * read; -EINVAL what cannot be right; -ENODATA no node in the file; -ENOMEM.
 */
int hd_fabric_read(const char *path, const struct hd_log *log, struct hd_fabric **out,
		   struct hd_error *err);

/* The same from memory; `name` stands for the file in messages. text need not end in 0. */
int hd_fabric_parse(const char *text, size_t length, const char *name, const struct hd_log *log,
		    struct hd_fabric **out, struct hd_error *err);

/*
 * Reads forwarding tables for `fabric`: opensm-lfts.dump, dump_lfts.sh or ibroute output,
 * .fdbs in both prefix dialects; each path a file or a folder of per-switch files. Switches
 * without a table and LIDs without an entry stay HD_NO_PORT and are counted in a remark.
 * Errors: -EINVAL a switch, LID or port that the fabric does not have, or a switch twice with
 * different entries; -ENODATA no table at all; errno of open and read; -ENOMEM.
 */
int hd_routes_read(const char *const *paths, size_t count, const struct hd_fabric *fabric,
		   const struct hd_log *log, struct hd_routes **out, struct hd_error *err);

int hd_routes_parse(const char *text, size_t length, const char *name,
		    const struct hd_fabric *fabric, const struct hd_log *log,
		    struct hd_routes **out, struct hd_error *err);

/* A file of GUIDs as OpenSM reads them (root_guid_file ...): one a line, with or without 0x,
 * # comments, anything after the GUID passed over. *out is malloc'ed, in the file's order. */
int hd_guids_read(const char *path, uint64_t **out, uint32_t *count, struct hd_error *err);

/* A file of `GUID PORT [VALUE]` lines (hop_weights_file, port_prof_ignore_file). */
struct hd_port_ref;
int hd_port_refs_read(const char *path, bool with_value, struct hd_port_ref **out,
		      uint32_t *count, struct hd_error *err);

#endif
