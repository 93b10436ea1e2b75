/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Lines in OpenSM's log: remarks of the engines, and our own. */
#ifndef OPENSM_LOG_H
#define OPENSM_LOG_H

#include <heddle/base/error.h>

struct osm_log;

/* The numbers after ERR in the log. doc/guide/troubleshooting.md explains each. */
enum log_error {
	LOG_ERROR_REMARK = 0, /* an error that an engine remarks */
	LOG_ERROR_LOAD = 1, /* the plugin or one of its engines could not be set up */
	LOG_ERROR_CONFIG = 2, /* heddle.conf */
	LOG_ERROR_POLICY = 3, /* a policy file of opensm.conf */
	LOG_ERROR_FABRIC = 4, /* no snapshot of the subnet could be made */
	LOG_ERROR_REFUSED = 5, /* an engine refused the fabric */
	LOG_ERROR_HANDOVER = 6, /* hop counts or tables could not be handed over */
	LOG_ERROR_DUMP = 7, /* a dump file could not be written */
	LOG_ERROR_MULTICAST = 8, /* a multicast tree is missing, or lacks members */
	LOG_ERROR_MULTICAST_LANE = 9, /* multicast has no virtual lane of its own */
	LOG_ERROR_STATE = 10, /* the tables could not be kept for later, in memory or in the file */
	LOG_ERROR_AR = 11, /* adaptive routing */
	LOG_ERROR_MAP = 12, /* routing to other subnets */
	LOG_ERROR_KEYS = 13, /* routing keys */
	LOG_ERROR_STATUS = 14, /* heddle status cannot ask, or metrics are not written */
	LOG_ERROR_CERTIFICATE = 15, /* a certificate could not be made or written */
	LOG_ERROR_SWEEP = 16, /* a sweep's entries are written without a proved order */
	LOG_ERROR_DRAIN = 17 /* a drain is refused, or what is drained is used again */
};

/*
 * OpenSM's log. With OpenSM's default flags it shows remarks of level `threshold` and more
 * important ones; the others need the flag VERBOSE or DEBUG. Any thread may write at any time. Only
 * the sweeper thread sets the threshold.
 */
struct opensm_log {
	struct osm_log *log;
	_Atomic(enum hd_log_level) threshold;
};

/* Returns an hd_log that writes to `log`, which must outlive it. */
struct hd_log log_sink(struct opensm_log *log);

/* Writes "heddle: ERR HDnn: ..." at OSM_LOG_ERROR. */
void log_error(const struct opensm_log *log, enum log_error number, const char *format, ...)
    HD_PRINTF(3, 4);

/* Writes "heddle: ..." at OSM_LOG_INFO. */
void log_info(const struct opensm_log *log, const char *format, ...) HD_PRINTF(2, 3);

#endif
