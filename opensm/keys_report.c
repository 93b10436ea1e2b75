/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "keys_report.h"
#include "keys_shared.h"
#include "status_report.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define NAMED_MOST 10u /* broken keys */

struct figures {
	bool wanted, listening, connected;
	char refusal[HD_CHANNEL_TEXT];
	uint32_t count; /* in force */
	uint32_t lost, named;
	struct keys_broken list[NAMED_MOST]; /* [named] */
};

static struct figures look(struct keys_shared *shared)
{
	struct figures figures;

	pthread_mutex_lock(&shared->lock);
	figures = (struct figures){.wanted = shared->wanted,
				   .listening = shared->listening,
				   .connected = shared->connected,
				   .count = shared->set->count,
				   .lost = shared->lost.count};
	memcpy(figures.refusal, shared->refusal, sizeof(figures.refusal));
	for (; figures.named < figures.lost && figures.named < NAMED_MOST; figures.named++)
		figures.list[figures.named] = shared->lost.list[figures.named];
	pthread_mutex_unlock(&shared->lock);
	return figures;
}

static void add_summary(const struct figures *figures, struct status_report *report)
{
	const char *keyd =
	    figures->connected ? "heddle-keyd is connected" : "heddle-keyd is not connected";
	char lost[64] = "";

	if (figures->lost)
		snprintf(lost, sizeof(lost), ", %" PRIu32 " broken", figures->lost);
	if (!figures->wanted)
		status_report_text(report, "summary", "off");
	else if (!figures->listening)
		status_report_text(report, "summary", "heddle-keyd cannot connect");
	else if (*figures->refusal)
		status_report_text(report, "summary", "none in force%s; %s; %s", lost,
				   figures->refusal, keyd);
	else
		status_report_text(report, "summary", "%" PRIu32 " in force%s; %s", figures->count,
				   lost, keyd);
}

static void add_broken(const struct figures *figures, struct status_report *report)
{
	status_report_list(report, "broken_keys");
	for (uint32_t i = 0; i < figures->named; i++) {
		status_report_item(report);
		status_report_number(report, "key", figures->list[i].key);
		status_report_text(report, "reason", "%s", figures->list[i].reason);
		status_report_item_end(report);
	}
	status_report_list_end(report);
	if (figures->lost)
		status_report_fault(report, "%" PRIu32 " routing key%s out of force; the first: %s",
				    figures->lost, figures->lost == 1 ? " is" : "s are",
				    figures->list[0].reason);
}

static void add_metrics(const struct figures *figures, struct status_report *report)
{
	static const struct status_metric
	    count = {"heddle_keys", "gauge", "Routing keys in force"},
	    broken = {"heddle_keys_broken", "gauge",
		      "Routing keys that are out of force and were not replaced"},
	    connected = {"heddle_keyd_connected", "gauge", "1: heddle-keyd is connected"};

	status_report_metric(report, &count, figures->count);
	status_report_metric(report, &broken, figures->lost);
	status_report_metric(report, &connected, figures->connected);
}

void keys_report_add(struct keys_shared *shared, struct status_report *report)
{
	const struct figures figures = look(shared);

	status_report_section(report, "keys");
	add_summary(&figures, report);
	status_report_flag(report, "listening", figures.listening);
	status_report_flag(report, "connected", figures.connected);
	status_report_text(report, "refusal", "%s", figures.refusal);
	status_report_number(report, "count", figures.count);
	status_report_number(report, "broken", figures.lost);
	add_broken(&figures, report);
	if (figures.wanted && !figures.listening)
		status_report_fault(report, "heddle-keyd cannot connect; OpenSM's log says why");
	if (figures.listening)
		add_metrics(&figures, report);
}
