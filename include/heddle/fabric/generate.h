/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Generated fabrics. A generator is one constant table with its options. GUIDs, names and port
 * numbers depend only on the options.
 *
 * In trees, a switch's down ports are 1 .. k in the order of its children. Its up ports follow in
 * the order of its parents. Parallel links are side by side. In other fabrics hosts have the first
 * ports. In a grid, a port number means the same direction at every switch.
 *
 * Host i has node GUID 0x100000 + 16 i, and its port has the next GUID. Switch i has node GUID
 * 0x200000 + 16 i. Hosts are named H_..., switches S..., switches of trees S<level>_... Only rail
 * trees name hosts as machines do: "gpu01 mlx5_0". Links have 4 lanes of EDR.
 */
#ifndef HEDDLE_FABRIC_GENERATE_H
#define HEDDLE_FABRIC_GENERATE_H

#include <heddle/base/error.h>
#include <heddle/base/options.h>
#include <heddle/fabric/graph.h>

#ifdef __cplusplus
extern "C" {
#endif

struct hd_generator {
	const char *name; /* "xgft" */
	const char *summary; /* half a sentence for --help and the man page */
	const struct hd_option *options; /* [option_count] */
	unsigned option_count;
	/* Makes the fabric, with LIDs of LMC 0, to be freed with hd_fabric_free(). `options` are
	 * complete. Errors: -EINVAL impossible sizes (radix over 254, more hosts than LIDs ...),
	 * -ENOMEM. Cost: O((nodes + ports) log nodes). */
	int (*generate)(const struct hd_options *options, struct hd_fabric **out,
			struct hd_error *err);
};

/* All generators in the order of the documentation; *count of them. Constants: nothing to free. */
const struct hd_generator *const *hd_generators(unsigned *count);

/* The generator with that name, or NULL. */
const struct hd_generator *hd_generator_find(const char *name);

/*
 * Makes the fabric without `percent` (0 .. 100) of the cables between its switches, rounded to the
 * nearest number. `seed` chooses the cables. Switches and hosts stay, connected or not. *out is
 * freed with hd_fabric_free(). Errors: -ENOMEM. Cost: that of a build, O((nodes + ports) log
 * nodes).
 */
int hd_fabric_remove_links(const struct hd_fabric *fabric, double percent, uint64_t seed,
			   struct hd_fabric **out, struct hd_error *err);

/*
 * A generated fabric with an aggregation node in every switch, as HDR switches have them: a channel
 * adapter of one port, on one more port of the switch, with the switch's system image GUID and the
 * device number of the real ones. That of switch i has node GUID 0x300000 + 16 i and the switch's
 * name after "A_". LIDs are laid out afresh; those of hosts and switches do not change where they
 * were so laid out before. *out is freed with hd_fabric_free(). Errors: -EINVAL a switch has
 * HD_PORTS_MAX ports already, -ENOSPC LIDs run out, -ENOMEM. Cost: that of a build.
 */
int hd_fabric_add_aggregation(const struct hd_fabric *fabric, struct hd_fabric **out,
			      struct hd_error *err);

#ifdef __cplusplus
}
#endif

#endif
