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
	struct repair_thread *thread = repair->thread;
	char lost[256] = "", left[80] = "", line[REPAIR_LOG_LINE];

	hd_fabric_changes_print(repair->before->fabric, thread->current->fabric, NAMED, lost,
				sizeof(lost), NULL);
	if (repair->plan->left)
		snprintf(left, sizeof(left), "; %u LIDs are left to the sweep, such as %u",
			 repair->plan->left, repair->plan->left_lid);
	snprintf(line, sizeof(line),
		 "repaired %s: %u entries on %u switches in %.0f ms (asked %.0f, planned %.0f, "
		 "proved %.0f, programmed %.0f in %u steps)%s%s; sweep follows",
		 lost, repair->plan->entries, repair->plan->switches,
		 repair->programmed - repair->begun, repair->asked - repair->begun,
		 repair->planned - repair->asked, repair->proved - repair->planned,
		 repair->programmed - repair->proved, repair->plan->steps, left, trees);
	repair_log_add(&thread->log, monotonic_ms(), true, line);
}

void repair_report_keys(const struct repair *repair)
{
	const struct keys_broken_list *broken = &repair->keys.broken;

	for (uint32_t i = 0; i < broken->count; i++)
		repair_log_add_key(&repair->thread->log, broken->list[i].key,
				   broken->list[i].reason);
}

void repair_report_stopped(struct repair_thread *thread, const char *reason)
{
	char line[REPAIR_LOG_LINE];

	snprintf(line, sizeof(line), "no repair before the sweep, which does it instead: %s",
		 reason);
	repair_log_add(&thread->log, monotonic_ms(), false, line);
}

void repair_report_count(const struct repair *repair, int rc)
{
	const struct repair_thread *thread = repair->thread;
	struct repair_figures *figures = &thread->shared->figures;

	repair_shared_note_result(thread->shared, rc);
	pthread_mutex_lock(&thread->shared->lock);
	figures->stopped += rc && rc != -ENODATA;
	if (!rc) {
		figures->repairs++;
		figures->entries += repair->plan->entries;
		figures->last_ms = repair->programmed - repair->begun;
	}
	pthread_mutex_unlock(&thread->shared->lock);
}

void repair_report_refused(struct repair_thread *thread, const char *reason)
{
	repair_shared_note_result(thread->shared, -ENOENT);
	pthread_mutex_lock(&thread->shared->lock);
	thread->shared->figures.stopped++;
	pthread_mutex_unlock(&thread->shared->lock);
	repair_report_stopped(thread, reason);
}
