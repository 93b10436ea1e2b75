/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A builder makes an hd_fabric: it collects nodes, ports and links in any order, then builds. No
 * other code makes fabrics. hd_builder_build() checks everything, so nobody has to check a fabric
 * again.
 */
#ifndef HEDDLE_FABRIC_BUILDER_H
#define HEDDLE_FABRIC_BUILDER_H

#include <heddle/base/error.h>
#include <heddle/fabric/graph.h>

#ifdef __cplusplus
extern "C" {
#endif

struct hd_builder;

struct hd_node_spec {
	enum hd_node_type type;
	uint64_t guid; /* not 0; unique in the fabric */
	uint64_t system_guid; /* 0 = unknown */
	uint32_t vendor_id; /* 0 = unknown */
	uint16_t device_id; /* 0 = unknown */
	bool aside; /* set aside, whatever its facts say (heddle/fabric/aside.h) */
	uint32_t port_count; /* 1 .. HD_PORTS_MAX, port 0 not counted */
	const char *name; /* copied as plain text, see heddle/base/plain.h; NULL = "" */
};

/* An empty builder, to be freed with hd_builder_free(). NULL: no memory. */
struct hd_builder *hd_builder_new(void);

/* A builder with all nodes, ports and links of `fabric`, to be changed and built again. Node
 * indices are the handles. NULL: no memory. Cost: O(nodes + ports). */
struct hd_builder *hd_builder_from(const struct hd_fabric *fabric);

/* Frees the builder, but not the fabrics that it built. NULL is allowed. */
void hd_builder_free(struct hd_builder *builder);

/*
 * Sets the file and line for messages about what the next calls add. If hd_builder_build() finds an
 * error, it names the line at which the node or link was added. `file` is copied. Line 0: no place.
 * If memory is short for the copy, hd_builder_add_node() and hd_builder_build() fail.
 */
void hd_builder_at(struct hd_builder *builder, const char *file, unsigned line);

/*
 * Adds a node. *handle is its number: 0, 1, 2 ... in order of adding. Errors: -EINVAL GUID 0 or
 * port count out of range, -EEXIST another node has that GUID (names both places), -ENOMEM.
 * Expected cost: O(ports).
 */
int hd_builder_add_node(struct hd_builder *builder, const struct hd_node_spec *spec,
			uint32_t *handle, struct hd_error *err);

/* Handle of the node with that GUID, or HD_NONE. O(1). */
uint32_t hd_builder_find(const struct hd_builder *builder, uint64_t guid);

/*
 * Sets the LIDs or the GUID of a port, by the node's handle and the port's number; 0 is a switch's
 * own port. The same value may be set again. Errors: -ERANGE port out of range, -EINVAL LID or LMC
 * out of range, -EEXIST another value was set before.
 */
int hd_builder_set_lid(struct hd_builder *builder, uint32_t node, uint32_t port, uint32_t lid,
		       unsigned lmc, struct hd_error *err);
int hd_builder_set_port_guid(struct hd_builder *builder, uint32_t node, uint32_t port,
			     uint64_t guid, struct hd_error *err);

/* Gives a node another name, which is copied as plain text. Errors: -ENOMEM. */
int hd_builder_set_name(struct hd_builder *builder, uint32_t node, const char *name);

/* Takes all LIDs and LMCs away. O(ports). */
void hd_builder_clear_lids(struct hd_builder *builder);

/*
 * Cables two ports, by nodes' handles and ports' numbers. Width 0 and HD_SPEED_UNKNOWN leave these
 * as they are. The same cable may be added again. Errors: -ERANGE port out of range (1 .. port
 * count), -EEXIST one of the ports has another cable.
 */
int hd_builder_link(struct hd_builder *builder, uint32_t node_a, uint32_t port_a, uint32_t node_b,
		    uint32_t port_b, unsigned width, enum hd_speed speed, struct hd_error *err);

/*
 * The same for one end of a cable, as dumps list it. The other end must be added as well, else
 * hd_builder_build() refuses the link as one-sided.
 */
int hd_builder_half_link(struct hd_builder *builder, uint32_t node, uint32_t port,
			 uint32_t peer_node, uint32_t peer_port, unsigned width,
			 enum hd_speed speed, struct hd_error *err);

/* Removes the cable at that port, at both ends. False if there was no cable. */
bool hd_builder_unlink(struct hd_builder *builder, uint32_t node, uint32_t port);

/*
 * Gives every host and every switch a LID, in canonical order, as OpenSM's LID manager lays them
 * out: the base LID of a host is a multiple of 2^lmc, and switches (LMC 0) have the LIDs between.
 * Adapters that are set aside follow, like hosts: so the LIDs of all others do not depend on them.
 * Replaces all LIDs that were set. The next hd_builder_build() does it; if LIDs run out, it fails
 * with -ENOSPC and names the largest LMC that fits. lmc <= HD_LMC_MAX.
 */
void hd_builder_assign_lids(struct hd_builder *builder, unsigned lmc);

/*
 * Validates what the builder has collected and makes a snapshot, to be freed with hd_fabric_free().
 * The builder stays as it is. Errors: -EINVAL a one-sided link, no switch, overlapping LIDs, a port
 * GUID that two ports have; -ENOSPC LIDs run out; -ENOMEM. Cost: O((nodes + ports) log nodes).
 */
int hd_builder_build(struct hd_builder *builder, struct hd_fabric **out, struct hd_error *err);

/*
 * Makes the same fabric with new LIDs, as hd_builder_assign_lids() lays them out for that LMC (0 ..
 * HD_LMC_MAX). `fabric` stays as it was. *out is a separate fabric, to be freed with
 * hd_fabric_free(). Errors: -ENOSPC LIDs run out (says the largest LMC that fits), -ENOMEM. Cost:
 * that of a build, O((nodes + ports) log nodes).
 */
int hd_fabric_assign_lids(const struct hd_fabric *fabric, unsigned lmc, struct hd_fabric **out,
			  struct hd_error *err);

#ifdef __cplusplus
}
#endif

#endif
