/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Counters of ports, as perfquery, ibqueryerrors and OpenSM's performance manager print them, or as a
 * table of our own; and what they say of the load of each link.
 */
#ifndef HEDDLE_ANALYSIS_COUNTERS_H
#define HEDDLE_ANALYSIS_COUNTERS_H

#include <heddle/base/error.h>
#include <heddle/base/text.h>
#include <heddle/fabric/graph.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- counters ---- */

/* Those of PortCounters and PortCountersExtended of the InfiniBand specification, volume 1, chapter 16. */
enum hd_counter {
	HD_XMIT_DATA, /* in words of 4 bytes */
	HD_RCV_DATA,
	HD_XMIT_PACKETS,
	HD_RCV_PACKETS,
	HD_XMIT_WAIT, /* ticks in which the port had a packet and could not send it */
	HD_SYMBOL_ERRORS, /* from here on: errors */
	HD_LINK_RECOVERIES,
	HD_LINK_DOWNED,
	HD_RCV_ERRORS,
	HD_RCV_REMOTE_ERRORS,
	HD_RCV_RELAY_ERRORS,
	HD_XMIT_DISCARDS,
	HD_XMIT_CONSTRAINT_ERRORS,
	HD_RCV_CONSTRAINT_ERRORS,
	HD_LINK_INTEGRITY_ERRORS,
	HD_BUFFER_OVERRUNS,
	HD_VL15_DROPPED,
	HD_QP1_DROPPED,
	HD_COUNTERS
};

/* A counter as a bit of hd_port_counters.known. */
#define HD_COUNTER_BIT(counter) (1u << (counter))

struct hd_port_counters {
	uint64_t value[HD_COUNTERS]; /* 0 where it is not known */
	uint32_t known; /* HD_COUNTER_BIT() each */
	/* not known, as 32 bits of it had stopped at their end; HD_COUNTER_BIT() each */
	uint32_t stopped;
};

struct hd_counters {
	uint32_t port_count; /* of the fabric */
	struct hd_port_counters *ports; /* [port_count] by port index */
	uint32_t ports_read; /* ports with a counter */
	/* ports with a counter of 32 bits that had stopped at its end; it is not known */
	uint32_t ports_full;
	/* of a difference: ports with a counter that went back, as after a reset */
	uint32_t ports_back;
	/* Seconds in which they counted; 0: not known. */
	double seconds;
	/* A tick of HD_XMIT_WAIT: its seconds, or the bytes that a port could have sent in it; 0: not known. */
	double wait_tick, wait_bytes;
	/* When they were read and when they began, in seconds of any one clock; 0: not known. */
	double read_at, began_at;
	const char *dialect; /* "perfquery"; a constant */
};

/* The name that perfquery prints: "PortXmitData". A constant. */
const char *hd_counter_name(enum hd_counter counter);

/* Whether errors of this kind say that a cable or one of its ends is bad. Others come in sound fabrics, too: multicast
 * causes HD_RCV_RELAY_ERRORS, congestion HD_XMIT_DISCARDS. */
bool hd_counter_is_fault(enum hd_counter counter);

/* Counters of which none is known, to be freed with hd_counters_free(). NULL: no memory. */
struct hd_counters *hd_counters_new(const struct hd_fabric *fabric);

/* NULL is allowed. */
void hd_counters_free(struct hd_counters *counters);

/*
 * Reads what these print, also several of them one after another: perfquery (also -x and -l),
 * ibqueryerrors (also --data, --counters, --details, --report-port), `perfmgr dump_counters` of OpenSM in both
 * forms, and the table of hd_counters_write(). Sums over all ports of a node are left out. Counters of 64 bits
 * count before those of 32; of two tools, the last one counts. Ports that the fabric does not have are left out
 * with a remark. *out is freed with hd_counters_free(). Errors, with file and line: -EINVAL a line that is damaged, or a
 * tool prints the same counter of a port twice in as many bits; -ENODATA no counter, or none of a port of the fabric; those of hd_text_check(); -ENOMEM.
 * O(bytes).
 */
int hd_counters_parse(const struct hd_text *text, const struct hd_fabric *fabric,
		      const struct hd_log *log, struct hd_counters **out, struct hd_error *err);

/*
 * What was counted between two readings: `later` becomes the difference. A counter that only one of them has
 * is not known. Of a counter that went back, what it has counted since is taken. `seconds` is the time between both
 * readings, where both have one.
 */
void hd_counters_subtract(struct hd_counters *later, const struct hd_counters *earlier);

/*
 * Writes a table with commas, a row for each port of which a counter is known: GUID of the node, number of
 * the port, and the counters by their names, in the units of perfquery. Lines before it give seconds and tick, if they
 * are known. Errors stay in the stream.
 */
void hd_counters_write(const struct hd_counters *counters, const struct hd_fabric *fabric,
		       FILE *stream);

/* ---- links ---- */

/*
 * Directed links are numbered as in struct hd_congestion_report: first isl_count links between switches, then
 * for each host the link from host to switch, then for each host the link from switch to host.
 */
/* Bytes that each lane of a link could send in a tick of HD_XMIT_WAIT, on devices that count slowly. Source: NVIDIA,
 * ibdiagnet user manual, "Congestion assessment on InfiniBand links": Switch-X to Switch-IB 2 count every 32 bytes of a
 * lane, Quantum to Quantum-3 every 8 bytes of a port. */
#define HD_TICK_LONGEST 32

struct hd_measured_link {
	/* sent; by the sender's counter, else by that of the receiver. -1: not known */
	double bytes;
	/* bytes in the time; without a time bytes per second; 0: the rate is not known */
	double capacity;
	/* Share of the capacity. Without a time: in units of the largest of all. -1: not known */
	double share;
	/* Share of the time in which the sender had to wait. Where the tick is not known, the longest one is taken with
	 * which no port has sent and waited for longer than the time, but at most HD_TICK_LONGEST. -1: not known */
	double wait;
};

struct hd_measured {
	const struct hd_fabric *fabric; /* must outlive it */
	const struct hd_counters *counters;
	uint32_t link_count; /* isl_count + 2 * host_count */
	struct hd_measured_link *links; /* [link_count] */
	bool timed; /* shares are of the capacity */
	bool ticked; /* waits are by a tick that the counters give */
	uint32_t known; /* links with bytes */
};

/* `counters` belong to the caller and must outlive it. *out is freed with hd_measured_free(). Errors: -ENOMEM. O(links). */
int hd_measured_new(const struct hd_fabric *fabric, const struct hd_counters *counters,
		    struct hd_measured **out, struct hd_error *err);

/* NULL is allowed. */
void hd_measured_free(struct hd_measured *measured);

#ifdef __cplusplus
}
#endif

#endif
