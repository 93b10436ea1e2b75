/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the log says of adaptive routing: one line for each programming, and each problem once. */
#ifndef OPENSM_AR_REPORT_H
#define OPENSM_AR_REPORT_H

#include "ar_held.h"
#include "log.h"

#include <heddle/ar_manager/plan.h>
#include <heddle/ar_manager/program.h>

/* What the log has said of a switch. */
struct ar_said {
	uint64_t guid;
	enum hd_ar_standing standing;
	bool uncertain;
	int rc;
};

/* Zero-initialise before use. */
struct ar_report {
	struct ar_stuck_said {
		uint64_t guid;
		bool unsafe;
	} * stuck; /* [stuck_count] switches that the log has called stuck */
	uint32_t stuck_count;
	struct ar_said *said; /* [count] by ascending GUID */
	uint32_t count;
	char fault[HD_ERROR_TEXT];
	struct hd_ar_notes notes; /* those that the log had last */
};

/* What a programming took. */
struct ar_effort {
	uint64_t mads; /* sent, repeated ones too */
	uint64_t gets, sets;
	double ms;
};

/* The line of a programming. */
void ar_report_programmed(const struct hd_ar_plan *plan, const struct hd_ar_config *config,
			  const struct ar_effort *effort, const struct opensm_log *log);

/* The change goes in so many steps. `still`: what changes is static meanwhile; NULL: all is adaptive. */
void ar_report_steps(uint32_t steps, const struct hd_ar_plan *still, const struct opensm_log *log);

/* Why not more entries are adaptive: each reason once, until it is over. */
void ar_report_notes(struct ar_report *report, const struct hd_ar_notes *notes,
		     const struct opensm_log *log);

/* Why adaptive routing is off while the tables change: before it is switched off. */
void ar_report_off(const char *reason, const struct opensm_log *log);

/* How many switches have AR on, and nobody knows which groups. They are switched off next. `late`: tables of others have
 * come before. */
void ar_report_found(const struct ar_held *held, const struct hd_ar_program *program, bool late,
		     const struct opensm_log *log);

/* Switches that have a problem that the log has not named yet. */
void ar_report_switches(struct ar_report *report, const struct hd_ar_program *program,
			const struct opensm_log *log);

/* Before tables change: so many switches may have AR on, and are not in the proof. Each time. */
void ar_report_unproved(uint32_t count, uint64_t first, const struct opensm_log *log);

/* Switches that do not answer, each once: what they hold is safe, or part of a credit loop. */
void ar_report_stuck(struct ar_report *report, const struct ar_held *held, bool unsafe,
		     const struct opensm_log *log);

/* An error, unless it was the last one, too. */
void ar_report_fault(struct ar_report *report, const struct hd_error *err,
		     const struct opensm_log *log);

/* The last error is over. */
void ar_report_well(struct ar_report *report);

void ar_report_release(struct ar_report *report);

#endif
