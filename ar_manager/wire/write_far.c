/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <heddle/ar_manager/plan_files.h>

#include <errno.h>
#include <inttypes.h>
#include <string.h>

static int flush(FILE *stream, struct hd_error *err)
{
	errno = 0;
	if (!fflush(stream) && !ferror(stream))
		return 0;
	int rc = errno ? -errno : -EIO;
	return hd_error_set(err, rc, "%s", strerror(-rc));
}

static void write_groups(const struct hd_ar_switch *sw, FILE *stream)
{
	fputs("(Group - Sub-group) : Ports\n", stream);
	for (uint32_t group = 0; group < sw->group_count; group++) {
		if (hd_ar_group_is_empty(&sw->groups[group]))
			continue;
		for (uint32_t sub = 0; sub < sw->sub_groups; sub++) {
			fprintf(stream, "%u - %u :", group, sub);
			HD_PORT_SET_FOREACH(port, &sw->groups[group].ports[sub])
				fprintf(stream, " %u,", port);
			fputc('\n', stream);
		}
	}
}

static void write_lids(const struct hd_ar_plan *plan, uint32_t sw, uint32_t table, FILE *stream)
{
	fputs("LID : Static port : State : Group\n", stream);
	for (uint32_t lid = 0; lid < plan->lid_count; lid++) {
		uint8_t port = plan->switches[sw].lid_port[table][lid];
		uint32_t group = hd_ar_plan_group(plan, sw, table, lid);
		if (port == HD_NO_PORT)
			continue;
		fprintf(stream, "0x%04x : %u : %s : ", lid, port,
			hd_ar_state_name(hd_ar_plan_state(plan, sw, table, lid)));
		if (group == HD_AR_NO_GROUP)
			fputs("-\n", stream);
		else
			fprintf(stream, "%u\n", group);
	}
}

int hd_ar_write_far(const struct hd_ar_plan *plan, const struct hd_fabric *fabric, FILE *stream,
		    struct hd_error *err)
{
	for (uint32_t sw = 0; sw < plan->switch_count; sw++) {
		uint32_t node = hd_fabric_find_node(fabric, plan->switches[sw].guid);
		for (uint32_t table = 0; table < plan->table_count; table++) {
			fprintf(stream, "Switch 0x%016" PRIx64 " ('%s') table %u\n",
				plan->switches[sw].guid,
				node == HD_NONE ? "" : fabric->node_name[node], table);
			write_groups(&plan->switches[sw], stream);
			write_lids(plan, sw, table, stream);
			fputc('\n', stream);
		}
	}
	return flush(stream, err);
}

/* ---- AR_INFO ---- */

/* The columns of the section in its order. The record has no bit for is_ar_trials_supported. */
static const char *const columns[] = {
    "e",
    "is_arn_sup",
    "is_frn_sup",
    "is_fr_sup",
    "fr_enabled",
    "rn_xmit_enabled",
    "is_ar_trials_supported",
    "sub_grps_active",
    "group_table_copy_sup",
    "direction_num_sup",
    "is4_mode",
    "glb_groups",
    "by_sl_cap",
    "by_sl_en",
    "by_transp_cap",
    "dyn_cap_calc_sup",
    "group_cap",
    "group_top",
    "group_table_cap",
    "string_width_cap",
    "ar_version_cap",
    "rn_version_cap",
    "sub_grps_supported",
    "enable_by_sl_mask",
    "by_transport_disable",
    "ageing_time_value",
};

#define COLUMNS (sizeof(columns) / sizeof(columns[0]))

/* 0 for a column that the record does not have. */
static uint32_t value(const struct hd_ar_info *info, const char *column)
{
	unsigned count;
	const struct hd_ar_field *fields = hd_ar_info_fields(&count);

	if (!strcmp(column, "e"))
		return info->enabled;
	for (unsigned i = 0; i < count; i++)
		if (!strcmp(fields[i].name, column))
			return *(const uint32_t *)((const char *)info + fields[i].offset);
	return 0;
}

int hd_ar_write_info_begin(FILE *stream, struct hd_error *err)
{
	fputs("START_AR_INFO\nNodeGUID", stream);
	for (size_t i = 0; i < COLUMNS; i++)
		fprintf(stream, ",%s", columns[i]);
	fputc('\n', stream);
	return flush(stream, err);
}

int hd_ar_write_info_row(uint64_t guid, const struct hd_ar_info *info, FILE *stream,
			 struct hd_error *err)
{
	fprintf(stream, "0x%016" PRIx64, guid);
	for (size_t i = 0; i < COLUMNS; i++)
		fprintf(stream, ",%" PRIu32, value(info, columns[i]));
	fputc('\n', stream);
	return flush(stream, err);
}

int hd_ar_write_info_end(FILE *stream, struct hd_error *err)
{
	fputs("END_AR_INFO\n", stream);
	return flush(stream, err);
}
