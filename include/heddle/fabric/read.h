/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Readers: what tools in the field print, tolerant of how it reaches us (byte-order marks,
 * CRLF, pasted shell prompts), strict about what it says. The dialect is found out from the
 * content. Every error names file, line and what was expected.
 */
#ifndef HEDDLE_FABRIC_READ_H
#define HEDDLE_FABRIC_READ_H

#include <heddle/base/error.h>
#include <heddle/fabric/graph.h>
#include <heddle/fabric/policy.h>
#include <heddle/fabric/routes.h>
#include <stddef.h>

struct hd_text;

/*
 * Reads a topology: `ibnetdiscover` output, plain or -p; ibdiagnet's .lst; an ibsim netlist.
 * Remarks (lines passed over and why) go to log. Nodes that a netlist names, instead of giving
 * them GUIDs, get the GUIDs that ibsim gives them. What a format does not say stays unknown; -p
 * and .lst do not tell LMCs (taken for 0), -p no node GUIDs either (port GUIDs stand for them).
 *
 * Errors: -ENOENT and other errno of open and read; -EINVAL, and -EEXIST or -ERANGE from the
 * builder, what cannot be right; -ENODATA no node in the file; -ENOMEM. A file that shows no
 * known form in its first 20,000 lines or 4 MB is given up. Cost: O(bytes).
 */
int hd_fabric_read(const char *path, const struct hd_log *log, struct hd_fabric **out,
		   struct hd_error *err);

/* The same from memory; `name` stands for the file in messages. text need not end in 0. */
int hd_fabric_parse(const char *text, size_t length, const char *name, const struct hd_log *log,
		    struct hd_fabric **out, struct hd_error *err);

/*
 * Reads forwarding tables for `fabric`: opensm-lfts.dump, dump_lfts.sh or ibroute output,
 * .fdbs in both prefix dialects; each path a file or a folder, whose visible files are read by
 * ascending name (those without a table are passed over). Switches without a table and LIDs
 * without an entry stay HD_NO_PORT and are counted in a remark.
 *
 * Service levels may be among the files, or follow tables in one of them: the dump of
 * hd_routes_write_levels(); ibdmchk's file of SLs of paths (option -c) and its file of virtual
 * lanes (option -d), both in both forms that it takes, of which the second of the latter is
 * OpenSM's opensm-sl2vl.dump. Hosts of one switch must send by the same SLs, and all links
 * between switches must know one map from the SLs in use to VLs. Where SLs are given without a
 * map each has the lane of its number; pairs without an SL are on SL 0 and counted in a remark.
 *
 * A table's switch is found by node GUID, by port GUID, or by LID where system image GUID or
 * name agree. Errors: -EINVAL a switch, LID or port that the fabric does not have, a LID that
 * is another port's there, an entry given twice with different ports, an SL given twice, an SL
 * above 15 or on VL 15, a map that is not one map, a fabric without LIDs; -ENODATA no table at
 * all; errno of open and read; -ENOMEM. *out is the caller's, to be freed with
 * hd_routes_free(). Cost: O(bytes + switches * LIDs); memory, besides the result, up to
 * hosts * LIDs bits.
 */
int hd_routes_read(const char *const *paths, size_t count, const struct hd_fabric *fabric,
		   const struct hd_log *log, struct hd_routes **out, struct hd_error *err);

/*
 * The same for the text of one table file, from memory; `name` stands for the file in messages.
 * text need not end in 0 and may go away after the call. *out is the caller's, to be freed with
 * hd_routes_free(). Errors: as above, but for those of files.
 */
int hd_routes_parse(const char *text, size_t length, const char *name,
		    const struct hd_fabric *fabric, const struct hd_log *log,
		    struct hd_routes **out, struct hd_error *err);

/*
 * A file of GUIDs as OpenSM reads them (root_guid_file ...): one a line, hexadecimal with or
 * without 0x, # comments, anything after the GUID and a blank passed over. *out is malloc'ed,
 * in the file's order; an empty file is an empty list. Errors: -EINVAL a line that begins
 * otherwise, GUID 0; errno of open and read; -ENOMEM.
 */
int hd_guids_read(const char *path, uint64_t **out, uint32_t *count, struct hd_error *err);

/* The same from a text in memory, such as of hd_text_open_regular(). */
int hd_guids_parse(const struct hd_text *text, uint64_t **out, uint32_t *count,
		   struct hd_error *err);

/*
 * A file of `GUID PORT` lines (port_prof_ignore_file), or of `GUID PORT WEIGHT` lines with
 * with_value (hop_weights_file); otherwise as hd_guids_read(). *out is malloc'ed, NULL for an
 * empty list.
 */
int hd_port_refs_read(const char *path, bool with_value, struct hd_port_ref **out, uint32_t *count,
		      struct hd_error *err);

/* The same from a text in memory. */
int hd_port_refs_parse(const struct hd_text *text, bool with_value, struct hd_port_ref **out,
		       uint32_t *count, struct hd_error *err);

#endif
