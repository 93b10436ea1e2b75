/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the report of the plugin's state says of adaptive routing. */
#ifndef OPENSM_AR_FIGURES_H
#define OPENSM_AR_FIGURES_H

#include "ar_held.h"

#define AR_FIGURES_NAMED 10u /* pending switches */

struct status_report;

struct ar_figures {
	bool foreign; /* another manager has it, and nothing below is known */
	bool known; /* switches have been asked */
	bool wanted; /* by heddle.conf or by the name of the engine */
	bool on; /* some switch may have it on */
	const char *algorithm, *mode; /* of the plan in the switches; NULL: no plan is in force */
	uint32_t switches, adaptive; /* all, and those with groups */
	uint32_t groups;
	uint64_t entries, adaptive_entries; /* of the plan that is wanted */
	char reason[HD_AR_NOTE_TEXT]; /* why not more of them are adaptive; "" */
	bool nothing; /* AR is wanted, there is a plan, and no entry of it is adaptive */
	/* Switches that do not have what they should have. */
	uint32_t pending, named;
	struct {
		uint64_t guid;
		const char *standing;
	} list[AR_FIGURES_NAMED]; /* [named] */
	char fault[HD_ERROR_TEXT]; /* why there is no plan in force; "" */
};

/* Counts what is held, and switches with problems; if adaptive routing is not wanted, only those that
 * may have it on. `program` NULL: no switch was asked. */
void ar_figures_count(bool wanted, const struct ar_held *held, const struct hd_ar_program *program,
		      struct ar_figures *out);

/* Adds the figures of the plan that is wanted (NULL: none), and why it is not better. */
void ar_figures_explain(const struct hd_ar_plan *plan, const struct hd_ar_notes *notes,
			struct ar_figures *out);

/* Adds the section `ar`. */
void ar_figures_add(const struct ar_figures *figures, struct status_report *report);

#endif
