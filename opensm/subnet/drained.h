/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What is drained: cables between switches, and switches, that routing leaves out though they work, so that they can
 * be pulled. The part drain says what is wanted, for people who ask. Each sweep leaves that out of its copy of the
 * subnet, before an engine sees it (engine_drained.h). It notes what it has left out, and why not. The part drain looks.
 *
 *	wanted      what people ask for; it has a number
 *	accepted    what was wanted when a sweep last routed without it
 *	out         what the routing in force leaves out: what is accepted, or nothing if that would cut hosts off
 *
 * For any thread; the lock is held for copying only.
 */
#ifndef OPENSM_DRAINED_H
#define OPENSM_DRAINED_H

#include <heddle/base/error.h>
#include <heddle/fabric/changes.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DRAINED_MOST 4096u /* things */
#define DRAINED_NAME 65u /* bytes of a node's description, with the last 0 */
#define DRAINED_LABEL 256u /* bytes of a label, with the last 0 */

/* Which stay the same when the fabric changes. */
struct drained_thing {
	bool cable; /* else a switch */
	uint64_t guid
	    [2]; /* of the nodes at the ends; of a switch, the first. 0: any node, since nothing was at the port */
	uint8_t port[2];
	char name[2][DRAINED_NAME];
	bool shared[2]; /* another node has that name, or had it: it says nothing */
};

struct drained_set {
	struct drained_thing *things; /* [count] from malloc() */
	uint32_t count;
};

/* Zero-initialise before use; drained_set_release(). */
int drained_set_copy(const struct drained_set *from, struct drained_set *to); /* -ENOMEM */
void drained_set_release(struct drained_set *set);
int drained_set_add(struct drained_set *set,
		    const struct drained_thing *thing); /* -ENOMEM, -E2BIG */
void drained_set_remove(struct drained_set *set, uint32_t index);

/* The index of the same cable or switch, HD_NONE: none. O(count). */
uint32_t drained_set_find(const struct drained_set *set, const struct drained_thing *thing);

/* Whether the set has all things of the other. */
bool drained_set_has_all(const struct drained_set *set, const struct drained_set *of);

/* Whether both have the same things in the same order. */
bool drained_set_equal(const struct drained_set *one, const struct drained_set *other);

/* What a change of a fabric is: a cable at a port, which need not be there, or a switch. */
struct drained_thing drained_thing_of(const struct hd_fabric *fabric,
				      const struct hd_fabric_change *change);

/* Notes which names other nodes of the fabric, or other things that are drained, have, too. Cost: O(count * (nodes +
 * drained)). */
void drained_set_mark_shared(struct drained_set *set, const struct hd_fabric *fabric,
			     const struct drained_set *drained);

/* "S1_0[5] - S2_0[1] (0x0000000000200000[5] - 0x0000000000200010[1])", "S2_0 (0x...)". A name that is shared is left out:
 * "0x...[5] - S2_0[1] (...)", "0x...". */
void drained_label(const struct drained_thing *thing, char text[DRAINED_LABEL]);

/* Which of the things the fabric has: changes[set->count], in their order. Cables to hosts are not among them. Returns
 * how many. O(count * log nodes). */
uint32_t drained_set_locate(const struct drained_set *set, const struct hd_fabric *fabric,
			    struct hd_fabric_change *changes);

/* A port of a switch that stays, by which it could send to what is left out. */
struct drained_lead {
	uint64_t guid;
	uint8_t port;
};

/* ---- what all parts share ---- */

struct drained {
	pthread_mutex_t lock; /* of all below; taken after all others */
	struct drained_set wanted, accepted, out;
	uint64_t number; /* of what is wanted */
	uint64_t afresh; /* the number with which all is to be routed afresh; 0: none */
	bool unproved_too; /* it is wanted even if no order of the changes is proved */
	uint64_t begun; /* the number when the present sweep began */
	uint64_t routed; /* the number that the last routing has decided about */
	uint64_t
	    complete; /* the number with which all switches have their tables; 0: not all, or nobody knows */
	uint64_t refused; /* the highest number that was refused */
	char refusal[HD_ERROR_TEXT]; /* why */
	char suspended[HD_ERROR_TEXT]; /* why routing uses what is accepted; "": it does not */
	char
	    incomplete[HD_ERROR_TEXT]; /* why what is accepted is not safe to pull yet; "": it is */
	char unstored
	    [HD_ERROR_TEXT]; /* why a restarted OpenSM will not know what is accepted; "": it will, or is not to */
	struct drained_lead
	    *leads; /* [lead_count] to what is out, as the last sweep has found it; owned */
	uint32_t lead_count;
	uint64_t entries,
	    unproved; /* that the last change has moved in steps, and without a proof */
	int wake; /* an eventfd that is written when any of it has changed; -1: none */
};

void drained_init(struct drained *drained);
void drained_release(struct drained *drained);

/* A copy of the record. */
struct drained_state {
	struct drained_set accepted, out;
	uint64_t routed, complete, refused, entries, unproved;
	char refusal[HD_ERROR_TEXT], suspended[HD_ERROR_TEXT], incomplete[HD_ERROR_TEXT],
	    unstored[HD_ERROR_TEXT];
};

/* *out is released with drained_state_release() in any case. Errors: -ENOMEM, then the sets are empty. */
int drained_read(struct drained *drained, struct drained_state *out);
void drained_state_release(struct drained_state *state);

/* Replaces what is wanted, which it takes over, and returns the new number. unproved_too: even if no order of the changes
 * is proved. */
uint64_t drained_want(struct drained *drained, struct drained_set *set, bool unproved_too);

/* The next sweep routes afresh, and leaves out what it left out before. Returns the new number of what is wanted.
 * unproved_too: as above. */
uint64_t drained_reroute(struct drained *drained, bool unproved_too);

/* What an earlier run had accepted is accepted again, before the first sweep routes, and has a number. It is never refused,
 * only suspended: somebody relies on it. Takes over the set. */
void drained_restore(struct drained *drained, struct drained_set *set);

/* What a sweep has decided. */
struct drained_decision {
	uint64_t number; /* of what is wanted */
	struct drained_set set; /* that is accepted now; empty if `refusal` says why it is not */
	bool left_out; /* what is accepted is left out */
	char refusal[HD_ERROR_TEXT]; /* why what is wanted is not accepted */
	char suspended[HD_ERROR_TEXT]; /* why what is accepted is not left out */
};

/* OpenSM has the tables of a routing that follows the decision, whose set is taken over. What is refused is not wanted
 * any more. If more is left out than before, it is not complete until drained_note_tables() says so. */
void drained_note(struct drained *drained, struct drained_decision *decision);

/* Refuses what is wanted, if that is not accepted. Less than what is accepted is never worse: that is accepted, and left out
 * of the next routing. */
void drained_refuse(struct drained *drained, uint64_t number, const char *reason);

/* After a sweep, before drained_note_tables(): what leads to what is out. Takes over the list, from malloc(). */
void drained_note_leads(struct drained *drained, struct drained_lead *leads, uint32_t count);

/* After a sweep: all switches have the tables of the last decision, or the reason why not. */
void drained_note_tables(struct drained *drained, const char *incomplete);

/* What is accepted is in the file, or the reason why not. */
void drained_note_stored(struct drained *drained, const char *unstored);

/* How many entries a sweep has moved in proved steps, and how many otherwise. */
void drained_note_order(struct drained *drained, uint64_t entries, uint64_t unproved);

#endif
