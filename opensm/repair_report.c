/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "repair_report.h"
#include "monotonic.h"
#include "part.h"
#include "routing.h"

#include <errno.h>
#include <heddle/fabric/changes.h>
#include <stdio.h>

#define NAMED 3 /* losses in the log */

void repair_report_done(const struct repair *repair, const char *trees)
{
	const struct repair_thread *thread = repair->thread;
	char lost[256] = "", left[80] = "";

	hd_fabric_changes_print(repair->before->fabric, thread->current->fabric, NAMED, lost,
				sizeof(lost), NULL);
	if (repair->plan->left)
		snprintf(left, sizeof(left), "; %u LIDs are left to the sweep, such as %u",
			 repair->plan->left, repair->plan->left_lid);
	log_info(&thread->shared->context->log,
		 "repaired %s: %u entries on %u switches in %.0f ms (asked %.0f, planned %.0f, "
		 "proved %.0f, programmed %.0f in %u steps)%s%s; sweep follows",
		 lost, repair->plan->entries, repair->plan->switches,
		 repair->programmed - repair->begun, repair->asked - repair->begun,
		 repair->planned - repair->asked, repair->proved - repair->planned,
		 repair->programmed - repair->proved, repair->plan->steps, left, trees);
}

void repair_report_stopped(struct repair_thread *thread, const char *reason)
{
	const double now = monotonic_ms();

	if (now - thread->said_ms < REPAIR_REPORT_MS)
		return;
	thread->said_ms = now;
	log_info(&thread->shared->context->log,
		 "no repair before the sweep, which does it instead: %s", reason);
}

void repair_report_count(const struct repair *repair, int rc)
{
	const struct repair_thread *thread = repair->thread;
	struct repair_figures *figures = &thread->shared->figures;

	pthread_mutex_lock(&thread->shared->lock);
	figures->stopped += rc && rc != -ENODATA;
	if (!rc) {
		figures->repairs++;
		figures->entries += repair->plan->entries;
		figures->last_ms = repair->programmed - repair->begun;
	}
	pthread_mutex_unlock(&thread->shared->lock);
}
