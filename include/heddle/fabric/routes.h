/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * struct hd_routes: the forwarding tables of a fabric, in exactly the form that goes to the
 * switches. The checker and the analysis read them in this form too.
 */
#ifndef HEDDLE_FABRIC_ROUTES_H
#define HEDDLE_FABRIC_ROUTES_H

#include <heddle/base/error.h>
#include <heddle/fabric/graph.h>
#include <heddle/fabric/lane_maps.h>
#include <stddef.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

#define HD_LFT_BLOCK 64u /* LIDs of a block */

struct hd_tree_labels; /* heddle/fabric/regular_tree.h */

struct hd_routes {
	uint32_t switch_count; /* rows, in the fabric's switch order */
	uint32_t lid_count; /* meaningful bytes of a row: LIDs 0 .. lid_count-1 */
	uint32_t stride; /* bytes from row to row, a multiple of HD_LFT_BLOCK */
	uint8_t *lft; /* [switch_count * stride], 64-byte aligned; HD_NO_PORT = none */

	/*
	 * Service levels. sl[s * stride + lid] is the SL of packets to `lid` whose source is cabled
	 * to switch s; NULL = SL 0 everywhere. sl2vl[sl] is the virtual lane, the same at every
	 * switch.
	 */
	uint8_t *sl;
	uint8_t sl2vl[16];
	/* The virtual lanes of links between switches where they depend on the ports; sl2vl[] is then that of the cables
	 * of hosts. NULL: sl2vl[] holds everywhere. */
	struct hd_lane_maps *maps;

	/*
	 * The order of switches by which paths climb and descend: [switch_count], lower is nearer
	 * to the roots, HD_NONE = not known. NULL if the engine has none. An engine that gets these
	 * tables as those in place can keep the order.
	 */
	uint32_t *rank;
	/* The labels of the tree over which an engine made the tables; NULL: none. Held. */
	struct hd_tree_labels *labels;

	char engine[32]; /* the engine that made them; "" if they are from a file */
	char chosen[32]; /* the engine that the engine `auto` chose, "" for tables of others */
	/* How many directed links between switches (isl_count) there were when `auto` last compared
	 * engines; 0: not known. */
	uint32_t chosen_for;
	char options[256]; /* "key=value key=value" as given to that engine */
};

/* Tables of the fabric's size, every entry HD_NO_PORT, all on SL 0 and VL 0, to be freed with
 * hd_routes_free(). NULL: no memory. */
struct hd_routes *hd_routes_new(const struct hd_fabric *fabric);

/* The same with undefined table bytes, for callers that set every byte of every row, including the
 * padding (to HD_NO_PORT). */
struct hd_routes *hd_routes_new_unset(const struct hd_fabric *fabric);

/* A copy of tables, service levels and names, which shares the labels; to be freed with
 * hd_routes_free(). NULL: no memory. O(switches * LIDs). */
struct hd_routes *hd_routes_copy(const struct hd_routes *routes);

/* Frees the tables; NULL is allowed. */
void hd_routes_free(struct hd_routes *routes);

/* The table of a switch: [stride] bytes, one for each LID. */
static inline uint8_t *hd_routes_row(const struct hd_routes *routes, uint32_t sw)
{
	return routes->lft + (size_t)sw * routes->stride;
}

/* The port that a switch has for a LID; HD_NO_PORT also for a LID beyond the tables. */
static inline uint8_t hd_routes_port(const struct hd_routes *routes, uint32_t sw, uint32_t lid)
{
	return lid < routes->lid_count ? hd_routes_row(routes, sw)[lid] : HD_NO_PORT;
}

/* Service level of the packets to `lid` whose source is cabled to switch `source`. lid < lid_count. */
static inline uint8_t hd_routes_sl(const struct hd_routes *routes, uint32_t source, uint32_t lid)
{
	return routes->sl ? routes->sl[(size_t)source * routes->stride + lid] & 15 : 0;
}

/* Refuses tables whose lanes depend on ports, for those who take a path to have one lane. what: half a sentence,
 * "repairs of tables". Errors: -ENOTSUP. */
int hd_routes_refuse_maps(const struct hd_routes *routes, const char *what, struct hd_error *err);

/* Virtual lane of the packets to `lid` whose source is cabled to switch `source`. lid < lid_count. Tables whose lanes
 * depend on ports have none. */
static inline uint8_t hd_routes_vl(const struct hd_routes *routes, uint32_t source, uint32_t lid)
{
	return routes->sl2vl[hd_routes_sl(routes, source, lid)];
}

/* Virtual lanes of the traffic between hosts, one bit each. O(switches * LIDs). */
uint16_t hd_routes_lanes(const struct hd_fabric *fabric, const struct hd_routes *routes);

/* The same for the paths from hosts to router ports. O(switches * hosts). */
uint16_t hd_routes_router_lanes(const struct hd_fabric *fabric, const struct hd_routes *routes);

/*
 * Carries the tables of `from` over to `fabric`, which may have gained and lost switches, hosts and
 * LIDs since. Rows follow switch GUIDs, columns follow port GUIDs and LID offsets. Entries without
 * a counterpart are HD_NO_PORT with service level 0. *out fits `fabric` and is freed with
 * hd_routes_free(). An entry need not lead anywhere in `fabric`: the caller has to check that.
 * Errors: -ENOMEM. Cost: O(switches * LIDs).
 */
int hd_routes_rebase(const struct hd_fabric *from_fabric, const struct hd_routes *from,
		     const struct hd_fabric *fabric, struct hd_routes **out, struct hd_error *err);

/* Number of entries that differ; both must have the same shape. O(switches * LIDs). */
uint64_t hd_routes_count_changes(const struct hd_routes *a, const struct hd_routes *b);

/* Marks the links by which some entry leads: used[isl_count], or NULL. Returns their number. Cost: O(links) as a rule, and
 * O(LIDs) for a switch that does not use all of its links. */
uint32_t hd_routes_used_links(const struct hd_fabric *fabric, const struct hd_routes *routes,
			      bool *used);

/* Number of ports of switches that some entry uses and that lead nowhere. O(switches * LIDs). */
uint32_t hd_routes_missing_ports(const struct hd_fabric *fabric, const struct hd_routes *routes);

/* Number of entries that switches do not have for LIDs of the fabric: no cable leads there, or no path is free
 * of credit loops. O(switches * LIDs). */
uint64_t hd_routes_count_missing(const struct hd_fabric *fabric, const struct hd_routes *routes);

/* Whether both have the same shape and the same bytes, service levels included. O(switches *
 * LIDs). */
bool hd_routes_equal(const struct hd_routes *a, const struct hd_routes *b);

#ifdef __cplusplus
}
#endif

#endif
