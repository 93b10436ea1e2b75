/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the simulator assumes of links, switches and hosts. Everything that a scenario can set of
 * the model is here; what packets there are is up to the workload.
 *
 * Time is in picoseconds, in 64 bits: 106 days.
 */
#ifndef HEDDLE_SIM_SETTINGS_H
#define HEDDLE_SIM_SETTINGS_H

#include <heddle/base/error.h>
#include <stdbool.h>
#include <stdint.h>

#define HD_SIM_MICROSECOND UINT64_C(1000000) /* in picoseconds */
#define HD_SIM_SECOND UINT64_C(1000000000000)
#define HD_SIM_NEVER UINT64_MAX
#define HD_SIM_LANES 16u /* virtual lanes of a port; 15 is the lane of management */
#define HD_SIM_ARBITRATION_MAX 64u /* entries of a table */

/* How packets wait in the buffer of an input port's virtual lane. */
enum hd_sim_queueing {
	HD_SIM_FIFO, /* one queue: the first packet holds up all others */
	HD_SIM_VOQ /* one queue for each output port, in the same buffer */
};

/* How a switch chooses among the ports that a packet may leave by. */
enum hd_sim_selection {
	HD_SIM_ROUND_ROBIN, /* the next of the group, whatever its state */
	HD_SIM_LEAST_LOADED, /* the fewest bytes on the way out: waiting here, and in the next buffer */
	HD_SIM_LEAST_USED, /* the fewest packets so far (LFU in doc/papers/irregular.md) */
	HD_SIM_MOST_CREDITS, /* the most credits of the packet's lane (credits there) */
	HD_SIM_CONGA, /* a path for each flowlet, by congestion from leaf to leaf; of adaptive entries */
	HD_SIM_LOAD_GRADES, /* the next in turn of those whose load has the lowest grade: see load_grade */
	HD_SIM_LEAST_USED_LANE /* the fewest packets so far on the packet's lane */
};

/* How a switch copies a multicast packet to its output ports: see doc/papers/irregular.md. */
enum hd_sim_replication {
	HD_SIM_SYNCHRONOUS, /* all copies leave together, as soon as all ports are free */
	HD_SIM_ASYNCHRONOUS, /* each leaves when its port is free; the packet stays until the last has left */
	HD_SIM_CENTRAL_BUFFER /* as before, but copies wait in a buffer of the switch, not in the input's */
};

struct hd_sim_arbitration_entry {
	uint8_t lane;
	uint8_t weight; /* in units of 64 bytes; 0: the entry is skipped */
};

/* VL arbitration of all output ports, as in the InfiniBand specification, volume 1, 7.6.9. */
struct hd_sim_arbitration {
	uint32_t high_count, low_count; /* both 0: the lanes with packets take turns */
	struct hd_sim_arbitration_entry high[HD_SIM_ARBITRATION_MAX], low[HD_SIM_ARBITRATION_MAX];
	/* the high table goes first at hosts alone; elsewhere both tables are one */
	bool hosts_alone;
	/* units of 4096 bytes of the high table before a low packet; 255: no limit */
	uint8_t high_limit;
};

struct hd_sim_settings {
	/* ---- links ---- */
	uint64_t bit_rate; /* bits/s of cables whose rate the fabric does not give; 0: an error */
	uint64_t forced_rate; /* bits/s of all cables, whatever the fabric says; 0: the fabric's */
	uint64_t link_latency; /* ps from end to end of a cable */

	/* ---- packets ---- */
	uint32_t mtu; /* payload bytes of a packet, at most */
	uint32_t header; /* bytes that each packet has besides; they count for time and credits */

	/* ---- switches and routers ---- */
	/* ps from a packet's first byte in to its first byte out, if nothing holds it up */
	uint64_t switch_latency;
	/* a packet leaves after its last byte has come; else virtual cut-through */
	bool store_and_forward;
	uint32_t lanes; /* data lanes that ports have, 1 .. 15; lane 15 is always there */
	uint32_t buffer; /* bytes for each lane of an input port; at least one packet of the MTU */
	uint32_t central_buffer; /* bytes of a switch, for HD_SIM_CENTRAL_BUFFER */
	enum hd_sim_queueing queueing;
	enum hd_sim_selection selection;
	/* bytes of the load that least-loaded looks at, which make a grade; 0: the next buffer's */
	uint32_t load_grade;
	enum hd_sim_replication replication;
	/* of a lane, at an output: packets with copies go before all others */
	bool multicast_first;
	struct hd_sim_arbitration arbitration;
	bool sl_is_vl; /* SL n goes on lane n % lanes; else by sl2vl of the tables */
	/* ps without a packet after which a Bounded entry may take another port */
	uint64_t ageing_time;
	/* Conga: ps without a packet after which a flow may take another path */
	uint64_t flowlet_gap;
	/* Conga: ps after which a leaf forgets what another told it of a path */
	uint64_t conga_age;
	uint64_t conga_tau; /* Conga: ps over which an output's rate is averaged, at least 1000 */
	/* Lifetimes, ps; HD_SIM_NEVER: none. The first is for a packet that is first in its queue,
	 * and applies to packets that may be dropped (struct hd_sim_message); the second for the
	 * time in one switch, and applies to all packets. */
	uint64_t head_lifetime;
	uint64_t switch_lifetime;

	/* ---- hosts ---- */
	/* bytes of a lane into which a host receives; it empties it at once */
	uint32_t host_buffer;

	/* ---- the run ---- */
	uint64_t seed;
	uint32_t class_count; /* traffic classes of the workload, at least 1 */
	uint32_t flow_count; /* flows whose bytes are counted one by one; may be 0 */
	uint64_t bin; /* ps of a bin of the flows' bytes over time; 0: no series */
	uint64_t warm_up; /* ps: nothing before it counts in the figures */
	/* ps between two searches for deadlocks, at least 100 ns; 0: only when nothing moves */
	uint64_t deadlock_check;
};

/* 40 Gb/s, 100 ns cables and switches, MTU 2048, 1 lane, FIFO, round robin, 32 KiB for a
 * lane, no lifetimes, one class, no flows. */
struct hd_sim_settings hd_sim_settings_default(void);

/* Errors: -ERANGE with the name of the setting, its value and its limits. */
int hd_sim_settings_check(const struct hd_sim_settings *settings, struct hd_error *err);

#endif
