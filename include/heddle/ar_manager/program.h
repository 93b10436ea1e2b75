/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Makes the switches of a fabric hold a plan. For each switch it asks what the switch can do, reads
 * back what it holds, and sends the Sets that are missing. The steps of one switch follow each
 * other; many switches are programmed at the same time, and none waits for another.
 *
 *   hd_ar_program_set_switches(program, guids, count);
 *   hd_ar_program_detect(program);                     then let the sender work
 *   plan, with hd_ar_program_capabilities()
 *   hd_ar_program_apply(program, plan, false);         then let the sender work
 *
 * Each of these begins an operation, which is complete when hd_ar_program_busy() is 0. The program
 * remembers what a switch holds, so the next operation reads nothing twice.
 *
 * Errors: a MAD that is refused or stays without an answer is sent again. A switch is left when it
 * has more than max_errors errors in error_window_s, or that many with no MAD that succeeds between
 * them, or when 8 tries in a row have no answer. Then its AR is switched off, and nothing more is
 * sent to it until the window has passed.
 *
 * Not for several threads at a time. Nothing blocks.
 */
#ifndef HEDDLE_AR_MANAGER_PROGRAM_H
#define HEDDLE_AR_MANAGER_PROGRAM_H

#include <heddle/ar_manager/ar_config.h>
#include <heddle/ar_manager/diff.h>
#include <heddle/ar_manager/neighbours.h>
#include <heddle/base/error.h>
#include <heddle/fabric/graph.h>

/* How a MAD has ended. */
struct hd_ar_answer {
	int rc; /* 0; -EREMOTEIO refused; -ETIMEDOUT; -EHOSTDOWN not sent since another stayed
		   without an answer; -ECANCELED; other negative errno */
	uint16_t status;
	uint32_t tries; /* times sent */
	const uint8_t *data; /* if rc is 0: [HD_AR_DATA], or of the class N2N [HD_N2N_DATA] */
};

/* Sends MADs to switches, by their index. Both functions get `context`. */
struct hd_ar_sender {
	/* Sends a Get or a Set of mad->data, which is copied. Its end is reported by one call of
	 * hd_ar_program_answer() with the same `slot`, after this call. Returns 0, or a negative
	 * errno: nothing is sent. */
	int (*send)(void *context, uint32_t sw, uint32_t slot, bool set,
		    const struct hd_ar_mad *mad);
	/* The same with a MAD of the class N2N. NULL: notices are not set up. */
	int (*send_n2n)(void *context, uint32_t sw, uint32_t slot, bool set,
			const struct hd_n2n_mad *mad);
	uint64_t (*now)(void *context); /* ms, never going back */
	void *context;
};

enum hd_ar_standing {
	HD_AR_UNASKED,
	HD_AR_SILENT, /* did not say what it can do; is asked again by the next detection */
	HD_AR_UNABLE, /* has no AR */
	HD_AR_FOREIGN, /* the administrator wants it to be left alone */
	HD_AR_ABLE,
	HD_AR_LEFT /* had too many errors */
};

/* What is known of a switch. */
struct hd_ar_switch_report {
	uint64_t guid;
	enum hd_ar_standing standing;
	struct hd_ar_capability_mask mask; /* of a switch that is ABLE or LEFT */
	struct hd_ar_info info; /* the same */
	/* The last answers, as they travel. */
	uint8_t raw_mask[HD_AR_DATA], raw_info[HD_AR_DATA];
	/* What it holds, until the next operation. NULL: nothing was read, or the last plan was applied
	 * in full, and it holds that. */
	const struct hd_ar_image *held;
	int rc; /* how the last operation ended for it; 0: well, or nothing was to be done */
	uint32_t attribute, modifier; /* of the last MAD that failed; 0: none did */
	uint16_t status; /* of its answer */
	/* AR may be on with tables that are not known: the switch did not answer when its AR was to
	 * be switched off. */
	bool uncertain;
	/* Fast recovery that it has on, and why it does not have what is wanted: a switch that refuses it keeps AR. */
	enum hd_ar_recovery recovery;
	bool recovery_refused;
	uint32_t recovery_attribute; /* of the MAD that failed */
	uint16_t recovery_status; /* of its answer; 0: no answer, or it was without effect */
};

struct hd_ar_program_counts {
	uint64_t gets, sets; /* MADs, each one once, however often it was repeated */
	uint64_t errors;
};

struct hd_ar_program;

/* A program without switches, to be freed with hd_ar_program_free(). NULL: no memory. */
struct hd_ar_program *hd_ar_program_new(const struct hd_ar_sender *sender);

/* Only when no MAD is under way. NULL is allowed. */
void hd_ar_program_free(struct hd_ar_program *program);

/* Sets what an administrator says; both are copied. If the quirks change, what the switches hold is
 * forgotten. Only when the program is not busy. Errors: -ENOMEM, nothing has changed. */
int hd_ar_program_configure(struct hd_ar_program *program, const struct hd_ar_config *config,
			    const struct hd_ar_quirks *quirks);

/* Sets the switches, by ascending GUID. Those that were there before keep what is known of them.
 * Only when the program is not busy. Errors: -ENOMEM, nothing has changed. */
int hd_ar_program_set_switches(struct hd_ar_program *program, const uint64_t *guids,
			       uint32_t count);

/*
 * An order of the switches of a fabric: leaves first, those below the same switch one after the other. With all leaves
 * adaptive a fat tree has the bandwidth that it has with all switches; while half of all are, in any order, it has
 * less than before, but not if these are all leaves below a part of the tree. order[switch_count]. Errors: -ENOMEM.
 * Cost: O(links + switches * log switches).
 */
int hd_ar_program_order(const struct hd_fabric *fabric, uint32_t *order);

/* Operations begin with the switches in that order from now on, until the switches are set; order[switches] is copied.
 * Only when the program is not busy. Errors: -ENOMEM, nothing has changed. */
int hd_ar_program_set_order(struct hd_ar_program *program, const uint32_t *order);

/* Vendors of the switches, vendor_id[switches], 0 where unknown; copied. A switch of a vendor that never had these attributes
 * has no AR if it does not answer, as some do with what they do not know. */
void hd_ar_program_set_vendors(struct hd_ar_program *program, const uint32_t *vendor_id);

/* Forgets what is known of all switches. Only when the program is not busy. */
void hd_ar_program_forget(struct hd_ar_program *program);

/* Asks the switches of which it is not known what they can do. No operation asks or changes those that the configuration
 * calls foreign. */
void hd_ar_program_detect(struct hd_ar_program *program);

/*
 * Makes the switches hold the plan, whose switches are those of the program. Switches without AR
 * get nothing. `reread`: what the switches hold is read again, all of it. The plan must live until
 * the program is not busy. A switch whose row in the plan is that of the last plan which it took in full costs O(1).
 */
void hd_ar_program_apply(struct hd_ar_program *program, const struct hd_ar_plan *plan, bool reread);

/* Reads all that a plan would set, and all groups that a switch has in use; sets nothing. */
void hd_ar_program_read(struct hd_ar_program *program, const struct hd_ar_plan *plan);

/* Switches AR off where it is on, with one Set for each switch. `unread`: only at switches whose
 * tables were never read. */
void hd_ar_program_disable(struct hd_ar_program *program, bool unread);

/* Switches fast recovery off where it is on, with one Set for each switch; AR stays as it is. */
void hd_ar_program_end_recovery(struct hd_ar_program *program);

/*
 * Fast recovery that switches get with the next plans, as far as the configuration wants it: the caller has proved that
 * these plans allow it. At first OFF. Only when the program is not busy.
 */
void hd_ar_program_set_recovery(struct hd_ar_program *program, enum hd_ar_recovery most);

/*
 * With whom switches exchange notices: with those that are cabled to them. Calls of hd_ar_program_apply() from now on
 * tell the switches that get notices; NULL: no further ones, and those that were not told have no notices. The fabric
 * must have the switches of the program. The records are copied. Only when the program is not busy. Errors: -ENOMEM,
 * nothing has changed. Cost: O(ports).
 */
int hd_ar_program_set_neighbours(struct hd_ar_program *program, const struct hd_fabric *fabric);

/* Sends nothing more. Switches whose operation has not begun end with -ECANCELED. The operation is complete when all MADs that are under way have ended; the
 * caller may cancel these. */
void hd_ar_program_stop(struct hd_ar_program *program);

/* Reports how a MAD has ended. */
void hd_ar_program_answer(struct hd_ar_program *program, uint32_t sw, uint32_t slot,
			  const struct hd_ar_answer *answer);

/* Switches of which the operation is not complete. */
uint32_t hd_ar_program_busy(const struct hd_ar_program *program);

uint32_t hd_ar_program_switch_count(const struct hd_ar_program *program);

/* What a plan may use of a switch: nothing if the administrator excludes it, if it cannot limit AR
 * as the administrator wants, if it was left, or if it did not answer. Private tables only with the
 * algorithm DFP, and if the switch has room for those of DFP, with so many LIDs. */
struct hd_ar_capability hd_ar_program_capability(const struct hd_ar_program *program, uint32_t sw,
						 uint32_t lid_count);

/* The same of all switches: [switches], to be freed with free(). NULL: no memory. */
struct hd_ar_capability *hd_ar_program_capabilities(const struct hd_ar_program *program,
						    uint32_t lid_count);

struct hd_ar_switch_report hd_ar_program_report(const struct hd_ar_program *program, uint32_t sw);

/* Since the program was made. */
struct hd_ar_program_counts hd_ar_program_counts(const struct hd_ar_program *program);

/* "not asked", "silent", "no adaptive routing", "ready", "left static". */
const char *hd_ar_standing_name(enum hd_ar_standing standing);

#endif
