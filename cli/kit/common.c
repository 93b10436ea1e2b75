/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "common.h"
#include "command.h"
#include "progress.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MESSAGE_SIZE 8192 /* a usage and a path or two */

/* A usage has several lines; nothing else in a message may steer a terminal. */
static void make_plain(char *text)
{
	for (char *byte = text; *byte; byte++)
		if (iscntrl((unsigned char)*byte) && *byte != '\n')
			*byte = *byte == '\t' ? ' ' : '?';
}

int cli_error(const char *format, ...)
{
	char text[MESSAGE_SIZE];
	va_list arguments;

	cli_progress_end();
	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	make_plain(text);
	fprintf(stderr, "heddle: %s\n", text);
	return CLI_BAD;
}

int cli_fail(const struct hd_error *err)
{
	return cli_error("%s", err->text);
}

int cli_no_memory(void)
{
	struct hd_error err;

	hd_error_no_memory(&err);
	return cli_fail(&err);
}

static void write_warnings(void *context, enum hd_log_level level, const char *line)
{
	(void)context;
	if (level <= HD_LOG_WARNING)
		cli_error("warning: %s", line);
}

static void write_all(void *context, enum hd_log_level level, const char *line)
{
	if (level <= HD_LOG_WARNING)
		write_warnings(context, level, line);
	else
		cli_error("%s", line);
}

struct hd_log cli_log(bool verbose)
{
	return (struct hd_log){.write = verbose ? write_all : write_warnings};
}

struct lid_use {
	uint32_t without; /* hosts and switches that have none */
	uint32_t other_lmc; /* hosts whose LMC is not the one asked for */
};

static struct lid_use count_lids(const struct hd_fabric *fabric, int lmc)
{
	struct lid_use use = {0, 0};

	for (uint32_t host = 0; host < fabric->host_count; host++) {
		uint32_t port = fabric->host_port[host];
		use.without += !fabric->lid[port];
		use.other_lmc += lmc != CLI_LMC_ANY && fabric->lmc[port] != lmc;
	}
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		use.without += !fabric->lid[fabric->port_base[sw]];
	return use;
}

static int assign_lids(const char *path, int lmc, struct hd_fabric **fabric, struct hd_error *err)
{
	struct hd_fabric *assigned = NULL;
	int rc =
	    hd_fabric_assign_lids(*fabric, lmc == CLI_LMC_ANY ? 0 : (unsigned)lmc, &assigned, err);

	if (rc)
		return hd_error_prefix(err, rc, "%s", path);
	hd_fabric_free(*fabric);
	*fabric = assigned;
	return 0;
}

static int settle_lids(const char *path, int lmc, const struct hd_log *log,
		       struct hd_fabric **fabric, struct hd_error *err)
{
	struct lid_use use = count_lids(*fabric, lmc);

	if ((*fabric)->lid_count == 1 || use.other_lmc)
		return assign_lids(path, lmc, fabric, err);
	if (use.without)
		hd_log(log, HD_LOG_WARNING,
		       "%s: %" PRIu32 " of %" PRIu32
		       " hosts and switches have no LID: nothing is routed to them",
		       path, use.without, (*fabric)->host_count + (*fabric)->switch_count);
	return 0;
}

int cli_fabric_load(const char *path, int lmc, const struct hd_log *log, struct hd_fabric **out,
		    struct hd_error *err)
{
	struct hd_fabric *fabric = NULL;

	if (!strcmp(path, "-"))
		path = "/dev/stdin";
	cli_progress_begin("reading %s", path);
	int rc = hd_fabric_read(path, log, &fabric, err);
	if (!rc && lmc != CLI_LMC_KEEP)
		rc = settle_lids(path, lmc, log, &fabric, err);
	cli_progress_end();
	if (rc) {
		hd_fabric_free(fabric);
		return rc;
	}
	*out = fabric;
	return 0;
}

const struct hd_engine *cli_engine(const char *name)
{
	char known[256] = "";
	size_t used = 0;
	unsigned count;

	const struct hd_engine *const *all = hd_engines(&count);
	const struct hd_engine *engine = hd_engine_find(name);
	for (unsigned i = 0; i < count && used < sizeof(known); i++)
		used += (size_t)snprintf(known + used, sizeof(known) - used, "%s%s", i ? ", " : "",
					 all[i]->name);
	if (!engine)
		cli_error("unknown engine '%s'; there are: %s", name, known);
	return engine;
}

int cli_json_print(json_t *value, int status)
{
	if (!value)
		return cli_no_memory();
	errno = 0;
	int rc = json_dumpf(value, stdout, JSON_INDENT(2));
	json_decref(value);
	if (rc)
		return cli_error("cannot write standard output: %s",
				 strerror(errno ? errno : ENOMEM));
	putchar('\n');
	return status;
}

json_t *cli_json_append(json_t *list, json_t *value)
{
	if (!json_array_append_new(list, value))
		return list;
	json_decref(list);
	return NULL;
}

json_t *cli_json_set(json_t *object, const char *key, json_t *value)
{
	if (!json_object_set_new(object, key, value))
		return object;
	json_decref(object);
	return NULL;
}

json_t *cli_json_text(const char *text)
{
	json_t *value = json_string(text);

	if (value)
		return value;
	char *copy = strdup(text);
	if (!copy)
		return NULL;
	for (char *byte = copy; *byte; byte++)
		if ((unsigned char)*byte >= 0x80)
			*byte = '?';
	value = json_string(copy);
	free(copy);
	return value;
}

json_t *cli_json_guid(uint64_t guid)
{
	char text[20];

	snprintf(text, sizeof(text), "0x%016" PRIx64, guid);
	return json_string(text);
}
