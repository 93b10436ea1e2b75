/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "repair_log.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define SUM 100 /* bytes */

void repair_log_add_key(struct repair_log *log, uint64_t key, const char *reason)
{
	const size_t used = strlen(log->keys), room = sizeof(log->keys) - used;
	int length = snprintf(log->keys + used, room,
			      "; key %" PRIu64 " is not in force any more: %s", key, reason);

	if ((size_t)length < room)
		return;
	/* a key without its reason is better than none */
	length =
	    snprintf(log->keys + used, room, "; key %" PRIu64 " is not in force any more", key);
	if ((size_t)length < room)
		return;
	log->keys[used] = '\0';
	log->more_keys++;
}

double repair_log_due(const struct repair_log *log)
{
	return *log->line ? log->said_ms + log->apart_ms : REPAIR_LOG_NEVER;
}

static void describe_more(const struct repair_log *log, double now_ms, char text[2 * SUM])
{
	size_t used = 0;

	*text = '\0';
	if (log->more_keys)
		used = (size_t)snprintf(
		    text, SUM, "; %" PRIu32 " more keys are not in force any more", log->more_keys);
	if (log->repairs || log->stopped)
		snprintf(text + used, SUM,
			 "; in the last %.1f s also %" PRIu32 " other repairs, and %" PRIu32
			 " without repair",
			 (now_ms - log->since_ms) / 1000, log->repairs, log->stopped);
}

void repair_log_end(struct repair_log *log, double now_ms)
{
	char more[2 * SUM];

	if (!*log->line)
		return;
	describe_more(log, now_ms, more);
	log_info(log->log, "%.*s%s%s",
		 (int)(sizeof(log->line) - strlen(log->keys) - strlen(more) - 1), log->line,
		 log->keys, more);
	log->said_ms = now_ms;
	log->said = true;
	*log->line = *log->keys = '\0';
	log->repairs = log->stopped = log->more_keys = 0;
}

void repair_log_tell(struct repair_log *log, double now_ms)
{
	if (!log->said || now_ms >= repair_log_due(log))
		repair_log_end(log, now_ms);
}

void repair_log_add(struct repair_log *log, double now_ms, bool is_repair, const char *line)
{
	if (!*log->line)
		log->since_ms = now_ms;
	else if (log->is_repair)
		log->repairs++;
	else
		log->stopped++;
	log->is_repair = is_repair;
	snprintf(log->line, sizeof(log->line), "%s", line);
	repair_log_tell(log, now_ms);
}
