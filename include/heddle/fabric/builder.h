/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The one way to make an hd_fabric: collect nodes, ports and links in any order, then build.
 * hd_builder_build() checks everything; behind it nobody checks again.
 */
#ifndef HEDDLE_FABRIC_BUILDER_H
#define HEDDLE_FABRIC_BUILDER_H

#include <heddle/base/error.h>
#include <heddle/fabric/graph.h>

struct hd_builder;

struct hd_node_spec {
	enum hd_node_type type;
	uint64_t guid; /* not 0; unique in the fabric */
	uint64_t system_guid; /* 0 = unknown */
	uint32_t port_count; /* 1 .. HD_PORTS_MAX, port 0 not counted */
	const char *name; /* copied; NULL = "" */
};

/* An empty builder, or NULL when memory is short. */
struct hd_builder *hd_builder_new(void);

/* A builder that holds all that `fabric` holds, to be changed and built again. NULL: no memory. */
struct hd_builder *hd_builder_from(const struct hd_fabric *fabric);

void hd_builder_free(struct hd_builder *builder);

/*
 * What the following calls are about, for messages: a file and a line number. Errors found
 * only by hd_builder_build() name the line at which the offending node or link was added.
 * `file` is copied. Line 0: no place. Memory that is short for it is an error of
 * hd_builder_add_node() and hd_builder_build().
 */
void hd_builder_at(struct hd_builder *builder, const char *file, unsigned line);

/*
 * Adds a node and returns its handle (0, 1, 2 ... in order of adding; for a builder made by
 * hd_builder_from() the fabric's node indices come first). Errors: -EINVAL GUID 0 or port
 * count out of range, -EEXIST GUID taken (names both places), -ENOMEM.
 */
int hd_builder_add_node(struct hd_builder *builder, const struct hd_node_spec *spec,
			uint32_t *handle, struct hd_error *err);

/* Handle of the node with that GUID, HD_NONE if there is none yet. O(1). */
uint32_t hd_builder_find(const struct hd_builder *builder, uint64_t guid);

/*
 * Port facts; each may be said again with the same value. port 0 is a switch's own. Errors:
 * -ERANGE port out of range, -EINVAL LID or LMC out of range, -EEXIST contradicts what was said.
 */
int hd_builder_set_lid(struct hd_builder *builder, uint32_t node, uint32_t port, uint32_t lid,
		       unsigned lmc, struct hd_error *err);
int hd_builder_set_port_guid(struct hd_builder *builder, uint32_t node, uint32_t port,
			     uint64_t guid, struct hd_error *err);

/* Forgets every LID and LMC. */
void hd_builder_clear_lids(struct hd_builder *builder);

/*
 * Cables two ports, both directions at once. Errors: -ERANGE port out of range (1 .. port
 * count), -EEXIST one of them is cabled otherwise already (the same cable twice is fine).
 */
int hd_builder_link(struct hd_builder *builder, uint32_t node_a, uint32_t port_a, uint32_t node_b,
		    uint32_t port_b, unsigned width, enum hd_speed speed, struct hd_error *err);

/*
 * One end's view of a cable, as dumps list it; the other end must be said as well, otherwise
 * hd_builder_build() refuses the fabric as one-sided. Errors as hd_builder_link().
 */
int hd_builder_half_link(struct hd_builder *builder, uint32_t node, uint32_t port,
			 uint32_t peer_node, uint32_t peer_port, unsigned width,
			 enum hd_speed speed, struct hd_error *err);

/* Takes the cable at that port away, at both ends. False when there was none. */
bool hd_builder_unlink(struct hd_builder *builder, uint32_t node, uint32_t port);

/*
 * Gives every host and every switch a LID, in canonical order, as OpenSM's LID manager lays
 * them out: a host's base LID is a multiple of 2^lmc, switches (LMC 0) fill what lies between.
 * Earlier LIDs are forgotten. Applied by the next hd_builder_build(), which fails with -ENOSPC
 * when LIDs run out and says the largest LMC that fits.
 */
void hd_builder_assign_lids(struct hd_builder *builder, unsigned lmc);

/*
 * Validates and makes the snapshot; the builder stays as it was and belongs to the caller.
 * The result is freed with hd_fabric_free(). Errors: -EINVAL one-sided link, no switch,
 * overlapping LIDs, a duplicate port GUID; -ENOSPC LIDs exhausted; -ENOMEM.
 * Cost: O((nodes + ports) log nodes).
 */
int hd_builder_build(struct hd_builder *builder, struct hd_fabric **out, struct hd_error *err);

/*
 * The same fabric with fresh LIDs, as hd_builder_assign_lids() lays them out for that LMC
 * (0 .. HD_LMC_MAX). `fabric` stays as it was; *out is a fabric of its own, to be freed with
 * hd_fabric_free(). Errors: -ENOSPC LIDs run out (says the largest LMC that fits), -ENOMEM.
 * Cost: that of a build, O((nodes + ports) log nodes).
 */
int hd_fabric_assign_lids(const struct hd_fabric *fabric, unsigned lmc, struct hd_fabric **out,
			  struct hd_error *err);

#endif
