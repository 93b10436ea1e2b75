/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Remarks of the pure rooms, and our own lines, in OpenSM's log. */
#ifndef OPENSM_LOG_H
#define OPENSM_LOG_H

#include <heddle/base/error.h>

struct osm_log;

/* Numbers that stand in the log after ERR, so that a line can be looked up and searched for. */
enum log_error {
	LOG_ERROR_REMARK = 0, /* said by an engine */
	LOG_ERROR_LOAD = 1, /* the plugin or one of its engines could not be set up */
	LOG_ERROR_CONFIG = 2, /* heddle.conf */
	LOG_ERROR_POLICY = 3, /* a GUID or port file named in opensm.conf */
	LOG_ERROR_FABRIC = 4, /* no snapshot of the subnet could be made */
	LOG_ERROR_REFUSED = 5, /* an engine refused the fabric */
	LOG_ERROR_HANDOVER = 6, /* hop counts or tables could not be handed over */
	LOG_ERROR_DUMP = 7, /* a dump file could not be written */
	LOG_ERROR_MULTICAST = 8, /* no multicast tree, or not to all members */
	LOG_ERROR_MULTICAST_LANE = 9 /* no virtual lane of its own for multicast */
};

/*
 * Where remarks go: `threshold` and what is graver stands in the log under OpenSM's default flags;
 * what is finer needs VERBOSE or DEBUG. Any thread may write at any time, and the sweeper thread
 * sets the threshold meanwhile.
 */
struct opensm_log {
	struct osm_log *log;
	_Atomic(enum hd_log_level) threshold;
};

/* An hd_log that writes into `log`, which must outlive it. */
struct hd_log log_sink(struct opensm_log *log);

/* "heddle: ERR HDnn: ..." at OSM_LOG_ERROR. */
void log_error(const struct opensm_log *log, enum log_error number, const char *format, ...)
    HD_PRINTF(3, 4);

/* "heddle: ..." at OSM_LOG_INFO. */
void log_info(const struct opensm_log *log, const char *format, ...) HD_PRINTF(2, 3);

#endif
