/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "survive_groups.h"
#include "message.h"
#include "random_group.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

bool survive_groups_asked(const struct survive_groups *groups)
{
	return groups->random || groups->tables_path;
}

int survive_groups_refuse(const struct survive_groups *groups, uint32_t repairs)
{
	if (groups->size && !groups->random)
		return message_error("--size is for --groups");
	if (groups->random && groups->tables_path)
		return message_error("--groups draws its members: give it no --mcfdbs");
	if (survive_groups_asked(groups) && !repairs)
		return message_error("--groups and --mcfdbs are for --repair");
	return 0;
}

/* Room for `count` groups. */
static int allocate(struct survive_groups *groups, uint32_t count, struct hd_error *err)
{
	groups->mlids = calloc(count + 1u, sizeof(*groups->mlids));
	groups->first = calloc(count + 1u, sizeof(*groups->first));
	return groups->mlids && groups->first ? 0 : hd_error_no_memory(err);
}

/* ---- random groups ---- */

static int draw(struct survive_groups *groups, const struct hd_fabric *fabric, uint64_t seed,
		struct hd_error *err)
{
	const uint32_t size = (uint32_t)(groups->size ? groups->size : RANDOM_GROUP_SIZE);
	const uint32_t count = (uint32_t)groups->random;

	if (size > fabric->host_count)
		return hd_error_set(err, -EINVAL,
				    "option '--size': %" PRIu32 " members, but only %" PRIu32
				    " hosts",
				    size, fabric->host_count);
	uint32_t *hosts = calloc(fabric->host_count + 1u, sizeof(*hosts));
	int rc = hosts ? allocate(groups, count, err) : hd_error_no_memory(err);
	if (!rc) {
		groups->members = calloc((size_t)count * size, sizeof(*groups->members));
		rc = groups->members ? 0 : hd_error_no_memory(err);
	}
	for (uint32_t host = 0; !rc && host < fabric->host_count; host++)
		hosts[host] = host;
	for (uint32_t i = 0; !rc && i < count; i++) {
		groups->mlids[i] = HD_MLID_FIRST + i;
		random_group_draw(fabric, size, &seed, hosts, groups->members + (size_t)i * size);
		groups->first[i + 1] = (i + 1) * size;
	}
	groups->count = rc ? 0 : count;
	free(hosts);
	return rc;
}

/* ---- groups of tables ---- */

/* Adds the members that the entries of a group name. */
static int add_group(struct survive_groups *groups, const struct hd_fabric *fabric,
		     const struct hd_mft_entry *entries, uint32_t count, struct hd_error *err)
{
	const struct hd_mft_group group = {
	    .entries = entries, .entry_count = count, .source = HD_NONE};
	const uint32_t before = groups->first[groups->count];
	struct hd_mft_report *report;
	int rc = hd_mft_check(fabric, &group, &report, err);

	if (rc)
		return rc;
	uint32_t *members = realloc(groups->members,
				    ((size_t)before + report->member_count + 1) * sizeof(*members));
	if (members) {
		groups->members = members;
		memcpy(members + before, report->members, report->member_count * sizeof(*members));
		groups->mlids[groups->count++] = entries->mlid;
		groups->first[groups->count] = before + report->member_count;
	} else {
		rc = hd_error_no_memory(err);
	}
	hd_mft_report_free(report);
	return rc;
}

static int add_groups(struct survive_groups *groups, const struct hd_fabric *fabric,
		      const struct hd_mfts *mfts, struct hd_error *err)
{
	int rc = allocate(groups, mfts->count, err);

	for (uint32_t begin = 0, end; !rc && begin < mfts->count; begin = end) {
		for (end = begin;
		     end < mfts->count && mfts->entries[end].mlid == mfts->entries[begin].mlid;
		     end++)
			continue;
		rc = add_group(groups, fabric, mfts->entries + begin, end - begin, err);
	}
	return rc;
}

static int read(struct survive_groups *groups, const struct hd_fabric *fabric,
		const struct hd_log *log, struct hd_error *err)
{
	struct hd_mfts *mfts = NULL;
	int rc = hd_mfts_read(groups->tables_path, fabric, log, &mfts, err);

	if (!rc)
		rc = add_groups(groups, fabric, mfts, err);
	hd_mfts_free(mfts);
	return rc;
}

int survive_groups_find(struct survive_groups *groups, const struct hd_fabric *fabric,
			uint64_t seed, const struct hd_log *log, struct hd_error *err)
{
	if (groups->tables_path)
		return read(groups, fabric, log, err);
	return groups->random ? draw(groups, fabric, seed, err) : 0;
}

void survive_groups_release(struct survive_groups *groups)
{
	free(groups->mlids);
	free(groups->first);
	free(groups->members);
}
