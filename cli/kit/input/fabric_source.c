/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "fabric_source.h"
#include "arguments.h"
#include "progress.h"

#include <heddle/base/random.h>
#include <heddle/base/text.h>
#include <inttypes.h>
#include <string.h>

void fabric_source_draw_group(const struct hd_fabric *fabric, uint32_t size, uint64_t *seed,
			      uint32_t *hosts, uint32_t *members)
{
	for (uint32_t i = 0; i < size; i++) {
		uint32_t other = i + (uint32_t)hd_random_below(seed, fabric->host_count - i);
		uint32_t host = hosts[other];
		hosts[other] = hosts[i];
		hosts[i] = host;
		members[i] = fabric->host_port[host];
	}
}

struct lid_use {
	uint32_t without; /* hosts and switches without a LID */
	uint32_t other_lmc; /* hosts with another LMC than the one wanted */
};

static struct lid_use count_lids(const struct hd_fabric *fabric, int lmc)
{
	struct lid_use use = {0, 0};

	for (uint32_t host = 0; host < fabric->host_count; host++) {
		uint32_t port = fabric->host_port[host];
		use.without += !fabric->lid[port];
		use.other_lmc += lmc != LMC_ANY && fabric->lmc[port] != lmc;
	}
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		use.without += !fabric->lid[fabric->port_base[sw]];
	return use;
}

static int settle_lids(const char *path, int lmc, const struct hd_log *log,
		       struct hd_fabric **fabric, struct hd_error *err)
{
	struct lid_use use = count_lids(*fabric, lmc);

	if ((*fabric)->lid_count == 1 || use.other_lmc) {
		struct hd_fabric *assigned = NULL;
		int rc = hd_fabric_assign_lids(*fabric, lmc == LMC_ANY ? 0 : (unsigned)lmc,
					       &assigned, err);
		if (rc)
			return hd_error_prefix(err, rc, "%s", path);
		hd_fabric_free(*fabric);
		*fabric = assigned;
		return 0;
	}
	if (use.without)
		hd_log(log, HD_LOG_WARNING,
		       "%s: %" PRIu32 " of %" PRIu32
		       " hosts and switches have no LID, so no path leads to them",
		       path, use.without, (*fabric)->host_count + (*fabric)->switch_count);
	return 0;
}

/* hd_fabric_rename() by the name map of that path, in place. After an error the fabric is as it was. */
static int fabric_source_rename(const char *path, const struct hd_log *log,
				struct hd_fabric **fabric, struct hd_error *err)
{
	struct hd_fabric *renamed = NULL;
	struct hd_text text;
	int rc = hd_text_open(path, &text, err);

	if (rc)
		return rc;
	rc = hd_fabric_rename(*fabric, &text, log, &renamed, err);
	hd_text_close(&text);
	if (rc)
		return rc;
	hd_fabric_free(*fabric);
	*fabric = renamed;
	return 0;
}

int fabric_source_tell_apart(struct hd_fabric **fabric, struct hd_error *err)
{
	struct hd_fabric *apart;
	int rc = hd_fabric_tell_apart(*fabric, &apart, err);

	if (rc || !apart)
		return rc;
	hd_fabric_free(*fabric);
	*fabric = apart;
	return 0;
}

int fabric_source_load(const struct fabric_source *source, const struct hd_log *log,
		       struct hd_fabric **out, struct hd_error *err)
{
	const char *path = source->text ? source->path : arguments_path(source->path);
	struct hd_fabric *fabric = NULL;

	progress_begin("reading %s", path);
	int rc = source->text
		     ? hd_fabric_parse(source->text, strlen(source->text), path, log, &fabric, err)
		     : hd_fabric_read(path, log, &fabric, err);
	if (!rc && source->name_map)
		rc = fabric_source_rename(source->name_map, log, &fabric, err);
	if (!rc && source->lmc != LMC_KEEP)
		rc = settle_lids(path, source->lmc, log, &fabric, err);
	progress_end();
	if (rc) {
		hd_fabric_free(fabric);
		return rc;
	}
	*out = fabric;
	return 0;
}
