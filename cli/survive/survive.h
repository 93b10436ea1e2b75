/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the files of heddle survive share: the repair of single losses (--repair), fast recovery (--ar), and
 * the report, as text and as JSON. */
#ifndef CLI_SURVIVE_H
#define CLI_SURVIVE_H

#include "json_value.h"
#include "kept_work.h"
#include "table_source.h"
#include "workload.h"

#include <heddle/ar_manager.h>
#include <heddle/fabric.h>

/* ---- repair ---- */

/* What the repair of single losses takes: heddle survive --repair. */

struct survive_groups {
	/* as typed */
	int64_t random; /* groups to draw; 0: none */
	int64_t size; /* hosts of each; 0: RANDOM_GROUP_SIZE */
	const char *tables_path; /* the groups of these multicast tables; NULL: none */
	/* after they are found */
	uint32_t count;
	uint32_t *mlids; /* [count] ascending */
	uint32_t
	    *first; /* [count + 1] group i has members[first[i]] .. members[first[i + 1] - 1] */
	uint32_t *members; /* port indices */
};

/* 0, or STATUS_BAD after a message: options that do not go together. `repairs`: losses to repair. */
int survive_groups_refuse(const struct survive_groups *groups, uint32_t repairs);

/*
 * Finds the groups: random hosts, or what the entries of each MLID name. Released with
 * survive_groups_release(), also after an error. Errors: -EINVAL more hosts than the fabric has; those
 * of hd_mfts_read(); -ENOMEM.
 */
int survive_groups_find(struct survive_groups *groups, const struct hd_fabric *fabric,
			uint64_t seed, const struct hd_log *log, struct hd_error *err);

/* The trees of the groups before the loss. */
struct survive_trees {
	const struct hd_fabric *fabric;
	const struct survive_groups *groups;
	struct hd_mfts in_place;
};

struct survive_multicast {
	bool tried; /* there are groups, and the unicast tables are repaired */
	char refusal[HD_ERROR_TEXT]; /* why the trees are left to the sweep; "": they are not */
	uint32_t hit, moved; /* groups that have lost a cable, and others whose trees change */
	uint32_t writes, steps;
	uint32_t loop; /* MLID of which a packet can come to a switch twice meanwhile, 0: none */
	uint32_t missed; /* MLID that does not reach all members that are left, 0: none */
	double plan_ms; /* trees and plan */
};

/* Whether the plan was refused, an interim state can loop, or a member is not reached. */
bool survive_multicast_has_fault(const struct survive_multicast *multicast);

struct survive_repair {
	char lost[200]; /* "lost cable 'leaf1'[3] - 'spine2'[1]" */
	bool is_switch;
	char refusal[HD_ERROR_TEXT]; /* of the engine, or of the proof; "": none */
	uint32_t entries, switches, writes, steps, left;
	uint32_t loop; /* a LID that can loop while blocks are written, 0: none */
	double plan_ms; /* fabric, engine and plan */
	struct survive_multicast multicast;
};

struct survive_repairs {
	uint32_t each; /* losses of each kind that were asked for */
	uint32_t count;
	struct survive_repair *list; /* [count] cables, then switches */
	double base_ms; /* of what is made before the loss */
	struct survive_groups groups; /* those to repair, too; they have been found */
};

/*
 * Loses `each` cables between switches and `each` switches, one at a time, at random, or all if
 * there are fewer, and plans the repair of each. `request` has the tables in place as `previous`.
 * Released with survive_repair_release(), also after an error. Errors: -ELOOP the tables have a credit loop, -ENOMEM.
 */
int survive_repair_run(const struct table_source *source, const struct table_request *request,
		       uint64_t seed, struct survive_repairs *repairs, struct hd_error *err);

void survive_repair_release(struct survive_repairs *repairs);

/* Whether an engine refused, a proof failed, an interim state can loop, or multicast does not reach a
 * member. */
bool survive_repair_has_fault(const struct survive_repairs *repairs);

/* ---- fast recovery ---- */

/* What heddle survive --ar takes. */
struct survive_recovery {
	bool wanted; /* as typed */
	struct hd_ar_plan *plan; /* of the intact fabric */
	struct hd_ar_recovery_request request;
};

/* Plans adaptive routing for the tables of the intact fabric, and proves fast recovery, if it is wanted. Fabric and tables
 * must live as long as the plan. Released with survive_recovery_release(), also after an error. Errors: those of
 * hd_ar_plan_new() and hd_ar_recovery_prove(). */
int survive_recovery_begin(struct survive_recovery *recovery, const struct hd_fabric *fabric,
			   const struct hd_routes *routes, unsigned threads,
			   const struct hd_log *log, struct hd_error *err);

/* Pairs that are delivered after the loss of all cables that `damaged` lacks, in delivered[HD_AR_RECOVERY_LEVELS], and
 * before in *pairs. Errors: those of hd_ar_recovery_bridge(). */
int survive_recovery_try(const struct survive_recovery *recovery, const struct hd_fabric *damaged,
			 uint64_t *delivered, uint64_t *pairs, struct hd_error *err);

void survive_recovery_release(struct survive_recovery *recovery);

/* ---- the report ---- */

#define SURVIVE_SHARES_MAX 101

/* Trials with one share of the links removed. */
struct survive_share {
	double percent;
	uint32_t trials; /* that are done */
	uint32_t routed; /* by the engine, and every LID can be reached */
	uint32_t deadlock_free; /* of the routed ones */
	double sum, worst; /* of the mean bandwidths of the routed ones */
	uint64_t changed; /* table entries, the sum over the routed ones */
	/* With --ar: share of the pairs that are delivered right after the loss, the sum over the trials; and the
	 * least of a trial. */
	double delivered[HD_AR_RECOVERY_LEVELS], least[HD_AR_RECOVERY_LEVELS];
	char refusal[HD_ERROR_TEXT]; /* the last reason why the engine refused */
};

/* ---- trials ---- */

/*
 * The outcome of a trial. It consists only of 64-bit words, which are 0 if another process has the
 * trial, so that they can be added up.
 */
struct survive_trial {
	uint64_t done; /* 0: the work was ended early */
	uint64_t refused; /* by the engine */
	uint64_t routed; /* and every LID can be reached */
	uint64_t deadlock_free; /* if routed */
	uint64_t changed; /* table entries */
	uint64_t delivered[HD_AR_RECOVERY_LEVELS], pairs; /* with --ar */
	union {
		uint64_t bits;
		double value;
	} mean; /* bandwidth, if routed */
};

/* The trials of all shares, done by several processes, and kept in files. */
struct survive_trials {
	const struct survive_share *shares;
	const struct processes *processes;
	uint32_t each; /* trials of a share */
	size_t count; /* of all shares */
	struct survive_trial *list; /* [count] share * each + trial */
	uint32_t *owner; /* [count] the process that does it; HD_NONE: kept from a run before */
	struct survive_refusal {
		size_t trial; /* the last one that this process knows, plus 1; 0: none */
		char text[HD_ERROR_TEXT];
	} * refusals; /* [shares] */
	struct kept_work state;
};

/* A digest of what the trials damage. */
uint64_t survive_trials_digest(const struct hd_fabric *fabric, const struct hd_routes *routes);

/*
 * Takes what the files of `path` keep (NULL: nothing), and deals out the rest. `digest`: of all that
 * decides on an outcome. Shares must live as long. Released with survive_trials_release(), also after
 * an error. All processes must call it. Errors: those of kept_work_open(); -EINVAL a file says
 * something else; -ENOMEM.
 */
int survive_trials_open(struct survive_trials *trials, const struct survive_share *shares,
			unsigned share_count, uint32_t each, const char *path, uint64_t digest,
			const struct processes *processes, struct hd_error *err);

bool survive_trials_is_own(const struct survive_trials *trials, size_t number);

/* Notes that the engine refused the fabric of a trial of this process, and why. */
void survive_trials_refused(struct survive_trials *trials, size_t number, const char *reason);

/* Keeps a trial that is done. Errors: those of kept_work_flush(). */
int survive_trials_keep(struct survive_trials *trials, size_t number, struct hd_error *err);

/*
 * Fills in the figures of the shares from their trials. All processes must call it, and get the same
 * result. Errors: those of processes_combine().
 */
int survive_trials_sum_up(struct survive_trials *trials, struct survive_share *shares,
			  struct hd_error *err);

void survive_trials_release(struct survive_trials *trials);

struct survive_view {
	const char *fabric_path, *engine;
	const struct workload *workload;
	const struct workload_on *on;
	double intact; /* bandwidth before */
	const struct survive_share *shares;
	unsigned count;
	uint32_t trials; /* of each share, as asked for */
	const struct survive_repairs *repairs;
	bool recovery; /* --ar */
};

void survive_print(const struct survive_view *view);

/* A table with a row for each share of links, or for each repair if there are any, to standard
 * output. */
void survive_csv(const struct survive_view *view);

/* NULL: no memory. */
json_t *survive_json(const struct survive_view *view);

#endif
