/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the generators share: a builder, GUIDs by running number, and an error that is kept until
 * the end. So the code of a generator shows only its cabling.
 *
 * Host i has node GUID 0x100000 + 16 i and the next number as port GUID. Switch i has 0x200000 + 16
 * i. There are at most 49,151 LIDs, so the GUIDs of hosts stay below those of switches. The last
 * hexadecimal digit is the port.
 */
#ifndef FABRIC_GENERATE_INTERNAL_H
#define FABRIC_GENERATE_INTERNAL_H

#include <heddle/fabric/builder.h>
#include <heddle/fabric/generate.h>

#define GENERATE_NAME_SIZE 64

struct generation {
	struct hd_builder *builder;
	struct hd_error *err;
	int rc; /* the first failure; later calls do nothing */
	uint32_t switch_count, host_count;
};

struct generate_size {
	uint64_t switches, hosts, radix; /* radix: ports of the largest switch */
};

/* Begins a fabric. Errors: -EINVAL it would need too many ports or LIDs, -ENOMEM. */
int generate_begin(struct generation *generation, const struct generate_size *size,
		   struct hd_error *err);

/* Adds the next switch or host. The handle is valid only if the generation has not failed. */
uint32_t generate_switch(struct generation *generation, uint32_t ports, const char *name, ...)
    HD_PRINTF(3, 4);
uint32_t generate_host(struct generation *generation, const char *name, ...) HD_PRINTF(2, 3);

/* Adds the next host as one of a machine's adapters: with the system image GUID of host number
 * `system`, or with 0 if that is HD_NONE. */
uint32_t generate_adapter(struct generation *generation, uint32_t system, const char *name, ...)
    HD_PRINTF(3, 4);

void generate_link(struct generation *generation, uint32_t node_a, uint32_t port_a, uint32_t node_b,
		   uint32_t port_b);

/* Builds the fabric with LIDs, unless something failed. Always frees the builder. */
int generate_end(struct generation *generation, struct hd_fabric **out);

/* Value of a whole-number option. Its table must keep it within 32 bits. */
uint32_t generate_number(const struct hd_options *options, const char *name);

/* a * b, or UINT64_MAX if the product needs more than 64 bits. */
uint64_t generate_product(uint64_t a, uint64_t b);

/* A global cable of a group of switches, as this group numbers it. */
struct generate_global {
	uint32_t group, cable;
};

/*
 * Where a global cable ends, if each of `groups` has the same number of them, a multiple of groups
 * - 1. From group i, cable c goes to group i + 1 + c mod (groups - 1), modulo groups. So every pair
 * of groups gets the same number of cables.
 */
struct generate_global generate_far_end(uint32_t groups, struct generate_global end);

/* Parameters of a tree, level i (1 .. height) at index i - 1. */
struct tree_shape {
	unsigned height;
	uint32_t children[HD_OPTION_LIST_MAX]; /* m: of a node at level i */
	uint32_t parents[HD_OPTION_LIST_MAX]; /* w: of a node at level i - 1 */
	uint32_t parallel[HD_OPTION_LIST_MAX]; /* p: cables between such two */
};

/* XGFT(h; m; w) of Öhring et al. (1995) with parallel cables as in Zahavi's PGFT (2010). */
int generate_tree(const struct tree_shape *shape, struct hd_fabric **out, struct hd_error *err);

extern const struct hd_generator generate_xgft;
extern const struct hd_generator generate_kary_ntree;
extern const struct hd_generator generate_rlft;
extern const struct hd_generator generate_torus;
extern const struct hd_generator generate_mesh;
extern const struct hd_generator generate_hypercube;
extern const struct hd_generator generate_hyperx;
extern const struct hd_generator generate_slim_fly;
extern const struct hd_generator generate_dragonfly;
extern const struct hd_generator generate_dragonfly_plus;
extern const struct hd_generator generate_irregular;
extern const struct hd_generator generate_jellyfish;
extern const struct hd_generator generate_directors;
extern const struct hd_generator generate_rail_tree;
extern const struct hd_generator generate_interconnect;

#define GENERATE_OPTION_COUNT(table) (sizeof(table) / sizeof((table)[0]))

#endif
