/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The checker proves that tables are right, or says where they are wrong. It trusts no engine and
 * reads only the fabric and the tables.
 *
 * Reachability: every LID of every host and switch from every switch, hop by hop. A LID whose port
 * is not cabled to a switch is ignored. Credit loops: for each virtual lane the channel dependency
 * graph of all data traffic must be acyclic (heddle/fabric/dependencies.h); where lanes depend on ports
 * (heddle/fabric/lane_maps.h), the graph of the channels of all lanes. Data traffic goes from
 * every adapter to every LID of another one, aggregation nodes included; ibdmchk and OpenSM's dfsssp
 * count the same.
 * options.switch_traffic adds what the switches' own ports send and receive. That is management
 * traffic: on VL 15, which has no credits, or a rare answer on VL 0. Paths that do not arrive are
 * faults of their own. They count neither in the graph nor in the figures for lengths and flows.
 */
#ifndef HEDDLE_FABRIC_CHECK_H
#define HEDDLE_FABRIC_CHECK_H

#include <heddle/base/error.h>
#include <heddle/fabric/graph.h>
#include <heddle/fabric/routes.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum hd_fault_kind {
	HD_FAULT_NO_ROUTE, /* an entry is HD_NO_PORT */
	/* an entry names a port without a cable, or a port that leads to the wrong host */
	HD_FAULT_DEAD_END,
	HD_FAULT_LOOP, /* the entries lead back to the same switch */
	HD_FAULT_CREDIT_LOOP /* a cycle of channel dependencies */
};

struct hd_fault {
	enum hd_fault_kind kind;
	uint32_t source; /* switch at which the path begins; HD_NONE for a credit loop */
	uint32_t lid; /* destination; 0 for a credit loop */
	uint8_t vl; /* of a credit loop */
	/* LOOP, DEAD_END, NO_ROUTE: the switches of the path in order; the last one is where it
	 * fails, and of a LOOP the one that comes a second time. CREDIT_LOOP: directed inter-switch
	 * links in order; each waits for the next, and the last for the first. */
	const uint32_t *path;
	uint32_t path_length;
	/* CREDIT_LOOP of tables whose lanes depend on ports: [path_length] the lane on each link, and vl is the first of
	 * them. NULL: all are on vl. */
	const uint8_t *lanes;
};

struct hd_check_options {
	unsigned threads;
	/* How many unreachable pairs the report keeps with their paths, by LID, then source. All of
	 * them are counted. 0 = 20. The report also keeps one credit loop of each lane, or one of all lanes where these depend on ports. */
	uint32_t max_faults;
	bool switch_traffic; /* count paths from and to switches' own ports as data traffic */
};

struct hd_check_report {
	uint64_t paths; /* (switch, LID) pairs that were followed */
	uint64_t no_route; /* pairs that end in such a fault */
	uint64_t dead_end;
	uint64_t loop;
	/* virtual lanes whose dependency graph has a cycle; where lanes depend on ports, those of one cycle */
	uint32_t credit_loops;
	uint32_t lanes; /* virtual lanes in use */
	uint16_t lanes_used, lanes_looped; /* bit v: VL v is in use, has a cycle */
	uint32_t fault_count; /* kept below */
	const struct hd_fault *faults;

	/* Hops between switches, over the paths that arrive, from each host to each LID of another
	 * host. */
	uint64_t routes;
	double mean_hops, mean_shortest;
	uint32_t max_hops;
	double max_stretch; /* largest hops / shortest; 1 when all paths are shortest */
	uint64_t longer_routes; /* paths that are longer than the shortest */

	/* How many paths from hosts to the base LIDs of other hosts cross each inter-switch
	 * link. */
	const uint64_t *link_flows; /* [fabric->isl_count] */
	uint64_t flows_min, flows_max;
	double flows_mean;
	uint32_t busiest_link; /* index of a directed link with flows_max, HD_NONE without links */
};

/*
 * Checks the routes of a fabric. Returns 0 and a report even if the tables are wrong. The caller
 * frees the report with hd_check_report_free(). Errors: -EINVAL the tables do not fit the fabric,
 * -ERANGE two switches are more than 254 hops apart, -ENOMEM. options NULL: all 0. The number of
 * threads does not change the report. Cost: O(switches * LIDs) and, for each lane, O(links *
 * radix). Memory: switches^2 bytes and, for each thread and lane, links * radix bits.
 */
int hd_check(const struct hd_fabric *fabric, const struct hd_routes *routes,
	     const struct hd_check_options *options, struct hd_check_report **out,
	     struct hd_error *err);

/* True if there is no fault: every pair is reachable and no lane has a credit loop. */
bool hd_check_clean(const struct hd_check_report *report);

void hd_check_report_free(struct hd_check_report *report);

#ifdef __cplusplus
}
#endif

#endif
