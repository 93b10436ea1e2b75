/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A certificate of tables: numbers with which a small program can prove, in one pass over the
 * tables, that every packet arrives and that no lane has a credit loop. tools/verify_certificate
 * is such a program. It shares no code with what made the tables or the certificate.
 *
 * - A row of distances says for each switch how far it is from the destination. Every port by which
 *   a packet to a LID may leave a switch leads to a smaller distance in the row of that LID. Only
 *   the destination switch has no such port. So every packet arrives.
 * - Each lane gives ranks to the links that its packets cross. Where a packet can hold one link
 *   while it waits for the next, the next has a higher rank. So no lane has a cycle; and where packets
 *   change their lane on the way, neither have all lanes together.
 *
 * Destinations are all LIDs of ports that are cabled to a switch, and those of switches. Lanes count
 * what hd_check() counts: packets from every switch with adapters to the LIDs of adapters.
 */
#ifndef HEDDLE_FABRIC_CERTIFICATE_H
#define HEDDLE_FABRIC_CERTIFICATE_H

#include <heddle/base/error.h>
#include <heddle/base/go_on.h>
#include <heddle/base/port_set.h>
#include <heddle/fabric/graph.h>
#include <heddle/fabric/routes.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

#define HD_CERTIFICATE_VERSION 2
#define HD_CERTIFICATE_LANES 16u
#define HD_CERTIFICATE_MADE 96u
#define HD_CERTIFICATE_NONE                                                                        \
	UINT32_MAX /* no distance: the tables have no entry; no rank: no traffic */

struct hd_certificate {
	uint32_t switch_count, lid_count, link_count; /* of the fabric */
	uint16_t lanes; /* bit v: VL v has traffic that crosses a link */
	uint32_t *rank[HD_CERTIFICATE_LANES]; /* [link_count] by directed link; NULL: no traffic */
	uint32_t row_count;
	uint32_t *distance; /* [row_count * switch_count] */
	uint32_t *row_of_lid; /* [lid_count] HD_NONE: the LID is no destination */
	/*
	 * NULL, or with private tables (DFP): [switch_count] packets that arrive by these ports come from above. Then a
	 * LID has four rows, the first of which row_of_lid says: for packets from below, from below on the raised
	 * lane, from above, from above on the raised lane. `unreached` counts switches with adapters, and LIDs of adapters.
	 */
	struct hd_port_set *above;
	uint64_t unreached; /* pairs of a switch and a destination without an entry */
	char made[HD_CERTIFICATE_MADE]; /* when, and of which sweep, for people; "": none */
};

struct hd_certificate_request {
	const struct hd_fabric *fabric;
	const struct hd_routes *routes; /* in the fabric's shape, with their service levels */
	/*
	 * Adds to `ports` those by which packets to `lid` may leave the switch besides the port of
	 * the tables, such as those of a group of adaptive routing. NULL: there are no others. They
	 * do not count at switches that no packet of an adapter to this LID of an adapter passes.
	 */
	void (*add_ports)(const void *context, uint32_t sw, uint32_t lid,
			  struct hd_port_set *ports);
	const void *context;
	struct hd_go_on go_on; /* asked for each LID */
	/*
	 * NULL, or tables that switches are getting in place of `routes`, in the same shape: a switch has the entry of
	 * either. Then packets may get lost, by an entry that leads nowhere or at a switch without one, but do not
	 * go in a circle, and no lane has a credit loop, whichever entries the switches have.
	 */
	const struct hd_routes *after;
};

/*
 * Makes a certificate, to be freed with hd_certificate_free(). Errors: -EHOSTUNREACH a packet that
 * follows an entry does not arrive, -ELOOP a lane has a credit loop, -EINVAL the tables do not fit the
 * fabric, -ENOTSUP lanes depend on ports and there are `add_ports` or `after`, -ECANCELED, -ENOMEM; the reason says where. A switch without an entry for a LID is no error if no other
 * switch leads there: such pairs are counted. Cost: O(switches * LIDs * ports of an entry), and
 * O(links * radix) for each lane. Memory: at most 4 * switches * LIDs bytes; as a rule
 * 4 * switches^2, because LIDs of a switch share their rows.
 */
int hd_certificate_new(const struct hd_certificate_request *request, struct hd_certificate **out,
		       struct hd_error *err);

/* What a switch has for a LID while tables change. Without groups it is the first or the last. */
enum hd_certificate_held {
	HD_CERTIFICATE_BEFORE,
	HD_CERTIFICATE_NARROW, /* the port before, and the ports that the groups before and after both have */
	HD_CERTIFICATE_TABLES, /* the port after, and these ports */
	HD_CERTIFICATE_AFTER
};

/* An entry that changes, and what it is after the step. */
struct hd_certificate_entry {
	uint32_t sw, lid;
	enum hd_certificate_held becomes;
};

/*
 * A certificate of a change of tables, switch by switch, in steps: all entries of a step are acknowledged before the next
 * step begins. All ports that each switch has before or after a step are proved together, so any mixture is.
 */
struct hd_certificate_change {
	struct hd_certificate *after; /* of the tables after the last step */
	uint32_t step_count;
	struct hd_certificate **mixture; /* [step_count] */
	uint32_t *step_base; /* [step_count + 1] where the entries of a step begin */
	struct hd_certificate_entry *entries; /* by step, switch, LID */
};

struct hd_certificate_change_request {
	const struct hd_fabric *fabric;
	/* In the fabric's shape. The service levels of `after` count. */
	const struct hd_routes *before, *after;
	/* Adds the ports of the group of an entry before or after the change. NULL: there are no groups. */
	void (*add_ports)(const void *context, bool after, uint32_t sw, uint32_t lid,
			  struct hd_port_set *ports);
	const void *context;
	const struct hd_go_on *go_on; /* NULL: never stop */
};

/*
 * Finds steps and makes the certificate, to be freed with hd_certificate_change_free(). One step, if that is sound.
 * Otherwise an entry changes after all changed entries to which its new paths lead, and entries that are taken away
 * change last. If that is not sound with groups, the first step narrows them, then ports of the tables change in this
 * order, and the last step widens groups. Errors: as hd_certificate_new(); -ELOOP and -EHOSTUNREACH also if these steps
 * are not sound, with the reason. Cost: that of hd_certificate_new() for each step of each of these orders.
 */
int hd_certificate_change_new(const struct hd_certificate_change_request *request,
			      struct hd_certificate_change **out, struct hd_error *err);

/* NULL is allowed. */
void hd_certificate_change_free(struct hd_certificate_change *change);

/* As hd_certificate_write(). tools/verify_change checks it, or verify_adaptive_change if there are groups. */
int hd_certificate_change_write(const struct hd_certificate_change *change,
				const struct hd_fabric *fabric, FILE *stream, struct hd_error *err);

struct hd_dependencies;

/*
 * For makers of certificates: gives the links of a lane ranks that follow a collected graph; `carries`, of each link,
 * has a bit for each lane whose packets cross it. Errors: -ELOOP the graph has a cycle, with the reason; -ENOMEM. Cost:
 * O(links * radix).
 */
int hd_certificate_rank(struct hd_certificate *certificate, const struct hd_dependencies *graph,
			const uint16_t *carries, unsigned lane, struct hd_error *err);

/* NULL is allowed. */
void hd_certificate_free(struct hd_certificate *certificate);

/* Writes it in the form of doc/guide/certificates.md and flushes the stream. Errors: the errno of the
 * stream, -ENOMEM. Cost: O(rows * switches + lanes * ports). */
int hd_certificate_write(const struct hd_certificate *certificate, const struct hd_fabric *fabric,
			 FILE *stream, struct hd_error *err);

#ifdef __cplusplus
}
#endif

#endif
