/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Readers of the files that tools in the field print. Topologies and tables may be compressed by
 * gzip, then at most hd_text_largest() bytes when unpacked (heddle/base/gzip.h). They tolerate byte-order marks, CRLF and
 * pasted shell prompts, and are strict about the contents. The content shows the dialect. Every
 * error names the file, the line, and what was expected.
 */
#ifndef HEDDLE_FABRIC_READ_H
#define HEDDLE_FABRIC_READ_H

#include <heddle/base/error.h>
#include <heddle/fabric/graph.h>
#include <heddle/fabric/policy.h>
#include <heddle/fabric/routes.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

struct hd_text;

/*
 * Reads a topology: `ibnetdiscover` output, plain or -p, or its --cache file; `iblinkinfo` output
 * (not -l); an ibdiagnet .lst file; an ibsim netlist.
 * Remarks, such as which lines were skipped, go to log. A node to which a netlist gives a name
 * instead of a GUID gets the GUID that ibsim gives it. What a format does not have stays unknown,
 * except: LMCs are 0 for -p, .lst and iblinkinfo, and port GUIDs take the place of node GUIDs for -p
 * and iblinkinfo. FDR10 is QDR in a --cache file. *out is
 * freed with hd_fabric_free().
 *
 * Errors: errno of open and read; -EINVAL, or -EEXIST and -ERANGE of the builder: the file
 * contradicts itself or the format; -ENODATA no node in the file, or no known dialect in its first
 * 20,000 lines or 4 MB; -ENOMEM. Cost: O(bytes).
 */
int hd_fabric_read(const char *path, const struct hd_log *log, struct hd_fabric **out,
		   struct hd_error *err);

/* The same from memory: text[length], which need not end in 0. `name` takes the place of the file's
 * name in messages. */
int hd_fabric_parse(const char *text, size_t length, const char *name, const struct hd_log *log,
		    struct hd_fabric **out, struct hd_error *err);

/*
 * Reads forwarding tables for `fabric`: opensm-lfts.dump, dump_lfts.sh or ibroute output,
 * .fdbs in both prefix dialects. Each path is a file or a folder. The visible files of a folder are
 * read by ascending name; those without a table are skipped. Entries that are missing in the files
 * stay HD_NO_PORT and are counted in a remark.
 *
 * Service levels may be among the files, or follow tables in one of them: the dump of
 * hd_routes_write_levels(); the files of ibdmchk's options -c (SLs of paths) and -d (virtual
 * lanes), each in both forms that ibdmchk reads. One form is OpenSM's opensm-sl2vl.dump. Hosts of
 * one switch must use the same SLs, and all links between switches must have one map from the SLs
 * in use to VLs. Without a map each SL goes to the lane of its number. Pairs without an SL are on
 * SL 0 and counted in a remark.
 *
 * A table's switch is found by node GUID, by port GUID, or by LID if the system image GUID or the
 * name agrees. Errors: -EINVAL a switch, LID or port that the fabric does not have, a LID that
 * belongs to another port in the fabric, two different ports for an entry, two SLs for a path, an
 * SL above 15 or on VL 15, links with different maps, a fabric without LIDs; -ENODATA no table in
 * the files; errno of open and read; -ENOMEM. *out is the caller's, to be freed with
 * hd_routes_free(). Cost: O(bytes + switches * LIDs); memory, besides the result, up to hosts *
 * LIDs bits.
 */
int hd_routes_read(const char *const *paths, size_t count, const struct hd_fabric *fabric,
		   const struct hd_log *log, struct hd_routes **out, struct hd_error *err);

/*
 * The same for tables that were made before the fabric was as it is now: tables of switches that it does
 * not have any more, and entries and service levels for LIDs that it does not have, are skipped, with a
 * remark that counts them. That is for forwarding tables and for the dump of hd_routes_write_levels().
 * Errors: as above, but for that.
 */
int hd_routes_read_earlier(const char *const *paths, size_t count, const struct hd_fabric *fabric,
			   const struct hd_log *log, struct hd_routes **out, struct hd_error *err);

/* The same for one file, from memory: text[length], which need not end in 0. `name` takes the place
 * of the file's name in messages. Errors: as those of hd_routes_read(), without those of open and read. */
int hd_routes_parse(const char *text, size_t length, const char *name,
		    const struct hd_fabric *fabric, const struct hd_log *log,
		    struct hd_routes **out, struct hd_error *err);

/* What is wrong with tables that can be read all the same. */
enum hd_table_defect_kind {
	HD_DEFECT_CONTRADICTION, /* two rows have different ports for one entry; the first counts */
	HD_DEFECT_INCOMPLETE /* a part of a file is missing */
};

struct hd_table_defect {
	enum hd_table_defect_kind kind;
	char *text; /* where, and what is wrong: "live.lfts:10: ..." */
};

/* Zero-initialise before use; to be released with hd_table_defects_release(). */
struct hd_table_defects {
	struct hd_table_defect *list; /* [kept] in the order of the files */
	size_t kept, room; /* at most HD_TABLE_DEFECTS_KEPT */
	uint64_t count; /* all of them */
};

#define HD_TABLE_DEFECTS_KEPT 100000u

void hd_table_defects_release(struct hd_table_defects *defects);

/*
 * hd_routes_read() for a checker. What can be said about the tables goes to *defects and is no
 * error: two different ports for an entry, a table with another number of rows than its last line
 * says, maps from SLs to VLs that are missing for some ports of switches. An
 * entry may have a port that its switch does not have. Errors: those of hd_routes_read() that are
 * left; what was found before stays in *defects.
 */
int hd_routes_examine(const char *const *paths, size_t count, const struct hd_fabric *fabric,
		      const struct hd_log *log, struct hd_table_defects *defects,
		      struct hd_routes **out, struct hd_error *err);

/* The same for one file, from memory, as hd_routes_parse(). */
int hd_routes_examine_text(const char *text, size_t length, const char *name,
			   const struct hd_fabric *fabric, const struct hd_log *log,
			   struct hd_table_defects *defects, struct hd_routes **out,
			   struct hd_error *err);

/*
 * Reads a file of GUIDs as OpenSM does (root_guid_file ...): one a line, hexadecimal with or
 * without 0x, and # comments. Text after a GUID and a blank is ignored. out[*count] is malloc'ed,
 * in the file's order; a GUID that is listed again counts at its first place only. An empty file is an empty list. Errors: -EINVAL a line that does not begin
 * with a GUID, GUID 0; errno of open and read; -ENOMEM. Cost: O(bytes + GUIDs log GUIDs).
 */
int hd_guids_read(const char *path, uint64_t **out, uint32_t *count, struct hd_error *err);

/* The same from a text in memory, such as one of hd_text_open_regular(). */
int hd_guids_parse(const struct hd_text *text, uint64_t **out, uint32_t *count,
		   struct hd_error *err);

/*
 * Gives nodes the names of a node name map, as infiniband-diags and OpenSM read it: lines of
 * 0xGUID "NAME", and # comments. A GUID is that of a node, or of one of its ports. Names of nodes
 * that the fabric does not have are counted in a remark. Everything else stays as it is: *out is a
 * separate fabric, to be freed with hd_fabric_free(). Errors: -EINVAL a line of another form, two
 * names for a node; -ENOMEM. Cost: O(bytes + (nodes + ports) log nodes).
 */
int hd_fabric_rename(const struct hd_fabric *fabric, const struct hd_text *map,
		     const struct hd_log *log, struct hd_fabric **out, struct hd_error *err);

/*
 * For reports: switches that share a name get their GUID behind it. *out is a separate fabric, else the same, to be freed
 * with hd_fabric_free(); NULL: no two switches have one name. Errors: -ENOMEM. Cost: O(switches * log switches + nodes +
 * ports).
 */
int hd_fabric_tell_apart(const struct hd_fabric *fabric, struct hd_fabric **out,
			 struct hd_error *err);

/* The same for all nodes: hosts and routers that share a name, too. Cost: O(nodes * log nodes + ports). */
int hd_fabric_tell_nodes_apart(const struct hd_fabric *fabric, struct hd_fabric **out,
			       struct hd_error *err);

/*
 * Reads a file of `GUID PORT` lines (port_prof_ignore_file), or, with with_value, of `GUID PORT
 * WEIGHT` lines (hop_weights_file); otherwise like hd_guids_read(). out[*count] is malloc'ed, NULL
 * for an empty list.
 */
int hd_port_refs_read(const char *path, bool with_value, struct hd_port_ref **out, uint32_t *count,
		      struct hd_error *err);

/* The same from a text in memory. */
int hd_port_refs_parse(const struct hd_text *text, bool with_value, struct hd_port_ref **out,
		       uint32_t *count, struct hd_error *err);

#ifdef __cplusplus
}
#endif

#endif
