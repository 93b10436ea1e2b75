/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The checker: proves tables right or says where they are wrong. It trusts no engine and reads
 * nothing but the fabric and the tables.
 *
 * Reachability: every LID of every host and switch from every switch, hop by hop. A LID whose
 * port no switch has a cable to is passed over.
 * Credit loops: for each virtual lane the channel dependency graph of all traffic that data can
 * take must be acyclic (Dally and Seitz). Channels are directed inter-switch links. Traffic is
 * from every host to every LID of another host, as ibdmchk and OpenSM's dfsssp count it;
 * options.switch_traffic adds what switches' own ports send and receive, which is management:
 * on VL 15, without credits, or a rare answer on VL 0.
 * Routes that do not arrive are faults of their own and stay out of the graph, as they do of
 * the figures for lengths and flows.
 */
#ifndef HEDDLE_FABRIC_CHECK_H
#define HEDDLE_FABRIC_CHECK_H

#include <heddle/base/error.h>
#include <heddle/fabric/graph.h>
#include <heddle/fabric/routes.h>
#include <stdint.h>

enum hd_fault_kind {
	HD_FAULT_NO_ROUTE, /* an entry is HD_NO_PORT */
	HD_FAULT_DEAD_END, /* an entry names a port without a cable, or one that leads to the wrong
			      host */
	HD_FAULT_LOOP, /* following the entries comes back to the same switch */
	HD_FAULT_CREDIT_LOOP /* a cycle of channel dependencies */
};

struct hd_fault {
	enum hd_fault_kind kind;
	uint32_t source; /* switch at which the walk began; HD_NONE for a credit loop */
	uint32_t lid; /* destination; 0 for a credit loop */
	uint8_t vl; /* of a credit loop */
	/* LOOP, DEAD_END, NO_ROUTE: switches passed, in order, the last one is where it fails (for
	 * LOOP: repeats an earlier one). CREDIT_LOOP: directed inter-switch links, in order, of
	 * which each waits for the next and the last for the first. */
	const uint32_t *path;
	uint32_t path_length;
};

struct hd_check_options {
	unsigned threads;
	/* Unreachable pairs kept with their paths, by LID, then source; all are counted. 0 = 20.
	 * One credit loop a lane is kept beside them. */
	uint32_t max_faults;
	bool switch_traffic; /* count paths from and to switches' own ports as data traffic */
};

struct hd_check_report {
	uint64_t paths; /* (switch, LID) pairs walked */
	uint64_t no_route; /* pairs that end so */
	uint64_t dead_end;
	uint64_t loop;
	uint32_t credit_loops; /* virtual lanes whose dependency graph has a cycle */
	uint32_t lanes; /* virtual lanes in use */
	uint16_t lanes_used, lanes_looped; /* bit v: VL v is in use, has a cycle */
	uint32_t fault_count; /* kept below */
	const struct hd_fault *faults;

	/* Over all (host, LID of another host) routes that work, in inter-switch hops. */
	uint64_t routes;
	double mean_hops, mean_shortest;
	uint32_t max_hops;
	double max_stretch; /* worst hops / shortest; 1 where all are shortest */
	uint64_t longer_routes; /* routes longer than the shortest */

	/* Routes of one base-LID all-to-all between hosts that cross each inter-switch link. */
	const uint64_t *link_flows; /* [fabric->isl_count] */
	uint64_t flows_min, flows_max;
	double flows_mean;
	uint32_t busiest_link; /* index of a directed link with flows_max, HD_NONE without links */
};

/*
 * Checks routes on fabric. 0 with a report however bad the tables are; the caller frees it with
 * hd_check_report_free(). Errors: -EINVAL the shapes do not match, -ERANGE two switches more
 * than 254 hops apart, -ENOMEM. options NULL: all 0. The number of threads changes nothing in
 * the report. Cost: O(switches * LIDs) plus, per lane, O(links * radix); memory switches^2
 * bytes and, per thread and lane, links * radix bits.
 */
int hd_check(const struct hd_fabric *fabric, const struct hd_routes *routes,
	     const struct hd_check_options *options, struct hd_check_report **out,
	     struct hd_error *err);

/* True when nothing is wrong: no unreachable pair, no loop, no credit loop. */
bool hd_check_clean(const struct hd_check_report *report);

void hd_check_report_free(struct hd_check_report *report);

#endif
