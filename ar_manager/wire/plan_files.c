/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Plans as files: the vendor's dump of AR tables ("far"), written and read. `heddle ar` uses it to look at a plan,
 * and to prove what another manager has set.
 *
 * The reader believes nothing: each line is matched whole, and errors name file and line.
 */
#include "plan_data.h"

#include <errno.h>
#include <heddle/ar_manager/plan_files.h>
#include <heddle/fabric/dragonfly_plus.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- write far ---- */

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

/* ---- read far ---- */

struct reader {
	struct hd_lines lines;
	const struct hd_fabric *fabric;
	struct hd_error *err;
	struct plan_holder *holder;
	struct hd_ar_switch *switches;
	uint16_t *lid_group; /* [tables * switch_count * lid_count] */
	uint8_t *lid_port;
	bool *seen; /* [tables * switch_count] */
	bool groups_known; /* another table of the switch has given its groups */
	uint32_t sw, table; /* whose lines follow; sw HD_NONE: none yet */
	uint32_t group_room; /* of the switch at hand */
	bool mode_known;
};

static int bad(struct reader *reader, const char *what)
{
	return hd_lines_error(&reader->lines, reader->err, "%s", what);
}

/* "Switch 0x... ('name') table N" */
static bool take_switch(const struct hd_lines *lines, uint64_t *guid, uint32_t *table)
{
	struct hd_cursor line = hd_lines_cursor(lines);

	if (!hd_take_text(&line, "Switch ") || !hd_take_hex(&line, guid))
		return false;
	const char *last = hd_cursor_find_last(&line, " table ");
	if (!last)
		return false;
	line.at = last + strlen(" table ");
	return hd_take_decimal(&line, table) && hd_cursor_done(&line) && *table < HD_AR_TABLES;
}

static uint32_t count_tables(const struct hd_text *text)
{
	struct hd_lines lines = hd_lines_of(text);
	uint32_t tables = 1, table;
	uint64_t guid;

	while (hd_lines_next(&lines, NULL) > 0)
		if (take_switch(&lines, &guid, &table) && table)
			tables = HD_AR_TABLES;
	return tables;
}

static void share_rows(struct reader *reader, uint32_t tables)
{
	uint32_t switches = reader->fabric->switch_count, lids = reader->fabric->lid_count;

	for (uint32_t sw = 0; sw < switches; sw++) {
		reader->switches[sw] = (struct hd_ar_switch){.guid = reader->fabric->node_guid[sw],
							     .sub_groups = tables > 1 ? 2 : 1};
		for (uint32_t table = 0; table < tables; table++) {
			size_t row = ((size_t)table * switches + sw) * lids;
			reader->switches[sw].lid_group[table] = reader->lid_group + row;
			reader->switches[sw].lid_port[table] = reader->lid_port + row;
		}
	}
}

static int plan_files_allocate(struct reader *reader, uint32_t tables)
{
	uint32_t switches = reader->fabric->switch_count, lids = reader->fabric->lid_count;
	struct plan_holder *holder = reader->holder = calloc(1, sizeof(*holder));
	size_t rows = (size_t)tables * switches;

	if (!holder)
		return -ENOMEM;
	reader->switches = hd_arena_alloc(&holder->arena, switches, sizeof(*reader->switches));
	reader->lid_group = hd_arena_alloc(&holder->arena, rows, lids * sizeof(*reader->lid_group));
	reader->lid_port = hd_arena_alloc(&holder->arena, rows, lids);
	reader->seen = hd_arena_alloc(&holder->arena, rows, sizeof(*reader->seen));
	if (hd_arena_check(&holder->arena))
		return -ENOMEM;
	memset(reader->lid_group, 0xFF, rows * lids * sizeof(*reader->lid_group));
	memset(reader->lid_port, HD_NO_PORT, rows * lids);
	share_rows(reader, tables);
	holder->plan = (struct hd_ar_plan){.algorithm = tables > 1 ? HD_AR_DFP : HD_AR_AUTO,
					   .switch_count = switches,
					   .lid_count = lids,
					   .table_count = tables,
					   .switches = reader->switches};
	return 0;
}

/* Whether a table of the switch has been read. */
static bool is_begun(const struct reader *reader, uint32_t sw)
{
	for (uint32_t table = 0; table < reader->holder->plan.table_count; table++)
		if (reader->seen[(size_t)table * reader->fabric->switch_count + sw])
			return true;
	return false;
}

static bool take_ports(struct reader *reader, struct hd_cursor *line, struct hd_port_set *ports)
{
	for (hd_take_blanks(line); !hd_cursor_done(line); hd_take_blanks(line)) {
		uint32_t port;
		if (!hd_take_decimal(line, &port) || !hd_take_text(line, ",") || !port ||
		    port > hd_node_ports(reader->fabric, reader->sw))
			return false;
		hd_port_set_add(ports, port);
	}
	return true;
}

/* "GROUP - SUB-GROUP : PORT, PORT," */
static int read_group(struct reader *reader, struct hd_cursor line, uint32_t number)
{
	struct hd_ar_switch *sw = &reader->switches[reader->sw];
	struct hd_port_set ports = {{0}};
	uint32_t sub;

	if (!hd_take_decimal(&line, &sub) || !hd_take_text(&line, " :") ||
	    number >= HD_AR_GROUPS_MAX || sub >= sw->sub_groups)
		return bad(reader, "expected 'GROUP - SUB-GROUP : PORT, PORT,'");
	if (!take_ports(reader, &line, &ports))
		return bad(reader, "expected ports of the switch, each with a comma");
	if (reader->groups_known) {
		/* The groups are the same in all tables of a switch. */
		if (number < sw->group_count &&
		    hd_port_set_equal(&sw->groups[number].ports[sub], &ports))
			return 0;
		return bad(reader, "the group is not the same in another table of the switch");
	}
	/* The group, with room for it; NULL: no memory. */
	struct hd_ar_group *groups = (struct hd_ar_group *)(uintptr_t)sw->groups;
	if (number >= reader->group_room) {
		uint32_t more = 2 * (number + 1);
		struct hd_ar_group *longer =
		    hd_arena_alloc(&reader->holder->arena, more, sizeof(*longer));
		if (!longer)
			return hd_error_no_memory(reader->err);
		if (sw->group_count)
			memcpy(longer, groups, sw->group_count * sizeof(*longer));
		sw->groups = groups = longer;
		reader->group_room = more;
	}
	if (number >= sw->group_count)
		sw->group_count = number + 1;
	struct hd_ar_group *group = &groups[number];
	if (!hd_port_set_is_empty(&group->ports[sub]))
		return bad(reader, "the group is given twice");
	sw->used += hd_ar_group_is_empty(group) && !hd_port_set_is_empty(&ports);
	group->ports[sub] = ports;
	sw->form = HD_AR_FORM_REV1;
	return 0;
}

static bool take_state(struct hd_cursor *line, enum hd_ar_state *state)
{
	for (int known = HD_AR_BOUNDED; known <= HD_AR_STATIC; known++)
		if (hd_take_text(line, hd_ar_state_name((enum hd_ar_state)known))) {
			*state = (enum hd_ar_state)known;
			return true;
		}
	return false;
}

static int read_line(struct reader *reader)
{
	struct hd_cursor line = hd_lines_cursor(&reader->lines);
	uint64_t guid;
	uint32_t number;

	if (hd_cursor_done(&line))
		return 0;
	if (take_switch(&reader->lines, &guid, &number)) {
		uint32_t sw = hd_fabric_find_node(reader->fabric, guid);
		if (sw == HD_NONE || !hd_is_switch(reader->fabric, sw))
			return bad(reader, "the fabric has no such switch");
		bool *seen = &reader->seen[(size_t)number * reader->fabric->switch_count + sw];
		if (*seen)
			return bad(reader, "this table of the switch is given twice");
		reader->groups_known = is_begun(reader, sw);
		*seen = true;
		reader->group_room = 0;
		reader->sw = sw;
		reader->table = number;
		return 0;
	}
	if (reader->sw == HD_NONE)
		return bad(reader, "expected 'Switch 0xGUID (...) table N'");
	if (hd_cursor_is(&line, "(Group - Sub-group) : Ports") ||
	    hd_cursor_is(&line, "LID : Static port : State : Group"))
		return 0;
	if (hd_take_decimal(&line, &number) && hd_take_text(&line, " - "))
		return read_group(reader, line, number);
	/* "0xLID : PORT : STATE : GROUP" */
	const char form[] = "expected '0xLID : PORT : STATE : GROUP'";
	line = hd_lines_cursor(&reader->lines);
	struct hd_ar_switch *sw = &reader->switches[reader->sw];
	uint32_t port, group = HD_AR_NO_GROUP;
	enum hd_ar_state state;
	uint64_t lid;
	if (!hd_take_hex(&line, &lid) || !hd_take_text(&line, " : ") ||
	    !hd_take_decimal(&line, &port) || !hd_take_text(&line, " : ") ||
	    !take_state(&line, &state) || !hd_take_text(&line, " : "))
		return bad(reader, form);
	bool none = hd_take_text(&line, "-");
	if (none != (state == HD_AR_STATIC) || (!none && !hd_take_decimal(&line, &group)) ||
	    !hd_cursor_done(&line))
		return bad(reader, form);
	if (lid >= reader->fabric->lid_count || port > hd_node_ports(reader->fabric, reader->sw))
		return bad(reader, "the fabric has no such LID, or the switch no such port");
	if (!none && (group >= sw->group_count || hd_ar_group_is_empty(&sw->groups[group])))
		return bad(reader, "no such group");
	size_t row = (size_t)reader->table * reader->fabric->switch_count + reader->sw;
	size_t cell = row * reader->fabric->lid_count + lid;
	if (reader->lid_port[cell] != HD_NO_PORT)
		return bad(reader, "the LID is given twice");
	reader->lid_port[cell] = (uint8_t)port;
	reader->lid_group[cell] = (uint16_t)group;
	reader->holder->plan.entries++;
	reader->holder->plan.adaptive += !none;
	if (none)
		return 0;
	struct hd_ar_plan *plan = &reader->holder->plan;
	if (reader->mode_known && plan->mode != state)
		return bad(reader, "bounded and free entries in one plan");
	reader->mode_known = true;
	plan->mode = state;
	return 0;
}

static int read_lines(struct reader *reader)
{
	int rc;

	while ((rc = hd_lines_next(&reader->lines, reader->err)) > 0) {
		rc = read_line(reader);
		if (rc)
			return rc;
	}
	if (!rc && reader->sw == HD_NONE)
		return hd_error_set(reader->err, -ENODATA, "%s: no switch", reader->lines.name);
	return rc;
}

/* The file does not say by which ports packets come from above. */
static int find_above(struct reader *reader)
{
	const struct hd_fabric *fabric = reader->fabric;
	struct hd_dragonfly_plus shape;

	if (reader->holder->plan.table_count == 1)
		return 0;
	int rc = hd_dragonfly_plus_find(fabric, &reader->holder->arena, &shape, reader->err);
	for (uint32_t sw = 0; !rc && sw < fabric->switch_count; sw++)
		for (uint32_t link = fabric->isl_base[sw]; link < fabric->isl_base[sw + 1]; link++)
			if (shape.is_spine[fabric->isl_to[link]])
				hd_port_set_add(&reader->switches[sw].above,
						fabric->isl_port[link]);
	return rc;
}

int hd_ar_read_far(const struct hd_text *text, const struct hd_fabric *fabric,
		   struct hd_ar_plan **out, struct hd_error *err)
{
	struct reader reader = {
	    .lines = hd_lines_of(text), .fabric = fabric, .err = err, .sw = HD_NONE};
	int rc = hd_text_check(text, err);

	if (rc)
		return rc;
	rc = plan_files_allocate(&reader, count_tables(text)) ? hd_error_no_memory(err)
							      : read_lines(&reader);
	if (!rc)
		rc = find_above(&reader);
	if (rc) {
		hd_ar_plan_free(reader.holder ? &reader.holder->plan : NULL);
		return rc;
	}
	reader.holder->plan.possible = reader.holder->plan.adaptive;
	*out = &reader.holder->plan;
	return 0;
}
