/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Lines about repairs in OpenSM's log, some time apart. A line that comes too early is held back. If
 * another one comes meanwhile, that one is held instead, and says how many there were. Keys that are out
 * of force are named in the line that is written next. For one thread.
 */
#ifndef OPENSM_REPAIR_LOG_H
#define OPENSM_REPAIR_LOG_H

#include "log.h"

#include <stdbool.h>
#include <stdint.h>

#define REPAIR_LOG_NEVER (-1.0)
#define REPAIR_LOG_LINE 900 /* bytes; log.h cuts longer lines */
#define REPAIR_LOG_KEYS 300 /* bytes of these that name keys */

/* Zero-initialise before use; `log` is to be set. Times are those of monotonic_ms(). */
struct repair_log {
	const struct opensm_log *log;
	double apart_ms; /* between two lines at least */
	double said_ms; /* when the last line was written */
	bool said; /* there was one */
	char line[REPAIR_LOG_LINE]; /* held back; "": none */
	bool is_repair; /* the line is about a repair that was done */
	uint32_t repairs, stopped; /* lines in whose place this one is */
	double since_ms; /* when the first of them came */
	char keys[REPAIR_LOG_KEYS]; /* what the line says of keys */
	uint32_t more_keys; /* that are not named */
};

/* A key is out of force. The line that is added next says so. */
void repair_log_add_key(struct repair_log *log, uint64_t key, const char *reason);

/* Adds a line, and writes it if it is time. is_repair: it is about a repair that was done, and not about
 * one that was not. */
void repair_log_add(struct repair_log *log, double now_ms, bool is_repair, const char *line);

/* When a line that is held back is to be written; REPAIR_LOG_NEVER: none is held. */
double repair_log_due(const struct repair_log *log);

/* Writes the line that is held back, if there is one and it is time. */
void repair_log_tell(struct repair_log *log, double now_ms);

/* Writes the line that is held back, if there is one. */
void repair_log_end(struct repair_log *log, double now_ms);

#endif
