/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "log.h"
#include "opensm_headers.h"

#include <heddle/base/plain.h>

#define LINE_SIZE 900 /* OpenSM cuts its lines at 1024 */

static osm_log_level_t osm_level(const struct opensm_log *log, enum hd_log_level level)
{
	if (level == HD_LOG_ERROR)
		return OSM_LOG_ERROR;
	if (level <= log->threshold)
		return OSM_LOG_INFO;
	return level == HD_LOG_DEBUG ? OSM_LOG_DEBUG : OSM_LOG_VERBOSE;
}

static const char *level_mark(enum hd_log_level level)
{
	switch (level) {
	case HD_LOG_ERROR:
		return "ERR HD00: ";
	case HD_LOG_WARNING:
		return "WRN: ";
	default:
		return "";
	}
}

static void write_remark(void *context, enum hd_log_level level, const char *line)
{
	struct opensm_log *log = context;

	osm_log_v2(log->log, osm_level(log, level), FILE_ID, "heddle: %s%s\n", level_mark(level),
		   line);
}

struct hd_log log_sink(struct opensm_log *log)
{
	return (struct hd_log){.write = write_remark, .context = log};
}

void log_error(const struct opensm_log *log, enum log_error number, const char *format, ...)
{
	char line[LINE_SIZE];
	va_list arguments;

	va_start(arguments, format);
	hd_plain_format(line, sizeof(line), format, arguments);
	va_end(arguments);
	osm_log_v2(log->log, OSM_LOG_ERROR, FILE_ID, "heddle: ERR HD%02d: %s\n", (int)number, line);
}

void log_info(const struct opensm_log *log, const char *format, ...)
{
	char line[LINE_SIZE];
	va_list arguments;

	va_start(arguments, format);
	hd_plain_format(line, sizeof(line), format, arguments);
	va_end(arguments);
	osm_log_v2(log->log, OSM_LOG_INFO, FILE_ID, "heddle: %s\n", line);
}
